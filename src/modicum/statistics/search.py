"""The search for the data of a mean, a variance or a deviation: steps [mean.1] to [mean.9].

It goes from the first count to clipping bounds, or to a single value that all records seem to have,
or to nothing but the range. The steps themselves are in bounds.py; docs/research/proofs/mean.md has
the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

from modicum.mechanisms.grids import RadiusGrid
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw_count, read, read_both
from modicum.statistics.bounds import (
    Bounds,
    Home,
    Setting,
    affordable,
    combined,
    count_outside,
    count_some,
    find_bounds,
    find_centre,
    find_home,
    find_radius,
    is_filled,
    look_at_tail,
    look_elsewhere,
    radii_again,
    reach_from,
)
from modicum.statistics.outside import (
    APART,
    FEW,
    NO_CENTRE,
    Counted,
    NoisyTerm,
    Outside,
    home_of,
)
from modicum.statistics.split import (
    LEAST_FOR_BOUNDS,
    LEAST_FOR_COUNTS,
    MODEST,
    Clusters,
    NearOption,
    Schedule,
    count_share,
    expected_records,
    first_reduction,
    mean_schedule,
)
from modicum.status import OK, Status
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.tails import TailSummary

# Strength of a second count of few records, on which it hangs whether bounds are looked for.
_COUNTED_AGAIN = (1 / 20, 1 / 5)
# Strengths of counts of the records outside, pure and concentrated: at first, and at most.
_LEAST_STRENGTH, _MOST_STRENGTH = (1 / 24, 1 / 10), (1 / 10, 1 / 5)
_CLOSELY = 20.0  # scales of the noise of a second count that the records found are, if it may be
# Of the releases of a tail so many are counted a second time, with its shape seen and without;
# twice as many if bounds are not tight.
_PERHAPS = (0.1, 0.05)
_SURELY = (0.02, 1e-3)  # of those that are counted so are taken for a group, or beside tight bounds
# Bounds so much closer together than home is far are tight, and a count outside of them, or of
# others, has noise of so small a part of few records.
_FAR, _IF_TIGHT, _IF_WIDE = 100, 200.0, 50.0
# Bounds that hold so much of the range are worth no further draws.
_NEARLY_ALL, _TOO_MUCH = Fraction(9, 10), Fraction(6, 10)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What the search found: bounds, a single value, or nothing but the range.

    If only the range is left, ``centre`` is the value that most records have, or None.
    """

    way: Literal["bounds", "single", "range"]
    schedule: Schedule
    centre: int | None = None
    bounds: Bounds | None = None
    status: Status = OK


def locate_data(
    here: Setting,
    clusters: Clusters = "clip",
    *,
    shape: bool,
    filled: bool,
    more: Callable[[BudgetSplit, int], Fraction] | None = None,
    near: NearOption | None = None,
) -> Steps[tuple[int, Counted, TailSummary | None, SearchResult]]:
    """[mean.1] to [mean.9] Count the records, and find where they are, as far as that can be found.

    ``shape``: the shape of the tail is looked at, if there is budget for that [mean.7]; ``filled``:
    the range is a good enough answer for data that fill it [mean.5]; ``more`` returns, by the noisy
    count, the part of the budget that is spent after the search and before the last step, besides
    the rough mean: no repeated look takes it; ``near`` is what is known before. Returned are the
    noisy count as it was drawn, the same as an estimate, the ends of the data if the first pass has
    them (not released), and the place.
    """
    lattice, split = here.lattice, here.split
    first = first_reduction(lattice, split, clusters, shape=shape)
    # Secret subsamples, each for one draw only.
    subsamples = Records(subsamples=3 if shape else 2)
    summary, records = yield from read_both(here.ask(first), here.ask(subsamples))
    share = split.share(count_share(split))
    n0, noise = yield from draw_count(split, summary.count, share)  # [mean.1]
    counted = Counted(Fraction(max(n0, 1)), (NoisyTerm(noise, 1.0),))
    if expected_records(split, n0) < LEAST_FOR_COUNTS:
        strength = _COUNTED_AGAIN[split.concentrated]
        again, noise = yield from count_some(here, summary.count, strength, "count, again")
        second = Counted(Fraction(again), (NoisyTerm(noise, 1.0),))
        counted = combined(counted, second)
        n0 = round(counted.value)
    schedule = mean_schedule(lattice, split, n0, clusters, shape=shape)
    if more is not None:
        schedule = replace(schedule, more=more(split, n0))
    if expected_records(split, n0) < LEAST_FOR_BOUNDS:
        place = SearchResult("range", schedule, status=FEW)
    elif near is not None:
        place = yield from _near(here, summary.tails, records, schedule, n0, near)
    elif not schedule.has_centre:
        place = yield from _among_few(here, summary.tails, schedule, n0)
    else:
        place = yield from _among_many(here, summary.tails, records, schedule, n0, filled=filled)
    place = yield from count_again(here, place, n0)
    return n0, counted, summary.tails, place


