"""The rank law agrees with its definition, candidate by candidate, and follows its sampler."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.scores import EndsScore, RankScore
from modicum.summaries.order_statistics import RankWindow
from tests.summaries.cases import reduce

LATTICE = Lattice(-20.0, 20.0, 1.0)
DATA = st.lists(st.integers(-20, 20), max_size=7)
QS = st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(1, 3), Fraction(999999937, 10**9)])
ONE = Fraction(1)


def law_of(data, q=Fraction(1, 2), shift=0, cap=4, epsilon=ONE) -> Exponential[RankScore]:
    """The law from no more records than it needs."""
    window = reduce(RankWindow(q, cap + abs(shift)), LATTICE, [data])
    records = (window.values, window.below, window.count)
    return Exponential(RankScore(*records, -20, 20, q, shift, cap), epsilon)


def losses(data, q, shift, cap) -> dict[int, Fraction]:
    """From the definition, on all records."""
    target = q * len(data) + shift
    found = {}
    for t in range(-20, 21):
        below, upto = sum(x < t for x in data), sum(x <= t for x in data)
        found[t] = min(max(Fraction(0), below - target, target - upto), cap)
    return found


@given(DATA, QS, st.integers(-3, 3), st.integers(1, 5))
def test_the_density_is_the_definition(data, q, shift, cap) -> None:
    mechanism = law_of(data, q, shift, cap)
    exact = losses(data, q, shift, cap)
    rate = 1 / (2 * float(max(q, 1 - q)))
    norm = math.log(math.fsum(math.exp(-rate * loss) for loss in exact.values()))
    for t, loss in exact.items():
        assert mechanism.log_density(t) == pytest.approx(-rate * float(loss) - norm, abs=1e-12)
    assert mechanism.log_density(21) == mechanism.log_density(-21) == -math.inf


@given(DATA, QS, st.integers(-3, 3), st.integers(1, 5), st.integers(-20, 20))
def test_one_record_moves_the_loss_by_at_most_the_larger_of_q_and_the_rest(
    data, q, shift, cap, x
) -> None:
    one, other = (losses(d, q, shift, cap) for d in (data, [*data, x]))
    assert max(abs(one[t] - other[t]) for t in one) <= max(q, 1 - q)


@given(DATA.filter(len), QS)
def test_loss_zero_is_the_quantile(data, q) -> None:
    """Between the records numbered ceil(q n) and floor(q n) + 1."""
    ordered, rank = sorted(data), q * len(data)
    zero = [t for t, loss in losses(data, q, 0, 99).items() if loss == 0]
    assert (zero[0], zero[-1]) == (ordered[math.ceil(rank) - 1], ordered[math.floor(rank)])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 5)])
def test_the_sampler_follows_the_law_and_a_tighter_one_is_noticed(q) -> None:
    data = list(range(-20, 20, 2))
    mechanism, tighter = law_of(data, q), law_of(data, q, epsilon=Fraction(10, 7))
    entropy = SeededEntropy(f"rank {q}")
    draws = Counter(mechanism.sample(entropy) for _ in range(6000))
    observed = [draws[t] for t in range(-20, 21)]

    def fit(other: Exponential[RankScore]) -> float:
        expected = [6000 * math.exp(other.log_density(t)) for t in range(-20, 21)]
        return float(stats.chisquare(observed, expected).pvalue)

    assert fit(mechanism) > 1e-4
    assert fit(tighter) < 1e-6


def pairs(data, point, q, shift, cap) -> dict[tuple[int, int], Fraction]:
    """Loss of each pair of distances, from the definition, on all records."""
    n, found = len(data), {}
    below, above = (outwards(end) for end in (point + 20, 20 - point))
    for (i, low), (j, high) in product(enumerate(below), enumerate(above)):
        # Records are moved outwards: those within the distance before this one are nearer.
        inner = (
            sum(x >= point - below[i - 1] for x in data) if i else 0,
            sum(x <= point + above[j - 1] for x in data) if j else 0,
        )
        outer = sum(x >= point - low for x in data), sum(x <= point + high for x in data)
        targets = (1 - q) * n + shift, q * n + shift
        each = (
            max(Fraction(0), a - t, t - b) for a, b, t in zip(inner, outer, targets, strict=True)
        )
        found[low, high] = min(max(each), cap)
    return found


def outwards(end: int) -> list[int]:
    return [r for r in RadiusGrid.between(1, max(end, 1), 4).radii if r < end] + [end]


def ends_of(data, point, q, shift, cap, near=40) -> Exponential[EndsScore]:
    """The law of both ends from no more records than it needs."""
    window = reduce(RankWindow(q, cap + shift), LATTICE, [data])
    records = (window.values, window.below, window.count)
    score = EndsScore.about(
        point, records, q, shift=shift, cap=cap, reach=(point + 20, 20 - point), near=near
    )
    return Exponential(score, ONE)


@given(DATA, QS, st.integers(-20, 20), st.integers(0, 3), st.integers(1, 5), st.integers(1, 40))
def test_the_density_of_both_ends_is_the_definition(data, q, point, shift, cap, near) -> None:
    mechanism = ends_of(data, point, q, shift, cap, near)
    rate = 1 / (2 * float(max(q, 1 - q)))
    logs = {
        pair: -rate * float(loss) - 1.25 * sum(abs(math.log(max(r, 1) / near)) for r in pair)
        for pair, loss in pairs(data, point, q, shift, cap).items()
    }
    norm = math.log(math.fsum(math.exp(log) for log in logs.values()))
    for outcome, (pair, log) in enumerate(logs.items()):
        assert mechanism.score.distances(outcome) == pair
        # The prior is in units of the loss that weigh 1/256 at most.
        assert mechanism.log_density(outcome) == pytest.approx(log - norm, abs=0.02)


@given(DATA, QS, st.integers(-20, 20), st.integers(0, 3), st.integers(-20, 20))
def test_one_record_moves_the_loss_of_a_pair_no_further_than_that_of_an_end(
    data, q, point, shift, x
) -> None:
    one, other = (pairs(d, point, q, shift, 99) for d in (data, [*data, x]))
    assert max(abs(one[pair] - other[pair]) for pair in one) <= max(q, 1 - q)


def test_both_ends_of_even_records_are_beyond_the_quantile_and_near() -> None:
    """Half as far out as two draws that share the budget have to aim."""
    entropy, missed, widths = SeededEntropy("both ends"), [], []
    data = np.arange(-200, 201, dtype=np.int64)
    for point in (-3, 0, 4):
        score = EndsScore.about(
            point, (data, 0, 401), Fraction(1, 2), shift=9, cap=400, reach=(900, 900), near=900
        )
        mechanism = Exponential(score, Fraction(7, 25))
        for _ in range(400):
            below, above = score.distances(mechanism.sample(entropy))
            missed.append(not point - below <= 0 <= point + above)
            widths.append(below + above)
    assert np.mean(missed) < 0.05
    assert np.median(widths) < 28


def test_huge_ranks_and_denominators_are_exact() -> None:
    """10^12 records, a denominator of 10^9: losses are relative before they are multiplied."""
    q, count = Fraction(333333333, 10**9), 10**12 + 7
    centre = count * q.numerator // q.denominator
    values = np.repeat(np.arange(-5, 6), 100)
    score = RankScore(values, centre - 550, count, -20, 20, q, 0, 10**6)
    mechanism = Exponential(score, ONE)
    assert mechanism.log_density(0) == max(mechanism.log_density(t) for t in range(-20, 21))
    expected = -float(ONE / (2 * (1 - q))) * float(centre - 50 + 100 - q * count)
    assert mechanism.log_density(1) - mechanism.log_density(0) == pytest.approx(expected, rel=1e-12)
