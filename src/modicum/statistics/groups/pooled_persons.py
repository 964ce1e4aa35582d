"""Means of many groups of persons with all their rows, whose limits all groups find together.

A person has rows in several groups, and nobody says in how many. Bounds for each group alone would
have to be paid for as often as a person has groups. So a person is one vector, of what their rows
add to every group: all groups together are one sum of vectors, and its noise is on the scale of the
norm of a vector, which few persons exceed [pooled.10]. Of all groups together:

[pooled.11] persons  their noisy number;
            whole    with a part of the budget as its own, the mean of all rows in all groups
                     (means/person_mean.py): the centre c;
[pooled.12] limits   on the norm of a person's numbers of rows, and on that of their deviations
                     from c, which few persons exceed: those who do have all their rows, with less
                     weight each;

and then, in all groups at once:

[pooled.13] rows     the noisy sum of the weights of the rows of a group, and [pooled.19], at no
                     cost, how many persons are far away there;
            total    that of their deviations from c, with all that is left;
[pooled.14] shrink   the means move towards that of all groups, by released variances.

docs/research/proofs/pooled.md has the proofs, with the same labels.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info
from typing import Any, Literal

import numpy as np

from modicum.exact.lattice import WIDEST, Lattice
from modicum.mechanisms.additive import Noise, add_noise
from modicum.mechanisms.grids import RadiusGrid
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import OK, USABLE, Status, bounds_in_steps
from modicum.runtime.steps import Reads, Steps, draw, draw_count, read, read_both
from modicum.statistics.groups import shrinkage
from modicum.statistics.groups.pooled_law import FEW, ONE_VALUE, TIMES, Floats
from modicum.statistics.people.norms import WEIGHTS, Norms, persons_beyond
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.split import SIZE_PARTS, ClusterOption
from modicum.statistics.tails import error_law, outside
from modicum.stored.codec import storable
from modicum.summaries.base import Across, Read, RecordRule
from modicum.summaries.cells import Cells
from modicum.summaries.sums import ClippedSum, Count

_COUNT = 0.01  # strength
_WHOLE, _PERSONS = (0.1, 0.25), 1000.0  # parts of the budget; persons per unit of noise
# Persons beyond a limit: for every group, per unit of noise, and a part of all at least.
_BEYOND, _PART = 4.0, 1 / 500
_NEARER = 8  # octaves of a limit below the size of all deviations of a person together
_FINEST = 23  # bits of a centre, as far as it can be told
_ROWS = Fraction(2, 5)  # of what a group has
_OCTAVES = 4, 10  # of quotients of noises, below and above one
_USELESS = 2  # an interval wider than so many deviations of the rows of who has most says nothing
_FEWEST = 3  # groups, of which two are needed for what they have in common
_CLEAR = 2  # deviations of the noise
_SURELY = 0.01  # twice how often noise may be taken for far persons

FAR = Status(
    "clipped",
    f"more than {TIMES} times as many persons as usual are so far from all others here that they "
    "count with less weight: this group is not like the others; pooled=False lets it find its own "
    "bounds",
)

Power = Literal[1, 2]


@dataclass(frozen=True, slots=True)
class PersonPool:
    """What all groups of persons found together: released.

    The norm, of a ``power``, of a person's numbers of rows in all groups is at most ``rows`` steps
    of :data:`WEIGHTS`, and that of their deviations from the ``centre`` at most ``most`` steps of
    the lattice of ``totals``; it is ``least`` if deviations are next to nothing. ``whole`` is the
    mean of all rows, and the deviation of its noise.
    """

    lattice: Lattice
    status: Status
    centre: int
    totals: Lattice
    least: int
    rows: int
    most: int
    power: Power
    whole: tuple[float, float]

    @property
    def useful(self) -> bool:
        """Groups of persons always answer together."""
        return True

    def ask(self, column: str | None, kind: Literal["sum", "count", "far"]) -> Read[Any]:
        """Read the clipped sum of what persons have in a group, or of who is far away there."""
        limits = self.most * self.totals.step, self.rows * WEIGHTS.step
        across = Across(self.power, limits, far=kind == "far")
        made: Literal["sum", "count"] = "sum" if kind == "sum" else "count"
        rule = RecordRule(made, lattice=self.lattice, centre=self.centre, across=across)
        if kind == "sum":
            return Read(column, self.totals, ClippedSum(-self.most, self.most), rule=rule)
        return Read(column, WEIGHTS, ClippedSum(0, self.rows), rule=rule)


def find_person_pool(
    mean_of_persons: Callable[..., Steps[ScalarEstimate]],
    wider: int,
    column: str | None,
    lattice: Lattice,
    event: Event,
    groups: int,
) -> Steps[PersonPool]:
    """[pooled.11], [pooled.12] Find a centre and limits for so many groups of persons."""
    split = BudgetSplit(event)
    here = bounds.Setting(column, lattice, split, rule=RecordRule("mean"))
    counted = yield from read(here.ask(Count()))
    share = split.share(split.part_for(_COUNT, "noise"))
    n0, _ = yield from draw_count(split, counted.count, share, "persons")  # [pooled.11]
    needed = (_PERSONS / max(n0 * float(split.scale), 1.0)) ** split.power
    part = Fraction(round(1024 * min(max(_WHOLE[0], needed), _WHOLE[1])), 1024)
    whole = yield from mean_of_persons(
        wider, column, lattice, event.part(part), ClusterOption("clip")
    )
    split.left -= split.total * part
    model: Any = whole.error_model
    centre = min(max(round(model.value / Fraction(lattice.step)), lattice.first), lattice.last)

    totals = _lattice_of_totals(lattice, wider)
    across = Across(split.power)
    numbers = RecordRule("count", lattice=lattice, across=across)
    deviations = RecordRule("sum", lattice=lattice, centre=centre, across=across)
    scale = Fraction(lattice.step) / Fraction(totals.step)
    # A range that was found for few far rows has a floor that says nothing of the others.
    near, floor = model.total.outside, round(lattice.floor * scale)
    if near is not None:
        floor = round(near.radii[0] * (model.total.lattice.step / totals.step)) >> _NEARER
    floor = max(floor, 1)
    row = round(1 / WEIGHTS.step)
    ends = (row, WEIGHTS.last), (floor, totals.last)
    grids = [RadiusGrid.between(*each, SIZE_PARTS) for each in ends]
    sizes, away = yield from read_both(
        Read(column, WEIGHTS, Cells(0, grids[0].radii), rule=numbers),
        Read(column, totals, Cells(0, grids[1].radii), rule=deviations),
    )
    beyond = persons_beyond(split, n0, _BEYOND * groups, _PART)
    rows = yield from Norms(split, sizes, grids[0], WEIGHTS).limit(beyond, "most rows")
    most = yield from Norms(split, away, grids[1], totals).limit(beyond, "most deviations")
    least = max(2, round(abs(centre) * scale) >> _FINEST)
    noise = math.sqrt(model.total.noise.variance) * model.total.lattice.step / model.size
    known = float(model.value), noise
    return PersonPool(lattice, whole.status, centre, totals, least, rows, most, split.power, known)


def _lattice_of_totals(lattice: Lattice, wider: int) -> Lattice:
    """The lattice of the deviations of a person's values from a centre, all together."""
    width = min(lattice.hi - lattice.lo, WIDEST)
    deviation = Lattice.within((-width, width))
    return replace(deviation, step=max(deviation.step, lattice.step)).widened(wider)