def count_again(here: Setting, place: SearchResult, n0: int) -> Steps[SearchResult]:
    """[mean.9], [mean.13] The records outside of the bounds; if they are no tail, wider bounds.

    A first count that a tail hardly explains is drawn again, more closely. Bounds that
    reach home, or radii that are drawn again, follow where that count is no tail's either.
    """
    bounds, split = place.bounds, here.split
    if place.way == "range" or bounds is None or bounds.all_of(here.lattice):
        return place
    if place.way == "single":
        return (yield from _beside_one_value(here, place, bounds))
    tight = bounds.reach(home_of(here.lattice)) > _FAR * (bounds.hi - bounds.lo)
    if expected_records(split, n0) < LEAST_FOR_COUNTS and not tight:
        outside = yield from count_outside(here, bounds.outside, bounds.elsewhere, n0)
        return replace(place, bounds=replace(bounds, outside=outside))
    known = replace(bounds.outside, tight=tight)
    looked = yield from count_twice(here, place.schedule, known, bounds.elsewhere, n0)
    outside = looked.outside
    if outside.twice and outside.excess(0.05):
        wider = yield from _to_home(here, place, outside, looked.second)
        if wider is not None:
            return wider
        if looked.group:
            return (yield from _draw_again(here, place, outside, looked.first))
    return replace(place, bounds=replace(bounds, outside=outside))


class Looked(NamedTuple):
    """[mean.13] The records outside of bounds, counted once or twice, with these strengths."""

    outside: Outside
    first: float
    second: float = 0.0

    @property
    def group(self) -> bool:
        """Whether they are too many for a tail, as far as a second count tells."""
        surely = _SURELY[self.outside.tight]
        return self.outside.twice and self.outside.excess(0.05, rare=surely) > 0


def count_twice(
    here: Setting, schedule: Schedule, outside: Outside, elsewhere: int, n0: int
) -> Steps[Looked]:
    """[mean.9], [mean.13] Count the records outside, again if a tail hardly explains the number."""
    split, tight = here.split, outside.tight
    few = (_IF_TIGHT if tight else _IF_WIDE) / expected_records(split, n0)
    first = max(_LEAST_STRENGTH[split.concentrated], affordable(here, schedule, few))
    outside = yield from count_outside(here, outside, elsewhere, n0, strength=first)
    perhaps = _PERHAPS[outside.seen is None] * (1 if tight else 2)
    if not outside.excess(0.05, rare=perhaps):
        return Looked(outside, first)
    most = 1.0 if tight else _MOST_STRENGTH[split.concentrated]
    second = max(first, min(_CLOSELY / records_found(here, outside), most))
    second = affordable(here, schedule, second)
    return Looked((yield from count_closely(here, outside, elsewhere, second)), first, second)


def _beside_one_value(here: Setting, place: SearchResult, bounds: Bounds) -> Steps[SearchResult]:
    """[mean.16] Count the records that do not have the one value of the others: are they at home.

    Nothing but that value is left to answer, so half of what is left is for the count.
    """
    half = float(here.split.left / here.split.total) / 2
    strength = math.sqrt(2 * half) if here.split.concentrated else half
    label = "records beside a single value"
    found, noise = yield from count_some(here, bounds.elsewhere, strength, label)
    if found <= noise.tail_bound(_SURELY[True]):
        return place
    outside = replace(bounds.outside, counted=found, noise=noise, twice=True)
    wider = yield from _to_home(here, place, outside, affordable(here, place.schedule, strength))
    return place if wider is None else wider


