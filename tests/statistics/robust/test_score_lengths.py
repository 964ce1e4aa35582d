"""Crossing lengths: against all ways to remove and add mass, between neighbours, and as levels."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from modicum import query
from modicum.exact.lattice import Lattice
from modicum.statistics.robust.inverse_sensitivity import cell_edges
from modicum.statistics.robust.monotone_statistic import expectile_score, huber_score, power_score
from modicum.statistics.robust.score_lengths import (
    ClippedCells,
    PointMasses,
    ScoreLengths,
    ScoreTable,
    level_ends_of,
    trimmed_by_rank,
)
from modicum.summaries.cells import Cells
from tests.statistics.order.test_quantile import answers

LATTICE = Lattice(-8.0, 8.0, 1.0)
SINGLE = tuple(range(17))
COARSE = (0, 3, 7, 16)
UNIT, CAP = 4, 400
SCORES = [expectile_score(0.3), huber_score(2.0), power_score(3.0), power_score(1.5)]
T = np.arange(-8, 9)


def table_of(score) -> ScoreTable:
    return ScoreTable.of(score._values, 16, None if score.homogeneous else 1.0)


def summary(data, centre=0, edges=SINGLE):
    reading = Cells(centre, edges).begin(LATTICE)
    reading.update(np.array(data, dtype=float))
    return reading.finish()


def masses(data, centre=0, edges=SINGLE, lo=-8, hi=8, unit=UNIT) -> PointMasses:
    records = ClippedCells(summary(data, centre, edges), lo, hi, 1.0)
    return PointMasses.of(records, ScoreLengths.parts(unit))


def lengths_of(score, data, centre, edges, bounds, towards) -> ScoreLengths:
    records = ClippedCells(summary(data, centre, edges), *bounds, 1.0)
    return score.lengths(records, unit=UNIT, cap=CAP, towards=towards)


def least_change(data, psi, t, lo, hi) -> Fraction | None:
    """Signed least mass to remove and add until the scores add up to 0, over all corners.

    A linear programme in the removed share of every record and the added mass: at a corner all
    shares are 0 or 1 but for one, or mass is added.
    """
    total = sum(psi(x - t) for x in data)
    sign = -1 if total > 0 else 1
    gains = [-sign * psi(x - t) for x in data]
    adding = psi(hi - t) if sign > 0 else -psi(lo - t)
    deficit = abs(total)
    if deficit == 0:
        return Fraction(0)
    found = []
    for size in range(len(data) + 1):
        for removed in combinations(range(len(data)), size):
            rest = deficit - sum(gains[i] for i in removed)
            if rest <= 0:
                found.append(Fraction(size))
                continue
            if adding > 0:
                found.append(size + Fraction(rest, adding))
            found += [
                size + Fraction(rest, gains[i])
                for i in set(range(len(data))) - set(removed)
                if gains[i] >= rest
            ]
    return sign * min(found) if found else None


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_the_length_is_the_least_change(score) -> None:
    table = table_of(score)
    values = {v: int(table.at(np.array([v]))[0]) for v in range(-16, 17)}
    for size in range(4):
        for data in combinations_with_replacement((-8, -3, 1, 2, 8), size):
            found = ScoreLengths(masses(data), table, CAP).at(T)
            for t, length in zip(T.tolist(), found.tolist(), strict=True):
                least = least_change(data, values.__getitem__, t, -8, 8)
                assert least is not None
                assert length == math.floor(least * UNIT + Fraction(1, 2)), (data, t)


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
@pytest.mark.parametrize(
    ("centre", "edges", "bounds"),
    [
        (0, SINGLE, (-8, 8)),
        (1, COARSE, (-15, 17)),
        pytest.param(-2, COARSE, (-5, 5), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("towards", [-1, 0, 1])
@pytest.mark.one_in(8)
def test_one_record_moves_a_length_by_one_at_most(score, centre, edges, bounds, towards) -> None:
    """On single integers, on cells that split or move records, and clipped."""
    halves = np.arange(2 * max(-8, bounds[0]), 2 * min(8, bounds[1]) + 1)

    def lengths(data):
        found = lengths_of(score, data, centre, edges, bounds, towards).at(halves)
        assert (np.diff(found) >= 0).all() or towards
        return found

    for size in range(4):
        for data in combinations_with_replacement((-8, -3, 1, 2, 8), size):
            here = lengths(data)
            for x in (-8, -7, -1, 0, 2, 5, 8):
                assert np.abs(lengths((*data, x)) - here).max() <= UNIT, (data, x)


SIDES = [*SCORES, *(replace(score, bends=None) for score in SCORES if score.bends)]
SIDES += [huber_score(2.5), expectile_score(0.8), expectile_score(0.5)]


@pytest.mark.parametrize("score", SIDES, ids=lambda score: f"{score.name} {score.bends}")
@pytest.mark.parametrize(("centre", "bounds"), [(1, (-15, 17)), (-2, (-5, 5))])
def test_moved_lengths_lie_on_either_side_of_the_exact_one(score, centre, bounds) -> None:
    """Above the moved statistic is surely above that of the records, to the table's rounding."""
    t = np.arange(max(-8, bounds[0]), min(8, bounds[1]) + 1)
    table = ScoreTable.of(score._values, bounds[1] - bounds[0], 1.0)
    moved = 0
    for data in combinations_with_replacement((-8, -7, -3, 1, 2, 5, 8), 3):
        clipped = np.clip(data, *bounds)
        total = np.array([table.at(clipped - x).sum() for x in t])
        down, up = (lengths_of(score, data, centre, COARSE, bounds, s).at(2 * t) for s in (-1, 1))
        assert (total[up > 0] <= 12).all()
        assert (total[down < 0] >= -12).all()
        assert (up <= down).all()
        moved += (up < down).any()
    assert moved or score.bends == ()


