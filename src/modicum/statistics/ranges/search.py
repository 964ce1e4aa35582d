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
from typing import Literal

from modicum.privacy.split import BudgetSplit
from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, draw_count, read, read_both
from modicum.statistics.ranges import far_group
from modicum.statistics.ranges.bounds import (
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
    hidden_by_step,
    is_filled,
    look_at_tail,
    look_elsewhere,
)
from modicum.statistics.ranges.split import (
    LEAST_FOR_BOUNDS,
    LEAST_FOR_COUNTS,
    Clusters,
    Schedule,
    count_share,
    expected_records,
    first_reduction,
    mean_schedule,
)
from modicum.statistics.tails.outside import (
    APART,
    FEW,
    NO_CENTRE,
    Counted,
    NoisyTerm,
    Outside,
    home_of,
)
from modicum.summaries.cells import Cells
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.tails import TailSummary

# Strength of a second count of few records, on which it hangs whether bounds are looked for.
_COUNTED_AGAIN = (1 / 20, 1 / 5)
# Bounds so much closer together than home is far are tight.
_FAR = 100
# Of the releases without a group at home as many gain so much by bounds that reach home, for a tail
# and for the noise of the count, of few records and of those whose shape was looked at.
_TAIL, _NOISE = 0.05, (0.02, 2e-3)
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
) -> Steps[tuple[int, Counted, TailSummary | None, SearchResult]]:
    """[mean.1] to [mean.9] Count the records, and find where they are, as far as that can be found.

    ``shape``: the shape of the tail is looked at, if there is budget for that [mean.7]; ``filled``:
    the range is a good enough answer for data that fill it [mean.5]; ``more`` returns, by the noisy
    count, the part of the budget that is spent after the search and before the last step, besides
    the rough mean: no repeated look takes it. Returned are the
    noisy count as it was drawn, the same as an estimate, the ends of the data if the first pass has
    them (not released), and the place.
    """
    lattice, split = here.lattice, here.split
    first = first_reduction(lattice, split, clusters, shape=shape)
    # Secret subsamples, each for one draw only.
    subsamples = Records(subsamples=3 if shape else 2)
    summary, records = yield from read_both(here.ask(first), here.ask(subsamples))
    share = split.share(count_share(split, lattice))
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
    looked = yield from far_group.count_twice(here, place.schedule, known, bounds.elsewhere, n0)
    outside = looked.outside
    if outside.twice and outside.excess(0.05):
        wider = yield from _to_home(here, place, outside, looked.second)
        if wider is not None:
            return wider
        if looked.group:
            return (yield from _draw_again(here, place, outside))
    return replace(place, bounds=replace(bounds, outside=outside))


def _beside_one_value(here: Setting, place: SearchResult, bounds: Bounds) -> Steps[SearchResult]:
    """[mean.16] Count the records that do not have the one value of the others: are they at home.

    Nothing but that value is left to answer, so half of what is left is for the count.
    """
    half = float(here.split.left / here.split.total) / 2
    strength = math.sqrt(2 * half) if here.split.concentrated else half
    label = "records beside a single value"
    found, noise = yield from count_some(here, bounds.elsewhere, strength, label)
    if found <= noise.tail_bound(far_group.SURELY[True]):
        return place
    outside = replace(bounds.outside, counted=found, noise=noise, twice=True)
    wider = yield from _to_home(here, place, outside, affordable(here, place.schedule, strength))
    return place if wider is None else wider


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
    tail = outside.usual(_TAIL) + noise.tail_bound(_NOISE[place.schedule.shape > 0])
    if left.excess(0.05) or gained <= max(found, tail):
        return None
    return replace(place, way="bounds", bounds=Bounds(lo, hi, left, beyond))


def _draw_again(here: Setting, place: SearchResult, outside: Outside) -> Steps[SearchResult]:
    """[mean.13] Bounds that reach what was counted ``outside``, and a count outside of those."""
    first, centre = place.bounds, place.centre
    assert first is not None
    assert centre is not None
    if far_group.few_of_them(here, outside):
        ends = centre - first.lo, first.hi - centre
        group = yield from far_group.reach_group(here, place.schedule, outside, centre, ends)
        if group is None:
            return replace(place, bounds=replace(first, outside=outside))
        bounds = Bounds.about(centre, *group, here.lattice)
    else:
        schedule = far_group.radii_again(here, place.schedule, outside)
        if schedule is None:
            return replace(place, bounds=replace(first, outside=outside))
        exact = centre == home_of(here.lattice)
        label = "radii, again"
        bounds = yield from find_bounds(here, None, schedule, centre, exact=exact, label=label)
    if bounds.single(here.lattice):
        return replace(place, way="single", bounds=bounds)
    if bounds.all_of(here.lattice):
        return replace(place, bounds=bounds)
    counted = yield from far_group.count_beyond(here, bounds.outside, bounds.elsewhere)
    known = first.outside
    counted = replace(
        counted,
        seen=known.seen,
        half=known.half,
        others=known.others,
        half_inside=known.half_inside,
    )
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
        hidden = yield from hidden_by_step(here, schedule, home.point, n0)
        return SearchResult("range", schedule, home.point, status=hidden or atom.status)
    bounds = yield from find_bounds(here, atom.cells, atom.schedule, home.point, exact=True)
    if bounds.collapsed(here.lattice):
        hidden = yield from hidden_by_step(here, atom.schedule, home.point, n0)
        return SearchResult("range", atom.schedule, status=hidden or APART)
    if bounds.hi - bounds.lo >= _NEARLY_ALL * here.lattice.width:
        return SearchResult("range", atom.schedule)
    bounds = replace(bounds, outside=replace(bounds.outside, others=atom.found))
    return SearchResult("bounds", atom.schedule, home.point, bounds)
