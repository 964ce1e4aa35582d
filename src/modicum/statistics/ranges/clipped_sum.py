"""The adaptive sum: clip at a private radius around zero, add noise on that scale.

[sum.1]  count   a noisy count drives the schedule;
[mean.2] home    how far is half of the data from zero? Mostly zeros: [mean.3], [mean.4] of
                 bounds.py;
[sum.2]  radius  the least C with few records larger than C in size, and how many those are;
[sum.4]  final   the sum of values clipped to [-C, C], with most of the budget.

Where a radius cannot be found, or would save nothing, [sum.4] is over the whole range.

A sum moves by the size of one record, so zero is the only useful centre. The mean is not this
sum over a count: far from zero the sum needs noise on the scale of the values, the mean does not.
The error model holds released quantities and public noise distributions only. The proofs are in
docs/research/proofs/sum.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info
from typing import Literal

from modicum.exact.lattice import Lattice
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import OK, Status, alike, unseen
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics.ranges import bounds, far_group
from modicum.statistics.ranges.split import (
    LEAST_FOR_BOUNDS,
    LEAST_FOR_COUNTS,
    ClusterOption,
    Clusters,
    Schedule,
    count_share,
    expected_records,
    first_reduction,
    sum_schedule,
)
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    APART,
    FEW,
    NOISE_OF_EVIDENCE,
    TOO_LITTLE,
    Clipped,
    Counted,
    NoisyTerm,
    Outside,
    Redrawn,
    SizedByBounds,
    home_of,
    mean_size,
)
from modicum.stored.codec import storable
from modicum.summaries import base, subsample, sums, synthetic
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.tails import TailSummary

LAST_DRAW = "clipped sum"
"""Name of the draw that answers; all before it look for bounds."""

_SMALL = 4  # times smaller than the range a radius of few records has to be
_NEAR = 4  # if half of the values reach a quarter of the range, a radius saves less than it costs


@dataclass(frozen=True, slots=True)
class _Place:
    """What the search found: a radius is to be drawn, or the sum is over the whole range.

    About half of the records exceed the size ``half``, if it is not 0, and so many ``seen`` another
    one, if the shape of the tail was looked at. ``atom`` is what is known of the records that are
    not at home.
    """

    way: Literal["radius", "range"]
    schedule: Schedule
    half: tuple[float, int] | None = None
    seen: tuple[float, int] | None = None
    atom: bounds.Atom | None = None
    status: Status = OK


def adaptive_sum(
    column: str | None,
    lattice: Lattice,
    event: Event,
    options: ClusterOption,
    rule: base.RecordRule,
) -> Steps[ScalarEstimate]:
    """Estimate the sum of the records of persons, by a rule."""
    here = bounds.Setting(column, lattice, BudgetSplit(event), rule=rule)
    return sum_within(here, options.clusters)


def sum_within(here: bounds.Setting, clusters: Clusters) -> Steps[ScalarEstimate]:
    """Estimate the sum of the records of a setting."""
    lattice, split = here.lattice, here.split
    first = first_reduction(lattice, split, clusters, shape=True)
    summary, records = yield from read_both(
        here.ask(first), here.ask(subsample.Records(subsamples=2))
    )
    tails = summary.tails
    n0, counted = yield from counted_rows(here, summary.count)
    if here.counts and expected_records(split, n0) < LEAST_FOR_BOUNDS:
        place = _Place("radius", sum_schedule(lattice, split, n0, clusters))
        return (yield from _by_radius(here, tails, place, n0, counted))
    if expected_records(split, n0) < LEAST_FOR_BOUNDS:
        # Few rows, or no numbers at all: that is worth a better count.
        n0, noise = yield from bounds.count_some(here, summary.count, 0.25, "count, again")
        return (yield from sum_over_the_range(here, n0, NoisyTerm(noise, 1.0), FEW))
    place = yield from _search(here, records, n0, clusters)
    if place.way == "range":
        return (yield from sum_over_the_range(here, n0, counted, place.status, place.atom))
    return (yield from _by_radius(here, tails, place, n0, counted))


def _by_radius(
    here: bounds.Setting, tails: TailSummary | None, place: _Place, n0: int, counted: NoisyTerm
) -> Steps[ScalarEstimate]:
    """[sum.2], [sum.4] The sum within a radius, or over the range if a radius is worth nothing."""
    split = here.split
    outside, elsewhere = yield from _radius(here, tails, place)
    radius = outside.radii[0]
    # A radius that half of the records exceed was released before: so small are they.
    vouched = place.half is not None and radius >= place.half[1]
    if radius <= here.width >> bounds.COLLAPSED_BITS and not (here.counts or vouched):
        status = FEW
        if place.atom is not None:
            status = (yield from bounds.hidden_by_step(here, place.schedule, 0, n0)) or APART
        return (yield from sum_over_the_range(here, n0, counted, status))
    if expected_records(split, n0) > LEAST_FOR_COUNTS:
        looked = yield from far_group.count_twice(here, place.schedule, outside, elsewhere, n0)
        outside = looked.outside
        if looked.group:
            outside = yield from far_group.radius_for_group(here, place.schedule, looked)
            radius = outside.radii[0]
        # Fewer than half of the records are within, or nobody is outside: it was an empty stretch.
        if place.half and radius < place.half[1] and outside.excess(0.05) and not here.counts:
            return (yield from sum_over_the_range(here, n0, counted, APART))
    elif (
        _SMALL * radius >= outside.widest and not here.counts
    ):  # so few records could hardly vouch for a radius
        return (yield from sum_over_the_range(here, n0, counted, OK))
    others = max(n0, 1) if place.atom is None else place.atom.found
    outside = replace(outside, half=place.half, others=float(others))
    error_model = yield from _within(here, outside, n0, counted)
    status = outside.status if here.rule else OK
    return ScalarEstimate(error_model.value, error_model, error_model.judged(n0, status))


def counted_rows(here: bounds.Setting, rows: int) -> Steps[tuple[int, NoisyTerm]]:
    """[sum.1] A noisy number of rows, and its noise."""
    share = here.split.share(count_share(here.split))
    n0, noise = yield from draw_count(here.split, rows, share)
    return n0, NoisyTerm(noise, 1.0)


def _search(
    here: bounds.Setting, records: subsample.RecordSummary, n0: int, clusters: Clusters
) -> Steps[_Place]:
    """[mean.2] to [mean.4]: how far half of the data are from zero, or what is beside the zeros."""
    lattice, split = here.lattice, here.split
    reach = bounds.reach_from(lattice, 0)
    schedule = sum_schedule(lattice, split, n0, clusters)
    if reach <= _NEAR * abs(home_of(lattice)):
        return _Place("range", schedule)
    if expected_records(split, n0) <= LEAST_FOR_COUNTS:
        return _Place("radius", schedule)
    home = yield from bounds.find_home(here, records, n0)
    if home.radius == 0:
        atom = yield from bounds.look_elsewhere(here, schedule, home, n0)
        hidden = None
        if atom.way == "range":
            hidden = yield from bounds.hidden_by_step(here, schedule, home.point, n0)
        ways: dict[bounds.Way, _Place] = {
            "none": _Place("radius", schedule),
            "range": _Place("range", schedule, atom=atom, status=hidden or atom.status),
            "radii": _Place("radius", atom.schedule, atom=atom),
        }
        return ways[atom.way]
    furthest = abs(home.point) + home.radius
    if reach <= _NEAR * furthest and (yield from _reaches(here, furthest >> 2, n0)):
        return _Place("range", schedule)
    half = (home.part(n0), furthest)
    if not schedule.shape:
        return _Place("radius", schedule, half)
    schedule, seen = yield from bounds.look_at_tail(here, records, schedule, 0, n0)
    return _Place("radius", schedule, half, seen)


def _reaches(here: bounds.Setting, size: int, n0: int) -> Steps[bool]:
    """Whether a fifth of the records exceed a size, as far as a noisy count tells.

    Of data that all lie between two candidates of [mean.2] any wider one is as good.
    """
    cells = yield from read(here.ask(Cells(0, (size,))))
    strength = max(0.01, 30 / expected_records(here.split, n0))
    (larger,) = cells.magnitude_above_many((size,))
    label = f"records larger than {here.lattice.words(size)}"
    found, _ = yield from bounds.count_some(here, larger, strength, label)
    return found > n0 / 5


def _radius(
    here: bounds.Setting, tails: TailSummary | None, place: _Place
) -> Steps[tuple[Outside, int]]:
    """[sum.2], [sum.3] What the radius says of the records beyond it, and their number.

    That number is not released.
    """
    reach = bounds.reach_from(here.lattice, 0)
    sizes: TailSummary | CellSummary
    if place.atom is not None and place.atom.cells.centre == 0:
        sizes = place.atom.cells
    elif tails is not None:
        sizes = tails
    else:
        sizes = yield from far_group.sizes_for(here, place.schedule)
    seen = place.seen or place.half
    least = here.lattice.floor
    return (yield from bounds.find_radius(here, sizes, place.schedule, reach, seen, least=least))


def sum_over_the_range(
    here: bounds.Setting,
    n0: int,
    counted: NoisyTerm,
    status: Status,
    atom: bounds.Atom | None = None,
) -> Steps[ScalarEstimate]:
    """The sum over the whole range, with all that is left."""
    home = None if atom is None else atom.cells.centre
    error_model = replace((yield from _within(here, None, n0, counted)), home=home)
    if status.ok and home is not None:
        ends, equal = error_model.interval(0.95, None), error_model.at_home
        status = alike(here.lattice, float(error_model.value), ends, equal=equal)
    terms = error_model.counted
    lost = unseen(float(terms.value), terms.bound(0.1))
    return ScalarEstimate(error_model.value, error_model, TOO_LITTLE if lost else status)


def _within(
    here: bounds.Setting, outside: Outside | None, n0: int, counted: NoisyTerm
) -> Steps[SumErrorModel]:
    """[sum.4] The sum of clipped values, with all that is left."""
    lattice = here.lattice
    radius = bounds.reach_from(lattice, 0)
    if outside is not None:
        radius = max(outside.reach_of(0), int(here.counts))
    # A range on one side of zero cuts the other bound at its end nearest to zero.
    lo = min(max(-radius, lattice.first), lattice.last)
    hi = max(min(radius, lattice.last), lattice.first)
    clipped = yield from read(here.ask(sums.ClippedSum(lo, hi)))
    reach = max(abs(lo), abs(hi))
    final = here.split.spend(
        add_to_one(clipped.total, here.split.rest(), sensitivity=max(reach, 1))
    )
    (noisy,) = yield from draw(LAST_DRAW, final, lambda drawn: lattice.words(drawn[0]))
    noise = NoisyTerm(final.noise[0], 1.0)
    return SumErrorModel(lattice, lo, hi, noisy, noise, n0, counted, outside)


@storable
@dataclass(frozen=True, slots=True)
class SumErrorModel(Clipped, SizedByBounds):
    """A noisy clipped sum (all in lattice steps).

    ``noisy`` is the sum of values clipped to [lo, hi] with its ``noise``; the noisy count is for
    the rounding of the records to the lattice. ``outside`` is what the radius draw implies about
    clipped records, if anything was clipped. ``home`` is a public point that most records have: if
    noise may explain the others, all have it. ``whole``: the records are on the lattice, and not
    rounded to it.
    """

    noisy: int
    noise: NoisyTerm
    count: int
    count_noise: NoisyTerm
    outside: Outside | None
    home: int | None = None
    whole: bool = False

    @property
    def counted(self) -> Counted:
        return Counted(Fraction(self.count), (self.count_noise,))

    def evidence(self) -> tuple[tail_index.Evidence, ...]:
        """Of values on one side of zero the sum tells their mean size too."""
        found = Clipped.evidence(self)
        if self.outside is None or not self.outside.others:
            return found
        total = max(abs(self.noisy) - self.noise.bound(NOISE_OF_EVIDENCE), 0.0)
        return (*found, mean_size(total, self.outside.others, max(self.hi, -self.lo)))

    @property
    def value(self) -> Fraction:
        return self._steps * Fraction(self.lattice.step)

    @property
    def _steps(self) -> int:
        """The sum in steps, or that of as many records at home if noise may explain the rest."""
        return (self.home or 0) * max(self.count, 0) if self.at_home else self.noisy

    @property
    def perhaps_nothing(self) -> bool:
        """Whether noise alone may be the sum."""
        return self.noise.explains(self.noisy)

    @property
    def at_home(self) -> bool:
        """Whether all records may be at home, as far as noise tells."""
        if self.home is None:
            return False
        there = self.home * max(self.count, 0)
        surer = self.noise.explains(abs(self.home) * self.count_noise.variance**0.5)
        return surer and self.noise.explains(self.noisy - there)

    def noise_bound(self, alpha: float) -> float:
        """Return how far the noise moves the sum, but for a probability of alpha."""
        return self.noise.bound(alpha) * self.lattice.step

    def redrawn(self, table: synthetic.SyntheticTable) -> Redrawn:
        clipped = table.clipped_sum(self.lo, self.hi)
        return Redrawn((self.noise.noise,), lambda z: replace(self, noisy=clipped + z).value)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Noise, rounding, and under a tail assumption the clipped records."""
        alpha, first, last = 1 - level, self.lattice.first, self.lattice.last
        most = max(0.0, self.count + self.count_noise.bound(0.1 * alpha))
        if tail is None:
            below = above = self.noise.bound(0.9 * alpha)
        elif self.too_little(alpha):
            return Interval(most * min(self.lattice.lo, 0.0), most * max(self.lattice.hi, 0.0))
        else:
            below, above = (self.side_bound(0.45 * alpha, tail, side) for side in (0, 1))
            # More records outside than any tail explains may be anywhere in the range.
            excess = 0.0 if self.outside is None else self.outside.excess(0.1 * alpha)
            below += excess * (self.lo - first)
            above += excess * (last - self.hi)
        rounded = 0.0 if self.whole else 0.5 * most
        return Interval(
            min(self.noisy - below - rounded, self._steps) * self.lattice.step,
            max(self.noisy + above + rounded, self._steps) * self.lattice.step,
        )

    def assumption(self, tail: float | None) -> str:
        if self.outside is None:
            return "interval() covers the noise and assumes nothing: no value is clipped."
        if tail is None:
            return self.clipped_in_words("sum", "the noise")
        return self.tail_in_words(tail)

    def to_dict(self) -> dict[str, object]:
        return {
            "clip": self.clip,
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
            "clipped_at_most": 0.0 if self.outside is None else self.outside.at_most(0.05),
        }
