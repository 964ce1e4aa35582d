"""The mean of all rows of persons who have any number of them, each.

With s_i the sum and m_i the number of person i's values, the mean is c + R / M, where M = sum of
m_i, R = sum of r_i, r_i = s_i - c m_i is how far person i is from a centre c, all rows together.
Rows are never dropped: a person's r_i and m_i are clipped, and few persons' are.

[people.3] count    a noisy number of persons drives the schedule;
[people.4] centre   c, a private median of the persons' means;
[people.5] sizes    M, with noise on the scale of a number of rows that few persons exceed;
[people.6] radius   a size of r_i that few persons exceed;
[people.7] rough    R, with little of the budget: c moves to about the mean;
[people.8] final    R about the new centre, with all the rest.

What is left of R is next to nothing, so the noise in M hardly matters. docs/proofs/people.md has
the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.lattice import WIDEST, Lattice
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.grids import HALF_LN2, RadiusGrid
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.release import Interval, ScalarEstimate
from modicum.runtime.steps import Reads, Steps, draw, draw_count, read, read_both
from modicum.statistics.bounds import (
    Setting,
    count_outside,
    count_some,
    draw_radii,
    find_centre,
    find_home,
)
from modicum.statistics.outside import (
    NO_CENTRE,
    TOO_LITTLE,
    NoisyTerm,
    Outside,
)
from modicum.statistics.persons import SIZES
from modicum.statistics.split import LEAST_FOR_COUNTS, ClusterOption, expected_records
from modicum.statistics.sum import SumErrorModel
from modicum.status import Status
from modicum.summaries.base import RecordRule
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.sums import ClippedSum

_SIZES = RadiusGrid.between(1, SIZES.last)
_COUNT = Fraction(1, 50)
_MANY = 2000  # persons per unit of noise, with budget for more than one total
_BITS = (24, 16, 8)  # of the centre's grid: the most that the persons can carry
_SPARE = 150  # persons
_MOST_FOR_CENTRE = 0.16
_LEAST, _RADIUS, _MOST_FOR_RADIUS = 0.01, 0.17, 0.35  # strengths
_TRUST, _NATS = 0.85, 6.0  # part of a noisy number to rely on, nats to spare
_MORE = 2.5  # times the strengths in zCDP, where their squares are what they cost
_CLEAR = 4  # deviations of the noise


@dataclass(frozen=True, slots=True)
class PeopleSchedule:
    """Shares of the budget, from the noisy number of persons; what they leave is the last draw's.

    A share of 0 leaves a step out. ``power`` and ``power_of_sizes`` are those of the priors r^-p.
    """

    centre: Fraction
    bits: int
    sizes: Fraction
    rows: Fraction
    radius: Fraction
    rough: Fraction
    power: Fraction
    power_of_sizes: Fraction

    @classmethod
    def of(cls, split: BudgetSplit, number: int, totals: Lattice) -> PeopleSchedule:
        """Divide a budget, given the noisy number of persons and the lattice of their totals."""
        expected = expected_records(split, number)
        span = math.log(2 * totals.last)
        bits, centre = next(
            ((b, s) for b in _BITS if (s := _for_centre(b, span, expected)) <= _MOST_FOR_CENTRE),
            (0, 0.0),
        )
        more = _MORE if split.concentrated else 1.0
        sizes = more * min(0.08, max(0.03, 160 / expected))
        radius = more * min(0.25, _RADIUS * max(1.0, 1000 / expected) ** 0.3)
        root = math.sqrt(expected)
        return cls(
            split.part_for(centre, "subsample") if centre else Fraction(0),
            bits,
            split.part_for(sizes, "range"),
            split.part_for(more * min(0.08, max(0.015, 2.5 / root)), "noise"),
            split.part_for(radius, "range"),
            split.part_for(more * max(0.015, 3.5 / root), "noise")
            if expected >= _MANY
            else Fraction(0),
            _power(radius * expected, span),
            _power(sizes * expected, math.log(_SIZES.radii[-1])),
        )


def _power(nats: float, span: float) -> Fraction:
    """Power of a prior over radii that so many nats of records outweigh."""
    return Fraction(round(1024 * min(4.0, max(1.0, nats / (2 * (span + 6))))), 1024)


def _for_centre(bits: int, span: float, expected: float) -> float:
    """Strength at which a median outweighs the points of its grid."""
    nats = bits * math.log(2) + math.log(2 * span / math.log(2) + 2) + 12
    return max(0.01, 2 * nats / max(1.0, expected - _SPARE))


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
    means = Setting(column, lattice, split, rule=RecordRule("mean"))
    sizes = Setting(column, SIZES, split, rule=RecordRule("count", lattice=lattice))
    records, cells = yield from read_both(means.ask(Records()), sizes.ask(Cells(0, _SIZES.radii)))
    n0, count_noise = yield from draw_count(split, cells.count, split.share(_COUNT))  # [people.3]
    counted = n0, NoisyTerm(count_noise, 1.0)

    width = min(lattice.hi - lattice.lo, WIDEST)
    deviation = Lattice.within((-width, width))
    totals = replace(deviation, step=max(deviation.step, lattice.step)).widened(wider)
    schedule = PeopleSchedule.of(split, n0, totals)
    centre = yield from find_centre(  # [people.4]
        means, records, n0, share=schedule.centre, bits=schedule.bits
    )
    about = RecordRule("sum", lattice=lattice, centre=centre)
    deviations = Setting(column, totals, split, rule=about)
    rows, outside = yield from _scales(sizes, cells, deviations, schedule, counted)
    reach = totals.last if outside is None else max(1, outside.radii[0])

    if schedule.rough:
        share = split.share(schedule.rough)
        rough, noise = yield from _total(deviations, reach, share, "rough total")
        if not noise.explains(rough):  # [people.7]
            shift = share_of_rows(rough, rows) * Fraction(totals.step) / Fraction(lattice.step)
            centre = min(max(centre + round(shift), lattice.first), lattice.last)
    moved = replace(deviations, rule=replace(about, centre=centre))
    total = yield from _total(moved, reach, split.rest(), "total")  # [people.8]
    final = SumErrorModel(totals, -reach, reach, *total, *counted, outside)
    error_model = RowMeanErrorModel(lattice, centre, final, rows)
    status = error_model.judged(schedule.centre > 0)
    return ScalarEstimate(error_model.value, error_model, status)


def _scales(
    sizes: Setting,
    cells: CellSummary,
    deviations: Setting,
    schedule: PeopleSchedule,
    counted: tuple[int, NoisyTerm],
) -> Steps[tuple[SumErrorModel, Outside | None]]:
    """[people.5], [people.6] The number of all rows, and how large a person's deviation is."""
    split, n0 = sizes.split, counted[0]
    beyond = tuple(cells.magnitude_above_many(_SIZES.radii))
    (chosen,), outside = yield from draw_radii(
        sizes, (beyond,), _SIZES, schedule.sizes, *_prior(schedule.power_of_sizes), label="sizes"
    )
    most = max(1, _SIZES.radii[chosen])
    grid = RadiusGrid.between(1, deviations.lattice.last)
    clipped, away, records = yield Reads(
        (
            sizes.ask(ClippedSum(0, most)),
            deviations.ask(Cells(0, grid.radii)),
            deviations.ask(Records()),
        )
    )
    mechanism = split.spend(
        add_noise((clipped.total,), split.share(schedule.rows), sensitivity=most)
    )
    (noisy,) = yield from draw("rows", mechanism)
    noise = NoisyTerm(mechanism.noise[0], 1.0)
    outside = replace(outside, others=float(max(n0, 1)))
    rows = SumErrorModel(SIZES, 0, most, noisy, noise, *counted, outside, whole=True)

    return rows, (yield from _radius(deviations, away, records, schedule, n0))


