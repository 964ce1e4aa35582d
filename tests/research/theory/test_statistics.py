"""Moduli and lengths against every data set of few records: no formula of the library is used."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from modicum import theory
from modicum.errors import InvalidArgument
from tests.reference import datasets

GRID = (0.0, 1.0, 2.0, 3.0)
LARGEST = 4
UNIVERSE = datasets.multisets(GRID, 2 * LARGEST)
SMALL = [data for data in UNIVERSE if 1 <= len(data) <= LARGEST]
GAPS = datasets.distances(UNIVERSE, GRID)[[UNIVERSE.index(data) for data in SMALL]]
SIZES = np.array([len(data) for data in UNIVERSE])

STATISTICS = {
    "mean": (theory.Mean(), datasets.mean),
    "median": (theory.Quantile(0.5), datasets.quantile(Fraction(1, 2))),
    "quantile 1/4": (theory.Quantile("1/4"), datasets.quantile(Fraction(1, 4))),
    "quantile 0.7": (theory.Quantile(0.7), datasets.quantile(Fraction(7, 10))),
    "trimmed mean 1": (theory.TrimmedMean(1), datasets.trimmed_mean(1)),
    "trimmed mean 0": (theory.TrimmedMean(0), datasets.mean),
    "location 1.5": (theory.Location(1.5), datasets.location(1.5)),
    "location 2": (theory.Location(2), datasets.mean),
    "location 4": (theory.Location(4), datasets.location(4)),
    "function": (theory.Monotone(lambda x: x.mean()), datasets.mean),
    "lower median as a function": (
        theory.Monotone(lambda x: x[(len(x) - 1) // 2]),
        datasets.quantile(Fraction(1, 2)),
    ),
}
every_statistic = pytest.mark.parametrize("name", STATISTICS)
WITHIN = (0.0, 3.0)
QUICK = 1e-9


@every_statistic
@pytest.mark.parametrize("neighbours", ["add-remove", "swap"])
@pytest.mark.one_in(4)
def test_the_modulus_is_that_of_all_data_sets(name, neighbours) -> None:
    statistic, value = STATISTICS[name]
    values = np.array([value(data) for data in UNIVERSE])
    few = slice(None, None, 4) if "location" in name else slice(None)  # these are slow
    for data, gaps in zip(SMALL[few], GAPS[few], strict=True):
        here = value(data)
        if math.isnan(here):
            with pytest.raises(InvalidArgument, match="not defined"):
                theory.modulus(data, statistic, 1, within=WITHIN)
            continue
        for k in range(LARGEST + 1):
            steps = gaps if neighbours == "add-remove" else gaps / 2
            near = (steps <= k) & ((neighbours == "add-remove") | (len(data) == SIZES))
            truth = np.nanmax(np.abs(values[near] - here))
            found = theory.modulus(data, statistic, k, within=WITHIN, neighbours=neighbours)
            assert found == pytest.approx(truth, abs=QUICK), (data, k)


@every_statistic
def test_lengths_are_distances_to_all_data_sets(name) -> None:
    """On both sides of the value, half steps included; without a value, every target is met."""
    statistic, value = STATISTICS[name]
    # Targets off the values that occur: there a rounding error would decide.
    targets = np.arange(0, 3.01, 0.5) if "location" not in name else np.array([0.137, 1.317, 2.913])
    values = np.array([value(data) for data in UNIVERSE])
    for data, gaps in zip(SMALL, GAPS, strict=True):
        found = theory.crossing_length(data, statistic, targets, within=WITHIN)
        for t, length in zip(targets, found, strict=True):
            above = gaps[(values >= t - QUICK) | np.isnan(values)].min()
            below = gaps[(values <= t + QUICK) | np.isnan(values)].min()
            assert length == max(above, below), (data, t)


LARGE = {
    "mean": theory.Mean(),
    "quantile 0.7": theory.Quantile(0.7),
    "trimmed mean": theory.TrimmedMean(20),
    "location 3": theory.Location(3),
}


@pytest.mark.parametrize("name", LARGE)
def test_level_sets_of_lengths_end_where_the_modulus_does(name) -> None:
    """Two routes to one number: len(t) <= k exactly between the lowest and the highest value."""
    statistic = LARGE[name]
    x = np.sort(np.random.default_rng(1).integers(0, 1000, 300)).astype(float)
    steps = np.arange(1, 60) if name != "location 3" else np.array([1, 7, 40])
    low, high = statistic.lowest(x, steps, 0.0), statistic.highest(x, steps, 1000.0)
    for k, a, b in zip(steps, low, high, strict=True):
        around = np.array([a - 1e-6, a + 1e-6, b - 1e-6, b + 1e-6])
        outer = theory.crossing_length(x, statistic, around, within=(0, 1000)) <= k
        assert outer.tolist() == [False, True, True, False]


@pytest.mark.parametrize("name", ["mean", "location 1.5", "location 4"])
def test_bisection_finds_the_best_split(name) -> None:
    """Against all splits, on data where additions, removals and mixtures win."""
    statistic, _ = STATISTICS[name]
    rng = np.random.default_rng(3)
    shapes = [rng.normal(size=40), rng.pareto(1, 40), -rng.pareto(1, 40), np.repeat([0.0, 1], 20)]
    steps = np.arange(0, 60, 7)
    for data, reach in itertools.product(shapes, [0.0, 1.0, 100.0]):
        x = np.sort(data)
        hi = x[-1] + reach
        every_split = super(type(statistic), statistic).highest(x, steps, hi)
        assert statistic.highest(x, steps, hi) == pytest.approx(every_split, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_brute_force_agrees(seed) -> None:
    data = np.random.default_rng(seed).integers(0, 4, 5)
    for neighbours in ("add-remove", "swap"):
        for k in range(3):
            found = theory.brute_force_modulus(data, np.mean, k, grid=GRID, neighbours=neighbours)
            exact = theory.modulus(data, "mean", k, within=WITHIN, neighbours=neighbours)
            assert found == pytest.approx(exact, abs=QUICK)


def test_large_data() -> None:
    """Closed forms at n = 1e6, against formulas for these data."""
    x = np.arange(1_000_000.0)
    added = (x.sum() + 100 * 1e9) / 1_000_100 - x.mean()
    assert theory.modulus(x, "mean", 100, within=(0, 1e9)) == pytest.approx(added)
    assert theory.modulus(x, theory.Quantile(0.9), 1000, within=(0, 1e9)) == 900
    window = theory.modulus(x, theory.TrimmedMean(1000), 100, within=(0, 1e9))
    assert window == pytest.approx((x[1000:-900].mean()) - x.mean())
    assert theory.crossing_length(x, "median", [5e5 + 99], within=(0, 1e9)) == 199


def test_the_prefix_sums_keep_digits_far_from_zero() -> None:
    x = 1e9 + np.random.default_rng(0).integers(0, 2, 100_000)
    exact = Fraction(int(x.sum()) - int(x.min()), len(x) - 1)
    one, none = np.ones(1, np.int64), np.zeros(1, np.int64)
    assert theory.Mean().raised(np.sort(x), one, none, 2e9)[0] == float(exact)


def test_an_infinite_range() -> None:
    everything = (-math.inf, math.inf)
    assert theory.modulus([1, 2, 3], "mean", 1, within=everything) == math.inf
    assert theory.modulus([1, 2, 3], "mean", 0, within=everything) == 0
    assert theory.modulus([1, 2, 3, 4, 5], "median", 2, within=everything) == 1
    assert theory.modulus([1, 2, 3], theory.Location(3), 1, within=everything) == math.inf


def test_a_large_power_does_not_overflow() -> None:
    x = np.array([0.0, 1e6, 4e6])
    statistic = theory.Location(500)
    assert statistic.value(x) == pytest.approx(2e6, rel=0.01)  # nearly the midrange
    lengths = theory.crossing_length(x, statistic, [1e6, 2.2e6, 3e6], within=(0, 5e6))
    assert lengths.tolist() == [1, 1, 2]
