"""Monotone M-estimators: the inverse sensitivity mechanism on cells around a private centre.

[C1] count    a noisy count drives the schedule;
[C2] centre   a private median from a secret subsample: where the cells are fine;
[C3] width    for a Huber location without a width: a private radius that half of the data exceed;
[C4] radii    for an unbounded score: on each side, the least width with few records outside,
              and the data are clipped there;
[C5] value    P(t) ∝ exp(-ε |length(t)| / 2), the length in records from the cells' counts and
              sums;
[C6] ends     on each side of it, a value that surely is beyond the location.

Differs from Dick, Kulesza, Sun and Suresh 2023, Algorithm 4: [C4] has no rank target and clips
where they trim, and a bounded score needs no thresholds at all. docs/proofs/locations.md has the
proofs, with the same labels, and says how that was decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.estimators.crossing import level_ends_of
from modicum.estimators.location_evidence import LocationEvidence
from modicum.estimators.location_plan import (
    CENTRE_BITS,
    COUNT_SHARE,
    FLAT,
    GIVE_UP,
    Candidates,
    LengthPlan,
    LocationPlan,
    cell_edges,
    radius_grid,
)
from modicum.estimators.mean_evidence import NoisyTerm
from modicum.estimators.outside import Outside
from modicum.estimators.purse import Purse, open_purse
from modicum.estimators.schedule import HALF_LN2, subsample_level
from modicum.estimators.score import huber_score
from modicum.estimators.statistic import MonotoneStatistic, SignedLengths
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grid import FloatGrid
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.steps import Ask, Steps, draw, need, need_both
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.count import Count
from modicum.summaries.records import Records, RecordSummary

__all__ = ["location"]

TAIL = 3.0  # the ends allow for clipped records if the tails are this heavy


@dataclass(frozen=True, slots=True)
class _Setting:
    """What every step of one run refers to."""

    column: str | None
    lattice: Lattice
    purse: Purse
    level: float | None
    count: int
    plan: LocationPlan

    @property
    def range_ends(self) -> tuple[int, int]:
        return self.lattice.first, self.lattice.last

    @property
    def value_share(self) -> Fraction:
        """What the value gets: all that the other draws leave."""
        plan = self.plan
        return 1 - COUNT_SHARE - plan.centre - plan.width - plan.radii - 2 * plan.ends


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Where records are clipped: released."""

    lo: int
    hi: int
    outside: Outside | None

    def allowed(self, statistic: MonotoneStatistic) -> float:
        """Records at a bound that make up for those beyond it, for a tail of index 3."""
        if self.outside is None or statistic.excess(TAIL) == math.inf:
            return 0.0
        return statistic.excess(TAIL) * self.outside.expected(TAIL)


@dataclass(frozen=True, slots=True)
class _Scene:
    """All that the last draws follow from; of these, only the cells are secret."""

    statistic: MonotoneStatistic
    cells: CellSummary
    bounds: _Bounds
    candidates: Candidates
    step: float

    def lengths(self, size: LengthPlan) -> SignedLengths:
        """Lengths of values between the bounds."""
        ends = self.bounds.lo, self.bounds.hi
        if self.bounds.outside is None:  # the outermost cells may reach beyond the range
            reach = self.cells.edges[-1]
            ends = self.cells.centre - reach, self.cells.centre + reach
        return self.statistic.lengths(self.cells, ends, self.step, unit=size.unit, cap=size.cap)


