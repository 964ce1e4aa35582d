"""How far records reach in a ratio of two sums: the shares of its steps, sizes, and radii.

A record has a size, a number of rows or a weight or a denominator, and a deviation from a centre.
Both are clipped: [people.5] to a size that few exceed, and [people.6] to a radius that few exceed,
which is drawn again about a centre that moved far, [people.15]. person_mean.py has the sums.
docs/research/proofs/people.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.mechanisms import additive, grids
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, read_both
from modicum.statistics.ranges import bounds, far_group
from modicum.statistics.ranges.split import (
    LEAST_FOR_COUNTS,
    SIZE_PARTS,
    Schedule,
    expected_records,
    shape_share,
)
from modicum.statistics.tails.outside import STEEP, Outside
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import Records, RecordSummary

_MANY = 2000  # persons per unit of noise, with budget for more than one total
_BITS = (24, 16, 8)  # of the centre's grid: the most that the persons can carry
_SPARE = 150  # persons
_MOST_FOR_CENTRE = 0.16
_LEAST, _RADIUS, _MOST_FOR_RADIUS = 0.01, 0.16, 0.35  # strengths
_LEAST_CENTRE, _ROWS, _ROUGH = 1 / 512, 1.4, 1.2
_TRUST, _NATS = 0.85, 6.0  # part of a noisy number to rely on, nats to spare
MORE = 2.5  # times the strengths in zCDP, where their squares are what they cost
_SURER, _AGAIN, _MOST_AGAIN = 0.05, 0.1, 0.48  # strengths
_MOST_FOR_SIZES = 0.12
_CLEAR = 4  # deviations of the noise
_LIGHT = 1.8  # index from which on a radius is not widened: c moves towards the far deviations
_KEPT = 0.75  # precision left for what follows where sizes are drawn again
_LARGE = 0.02  # strength of the number of sizes that are larger than the drawn one
_COUNTED, _COUNTED_FEW, _LEAST_LEFT = 0.02, 60.0, Fraction(1, 16)  # of counts, and of a last total


@dataclass(frozen=True, slots=True)
class PeopleSchedule:
    """Shares of the budget, from the noisy number of persons; what they leave is the last draw's.

    A share of 0 leaves a step out. ``rows`` is a strength; ``sizes`` and ``radius`` are
    schedules of two radii.
    """

    centre: Fraction
    bits: int
    sizes: Schedule
    rows: float
    radius: Schedule
    rough: Fraction

    @classmethod
    def of(
        cls, split: BudgetSplit, number: int, furthest: int, sizes_span: float
    ) -> PeopleSchedule:
        """Divide a budget, given the noisy number of persons and what they may have.

        It is a total of at most so many steps, and a size on a grid of so wide a logarithm.
        """
        expected = expected_records(split, number)
        span = math.log(2 * furthest)
        bits, centre = next(
            ((b, s) for b in _BITS if (s := _for_centre(b, span, expected)) <= _MOST_FOR_CENTRE),
            (0, 0.0),
        )
        more = MORE if split.concentrated else 1.0
        few = math.pow(expected, -0.4)
        sizes = more * min(0.08, max(_LEAST, few, 160 / expected))
        radius = more * min(0.25, _RADIUS * max(1.0, 1000 / expected) ** 0.3)
        rows, rough = (more * min(0.08, each * few) for each in (_ROWS, _ROUGH))
        return cls(
            split.part_for(centre, "subsample") if centre else Fraction(0),
            bits,
            _for_radius(split, sizes, _power(sizes * expected, sizes_span)),
            rows,
            _for_radius(
                split, radius, _power(radius * expected, span), shape_share(split, expected)
            ),
            split.part_for(rough, "noise") if expected >= _MANY else Fraction(0),
        )


def _for_radius(
    split: BudgetSplit, strength: float, power: Fraction, shape: Fraction = Fraction(0)
) -> Schedule:
    return Schedule.for_sizes(split.part_for(strength, "range"), power, shape)


def _power(nats: float, span: float) -> Fraction:
    """Power of a prior over radii that so many nats of records outweigh."""
    return Fraction(round(1024 * min(STEEP, max(1.0, nats / (2 * (span + 6))))), 1024)


def _for_centre(bits: int, span: float, expected: float) -> float:
    """Strength at which a median outweighs the points of its grid: four times that of many."""
    nats = bits * math.log(2) + math.log(2 * span / math.log(2) + 2) + 12
    needed = 2 * nats / max(1.0, expected - _SPARE)
    return max(_LEAST_CENTRE, min(_LEAST, 4 * needed), needed)


@dataclass(frozen=True, slots=True)
class RatioParts:
    """The two parts of every record of a ratio of sums, and the one over the other.

    ``means`` are the quotients, ``sizes`` the denominators, whose largest is sought on the ``grid``
    (a denominator may be negative if its lattice holds that). ``about(centre, most)`` are the
    deviations of the numerators from the centre times the denominators, few of which exceed the
    size ``most``. ``records`` and ``sums`` name the records, and the sum of the sizes, in labels.
    ``half`` is about how many sizes exceed a released one, and this one, if that is known.
    """

    means: bounds.Setting
    sizes: bounds.Setting
    grid: grids.RadiusGrid
    about: Callable[[int, int], bounds.Setting]
    records: str = "persons"
    sums: str = "rows"
    half: tuple[float, int] | None = None


def _for_sizes(split: BudgetSplit, most: int, half: float, median: int) -> float:
    """[ratio.4] The strength of the sum of sizes, of which so many exceed about their median.

    At a strength f the sum has the relative noise u = most / (median N f), if sizes are about as
    large as their median; :func:`_for_rough` then takes u^(2/3). 0.78 (u f)^(2/5) has the least sum
    of the two.
    """
    unsure = most / (median * expected_records(split, round(2 * half)))
    strength = min(_MOST_FOR_SIZES, max(_LEAST, 0.78 * math.pow(unsure, 0.4)))
    return (MORE if split.concentrated else 1.0) * strength


def strength_of_sizes(parts: RatioParts, schedule: PeopleSchedule, most: int) -> float:
    """The strength of the sum of all sizes, each at most so large."""
    half = parts.half
    return schedule.rows if half is None else _for_sizes(parts.sizes.split, most, *half)


def clipped_size(
    parts: RatioParts, cells: CellSummary, schedule: PeopleSchedule, n0: int
) -> Steps[Outside]:
    """[people.5], [ratio.4] A size that few exceed; it is drawn again if many do."""
    split, radii = parts.sizes.split, parts.grid.radii

    def wider(outside: Outside) -> float:
        return outside.wider_for(strength_of_sizes(parts, schedule, outside.radii[0]))

    def drawn(on: Schedule, label: str) -> Steps[tuple[Outside, int]]:
        return bounds.find_radius(
            parts.sizes, cells, on, radii[-1], parts.half,
            least=radii[1], label=label, wider=wider,
        )  # fmt: skip

    outside, larger = yield from drawn(schedule.sizes, "sizes")
    if expected_records(split, n0) <= LEAST_FOR_COUNTS:
        return outside
    outside = yield from bounds.count_outside(
        parts.sizes, outside, larger, n0, strength=_LARGE, label=f"{parts.records} of larger sizes"
    )
    if not outside.excess(0.05) or outside.counted is None:
        # A tail explains the number: the law of the draw alone says how many are larger.
        return replace(outside, counted=None, noise=None)
    more = MORE if split.concentrated else 1.0
    again, nats = schedule.sizes, _AGAIN * expected_records(split, outside.counted)
    part = split.part_for(more * _AGAIN, "range")
    if not split.keeps(_KEPT, part):
        return outside
    again = replace(again, radii=part, power=min(again.power, _power(nats, parts.grid.log_width)))
    outside, _ = yield from drawn(again, "sizes, again")
    return outside


def size_of_deviations(
    here: bounds.Setting, schedule: PeopleSchedule, n0: int, called: str
) -> Steps[Outside | None]:
    """[people.6] A size of a record's deviation; ``None`` if too few records have any."""
    split, radius = here.split, schedule.radius
    away, records = yield from _sizes_about(here)
    home = bounds.Home(0, 0)
    if expected_records(split, n0) > LEAST_FOR_COUNTS:
        home = yield from bounds.find_home(here, records, n0)
        if not home.radius:
            counted = yield from _count_elsewhere(here, away, n0, called)
            if counted[0] > bounds.ATOM * n0:
                home = yield from bounds.find_home(here, records, n0, again=True)
            else:  # most persons are at the centre: it is the others that have to speak
                found = yield from _for_others(here, away, schedule.radius, counted, called)
                if found is None:
                    return None
                radius = found
    return (yield from _radius_beside(here, radius, home, away, records, n0, called))


