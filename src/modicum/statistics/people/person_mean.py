"""The mean of all rows of persons who have any number of them, each.

With s_i the sum and m_i the number of person i's values, the mean is c + R / M, where M = sum of
m_i, R = sum of r_i, r_i = s_i - c m_i is how far person i is from a centre c, all rows together.
Rows are never dropped: a person's r_i and m_i are clipped, and few persons' are.

[people.3] count    a noisy number of persons drives the schedule;
[people.4] centre   c, a private median of the persons' means;
[people.5] sizes    a number of rows that few persons exceed: M's noise is on that scale;
[people.6] radius   a size of r_i that few persons exceed;
[people.7] rough    M and R, in one draw with little of the budget: c moves to about the mean;
[people.8] final    R about the new centre, with all the rest.

What is left of R is next to nothing, so the noise in M hardly matters.
docs/research/proofs/people.md has the proofs, with the same labels.

Any ratio of two sums is such a mean: of weighted rows m_i is a weight and s_i a value times its
weight. :func:`centred_ratio` has the steps from [people.4] on, for means/ratio.py too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.lattice import WIDEST, Lattice
from modicum.mechanisms import additive, grids, staircase
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import Status
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics.people import person_radii, persons
from modicum.statistics.ranges.bounds import Setting, find_centre
from modicum.statistics.ranges.clipped_sum import SumErrorModel
from modicum.statistics.ranges.split import SIZE_PARTS, ClusterOption
from modicum.statistics.tails.outside import (
    LEAST_OF_SIZES,
    NO_CENTRE,
    TOO_LITTLE,
    NoisyTerm,
    Outside,
)
from modicum.stored.codec import storable
from modicum.summaries import base, subsample, sums
from modicum.summaries.cells import Cells, CellSummary

_COUNT = Fraction(1, 50)
NO_SIZES = Status(
    "few_records",
    "the sum of the weights, or of what is divided by, may be 0 for all that is known: spend more",
)
SIZES_AT_END = Status(
    "clipped", "the weights, or what is divided by, are far larger than half of them: spend more"
)
LARGER_SIZES = Status(
    "clipped",
    "about {records:,} records have far more rows, or far larger weights, than the others: they "
    "may be most of the answer, which leaves them out; spend more",
)
_MOST_UNSURE = 0.5
_FAR = 8  # a centre that moved typical records by more than this part of a radius needs another
_ABOUT = 4  # a radius of a fourth of the range is about as far
_FOR_OTHERS = 256  # times what typical records deviate by: a radius for a few that are far away
_TYPICAL = 3  # sizes that half of the records exceed: a rough total is clipped no nearer


def mean_of_persons(
    wider: int, column: str | None, lattice: Lattice, event: Event, options: ClusterOption
) -> Steps[ScalarEstimate]:
    """Estimate the mean of all rows of persons; parameters as for an adaptive mean.

    A small cluster of rows far from all others makes its persons far from all others, and is
    clipped with them: it cannot be asked to be kept.
    """
    if options.clusters == "keep":
        raise InvalidArgument(
            "clusters='keep' is for a unit of rows: of persons with all their rows, a mean clips "
            "those who are far from all others; give max_rows to unit_of(), or leave it out"
        )
    split = BudgetSplit(event)
    means = Setting(column, lattice, split, rule=base.RecordRule("mean"))
    sizes = Setting(column, persons.SIZES, split, rule=base.RecordRule("count", lattice=lattice))
    grid = grids.RadiusGrid.between(1, persons.SIZES.last, SIZE_PARTS)
    records, cells = yield from read_both(
        means.ask(subsample.Records()), sizes.ask(Cells(0, grid.radii))
    )
    n0, count_noise = yield from draw_count(split, cells.count, split.share(_COUNT))  # [people.3]

    totals = lattice_of_totals(lattice, wider)
    schedule = person_radii.PeopleSchedule.of(split, n0, totals.last, grid.log_width)

    def about(centre: int, _most: int) -> Setting:
        # A centre is no finer than its own grid, nor are deviations from it.
        finest = round(abs(centre) * Fraction(lattice.step) / Fraction(totals.step))
        on = replace(totals, floor=max(1, finest >> schedule.bits if schedule.bits else 1))
        rule = base.RecordRule("sum", lattice=lattice, centre=centre)
        return Setting(column, on, split, rule=rule)

    parts = person_radii.RatioParts(means, sizes, grid, about)
    counted = n0, NoisyTerm(count_noise, 1.0)
    return (yield from centred_ratio(parts, records, cells, schedule, counted))


def lattice_of_totals(lattice: Lattice, wider: int) -> Lattice:
    """The lattice of the deviations of a person's values from a centre, all together."""
    width = min(lattice.hi - lattice.lo, WIDEST)
    deviation = Lattice.within((-width, width))
    return replace(deviation, step=max(deviation.step, lattice.step)).widened(wider)