def test_only_cells_in_which_a_score_bends_hide_records() -> None:
    """With the bends known, lengths on both sides are near each other; else a cell apart."""
    lattice, t = Lattice(-1024.0, 1024.0, 1.0), np.arange(-60, 61)
    reading = Cells(0, cell_edges(lattice, 0, 4)).begin(lattice)
    reading.update(np.random.default_rng(0).normal(0, 200, 4000))
    found, apart = ClippedCells(reading.finish(), -1024, 1024, 1.0), []
    for score in (huber_score(250.0), replace(huber_score(250.0), bends=None)):
        down, up = (
            score.lengths(found, unit=UNIT, cap=1 << 15, towards=s).at(2 * t) for s in (-1, 1)
        )
        apart.append((down - up).mean())
    assert 0 < apart[0] < apart[1] / 4


def test_masses_keep_the_count_and_the_sum() -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(-8, 9, 1000)
    found = masses(data, 1, COARSE, -20, 20, unit=1024)
    record = ScoreLengths.parts(1024)
    assert found.parts.sum() == 1000 * record
    assert abs(found.places @ found.parts / record - data.sum()) < 0.01
    assert set(found.places.tolist()) <= {1 + s * e for s in (-1, 1) for e in COARSE}


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_large_counts_do_not_overflow(score) -> None:
    """A trillion records: lengths are as those of a thousandth of them, times a thousand."""
    table = table_of(score)
    few = PointMasses(np.array([-8, 1, 5]), np.array([7, 9, 3]) << 20, -8, 8, T)
    many = PointMasses(few.places, few.parts << 22, -8, 8, T)
    small = ScoreLengths(few, table, 1 << 20).at(T)
    large = ScoreLengths(many, table, 1 << 20).at(T)
    expected = np.clip(small.astype(object) * (1 << 22), -(1 << 20), 1 << 20)
    assert np.abs(large - expected).max() <= 1 << 21
    assert (np.sign(large) == np.sign(small)).all()


def test_trimming_takes_mass_by_rank() -> None:
    one = ScoreLengths.parts(UNIT)

    def trimmed(data, lo=-8, hi=8) -> list[tuple[int, float]]:
        reading = Cells(0, SINGLE).begin(LATTICE)
        reading.update(np.array(data, dtype=float))
        found = PointMasses.of(ClippedCells(reading.finish(), lo, hi, 1.0, trimmed=1), one)
        return [(x, m / one) for x, m in zip(found.places.tolist(), found.parts, strict=True)]

    assert trimmed((-8, -8, 0, 3, 8)) == [(-8, 1), (0, 1), (3, 1)]
    assert trimmed((1, 2)) == trimmed((1,)) == trimmed(()) == []
    # Beyond the bounds mass is deleted, not clipped.
    assert trimmed((-8, -8, 0, 3, 8), -1, 2) == [(0, 1)]