def _sizes_about(here: bounds.Setting) -> Steps[tuple[CellSummary, RecordSummary]]:
    grid = grids.RadiusGrid.between(here.lattice.floor, here.lattice.last, SIZE_PARTS)
    return (yield from read_both(here.ask(Cells(0, grid.radii)), here.ask(Records(subsamples=2))))


def _radius_beside(
    here: bounds.Setting,
    radius: Schedule,
    home: bounds.Home,
    away: CellSummary,
    records: RecordSummary,
    n0: int,
    called: str,
    again: str = "",
) -> Steps[Outside]:
    """[people.6] A radius of deviations, given one about the centre that half of them exceed."""
    lattice, split, seen = here.lattice, here.split, None
    if home.radius:
        seen = (home.part(n0), home.radius)
        radius = radius.outweighed(seen, split, lattice.floor, lattice.last)
        if radius.shape:
            radius, shaped = yield from bounds.look_at_tail(here, records, radius, 0, n0)
            seen = shaped or seen

    def wider(outside: Outside) -> float:
        return outside.wider(_LIGHT) if called == "persons" else outside.wider()

    outside, elsewhere = yield from bounds.find_radius(
        here, away, radius, lattice.last, seen,
        least=lattice.floor, label=f"radius{again}", wider=wider,
    )  # fmt: skip
    if expected_records(split, n0) <= LEAST_FOR_COUNTS:
        return outside
    looked = yield from far_group.count_twice(here, radius, outside, elsewhere, n0)
    if not looked.group:
        return looked.outside
    return (
        yield from far_group.radius_for_group(here, radius, looked, f"radius{again}, for others")
    )


