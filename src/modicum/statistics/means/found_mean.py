"""The mean of a column, in a range that is given or in none.

[window.1] window  where the values are: ranges/window.py;
[window.4] few     the mean between the ends of the window, with all that is left;
[window.5] some    a rough mean within it, a radius about that, and the sum of what is within;
[window.6] many    a private median, the shape of the tail, a radius on each side of it, and the
                   rough mean and the sum of [mean.7] and [mean.8];
[window.7] rings   how many records are near the bounds: the interval allows for what is beyond.

docs/research/proofs/window.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import OK, Status, at_an_end
from modicum.runtime.steps import Steps, draw, read, read_both
from modicum.statistics.means.mean_error import MeanErrorModel
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.bounded_mean import BoundedErrorModel, mean_between, mean_in_range
from modicum.statistics.ranges.bounds import Bounds, Rough, Setting
from modicum.statistics.ranges.population import Squares, draw_squares
from modicum.statistics.ranges.split import (
    Schedule,
    expected_records,
    first_reduction,
    mean_schedule,
)
from modicum.statistics.ranges.window import Found, find_window
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.error_law import DiscretePart, ErrorLaw, Reach
from modicum.statistics.tails.outside import ALLOWS, BEYOND, HEAVY, UNCHECKED, Clipped, NoisyTerm
from modicum.statistics.tails.rings import (
    NOT_COUNTED,
    RINGS,
    Rings,
    draw_rings,
    not_counted,
    ring_bins,
    usual_index,
)
from modicum.stored.codec import storable
from modicum.summaries.cells import Cells
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.sums import BinCounts, BinSummary, ClippedSum

AT_END = Status(
    "clipped",
    "some values lie a million times further out than the others, and count as nearer: give "
    "`within`, a public range, or spend more",
)


@dataclass(frozen=True, slots=True)
class FoundMeanTuning:
    """How the budget is divided after a window. Strengths are in units of the noise's scale.

    Chosen on made-up shapes and on half of the public tables: `python -m benchmarks records`. None
    affects privacy.
    """

    few: float = 120.0
    """Records other than 0, per unit of noise, below which the window's ends are the bounds."""
    many: float = 1500.0
    """From so many on there is a centre, and a radius on each side of it."""
    checked: float = 2500.0
    """Of fewer records the numbers near the bounds do not tell whether a few lie far beyond."""
    rough: tuple[float, float] = (0.06, 1000.0)
    """Strength of a rough mean of some records; from so many on it falls by the fourth root."""
    radius: tuple[float, float] = (0.13, 3.2)
    """Strength of one radius, and the power of its prior."""
    radii: tuple[float, float] = (0.2, 3.5)
    """The same of a radius on each side, where no shape of the tail was seen."""
    inside: tuple[int, int] = (6, 2)
    """Octaves within the window at which radii begin, and about the origin."""
    shape: int = 7
    """The same for the shape of the tail; 0 if it is not drawn."""
    ankle: int = 0
    """Octaves beyond the window from which on the prior of radii is r^-1; 0: nowhere."""
    widening: float = 0.04
    """A drawn radius is longer by e to this power."""
    centre: tuple[float, int, int] = (0.004, 5, 17)
    """Least strength of the median, bits of a place within the window, bits to outweigh."""


FOUND_MEAN = FoundMeanTuning()
# [mean.2] Of groups far away that shall be kept: priors that fewer records outweigh.
KEPT = FoundMeanTuning(radius=(0.25, 2.0), radii=(0.25, 2.0), shape=0, ankle=8)


class Bounded(NamedTuple):
    """Bounds about a centre, a rough mean within them, and a number of records."""

    centre: int
    bounds: Bounds
    rough: Rough

    @property
    def radii(self) -> tuple[int, int]:
        return self.centre - self.bounds.lo, self.bounds.hi - self.centre

    @property
    def bins(self) -> BinCounts:
        """What is read near the bounds."""
        return ring_bins(self.centre, self.radii)


