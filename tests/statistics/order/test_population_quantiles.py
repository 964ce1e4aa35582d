"""Intervals for several quantiles of a population: they cover all at once, and cost nothing."""

import json
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import LaplaceNoise
from modicum.statistics.order import quantiles as chapter
from modicum.statistics.order.quantile_cells import CellCounts
from modicum.statistics.ranges.population import sample_margins
from modicum.statistics.tails.outside import Counted, NoisyTerm

FIVE = (0.1, 0.25, 0.5, 0.75, 0.9)
TRUE = np.array([NormalDist().inv_cdf(q) for q in FIVE])
COSTS = ({"epsilon": 1}, {"rho": "0.5"})


def released(x, seed: object, cost: dict, q=FIVE, **options) -> mo.ArrayRelease:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(4)
    curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(repr(seed)))
    return curator.quantiles(q=list(q), within=(-1e6, 1e6), **cost, **options)


def sample(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng([8, n, seed]).normal(size=n)


@pytest.mark.parametrize("several", [2, 9, 60])
@pytest.mark.parametrize("n", [300, 20_000])
def test_margins_hold_the_ranks_of_samples_all_at_once(several, n) -> None:
    """At 90 %, and hardly more often; margins 30 % smaller do not."""
    qs = [Fraction(k, several + 1) for k in range(1, several + 1)]
    margins = np.array(sample_margins(qs, n, 0.1))
    rng, held, less, runs = np.random.default_rng(several), 0, 0, 3000
    for _ in range(runs):
        cells = rng.multinomial(n, [1 / (several + 1)] * (several + 1))
        off = np.cumsum(cells)[:-1] - n * np.array(qs, dtype=float)
        inside = [
            (off >= -each * margins[:, 0]) & (off <= each * margins[:, 1]) for each in (1, 0.7)
        ]
        held += bool(inside[0].all())
        less += bool(inside[1].all())
    slack = 3 * math.sqrt(0.1 * 0.9 / runs)
    assert held / runs > 0.9 - slack
    assert less / runs < 0.9 - slack
    assert held / runs < (0.93 if several == 2 else 0.99)


def test_of_many_margins_a_band_for_all_q_is_narrower() -> None:
    qs = [Fraction(k, 200) for k in range(1, 200)]
    low, high = np.array(sample_margins(qs, 10_000, 0.05)).T
    band = math.sqrt(10_000 * math.log(4 / 0.05) / 2)
    assert low[99] == high[99] == band  # at the median
    each = -NormalDist().inv_cdf(0.05 / 4 / 199)
    assert each * 50 > band
    assert high[0] < 0.4 * band  # and the binomial margins at both ends
    assert high[0] > low[0]  # of a skewed binomial law
    few = np.array(sample_margins(qs[39::40], 10_000, 0.05))
    assert few.max() < band


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_intervals_hold_the_population_s_quantiles(cost) -> None:
    held, rows, widths, n = 0, 0, [], 10_000
    for seed in range(20):
        x = sample(n, seed)
        found = released(x, seed, cost, population=True)
        lower, upper = found.confidence_interval()
        held += bool(((lower <= TRUE) & (upper >= TRUE)).all())
        low, high = found.interval()
        rows += bool(((low <= TRUE) & (high >= TRUE)).all())
        ranks = np.searchsorted(np.sort(x), upper) - np.searchsorted(np.sort(x), lower)
        widths.append(np.median(ranks / np.sqrt(n * np.array(FIVE) * (1 - np.array(FIVE)))))
    assert held >= 19
    assert rows < 10
    times = -2 * NormalDist().inv_cdf(0.05 / 10)
    assert times < np.median(widths) < 1.9 * times


def test_margins_that_are_too_small_do_not_hold(monkeypatch) -> None:
    """The bounds are for what samples are off by, and hardly more."""

    def small(qs, rows, alpha):
        return [(0.3 * low, 0.3 * high) for low, high in sample_margins(qs, rows, alpha)]

    monkeypatch.setattr(chapter, "sample_margins", small)
    held = 0
    for seed in range(20):
        found = released(sample(50_000, seed), seed, {"epsilon": 4}, population=True)
        lower, upper = found.confidence_interval()
        held += bool(((lower <= TRUE) & (upper >= TRUE)).all())
    assert held < 17


def test_equal_values_and_gaps_of_a_population_are_held() -> None:
    rng = np.random.default_rng(3)
    for seed in range(6):
        found = released(rng.poisson(4, 20_000) * 1.0, seed, COSTS[0], population=True)
        lower, upper = found.confidence_interval()
        assert (lower <= [2, 3, 4, 5, 7]).all()
        assert (upper >= [2, 3, 4, 5, 7]).all()
        assert (upper - lower)[2] <= 4
        x = rng.normal(np.where(rng.random(20_000) < 0.4, 1000, 0), 1)
        lower, upper = released(
            x, seed, COSTS[0], (0.2, 0.8), population=True
        ).confidence_interval()
        assert (upper[0], lower[1]) == pytest.approx((0, 1000), abs=5)


def test_the_points_are_those_of_rows_alone_and_cost_the_same() -> None:
    x = sample(20_000, 1)
    found, alone = (released(x, "same", COSTS[0], population=asked) for asked in (True, False))
    outcomes = [
        {each.label: each.outcome for each in release.transcript} for release in (found, alone)
    ]
    for label in ("count", "quantiles", "ranks"):
        assert outcomes[0][label] == outcomes[1][label]
    assert found.event == alone.event
    assert found.values == pytest.approx(alone.values, abs=0.01)
    lower, upper = found.confidence_interval()
    written = json.loads(found.to_json())
    assert written["confidence_lower"] == lower.tolist()
    assert mo.ArrayRelease.from_json(found.to_json()) == found
    assert (found.confidence_interval(0.5).width <= upper - lower).all()
    with pytest.raises(mo.InvalidArgument, match="population=True"):
        alone.confidence_interval()


def test_ends_are_as_far_as_samples_are_off_and_no_further() -> None:
    """Where counts have next to no noise, and an edge is at every record."""
    n, noise = 2000, LaplaceNoise(Fraction(1, 60))
    qs, lattice = (Fraction(1, 4), Fraction(1, 2)), Lattice.within((-1e4, 1e4), 1)
    counted = CellCounts(tuple(range(1, n)), (1,) * n, noise)
    rows = Counted(Fraction(n), (NoisyTerm(noise, 1.0),))
    model = chapter.QuantilesErrorModel(lattice, qs, (n // 4, n // 2), counted, rows)
    for level in (0.5, 0.95):
        lower, upper = model.population_intervals(level, None)
        for place, (low, high) in enumerate(sample_margins(qs, n, 0.8 * (1 - level))):
            middle = n * float(qs[place])
            assert middle - low - 6 <= lower[place] <= middle - low + 1
            assert middle + high - 1 <= upper[place] <= middle + high + 6


def test_few_rows_leave_the_range() -> None:
    lower, upper = released(sample(100, 1), 1, COSTS[0], population=True).confidence_interval()
    assert (upper - lower).max() == 2e6


def test_what_has_no_intervals_is_refused() -> None:
    for options, said in (
        ({"q": [0.5]}, "two quantiles or more"),
        ({"q": FIVE, "level": None}, "leave level out"),
    ):
        with pytest.raises(mo.InvalidArgument, match=said):
            mo.query.quantiles(epsilon=1, population=True, **options)
    with pytest.raises(mo.InvalidArgument, match="must be True or False"):
        mo.query.quantiles(q=FIVE, epsilon=1, population="yes")