def mean_in_person_pool(
    column: str | None, pool: PersonPool, event: Event, _: object
) -> Steps[ScalarEstimate]:
    """[pooled.13] The mean of a group, of which every draw costs what it costs in all groups."""
    split = BudgetSplit(event)
    asked = (pool.ask(column, "count"), pool.ask(column, "far"), pool.ask(column, "sum"))
    weights, far, deviations = yield Reads(asked)
    numbers, share = (weights.total, far.total), split.share(_ROWS)
    mechanism = split.spend(add_noise(numbers, share, sensitivity=pool.rows))  # [pooled.19]

    def words(drawn: tuple[int, ...]) -> str:
        return f"{WEIGHTS.words(drawn[0])}, and {drawn[1] / pool.rows:,.1f} persons far away"

    rows, away = yield from draw("rows", mechanism, words)
    final = split.spend(add_noise((deviations.total,), split.rest(), sensitivity=pool.most))
    (total,) = yield from draw("total", final, lambda drawn: pool.totals.words(drawn[0]))
    noise, rows_noise = (
        outside.NoisyTerm(final.noise[0], 1.0),
        outside.NoisyTerm(mechanism.noise[0], 1.0),
    )
    error_model = PersonGroupErrorModel(
        pool.lattice, pool.totals, pool.centre, (pool.rows, pool.most), rows, total, rows_noise,
        noise, pool.whole, away,
    )  # fmt: skip
    return ScalarEstimate(error_model.value, error_model, _status(pool, error_model))


