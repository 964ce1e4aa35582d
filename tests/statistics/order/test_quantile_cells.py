"""Cells around released quantiles: where edges are, what counts of the cells tell, and to whom."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

import modicum
from modicum import query
from modicum.audit.trail import Family
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.runtime.replay import replay
from modicum.statistics.order.quantile_cells import (
    CellCounts,
    PointPlace,
    RankNoise,
    edges_around,
    is_round,
    places_of,
    plain_edges,
)
from modicum.statistics.order.quantile_points import FINE
from modicum.statistics.order.quantile_ranks import (
    OWN,
    SIDE,
    CombinedNoise,
    PlaceCounts,
    place_of_each,
)
from modicum.stored import codec
from tests.statistics.order.test_quantile import SHAPES
from tests.statistics.order.test_quantiles import ends, fractions, labels, walks

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
    """Of evenly spread records the first is about as far as the noise asks for, the others more."""
    lattice = Lattice.within((0, 1e6), step) if step else Lattice.within((0, 1e6))
    qs, unit = fractions(m), round(1e6 / lattice.step / (m + 1))
    points = [unit * i + 11 for i in range(1, m + 1)]
    places = places_of(points, qs, 10**6)
    assert all(at.records * unit == pytest.approx(1e6 / (m + 1)) for at in places)
    first = PlaceCounts((10**6 // (m + 1),) * (m + 1), NOISE, tuple(range(m)))
    edges, wider = (
        edges_around(lattice, qs, places, [100.0] * m, first, NOISE, level)
        for level in (0.95, 0.9999)
    )
    assert list(edges) == sorted(edges)
    assert len(edges) == OWN * m
    for i, (q, at) in enumerate(zip(qs, places, strict=True)):
        law = CombinedNoise(NOISE, NOISE, q, i, m)
        middle = OWN * i + SIDE
        assert edges[middle] == at.value
        for side in (-1, 1):
            sure = law.sure(side, 0.05 / m)
            for k in range(1, SIDE):
                ranks = abs(edges[middle + side * k] - at.value) * at.records
                assert ranks > 0.97 * sure[k - 1]
                assert wider[middle + side * k] != edges[middle + side * k]
            nearest = abs(edges[middle + side] - at.value) * at.records
            assert nearest < 5 * math.sqrt(law.variance(1) + 100)


def test_edges_are_centred_where_the_first_counts_see_the_quantile() -> None:
    lattice, qs = Lattice.within((0, 1e6), step=1 / 128), fractions(2)
    places = places_of([42_666_711, 85_333_333], qs, 10**6)
    found = []
    for off in (0, 12, -12, 500):
        first = PlaceCounts((333_333 + off, 333_333 - off, 333_333), NOISE, (0, 1))
        found.append(edges_around(lattice, qs, places, [200.0] * 2, first, NOISE, 0.95)[:OWN])
    even, above, below, far = (np.array(each) - 42_666_711 for each in found)
    assert even[SIDE - 1] == pytest.approx(-even[SIDE + 1], rel=0.05)
    # 12 records more than a third are below the place: it is about 12 records too high.
    for moved in (above, below):
        assert 1100 < abs(moved[-2] - even[-2]) < 1536
    assert above[-2] < even[-2] < below[-2]
    # So many are equal records, or those beside a gap: the place stays in the middle.
    assert far[SIDE - 1] == pytest.approx(-far[SIDE + 1], rel=0.05)
    for edges in (even, above, below):
        assert edges[SIDE] == 0  # the place stays an edge, between the others
        assert (np.diff(edges) >= 0).all()


def test_edges_stop_in_the_middle_of_small_gaps_and_at_the_range() -> None:
    lattice, qs = Lattice.within((0, 100), step=1), fractions(3)
    places = places_of((10, 20, 21), qs, 4)
    first = PlaceCounts((1, 1, 1, 1), NOISE, (0, 1, 2))
    edges = edges_around(lattice, qs, places, [9.0] * 3, first, NOISE, 0.95)
    assert list(edges) == sorted(edges)
    assert {edge for edge in edges if 10 < edge <= 21} == {15, 20, 21}
    assert all(0 <= edge <= 100 for edge in edges)
    # Two quantiles at one place: many records are there, and edges on both sides of it.
    tied = places_of((10, 10, 50), qs, 10**6)
    assert [(at.first, at.last) for at in tied] == [(0, 1), (2, 2)]
    first = PlaceCounts((100, 100, 100), NOISE, place_of_each([(0, 1), (2, 2)]))
    assert {10, 11} <= set(edges_around(lattice, qs, tied, [9.0] * 3, first, NOISE, 0.95))
    assert plain_edges(lattice, tied) == (10, 11, 50, 51)
    assert plain_edges(lattice, places_of((0, 100, 100), qs, 5)) == (1, 100)


def test_a_place_beside_a_gap_has_the_scale_of_its_own_side() -> None:
    """A cluster, and another one far away."""
    places = places_of((0, 100, 10**9), fractions(3), 4000)
    assert places[1].records == pytest.approx(10, rel=1e-3)


EDGES = (
    90,
    100,
    120,
    140,
    160,
    200,
    240,
    260,
    280,
    300,
    310,
)  # of a place at 200, one record a step


def counted_around(cells, below: int) -> CellCounts:
    """Counts around the only place, of q = 1/2, and first ones that have it so many ranks up."""
    first = PlaceCounts((1000 + below, 1000 - below), NOISE, (0,))
    return CellCounts(EDGES, cells, NOISE, 0.0, first)


def test_a_point_moves_by_what_the_counts_see() -> None:
    lattice, half = Lattice.within((0, 1000), step=1), Fraction(1, 2)
    at = PointPlace(200, 0, 0, 1.0)
    even = (890, 10, 20, 20, 20, 40, 40, 20, 20, 20, 10, 890)

    def moved(below: int, variance: float, cells=even, place=at) -> int:
        more = (cells[0] + below, *cells[1:-1], cells[-1] - below)
        return counted_around(more, below).moved(lattice, half, place, 0, variance)

    assert moved(0, 1e9) == 200
    assert moved(20, 1e9) == 180
    assert moved(-20, 1e9) == 220
    assert 180 < moved(20, 20.0) < 200  # as far as counts are to be trusted
    assert moved(50, 1e9) == 150  # beyond the nearest edge
    assert moved(20, 1e9, place=PointPlace(200, 0, 0, 0.0)) == 200  # nothing is known
    # No records from 160 to 240: nothing tells where beyond the gap the quantile is.
    gap = (890, 10, 20, 20, 200, 0, 0, 200, 20, 20, 10, 890)
    assert moved(20, 1e9, gap) == moved(-20, 1e9, gap) == 200
    lumps = (900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 900)
    assert moved(20, 1e9, lumps) == 0  # no closer than the gap of 210: the next of 0, 1000, ...


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
        # An interval holds one whole number or two, but for what is beyond all data.
        assert (np.minimum(np.floor(upper), 10) - np.ceil(lower) <= 1).all()


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
        assert labels(walk) == ["count", "quantiles", "ranks", "counts"]
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
    assert np.mean(widths) < 60
    assert np.mean(missed) < 6


def test_few_records_keep_their_share_for_the_points() -> None:
    """Cells of the points and between them, as for as few records as the joint mechanism takes."""
    data = np.random.default_rng(2).normal(size=300)
    for walk in ample(data, 5, "few", 3, epsilon=1):
        model = walk.answer.error_model
        places = sorted(set(model.points))
        assert model.counted.edges == plain_edges(
            WIDE, places_of(places, fractions(5)[: len(places)], 1)
        )
        assert walk.transcript[-1].event.epsilon == Fraction(2, 5)


def test_the_plan_depends_on_the_noisy_number_alone() -> None:
    """45 records of the smallest share, times the ε of the points."""
    for n, share in ((20_000, "7/32"), (4000, "20/32"), (1000, "6/10")):
        data = np.random.default_rng(3).normal(size=n)
        (walk,) = ample(data, 29, "plan", 1, epsilon=1)
        spent = {step.label: step.event.cost("pure").amount for step in walk.transcript}
        assert sum(spent.values()) == 1
        rest = 1 - Fraction(share)
        if n == 1000:
            assert spent["counts"] == rest
        else:
            assert spent["ranks"] == Fraction(15, 32) * rest
            assert spent["counts"] == Fraction(17, 32) * rest


def test_edges_follow_from_released_numbers_alone() -> None:
    """The same outcomes of 2000 records and of 2600, which true numbers would place elsewhere."""
    asked = query.quantiles(q=[0.25, 0.6], within=(0, 1e9), epsilon=1)
    points = (asked.lattice.quantise(1e6 + np.array([500.5, 1200.3]))).tolist()
    drawn = (2000, *(point << FINE for point in points))
    found = []
    for n in (2000, 2600):
        family = Family.of(asked, [1e6 + np.arange(float(n))])
        walk = replay(asked, family.event, family.readers[0], [(2000,), drawn])
        walk.give((510, 690, 800))
        walk.give((480,) + (10,) * (2 * OWN - 1) + (700,))
        found.append(walk.answer.error_model.counted)
    assert found[0] == found[1]
    edges = found[0].edges
    assert len(edges) == 2 * OWN
    assert (edges[SIDE], edges[OWN + SIDE]) == tuple(points)


@pytest.mark.parametrize(
    ("m", "each", "cost"),
    [
        pytest.param(5, 1000, {"epsilon": 1}, marks=pytest.mark.slow),
        (2, 1000, {"rho": "0.1"}),
    ],
)
def test_intervals_cover_where_every_quantile_is_a_gap(m, each, cost) -> None:
    """The worst that data can do: an edge on either side is on the wrong side, by no record."""
    rng = np.random.default_rng(m)
    data = np.concatenate([1e6 * i + rng.normal(size=each) for i in range(m + 1)])
    low, high = ends(data, fractions(m))
    held, releases = 0, 150
    for walk in ample(data, m, f"gaps {m}", releases, **cost):
        assert walk.answer.error_model.counted.first is not None
        lower, upper = walk.answer.error_model.intervals(0.95, None)
        held += bool((lower <= low).all() and (high <= upper).all())
    assert held >= 136  # of 150 at 95 %, fewer are held once in 400


def test_a_release_of_one_count_is_read_as_it_was() -> None:
    """Edges around the points were counted once, and stored without first counts."""
    table = np.random.default_rng(8).normal(50, 9, 200)
    curator = modicum.Curator(table, budget=modicum.pure(1), entropy=SeededEntropy("one count"))
    release = curator.quantiles(q=[0.25, 0.5, 0.75], within=(0, 100), epsilon=1)
    text = codec.to_text(release)
    before = text.replace(',"first":null', "")
    assert before != text
    assert codec.from_text(before) == release


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


@pytest.mark.one_in(2)
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
