"""The rank law agrees with its definition, candidate by candidate, and follows its sampler."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import RankScore
from modicum.summaries.order_statistics import RankWindow
from tests.summaries.cases import reduce

LATTICE = Lattice(-20.0, 20.0, 1.0)
DATA = st.lists(st.integers(-20, 20), max_size=7)
QS = st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(1, 3), Fraction(999999937, 10**9)])
ONE = Fraction(1)


def law_of(
    data, q=Fraction(1, 2), shift=0, cap=4, edge=None, epsilon=ONE
) -> Exponential[RankScore]:
    """The law from no more records than it needs."""
    window = reduce(RankWindow(q, cap + abs(shift)), LATTICE, [data])
    records = (window.values, window.below, window.count)
    return Exponential(RankScore(*records, -20, 20, q, shift, cap, edge), epsilon)


def losses(data, q, shift, cap, edge) -> dict[int, Fraction]:
    """From the definition, on all records."""
    target = q * len(data) + shift
    found = {}
    for t in range(-20, 21):
        below, upto = sum(x < t for x in data), sum(x <= t for x in data)
        found[t] = min(max(Fraction(0), below - target, target - upto), cap)
    if edge is not None:
        found[20] = min(found[20], edge)
    return found


@given(DATA, QS, st.integers(-3, 3), st.integers(1, 5), st.sampled_from([None, 0, 1, 9]))
def test_the_density_is_the_definition(data, q, shift, cap, edge) -> None:
    mechanism = law_of(data, q, shift, cap, edge)
    exact = losses(data, q, shift, cap, edge)
    rate = 1 / (2 * float(max(q, 1 - q)))
    norm = math.log(math.fsum(math.exp(-rate * loss) for loss in exact.values()))
    for t, loss in exact.items():
        assert mechanism.log_density(t) == pytest.approx(-rate * float(loss) - norm, abs=1e-12)
    assert mechanism.log_density(21) == mechanism.log_density(-21) == -math.inf


@given(DATA, QS, st.integers(-3, 3), st.integers(1, 5), st.integers(-20, 20))
def test_one_record_moves_the_loss_by_at_most_the_larger_of_q_and_the_rest(
    data, q, shift, cap, x
) -> None:
    one, other = (losses(d, q, shift, cap, 2) for d in (data, [*data, x]))
    assert max(abs(one[t] - other[t]) for t in one) <= max(q, 1 - q)


@given(DATA.filter(len), QS)
def test_loss_zero_is_the_quantile(data, q) -> None:
    """Between the records numbered ceil(q n) and floor(q n) + 1."""
    ordered, rank = sorted(data), q * len(data)
    zero = [t for t, loss in losses(data, q, 0, 99, None).items() if loss == 0]
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


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6])
def test_the_rank_bound_holds(alpha) -> None:
    """Worst where all candidates but one have the same large loss."""
    for data in ([0] * 500, list(range(-20, 21)) * 40, [-20] * 250 + [20] * 250):
        mechanism = law_of(data, cap=400)
        beyond = [
            t
            for t, loss in losses(data, mechanism.score.q, 0, 400, None).items()
            if loss > mechanism.score.rank_bound(mechanism.epsilon, alpha, 1)
        ]
        assert sum(math.exp(mechanism.log_density(t)) for t in beyond) <= alpha


def test_huge_ranks_and_denominators_are_exact() -> None:
    """10^12 records, a denominator of 10^9: losses are relative before they are multiplied."""
    q, count = Fraction(333333333, 10**9), 10**12 + 7
    centre = count * q.numerator // q.denominator
    values = np.repeat(np.arange(-5, 6), 100)
    score = RankScore(values, centre - 550, count, -20, 20, q, 0, 10**6, None)
    mechanism = Exponential(score, ONE)
    assert mechanism.log_density(0) == max(mechanism.log_density(t) for t in range(-20, 21))
    expected = -float(ONE / (2 * (1 - q))) * float(centre - 50 + 100 - q * count)
    assert mechanism.log_density(1) - mechanism.log_density(0) == pytest.approx(expected, rel=1e-12)
