"""What follows from a count of the records outside of drawn bounds: [mean.6], [mean.10], [mean.13].

Bounds are drawn again for a group far away, or reach home. The steps themselves are in bounds.py
and far_group.py; docs/research/proofs/mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, read
from modicum.statistics.ranges import far_group
from modicum.statistics.ranges.bounds import (
    Bounds,
    Setting,
    affordable,
    count_outside,
    count_some,
    find_bounds,
)
from modicum.statistics.ranges.split import (
    LEAST_FOR_COUNTS,
    Schedule,
    expected_records,
)
from modicum.statistics.tails.outside import (
    Outside,
    home_of,
)
from modicum.summaries.cells import Cells

# Bounds so much closer together than home is far are tight.
_FAR = 100
# Of the releases without a group at home as many gain so much by bounds that reach home, for a tail
# and for the noise of the count, of few records and of those whose shape was looked at.
_TAIL, _NOISE = 0.05, (0.02, 2e-3)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found: bounds, or a single value."""

    way: Literal["bounds", "single"]
    schedule: Schedule
    centre: int | None = None
    bounds: Bounds | None = None
    status: Status = OK


def count_again(here: Setting, place: SearchResult, n0: int) -> Steps[SearchResult]:
    """[mean.6], [mean.10] The records outside of the bounds; if they are no tail, wider bounds.

    A first count that a tail hardly explains is drawn again, more closely. Bounds that
    reach home, or radii that are drawn again, follow where that count is no tail's either.
    """
    bounds, split = place.bounds, here.split
    if bounds is None or bounds.all_of(here.lattice):
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
    """[mean.13] Count the records that do not have the one value of the others: are they at home.

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
    """[mean.13] Bounds that reach home, if they hold most of what was counted ``outside``."""
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
    """[mean.10] Bounds that reach what was counted ``outside``, and a count outside of those."""
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
    )
    return replace(place, bounds=replace(bounds, outside=counted))