def test_trimming_leaves_one_more_at_most() -> None:
    """Whatever one unit of mass is spread over: what is left only grows, by 1 or by nothing."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        mass = rng.integers(0, 9, 7)
        mass[0] += -mass.sum() % 4
        more = mass + rng.multinomial(4, np.full(7, 1 / 7))
        cut = 4 * int(rng.integers(0, 5))
        grown = trimmed_by_rank(more, cut) - trimmed_by_rank(mass, cut)
        assert (grown >= 0).all()
        assert grown.sum() == (4 if more.sum() > 2 * cut else 0)


@pytest.mark.parametrize("fine", [1, 2, 8])
def test_level_ends_are_those_of_the_interpolated_length(fine) -> None:
    """Of each candidate: the least length up to half way to the next ones, by definition."""
    rng = np.random.default_rng(1)
    for first, last in ((-3, 40), (5, 5), (-200, 300)):
        steps = rng.integers(0, 5, last - first + 2) * (rng.random(last - first + 2) < 0.7)
        nodes = np.cumsum(steps) - rng.integers(0, steps.sum() + 2)  # before each, and the end

        def length(z, first=first, nodes=nodes):
            return nodes[z - first]

        levels = 12
        lows, highs = level_ends_of(length, first, last, fine, levels)
        y = np.arange(first * fine, last * fine + 1)
        clipped = np.clip(nodes, -levels, levels)
        # In halves of a fine number from the first half way on, times 2 fine: exact.
        halves = np.arange(2 * fine * (len(nodes) - 1) + 1)
        at = np.minimum(halves // (2 * fine), len(nodes) - 2)
        within = halves - 2 * fine * at
        inside = clipped[at] * (2 * fine - within) + clipped[at + 1] * within
        own = 2 * (y - first * fine) + fine
        above, below = inside[own - 1].copy(), inside[own + 1].copy()
        above[0], below[-1] = -levels * 2 * fine, levels * 2 * fine  # without end
        for k in range(levels):
            there = y[(above <= k * 2 * fine) & (below >= -k * 2 * fine)]
            assert (lows[k], highs[k]) == (there[0], there[-1])


@pytest.mark.parametrize("where", ["steep", "flat", "split", "nowhere"])
def test_how_many_lengths_are_asked_for_is_bounded_by_public_values(where) -> None:
    """A length that is below every level nearly everywhere takes no more memory than another."""
    first, last, levels = -(10**12), 10**12, 50
    lengths = {
        "steep": lambda z: z,
        "flat": lambda z: z // 10**11,
        "split": lambda z: np.where(np.abs(z) < 9 * 10**11, 0, np.sign(z) * 10**6),
        "nowhere": np.zeros_like,
    }
    asked = []

    def length(z):
        asked.append(z)
        return lengths[where](z)

    lows, highs = level_ends_of(length, first, last, 4, levels)
    every = np.concatenate(asked)
    assert max(len(z) for z in asked) <= 2 * levels
    assert len(asked) <= math.ceil(math.log2(last - first + 3))
    assert len(every) == len(np.unique(every))
    # The number z of a length is half way from candidate z - 1 to z, 4 z - 2 in fine numbers.
    zero = {
        "steep": (-2, -2),
        "flat": (-2, 4 * (10**11 - 1) - 2),
        "split": (4 * (1 - 9 * 10**11) - 2, 4 * (9 * 10**11 - 1) - 2),
        "nowhere": (4 * first, 4 * last),
    }
    assert (lows[0], highs[0]) == zero[where]


def test_balanced_clusters_far_apart_have_an_answer() -> None:
    """The sum of scores is next to 0 between them: nearly all candidates have a small length."""
    data = np.where(np.arange(6000) % 2, 1e8, -1e8)
    question = query.huber(width=1.0, within=(-1e9, 1e9), epsilon=20_000)
    for answer in answers(question, data, 2):
        assert -1e8 - 2 <= float(answer.value) <= 1e8 + 2
