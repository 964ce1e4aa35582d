"""Risks against linear programmes over all mechanisms, and statements of the papers that fail."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import modicum
from modicum import theory
from modicum.errors import InvalidArgument
from tests.reference import datasets

VALUES = {
    "mean": (theory.Mean(), datasets.mean),
    "median": (theory.Quantile(0.5), datasets.quantile(Fraction(1, 2))),
    "quantile 0.9": (theory.Quantile(0.9), datasets.quantile(Fraction(9, 10))),
    "location 3": (theory.Location(3), datasets.location(3)),
}
TINY = [
    (0.0, 1.0),
    (0.0, 0.0, 1.0),
    (0.0, 1.0, 3.0),
    (0.0, 0.0, 0.0, 4.0),
    (0.0, 1.0, 1.0, 2.0),
    (0.0, 1.0, 2.0, 4.0, 8.0),
    (0.0, 0.0, 0.0, 5.0, 5.0, 6.0),
]
ROUNDING = 1e-7  # of the solver


@pytest.mark.parametrize("distance", range(1, 7))
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_the_testing_error_is_that_of_the_best_mechanism(distance, epsilon) -> None:
    """A path of data sets of which only the ends count."""
    path = [(i, i + 1) for i in range(distance)]
    values = [0.0, *[None] * (distance - 1), 1.0]
    exact = datasets.least_risk(path, values, epsilon)
    assert theory.two_point_error(distance, epsilon) == pytest.approx(exact, abs=ROUNDING)
    # The two ends alone would give 1/(1 + exp(ε m)); the papers' exp(-ε m)/2 is lower still.
    assert exact >= 1 / (1 + math.exp(epsilon * distance)) - ROUNDING
    if distance > 1:
        assert exact > 1 / (1 + math.exp(epsilon * distance)) + ROUNDING


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("data", TINY, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)])
def test_subset_risk_encloses_the_best_mechanism(name, data, epsilon) -> None:
    statistic, value = VALUES[name]
    if len(data) <= math.floor(1 / epsilon):
        with pytest.raises(InvalidArgument, match="records are needed"):
            theory.subset_risk(data, statistic, epsilon)
        return
    exact = datasets.subset_risk(data, value, epsilon)
    found = theory.subset_risk(data, statistic, epsilon)
    assert found.lower <= exact + ROUNDING
    assert exact <= found.upper + ROUNDING
    # Lemma 3.2 and Lemma 4.4 of Dick et al., and the tighter constants.
    assert found.spread / (2 * math.e**2) <= exact + ROUNDING
    if Fraction(1 / epsilon).denominator == 1:
        assert found.lower >= found.spread / (2 * math.e) * (1 - 1e-12)
    assert found.upper == found.spread / 2


def test_the_enclosure_is_nearly_tight() -> None:
    """So the test above would notice a bound that is wrong by a fifth."""
    low, high = [], []
    for data, epsilon in itertools.product(TINY, [Fraction(1), Fraction(1, 2)]):
        if len(data) > 1 / epsilon:
            exact = datasets.subset_risk(data, datasets.mean, epsilon)
            found = theory.subset_risk(data, "mean", epsilon)
            low.append(exact / found.lower)
            high.append(exact / found.upper)
    assert min(low) < 1.2
    assert max(high) > 0.6


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("data", [d for d in TINY if len(d) > 2], ids=str)
def test_the_spread_is_the_maximum_of_lemma_4_4(name, data) -> None:
    """Over all pairs of subsets that leave out at most 1/ε records."""
    statistic, value = VALUES[name]
    for k in (1, 2):
        subsets = {s for i in range(k + 1) for s in itertools.combinations(data, len(data) - i)}
        values = [value(s) for s in subsets]
        found = theory.subset_risk(data, statistic, Fraction(1, k)).spread
        assert found == pytest.approx(max(values) - min(values), abs=1e-12)


def test_lemma_4_4_needs_subsets() -> None:
    """As printed its pairs are any two data sets of a size and a distance; then it is false."""
    data, epsilon = (1.0, 1.0, 1.0), Fraction(1)
    universe = datasets.multisets([0.0, 1.0, 2.0], 4)
    large = [d for d in universe if len(d) >= len(data) - 1]
    gaps = datasets.distances(large, [0.0, 1.0, 2.0])
    values = np.array([datasets.mean(d) for d in large])
    literal = np.abs(values[:, None] - values[None, :])[gaps <= 2].max() / (2 * math.e**2)
    assert literal > 0.06
    assert datasets.subset_risk(data, datasets.mean, epsilon) == pytest.approx(0, abs=ROUNDING)
    assert theory.subset_risk(data, "mean", epsilon).upper == 0


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("data", TINY[:5], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_in_neighbour_risk_encloses_a_programme_over_the_ball(name, data, k) -> None:
    """The ball is a part of all data, so its programme lies below the risk; the bound below it."""
    statistic, value = VALUES[name]
    support = sorted(set(data))
    universe = datasets.multisets(support, len(data) + k)
    gaps = datasets.distances(universe, support)
    near = gaps[universe.index(data)] <= k
    ball = [d for d, keep in zip(universe, near, strict=True) if keep]
    inside = gaps[np.ix_(near, near)]
    values = [value(d) if d else None for d in ball]
    pairs = list(zip(*np.nonzero(np.triu(inside == 1)), strict=True))
    exact = datasets.least_risk(pairs, values, 1 / k)
    found = theory.in_neighbour_risk(data, statistic, Fraction(1, k))
    assert found.lower <= exact + ROUNDING
    assert exact <= found.upper + ROUNDING
    known = [v for v in values if v is not None]
    assert found.spread == pytest.approx(max(abs(v - value(data)) for v in known), abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 0.69])
def test_the_printed_in_neighbour_risk_can_be_zero(epsilon) -> None:
    """Dick et al. print Pr(loss > η) < 2/3 for Huang et al.'s Pr(loss <= η) >= 2/3.

    Two neighbours of different values: the least probability of a wrong answer, over all
    mechanisms, is below 2/3, so η = 0 passes as printed, and above 1/3, so it does not as meant.
    """
    wrong = datasets.least_risk([(0, 1)], [0.0, 1.0], epsilon)
    assert wrong == pytest.approx(theory.two_point_error(1, epsilon), abs=ROUNDING)
    assert 1 / 3 < wrong < 2 / 3


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 2)])
def test_local_minimax_risk_is_the_largest_of_all_pairs(name, epsilon) -> None:
    statistic, value = VALUES[name]
    grid = (0.0, 1.0, 2.0, 3.0)
    universe = datasets.multisets(grid, 9)[1:]
    values = np.array([value(d) for d in universe])
    for data in [(1.0,), (0.0, 1.0), (1.0, 1.0, 3.0)]:
        gaps = datasets.distances([data, *universe], grid)[0][1:]
        errors = np.array([theory.two_point_error(int(g), epsilon) for g in gaps])
        truth = (np.abs(values - value(data)) * errors).max()
        found = theory.local_minimax_risk(data, statistic, epsilon, within=(0, 3))
        assert found.lower == found.upper == pytest.approx(truth, abs=1e-9)


def test_the_modulus_does_not_bound_local_minimax_risk_from_above() -> None:
    """Dick et al., equation (2), write R1 ≈ ω(D, 1/ε): only ≳ holds without conditions."""
    data = [0.0] * 15
    risk = theory.local_minimax_risk(data, "median", 0.1, within=(0, 1000))
    assert risk.spread == 0
    assert risk.lower > 100
    for k in (2, 4, 10, 20):
        risk = theory.local_minimax_risk(range(100), "mean", Fraction(1, k), within=(0, 1000))
        assert risk.lower >= 0.303 * risk.spread


def test_risks_grow_with_what_is_near() -> None:
    """R <= R2 <= R1 up to constants; exactly for what bounds them."""
    x = np.random.default_rng(0).lognormal(size=500)
    near = theory.in_neighbour_risk(x, "mean", 0.1)
    ball = theory.ball_risk(x, "mean", 0.1, radius=10, within=(0, 1000), neighbours="add-remove")
    subset = theory.subset_risk(x, "mean", 0.1)
    assert subset.upper <= near.upper <= ball.upper
    assert subset.lower <= near.lower <= ball.lower


def test_theorem_3_of_asi_and_duchi_holds_for_laplace_noise() -> None:
    """E|noise| is GS/ε; the bound would fail with a constant of 1 in place of 1/8."""
    ratios = []
    for epsilon in (0.05, 0.2, 1.0):
        x = np.full(200, 0.5)
        bound = theory.unbiased_lower_bound(x, "mean", epsilon, within=(0, 1))
        ratios.append(bound * 200 * epsilon)
        assert bound <= 1 / (200 * epsilon)
    # max over k of kε exp(-2kε)/16 at these data: within rounding of k, 1/(32 e).
    assert ratios[0] == pytest.approx(1 / (32 * math.e), rel=0.01)


def test_appendix_f() -> None:
    """n - 1 zeros and a one: closed forms, and the distances of its two examples."""
    n, k, p, reach = 1000, 10, 1.5, 1000.0
    data = np.append(np.zeros(n - 1), 1.0)
    power = 1 / (p - 1)
    here = 1 / (1 + (n - 1) ** power)
    found = theory.compare(data, theory.Location(p), Fraction(1, k), within=(0, reach))
    assert found.true_value == pytest.approx(here, rel=1e-12)
    assert found.subset.spread == pytest.approx(1 / (1 + (n - 1 - k) ** power), rel=1e-12)
    near = 1 / (1 + ((n - 1) / (k + 1)) ** power) - here  # k ones more
    fewer = max(1 / (1 + ((n - 1 - r) / (1 + k - r)) ** power) - here for r in range(k + 1))
    assert found.in_neighbour.spread == pytest.approx(max(near, fewer), rel=1e-9)
    # The paper's D'_1 has n - 1/ε zeros and 1/ε values R, which is 2/ε operations away and not 1/ε.
    far = np.append(np.zeros(n - k), np.full(k, reach))
    removed, added = (n - 1) - (n - k) + 1, k
    assert removed + added == 2 * k
    value = theory.Location(p).value(np.sort(far))
    assert value == pytest.approx(reach / (1 + (n / k - 1) ** power), rel=1e-12)
    assert value - here > found.local_minimax.spread / 1.3
    assert found.local_minimax.lower > 100 * found.in_neighbour.upper
    assert found.in_neighbour.lower > 30 * found.subset.upper


def test_the_regime_of_appendix_f_is_small_p() -> None:
    """It prints p < ln(nε); R2 >> R needs p - 1 << ln(1/ε), since R2/R is about ε^(-1/(p - 1))."""
    n, epsilon = 10**9, 0.1
    p = math.log(n * epsilon) - 0.5
    here = 1 / (1 + (n - 1) ** (1 / (p - 1)))
    near = 1 / (1 + ((n - 1) / 11) ** (1 / (p - 1))) - here
    assert near < 0.2 * here


def test_a_comparison_is_no_release() -> None:
    found = theory.compare([0.0, 1.0, 5.0] * 20, "mean", 0.5, within=(0, 10))
    assert "not private" in str(found)
    assert not isinstance(found, modicum.Release)
    for name in ("value", "interval", "event", "report"):
        assert not hasattr(found, name)
    record = json.loads(found.to_json())
    assert record["private"] is False
    assert record["schema"] == "modicum.theory/1"
    assert record["subset"]["private"] is False
    assert "not private" in str(found.subset)
    unbounded = theory.compare([0.0, 1.0, 5.0], "mean", 1)
    assert json.loads(unbounded.to_json())["local_minimax"]["lower"] is None
    assert "inf" in str(unbounded)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], "mean", 1), "at least one record"),
        (([[1.0]], "mean", 1), "one dimension"),
        ((["a"], "mean", 1), "array of numbers"),
        (([1.0, math.nan], "mean", 1), "finite"),
        (([1.0, 2.0], "mode", 1), "statistic must be"),
        (([1.0, 2.0], 3, 1), "statistic must be"),
        (([1.0, 2.0], "mean", 2), "at most 1"),
        (([1.0, 2.0], "mean", 0), "above 0"),
        (([1.0, 2.0], "mean", "x"), "finite number"),
        (([1.0, 2.0], "mean", 0.5), "records are needed"),
        (([1.0, 2.0, 3.0], theory.TrimmedMean(1), 1), "not defined for 2 records"),
        (([1.0, 2.0], theory.TrimmedMean(1), 1), "not defined for 2 records"),
    ],
)
def test_bad_arguments(arguments, message) -> None:
    with pytest.raises(InvalidArgument, match=message):
        theory.compare(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.modulus([1.0], "mean", -1, within=(0, 1)), "operations"),
        (lambda: theory.modulus([1.0], "mean", True, within=(0, 1)), "operations"),
        (lambda: theory.modulus([1.0], "mean", 1, within=(2, 3)), "hold every record"),
        (lambda: theory.modulus([1.0], "mean", 1, within=(3, 2)), "lo <= hi"),
        (lambda: theory.modulus([1.0], "mean", 1, within=7), "pair"),
        (lambda: theory.modulus([1.0], "mean", 1, within=(0, 2), neighbours="x"), "neighbours"),
        (lambda: theory.Quantile(1), "strictly between"),
        (lambda: theory.Quantile(1e-12), "away from"),
        (lambda: theory.Location(1), "above 1"),
        (lambda: theory.Location(math.inf), "finite"),
        (lambda: theory.TrimmedMean(-1), "trim"),
        (lambda: theory.two_point_error(1.5, 1), "distance"),
        (lambda: theory.crossing_length([1.0], "mean", [3], within=(0, 2)), "targets"),
        (lambda: theory.crossing_length([1.0], "mean", [1], within=(0, math.inf)), "finite"),
        (lambda: theory.moment_rate(1, 1, n=1, epsilon=1), "at least 2"),
        (lambda: theory.moment_rate(2, 1, n=0, epsilon=1), "at least 1"),
        (lambda: theory.distribution_rate({3: 1}, n=1, epsilon=1), "order 2"),
        (lambda: theory.distribution_rate({2: math.nan}, n=1, epsilon=1), "at least 0"),
        (lambda: theory.bounded_mean_error(-1, 1, 1), "width"),
        (lambda: theory.threshold_rank_error(10, 0, 1), "zeta"),
        (lambda: theory.inverse_sensitivity_tail(1, 1, candidates=0), "candidates"),
        (
            lambda: theory.inverse_sensitivity_cost(1, candidates=1, largest_loss=1, slack=2),
            "slack",
        ),
        (
            lambda: theory.brute_force_modulus(range(30), np.mean, 9, grid=range(1000)),
            "100,000",
        ),
    ],
)
def test_bad_arguments_of_the_rest(call, message) -> None:
    with pytest.raises(InvalidArgument, match=message):
        call()