def _radius(
    here: Setting,
    away: CellSummary,
    records: RecordSummary,
    schedule: PeopleSchedule,
    n0: int,
) -> Steps[Outside | None]:
    """[people.6] A size of a person's deviation; ``None`` if too few persons have any."""
    share, power, half = schedule.radius, schedule.power, None
    expected = expected_records(here.split, n0)
    if expected > LEAST_FOR_COUNTS:
        home = yield from find_home(here, records, n0)
        half = (home.part(n0), home.radius) if home.radius else None
        if not home.radius:  # most persons are at the centre: it is the others that have to speak
            elsewhere = away.above(0) + away.below(0)
            strength = max(_LEAST, 30 / expected)
            found, noise = yield from count_some(here, elsewhere, strength, "persons elsewhere")
            others, span = found * float(here.split.scale), math.log(here.lattice.last)
            strength = max(_RADIUS, (span + _NATS) / (_TRUST * max(others, 1.0)))
            if strength <= _MOST_FOR_RADIUS:
                share = max(share, here.split.part_for(strength, "range"))
                power = min(power, _power(2 * (_TRUST * strength * others - _NATS), span - 6))
            elif found > _CLEAR * noise.variance**0.5:
                return None  # they are too few to tell where they are
    grid = RadiusGrid.between(1, here.lattice.last)
    beyond = tuple(away.magnitude_above_many(grid.radii))
    (chosen,), outside = yield from draw_radii(here, (beyond,), grid, share, *_prior(power))
    outside = replace(outside, seen=half)
    if expected > LEAST_FOR_COUNTS:
        outside = yield from count_outside(here, outside, beyond[chosen], n0)
    return outside


