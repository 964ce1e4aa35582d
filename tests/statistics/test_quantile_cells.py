"""Cells around released quantiles: where edges are, what counts of the cells tell, and to whom."""

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from modicum import query
from modicum.audit.trail import Family
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.runtime.replay import replay
from modicum.statistics.quantile_cells import (
    CellCounts,
    RankNoise,
    edges_around,
    is_round,
    places_of,
    plain_edges,
)
from modicum.statistics.quantile_points import FINE
from tests.statistics.test_quantile import SHAPES
from tests.statistics.test_quantiles import ends, fractions, labels, walks

WIDE = Lattice.within((-1e9, 1e9))
NOISE = LaplaceNoise(Fraction(3))
SILENT = LaplaceNoise(Fraction(1, 64))  # all but never another value than 0


def cells_of(data, edges) -> tuple[int, ...]:
    upto = [0, *np.searchsorted(np.sort(data), edges, side="left").tolist(), len(data)]
    return tuple(b - a for a, b in pairwise(upto))


def test_true_counts_tell_the_truth_on_all_small_data() -> None:
    lattice, edges, qs = Lattice.within((0, 8), step=1), (2, 3, 5, 6), fractions(2)
    for n in range(5):
        for data in combinations_with_replacement(range(0, 9, 2), n):
            counted = CellCounts(edges, cells_of(data, edges), SILENT, 0.0)
            for points in ((0, 0), (2, 5), (4, 4), (7, 8)):
                lower, upper = counted.intervals(lattice, qs, points, 0.95)
                assert (lower <= points).all()
                assert (points <= upper).all()
                if n:
                    low, high = ends(np.array(data), qs)
                    assert (lower <= low).all()
                    assert (high <= upper).all()


@pytest.mark.parametrize("noise", [NOISE, GaussianNoise(Fraction(9))], ids=str)
@pytest.mark.parametrize(("q", "below", "cells"), [(0.5, 6, 12), (0.2, 3, 12), (0.9, 55, 60)])
def test_a_rank_is_sure_once_in_alpha_at_worst(noise, q, below, cells) -> None:
    """An edge at the quantile's own rank; with 30 % less noise in the bound it fails."""
    alpha, draws = 0.01, 100_000
    rng = np.random.default_rng([below, cells])
    if isinstance(noise, LaplaceNoise):
        a = 1 - math.exp(-1 / float(noise.scale))
        drawn = rng.geometric(a, (draws, cells)) - rng.geometric(a, (draws, cells))
    else:
        drawn = np.round(rng.normal(0, float(noise.sigma2) ** 0.5, (draws, cells)))
    sums = (1 - q) * drawn[:, :below].sum(axis=1) - q * drawn[:, below:].sum(axis=1)
    rank_noise = RankNoise(noise, q, below, cells)
    low, high = 0.0, 100.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if rank_noise.exceeds(middle, alpha) else (low, middle)
    margin = 3 * math.sqrt(alpha / draws)
    assert 0.7 * alpha - margin < (sums > high).mean() < alpha + margin
    assert (sums > 0.7 * high).mean() > 3 * alpha
    assert sums.std() == pytest.approx(rank_noise.variance**0.5, rel=0.02)


@pytest.mark.parametrize("step", [1.0, None])
@pytest.mark.parametrize("m", [2, 5, 29])
def test_edges_are_where_counts_will_tell(m, step) -> None:
    """Of evenly spread records the first is about as far as the noise asks for, the second more."""
    lattice = Lattice.within((0, 1e6), step) if step else Lattice.within((0, 1e6))
    qs, unit = fractions(m), round(1e6 / lattice.step / (m + 1))
    points = [unit * i for i in range(1, m + 1)]
    places = places_of(points, qs, 10**6)
    assert all(at.records * unit == pytest.approx(1e6 / (m + 1)) for at in places)
    edges = edges_around(lattice, qs, places, [100.0] * m, NOISE, 0.95)
    assert list(edges) == sorted(set(edges))
    assert len(edges) == 4 * m
    for q, point in zip(qs, points, strict=True):
        own = bisect_right(edges, point)
        for k, away in ((own, edges[own] - point), (own - 1, point - edges[own - 1])):
            ranks = away * lattice.step
            noise = RankNoise(NOISE, float(q), k + 1, len(edges) + 1)
            assert not noise.exceeds(ranks, 0.05 / m)
            assert ranks < 6 * math.sqrt(noise.variance + 100)
    wider = edges_around(lattice, qs, places, [100.0] * m, NOISE, 0.9999)
    assert wider[0] < edges[0]
    assert wider[1] < edges[1]
    assert wider[2] > edges[2]


