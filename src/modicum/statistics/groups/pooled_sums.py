"""Sums and counts of many groups of persons with all their rows, bounded in all groups at once.

A person's sums in all groups are one vector, as those of means are (pooled_persons.py), so that
nobody has to say, or to find, in how many groups a person counts. Of all groups together:

[pooled.16] persons  their noisy number;
            limit    on the norm of a person's sums, which few persons exceed: those who do have
                     all their rows, with less weight each;
            kept     the sum of the norms of all persons within the limit;
            furthest a norm that hardly anybody exceeds;
            beyond   the sum of what norms have beyond the limit, up to that;

and then, in all groups at once:

[pooled.17] total    the noisy sum of a group, with all that is left;
[pooled.18] raise    sums are raised by what the limit took off all groups, as far as that is clear
                     of noise: post-processing.

docs/research/proofs/pooled.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.grids import RadiusGrid
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import OK, USABLE, Status, bounds_in_steps
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.groups import pooled_law
from modicum.statistics.people.norms import WEIGHTS, Norms, persons_beyond
from modicum.statistics.ranges.split import SIZE_PARTS
from modicum.statistics.tails import outside
from modicum.stored.codec import storable
from modicum.summaries.base import Across, Read, RecordRule
from modicum.summaries.cells import Cells
from modicum.summaries.sums import ClippedSum

Kind = Literal["sum", "count"]
FEWEST = 10
"""Groups, from which on sums and counts share a limit by default."""

_MORE = 2.5  # times the strengths in zCDP, where their squares are what they cost
_COUNT, _KEPT, _AWAY = 0.01, 0.02, 0.05  # strengths
# Persons beyond the limit, for every group and per unit of noise: a vector of several groups has
# an L2 norm that is smaller beside what its groups lose.
_BEYOND = {1: 2.0, 2: 0.7}
_CLEAR = 2.0  # deviations of the noise, up to which nothing is raised
_RAISED = 1.0005  # by less than what is shown of it
_USELESS = 1.5  # an interval wider than so many times the answer says next to nothing
FEW = Status(
    "few_records",
    "noise, or what the limit on a person may take off, can be as large as the answer: ask for "
    "fewer groups, or spend more",
)


@dataclass(frozen=True, slots=True)
class SumsPool:
    """What all groups of persons found together: released.

    The norm, of a ``power``, of a person's sums in all groups is at most ``most`` steps of the
    lattice ``on``, which hardly more than ``few`` exceed. ``kept`` is the sum of the norms within
    that, and ``beyond`` what norms have beyond it, each with the deviation of its noise, in these
    steps.
    """

    lattice: Lattice | None
    status: Status
    kind: Kind
    on: Lattice
    most: int
    power: Literal[1, 2]
    persons: int
    few: int
    kept: tuple[float, float]
    beyond: tuple[float, float]

    @property
    def useful(self) -> bool:
        """Groups of persons always answer together."""
        return True

    def ask(self, column: str | None) -> Read[Any]:
        """Read the sum of what persons have in a group, by their weights."""
        across = Across(self.power, (self.most * self.on.step,))
        rule = RecordRule(self.kind, lattice=self.lattice, across=across)
        lo = max(-self.most, self.on.first)
        return Read(column, self.on, ClippedSum(lo, self.most), rule=rule)


def find_sums(
    wider: int, kind: Kind, column: str | None, lattice: Lattice | None, event: Event, groups: int
) -> Steps[SumsPool]:
    """[pooled.16] Find a limit for so many groups of persons, and what it takes off all of them."""
    split = BudgetSplit(event)
    on = replace(WEIGHTS, floor=round(1 / WEIGHTS.step))
    if kind == "sum":
        assert lattice is not None
        on = lattice.widened(wider)
        # Weighted sums are as near to zero as they need to be, whatever the range of values.
        floor = max(1, round(lattice.floor * (lattice.step / on.step)))
        on = replace(on, lo=min(on.lo, 0.0), hi=max(on.hi, 0.0), floor=floor)
    sizes = replace(on, lo=0.0, hi=max(on.hi, -on.lo))
    grid = RadiusGrid.between(sizes.floor, sizes.last, SIZE_PARTS)
    rule = RecordRule(kind, lattice=lattice, across=Across(split.power))
    cells = yield from read(Read(column, sizes, Cells(0, grid.radii), rule=rule))
    share = split.share(split.part_for(_COUNT, "noise"))
    n0, _ = yield from draw_count(split, cells.count, share, "persons")
    target = persons_beyond(split, n0, _BEYOND[split.power] * groups)
    times = _MORE if split.concentrated else 1.0
    norms = Norms(split, cells, grid, sizes, times)
    norms = replace(norms, grid=(yield from norms.nearer(n0, target)))
    most = yield from norms.limit(target, f"most of a {kind}")

    def summed(label: str, strength: float, number: int, reach: int) -> Steps[tuple[float, float]]:
        share = split.share(split.part_for(times * strength, "noise"))
        mechanism = split.spend(add_noise((number,), share, sensitivity=max(reach, 1)))
        (noisy,) = yield from draw(label, mechanism, lambda drawn: sizes.words(drawn[0]))
        return float(noisy), math.sqrt(mechanism.noise[0].variance)

    kept = yield from summed("kept", _KEPT, cells.clipped_sum(0, most), most)
    furthest = yield from norms.furthest(most)
    away = cells.clipped_sum(0, furthest) - cells.clipped_sum(0, most)
    beyond = yield from summed("beyond the limit", _AWAY, away, furthest - most)
    return SumsPool(lattice, OK, kind, on, most, split.power, n0, target, kept, beyond)


def sum_in_pool(
    column: str | None, pool: SumsPool, event: Event, _: object
) -> Steps[ScalarEstimate]:
    """[pooled.17] The sum of a group, whose draw costs what it costs in all groups."""
    split = BudgetSplit(event)
    found = yield from read(pool.ask(column))
    mechanism = split.spend(add_noise((found.total,), split.rest(), sensitivity=pool.most))
    (noisy,) = yield from draw("total", mechanism, lambda drawn: pool.on.words(drawn[0]))
    noise = outside.NoisyTerm(mechanism.noise[0], 1.0)
    counts = pool.kind == "count"
    rounded = 1 if counts else max(pool.persons, 1)
    error_model = GroupSumErrorModel(pool.on, pool.most, noisy, noise, rounded, counts=counts)
    return ScalarEstimate(error_model.value, error_model, OK)


def with_lost(pool: SumsPool, estimates: Sequence[Any]) -> list[Any]:
    """[pooled.18] Return the sums of all groups, raised: post-processing of releases."""
    models: list[GroupSumErrorModel] = [each.error_model for each in estimates]
    sums, groups = [float(model.noisy) for model in models], len(models)
    noise = math.sqrt(models[0].noise.variance)
    (kept, unsure), (beyond, unsure_beyond) = pool.kept, pool.beyond
    at_least, seen = max(kept - unsure, unsure, 1.0), max(beyond, 0.0) + unsure_beyond
    lost = max(beyond - (_CLEAR * unsure_beyond) ** 2 / max(beyond, unsure_beyond, 1.0), 0.0)
    squares = max(math.fsum(each**2 for each in sums) / groups - noise**2, 0.0)
    reliable = _part(math.sqrt(squares), noise)
    clear = _part(lost, math.hypot(groups * noise, unsure_beyond)) * reliable
    # Fewer persons than groups are beyond the limit: what they lose is in few groups.
    size = max(math.fsum(map(abs, sums)), at_least) / min(groups, pool.few)
    share, raised = seen / at_least, 1 + clear * lost / at_least
    found = []
    for estimate, model in zip(estimates, models, strict=True):
        known = replace(model, lost=(share, size), raised=raised, reliable=reliable)
        status = known.status if pool.status.code in USABLE else pool.status
        found.append(replace(estimate, value=known.value, error_model=known, status=status))
    return found


def _part(size: float, noise: float) -> float:
    """The part of what was seen that is best taken, if noise is so large."""
    return size**2 / max(size**2 + noise**2, 1.0)  # of steps


@storable
@dataclass(frozen=True, slots=True)
class GroupSumErrorModel:
    """The sum, or the number of rows, of one of many groups of persons with all their rows.

    ``noisy`` is the sum by the weights of persons, in steps of ``lattice``; the norm of a person's
    sums in all groups is at most ``most`` of them, and so many steps may be ``rounded`` away. All
    groups have ``lost`` about a part of what they kept, which is so many steps on average; the
    value is ``raised`` by a factor. Of the squares of what groups kept, a part is ``reliable``, and
    the rest is noise: where most is, a sum that looks clear of noise may be the luckiest of many.
    ``counts``: of rows, which are whole numbers.

    Notes
    -----
    The interval covers all noise, and what the weights take off a group: at most three times the
    part that they take off all groups together [pooled.18].
    """

    lattice: Lattice
    most: int
    noisy: int
    noise: outside.NoisyTerm
    rounded: int
    lost: tuple[float, float] | None = None
    raised: float = 1.0
    reliable: float = 1.0
    counts: bool = False

    @property
    def _steps(self) -> Fraction:
        """The value in steps, within the signs of the range; of a count, a whole number of rows."""
        found = Fraction(self.noisy) * Fraction(self.raised)
        if self.counts:
            step = Fraction(self.lattice.step)
            found = round(found * step) / step
        if self.lattice.lo >= 0:
            return max(found, Fraction(0))
        return min(found, Fraction(0)) if self.lattice.hi <= 0 else found

    @property
    def value(self) -> Fraction:
        return self._steps * Fraction(self.lattice.step)

    @property
    def limit(self) -> float:
        """The limit on the norm of a person's sums, in the unit of the data."""
        return self.most * self.lattice.step

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise."""
        sized = math.sqrt(self.noise.variance) * self.lattice.step * self.raised
        return min(sized, sys.float_info.max)

    @property
    def pooled_words(self) -> str:
        """What a table of all groups says of them."""
        more = f"; sums are raised by {self.raised - 1:.1%} for what that took off all groups"
        return (
            "persons were bounded in all groups at once, for a part of the cost: those with more "
            f"than {self.limit:,.6g} in all of them count with less weight"
            + more
            * (self.raised > _RAISED)
        )

    @property
    def in_steps(self) -> tuple[int, ...]:
        return bounds_in_steps(max(-self.most, self.lattice.first), self.most)

    @property
    def status(self) -> Status:
        """Whether the interval says something of this group."""
        lower, upper = self._ends(0.95, self.lost)
        return FEW if upper - lower > _USELESS * self.reliable * abs(float(self._steps)) else OK

    def interval(self, level: float, tail: float | None) -> Interval:
        lower, upper = self._ends(level, None if tail is None else self.lost)
        return Interval(lower * self.lattice.step, upper * self.lattice.step)

    def _ends(self, level: float, lost: tuple[float, float] | None) -> tuple[float, float]:
        """Noise, rounding, and what the weights take off on the sides where it may be, in steps."""
        reach, off = self.noise.bound(1 - level) + self.rounded, 0.0
        if lost is not None:  # [pooled.18]
            share, size = lost
            off = pooled_law.TIMES * share * max(abs(self.noisy), size)
        lower, upper = self.noisy - reach, self.noisy + reach
        if self.lattice.lo >= 0:
            lower, upper = max(lower, 0.0), max(upper, 0.0) + off
        elif self.lattice.hi <= 0:
            lower, upper = min(lower, 0.0) - off, min(upper, 0.0)
        else:
            lower, upper = lower - off, upper + off
        value = float(self._steps)
        return min(lower, value), max(upper, value)

    @property
    def condition(self) -> str:
        return (
            f"assumes that the limit on persons takes off a group at most {pooled_law.TIMES} times "
            "the part "
            "that it takes off all"
        )

    def assumption(self, tail: float | None) -> str:
        about = (
            "a person counts with less weight if they have more than "
            f"{self.limit:,.6g} in all groups together"
        )
        if tail is None:
            return f"interval(tail=None) is for the weighted sum: {about}; it covers all noise."
        return (
            f"interval() covers all noise, and what the limit does: {about}. It assumes that this "
            f"takes off a group at most {pooled_law.TIMES} times the part that it takes off all "
            "groups, which "
            "is known from releases. No released number of this group can check that."
        )

    def to_dict(self) -> dict[str, object]:
        lost = {} if self.lost is None else {"lost_of_all": self.lost[0]}
        return {
            "most": self.limit,
            "noise_sd": self.deviation,
            "weighted": self.noisy * self.lattice.step,
            "raised": self.raised,
            **lost,
        }
