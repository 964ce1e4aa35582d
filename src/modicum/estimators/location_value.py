"""The last draws of a location: a value, and ends beyond it, from cells between two bounds.

Labels are those of :mod:`modicum.estimators.location` and docs/proofs/locations.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.estimators.crossing import level_ends_of
from modicum.estimators.location_plan import GIVE_UP, Candidates, LengthPlan
from modicum.estimators.outside import Outside
from modicum.estimators.purse import Purse
from modicum.estimators.statistic import MonotoneStatistic, SignedLengths
from modicum.exact.lattice import Lattice
from modicum.mechanisms.radius import RadiusGrid
from modicum.steps import Steps, draw
from modicum.summaries.cells import CellSummary

__all__ = ["TAIL", "Bounds", "Scene", "draw_end", "draw_value"]

TAIL = 3.0  # the ends allow for clipped records if the tails are this heavy


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where records are clipped: released."""

    lo: int
    hi: int
    outside: Outside | None

    def allowed(self, statistic: MonotoneStatistic) -> float:
        """Records at a bound that make up for those beyond it, for a tail of index 3."""
        if self.outside is None or statistic.excess(TAIL) == math.inf:
            return 0.0
        return statistic.excess(TAIL) * self.outside.expected(TAIL)


@dataclass(frozen=True, slots=True)
class Scene:
    """All that the last draws follow from; of these, only the cells are secret.

    Attributes
    ----------
    purse : Purse
    lattice : Lattice
    statistic : MonotoneStatistic
    cells : CellSummary
    bounds : Bounds
    candidates : Candidates
    trimmed : int
        Records deleted on each side, by rank; those beyond the bounds are deleted then, and
        clipped otherwise.
    """

    purse: Purse
    lattice: Lattice
    statistic: MonotoneStatistic
    cells: CellSummary
    bounds: Bounds
    candidates: Candidates
    trimmed: int = 0

    def lengths(self, size: LengthPlan, towards: int = 0) -> SignedLengths:
        """Lengths of values between the bounds (``towards``: as of a statistic's lengths)."""
        ends = self.bounds.lo, self.bounds.hi
        if self.bounds.outside is None and not self.trimmed:
            # The outermost cells may reach beyond the range.
            reach = self.cells.edges[-1]
            ends = self.cells.centre - reach, self.cells.centre + reach
        return self.statistic.lengths(
            self.cells,
            ends,
            self.lattice.step,
            unit=size.unit,
            cap=size.cap,
            trimmed=self.trimmed,
            towards=towards,
        )


def draw_value(scene: Scene, share: Fraction | None) -> Steps[tuple[int, float]]:
    """[C5] The value, and a bound on its length that holds with a probability of 95 %."""
    candidates, purse = scene.candidates, scene.purse
    size = LengthPlan.of(purse.range_for(share), candidates.log_count, whole=scene.statistic.whole)
    counted = scene.lengths(size)
    ends = level_ends_of(
        lambda numbers: counted.at(candidates.places(numbers)),
        candidates.first,
        candidates.last,
        candidates.fine,
        size.cap,
    )
    first, last = (candidates.fine * number for number in (candidates.first, candidates.last))
    law = purse.level(ends, first, last, unit=size.unit, share=share)

    def words(number: int) -> str:
        return scene.lattice.words(candidates.place(number))

    number = yield from draw("location", law, words)
    return candidates.place(number), size.bound(candidates.log_count, 0.05)


def draw_end(
    scene: Scene, point: int, sign: int, level: float, share: Fraction | None
) -> Steps[int]:
    """[C6] A value beyond the location, on one side.

    Every record is moved to the end of its cell on that side, and so is every score to that of a
    knot: what a cell hides cannot put the location beyond the end.
    """
    epsilon = scene.purse.range_for(share)
    limit = (scene.lattice.first, scene.lattice.last)[sign > 0]
    furthest = max(scene.bounds.lo, limit) if sign < 0 else min(scene.bounds.hi, limit)
    span = sign * (furthest - point)
    nearest = scene.candidates.unit * scene.candidates.fine
    radii = RadiusGrid.between(min(nearest, max(span, 1)), max(span, 1)).radii
    places = point + sign * np.minimum(np.array(radii, dtype=np.int64), span)

    log_count, missed = math.log(len(places)), 0.45 * (1 - level)
    give_up = GIVE_UP * 2 / float(epsilon)
    shift = (
        scene.bounds.allowed(scene.statistic)
        + (log_count - math.log(missed)) * 2 / float(epsilon)
        + give_up
    )
    size = LengthPlan.of(epsilon, log_count, shift, whole=scene.statistic.whole)
    away = sign * scene.lengths(size, sign).at(places)
    target = math.ceil(shift * size.unit)
    # The last candidate stands for the end of the range: never far from the target.
    away[-1] = max(int(away[-1]), target - math.floor(give_up * size.unit))
    levels = np.arange(size.cap, dtype=np.int64)
    lows = np.searchsorted(away, target - levels, side="left")
    highs = np.searchsorted(away, target + levels, side="right") - 1
    law = scene.purse.level((lows, highs), 0, len(places) - 1, unit=size.unit, share=share)

    def end(number: int) -> int:
        return limit if number == len(places) - 1 else int(places[number])

    label = "lower end" if sign < 0 else "upper end"
    number = yield from draw(label, law, lambda number: scene.lattice.words(end(number)))
    return end(number)