def _status(pool: PersonPool, error_model: PersonGroupErrorModel) -> Status:
    if pool.status.code not in USABLE:
        return pool.status
    found = error_model.status
    return ONE_VALUE if pool.most <= pool.least and found != FAR else found


def shrunk_persons(pool: PersonPool, estimates: Sequence[Any]) -> list[Any]:
    """[pooled.14] Return the estimates of all groups, shrunk: post-processing of releases."""
    models: list[PersonGroupErrorModel] = [each.error_model for each in estimates]
    rows = sum(max(model.weight_of_rows, 0.0) for model in models)
    overall, noise = pool.lattice.value(pool.centre), 0.0
    if rows > 0:
        away = sum(model.total for model in models) / Fraction(rows)
        steps = pool.centre + away * Fraction(pool.totals.step) / Fraction(pool.lattice.step)
        overall = float(pool.lattice.inside(steps))
        noise = math.hypot(*(model.noise_of_sum for model in models)) / rows
    clear = [model for model in models if model.clear]
    towards, weights = overall, np.zeros(len(models))
    if len(clear) >= _FEWEST:
        values = np.array([model.unshrunk for model in clear])
        deviations = np.array([model.deviation for model in clear])
        towards, common = shrinkage.in_common(values, deviations, np.zeros(len(clear)))
        noises = np.array([model.own_noise for model in models])
        weights = shrinkage.weights_of_own(common, noises)
    moved, usual = [], _usual(models)
    for estimate, model, weight in zip(estimates, models, weights.tolist(), strict=True):
        known = replace(
            model, overall=(overall, noise), usual=usual, towards=towards, weight=weight
        )
        status = _status(pool, known)
        moved.append(replace(estimate, value=known.value, error_model=known, status=status))
    return moved


def _usual(models: Sequence[PersonGroupErrorModel]) -> float:
    """[pooled.19] How many persons are far away, for a row of all groups, with the noise."""
    far = max(sum(model.far for model in models), 0)
    rows = max(sum(model.rows for model in models), 1)
    noise = math.hypot(*(math.sqrt(model.rows_noise.variance) for model in models))
    return (far + noise) / rows


@functools.lru_cache(maxsize=64)
def _reaches(noise: Noise, of_rows: Noise, alpha: float) -> tuple[Floats, Floats]:
    """Quotients x, and what the one noise less x times the other exceeds alpha / 2 of the time."""
    unit = math.sqrt(noise.variance / of_rows.variance)
    x = unit * np.concatenate([[0.0], 2.0 ** (np.arange(4 * -_OCTAVES[0], 4 * _OCTAVES[1]) / 4)])
    sums = (
        error_law.Reach(error_law.noise_parts(((noise, 1.0), (of_rows, each))))
        for each in x.tolist()
    )
    reach = np.array([each.bound(alpha / 2) for each in sums])
    return np.concatenate([-x[:0:-1], x]), np.concatenate([reach[:0:-1], reach])