def mean_in_window(
    here: Setting, found: Found, *, keep: bool = False, population: bool = False
) -> Steps[ScalarEstimate]:
    """Estimate the mean of records whose window was found.

    ``keep``: groups far away too; ``population``: an interval for that is wanted.
    """
    others, tuning = expected_records(here.split, found.others), KEPT if keep else FOUND_MEAN
    if found.window is None:
        if not found.status.ok or others < RINGS.begin:
            return (yield from _over_the_range(here, found, population=population))
        bounded = yield from _about_the_range(here, found)
    elif others < tuning.few:
        return (yield from _between_the_ends(here, found, population=population))
    elif others < tuning.many:
        bounded = yield from about_a_rough_mean(here, found, tuning)
    else:
        bounded = yield from about_a_median(here, found, tuning)
    return (yield from _deviations(here, found, bounded, population=population))


def _squares(
    here: Setting, found: Found, lo: int, hi: int, *, population: bool
) -> Steps[Squares | None]:
    """[population.1] Those of values clipped to bounds, if a population is asked about."""
    if not population:
        return None
    return (yield from draw_squares(here, lo, hi, found.count))


def _over_the_range(here: Setting, found: Found, *, population: bool) -> Steps[ScalarEstimate]:
    """[mean.9] The mean over a given range, with all that is left."""
    first, last = here.lattice.first, here.lattice.last
    squares = yield from _squares(here, found, first, last, population=population)
    model = replace((yield from mean_in_range(here, found.home)), squares=squares)
    status = (found.among_zeros(model) or found.status) if model.status.ok else model.status
    return ScalarEstimate(model.value, model, status)


def _about_the_range(here: Setting, found: Found) -> Steps[Bounded]:
    """[mean.9] A rough mean in a given range that is hardly wider than what holds the records."""
    ends = Bounds.of_range(here.lattice)
    schedule = mean_schedule(here.lattice, here.split, found.count, "clip", shape=False)
    rough = yield from bounds.rough_mean(here, ends, schedule, found.counted)
    return Bounded(found.centre, ends, rough)


def _between_the_ends(here: Setting, found: Found, *, population: bool) -> Steps[ScalarEstimate]:
    """[window.4] The mean of records clipped to the window, with all that is left."""
    (lo, hi), step = found.ends, found.lattice.step
    squares = yield from _squares(here, found, lo, hi, population=population)
    ends = Lattice(lo * step, hi * step, step)
    clipped = yield from read(here.ask(ClippedSum(lo, hi)))
    within = yield from mean_between(here, ends, clipped.total, clipped.count)
    model = WindowMeanErrorModel(
        ends,
        within.left,
        within.right,
        within.noise,
        squares=squares,
        rings=not_counted(here.split),
        given=found.lattice if found.given else None,
    )
    status = UNCHECKED if found.status.ok else found.status
    return ScalarEstimate(model.value, model, status, found.lattice)


def rough_mean_in_window(
    here: Setting, found: Found, tuning: FoundMeanTuning
) -> Steps[tuple[int, NoisyTerm]]:
    """[window.5] A rough mean of the records clipped to the window, with its noise."""
    split, lattice, (lo, hi) = here.split, here.lattice, found.ends
    most, begin = tuning.rough
    strength = most * min(1.0, begin / expected_records(split, found.others)) ** 0.25
    clipped = yield from read(here.ask(ClippedSum(lo, hi)))
    deviations = clipped.total - found.centre * clipped.count
    share = split.share(split.part_for(strength, "noise"))
    mechanism = split.spend(add_noise((deviations,), share, sensitivity=found.radius))

    def centre_of(total: int) -> int:
        shift = min(max(round(total / found.counted.value), -found.radius), found.radius)
        return found.centre + shift

    (noisy,) = yield from draw(
        "rough mean in the window", mechanism, lambda drawn: lattice.words(centre_of(drawn[0]))
    )
    return centre_of(noisy), NoisyTerm(mechanism.noise[0], 1 / float(found.counted.value))


