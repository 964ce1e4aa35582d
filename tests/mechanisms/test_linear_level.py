"""The linear law agrees with its definition in fractions and follows its sampler."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.level_sets import LinearLevelMechanism
from modicum.privacy.event import RangeDP
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.mechanisms.test_level import ENDS, FIRST, LAST, mechanisms, neighbours  # noqa: F401

TWO = Fraction(2)


def law_of(lows, highs, first=FIRST, last=LAST, epsilon=TWO) -> LinearLevelMechanism:
    ends = np.array(lows, dtype=np.int64), np.array(highs, dtype=np.int64)
    return LinearLevelMechanism(*ends, first, last, epsilon, RangeDP(epsilon))


def one_side(highs: list[int], last: int, t: int) -> Fraction:
    """Length to the right of ends, from the definition."""
    ends = [min(max(h, FIRST - 1), last) for h in highs] + [last]
    if t <= ends[0]:
        return Fraction(0)
    k = max(k for k in range(len(ends)) if ends[k] < t)
    return k + Fraction(t - ends[k], ends[k + 1] - ends[k])


def lengths(lows, highs) -> dict[int, Fraction]:
    """Larger one of the two sides; the left one is the right one of what is reflected at 0."""
    reflected = [FIRST + LAST - low for low in lows]
    return {
        t: max(one_side(highs, LAST, t), one_side(reflected, LAST, FIRST + LAST - t))
        for t in range(FIRST, LAST + 1)
    }


def probabilities(mechanism: LinearLevelMechanism) -> dict[int, float]:
    return {
        t: math.exp(mechanism.log_density(t)) for t in range(mechanism.first, mechanism.last + 1)
    }


@given(ENDS, st.sampled_from([Fraction(1, 3), TWO, Fraction(50)]))
def test_the_density_is_the_definition(ends, epsilon) -> None:
    exact, mechanism = lengths(*ends), law_of(*ends, epsilon=epsilon)
    rate = float(epsilon) / 2
    norm = math.log(math.fsum(math.exp(-rate * float(length)) for length in exact.values()))
    for t, length in exact.items():
        assert mechanism.log_density(t) == pytest.approx(-rate * float(length) - norm, abs=1e-12)
    assert mechanism.log_density(FIRST - 1) == mechanism.log_density(LAST + 1) == -math.inf


@st.composite
def neighbouring_ends(draw) -> tuple[list[int], list[int]]:
    """Two nondecreasing lists, each at least the other one position earlier."""
    count = draw(st.integers(1, 5))
    one = sorted(draw(st.lists(st.integers(-9, 13), min_size=count, max_size=count)))
    other: list[int] = []
    for k in range(count):
        least = max(one[k - 1] if k else -9, other[-1] if other else -9)
        most = one[k + 1] if k + 1 < count else 13
        other.append(draw(st.integers(least, max(least, most))))
    return one, other


@given(neighbouring_ends(), neighbouring_ends())
def test_neighbouring_ends_move_the_length_by_at_most_one(highs, lows) -> None:
    """Exactly, in fractions, whatever the widths of the rings, with a cap and with empty sets."""
    count = min(len(highs[0]), len(lows[0]))
    one, other = (lengths([-low for low in lows[i]][:count], highs[i][:count]) for i in (0, 1))
    assert max(abs(one[t] - other[t]) for t in one) <= 1


def test_neighbours_differ_by_at_most_epsilon_in_all(mechanisms) -> None:  # noqa: F811
    worst = 0.0
    for pair in neighbours(mechanisms):
        one, other = (
            law_of(mechanism.score.lows, mechanism.score.highs, -1, 8) for mechanism in pair
        )
        ratios = [one.log_density(t) - other.log_density(t) for t in range(-1, 9)]
        spread = max(ratios) - min(ratios)
        assert max(map(abs, ratios)) <= 2 + 1e-12
        worst = max(worst, spread)
    assert 1.2 < worst <= 2 + 1e-12


@pytest.mark.parametrize("ends", [([6, 4, 2, -4], [3, 5, 5, 9]), ([2, -4], [3, 8])])
@pytest.mark.parametrize("epsilon", [TWO, Fraction(9)])
@pytest.mark.one_in(8)
def test_the_sampler_follows_the_law_and_a_tighter_one_is_noticed(epsilon, ends) -> None:
    """Sets that cross at first, or several integers of length 0; one part a ring, or five."""
    mechanism, tighter = (law_of(*ends, epsilon=e) for e in (epsilon, epsilon * 10 / 7))
    entropy = SeededEntropy(f"linear level {epsilon} {ends}")
    draws = [mechanism.sample(entropy) for _ in range(3000)]
    assert p_value(draws, probabilities(mechanism)) > ACCEPT
    assert p_value(draws, probabilities(tighter)) < REJECT


def test_wide_rings_and_large_budgets_are_drawn_at_once() -> None:
    entropy = SeededEntropy("wide")
    wide = law_of([0, -(2**40)], [0, 2**40], -(2**51), 2**51, Fraction(3))
    draws = np.array([wide.sample(entropy) for _ in range(400)])
    # Two rings at rate 3/2: a share of 1 - e^-3/2 of the first, the same times e^-3/2 of the other,
    # which is 2^11 - 1 times as wide.
    ratio = (2**11 - 1) * math.exp(-1.5)
    assert np.mean(np.abs(draws) <= 2**40) == pytest.approx(1 / (1 + ratio), abs=0.01)
    assert np.mean(draws > 0) == pytest.approx(0.5, abs=0.1)
    huge = law_of([4, 4], [4, 4], epsilon=Fraction(10**9))
    assert {huge.sample(entropy) for _ in range(50)} == {4}
