"""The last draws of a location: a value, and ends beyond it, from cells between two bounds.

Labels are those of :mod:`modicum.statistics.location` and docs/proofs/locations.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import RadiusGrid
from modicum.statistics.crossing import level_ends_of
from modicum.statistics.location_plan import GIVE_UP, Candidates, LengthPlan
from modicum.statistics.monotone_statistic import MonotoneStatistic, SignedLengths
from modicum.statistics.outside import Outside
from modicum.statistics.purse import Purse
from modicum.steps import Steps, draw
from modicum.summaries.base import Integers
from modicum.summaries.cells import CellSummary

__all__ = ["TAIL", "Bounds", "Scene", "draw_ends", "draw_value"]

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


def draw_ends(scene: Scene, point: int, level: float) -> Steps[tuple[int, int]]:
    """[C6] A value on each side of the location, equally far from a point, for all that is left.

    One draw of the distance. On either side lengths are those of a statistic that is surely
    beyond, so that nothing that a cell hides can put the location beyond an end.
    """
    epsilon, (first, last) = scene.purse.range_for(None), (scene.lattice.first, scene.lattice.last)
    low, high = point - max(scene.bounds.lo, first), min(scene.bounds.hi, last) - point
    nearest, span = scene.candidates.unit * scene.candidates.fine, max(low, high, 1)
    grid = RadiusGrid.between(min(nearest, span), span, per_octave=4)
    radii = np.minimum(np.array(grid.radii, dtype=np.int64), span)

    log_count, missed = math.log(len(radii)), 0.9 * (1 - level)
    give_up = GIVE_UP * 2 / float(epsilon)
    shift = (
        scene.bounds.allowed(scene.statistic)
        + (log_count - math.log(missed)) * 2 / float(epsilon)
        + give_up
    )
    size = LengthPlan.of(epsilon, log_count, shift, whole=scene.statistic.whole)
    target = math.ceil(shift * size.unit)

    def away(sign: int, reach: int) -> Integers:
        lengths = sign * scene.lengths(size, sign).at(point + sign * np.minimum(radii, reach))
        lengths[radii >= reach] = size.cap  # the end is that of the range
        found: Integers = np.maximum.accumulate(lengths)
        return found

    nearer = np.minimum(away(-1, low), away(1, high))
    nearer[-1] = target + math.floor(give_up * size.unit)  # the range itself, for all data alike
    law = scene.purse.beyond(tuple(nearer.tolist()), target=target, unit=size.unit, share=None)

    def ends(number: int) -> tuple[int, int]:
        radius = int(radii[number])
        return (
            point - radius if radius < low else first,
            point + radius if radius < high else last,
        )

    def words(number: int) -> str:
        lower, upper = ends(number)
        return f"[{scene.lattice.words(lower)}, {scene.lattice.words(upper)}]"

    number = yield from draw("ends", law, words)
    return ends(number)