def test_edges_stop_in_the_middle_of_small_gaps_and_at_the_range() -> None:
    lattice, qs = Lattice.within((0, 100), step=1), fractions(3)
    edges = edges_around(lattice, qs, places_of((10, 20, 21), qs, 4), [9.0] * 3, NOISE, 0.95)
    assert {edge for edge in edges if 10 < edge <= 21} == {15, 21}
    assert all(0 < edge <= 100 for edge in edges)
    # Two quantiles at one place: many records are there.
    tied = places_of((10, 10, 50), qs, 10**6)
    assert [(at.first, at.last) for at in tied] == [(0, 1), (2, 2)]
    assert {10, 11} <= set(edges_around(lattice, qs, tied, [9.0] * 3, NOISE, 0.95))
    assert plain_edges(lattice, tied) == (10, 11, 50, 51)
    assert plain_edges(lattice, places_of((0, 100, 100), qs, 5)) == (1, 100)


def test_a_place_beside_a_gap_has_the_scale_of_its_own_side() -> None:
    """A cluster, and another one far away."""
    places = places_of((0, 100, 10**9), fractions(3), 4000)
    assert places[1].records == pytest.approx(10, rel=1e-3)


def test_a_point_moves_by_what_the_counts_see_and_stays_in_its_cell() -> None:
    counted = CellCounts((100, 300), (400, 200, 400), NOISE, 0.0)
    half = Fraction(1, 2)
    assert counted.moved(half, 200, 1e9, 1.0) == 200  # it is where it should be
    assert counted.moved(half, 220, 1e9, 1.0) == 200
    assert 200 < counted.moved(half, 220, 20.0, 1.0) < 220  # as far as counts are to be trusted
    assert counted.moved(half, 220, 1e9, 0.1) == 220  # many records: they may be equal
    assert counted.moved(half, 220, 1e9, 9.0) == 220
    assert counted.moved(half, 50, 1e9, 1.0) == 50  # no cell with two ends
    assert counted.moved(Fraction(1, 100), 220, 1e9, 1.0) == 100
    assert counted.moved(Fraction(99, 100), 220, 1e9, 1.0) == 299


def test_round_points_are_those_of_many_equal_records() -> None:
    rng = np.random.default_rng(4)
    for value in (0.0, 18.0, 19.99, -1234.5, 1e6):
        assert is_round(WIDE, int(WIDE.quantise(np.array([value]))[0]))
    random = WIDE.quantise(rng.normal(50, 30, 2000)).tolist()
    assert sum(is_round(WIDE, point) for point in random) < 20
    ages = Lattice.within((0, 120), step=1)
    assert not is_round(ages, 18)  # every age is one
    assert is_round(ages, 0)


@pytest.mark.parametrize("m", [2, 5])
def test_whole_numbers_stay_whole(m) -> None:
    data = np.random.default_rng(5).integers(0, 11, 5000).astype(float)
    for walk in ample(data, m, f"whole {m}", 6, epsilon=1):
        values = np.array(walk.answer.values, float)
        lower, upper = walk.answer.error_model.intervals(0.95, None)
        assert (np.abs(values - np.round(values)) < 1e-6).all()
        assert (upper - lower < 1).all()


def ample(data, m: int, seed: str, releases: int = 12, **cost):
    asked = query.quantiles(q=fractions(m), within=(-1e9, 1e9), **cost)
    return walks(asked, data, releases, seed)


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.1"}], ids=str)
def test_intervals_are_narrow_where_records_are_many(cost) -> None:
    """They were two gaps wide, some 1000 records."""
    data = np.sort(np.random.default_rng(1).normal(size=3000))
    wanted, low_high = 500 * np.arange(1, 6), ends(data, fractions(5))
    widths, missed, held = [], [], 0
    for walk in ample(data, 5, "narrow", **cost):
        assert labels(walk) == ["count", "quantiles", "counts"]
        model = walk.answer.error_model
        lower, upper = model.intervals(0.95, None)
        held += bool((lower <= low_high[0]).all() and (low_high[1] <= upper).all())
        widths.append(np.searchsorted(data, upper) - np.searchsorted(data, lower))
        missed.append(np.abs(np.searchsorted(data, np.array(walk.answer.values, float)) - wanted))
        tighter, wider = (model.intervals(level, None) for level in (0.5, 0.999999))
        assert (tighter.lower >= lower).all()
        assert (wider.upper >= upper).all()
        assert (wider.upper - wider.lower).sum() > (upper - lower).sum()
    assert held >= 11
    assert np.mean(widths) < 160
    assert np.mean(missed) < 8