def records_found(here: Setting, outside: Outside) -> float:
    """How many records were counted outside, at least one, in units of the noise."""
    return max(outside.counted or 0, 1) * float(here.split.scale)


def count_closely(
    here: Setting, outside: Outside, elsewhere: int, strength: float
) -> Steps[Outside]:
    """[mean.13] Count the records outside a second time."""
    label = "records outside, again"
    found, noise = yield from count_some(here, elsewhere, strength, label)
    return replace(outside, counted=found, noise=noise, twice=True)


def radius_for_group(
    here: Setting, schedule: Schedule, looked: Looked, label: str = "radius, again"
) -> Steps[Outside]:
    """[sum.2] A radius that reaches the group that was counted, and a count beyond that.

    The first one stays if there is no budget for another.
    """
    first = looked.outside
    again = radii_again(here, schedule, first, records_found(here, first), looked.first)
    if again is None:
        return first
    sizes = yield from sizes_for(here, again)
    reach, least = reach_from(here.lattice, 0), here.lattice.floor
    outside, elsewhere = yield from find_radius(
        here, sizes, again, reach, first.seen, least=least, label=label
    )
    return (yield from count_closely(here, outside, elsewhere, looked.first))


def sizes_for(here: Setting, schedule: Schedule) -> Steps[CellSummary]:
    """The records by size, on the candidates of a schedule."""
    grid = RadiusGrid.between(here.lattice.floor, reach_from(here.lattice, 0), schedule.per_octave)
    return (yield from read(here.ask(Cells(0, grid.radii))))


def _to_home(
    here: Setting, place: SearchResult, outside: Outside, strength: float
) -> Steps[SearchResult | None]:
    """[mean.16] Bounds that reach home, if they hold most of what was counted ``outside``."""
    first, home = place.bounds, home_of(here.lattice)
    assert first is not None
    if first.lo <= home <= first.hi:
        return None
    lo, hi = min(first.lo, home), max(first.hi, home)
    cells = yield from read(here.ask(Cells(lo, (0, hi - lo))))
    beyond = cells.below(lo) + cells.above(hi)
    label = "records outside, home included"
    strength = affordable(here, place.schedule, strength)
    found, noise = yield from count_some(here, beyond, strength, label)
    left = replace(outside, counted=found, noise=noise, tight=False)
    gained = (outside.counted or 0) - found
    tail = outside.usual(_PERHAPS[1]) + noise.tail_bound(_SURELY[False])
    if left.excess(0.05) or gained <= max(found, tail):
        return None
    return replace(place, way="bounds", bounds=Bounds(lo, hi, left, beyond))


def _draw_again(
    here: Setting, place: SearchResult, outside: Outside, strength: float
) -> Steps[SearchResult]:
    """[mean.13] Bounds that reach what was counted ``outside``, and a count outside of those."""
    first, centre = place.bounds, place.centre
    assert first is not None
    assert centre is not None
    schedule = radii_again(here, place.schedule, outside, records_found(here, outside), strength)
    if schedule is None:
        return replace(place, bounds=replace(first, outside=outside))
    exact = centre == home_of(here.lattice)
    label = "radii, again"
    bounds = yield from find_bounds(here, None, schedule, centre, exact=exact, label=label)
    if bounds.single(here.lattice):
        return replace(place, way="single", bounds=bounds)
    if bounds.all_of(here.lattice):
        return replace(place, bounds=bounds)
    counted = yield from count_closely(here, bounds.outside, bounds.elsewhere, strength)
    known = first.outside
    counted = replace(counted, seen=known.seen, half=known.half, others=known.others)
    return replace(place, bounds=replace(bounds, outside=counted))


