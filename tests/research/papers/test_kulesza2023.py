"""Kulesza, Suresh and Wang 2023: the exact privacy and the mean squared errors of their laws."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.laplace import discrete_laplace_many
from modicum.mechanisms.additive import LaplaceNoise
from modicum.mechanisms.staircase import staircase
from modicum.privacy.event import PureDP
from modicum.research.papers import kulesza2023
from modicum.statistics.ranges import bounded_mean

BUILD = {
    "independent": (kulesza2023.independent, kulesza2023.independent_value),
    "shifted": (kulesza2023.shifted, kulesza2023.shifted_value),
    "transformed": (kulesza2023.transformed, bounded_mean.transformed_value),
}
RANGES = [(0, 4), (-3, 2), (2, 5), (-5, -1), (3, 3)]


def law_of(algorithm, data, lo, hi, epsilon):
    return BUILD[algorithm][0](sum(data), len(data), lo=lo, hi=hi, epsilon=epsilon)


@pytest.mark.parametrize("algorithm", BUILD)
@pytest.mark.parametrize(("lo", "hi"), RANGES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
def test_the_privacy_loss_by_enumeration(algorithm, lo, hi, epsilon) -> None:
    """Every data set of up to three records, one more record of every value, every outcome near."""
    losses = {}
    for n in range(4):
        for data in itertools.combinations_with_replacement(range(lo, hi + 1), n):
            mechanism = law_of(algorithm, data, lo, hi, epsilon)
            assert mechanism.event == PureDP(epsilon)
            for x in range(lo, hi + 1):
                other = law_of(algorithm, (*data, x), lo, hi, epsilon)
                moves = tuple(b - a for a, b in zip(mechanism.values, other.values, strict=True))
                if moves in losses:
                    continue
                # The log ratio is a sum over coordinates, each extreme outside the move.
                outcomes = itertools.product(
                    *[
                        range(min(a, b) - 2, max(a, b) + 3)
                        for a, b in zip(mechanism.values, other.values, strict=True)
                    ]
                )
                losses[moves] = max(
                    abs(mechanism.log_density(k) - other.log_density(k)) for k in outcomes
                )
    assert max(losses.values()) <= float(epsilon) * (1 + 1e-12)
    if lo < hi:  # nothing is wasted: some record costs the whole of ε
        assert max(losses.values()) == pytest.approx(float(epsilon), rel=1e-12)
    if algorithm == "transformed" and lo < hi:  # and with Algorithm 3 every record does
        assert min(losses.values()) == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.parametrize("algorithm", BUILD)
@pytest.mark.parametrize(("lo", "hi"), RANGES)
def test_without_noise_the_outcome_is_the_mean(algorithm, lo, hi) -> None:
    build, mean_of = BUILD[algorithm]
    for data in itertools.combinations_with_replacement(range(lo, hi + 1), 3):
        mechanism = build(sum(data), len(data), lo=lo, hi=hi, epsilon=Fraction(1))
        assert mean_of(mechanism.values, lo=lo, hi=hi) == Fraction(sum(data), len(data))


@pytest.mark.parametrize("algorithm", BUILD)
@pytest.mark.parametrize(("lo", "hi"), RANGES)
def test_every_outcome_gives_a_mean_inside_the_range(algorithm, lo, hi) -> None:
    mean_of = BUILD[algorithm][1]
    for outcome in itertools.product((-(10**30), -1, 0, 1, 7, 10**30), repeat=2):
        assert lo <= mean_of(outcome, lo=lo, hi=hi) <= hi


def pooled(samples, probabilities) -> float:
    observed = Counter(samples)
    expected = {k: len(samples) * p for k, p in probabilities.items()}
    cells = [(observed[k], e) for k, e in expected.items() if e >= 8]
    rest = (len(samples) - sum(o for o, _ in cells), len(samples) - sum(e for _, e in cells))
    return float(stats.chisquare(*np.array([*cells, rest]).T).pvalue)


@pytest.mark.parametrize("algorithm", BUILD)
def test_the_sampler_follows_the_law_and_the_test_has_power(algorithm) -> None:
    lo, hi, epsilon = -1, 2, Fraction(3)
    mechanism = law_of(algorithm, (0, 2, 1), lo, hi, epsilon)
    entropy = SeededEntropy(5)
    samples = [mechanism.sample(entropy) for _ in range(8000)]

    def probabilities(epsilon):
        shape = law_of(algorithm, (0, 2, 1), lo, hi, epsilon)
        near = [range(v - 40, v + 41) for v in shape.values]
        return {k: math.exp(shape.log_density(k)) for k in itertools.product(*near)}

    exact = probabilities(epsilon)
    assert sum(exact.values()) == pytest.approx(1, abs=1e-6)
    assert pooled(samples, exact) > 1e-3
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert pooled(samples, probabilities(epsilon * factor)) < 1e-6


# ---- Mean squared errors. l = 0 and u = 1 as in section 6 of the paper, n = 1000.

WIDTH, N, DRAWS = 1 << 20, 1000, 20_000
THEORY = {  # leading terms of n² E error²: Lemma 2 and Theorem 1
    "shifted": lambda mu, epsilon: (2 + 8 * (mu - 0.5) ** 2) / epsilon**2,
    "transformed": lambda mu, epsilon: (1 + 4 * (mu - 0.5) ** 2) / epsilon**2,
}


def squared_errors(algorithm, mu, epsilon, seed):
    build, mean_of = BUILD[algorithm]
    total = round(mu * N) * WIDTH
    mechanism = build(total, N, lo=0, hi=WIDTH, epsilon=epsilon)
    entropy = SeededEntropy(seed)
    columns = []
    for value, noise in zip(mechanism.values, mechanism.noise, strict=True):
        assert isinstance(noise, LaplaceNoise)
        columns.append(value + discrete_laplace_many(noise.scale, DRAWS, entropy))
    means = [mean_of((int(a), int(b)), lo=0, hi=WIDTH) for a, b in zip(*columns, strict=True)]
    return (np.array([float(m / WIDTH) for m in means]) - mu) ** 2 * N**2


@pytest.mark.parametrize("algorithm", THEORY)
@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1)])
@pytest.mark.one_in(5)
def test_the_mean_squared_error_inside_the_range(algorithm, mu, epsilon) -> None:
    """Away from the ends the bound is attained, to Monte-Carlo error and o(1)."""
    errors = squared_errors(algorithm, mu, epsilon, seed=f"{algorithm} {mu} {epsilon}")
    theory = THEORY[algorithm](mu, float(epsilon))
    margin = 4 * errors.std() / math.sqrt(DRAWS) + 0.02 * theory
    assert errors.mean() == pytest.approx(theory, abs=margin)
    # The same margin would notice a scale that is 30 % off: its square is 40 % to 70 % off.
    assert margin < 0.3 * theory


@pytest.mark.one_in(2)
@pytest.mark.parametrize("algorithm", THEORY)
@pytest.mark.parametrize("mu", [0.0, 0.001, 1.0])
def test_the_mean_squared_error_at_the_ends_is_below_the_bound(algorithm, mu) -> None:
    """Clipping removes what would leave the range: half of the error at the ends."""
    errors = squared_errors(algorithm, mu, Fraction(1, 2), seed=f"{algorithm} {mu}")
    theory = THEORY[algorithm](mu, 0.5)
    margin = 4 * errors.std() / math.sqrt(DRAWS) + 0.02 * theory
    assert errors.mean() <= theory
    if mu in {0.0, 1.0}:
        assert errors.mean() == pytest.approx(theory / 2, abs=margin)


def test_transformed_noise_halves_the_error_of_shifted_noise() -> None:
    for mu in (0.1, 0.5):
        two = squared_errors("shifted", mu, Fraction(1, 2), seed=1).mean()
        three = squared_errors("transformed", mu, Fraction(1, 2), seed=2).mean()
        assert two / three == pytest.approx(2, rel=0.12)


# ---- The questions: answers, intervals, and the staircase's bound.

QUESTIONS = {
    "independent": kulesza2023.independent_mean,
    "shifted": kulesza2023.shifted_mean,
    "transformed": kulesza2023.transformed_mean,
    "staircase": kulesza2023.staircase_mean,
}


def released(name, data, seed, epsilon=1, within=(20, 100)):
    asked = QUESTIONS[name](within=within, epsilon=epsilon)
    entropy = SeededEntropy(f"{name} {seed}")
    return mo.Curator(data, budget=mo.pure(epsilon), entropy=entropy).run(asked)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_interval_covers_the_mean_and_not_with_a_wrong_scale(name) -> None:
    """Fifty releases of 400 records: intervals of 95 % hold nearly always, half of them seldom."""
    data = np.random.default_rng(3).uniform(20, 100, 400)
    held = shorter = 0
    for seed in range(50):
        release = released(name, data, seed)
        lower, upper = release.interval()
        held += lower <= data.mean() <= upper
        shorter += abs(release.value - data.mean()) <= (upper - lower) / 16
    assert held >= 47
    assert shorter < 47
    assert release.usable


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_records_and_too_few(name) -> None:
    for data in ([], [50.0], [50.0] * 3):
        release = released(name, data, 0, epsilon="0.1")
        lower, upper = release.interval()
        assert 20 <= lower <= release.value <= upper <= 100
        assert release.code == "few_records"


def test_transformed_is_the_bounded_mean_of_the_statistic() -> None:
    data = np.random.default_rng(4).uniform(20, 100, 400)
    asked = mo.query.mean(within=(20, 100), epsilon=1, method="bounded")
    curator = mo.Curator(data, budget=mo.pure(1), entropy=SeededEntropy("transformed 0"))
    assert curator.run(asked) == released("transformed", data, 0)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(
    ("l1", "epsilon"), [(3, Fraction(1, 2)), (4, Fraction(3)), (1, Fraction(1))]
)
def test_the_bound_of_a_staircase_by_enumeration(dimension, l1, epsilon) -> None:
    mechanism = staircase((0,) * dimension, l1=l1, epsilon=epsilon)
    reach = math.ceil(40 * l1 / float(epsilon)) if dimension == 1 else 22 * l1
    norms = Counter()
    for point in itertools.product(range(-reach, reach + 1), repeat=dimension):
        norms[sum(map(abs, point))] += math.exp(mechanism.log_density(point))
    for alpha in (0.5, 0.05, 0.01):
        bound = mechanism.term.bound(alpha)
        beyond = 1 - sum(mass for norm, mass in norms.items() if norm <= bound)
        assert beyond <= alpha + 1e-4
        if bound >= l1:  # a step less is too little
            within = sum(mass for norm, mass in norms.items() if norm <= bound - l1)
            assert 1 - within > alpha - 1e-4


def test_the_variance_of_a_staircase() -> None:
    """That of a continuum, within a few per cent for steps of a hundred."""
    mechanism = staircase((0, 0), l1=100, epsilon=Fraction(2))
    entropy = SeededEntropy(8)
    drawn = np.array([mechanism.sample(entropy) for _ in range(4000)], dtype=float)
    assert (drawn**2).mean() == pytest.approx(mechanism.term.variance, rel=0.08)
    assert mechanism.term.explains(mechanism.term.bound(0.03))
    assert not mechanism.term.explains(mechanism.term.bound(0.03) + 1)