def centred_ratio(
    parts: person_radii.RatioParts,
    records: subsample.RecordSummary,
    cells: CellSummary,
    schedule: person_radii.PeopleSchedule,
    counted: tuple[int, NoisyTerm],
) -> Steps[ScalarEstimate]:
    """[people.4] to [people.8] Estimate a ratio of sums, given the noisy number of records.

    ``records`` are those of ``parts.means``, ``cells`` the sizes by the radii of ``parts.grid``.
    """
    n0, split, lattice = counted[0], parts.means.split, parts.means.lattice
    centre = yield from find_centre(  # [people.4]
        parts.means, records, n0, share=schedule.centre, bits=schedule.bits
    )
    sizes = yield from person_radii.clipped_size(parts, cells, schedule, n0)
    most = max(1, sizes.reach_of(0))
    together = parts.sizes.counts and schedule.rough > 0
    noisy = None if together else (yield from _sum_of_sizes(parts, schedule, most))  # [people.5]
    here = parts.about(centre, most)
    totals = here.lattice
    outside = yield from person_radii.size_of_deviations(here, schedule, n0, parts.records)
    reach = totals.last if outside is None else max(1, outside.reach_of(0))

    rough = None
    if noisy is None:
        nearer = _nearer(reach, outside)
        noisy, rough = yield from _both_sums(parts, here, most, nearer, 2 * schedule.rough)
    rows = _about_sizes(parts, sizes, noisy, counted)
    if not rows.whole:
        share = split.share(_for_rough(split, rows))
        rough, _ = yield from _total(here, reach, share, "rough total")
    if rough is not None:
        moved = share_of_rows(rough, rows)
        shift = moved * steps_of(lattice, totals, rows)
        centre = min(max(centre + round(shift), lattice.first), lattice.last)
        here = parts.about(centre, most)
        if outside is not None and _far(parts, rows, n0, moved, reach):
            outside = yield from person_radii.radius_again(here, schedule, n0, parts.records)
            reach = totals.last if outside is None else max(1, outside.reach_of(0))
    total = yield from _total(here, reach, split.rest(), "total")  # [people.8]
    final = SumErrorModel(totals, -reach, reach, *total, *counted, outside)
    error_model = RatioErrorModel(lattice, centre, final, rows)
    status = error_model.judged(schedule.centre > 0)
    return ScalarEstimate(error_model.value, error_model, status)