def location(
    column: str | None,
    lattice: Lattice,
    event: Event,
    *,
    statistic: MonotoneStatistic | None,
    level: float | None,
) -> Steps[Answer]:
    """Estimate a statistic that follows the order of the data.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    statistic : MonotoneStatistic or None
        ``None``: Huber's location, with a width found privately.
    level : float or None
        Confidence of the interval; ``None`` leaves its ends out.

    Raises
    ------
    InvalidArgument
        If the budget is too small.
    """
    purse = open_purse(event)
    counts, records = yield from need_both(
        Ask(column, lattice, Count()), Ask(column, lattice, Records(subsamples=2))
    )
    counting = purse.noisy((counts.count,), sensitivity=1, share=COUNT_SHARE)  # [C1]
    (n0,) = yield from draw("count", counting)
    bounded, scaled = statistic is None or statistic.bounded, statistic is None
    plan = LocationPlan.of(
        lattice, purse, n0, bounded=bounded, scaled=scaled, ends=level is not None
    )
    here = _Setting(column, lattice, purse, level, n0, plan)
    centre = yield from _centre(here, records)  # [C2]
    if statistic is None:
        statistic = yield from _scaled(here, records, centre)  # [C3]
    cells = yield from need(
        Ask(column, lattice, Cells(centre, cell_edges(lattice, centre, plan.cell_bits)))
    )
    bounds = yield from _bounds(here, cells, statistic)  # [C4]
    candidates = _candidates(here, bounds, statistic, centre)
    scene = _Scene(statistic, cells, bounds, candidates, lattice.step)
    point, length_bound = yield from _value(here, scene)  # [C5]
    ends = None
    if level is not None:
        lower = yield from _end(here, scene, point, -1)  # [C6]
        upper = yield from _end(here, scene, point, 1)
        ends = (lower, upper)
    evidence = LocationEvidence(
        lattice=lattice,
        name=statistic.name,
        growth=statistic.growth,
        width=statistic.width,
        point=point,
        ends=ends,
        level=level,
        allowed=bounds.allowed(statistic),
        bounds=(bounds.lo, bounds.hi),
        outside=bounds.outside,
        count=n0,
        count_noise=NoisyTerm(counting.noise[0], 1.0),
        length_bound=length_bound,
        has_centre=plan.centre > 0,
    )
    return Answer(evidence.value, evidence, evidence.status)


def _centre(here: _Setting, records: RecordSummary) -> Steps[int]:
    """[C2] A median; 0, or the end of the range nearest to it, if the data are too few."""
    first, last = here.range_ends
    if not here.plan.centre:
        return min(max(0, first), last)
    law = here.purse.centre(
        records,
        here.lattice,
        bits=CENTRE_BITS,
        level=subsample_level(here.count),
        share=here.plan.centre,
    )
    grid = FloatGrid(CENTRE_BITS)

    def point(number: int) -> int:
        return min(max(grid.point(number), first), last)

    number = yield from draw("centre", law, lambda number: here.lattice.words(point(number)))
    return point(number)


def _scaled(here: _Setting, records: RecordSummary, centre: int) -> Steps[MonotoneStatistic]:
    """[C3] Huber's score with twice the radius that half of the records exceed.

    For normal data that is 2 * 0.6745 = 1.35 standard deviations.
    """
    reach = max(here.lattice.last - centre, centre - here.lattice.first)
    near = radius_grid(centre, reach).radii[1]
    grid = RadiusGrid.between(near, max(reach, near), per_octave=4)
    level = subsample_level(here.count)
    law = here.purse.ranks(
        records,
        centre,
        grid,
        targets=(max(here.count, 0) >> level + 1,),
        tilts=(HALF_LN2 / 8,),
        level=level,
        share=here.plan.width,
    )

    def width(drawn: tuple[int, ...]) -> int:
        return 2 * max(grid.radii[drawn[0]], 1)

    drawn = yield from draw("width", law, lambda drawn: here.lattice.words(width(drawn)))
    return huber_score(here.lattice.value(width(drawn)))


def _bounds(here: _Setting, cells: CellSummary, statistic: MonotoneStatistic) -> Steps[_Bounds]:
    """[C4] The radii on both sides of the centre: disjoint records, one event."""
    first, last = here.range_ends
    if statistic.bounded:
        return _Bounds(first, last, None)
    centre = cells.centre
    grid = radius_grid(centre, cells.edges[-1])
    upper = tuple(centre + r for r in grid.radii)
    lower = tuple(centre - r for r in grid.radii)
    outside = (_outside(cells, grid, -1), _outside(cells, grid, 1))
    law = here.purse.radii(outside, grid, tilt=here.plan.tilt, share=here.plan.radii)

    def words(drawn: tuple[int, ...]) -> str:
        left, right = (here.lattice.words(grid.radii[each]) for each in drawn)
        return f"few records are more than {left} below the centre, or {right} above"

    left, right = yield from draw("radii", law, words)
    # At least one candidate radius: there has to be something to choose from.
    return _Bounds(
        lower[max(left, 1)],
        upper[max(right, 1)],
        Outside(
            radii=(grid.radii[left], grid.radii[right]),
            widest=grid.radii[-1],
            candidates=len(grid.radii),
            eta=float(law.epsilon),
            power=here.plan.power,
        ),
    )


