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

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import FloatGrid, RadiusGrid
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.statistics.location_evidence import LocationEvidence
from modicum.statistics.location_plan import (
    CENTRE_BITS,
    COUNT_SHARE,
    FLAT,
    Candidates,
    LocationPlan,
    cell_edges,
    radius_grid,
)
from modicum.statistics.location_value import Bounds, Scene, draw_ends, draw_value
from modicum.statistics.outside import NoisyTerm, Outside
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.statistics.score import huber_score
from modicum.statistics.split import HALF_LN2, subsample_level
from modicum.statistics.statistic import MonotoneStatistic
from modicum.steps import Ask, Steps, draw, need, need_both
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.sums import Count

__all__ = ["location"]


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
        return 1 - COUNT_SHARE - plan.centre - plan.width - plan.radii - plan.ends


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
    scene = Scene(purse, lattice, statistic, cells, bounds, candidates)
    point, length_bound = yield from draw_value(  # [C5]
        scene, here.value_share if level is not None else None
    )
    ends = None
    if level is not None:
        ends = yield from draw_ends(scene, point, level)  # [C6]
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


def _bounds(here: _Setting, cells: CellSummary, statistic: MonotoneStatistic) -> Steps[Bounds]:
    """[C4] The radii on both sides of the centre: disjoint records, one event."""
    first, last = here.range_ends
    if statistic.bounded:
        return Bounds(first, last, None)
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
    return Bounds(
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
    here: _Setting, bounds: Bounds, statistic: MonotoneStatistic, centre: int
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
