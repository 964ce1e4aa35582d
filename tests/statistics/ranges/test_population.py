"""Intervals for populations: they cover, they are not for nothing, and they know their limits."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum import query
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.statistics.ranges.population import Squares, largest_variance, sample_shift
from modicum.statistics.tails.error_law import ErrorLaw, NoisePart, NormalPart, Reach
from modicum.statistics.tails.outside import Counted, NoisyTerm

SHAPES = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "coins": (lambda rng, n: (rng.random(n) < 0.3) * 1.0, 0.3),
}


def released(x, cost, seed, **options):
    budget = mo.pure(cost) if isinstance(cost, int) else mo.zcdp(cost)
    return mo.Curator(x, budget=budget, entropy=SeededEntropy(str(seed))).mean(
        budget=budget, **options
    )


def covered(shape, n, cost, releases=80):
    """Share of intervals that hold the mean of the population, and of their inner half."""
    make, truth = SHAPES[shape]
    hits = []
    for k in range(releases):
        x = make(np.random.default_rng([k, n, 5]), n)
        found = released(x, cost, f"{shape} {k}", population=True)
        lower, upper = found.confidence_interval()
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        hits.append((abs(truth - middle) <= half, abs(truth - middle) <= 0.5 * half))
    return np.mean(hits, axis=0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cost", [1, "0.5"], ids=["ε", "ρ"])
@pytest.mark.one_in(16)
def test_intervals_cover_and_shorter_ones_do_not(shape, cost) -> None:
    whole, inner = covered(shape, 3000, cost)
    assert whole >= 0.92
    assert inner < 0.9


@pytest.mark.parametrize("n", [3000, 100_000])
def test_an_interval_is_hardly_wider_than_without_privacy(n) -> None:
    x = np.random.default_rng(2).normal(5, 3, n)
    lower, upper = released(x, 3, 1, population=True).confidence_interval()
    usual = 2 * 1.96 * 3 / np.sqrt(n)
    assert 0.9 * usual < upper - lower < 1.3 * usual


def test_it_holds_what_the_interval_for_the_data_holds() -> None:
    rng = np.random.default_rng(4)
    for x in (rng.lognormal(0, 1.5, 5000), rng.normal(1e9, 1, 5000), np.full(5000, 7.0)):
        found = released(x, 1, 2, population=True)
        (low, high), (lower, upper) = found.interval(), found.confidence_interval()
        assert lower <= low + 0.1 * (high - low)
        assert upper >= high - 0.1 * (high - low)
        lower, upper = found.confidence_interval(0.5, None)
        wide = found.confidence_interval(0.999)
        assert wide.lower <= lower <= upper <= wide.upper


UGLY = {
    "2 % ones": lambda rng: (rng.random(4000) < 0.02) * 1.0,
    "90 % zeros": lambda rng: (rng.random(4000) < 0.1) * rng.exponential(size=4000),
    "zipf": lambda rng: np.minimum(rng.zipf(1.5, 4000), 10**6) * 1.0,
    "two far clusters": lambda rng: rng.normal(np.where(rng.random(4000) < 0.5, 0, 1e6), 1),
    "tiny": lambda rng: rng.normal(size=4000) * 1e-9,
    "large": lambda rng: rng.normal(size=4000) * 1e9,
    "few": lambda rng: rng.normal(size=5),
    "none": lambda rng: np.zeros(0),
    "missing": lambda rng: np.full(300, np.nan),
}


@pytest.mark.parametrize("shape", UGLY)
@pytest.mark.parametrize("cost", [1, "0.01"], ids=["ε", "ρ"])
def test_ugly_data_have_finite_intervals(shape, cost) -> None:
    x = UGLY[shape](np.random.default_rng(6))
    found = released(x, cost, shape, population=True)
    lower, upper = found.confidence_interval()
    assert np.isfinite([lower, upper]).all()
    assert lower <= found.value <= upper
    assert {entry.label for entry in found.transcript} & {
        "squares about the middle",
        "records away from a single value",
    }


def test_it_has_to_be_bought() -> None:
    x = np.random.default_rng(0).normal(size=3000)
    for found in (released(x, 1, 0), mo.sum(x, epsilon=1), mo.median(x, epsilon=1)):
        with pytest.raises(InvalidArgument, match="asked for with population=True"):
            found.confidence_interval()
        assert "population" not in str(found)
    with pytest.raises(InvalidArgument, match="level"):
        released(x, 1, 0, population=True).confidence_interval(1)


def test_a_proportion_has_one_for_nothing() -> None:
    x = (np.random.default_rng(0).random(2000) < 0.3) * 1.0
    found = released(x, 1, 0, method="bounded", within=(0, 1))
    lower, upper = found.confidence_interval()
    usual = 2 * 1.96 * np.sqrt(0.21 / 2000)
    assert lower < 0.3 < upper
    assert usual < upper - lower < 1.3 * usual


@pytest.mark.parametrize("method", ["bounded", "subset"])
def test_other_methods_do_not_sell_it(method) -> None:
    with pytest.raises(InvalidArgument, match="population=True is for method='adaptive'"):
        query.mean("x", within=(0, 1), epsilon=1, method=method, population=True)
    with pytest.raises(InvalidArgument, match="population must be True or False"):
        query.mean("x", epsilon=1, population=1)


@pytest.mark.parametrize(
    "unit", [mo.unit_of("who"), mo.unit_of("who", max_rows=2), mo.unit_of(rows=3)], ids=str
)
def test_persons_with_several_rows_are_refused_before_the_charge(unit) -> None:
    table = pd.DataFrame({"who": np.arange(900) // 3, "x": 1.0})
    curator = mo.Curator(table, unit=unit, budget=mo.pure(1))
    with pytest.raises(InvalidArgument, match="combine='mean'"):
        curator.mean("x", epsilon=1, population=True)
    assert curator.remaining == mo.pure(1)
    kept = mo.Curator(table, unit=mo.unit_of(rows=3), budget=mo.pure(9))
    found = kept.mean("x", within=(0, 2), epsilon=9, method="bounded")
    with pytest.raises(InvalidArgument, match="not independent"):
        found.confidence_interval()


def test_persons_with_one_record_each_are_not() -> None:
    table = pd.DataFrame({"who": np.arange(9000) // 3, "x": np.arange(9000) % 7 * 1.0})
    unit = mo.unit_of("who", combine="mean")
    found = mo.mean(table, "x", unit=unit, epsilon=1, population=True)
    lower, upper = found.confidence_interval()
    assert lower < 3 < upper
    assert "population     [" in str(found)
    assert '"confidence_interval": [' in found.to_json()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("cost", [1, "0.1"], ids=["ε", "ρ"])
def test_a_quantile_holds_that_of_the_population(q, cost) -> None:
    """The interval for the data alone misses it, for it is far narrower."""
    hits, alone = [], []
    for k in range(30):
        x = np.random.default_rng([k, 8]).exponential(size=60_000)
        for population, into in ((True, hits), (False, alone)):
            budget = mo.pure(cost) if isinstance(cost, int) else mo.zcdp(cost)
            curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(f"{k}"))
            found = curator.quantile(q=q, within=(-1e6, 1e6), budget=budget, population=population)
            lower, upper = found.interval()
            into.append(lower <= -np.log(1 - q) <= upper)
            if population:
                assert found.confidence_interval() == (lower, upper)
                assert found.confidence_interval(0.99) == (-1e6, 1e6)
    assert np.mean(hits) >= 0.95
    assert np.mean(alone) < np.mean(hits)
    assert q != 0.5 or np.mean(alone) < 0.8


def test_the_ranks_of_a_sample_are_no_fewer_than_sampling_alone_takes() -> None:
    for rows, q in ((1e3, 0.5), (1e6, 0.5), (1e6, 0.9), (500, 0.99)):
        sharp = sample_shift(Fraction(str(q)), rows, 1e6, 0.0, 0.025)
        deviation = np.sqrt(rows * q * (1 - q))
        assert 1.8 * deviation < sharp < 2.2 * deviation + 2
        assert sample_shift(Fraction(str(q)), rows, 0.1, 5.0, 0.025) > sharp + 30
    # Where nothing is sampled, what remains is the shift of the data alone.
    assert sample_shift(Fraction(1, 2), 1.0, 0.1, 5.0, 0.025) == pytest.approx(87, abs=2)


def test_a_median_for_a_population_draws_its_ends() -> None:
    with pytest.raises(InvalidArgument, match="leave level out"):
        query.median("x", epsilon=1, level=None, population=True)


def test_the_largest_variance_is_that_of_two_ends() -> None:
    assert largest_variance(0, 10, 2.0, 0.0) == 16.0
    assert largest_variance(0, 10, 4.0, 1.0) == 25.0
    assert largest_variance(0, 10, -3.0, 0.0) == 0.0


def test_the_squares_of_a_noisy_draw_are_averaged_over() -> None:
    """With next to no noise one variance is left, with much the whole span."""

    def of(scale):
        noise = NoisyTerm(LaplaceNoise(Fraction(scale)), 1.0)
        x = np.array([1, 3, 9] * 100)
        total = int((2 * (2 * x - 10) ** 2 - 100).sum())
        return Squares(0, 10, total, noise).variances(13 / 3, 0.0, Counted(Fraction(300), ()))

    nodes, weights = of(1)
    assert nodes @ weights == pytest.approx(np.var([1, 3, 9]), rel=0.01)
    nodes, weights = of(10**9)
    assert nodes.min() < 1 < 23 < nodes.max() <= largest_variance(0, 10, 13 / 3, 0.0)


SMALL = {
    "empty": [],
    "one row": [3.0],
    "one value": [7.0] * 40,
    "huge": [1e300, -1e300, 1e300],
    "two groups": [1e40] * 20 + [1.0] * 20,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cost", [20, 50, 200, "200", 1, 12])
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.one_in(8)
def test_an_answer_in_a_range_as_wide_as_float64_is_shown(cost, name) -> None:
    """Little data and much budget: the range is ±2^1020, and noise of it is beyond float64."""
    table = pd.DataFrame(
        {"x": np.array(SMALL[name]), "g": pd.Series(["a"] * len(SMALL[name]), dtype="str")}
    )
    for seed in range(2):
        entropy = SeededEntropy(f"{name} {seed}")
        budget = mo.pure(cost) if isinstance(cost, int) else mo.zcdp(cost)
        found = mo.Curator(table, budget=budget, entropy=entropy).mean(
            "x", population=True, budget=budget
        )
        lower, upper = found.confidence_interval()
        assert lower <= found.value <= upper
        assert all(map(np.isfinite, (lower, upper)))
        assert ("population" in str(found)) == found.usable
        assert mo.Release.from_json(found.to_json()) == found
    groups = mo.Curator(table, budget=budget, entropy=entropy).group_by("g", keys=["a", "b"])
    means = groups.mean("x", population=True, budget=budget)
    assert "b" in str(means)
    assert means.to_json()
    assert "nan" not in str(means.difference("a", "b"))


def test_errors_beyond_float64_have_no_bound_but_the_ends() -> None:
    noise = NoisePart(LaplaceNoise(Fraction(1 << 40)), 2.0**980)
    small = NoisePart(LaplaceNoise(Fraction(1)), 1.0)
    for parts in ((noise,), (small, noise), (NormalPart(np.array([2.0**1022]), np.ones(1)), small)):
        reach = Reach(parts)
        assert reach.bound(0.05) == reach.bound(1e-12) == np.inf
        assert (
            ErrorLaw(1.0, 1.0, reach, Reach((small,)), (-5.0, 100.0), 0.0).interval(0.05)[0] == -5
        )
