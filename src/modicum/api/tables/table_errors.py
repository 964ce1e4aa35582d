"""How wrong the numbers of a table of counts or sums may be: noise, margins, what was clipped."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from sys import float_info

import numpy as np

from modicum.api.tables import margins
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.statistics.ranges.clipped_sum import SumErrorModel
from modicum.statistics.tails.tail_index import upper_quantile
from modicum.stored.codec import storable

_ROUNDING = 1e-6  # more than the ends of intervals of counts are wrong by


@functools.lru_cache(maxsize=16)
def _solved(
    layout: margins.Layout, cells: Noise, rest: tuple[Noise | None, ...]
) -> margins.LeastSquares:
    return margins.LeastSquares(layout, cells, rest)


@storable
@dataclass(frozen=True, slots=True)
class TableErrorModel:
    """Noisy cells and margins, and what least squares adds to the cells.

    ``measured`` are the cells and the margins of the layout, in integers: counts, or steps of the
    lattice; ``corrections`` and ``whole`` what is added to each cell by least squares, and
    the same in integers. ``clipped`` says of sums between which bounds they are, and what may lie
    beyond them.
    """

    layout: margins.Layout
    measured: tuple[margins.NoisySums, ...]
    corrections: tuple[float, ...]
    whole: tuple[int, ...]
    clipped: SumErrorModel | None

    @property
    def lattice(self) -> Lattice | None:
        """The lattice of sums; none of counts."""
        return None if self.clipped is None or self.clipped.whole else self.clipped.lattice

    @property
    def step(self) -> Fraction:
        """The unit of the integers."""
        return Fraction(1) if self.lattice is None else Fraction(self.lattice.step)

    @property
    def few_seen(self) -> bool:
        """Whether the released count of values cannot be distinguished from 0."""
        return self.clipped is not None and self.clipped.few_seen

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How large the released bounds are, in steps."""
        return () if self.lattice is None or self.clipped is None else self.clipped.in_steps

    def tail_index(self, level: float) -> float:
        """The index of the tail that the intervals assume by default."""
        return 3.0 if self.clipped is None else self.clipped.tail_index(level)

    @property
    def condition(self) -> str:
        """What the intervals assume, in a few words."""
        return "" if self.clipped is None else self.clipped.condition

    def assumption(self, tail: float | None) -> str:
        """Say what the intervals cover and assume."""
        noise = "each interval covers the noise of its number by the exact law of the adjusted one"
        if self.clipped is None:
            return f"{noise}, its only error; it assumes nothing."
        return f"{noise}; {self.clipped.assumption(tail)}"

    def to_dict(self) -> dict[str, object]:
        """Return the noise of each margin, and the bounds of sums."""
        names = [self.layout.by, *self.layout.margins]
        return {
            "noise_sd": [
                {
                    "columns": list(columns),
                    "sd": None if each.noise is None else self._sd(each.noise),
                }
                for columns, each in zip(names, self.measured, strict=True)
            ],
            **({} if self.clipped is None else {"clip": self.clipped.clip}),
        }

    def _sd(self, noise: Noise) -> float:
        return min(math.sqrt(noise.variance) * float(self.step), float_info.max)

    def adjusted(self, margin: margins.Names) -> tuple[int, ...]:
        """Return the sums of a margin, or the cells, that add up, in integers."""
        cells = [a + b for a, b in zip(self.measured[0].values, self.whole, strict=True)]
        return self._added(margin, cells)

    def released(self, margin: margins.Names) -> tuple[int, ...]:
        """Return the sums as they were measured, or sums of the measured cells."""
        names = (self.layout.by, *self.layout.margins)
        values = self.measured[names.index(margin)].values if margin in names else ()
        return values or self._added(margin, self.measured[0].values)

    def _added(self, margin: margins.Names, cells: Sequence[int]) -> tuple[int, ...]:
        sums = [0] * len(self.layout.sums(margin))
        for place, value in zip(self.layout.places(margin).tolist(), cells, strict=True):
            sums[place] += value
        return tuple(sums)

    def intervals(
        self, margin: margins.Names, level: float, tail: float | None
    ) -> tuple[margins.Floats, margins.Floats]:
        """Return the ends of the intervals of the sums of a margin, in integers' unit.

        Each holds with probability ``level``. They are about the estimate before it was rounded to
        integers, and hold it and the integer.
        """
        alpha = 1 - level
        places = self.layout.places(margin)
        drift = np.bincount(places, weights=np.array(self.corrections), minlength=0)
        base = np.array([float(x) for x in self._added(margin, self.measured[0].values)])
        beyond = alpha if self.clipped is None else 0.7 * alpha
        noise = self._of_laws(places, lambda law: law.bound(beyond))
        below, above = self._beyond(alpha, tail)
        shown = np.array([float(x) for x in self.adjusted(margin)])
        lower, upper = base + drift - noise - below, base + drift + noise + above
        if self.lattice is None:  # a count is an integer
            lower, upper = np.ceil(lower - _ROUNDING) + 0.0, np.floor(upper + _ROUNDING) + 0.0
        return np.minimum(lower, shown), np.maximum(upper, shown)

    def expected_errors(self, margin: margins.Names) -> margins.Floats:
        """Return the expected size of the noise of each adjusted sum of a margin, in integers."""
        return self._of_laws(self.layout.places(margin), lambda law: law.expected_size)

    def _of_laws(
        self, places: margins.Integers, wanted: Callable[[margins.ErrorOfSum], float]
    ) -> margins.Floats:
        """Return a number of the law of each sum; sums of equal size and variance have one."""
        cells = self.measured[0].noise
        if cells is None:
            return np.zeros(0)
        solved = _solved(self.layout, cells, tuple(each.noise for each in self.measured[1:]))
        variances, sizes = solved.variances(places), np.bincount(places)
        order = places.argsort(kind="stable")
        starts = np.cumsum(sizes) - sizes
        known: dict[tuple[int, str], float] = {}
        found = np.empty(len(sizes))
        for number, (size, variance) in enumerate(zip(sizes, variances, strict=True)):
            alike = int(size), f"{variance:.8e}"
            if alike not in known:
                mine = order[starts[number] : starts[number] + size]
                known[alike] = wanted(solved.law(mine))
            found[number] = known[alike]
        return found

    def _beyond(self, alpha: float, tail: float | None) -> tuple[float, float]:
        """Bound what clipping and rounding take from all records: any sum may have lost that."""
        model = self.clipped
        if model is None:
            return 0.0, 0.0
        most = max(0.0, model.count + model.count_noise.bound(0.05 * alpha))
        rounded = 0.0 if model.whole else 0.5 * most
        if tail is None or model.outside is None:
            return rounded, rounded
        first, last = model.lattice.first, model.lattice.last
        if model.too_little(alpha):
            return most * (last - min(first, 0)), most * (max(last, 0) - first)
        excess = model.outside.excess(0.05 * alpha)
        found = []
        for side, room in enumerate((model.lo - first, last - model.hi)):
            if model.ended[side]:
                found.append(rounded)
                continue
            distance = (-model.lo, model.hi)[side]
            numbers, chances = model.outside.beyond(tail, max(distance, 1), 0)
            lost = upper_quantile(numbers, chances, 0.1 * alpha) * distance / (tail - 1)
            found.append(rounded + lost + excess * room)
        return found[0], found[1]


def scaled(ends: margins.Floats, step: float) -> margins.Floats:
    """Return ends in the unit of the data; no float is larger than the largest one."""
    with np.errstate(over="ignore"):
        return np.clip(ends * step, -float_info.max, float_info.max)


def share_of(part: float, whole: float) -> float:
    """Return a share; of a whole that may be nothing it is any."""
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else float(part > 0)
