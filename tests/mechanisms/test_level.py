"""Laws over level sets agree with the length that the sets define, and follow their samplers."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.level_sets import LevelScore
from modicum.privacy.event import RangeDP
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.reference.crossing import Crossing, mean, median, trimmed_mean, winsorized_mean

ONE = Fraction(1)
FIRST, LAST = -5, 9
ENDS = st.lists(st.tuples(st.integers(-9, 13), st.integers(-9, 13)), min_size=1, max_size=5).map(
    lambda ends: (sorted((a for a, _ in ends), reverse=True), sorted(b for _, b in ends))
)
STATISTICS = {
    "mean": mean,
    "median": median,
    "trimmed mean": trimmed_mean(1),
    "winsorized mean": winsorized_mean(1),
}


def law_of(lows, highs, first=FIRST, last=LAST, epsilon=ONE) -> Exponential[LevelScore]:
    ends = np.array(lows, dtype=np.int64), np.array(highs, dtype=np.int64)
    return Exponential(LevelScore(*ends, first, last), epsilon, RangeDP(epsilon))


def lengths(lows, highs) -> dict[int, int]:
    """From the definition."""
    levels = range(len(lows))
    return {
        t: min((k for k in levels if lows[k] <= t <= highs[k]), default=len(lows))
        for t in range(FIRST, LAST + 1)
    }


def probabilities(mechanism: Exponential[LevelScore]) -> dict[int, float]:
    return {
        t: math.exp(mechanism.log_density(t))
        for t in range(mechanism.score.first, mechanism.score.last + 1)
    }


@given(ENDS)
def test_the_density_is_the_definition(ends) -> None:
    exact = lengths(*ends)
    mechanism = law_of(*ends)
    norm = math.log(math.fsum(math.exp(-length / 2) for length in exact.values()))
    for t, length in exact.items():
        assert mechanism.log_density(t) == pytest.approx(-length / 2 - norm, abs=1e-12)
    assert mechanism.log_density(FIRST - 1) == mechanism.log_density(LAST + 1) == -math.inf


@pytest.fixture(scope="module", params=STATISTICS)
def mechanisms(request) -> dict[tuple[int, ...], Exponential[LevelScore]]:
    """Laws of the crossing length of all small data sets, from brute force."""
    crossing = Crossing(STATISTICS[request.param], (0, 2, 7), 8)
    small = [d for n in range(5) for d in combinations_with_replacement((0, 2, 7), n)]
    return {data: law_of(*crossing.levels(data, -1, 8, 4), -1, 8) for data in small}


def neighbours(mechanisms):
    return [
        (one, mechanisms[tuple(sorted((*data, x)))])
        for data, one in mechanisms.items()
        for x in (0, 2, 7)
        if len(data) < 4
    ]


def test_crossing_lengths_keep_the_contract(mechanisms) -> None:
    for one, other in neighbours(mechanisms):
        for a, b in ((one, other), (other, one)):
            assert (b.score.lows[1:] <= a.score.lows[:-1]).all()
            assert (b.score.highs[1:] >= a.score.highs[:-1]).all()


def test_neighbours_differ_by_at_most_epsilon_in_all(mechanisms) -> None:
    """The ratio's range is at most ε too: a bounded range is a stronger promise."""
    worst = 0.0
    for one, other in neighbours(mechanisms):
        ratios = [one.log_density(t) - other.log_density(t) for t in range(-1, 9)]
        assert max(map(abs, ratios)) <= 1 + 1e-12
        worst = max(worst, max(ratios) - min(ratios))
    assert 0.9 < worst <= 1 + 1e-12  # otherwise nothing was tried


def test_the_sampler_follows_the_law_and_a_tighter_one_is_noticed() -> None:
    ends, two = ([4, 4, 2, -3], [4, 5, 5, 8]), Fraction(2)
    mechanism, tighter = law_of(*ends, epsilon=two), law_of(*ends, epsilon=two * 10 / 7)
    entropy = SeededEntropy("level")
    draws = [mechanism.sample(entropy) for _ in range(5000)]
    assert p_value(draws, probabilities(mechanism)) > ACCEPT
    assert p_value(draws, probabilities(tighter)) < REJECT


def test_sets_beyond_the_range_and_empty_ones_are_welcome() -> None:
    far = 1 << 60
    uniform = law_of([far, far], [-far, -far])
    assert len({uniform.log_density(t) for t in range(FIRST, LAST + 1)}) == 1
    outside = law_of([20, 18], [30, 40])
    assert len({outside.log_density(t) for t in range(FIRST, LAST + 1)}) == 1
    everything = law_of([-far], [far], -(2**51), 2**51)
    assert everything.log_density(0) == pytest.approx(-math.log(2**52 + 1))


def test_ends_of_different_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="one length"):
        law_of([0, 0], [0]).runs()