def radius_again(
    here: bounds.Setting, schedule: PeopleSchedule, n0: int, called: str
) -> Steps[Outside | None]:
    """[people.15] A radius of deviations from the moved centre; ``None``: there is no budget."""
    split, expected = here.split, expected_records(here.split, n0)
    counts = split.part_for(_COUNTED + _COUNTED_FEW / max(expected, 1.0), "subsample")
    needed = schedule.radius.radii + schedule.radius.shape + counts
    if expected <= LEAST_FOR_COUNTS or split.left < (needed + _LEAST_LEFT) * split.total:
        return None
    away, records = yield from _sizes_about(here)
    home = yield from bounds.find_home(here, records, n0)
    radius, again = schedule.radius, ", again"
    return (yield from _radius_beside(here, radius, home, away, records, n0, called, again))


def _count_elsewhere(
    here: bounds.Setting, away: CellSummary, n0: int, called: str
) -> Steps[tuple[int, additive.Noise]]:
    """[people.6] A noisy number of records that are not at the centre."""
    least = _LEAST if called == "persons" else _SURER
    strength = max(least, 30 / expected_records(here.split, n0))
    return (yield from bounds.count_some(here, _elsewhere(away), strength, f"{called} elsewhere"))


def _elsewhere(away: CellSummary) -> int:
    return away.above(0) + away.below(0)


def _for_others(
    here: bounds.Setting,
    away: CellSummary,
    radius: Schedule,
    counted: tuple[int, additive.Noise],
    called: str,
) -> Steps[Schedule | None]:
    """[people.6] A radius for the records not at the centre; ``None``: they are too few.

    Where their number may be noise, they are counted once more: a few may be a good part of all.
    """
    persons, (found, noise) = called == "persons", counted
    adapted = _adapted(here, radius, found if persons else found - noise.variance**0.5)
    clear = found > _CLEAR * noise.variance**0.5
    if adapted is None and not clear:
        found, noise = yield from bounds.count_some(
            here, _elsewhere(away), _AGAIN, f"{called} elsewhere, again"
        )
        clear = found > _CLEAR * noise.variance**0.5
        adapted = _adapted(here, radius, found - noise.variance**0.5, _MOST_AGAIN)
        if not clear:
            return radius
    return adapted  # or they are too few to tell where they are


def _adapted(
    here: bounds.Setting, radius: Schedule, others: float, most: float = _MOST_FOR_RADIUS
) -> Schedule | None:
    """Return a schedule whose radius so many records outweigh, if the budget has one."""
    split = here.split
    heard, span = others * float(split.scale), math.log(here.lattice.last)
    strength = max(_RADIUS, (span + _NATS) / (_TRUST * max(heard, 1.0)))
    part = split.part_for(min(strength, most), "range")
    if strength > most or split.left < (part + _LEAST_LEFT) * split.total:
        return None
    power = _power(2 * (_TRUST * strength * heard - _NATS), span - 6)
    return replace(radius, radii=max(radius.radii, part), power=min(radius.power, power))
