"""The prior's weights, and the laws that have one, candidate by candidate."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.exponential import CELLS, Exponential, OctavePrior, Runs
from modicum.mechanisms.scores import RankScore, ReachScore, TopCellScore, TopScore

ONE = Fraction(1)
EPSILONS = [ONE, Fraction(90), Fraction(4000), Fraction(10**6)]
DATA = st.lists(st.integers(-20, 20), max_size=7)
PRIORS = st.builds(
    OctavePrior,
    st.integers(-20, 20),
    st.sampled_from([ONE, Fraction(3), Fraction(8)]),
    st.sampled_from([0, 5]),
)


def log_weight(prior: OctavePrior, t: int) -> float:
    """2^(-power / 8) for every cell of the distance; ln 2 is 710/1024 here."""
    cells = CELLS.number(abs(t - prior.centre))
    return -float(prior.power) * 710 / 8192 * (cells + prior.atom * (cells > 0))


def normalised(logs: dict[int, float]) -> dict[int, float]:
    norm = math.log(math.fsum(math.exp(each) for each in logs.values()))
    return {t: each - norm for t, each in logs.items()}


def top(data, prior, epsilon=ONE, last=41) -> Exponential[TopScore]:
    values = np.sort(np.array(data, dtype=np.int64))
    return Exponential(TopScore(values, -20, last, prior), epsilon)


@given(DATA, PRIORS)
def test_the_density_of_an_extreme_is_the_definition(data, prior) -> None:
    mechanism = top(data, prior)
    expected = normalised(
        {t: log_weight(prior, t) - sum(x > t for x in data) for t in range(-20, 42)}
    )
    for t, each in expected.items():
        # A power is rounded to the units of the loss.
        assert mechanism.log_density(t) == pytest.approx(each, abs=0.03)
    assert mechanism.log_density(42) == mechanism.log_density(-21) == -math.inf


@given(DATA, PRIORS, st.sampled_from([Fraction(9, 10), Fraction(1, 3)]))
def test_the_density_of_a_quantile_is_the_definition(data, prior, q) -> None:
    values = np.sort(np.array(data, dtype=np.int64))
    mechanism = Exponential(RankScore(values, 0, len(data), -20, 20, q, 0, 9, prior), ONE)
    target, m = q * len(data), float(max(q, 1 - q))
    logs = {}
    for t in range(-20, 21):
        below, upto = sum(x < t for x in data), sum(x <= t for x in data)
        loss = float(max(Fraction(0), below - target, target - upto))
        logs[t] = log_weight(prior, t) - loss / (2 * m)
    for t, each in normalised(logs).items():
        assert mechanism.log_density(t) == pytest.approx(each, abs=0.03)


@given(DATA, PRIORS, st.integers(-20, 20), st.sampled_from(EPSILONS))
def test_one_record_moves_the_loss_by_nothing_or_one(data, prior, x, epsilon) -> None:
    one, other = top(data, prior, epsilon), top([*data, x], prior, epsilon)
    ratios = [one.log_density(t) - other.log_density(t) for t in range(-20, 42)]
    assert max(ratios) - min(ratios) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("power", [1, 8])
def test_a_prior_weighs_the_same_at_every_epsilon(epsilon, power) -> None:
    """Where no record decides; in whole units of a large ε it would be rounded to nothing."""
    one, three = OctavePrior(0, Fraction(power)), [3]
    score = RankScore(np.array(three), 0, 1, -20, 40, Fraction(1, 2), 0, 9, one)
    for mechanism in (top(three, one, epsilon), Exponential(score, epsilon)):
        start = 4 if mechanism.name == "TopLaw" else -20
        found = [mechanism.log_density(t) for t in range(start, start + 17)]
        wanted = [log_weight(one, t) for t in range(start, start + 17)]
        assert np.diff(found) == pytest.approx(np.diff(wanted), rel=0.03, abs=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_costs_of_places_are_the_same_at_every_epsilon(epsilon) -> None:
    tilts = Fraction(1, 2), Fraction(1, 10)
    cells = Exponential(TopCellScore((7, 0, 0, 0, 0, 0), tilts, 3), epsilon)
    found = [cells.log_density(k) for k in range(6)]
    assert np.diff(found[1:]) == pytest.approx([-0.5, -0.5, -0.1, -0.1], rel=0.03)
    places = Exponential(ReachScore((5, 5, 5, 5), 5, Fraction(2), 1 << 10), epsilon)
    assert np.diff([places.log_density(k) for k in range(4)]) == pytest.approx([2.0] * 3, rel=0.03)


def test_a_loss_too_large_for_fine_units_is_cut() -> None:
    score = TopCellScore((1 << 44, 5, 0), (Fraction(1), Fraction(1)), 2)
    law = Exponential(score, Fraction(10**7))
    assert law.log_density(2) == pytest.approx(0, abs=1e-9)
    assert law.sample(SeededEntropy("cut")) == 2


@given(PRIORS, st.lists(st.integers(-19, 39), unique=True, max_size=5))
def test_cutting_changes_no_candidate(prior, cuts) -> None:
    """Where the stretches begin, as data decide, has no influence on the prior."""
    starts = np.array(sorted({-20, *cuts}))
    runs = Runs(starts, np.diff(starts, append=41), np.zeros(len(starts), dtype=np.int64))
    added = prior.added(runs, 7)
    assert int(added.lengths.sum()) == 61
    for start, length, loss in zip(added.starts, added.lengths, added.losses, strict=True):
        for t in range(start, start + length):
            cells = CELLS.number(abs(t - prior.centre))
            assert loss == 7 * (cells + prior.atom * (cells > 0))


def test_the_widest_interval_is_exact() -> None:
    prior = OctavePrior(-(2**51), Fraction(8))
    whole = Runs(np.array([-(2**51)]), np.array([2**53 + 2]), np.array([0]))
    added = prior.added(whole, 1)
    assert added.losses.tolist() == list(range(CELLS.number(2**53 + 1) + 1))
    assert added.starts[-1] == 2**53 - 2**51
    logs = np.log2(CELLS.point(8 * 40) / CELLS.point(8 * 39))
    assert logs == 1


def test_the_weight_beyond_a_distance() -> None:
    prior = OctavePrior(3, Fraction(2))
    mechanism = top([7, 9], prior)
    weights = {t: math.exp(log_weight(prior, t)) for t in range(-20, 42)}
    for distance in (-23, -1, 0, 1, 5, 38):
        expected = math.fsum(w for t, w in weights.items() if t >= 3 + distance)
        found = prior.log_beyond(distance, (-20, 41), mechanism.rate)
        assert found == pytest.approx(math.log(expected), abs=0.03)


def test_the_sampler_follows_the_law_and_a_tighter_one_is_noticed() -> None:
    prior = OctavePrior(0, Fraction(3, 2))
    mechanism = top([1, 3, 3, 8, 15], prior)
    tighter = replace(mechanism, epsilon=Fraction(10, 7))
    entropy = SeededEntropy("top")
    draws = Counter(mechanism.sample(entropy) for _ in range(6000))
    groups = [range(-20, 1), range(1, 3), range(3, 8), range(8, 15), range(15, 42)]
    observed = [sum(draws[t] for t in group) for group in groups]

    def fit(other: Exponential[TopScore]) -> float:
        expected = [sum(math.exp(other.log_density(t)) for t in group) for group in groups]
        return float(stats.chisquare(observed, 6000 * np.array(expected)).pvalue)

    assert fit(mechanism) > 1e-4
    assert fit(tighter) < 1e-6
