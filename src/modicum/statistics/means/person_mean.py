"""The mean of all rows of persons who have any number of them, each: a ratio of two sums.

With s_i the sum and m_i the number of person i's values, the mean is c + R / M, where M = sum of
m_i, R = sum of r_i, r_i = s_i - c m_i is how far person i is from a centre c, all rows together.
Rows are never dropped: a person's r_i and m_i are clipped, and few persons' are.

[people.3] window  where the persons' means are (ranges/window.py);
[people.4] centre  c, a median of them, or a rough mean of some hundreds;
[people.5] sizes   how many persons have 1, 2, 3 or 4, 5 to 8, ... rows: D, which few exceed;
[people.6] radius  C, a size of r_i that few persons exceed;
[people.7] rough   M and R, in one draw: c moves to about the mean;
[people.8] final   R about the new centre, with all the rest, and how many are near C [window.7].

What is left of R is next to nothing, so the noise in M hardly matters.
docs/research/proofs/people.md has the proofs, with the same labels.

Any ratio of two sums is such a mean: of weighted rows m_i is a weight and s_i a value times its
weight. :func:`centred_ratio` has all of these steps, for means/ratio.py too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import Status
from modicum.runtime.steps import Steps, draw, read, read_both
from modicum.statistics.means.found_mean import (
    AT_END,
    FOUND_MEAN,
    median_in_window,
    radius_schedule,
    rough_mean_in_window,
)
from modicum.statistics.means.found_sum import FoundSumErrorModel
from modicum.statistics.people import persons
from modicum.statistics.people.sizes import PERSONS, ROWS_OF_PERSONS, Named, Sizes, by_size, falling
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.bounds import Setting
from modicum.statistics.ranges.found_range import power_of_two
from modicum.statistics.ranges.split import ClusterOption, expected_records
from modicum.statistics.ranges.window import Found, find_window
from modicum.statistics.tails.outside import NoisyTerm, Outside
from modicum.statistics.tails.rings import (
    NOT_COUNTED,
    RINGS,
    Rings,
    draw_rings,
    not_counted,
    ring_bins,
)
from modicum.stored.codec import storable
from modicum.summaries.base import RecordRule
from modicum.summaries.cells import Cells
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum

NO_SIZES = Status(
    "few_records",
    "the sum of the weights, or of what is divided by, may be 0 for all that is known: spend more",
)


@dataclass(frozen=True, slots=True)
class RatioTuning:
    """How the budget is divided after a window. Strengths are in units of the noise's scale.

    Chosen on made-up persons, looked at on public tables. None affects privacy.
    """

    twice: float = 400.0
    """Records other than 0, per unit of noise, from which on the sum is drawn about rough sums."""
    left: tuple[Fraction, Fraction] = (Fraction(1, 2), Fraction(2, 3))
    """Parts of the budget that have to be left after the window for a radius, and for that too."""
    rough: float = 0.15
    """Of the two sums that are drawn together."""
    radius: tuple[float, float] = (0.14, 4.0)
    """Strength of the radius of deviations, and the power of its prior."""
    reach: int = 20
    """Octaves by which deviations may be further than those of one usual size."""


RATIO = RatioTuning()
_LARGE = Fraction(2) ** 1000


@dataclass(frozen=True, slots=True)
class RatioParts:
    """The two parts of every record of a ratio of sums, and the one over the other.

    ``means`` are the quotients, ``sizes`` the denominators, of which octaves have the ``ends``, and
    ``usual`` is one of them (a denominator may be negative if its lattice holds that).
    ``about(found, centre)`` are the deviations of the numerators from a centre, in steps of the
    quotients that were found, times the denominators, on a lattice of their own.
    """

    means: Setting
    sizes: Setting
    ends: tuple[int, ...]
    usual: int
    about: Callable[[Found, int], Setting]
    named: Named = PERSONS


@dataclass(frozen=True, slots=True)
class _Sums:
    """Noisy sums of both parts, and their noise."""

    sizes: int
    sizes_noise: NoisyTerm
    total: int
    total_noise: NoisyTerm


def mean_of_persons(
    _wider: int, column: str | None, lattice: Lattice, event: Event, options: ClusterOption
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

    def about(found: Found, centre: int) -> Setting:
        values = found.lattice
        reach = lattice_end(Fraction(found.radius) * Fraction(values.step))
        totals = Lattice.within((-reach, reach))
        totals = replace(totals, step=max(totals.step, values.step))
        rule = RecordRule("sum", lattice=values, centre=centre)
        return Setting(column, totals, split, rule=rule)

    given = None if lattice is KEYS else lattice
    means = Setting(column, lattice, split, rule=RecordRule("mean"))
    sizes = Setting(column, persons.SIZES, split, rule=RecordRule("count", lattice=given))
    return (yield from centred_ratio(RatioParts(means, sizes, ROWS_OF_PERSONS, 1, about)))


def lattice_end(usual: Fraction) -> float:
    """How far a lattice reaches whose records deviate by so much, or a million times as much."""
    return power_of_two(math.frexp(float(min(usual, _LARGE)))[1] + RATIO.reach)


def centred_ratio(parts: RatioParts) -> Steps[ScalarEstimate]:
    """[people.3] to [people.8] Estimate a ratio of sums."""
    split = parts.means.split
    found = yield from find_window(parts.means)  # [people.3]
    centre, others = found.centre, expected_records(split, found.others)
    some, many = (split.left >= least * split.total for least in RATIO.left)
    some = some and others >= FOUND_MEAN.few
    if some:  # [people.4]
        centre = yield from _centre(replace(parts.means, lattice=found.lattice), found)
    sizes = yield from by_size(parts.sizes, found.count, parts.ends, parts.named)
    known = _Known(parts, found, sizes)
    if some:
        twice = many and others >= RATIO.twice
        model = yield from _within_a_radius(known, centre, twice=twice)
    else:
        model = yield from _in_the_window(known, centre)
    seen = found.status if sizes.status.ok else sizes.status
    status = model.judged(seen)
    if parts.means.lattice is found.lattice:
        return ScalarEstimate(model.value, model, status)
    if seen.ok and known.ended(model):
        status = AT_END
    return ScalarEstimate(model.value, model, status, found.lattice)


@dataclass(frozen=True, slots=True)
class _Known:
    """What was released before the two sums."""

    parts: RatioParts
    found: Found
    sizes: Sizes

    def usual(self, totals: Lattice) -> int:
        """What a record of one usual size may deviate by, in steps of the totals."""
        unit = Fraction(self.found.lattice.step) * Fraction(self.parts.sizes.lattice.step)
        return max(round(self.found.radius * unit * self.parts.usual / Fraction(totals.step)), 1)

    def ended(self, model: RatioErrorModel) -> bool:
        """Whether deviations of one usual size may reach the end of the range that was found."""
        radii = model.total.hi / self.usual(model.total.lattice)
        return abs(model.centre) + radii * self.found.radius >= self.found.lattice.last

    def sum_of_sizes(self, drawn: _Sums) -> FoundSumErrorModel:
        """What is known of the sum of all sizes."""
        sizes, found = self.parts.sizes, self.found
        return FoundSumErrorModel(
            sizes.lattice,
            -self.sizes.most if sizes.lattice.first < 0 else 0,
            self.sizes.most,
            drawn.sizes,
            drawn.sizes_noise,
            found.count,
            found.counted.noise[0],
            None,
            whole=sizes.counts,
            every=found.counted,
            rings=self.sizes.rings,
        )

    def model(
        self, totals: Lattice, centre: int, reach: int, drawn: _Sums,
        outside: Outside | None = None, near: Rings = NOT_COUNTED,
    ) -> RatioErrorModel:  # fmt: skip
        """What is known of the ratio, about a centre: a heavy tail of the sizes is one of both."""
        total = FoundSumErrorModel(
            totals,
            -reach,
            reach,
            drawn.total,
            drawn.total_noise,
            self.found.count,
            self.found.counted.noise[0],
            outside,
            every=self.found.counted,
            rings=replace(near, least=self.sizes.rings.least),
        )
        return RatioErrorModel(self.found.lattice, centre, total, self.sum_of_sizes(drawn))


def _in_the_window(known: _Known, centre: int) -> Steps[RatioErrorModel]:
    """[people.7] The two sums alone, of what the window bounds, with all that is left."""
    parts, split = known.parts, known.parts.means.split
    here = parts.about(known.found, centre)
    most = known.usual(here.lattice) * known.sizes.most // parts.usual
    reach = min(max(most, 1), here.lattice.last)
    both = yield from _both_sums(known, here, reach, split.rest())
    return known.model(here.lattice, centre, reach, both, near=not_counted(split))


def _within_a_radius(known: _Known, centre: int, *, twice: bool) -> Steps[RatioErrorModel]:
    """[people.6] to [people.8] A radius and the two sums, or rough ones and one about them."""
    parts, found, split = known.parts, known.found, known.parts.means.split
    here = parts.about(found, centre)
    outside = yield from _radius(here, found, known.usual(here.lattice))
    reach = outside.radii[0]
    near = not_counted(split)
    if not twice:
        both = yield from _both_sums(known, here, reach, split.rest())
        return known.model(here.lattice, centre, reach, both, outside, near)
    strength = RATIO.rough * falling(split, found.count)
    share = split.share(split.part_for(strength, "noise"))
    both = yield from _both_sums(known, here, reach, share)

    lattice, sizes = found.lattice, known.sum_of_sizes(both)
    rough = round(_more_than_noise(both.total, both.total_noise) * both.total)
    moved = share_of_rows(rough, sizes)
    shift = round(moved * steps_of(lattice, here.lattice, sizes))
    centre = min(max(centre + shift, lattice.first), lattice.last)
    here = parts.about(found, centre)
    # Who was not far from the first centre is so much further from this one.
    reach = min(reach + round(abs(moved) * parts.usual), here.lattice.last)
    bins, clipped = yield from read_both(
        here.ask(ring_bins(0, (reach, reach))), here.ask(ClippedSum(-reach, reach))
    )
    if expected_records(split, found.count) >= RINGS.begin:
        near = yield from draw_rings(split, bins, 0, (reach, reach), found.count)
    final = split.spend(add_to_one(clipped.total, split.rest(), sensitivity=reach))
    words = here.lattice.words
    (noisy,) = yield from draw("total", final, lambda drawn: words(drawn[0]))  # [people.8]
    both = replace(both, total=noisy, total_noise=NoisyTerm(final.noise[0], 1.0))
    return known.model(here.lattice, centre, reach, both, outside, near)


def _centre(means: Setting, found: Found) -> Steps[int]:
    """[people.4] A median of the quotients; of some records, which it costs too much, a mean."""
    if expected_records(means.split, found.count) < FOUND_MEAN.many:
        centre, _ = yield from rough_mean_in_window(means, found, FOUND_MEAN)
        return centre
    records = found.records or (yield from read(means.ask(Records(subsamples=1))))
    return (yield from median_in_window(means, found, records, FOUND_MEAN))


def _both_sums(known: _Known, here: Setting, reach: int, share: Share) -> Steps[_Sums]:
    """[people.7] The sum of all sizes, and that of the deviations, in one draw.

    With r in ±C and m in [0, D], a person adds D r + C m to one sum and D r - C m to another, which
    are at most 2 C D in size together. Half of the sum of the two, over D, and half of their
    difference, over C, have half of the variance of two totals that are drawn one by one.
    """
    parts, most = known.parts, known.sizes.most
    least = -most if parts.sizes.lattice.first < 0 else 0
    sizes, clipped = yield from read_both(
        parts.sizes.ask(ClippedSum(least, most)), here.ask(ClippedSum(-reach, reach))
    )
    pair = most * clipped.total + reach * sizes.total, most * clipped.total - reach * sizes.total
    mechanism = here.split.spend(add_noise(pair, share, sensitivity=2 * reach * most))

    def parted(drawn: tuple[int, ...]) -> tuple[int, int]:
        one, two = drawn
        return round(Fraction(one - two, 2 * reach)), round(Fraction(one + two, 2 * most))

    def words(drawn: tuple[int, ...]) -> str:
        number, total = parted(drawn)
        size = parts.sizes.lattice.words(number)
        return f"{size} {parts.named.sizes}, and a total of {here.lattice.words(total)}"

    label = f"{parts.named.sizes} and rough total"
    number, total = parted((yield from draw(label, mechanism, words)))
    noise, halved = mechanism.noise[0], math.sqrt(0.5)
    return _Sums(number, NoisyTerm(noise, halved / reach), total, NoisyTerm(noise, halved / most))


def _radius(here: Setting, found: Found, usual: int) -> Steps[Outside]:
    """[people.6] A size of deviations that few records exceed."""
    schedule = radius_schedule(here, found, RATIO.radius, 0)
    least = max(1, usual >> FOUND_MEAN.inside[found.place < 2])
    grid = RadiusGrid.between(least, here.lattice.last, schedule.per_octave)
    cells = yield from read(here.ask(Cells(0, grid.radii)))
    beyond = tuple(cells.magnitude_above_many(grid.radii))
    (drawn,), outside = yield from bounds.draw_radii(
        here, (beyond,), grid, schedule.tilt, schedule, "radius"
    )
    radius = max(math.ceil(grid.radii[drawn] * math.exp(FOUND_MEAN.widening)), 1)
    return replace(outside, radii=(min(radius, here.lattice.last),))


def _more_than_noise(total: int, noise: NoisyTerm) -> Fraction:
    """[people.7] What part of a noisy total is worth following: 1 - v / total^2, or nothing.

    A total that is no larger than its noise, of variance v, moves nothing: all data that are one
    value stay there.
    """
    squared, variance = total**2, round(noise.variance)
    return Fraction(squared - variance, squared) if squared > variance else Fraction(0)


def steps_of(lattice: Lattice, totals: Lattice, rows: FoundSumErrorModel) -> Fraction:
    """Steps of the lattice of means in a step of totals over one of sizes."""
    return Fraction(totals.step) / (Fraction(lattice.step) * Fraction(rows.lattice.step))


def _sum_of_sizes(rows: FoundSumErrorModel) -> int:
    """The noisy sum, or what is surely less: every person has a row, and no weight is negative."""
    if rows.whole:
        return max(rows.noisy, rows.count, 1)
    return rows.noisy if rows.lo < 0 else max(rows.noisy, 0)


def share_of_rows(total: int, rows: FoundSumErrorModel) -> Fraction:
    """Divide a total by the sum of all sizes, or by more if noise is a good part of that.

    [people.9] With M the noisy sum and v the variance of its noise, 1/M becomes M / (M^2 + v),
    which does not blow up near 0.
    """
    number = _sum_of_sizes(rows)
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
    total: FoundSumErrorModel
    rows: FoundSumErrorModel

    @property
    def value(self) -> Fraction:
        """The centre moved by the noisy mean deviation; a mean is within the range."""
        step = steps_of(self.lattice, self.total.lattice, self.rows)
        value = self.centre + share_of_rows(self.total.noisy, self.rows) * step
        if self.signed:
            return value * Fraction(self.lattice.step)
        return self.lattice.inside(value)

    @property
    def size(self) -> int:
        """The noisy sum of all sizes, at least that of a row for every person."""
        return _sum_of_sizes(self.rows)

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

    def judged(self, otherwise: Status) -> Status:
        """Whether the answer can be used; ``otherwise`` is whether the window was confirmed."""
        if otherwise.ok and self._sizes(0.05, 3) is None:
            return NO_SIZES
        return self.total.status_of(otherwise)

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
        return self.total.tail_index(level)

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