def about_a_rough_mean(here: Setting, found: Found, tuning: FoundMeanTuning) -> Steps[Bounded]:
    """[window.5] A rough mean of the records clipped to the window, and one radius about it."""
    lattice = here.lattice
    centre, noise = yield from rough_mean_in_window(here, found, tuning)
    schedule = radius_schedule(here, found, tuning.radius, tuning.ankle)
    inside = tuning.inside[found.place < 2]
    grid, tilt = schedule.candidates(
        max(1, found.radius >> inside), bounds.reach_from(lattice, centre)
    )
    cells = yield from read(here.ask(Cells(centre, grid.radii)))
    above = cells.above_many([centre + radius for radius in grid.radii])
    below = cells.below_many([centre - radius for radius in grid.radii])
    beyond = tuple(map(sum, zip(above, below, strict=True)))
    (drawn,), outside = yield from bounds.draw_radii(
        here, (beyond,), grid, tilt, schedule, "radius"
    )
    radius = max(math.ceil(grid.radii[drawn] * math.exp(tuning.widening)), 1)
    around = Bounds.about(centre, replace(outside, radii=(radius, radius)), 0, lattice)
    return Bounded(centre, around, Rough(centre, found.counted, noise))


def radius_schedule(
    here: Setting, found: Found, radii: tuple[float, float], ankle: int
) -> Schedule:
    """Return that of radii with a strength and a power of the prior, r^-1 beyond an ankle."""
    strength, power = radii
    share = here.split.part_for(strength, "range")
    plain = mean_schedule(here.lattice, here.split, found.count, "clip", shape=True)
    schedule = replace(plain.plain(share, Fraction(power).limit_denominator(64)), per_octave=4)
    return replace(schedule, knee=1, ankle=found.radius << ankle) if ankle else schedule


def about_a_median(here: Setting, found: Found, tuning: FoundMeanTuning) -> Steps[Bounded]:
    """[window.6] A median, the shape of the tail, radii on both sides, a rough mean."""
    split, lattice, n0 = here.split, here.lattice, found.count
    schedule = mean_schedule(lattice, split, n0, "clip", shape=True)
    first = first_reduction(lattice, split, "clip", shape=True)
    if found.records is None:
        summary, records = yield from read_both(here.ask(first), here.ask(Records(subsamples=2)))
    else:
        summary, records = (yield from read(here.ask(first))), found.records
    centre = yield from median_in_window(here, found, records, tuning)
    seen = None
    if tuning.shape and schedule.shape and 2 * found.others > n0:  # else zeros seem to be a tail
        schedule, seen = yield from bounds.look_at_tail(
            here, records, schedule, centre, n0, max(1, found.radius >> tuning.shape)
        )
    if not schedule.turn:
        plain = radius_schedule(here, found, tuning.radii, tuning.ankle)
        schedule = replace(plain, rough=schedule.rough)
    least = max(1, found.radius >> tuning.inside[0])
    around = yield from bounds.find_bounds(here, summary.tails, schedule, centre, least=least)
    # Of a shape that is none nothing follows, nor of one further in than bounds can be.
    seen = seen if seen and seen[1] > least else found.beyond_of(centre)
    around = replace(around, outside=replace(around.outside, seen=seen))
    if around.lo == around.hi:
        around = Bounds.about(centre, replace(around.outside, radii=(1, 1)), 0, lattice)
    rough = yield from bounds.rough_mean(here, around, schedule, found.counted)
    return Bounded(centre, around, rough)


def median_in_window(
    here: Setting, found: Found, records: RecordSummary, tuning: FoundMeanTuning
) -> Steps[int]:
    """[window.6] A private median, not far from the window."""
    least, bits, needed = tuning.centre
    bits += found.place.bit_length()
    nats = math.log(2) * (bits + needed)
    strength = max(least, 4 * nats / expected_records(here.split, found.count))
    share = here.split.part_for(strength, "subsample")
    centre = yield from bounds.find_centre(here, records, found.count, share=share, bits=bits)
    return min(max(centre, found.ends[0] - found.radius), found.ends[1] + found.radius)