def test_few_records_keep_their_share_for_the_points() -> None:
    """Cells of the points and between them, as for as few records as the joint mechanism takes."""
    data = np.random.default_rng(2).normal(size=300)
    for walk in ample(data, 5, "few", 3, epsilon=1):
        model = walk.answer.error_model
        places = sorted(set(model.points))
        assert model.counted.edges == plain_edges(
            WIDE, places_of(places, fractions(5)[: len(places)], 1)
        )
        assert walk.transcript[-1].event.epsilon == Fraction(1, 10)


def test_the_plan_depends_on_the_noisy_number_alone() -> None:
    """45 records of the smallest share, times the ε of the points."""
    for n, share in ((4000, Fraction(9, 32)), (1000, Fraction(1, 10))):
        data = np.random.default_rng(3).normal(size=n)
        (walk,) = ample(data, 29, "plan", 1, epsilon=1)
        assert walk.transcript[-1].event.epsilon == share


def test_edges_follow_from_released_numbers_alone() -> None:
    """The same outcomes of 2000 records and of 2600, which true numbers would place elsewhere."""
    asked = query.quantiles(q=[0.25, 0.6], within=(0, 1e9), epsilon=1)
    points = (asked.lattice.quantise(1e6 + np.array([500.0, 1200.0]))).tolist()
    drawn = (2000, *(point << FINE for point in points))
    found = []
    for n in (2000, 2600):
        family = Family.of(asked, [1e6 + np.arange(float(n))])
        walk = replay(asked, family.event, family.readers[0], [(2000,), drawn])
        walk.give((480, 40, 60, 620, 50, 50, 700))
        found.append(walk.answer.error_model.counted.edges)
    assert found[0] == found[1]
    assert found[0][1] < points[0] < found[0][2] < found[0][3] < found[0][4] < points[1]


def _clusters(rng, n):
    return rng.normal(np.where(rng.random(n) < 0.5, 0.0, 1e6), 1.0)


UGLY = SHAPES | {
    "lognormal 1.5": lambda rng, n: rng.lognormal(0, 1.5, n),
    "integers": lambda rng, n: rng.integers(0, 101, n).astype(float),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(3, 1, n)),
    "two clusters": _clusters,
    "zipf": lambda rng, n: np.minimum(rng.zipf(1.5, n), 10**8).astype(float),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-9,
    "huge": lambda rng, n: rng.normal(size=n) * 1e9,
}


@pytest.mark.parametrize(
    ("shape", "n", "m", "cost"),
    [
        ("two clusters", 1000, 5, {"epsilon": 1}),  # the median is at the gap
        ("zeros", 2000, 9, {"epsilon": 3}),
        ("zipf", 2000, 5, {"rho": "0.1"}),
        ("integers", 2000, 2, {"epsilon": "0.3"}),
        *(
            pytest.param(shape, n, m, cost, marks=pytest.mark.slow)
            for shape in UGLY
            for n, m in ((1000, 2), (3000, 5), (1000, 9), (20_000, 29), (30_000, 100), (10**6, 9))
            for cost in ({"epsilon": "0.3"}, {"epsilon": 1}, {"epsilon": 3}, {"rho": "0.1"})
        ),
    ],
)
def test_all_intervals_cover_at_once(shape, n, m, cost) -> None:
    held, releases = 0, 40
    for k in range(4):
        data = UGLY[shape](np.random.default_rng([n, m, k]), n).clip(-1e9, 1e9)
        low, high = ends(data, fractions(m))
        for walk in ample(data, m, f"{shape} {n} {m} {k}", releases // 4, **cost):
            lower, upper = walk.answer.error_model.intervals(0.95, None)
            held += bool((lower <= low).all() and (high <= upper).all())
    assert held >= releases - 6  # 95 % of 40 miss more than 6 times once in 300