def _prior(power: Fraction) -> tuple[Fraction, float]:
    """Cost of a half octave of radius, for the prior r^-power."""
    return power * HALF_LN2, float(power)


def _total(here: Setting, reach: int, share: Share, label: str) -> Steps[tuple[int, NoisyTerm]]:
    """Draw the sum of the records, each clipped to ±reach, with noise."""
    clipped = yield from read(here.ask(ClippedSum(-reach, reach)))
    mechanism = here.split.spend(add_to_one(clipped.total, share, sensitivity=reach))
    (noisy,) = yield from draw(label, mechanism, lambda drawn: here.lattice.words(drawn[0]))
    return noisy, NoisyTerm(mechanism.noise[0], 1.0)


def share_of_rows(total: int, rows: SumErrorModel) -> Fraction:
    """Divide a total by the number of all rows, or by more if noise is a good part of that.

    [people.9] With M the noisy number and v the variance of its noise, 1/M becomes M / (M^2 + v),
    which does not blow up near 0. Every person has a row, so M is at least the noisy number of
    persons.
    """
    number = max(rows.noisy, rows.count, 1)
    return Fraction(total * number) / (number**2 + round(rows.noise.variance))


@dataclass(frozen=True, slots=True)
class RowMeanErrorModel:
    """A centre, in lattice steps, and how far all rows together are from it: ``total`` / ``rows``.

    ``total`` is the noisy sum of the persons' clipped deviations from the centre, ``rows`` that of
    their clipped numbers of rows. An interval for the first divided by one for the second holds
    with at least the probability with which both hold.
    """

    lattice: Lattice
    centre: int
    total: SumErrorModel
    rows: SumErrorModel

    @property
    def value(self) -> Fraction:
        """The centre moved by the noisy mean deviation, within the range."""
        step = Fraction(self.total.lattice.step) / Fraction(self.lattice.step)
        return self.lattice.inside(self.centre + share_of_rows(self.total.noisy, self.rows) * step)

    @property
    def none_seen(self) -> bool:
        return self.total.none_seen

    def judged(self, centred: bool) -> Status:  # noqa: FBT001
        """Whether the answer can be used; ``centred``: there was budget for a centre."""
        if self.rows.too_little(0.05) or self.total.outside is None:
            return TOO_LITTLE
        found = self.total.judged(self.total.count, self.total.outside.status)
        return NO_CENTRE if found.code in {"ok", "unseen"} and not centred else found

    def interval(self, level: float, tail: float | None) -> Interval:
        alpha, lattice = 1 - level, self.lattice
        fewest, most = self.rows.interval(1 - 0.1 * alpha, tail)
        fewest = max(fewest, self.rows.counted.least(0.1 * alpha))  # every person has a row
        if fewest <= 0:
            return Interval(lattice.lo, lattice.hi)
        below, above = self.total.interval(1 - 0.8 * alpha, tail)
        centre = lattice.value(self.centre)
        lower = centre + below / (fewest if below < 0 else most) - 0.5 * lattice.step
        upper = centre + above / (fewest if above > 0 else most) + 0.5 * lattice.step
        return Interval(max(lower, lattice.lo), min(upper, lattice.hi))

    @property
    def condition(self) -> str:
        return self.total.condition

    def tail_index(self, level: float) -> float:
        """The index that the interval assumes by default, of both sums."""
        return min(self.total.tail_index(level), self.rows.tail_index(level))

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return (
                "interval(tail=None) covers the noise, and assumes that no person's deviation or "
                "number of rows is clipped."
            )
        return (
            f"Of what persons add up to, all their rows together: {self.total.tail_in_words(tail)}"
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "centre": self.lattice.value(self.centre),
            "total": self.total.to_dict(),
            "rows": self.rows.to_dict(),
        }
