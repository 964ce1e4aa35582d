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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.estimators.crossing import Lengths, Masses, level_ends_of
from modicum.estimators.location_evidence import LocationEvidence
from modicum.estimators.location_plan import (
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
from modicum.estimators.score import Score, ScoreTable, huber_score
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grid import FloatGrid
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.steps import Ask, Steps, draw, need, need_both
from modicum.summaries.base import Integers
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

    @property
    def end_points(self) -> tuple[int, int]:
        return self.lattice.first, self.lattice.last


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Where records are clipped: released."""

    lo: int
    hi: int
    outside: Outside | None

    def allowed(self, score: Score) -> float:
        """Records at a bound that make up for those beyond it, for a tail of index 3."""
        if self.outside is None or score.excess(TAIL) == math.inf:
            return 0.0
        return score.excess(TAIL) * self.outside.expected(TAIL)


def location(
    column: str | None, lattice: Lattice, event: Event, *, score: Score | None, level: float | None
) -> Steps[Answer]:
    """Estimate the θ at which the sum of a score over the records crosses zero.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    score : Score or None
        ``None``: Huber's, with a width found privately.
    level : float or None
        Confidence of the interval; ``None`` leaves its ends out.

    Raises
    ------
    InvalidArgument
        If the budget is too small.
    """
    here = _Setting(column, lattice, open_purse(event), level)
    purse = here.purse
    counts, records = yield from need_both(
        Ask(column, lattice, Count()), Ask(column, lattice, Records(subsamples=2))
    )
    counting = purse.noisy((counts.count,), sensitivity=1, share=COUNT_SHARE)  # [C1]
    (n0,) = yield from draw("count", counting)
    plan = LocationPlan.of(
        lattice,
        purse,
        n0,
        bounded=score is None or score.bounded,
        scaled=score is None,
        ends=level is not None,
    )
    centre = yield from _centre(here, records, plan, n0)  # [C2]
    if score is None:
        score = yield from _scaled(here, records, plan, centre, n0)  # [C3]
    edges = cell_edges(lattice, centre, plan.cell_bits)
    cells = yield from need(Ask(column, lattice, Cells(centre, edges)))
    bounds = yield from _bounds(here, cells, plan, score)  # [C4]

    # A cell may reach over the end of the range; its mass then does too.
    reach = edges[-1]
    lo = bounds.lo if bounds.outside is not None else centre - reach
    hi = bounds.hi if bounds.outside is not None else centre + reach
    table = score.table(hi - lo, lattice.step)
    candidates = _candidates(here, bounds, score, plan, centre, n0)
    share = None if level is None else 1 - _spent(here, plan)
    size = LengthPlan.of(purse.range_for(share), candidates.log_count)

    def lengths(size: LengthPlan) -> Lengths:
        masses = Masses.of(cells, lo, hi, Lengths.parts(size.unit))
        return Lengths(masses, table, size.cap)

    counted = lengths(size)
    ends_of = level_ends_of(
        lambda z: counted.at(candidates.places(z)),
        candidates.first,
        candidates.last,
        candidates.fine,
        size.cap,
    )
    law = purse.level(  # [C5]
        ends_of,
        candidates.first * candidates.fine,
        candidates.last * candidates.fine,
        unit=size.unit,
        share=share,
    )
    number = yield from draw("location", law, lambda y: lattice.words(candidates.place(y)))
    point = candidates.place(number)
    ends, allowed = None, bounds.allowed(score)
    if level is not None:
        ends = yield from _ends(here, bounds, plan, candidates, point, allowed, lengths)  # [C6]
    evidence = LocationEvidence(
        lattice=lattice,
        score=score,
        point=point,
        ends=ends,
        level=level,
        allowed=allowed,
        bounds=(bounds.lo, bounds.hi),
        outside=bounds.outside,
        count=n0,
        count_noise=NoisyTerm(counting.noise[0], 1.0),
        length_bound=(candidates.log_count + math.log(20)) * 2 / float(size.epsilon),
        has_centre=plan.centre > 0,
    )
    return Answer(evidence.value, evidence, evidence.status)


def _spent(here: _Setting, plan: LocationPlan) -> Fraction:
    """Share of everything but the value."""
    return COUNT_SHARE + plan.centre + plan.width + plan.radii + 2 * plan.ends


def _centre(here: _Setting, records: RecordSummary, plan: LocationPlan, n0: int) -> Steps[int]:
    """[C2] A median; 0, or the end of the range nearest to it, if the data are too few."""
    first, last = here.end_points
    if not plan.centre:
        return min(max(0, first), last)
    law = here.purse.centre(
        records, here.lattice, bits=24, level=subsample_level(n0), share=plan.centre
    )
    grid = FloatGrid(24)

    def point(number: int) -> int:
        return min(max(grid.point(number), first), last)

    number = yield from draw("centre", law, lambda number: here.lattice.words(point(number)))
    return point(number)


def _scaled(
    here: _Setting, records: RecordSummary, plan: LocationPlan, centre: int, n0: int
) -> Steps[Score]:
    """[C3] Huber's score with twice the radius that half of the records exceed.

    For normal data that is 2 * 0.6745 = 1.35 standard deviations.
    """
    reach = max(here.lattice.last - centre, centre - here.lattice.first)
    near = radius_grid(centre, reach).radii[1]
    grid = RadiusGrid.between(near, max(reach, near), per_octave=4)
    level = subsample_level(n0)
    law = here.purse.ranks(
        records,
        centre,
        grid,
        targets=(max(n0, 0) >> level + 1,),
        tilts=(HALF_LN2 / 8,),
        level=level,
        share=plan.width,
    )

    def width(drawn: tuple[int, ...]) -> int:
        return 2 * max(grid.radii[drawn[0]], 1)

    drawn = yield from draw("width", law, lambda drawn: here.lattice.words(width(drawn)))
    return huber_score(here.lattice.value(width(drawn)))


def _bounds(
    here: _Setting, cells: CellSummary, plan: LocationPlan, score: Score
) -> Steps[_Bounds]:
    """[C4] The radii on both sides of the centre: disjoint records, one event."""
    first, last = here.end_points
    if score.bounded:
        return _Bounds(first, last, None)
    centre = cells.centre
    grid = radius_grid(centre, cells.edges[-1])
    upper = tuple(centre + r for r in grid.radii)
    lower = tuple(centre - r for r in grid.radii)
    outside = (_outside(cells, grid, -1), _outside(cells, grid, 1))
    law = here.purse.radii(outside, grid, tilt=plan.tilt, share=plan.radii)

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
            power=plan.power,
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
    here: _Setting, bounds: _Bounds, score: Score, plan: LocationPlan, centre: int, n0: int
) -> Candidates:
    """Candidates spaced like the noise: a change of one record in a scale of ψ's width."""
    first, last = here.end_points
    lo, hi = max(bounds.lo, first), min(bounds.hi, last)
    if score.width is None:
        scale = hi - lo
        flat = max(hi - centre, centre - lo)
    else:
        scale = max(1, round(min(2 * score.width / here.lattice.step, 2.0**52)))
        flat = min(FLAT * scale, max(last - centre, centre - first))
    share = 1 - _spent(here, plan)
    changes = max(1.0, max(1, n0) * float(here.purse.range_for(share)))
    spacing = max(1, math.floor(scale / (2 * changes)))
    return Candidates.of(lo, hi, centre, flat=max(flat, 1), spacing=spacing)


def _ends(
    here: _Setting,
    bounds: _Bounds,
    plan: LocationPlan,
    candidates: Candidates,
    point: int,
    allowed: float,
    lengths: Callable[[LengthPlan], Lengths],
) -> Steps[tuple[int, int]]:
    """[C6] Values beyond the location on both sides."""
    found = []
    for sign in (-1, 1):
        limit = here.lattice.last if sign > 0 else here.lattice.first
        furthest = min(bounds.hi, limit) if sign > 0 else max(bounds.lo, limit)
        span = sign * (furthest - point)
        radii = RadiusGrid.between(min(candidates.unit * candidates.fine, max(span, 1)), max(span, 1))
        places = point + sign * np.minimum(np.array(radii.radii, dtype=np.int64), span)
        share = plan.ends if sign < 0 else None
        epsilon = float(here.purse.range_for(share))
        assert here.level is not None
        log_missed = math.log(len(places) / (0.45 * (1 - here.level)))
        shift = allowed + (log_missed + GIVE_UP) * 2 / epsilon
        size = LengthPlan.of(here.purse.range_for(share), math.log(len(places)), shift)
        away = _away(lengths(size), places, sign)
        target = math.ceil(shift * size.unit)
        # The last candidate stands for the end of the range: never far from the target.
        away[-1] = max(int(away[-1]), target - math.floor(GIVE_UP * 2 / epsilon * size.unit))
        levels = np.arange(size.cap, dtype=np.int64)
        lows = np.searchsorted(away, target - levels, side="left")
        highs = np.searchsorted(away, target + levels, side="right") - 1
        law = here.purse.level(
            (lows.astype(np.int64), highs.astype(np.int64)),
            0,
            len(places) - 1,
            unit=size.unit,
            share=share,
        )

        def end(number: int, places: Integers = places, limit: int = limit) -> int:
            return limit if number == len(places) - 1 else int(places[number])

        label = "lower end" if sign < 0 else "upper end"
        number = yield from draw(label, law, lambda number: here.lattice.words(end(number)))
        found.append(end(number))
    return found[0], found[1]


def _away(counted: Lengths, places: Integers, sign: int) -> Integers:
    """Records from the location to each place, negative before it; places lead away."""
    found: Integers = sign * counted.at(places)
    return np.maximum.accumulate(found)