def bounds_in_window(here: Setting) -> Steps[tuple[int, Bounds] | None]:
    """[window.5], [window.6] A centre and bounds about it, if there is a window."""
    found = yield from find_window(here)
    others = expected_records(here.split, found.others)
    if found.window is None or not found.status.ok:
        return None
    centre, around = found.centre, ends_of(here, found)
    if others >= FOUND_MEAN.few:
        about = about_a_rough_mean if others < FOUND_MEAN.many else about_a_median
        centre, around, _ = yield from about(here, found, FOUND_MEAN)
    return centre, around


def ends_of(here: Setting, found: Found) -> Bounds:
    """Return the ends of a window as bounds."""
    outside = replace(Bounds.of_range(here.lattice).outside, radii=(found.radius, found.radius))
    return Bounds.about(found.centre, outside, 0, here.lattice)


def near_the_bounds(
    split: BudgetSplit, found: Found, bins: BinSummary, centre: int, radii: tuple[int, int]
) -> Steps[Rings]:
    """[window.7] Counts near the bounds, if records may be beyond, and are not too few for them."""
    first, last = found.lattice.first, found.lattice.last
    everything = centre - radii[0] <= first and last <= centre + radii[1]
    few = expected_records(split, found.count) < RINGS.begin
    if few or (found.given and everything) or split.left < RINGS.left * split.total:
        return not_counted(split)
    return (yield from draw_rings(split, bins, centre, radii, found.count))


def _deviations(
    here: Setting, found: Found, bounded: Bounded, *, population: bool
) -> Steps[ScalarEstimate]:
    """[mean.8] The sum of deviations."""
    split, lattice, (lo, hi) = here.split, here.lattice, (bounded.bounds.lo, bounded.bounds.hi)
    squares = yield from _squares(here, found, lo, hi, population=population)
    rough = bounded.rough.value
    reach = max(hi - rough, rough - lo, 1)
    bins, clipped = yield from read_both(here.ask(bounded.bins), here.ask(ClippedSum(lo, hi)))
    rings = yield from near_the_bounds(split, found, bins, bounded.centre, bounded.radii)
    deviation = clipped.total - rough * clipped.count
    final = split.spend(add_to_one(deviation, split.rest(), sensitivity=reach))
    (noisy,) = yield from draw(
        "deviations from the rough mean", final, lambda drawn: lattice.words(drawn[0])
    )
    model = FoundMeanErrorModel(
        lattice,
        lo,
        hi,
        rough,
        noisy,
        bounded.rough.counted,
        NoisyTerm(final.noise[0], 1.0),
        bounded.bounds.outside,
        squares,
        centre=bounded.centre,
        rings=rings,
        given=found.given,
    )
    status = model.status_of(found.status)
    if found.given and status.ok:
        status = at_an_end(lattice, *model.interval(0.95, None))
    return ScalarEstimate(model.value, model, status, lattice)


