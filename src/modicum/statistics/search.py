"""Where the data are: what the mean, the variance and the standard deviation begin with.

Steps [H1] to [M3] of docs/proofs/mean.md end in one of three places: clipping bounds; a single
value that all records seem to have; or nothing but the range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from modicum.mechanisms.grids import RadiusGrid
from modicum.runtime.steps import Steps, draw
from modicum.statistics.atom import Home, find_home, home_of, is_filled, look_elsewhere
from modicum.statistics.clipping import Bounds, Setting, find_bounds, find_centre, reach_from
from modicum.statistics.remarks import APART, FEW, HEAVY, NO_CENTRE
from modicum.statistics.schedule import (
    INNER_TILT,
    OUTER_TILT,
    Ranks,
    Schedule,
    subsample_level,
    tail_weight,
)
from modicum.status import OK, Status
from modicum.summaries.subsample import RecordSummary
from modicum.summaries.tails import TailSummary

__all__ = ["Place", "find_place"]

# Bounds that hold so much of the range are worth no further draws.
_NEARLY_ALL, _MOST = Fraction(9, 10), Fraction(6, 10)


@dataclass(frozen=True, slots=True)
class Place:
    """What the search came to: bounds, a single value, or nothing but the range.

    Attributes
    ----------
    way : {"bounds", "single", "range"}
    schedule : Schedule
    centre : int or None
        Or, if only the range is left, the value that most records have.
    bounds : Bounds or None
    remark : Status
        Of the schedule, so far.
    """

    way: Literal["bounds", "single", "range"]
    schedule: Schedule
    centre: int | None = None
    bounds: Bounds | None = None
    remark: Status = OK


def find_place(
    here: Setting,
    tails: TailSummary | None,
    records: RecordSummary,
    schedule: Schedule,
    n0: int,
    *,
    filled: bool = False,
) -> Steps[Place]:
    """[H1] to [M3] Where the data are, as far as they can be found.

    ``filled``: whether the range is an answer that is good enough for data that fill it, [H4].
    """
    if not schedule.has_centre:
        return (yield from _among_few(here, tails, schedule))
    home = yield from find_home(here, records, n0)
    if home.radius == 0:
        place = yield from _about_an_atom(here, schedule, home, n0)
        if place is not None:
            return place
    elif filled and (yield from is_filled(here, home, n0)):
        return Place("range", schedule)
    centre = yield from find_centre(here, records, schedule, n0)
    seen = None
    if schedule.shape:
        schedule, seen = yield from _shape(here, records, schedule, centre, n0)
    bounds = yield from find_bounds(here, tails, schedule, centre)
    if bounds.single(here.lattice):
        return Place("single", schedule, centre, bounds)
    # How far half of the data are from home, against the bounds: is that too far for a light tail?
    half = (home.part(n0), home.radius) if home.radius else None
    heavy = replace(bounds.outside, seen=half).heavy() or schedule.widening
    bounds = replace(bounds, outside=replace(bounds.outside, seen=seen))
    return Place("bounds", schedule, centre, bounds, remark=HEAVY if heavy else OK)


def _among_few(here: Setting, tails: TailSummary | None, schedule: Schedule) -> Steps[Place]:
    """Bounds about home. They hold nothing, or too much to pay for: the range is better."""
    home = home_of(here.lattice)
    bounds = yield from find_bounds(here, tails, schedule, home, exact=True)
    if bounds.collapsed(here.lattice):
        return Place("range", schedule, remark=FEW)
    if bounds.hi - bounds.lo >= _MOST * here.lattice.width:
        return Place("range", schedule)
    return Place("bounds", schedule, home, bounds, remark=NO_CENTRE)


def _about_an_atom(here: Setting, schedule: Schedule, home: Home, n0: int) -> Steps[Place | None]:
    """[H2, H3] Bounds about an atom at home; ``None``: it is none."""
    atom = yield from look_elsewhere(here, schedule, home, n0)
    if atom.way == "none":
        return None
    if atom.way == "range":
        return Place("range", schedule, home.point, remark=atom.remark)
    bounds = yield from find_bounds(here, atom.cells, atom.schedule, home.point, exact=True)
    if bounds.collapsed(here.lattice):
        return Place("range", atom.schedule, remark=APART)
    if bounds.hi - bounds.lo >= _NEARLY_ALL * here.lattice.width:
        return Place("range", atom.schedule)
    return Place("bounds", atom.schedule, home.point, bounds)


def _shape(
    here: Setting, records: RecordSummary, schedule: Schedule, centre: int, n0: int
) -> Steps[tuple[Schedule, tuple[float, int] | None]]:
    """[M3] Adapt the schedule to the tail, seen through a fresh subsample.

    The outer radius is returned too, if it is one, with the records that were to be outside.
    """
    level = subsample_level(n0)
    ranks = Ranks.of(n0 * float(here.purse.scale))
    grid = RadiusGrid.between(
        max(1, abs(centre) >> schedule.bits), reach_from(here.lattice, centre), per_octave=4
    )
    law = here.purse.ranks(
        records,
        centre,
        grid,
        targets=(round(ranks.inner * n0) >> level, round(ranks.outer * n0) >> level),
        tilts=(INNER_TILT, OUTER_TILT),
        level=level,
        share=schedule.shape,
    )

    def words(drawn: tuple[int, ...]) -> str:
        inner, outer = (here.lattice.words(grid.radii[each]) for each in drawn)
        return f"radii {inner} and {outer} around the centre, at two ranks"

    inner, outer = yield from draw("shape", law, words)
    seen = (ranks.outer * n0, grid.radii[outer]) if outer else None
    return schedule.for_tail(tail_weight(grid.radii[inner], grid.radii[outer], ranks)), seen
