"""An interval that holds a column: its place and its width at once, in one draw."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.privacy.event import Event

__all__ = ["IntervalDraw", "IntervalGrid"]

Integers = NDArray[np.int64]

_PARTS = 16
_LEAST = 4  # a part of the narrowest interval is one lattice step
_REACH = 256
_UNIT = 1 << 20


@dataclass(frozen=True, slots=True)
class IntervalGrid:
    """Candidates [m r/2, m r/2 + r) for r = 2^k lattice steps and -256 <= m <= 254.

    Attributes
    ----------
    levels : int
        How many widths there are: 16, 32, ..., the last one twice as far from zero as any value.
    """

    levels: int

    @classmethod
    def of(cls, lattice: Lattice) -> IntervalGrid:
        """Take all widths that the lattice has use for.

        Examples
        --------
        >>> IntervalGrid.of(Lattice.within((-8, 8), 1)).interval(0)
        (-2048, 16)
        """
        farthest = max(-lattice.first, lattice.last + 1)
        return cls(max(1, farthest.bit_length() + 2 - _LEAST))

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self.levels * (2 * _REACH - 1)

    def interval(self, index: int) -> tuple[int, int]:
        """Lower end and width of a candidate, in lattice steps."""
        level, place = divmod(index, 2 * _REACH - 1)
        width = 1 << (level + _LEAST)
        return (place - _REACH) * (width >> 1), width

    def words(self, lattice: Lattice, index: int) -> str:
        """Ends of a candidate, in the unit of the data."""
        low, wide = self.interval(index)
        return f"[{lattice.words(low)}, {lattice.words(low + wide)})"

    def prior(self) -> Integers:
        """Weights of the candidates: (1 + distance)^-2, the distance from the one about zero.

        Distances are in halves of the width; every width has the same weight in all.
        """
        return _prior(self.levels)

    def ends(self) -> Integers:
        """Lattice integers at which sixteenths begin, one row for each width."""
        half = _PARTS // 2
        points = np.arange(-_REACH * half, _REACH * half + 1, dtype=np.int64)
        found: Integers = points << np.arange(self.levels)[:, None]
        return found

    def counts(self, values: Integers, ties: Integers) -> Integers:
        """Number of records in each sixteenth, one row for each width.

        Parameters
        ----------
        values, ties : int64 arrays
            Lattice integers, and how many records have each.
        """
        parts = _REACH * _PARTS
        place = (values >> np.arange(self.levels)[:, None]) + parts // 2
        there = (place >= 0) & (place < parts)
        place += np.arange(0, self.levels * parts, parts)[:, None]
        every = np.broadcast_to(ties, place.shape)
        found = np.bincount(place[there], every[there], self.levels * parts)  # exact below 2^53
        return found.astype(np.int64).reshape(self.levels, parts)

    def scores(self, counts: Integers) -> Integers:
        """Number of records in each candidate without those in its fullest eighth.

        Parameters
        ----------
        counts : (levels, parts) int64 array
            Records in each sixteenth: between each of the :meth:`ends` and the next.
        """
        half = _PARTS // 2
        halves = np.ascontiguousarray(counts.reshape(self.levels, -1, half).transpose(2, 0, 1))
        inside = functools.reduce(np.add, halves)
        # Two neighbouring parts are an eighth. Those of a candidate begin at the parts of one half
        # of it, and at all but the last of the next half.
        next_half = functools.reduce(np.maximum, map(np.add, halves[:-1], halves[1:]))
        last = halves[-1, :, :-1] + halves[0, :, 1:]
        fullest = np.maximum(np.maximum(next_half[:, :-1], last), next_half[:, 1:])
        found: Integers = inside[:, 1:] + inside[:, :-1] - fullest
        return found.ravel()


@dataclass(frozen=True, slots=True, eq=False)
class IntervalDraw(Law[int]):
    """An interval I with P(I) ∝ w(I) exp(ε s(I)), w a prior that does not depend on the data.

    s(I) is the number of records in I outside of its fullest eighth, any two neighbours of its 16
    parts, so that no place of the data in a wide interval makes them look spread out. It is little
    if I misses the data, and if it is so wide that they are in an eighth of it. So it finds where
    the data are and their scale, whatever the range, at the cost of a logarithm of the number of
    widths. Records count once, so both ends come at the price of one.

    Sensitivity contract: s(I) = min over eighths c of #(I without c), a minimum of counts: a
    record more adds 0 or 1 to it, for every I. After a common shift by 1/2 that is 1/2 in size at
    most: one draw is a bounded range of ε.

    Parameters
    ----------
    scores : int64 array
        One for each candidate of the grid (secret).
    grid : IntervalGrid
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.

    Notes
    -----
    The outcome is the index of the interval in the grid.
    """

    scores: Integers = field(repr=False, metadata=SECRET)
    grid: IntervalGrid
    epsilon: Fraction
    stated: Event

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    def sample(self, entropy: Entropy) -> int:
        losses = int(self.scores.max()) - self.scores
        return draw_level(self.grid.prior(), losses, self.epsilon, entropy)

    def log_density(self, outcome: int) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[int]) -> NDArray[np.float64]:
        """Log density at each of many outcomes."""
        exponents = float(self.epsilon) * (self.scores - self.scores.max()).astype(np.float64)
        weights = self.grid.prior().astype(np.float64)
        logs = np.log(weights) + exponents
        found: NDArray[np.float64] = logs[list(outcomes)] - math.log(
            float(weights @ np.exp(exponents))
        )
        return found

    def probes(self) -> Iterable[int]:
        return range(self.grid.size)


@functools.lru_cache(maxsize=8)
def _prior(levels: int) -> Integers:
    distance = np.abs(np.arange(-_REACH, _REACH - 1) + 1)
    weights = np.tile(_UNIT // (1 + distance) ** 2, levels)
    weights.flags.writeable = False
    return weights