def _outside(cells: CellSummary, grid: RadiusGrid, side: int) -> tuple[int, ...]:
    """Records beyond each radius on one side; the radii are edges of the cells."""
    middle = len(cells.edges)
    counts = np.array(cells.counts, dtype=np.int64)[:: side or 1]
    beyond = np.cumsum(counts[::-1])[::-1]
    inside = np.minimum(np.searchsorted(cells.edges, grid.radii), middle - 1)
    return tuple(beyond[middle + 1 + inside].tolist())


def _candidates(
    here: _Setting, bounds: _Bounds, statistic: MonotoneStatistic, centre: int
) -> Candidates:
    """Candidates spaced like the noise: a change of one record in a scale of ψ's width."""
    first, last = here.range_ends
    lo, hi = max(bounds.lo, first), min(bounds.hi, last)
    flat, scale = max(hi - centre, centre - lo), hi - lo
    if statistic.width is not None:
        scale = max(1, round(min(2 * statistic.width / here.lattice.step, 2.0**52)))
        flat = min(FLAT * scale, flat)
    changes = max(1.0, max(1, here.count) * float(here.purse.range_for(here.value_share)))
    spacing = max(1, math.floor(scale / changes))
    return Candidates.of(lo, hi, centre, flat=max(flat, 1), spacing=spacing)


def _value(here: _Setting, scene: _Scene) -> Steps[tuple[int, float]]:
    """[C5] The value, and a bound on its length that holds with a probability of 95 %."""
    candidates, share = scene.candidates, here.value_share if here.level is not None else None
    size = LengthPlan.of(
        here.purse.range_for(share), candidates.log_count, whole=scene.statistic.whole
    )
    counted = scene.lengths(size)
    ends = level_ends_of(
        lambda numbers: counted.at(candidates.places(numbers)),
        candidates.first,
        candidates.last,
        candidates.fine,
        size.cap,
    )
    first, last = (candidates.fine * number for number in (candidates.first, candidates.last))
    law = here.purse.level(ends, first, last, unit=size.unit, share=share)

    def words(number: int) -> str:
        return here.lattice.words(candidates.place(number))

    number = yield from draw("location", law, words)
    return candidates.place(number), size.bound(candidates.log_count, 0.05)


def _end(here: _Setting, scene: _Scene, point: int, sign: int) -> Steps[int]:
    """[C6] A value beyond the location, on one side."""
    assert here.level is not None
    share = here.plan.ends if sign < 0 else None
    epsilon = here.purse.range_for(share)
    limit = here.range_ends[sign > 0]
    furthest = max(scene.bounds.lo, limit) if sign < 0 else min(scene.bounds.hi, limit)
    span = sign * (furthest - point)
    nearest = scene.candidates.unit * scene.candidates.fine
    radii = RadiusGrid.between(min(nearest, max(span, 1)), max(span, 1)).radii
    places = point + sign * np.minimum(np.array(radii, dtype=np.int64), span)

    log_count, missed = math.log(len(places)), 0.45 * (1 - here.level)
    give_up = GIVE_UP * 2 / float(epsilon)
    shift = (
        scene.bounds.allowed(scene.statistic)
        + (log_count - math.log(missed)) * 2 / float(epsilon)
        + give_up
    )
    size = LengthPlan.of(epsilon, log_count, shift, whole=scene.statistic.whole)
    away = sign * scene.lengths(size).at(places)
    target = math.ceil(shift * size.unit)
    # The last candidate stands for the end of the range: never far from the target.
    away[-1] = max(int(away[-1]), target - math.floor(give_up * size.unit))
    levels = np.arange(size.cap, dtype=np.int64)
    lows = np.searchsorted(away, target - levels, side="left")
    highs = np.searchsorted(away, target + levels, side="right") - 1
    law = here.purse.level((lows, highs), 0, len(places) - 1, unit=size.unit, share=share)

    def end(number: int) -> int:
        return limit if number == len(places) - 1 else int(places[number])

    label = "lower end" if sign < 0 else "upper end"
    number = yield from draw(label, law, lambda number: here.lattice.words(end(number)))
    return end(number)