def _nearer(reach: int, outside: Outside | None) -> int:
    """[people.7] Half of a radius, or more if typical records are hardly nearer than that is.

    Where most are at the centre, the others may all be as far as the radius.
    """
    if outside is None or outside.seen is None:
        return reach
    return max(1, reach // 2, min(reach, _TYPICAL * outside.seen[1]))


def _far(
    parts: person_radii.RatioParts, rows: SumErrorModel, n0: int, moved: Fraction, reach: int
) -> bool:
    """[people.15] Whether a centre moved typical records by a good part of the radius about it."""
    typical = parts.half[1] if parts.half else round(sum_of_sizes(rows) / max(n0, 1))
    return _FAR * typical * abs(moved) > reach


def _more_than_noise(total: int, noise: NoisyTerm) -> Fraction:
    """[people.7] What part of a noisy total is worth following: 1 - v / total^2, or nothing.

    A total that is no larger than its noise, of variance v, moves nothing: all data that are one
    value stay there.
    """
    squared, variance = total**2, round(noise.variance)
    return Fraction(squared - variance, squared) if squared > variance else Fraction(0)


def _for_rough(split: BudgetSplit, rows: SumErrorModel) -> Fraction:
    """[ratio.4] The share of a rough total, whose error counts as often as the sizes are unsure.

    With u the relative error of the sum of sizes, noise and clipped part, the last total has the
    noise 1/(1 - f) and the rough one adds u/f, or the roots of both in zCDP.
    """
    outside = rows.outside
    assert outside is not None
    index = max(outside.index() or 3.0, LEAST_OF_SIZES)
    clipped = outside.expected(index) * outside.reach_of(0) / (index - 1)
    unsure = (clipped + math.sqrt(rows.noise.variance)) / max(abs(rows.noisy), 1)
    odds = min(unsure, _MOST_UNSURE) ** (1.0 if split.concentrated else 2 / 3)
    parts = max(1, round(1024 * odds / (1 + odds)))  # of 1024: a share of 0 would buy no noise
    return Fraction(split.left, split.total) * Fraction(parts, 1024)


def steps_of(lattice: Lattice, totals: Lattice, rows: SumErrorModel) -> Fraction:
    """Steps of the lattice of means in a step of totals over one of sizes."""
    return Fraction(totals.step) / (Fraction(lattice.step) * Fraction(rows.lattice.step))


def _sum_of_sizes(
    parts: person_radii.RatioParts, schedule: person_radii.PeopleSchedule, most: int
) -> Steps[tuple[int, NoisyTerm]]:
    """[people.5], [ratio.4] The sum of all sizes, clipped to one that few exceed."""
    sizes, split = parts.sizes, parts.sizes.split
    least = _least_size(parts, most)
    clipped = yield from read(sizes.ask(sums.ClippedSum(least, most)))
    share = split.share(
        split.part_for(person_radii.strength_of_sizes(parts, schedule, most), "noise")
    )
    mechanism = split.spend(additive.add_noise((clipped.total,), share, sensitivity=most))
    (noisy,) = yield from draw(parts.sums, mechanism)
    return noisy, NoisyTerm(mechanism.noise[0], 1.0)


def _least_size(parts: person_radii.RatioParts, most: int) -> int:
    return -most if parts.sizes.lattice.first < 0 else 0


def _both_sums(
    parts: person_radii.RatioParts, here: Setting, most: int, reach: int, part: Fraction
) -> Steps[tuple[tuple[int, NoisyTerm], int]]:
    """[people.7] The number of all rows, and a rough total that is worth following, in one draw.

    With r in ±C and m in [0, D], a person adds D r + C m to one sum and D r - C m to another, which
    are at most 2 C D in size together. Half of the sum of the two, over D, and half of their
    difference, over C, have half of the variance of two totals that are drawn one by one.
    """
    split = here.split
    rows, clipped = yield from read_both(
        parts.sizes.ask(sums.ClippedSum(0, most)), here.ask(sums.ClippedSum(-reach, reach))
    )
    pair = most * clipped.total + reach * rows.total, most * clipped.total - reach * rows.total
    mechanism = split.spend(
        additive.add_noise(pair, split.share(part), sensitivity=2 * reach * most)
    )

    def parted(drawn: tuple[int, ...]) -> tuple[int, int]:
        one, two = drawn
        return round(Fraction(one - two, 2 * reach)), round(Fraction(one + two, 2 * most))

    def words(drawn: tuple[int, ...]) -> str:
        number, total = parted(drawn)
        return f"{number:,} {parts.sums}, and a total of {here.lattice.words(total)}"

    number, total = parted((yield from draw(f"{parts.sums} and rough total", mechanism, words)))
    halved = math.sqrt(0.5)
    rough = NoisyTerm(mechanism.noise[0], halved / most)
    total = round(_more_than_noise(total, rough) * total)
    return (number, NoisyTerm(mechanism.noise[0], halved / reach)), total


def _about_sizes(
    parts: person_radii.RatioParts,
    outside: Outside,
    drawn: tuple[int, NoisyTerm],
    counted: tuple[int, NoisyTerm],
) -> SumErrorModel:
    """Put together what is known of the sum of all sizes."""
    sizes, most, (noisy, noise) = parts.sizes, max(1, outside.reach_of(0)), drawn
    outside = replace(outside, others=float(max(counted[0], 1)))
    least, whole = _least_size(parts, most), sizes.counts
    return SumErrorModel(sizes.lattice, least, most, noisy, noise, *counted, outside, whole=whole)


def _total(here: Setting, reach: int, share: Share, label: str) -> Steps[tuple[int, NoisyTerm]]:
    """Draw the sum of the records, each clipped to ±reach, with noise."""
    clipped = yield from read(here.ask(sums.ClippedSum(-reach, reach)))
    mechanism = here.split.spend(staircase.add_to_one(clipped.total, share, sensitivity=reach))
    (noisy,) = yield from draw(label, mechanism, lambda drawn: here.lattice.words(drawn[0]))
    return noisy, NoisyTerm(mechanism.noise[0], 1.0)


def sum_of_sizes(rows: SumErrorModel) -> int:
    """The noisy sum, or what is surely less: every person has a row, and no weight is negative."""
    if rows.whole:
        return max(rows.noisy, rows.count, 1)
    return rows.noisy if rows.lo < 0 else max(rows.noisy, 0)


def share_of_rows(total: int, rows: SumErrorModel) -> Fraction:
    """Divide a total by the sum of all sizes, or by more if noise is a good part of that.

    [people.9] With M the noisy sum and v the variance of its noise, 1/M becomes M / (M^2 + v),
    which does not blow up near 0.
    """
    number = sum_of_sizes(rows)
    return Fraction(total * number) / max(number**2 + round(rows.noise.variance), 1)


@storable
@dataclass(frozen=True, slots=True)
class RatioErrorModel:
    """A centre, in lattice steps, and how far all records together are from it.

    That is ``total`` / ``rows``: the noisy sum of the clipped deviations from the centre, and that
    of the clipped sizes, numbers of rows or weights or denominators. An interval for the first
    divided by one for the second holds with at least the probability with which both hold.
    """

    lattice: Lattice
    centre: int
    total: SumErrorModel
    rows: SumErrorModel

    @property
    def value(self) -> Fraction:
        """The centre moved by the noisy mean deviation; a mean is within the range."""
        step = steps_of(self.lattice, self.total.lattice, self.rows)
        value = self.centre + share_of_rows(self.total.noisy, self.rows) * step
        if self.signed:
            return value * Fraction(self.lattice.step)
        return self.lattice.inside(value)

    @property
    def signed(self) -> bool:
        """Whether sizes may be negative: then it is no mean, and may be anything."""
        return self.rows.lo < 0

    @property
    def few_seen(self) -> bool:
        return self.total.few_seen

    @property
    def outside(self) -> Outside | None:
        """What the radius of the deviations says of the records beyond it."""
        return self.total.outside

    @property
    def holds(self) -> tuple[float, float]:
        """The values, in steps, that the radius holds: of a person with a row, or a mean weight."""
        seen = self.total.outside is not None and self.total.outside.seen is not None
        average = max(abs(sum_of_sizes(self.rows)), 1) / max(self.rows.count, 1)
        size = 1.0 if self.rows.whole and seen else average
        radius = float(steps_of(self.lattice, self.total.lattice, self.rows)) * self.total.hi / size
        return self.centre - radius, self.centre + radius

    @property
    def ended(self) -> tuple[bool, bool]:
        """Whether each side reaches about as far as the range does, and most records nowhere near.

        A few rows of most persons, or thousands, may add up to what is as far.
        """
        outside, (lower, upper) = self.total.outside, self.holds
        if outside is None or (outside.seen and self.total.hi <= _FOR_OTHERS * outside.seen[1]):
            return False, False
        return (
            _ABOUT * lower <= self.lattice.first < 0,
            _ABOUT * upper >= self.lattice.last > 0,
        )

    def judged(self, centred: bool) -> Status:  # noqa: FBT001
        """Whether the answer can be used; ``centred``: there was budget for a centre."""
        if self.rows.too_little(0.05) or self.total.outside is None:
            return TOO_LITTLE
        sizes = self.rows.outside
        if sizes is not None and sizes.excess(0.05):
            return LARGER_SIZES.filled(records=max(sizes.counted or 0, 0))
        if not self.rows.whole and sizes is not None:
            if self._sizes(0.05, 3) is None:
                return NO_SIZES
            if sizes.radii[0] >= sizes.widest:
                return SIZES_AT_END
        found = self.total.judged(self.total.count, self.total.outside.status)
        if found.ok and not self.rows.whole:
            found = self.rows.tail_status()  # the tail of the deviations is no lighter
        return NO_CENTRE if found.code in {"ok", "unseen"} and not centred else found

    def _sizes(self, alpha: float, tail: float | None) -> tuple[float, float] | None:
        """[ratio.5] What the sum of all sizes lies between; ``None`` if it may be 0."""
        fewest, most = self.rows.interval(1 - 0.1 * alpha, tail)
        if self.rows.whole:
            fewest = max(fewest, self.rows.counted.least(0.1 * alpha))  # every person has a row
        return (fewest, most) if fewest > 0 or most < 0 < -self.rows.lo else None

    def interval(self, level: float, tail: float | None) -> Interval:
        alpha, lattice = 1 - level, self.lattice
        sizes = self._sizes(alpha, tail)
        if sizes is None:
            return (
                Interval(-math.inf, math.inf) if self.signed else Interval(lattice.lo, lattice.hi)
            )
        total = self.total.interval(1 - 0.8 * alpha, tail)
        quotients = [each / size for each in total for size in sizes]
        centre = lattice.value(self.centre)
        lower = centre + min(quotients) - 0.5 * lattice.step
        upper = centre + max(quotients) + 0.5 * lattice.step
        if self.signed:
            return Interval(lower, upper)
        return Interval(max(lower, lattice.lo), min(upper, lattice.hi))

    @property
    def condition(self) -> str:
        return self.total.condition

    def tail_index(self, level: float) -> float:
        """The index that the interval assumes by default, of both sums."""
        return min(self.total.tail_index(level), self.rows.tail_index(level))

    def assumption(self, tail: float | None) -> str:
        whole = self.rows.whole
        if tail is None:
            who, size = ("person", "number of rows") if whole else ("row", "weight")
            return (
                f"interval(tail=None) covers the noise, and assumes that no {who}'s deviation or "
                f"{size} is clipped."
            )
        if not whole:
            rows = "two finite numbers" if self.signed else "a finite weight above 0"
            return (
                f"Rows without {rows} do not count. Of what the others add to the two sums: "
                f"{self.total.tail_in_words(tail)}"
            )
        return (
            f"Of what persons add up to, all their rows together: {self.total.tail_in_words(tail)}"
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "centre": self.lattice.value(self.centre),
            "total": self.total.to_dict(),
            "rows" if self.rows.whole else "sizes": self.rows.to_dict(),
        }