class Near(Clipped):
    """What is said of clipped values of which counts near the bounds were drawn."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def centre(self) -> int: ...

        @property
        def rings(self) -> Rings: ...

        @property
        def given(self) -> bool: ...

    def tail_index(self, level: float) -> float:
        """The index that the allowances are calibrated for."""
        return usual_index(self.order)

    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold too little: whether records are seen says the status."""
        return False

    def missing(self, side: int, tail: float, order: int | None = None) -> float:
        """What clipping may take off the sum of a power on a side: nothing at a true end."""
        if self._ends[side]:
            return 0.0
        order = order or self.order
        radius = max((self.centre - self.lo, self.hi - self.centre)[side], 1)
        return self.rings.excess(side, tail, order) * float(radius) ** order

    def status_of(self, otherwise: Status) -> Status:
        """Whether it can be used; ``otherwise`` is whether the window was confirmed."""
        if not otherwise.ok or all(self._ends):
            return otherwise
        if self.ended != self._ends:
            return AT_END
        if not self._checked:
            return UNCHECKED
        if self.rings.group:
            return BEYOND.filled(records=self.rings.group)
        typical = self.least_index(0.5 / self.order**2)  # large squares decide more
        heavy = typical is not None and typical < tail_index.surely_enough(self.order)
        return HEAVY if heavy or self.rings.least else OK

    def side_bound(self, alpha: float, tail: float, side: int, centre: int = 0) -> float:
        return self.noise.bound(2 * alpha) + self.missing(side, tail)

    @property
    def _ends(self) -> tuple[bool, bool]:
        """The sides beyond which there is nothing: at a given end, or at 0."""
        lower, upper = self.ended
        return lower and (self.given or not self.lo), upper and (self.given or not self.hi)

    @property
    def _checked(self) -> bool:
        """Whether there are records enough for their numbers near the bounds to tell."""
        many = float(self.counted.value) * self.rings.scale >= FOUND_MEAN.checked
        return many and bool(self.rings.counts)

    @property
    def condition(self) -> str:
        return ALLOWS if self._checked else f"{ALLOWS}, unchecked"

    def tail_in_words(self, tail: float) -> str:
        return self.rings.in_words(tail, self.order)


@storable
@dataclass(frozen=True, slots=True)
class FoundMeanErrorModel(Near, MeanErrorModel):
    """A mean about a rough mean, whose interval allows for what is clipped by counts near bounds.

    The bounds are radii about the ``centre``. Beyond that of a side a number of its radii, in
    ``rings``, may be missing from the sum. ``given``: the range of the lattice is.
    """

    centre: int = 0
    rings: Rings = NOT_COUNTED
    given: bool = False

    def _clipped(self, side: int, tail: float, unit: float) -> DiscretePart:
        return DiscretePart.of(self.missing(side, tail) * unit)


@storable
@dataclass(frozen=True, slots=True)
class WindowMeanErrorModel(BoundedErrorModel):
    """A mean of values clipped to a window, whose interval allows for some beyond it."""

    rings: Rings = NOT_COUNTED
    given: Lattice | None = None

    @property
    def clip(self) -> list[float]:
        """The ends of the window."""
        return [self.lattice.lo, self.lattice.hi]

    def _missing(self, tail: float) -> tuple[float, float]:
        """What clipping may take off the mean on both sides: nothing at a given end."""
        radius = self.lattice.width / 2
        most = self.rings.excess(0, tail) * radius / max(self.count, 1.0) * self.lattice.step
        lo, hi = (self.given.lo, self.given.hi) if self.given else (-math.inf, math.inf)
        return most * (self.lattice.lo > lo), most * (self.lattice.hi < hi)

    def interval(self, level: float, tail: float | None) -> Interval:
        lower, upper = BoundedErrorModel.interval(self, level, None)
        if tail is None:
            return Interval(lower, upper)
        below, above = self._missing(tail)
        lo, hi = (self.given.lo, self.given.hi) if self.given else (-math.inf, math.inf)
        return Interval(max(lower - below, lo), min(upper + above, hi))

    def error_law(self, alpha: float, tail: float | None, *, population: bool) -> ErrorLaw | None:
        law = BoundedErrorModel.error_law(self, alpha, tail, population=population)
        if law is None or tail is None:
            return law
        below, above = (Reach((), each) for each in self._missing(tail))
        return law._replace(
            below=law.below.plus(below), above=law.above.plus(above), ends=(-math.inf, math.inf)
        )

    @property
    def condition(self) -> str:
        return f"{ALLOWS}, unchecked"

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return "interval(tail=None) covers all noise, and is for values clipped to the window."
        return self.rings.in_words(tail)