def quotient_between(
    total: int, rows: int, noise: Noise, of_rows: Noise, alpha: float
) -> tuple[float, float] | None:
    """[pooled.15] Return ends of a quotient of sums, given both with their noise (Fieller 1954).

    ``None``: it may be anything.
    """
    x, reach = _reaches(noise, of_rows, alpha)
    above, below = x * rows - total - reach, total - x * rows - reach
    if above[-1] <= 0 or below[0] <= 0 or above[0] > 0 or below[-1] > 0:
        return None
    last, first = int(np.flatnonzero(above <= 0)[-1]), int(np.flatnonzero(below <= 0)[0])
    upper = np.interp(0.0, above[last : last + 2], x[last : last + 2])
    lower = np.interp(0.0, -below[first - 1 : first + 1], x[first - 1 : first + 1])
    return float(lower), float(upper)


@storable
@dataclass(frozen=True, slots=True)
class PersonGroupErrorModel:
    """The mean of one of many groups of persons with all their rows.

    ``rows`` is the noisy sum of the weights of its rows, in steps of :data:`WEIGHTS`, and ``total``
    that of their deviations from the ``centre``, in steps of ``totals``; of a person all groups
    together have at most the ``limits`` of both, in the same steps. ``whole`` is the mean of all
    rows of all groups, and ``overall`` that of the weighted ones, each with the deviation of its
    noise. The noisy number of persons ``far`` away is in steps of as many as a person's
    limit on rows has, and ``usual`` are those of a row in all groups. A mean that is shrunk moves
    ``towards`` another, to a ``weight`` of its own.

    Notes
    -----
    The interval covers all noise, and what the weights do to a group: at most three times what
    they do to all groups together, which is known from ``whole`` and ``overall`` [pooled.15].
    """

    lattice: Lattice
    totals: Lattice
    centre: int
    limits: tuple[int, int]
    rows: int
    total: int
    rows_noise: outside.NoisyTerm
    noise: outside.NoisyTerm
    whole: tuple[float, float]
    far: int = 0
    usual: float = 1.0
    overall: tuple[float, float] | None = None
    towards: float = 0.0
    weight: float = 1.0

    @property
    def weight_of_rows(self) -> float:
        """The noisy sum of the weights of all rows."""
        return self.rows * WEIGHTS.step

    @property
    def unshrunk(self) -> float:
        """[pooled.13] The mean before it was shrunk, as in [people.9]."""
        rows = Fraction(max(self.rows, 0)) * Fraction(WEIGHTS.step)
        variance = Fraction(round(self.rows_noise.variance)) * Fraction(WEIGHTS.step) ** 2
        away = self.total * Fraction(self.totals.step) * rows
        away /= max(rows**2 + variance, Fraction(1))
        step = Fraction(self.lattice.step)
        return float(self.lattice.inside(self.centre + away / step))

    @property
    def value(self) -> Fraction:
        own = Fraction(self.unshrunk)
        return own + (1 - Fraction(self.weight)) * (Fraction(self.towards) - own)

    @property
    def noise_of_sum(self) -> float:
        """The standard deviation of the noise of the sum of deviations from the mean."""
        away = self.unshrunk - self.lattice.value(self.centre)
        return math.hypot(self.noise_of_total, away * self.noise_of_rows)

    @property
    def noise_of_total(self) -> float:
        """That of the sum of deviations from the centre."""
        return math.sqrt(self.noise.variance) * self.totals.step

    @property
    def noise_of_rows(self) -> float:
        """That of the sum of the weights."""
        return math.sqrt(self.rows_noise.variance) * WEIGHTS.step

    @property
    def deviation(self) -> float:
        """[pooled.14] The standard deviation of the noise of the mean, as far as it is small."""
        deviation = self.noise_of_sum / max(self.weight_of_rows - self.noise_of_rows, 1.0)
        return min(deviation, float_info.max)

    @property
    def own_noise(self) -> float:
        """[pooled.14] The standard deviation of the noise, but for that of the number of rows.

        As far as that is large, the mean before it was shrunk is near the centre already.
        """
        return self.noise_of_total / max(math.hypot(self.weight_of_rows, self.noise_of_rows), 1.0)

    @property
    def clear(self) -> bool:
        """Whether the number of rows is more than its noise."""
        return self.weight_of_rows > _CLEAR * self.noise_of_rows

    @property
    def few_seen(self) -> bool:
        return self.rows_noise.explains(self.rows)

    @property
    def most(self) -> tuple[float, float]:
        """The limits on the rows and the deviations of a person, in rows and in the data's unit."""
        rows, deviations = self.limits
        return rows * WEIGHTS.step, deviations * self.totals.step

    @property
    def _typical(self) -> float:
        """The mean deviation of the rows of who reaches both limits, in the unit of the data."""
        rows, deviations = self.most
        return deviations / rows

    @property
    def in_steps(self) -> tuple[int, ...]:
        return bounds_in_steps(0, round(self._typical / self.lattice.step))

    @property
    def status(self) -> Status:
        """Whether the interval says something of this group, and its persons are not far away."""
        usual = TIMES * self.usual * max(self.rows, 0)
        if self.far - self.rows_noise.bound(_SURELY) > usual:
            return FAR
        lower, upper = self.interval(0.95, None)
        return FEW if upper - lower > _USELESS * self._typical else OK

    def interval(self, level: float, tail: float | None) -> Interval:
        value, lattice = float(self.value), self.lattice
        quotients = quotient_between(
            self.total, self.rows, self.noise.noise, self.rows_noise.noise, 1 - level
        )
        if quotients is None:
            return Interval(lattice.lo, lattice.hi)
        step, centre = self.totals.step / WEIGHTS.step, lattice.value(self.centre)
        off = self._taken(tail) + lattice.step + self.totals.step
        lower, upper = (centre + each * step for each in quotients)
        return Interval(
            min(max(lower - off, lattice.lo), value), max(min(upper + off, lattice.hi), value)
        )

    def _taken(self, tail: float | None) -> float:
        """[pooled.15] How far the weights of persons may move the mean of a group."""
        if tail is None or self.overall is None:
            return 0.0
        seen = abs(self.overall[0] - self.whole[0])
        return TIMES * (seen + math.hypot(self.whole[1], self.overall[1]))

    @property
    def condition(self) -> str:
        return (
            f"assumes that limits on persons move a group at most {TIMES} times as far as all rows"
        )

    def assumption(self, tail: float | None) -> str:
        rows, deviations = self.most
        about = (
            f"a person counts with less weight if they have more than {rows:,.6g} rows, or "
            f"deviations of more than {deviations:,.6g}, in all groups together"
        )
        if tail is None:
            return f"interval(tail=None) is for the weighted mean: {about}; it covers all noise."
        return (
            f"interval() covers all noise, and what the limits do: {about}. It assumes that this "
            f"moves the mean of a group at most {TIMES} times as far as that of all rows, which is "
            "known from releases. No released number of this group can check that."
        )

    def to_dict(self) -> dict[str, object]:
        shrunk = {} if self.overall is None else {"towards": self.towards, "weight": self.weight}
        rows, deviations = self.most
        return {
            "centre": self.lattice.value(self.centre),
            "most_rows": rows,
            "most_deviations": deviations,
            "rows": self.weight_of_rows,
            "far_persons": self.far / self.limits[0],
            "noise_sd": self.deviation,
            "unshrunk": self.unshrunk,
            **shrunk,
        }