def _among_many(
    here: Setting,
    tails: TailSummary | None,
    records: RecordSummary,
    schedule: Schedule,
    n0: int,
    *,
    filled: bool,
) -> Steps[SearchResult]:
    """[mean.2] to [mean.8] Where the data are, given a budget for a centre."""
    home = yield from find_home(here, records, n0)
    if home.radius == 0:
        place = yield from _about_an_atom(here, schedule, home, n0)
        if place is not None:
            return place
    elif filled and (yield from is_filled(here, home, n0)):
        return SearchResult("range", schedule)
    centre = yield from find_centre(here, records, n0, share=schedule.centre, bits=schedule.bits)
    seen = None
    if schedule.shape:
        schedule, seen = yield from look_at_tail(here, records, schedule, centre, n0)
    bounds = yield from find_bounds(here, tails, schedule, centre)
    if bounds.single(here.lattice):
        return SearchResult("single", schedule, centre, bounds)
    half = (home.part(n0), home.radius) if home.radius else None
    bounds = replace(bounds, outside=replace(bounds.outside, seen=seen, half=half))
    return SearchResult("bounds", schedule, centre, bounds)


def _near(
    here: Setting,
    tails: TailSummary | None,
    records: RecordSummary,
    schedule: Schedule,
    n0: int,
    near: NearOption,
) -> Steps[SearchResult]:
    """[mean.17] Bounds about a known median, steep about a known distance of half of the data."""
    lattice = here.lattice
    first, centre, third = (
        min(max(round(each / lattice.step), lattice.first), lattice.last)
        for each in (near.first, near.median, near.third)
    )
    home, half_of_all, seen = home_of(lattice), max(n0, 1) / 2, None
    within = half_of_all, max(1, (third - first) // 2)
    if schedule.shape:
        schedule, seen = yield from look_at_tail(here, records, schedule, centre, n0)
    if not schedule.turn:
        ends = lattice.floor, reach_from(lattice, centre)
        schedule = schedule.outweighed((Home.part(n0), within[1]), here.split, *ends, MODEST)
    bounds = yield from find_bounds(here, tails, schedule, centre, exact=True)
    if bounds.single(lattice):
        return SearchResult("single", schedule, centre, bounds)
    known = replace(
        bounds.outside,
        seen=seen or within,
        half=None if first < home < third else (half_of_all, abs(centre - home)),
        half_inside=bounds.lo <= first and third <= bounds.hi,
    )
    return SearchResult("bounds", schedule, centre, replace(bounds, outside=known))


def _among_few(
    here: Setting, tails: TailSummary | None, schedule: Schedule, n0: int
) -> Steps[SearchResult]:
    """Bounds about home; the range, where they hold nothing, or too much to be worth their cost."""
    home = home_of(here.lattice)
    bounds = yield from find_bounds(here, tails, schedule, home, exact=True)
    if bounds.collapsed(here.lattice):
        return SearchResult("range", schedule, status=FEW)
    if bounds.hi - bounds.lo >= _TOO_MUCH * here.lattice.width:
        return SearchResult("range", schedule)
    bounds = replace(bounds, outside=replace(bounds.outside, others=float(max(n0, 1))))
    return SearchResult("bounds", schedule, home, bounds, status=NO_CENTRE)


def _about_an_atom(
    here: Setting, schedule: Schedule, home: Home, n0: int
) -> Steps[SearchResult | None]:
    """[mean.3], [mean.4] Bounds about an atom at home; ``None``: home is not an atom."""
    atom = yield from look_elsewhere(here, schedule, home, n0)
    if atom.way == "none":
        return None
    if atom.way == "range":
        return SearchResult("range", schedule, home.point, status=atom.status)
    bounds = yield from find_bounds(here, atom.cells, atom.schedule, home.point, exact=True)
    if bounds.collapsed(here.lattice):
        return SearchResult("range", atom.schedule, status=APART)
    if bounds.hi - bounds.lo >= _NEARLY_ALL * here.lattice.width:
        return SearchResult("range", atom.schedule)
    bounds = replace(bounds, outside=replace(bounds.outside, others=atom.found))
    return SearchResult("bounds", atom.schedule, home.point, bounds)
