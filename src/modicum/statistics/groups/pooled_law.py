"""The error model of means between bounds of all groups.

A small group's own releases cannot tell how many of its few records lie beyond the bounds: their
number is below any noise. So the interval assumes that a group is not very different from all
groups there, and says so; of a large group, a count of them would have told.
docs/research/proofs/pooled.md has the proofs.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.releases.release import Interval
from modicum.releases.status import Status, bounds_in_steps
from modicum.statistics.ranges.bounded_mean import BoundedErrorModel
from modicum.statistics.tails import error_law, outside, tail_index
from modicum.stored.codec import storable

Floats = NDArray[np.float64]
Cell = tuple[float, int | None]

TIMES = 3  # as many records of a group beyond the bounds as of all groups, at most
_CLIPPED = 0.25  # of the probability of error, for what is clipped
_RARE = 1e-9
_USELESS = 2  # an interval wider than this part of the bounds says next to nothing
_NEAR_END = 4  # times nearer to an end of the bounds than the centre of all groups
# Laws of what is clipped, in an octave of numbers of records: what it takes off an interval is at
# most 2^(1/32) times, so 2.2 %, more than by a law for every number.
_STEPS = 32
_CLEAR = 0.1  # standard deviation of the noise, as a part of the bounds, that shows that

FEW = Status(
    "few_records",
    "so few rows that noise covers all values of groups: the answer is about that of all groups",
)
ONE_VALUE = Status(
    "unseen",
    "the rows of all groups are (nearly) all equal; other values of few rows would not be seen",
)
ELSEWHERE = Status(
    "clipped",
    "most rows lie at or beyond the bounds that all groups found together: this group is not like "
    "the others; pooled=False lets it find its own bounds",
)


@storable
@dataclass(frozen=True, slots=True)
class PooledErrorModel:
    """A mean between bounds that all groups found together, in steps of the ``lattice``.

    ``inside`` is the mean between the bounds, ``centre`` a median of all groups, and ``below`` and
    ``above`` are cells beyond the bounds, the nearest first: shares of the records of all groups,
    rounded up by their noise, and where a cell ends; ``None``: nowhere. ``least`` and ``typical``
    are the indices that explain what was seen of the tail of all groups [mean.11]. A mean that is
    shrunk moves from ``unshrunk`` ``towards`` another, to a ``weight`` of its own.

    Notes
    -----
    The interval is that of the mean between the bounds, which assumes nothing, and what clipping
    takes off beyond it [pooled.9]. Of n records a cell has at most a Poisson number with the mean 3
    n share, each in its middle; beyond the last one the tail has an index. The interval of a mean
    that is shrunk is the same, as far as it has to reach for it.
    """

    lattice: Lattice
    inside: BoundedErrorModel
    centre: int
    below: tuple[Cell, ...]
    above: tuple[Cell, ...]
    least: float | None = None
    typical: float | None = None
    towards: float | None = None
    weight: float = 1.0

    @property
    def lo(self) -> int:
        return self.inside.lattice.first

    @property
    def hi(self) -> int:
        return self.inside.lattice.last

    @property
    def unshrunk(self) -> float:
        """The mean before it was shrunk."""
        return float(self.inside.value)

    @property
    def value(self) -> Fraction:
        if self.towards is None:
            return self.inside.value
        weight = Fraction(self.weight)
        return weight * self.inside.value + (1 - weight) * Fraction(self.towards)

    @property
    def _share(self) -> float:
        """Where the mean lies, from one bound to the other."""
        left, both = self.inside.left, self.inside.left + self.inside.right
        return min(max(left / both, 0.0), 1.0) if both > 0 else 0.5

    @property
    def count(self) -> float:
        """The noisy number of records, at least 1."""
        return max(self.inside.count, 1.0)

    @property
    def deviation(self) -> float:
        """[pooled.8] The standard deviation of the noise of the mean, as far as it is small.

        That of a mean of about one record may be larger than the bounds are wide. The number of
        records counts less the deviation of its own noise.
        """
        width, share = self.hi - self.lo, self._share
        noise = math.sqrt(self.inside.noise.variance * (share**2 + (1 - share) ** 2))
        records = self.inside.count - math.sqrt(2 * self.inside.noise.variance) / width
        return min(noise / max(records, 1.0) * self.lattice.step, float_info.max)

    @property
    def few_seen(self) -> bool:
        return self.inside.few_seen

    @property
    def in_steps(self) -> tuple[int, ...]:
        return bounds_in_steps(self.lo, self.hi)

    @property
    def status(self) -> Status:
        """Whether the mean says something of this group, and the bounds seem to hold it."""
        width, place = self.hi - self.lo, self._share
        if width <= 1:
            return ONE_VALUE
        middle = (self.centre - self.lo) / width
        at_end = (
            _NEAR_END * place < middle and self.lo > self.lattice.first,
            _NEAR_END * (1 - place) < 1 - middle and self.hi < self.lattice.last,
        )
        if any(at_end) and self.deviation < _CLEAR * width * self.lattice.step:
            return ELSEWHERE
        lower, upper = self.inside.ends(0.05)
        if _USELESS * (upper - lower) >= width:
            return FEW
        return outside.tail_status(self.least, self.typical, 1)

    def tail_index(self, level: float) -> float:
        """The index of all groups, as far as it can be told: that of one group cannot."""
        return min(tail_index.assumed_index(self.least, self.typical, 1), tail_index.USUAL)

    def interval(self, level: float, tail: float | None) -> Interval:
        alpha, value = 1 - level, float(self.value)
        lower, upper = self.inside.interval(
            level if tail is None else 1 - (1 - _CLIPPED) * alpha, None
        )
        if tail is not None:
            lower -= self._taken(0, _CLIPPED * alpha / 2, tail)
            upper += self._taken(1, _CLIPPED * alpha / 2, tail)
        ends = max(lower, self.lattice.lo), min(upper, self.lattice.hi)
        return Interval(min(ends[0], value), max(ends[1], value))

    def _taken(self, side: int, alpha: float, tail: float) -> float:
        """[pooled.9] What clipping may take off on a side, in the unit of the data."""
        if (self.lo <= self.lattice.first, self.hi >= self.lattice.last)[side]:
            return 0.0
        end, cells = ((self.lo, self.below), (self.hi, self.above))[side]
        sizes, far = [], 0.0
        for share, beyond in cells:
            if beyond is None:  # of a power beyond a distance, the mean excess
                size = far + (abs(end - self.centre) + far) / (tail - 1)
                far = size
            else:
                size, far = (far + abs(beyond - end)) / 2, float(abs(beyond - end))
            if size > 0:
                sizes.append((share, size))
        # More records exceed the end by more. So many groups have few laws together.
        records = 2 ** (math.ceil(_STEPS * math.log2(self.count)) / _STEPS)
        # A mean of records exceeds an end by what the furthest of them does, at most.
        taken = min(_excess(tuple(sizes), records, alpha) / self.count, far) if sizes else 0.0
        return taken * self.lattice.step

    @property
    def condition(self) -> str:
        return f"assumes at most {TIMES} times as many rows beyond the bounds as of all groups"

    def assumption(self, tail: float | None) -> str:
        lo, hi = (self.lattice.value(end) for end in (self.lo, self.hi))
        if tail is None:
            return (
                f"interval(tail=None) is for the mean of the rows clipped to [{lo:,.6g}, "
                f"{hi:,.6g}], which all groups found together; it covers all noise."
            )
        return (
            f"interval(tail={tail:g}) covers all noise, and what clipping to [{lo:,.6g}, "
            f"{hi:,.6g}] takes off. All groups found these bounds together: it assumes that at "
            f"most {TIMES} times as large a part of the rows of this group is beyond them as of "
            f"all groups, and that far values are rare: {tail_index.rare(tail)}. Of few rows no "
            "released number of this group can check that."
        )

    def to_dict(self) -> dict[str, object]:
        shrunk = {} if self.towards is None else {"towards": self.towards, "weight": self.weight}
        return {
            "clip": [self.lattice.value(end) for end in (self.lo, self.hi)],
            "count": self.inside.count,
            "noise_sd": self.deviation,
            "unshrunk": self.unshrunk,
            **shrunk,
        }


@functools.lru_cache(maxsize=1 << 12)
def _excess(sizes: tuple[tuple[float, float], ...], records: float, alpha: float) -> float:
    """What so many records have beyond an end in all, but for a probability of alpha.

    ``sizes``: for each cell the share of the records of all groups, and the excess of one.
    """
    parts = []
    for share, size in sizes:
        numbers, masses = poisson(TIMES * records * share)
        parts.append(error_law.DiscretePart(numbers * size, masses))
    return error_law.Reach(tuple(parts)).bound(alpha)


def poisson(mean: float) -> tuple[Floats, Floats]:
    """Numbers and their probabilities, but for rare ones.

    >>> numbers, masses = poisson(2.0)
    >>> round(float(numbers @ masses), 6)
    2.0
    """
    spread = 8 * math.sqrt(mean) + 30
    numbers = np.arange(
        max(0, math.floor(mean - spread)), math.ceil(mean + spread) + 1, dtype=float
    )
    logs = numbers * math.log(max(mean, _RARE)) - np.array([math.lgamma(k + 1) for k in numbers])
    masses = np.exp(logs - logs.max())
    return numbers, masses / masses.sum()
