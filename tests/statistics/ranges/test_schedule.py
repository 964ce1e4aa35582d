"""The division of the budget is exact, and the tail weight orders distributions."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

from modicum.exact.lattice import Lattice
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.statistics.ranges.split import (
    SHAPE_PARTS,
    Schedule,
    count_share,
    mean_schedule,
    octaves,
    shape_tilts,
    subsample_level,
)
from modicum.statistics.tails.tail_shape import Ranks, TailShape, tail_weight

LATTICE = Lattice.within((-1e9, 1e9))
STEPS = 2**21


def adapted_to(schedule: Schedule, weight: float, expected: float, outer: int = STEPS) -> Schedule:
    return schedule.for_tail(TailShape(weight, Ranks.of(expected), expected), outer)


@pytest.mark.parametrize(
    "event", [PureDP(Fraction(1)), PureDP(Fraction(1, 10)), ZCDP(Fraction(1, 2))]
)
@pytest.mark.parametrize("n0", [-100, 0, 1, 600, 10**4, 10**5, 10**9])
@pytest.mark.parametrize("clusters", ["clip", "keep"])
def test_shares_leave_most_for_the_final_sum(event, n0, clusters) -> None:
    split = BudgetSplit(event)
    schedule = mean_schedule(LATTICE, split, n0, clusters, shape=True)
    for weight in (0.0, 1.0, 3.0):
        adapted = adapted_to(schedule, weight, n0) if schedule.shape else schedule
        parts = (adapted.centre, adapted.shape, adapted.radii, adapted.rough)
        assert all(part.denominator <= 1024 and part >= 0 for part in parts)
        rest = 1 - count_share(split) - sum(parts)
        assert rest > Fraction(1, 10)
        if n0 >= 10**4 and event != PureDP(Fraction(1, 10)):
            assert rest > Fraction(13, 20)
        assert Fraction(5, 4) <= adapted.power <= 10


def test_a_centre_needs_about_five_hundred_records_per_unit_of_noise() -> None:
    split = BudgetSplit(PureDP(Fraction(1)))
    least = min(n for n in range(100, 2000) if mean_schedule(LATTICE, split, n, "clip").has_centre)
    assert 480 <= least <= 540


@pytest.mark.parametrize("event", [PureDP(Fraction(1)), ZCDP(Fraction(1, 2))], ids=str)
def test_many_records_leave_little_to_find_a_mean(event) -> None:
    """Each share falls with the number of records, and never below what its draw needs."""
    split, spans = BudgetSplit(event), []
    for n0 in (10**4, 10**5, 10**6, 10**10):
        lean = mean_schedule(LATTICE, split, n0, "clip", shape=True)
        fixed = mean_schedule(LATTICE, split, n0, "clip")
        spans.append(lean.centre + lean.shape + lean.rough)
        assert lean.centre + lean.rough <= fixed.centre + fixed.rough
        assert lean.bits == fixed.bits
        assert min(lean.centre, lean.rough) >= Fraction(1, 512)
        # The centre's median outweighs its grid: e^-16 is left of what is not in the bulk.
        strength = float(split.share(lean.centre).pure / split.scale)
        assert strength * (n0 - 150) / 2 > lean.bits * np.log(2) + 16
    assert spans == sorted(spans, reverse=True)
    assert spans[-1] < Fraction(1, 64)


def test_subsample_levels() -> None:
    assert [subsample_level(n) for n in (-5, 0, 2**14 - 1, 2**14, 2**15, 10**9)] == [
        0,
        0,
        0,
        1,
        2,
        16,
    ]
    for n in (2**14, 10**6, 10**12):
        assert 2**13 <= n >> subsample_level(n) < 2**14


def weight_of(mechanism, expected: float) -> float:
    """Tail weight from the exact radii of a distribution around its median."""
    median = mechanism.ppf(0.5)

    def radius(fraction: float) -> float:
        def excess(r: float) -> float:
            return mechanism.sf(median + r) + mechanism.cdf(median - r) - fraction

        return optimize.brentq(excess, 0, 1e9, xtol=1e-12)

    ranks = Ranks.of(expected)
    return tail_weight(
        round(radius(ranks.inner) * STEPS), round(radius(ranks.outer) * STEPS), ranks
    )


@pytest.mark.parametrize(
    ("mechanism", "weight"),
    [
        (stats.uniform(), 0.1),
        (stats.norm(), 0.5),
        (stats.expon(), 1.0),
        (stats.lognorm(0.9), 1.34),
        (stats.pareto(2.5), 1.61),
        (stats.pareto(1.5), 2.11),
        (stats.pareto(1.0), 2.82),
    ],
)
def test_the_tail_weight_of_well_known_shapes(mechanism, weight) -> None:
    assert weight_of(mechanism, 1e5) == pytest.approx(weight, abs=0.06)


@pytest.mark.parametrize("expected", [10**4, 10**5, 10**6])
def test_heavier_tails_get_wider_radii(expected) -> None:
    split = BudgetSplit(PureDP(Fraction(1)))
    schedule = mean_schedule(LATTICE, split, expected, "clip", shape=True)
    adapted = [adapted_to(schedule, w, expected) for w in np.linspace(-3, 4, 50)]
    for lighter, heavier in pairwise(adapted):
        assert lighter.power >= heavier.power
        assert lighter.radii <= heavier.radii
        if expected >= 10**5:  # of fewer, heavier tails have fewer records outside to begin with
            assert lighter.widening <= heavier.widening
        assert lighter.turn <= heavier.turn
    assert adapted[0].widening == 0 < adapted[-1].widening
    # Of few records a heavy tail looks like a skewed bulk: fewer of them are clipped.
    strengths = [float(each.power / each.radii) for each in (adapted[0], adapted[-1])]
    assert (strengths[1] < strengths[0] / 2) == (expected == 10**4)


def test_the_prior_is_steep_up_to_the_turn_only() -> None:
    split = BudgetSplit(PureDP(Fraction(1)))
    schedule = mean_schedule(LATTICE, split, 10**5, "clip", shape=True)
    adapted = adapted_to(schedule, 0.5, 1e5, outer=3 * STEPS)
    assert 1.5 < adapted.turn / (2 * 3 * STEPS) < 2.5  # twice the radius of one record
    grid, tilt = adapted.candidates(1, 2**51)

    def power(low: int, high: int) -> float:
        """Of the prior between two radii."""
        first, last = (np.searchsorted(grid.radii, r) for r in (low, high))
        cost = float(tilt) * (grid.indices[last] - grid.indices[first])
        return cost / np.log(grid.radii[last] / grid.radii[first])

    assert power(STEPS, adapted.turn // 2) == pytest.approx(10, rel=0.01)
    assert power(2 * adapted.turn, 2**50) == pytest.approx(3, rel=0.02)
    plain = adapted.plain(schedule.radii, schedule.power)
    assert (plain.turn, plain.widening, plain.per_octave) == (0, 0, 2)


def test_only_radii_of_the_tail_are_widened() -> None:
    """Not one inside of the outer radius, which has more outside, nor one of another group."""
    split = BudgetSplit(PureDP(Fraction(1)))
    schedule = mean_schedule(LATTICE, split, 10**5, "clip", shape=True)
    adapted = adapted_to(schedule, 1.6, 1e5, outer=STEPS)
    assert adapted.widening > 0
    found = [adapted.widened(r) for r in (STEPS // 2, STEPS, adapted.turn, 5 * adapted.turn)]
    assert found == [0, adapted.widening, adapted.widening, 0]


def test_a_prior_is_steep_between_its_knee_and_its_ankle() -> None:
    """And r^-1 elsewhere."""
    plain = Schedule(*map(Fraction, (0, 0, "1/6", 0)), 0, Fraction(5, 2))
    bent = replace(plain, knee=STEPS >> 4, ankle=STEPS << 8)
    grid, tilt = bent.candidates(1, STEPS << 22)

    def power(low: int, high: int) -> float:
        first, last = (np.searchsorted(grid.radii, r) for r in (low, high))
        cost = float(tilt) * (grid.indices[last] - grid.indices[first])
        return cost / np.log(grid.radii[last] / grid.radii[first])

    assert power(STEPS // 8, STEPS * 128) == pytest.approx(2.5, rel=0.02)
    assert power(2**10, STEPS // 32) == pytest.approx(1, rel=0.02)
    assert power(STEPS * 512, STEPS << 21) == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("expected", [8000, 10**4, 10**5, 10**8])
def test_records_outweigh_the_prior_of_the_shape_step(expected) -> None:
    """A radius of 0 has nearly all records outside; each counts a quarter of the share."""
    split = BudgetSplit(PureDP(Fraction(1)))
    schedule = mean_schedule(LATTICE, split, expected, "clip", shape=True)
    inner, outer = shape_tilts(LATTICE, expected, schedule.shape)
    ranks = Ranks.of(expected)
    parts = SHAPE_PARTS * octaves(LATTICE) / np.log(2)
    for tilt, rank in ((inner, ranks.inner), (outer, ranks.outer)):
        nats = (1 - rank) * expected * float(schedule.shape) / 4
        assert nats > float(tilt) * parts
    if expected >= 10**5:
        assert float(outer) * SHAPE_PARTS / np.log(2) == pytest.approx(4, rel=1e-3)


def test_an_unknown_shape_changes_nothing() -> None:
    ranks = Ranks.of(1e5)
    schedule = mean_schedule(LATTICE, BudgetSplit(PureDP(Fraction(1))), 10**5, "clip", shape=True)
    assert schedule.for_tail(None, 5) == schedule
    assert tail_weight(0, 5, ranks) is None
    assert tail_weight(5, 0, ranks) is None
    assert tail_weight(1, 2**21, ranks) is None  # coins: the inner radius may be any below 1
