"""The pass that finds both tails: four cheap sweeps per chunk, and a closer look where needed.

A chunk is rounded to the lattice, summed, and compared with the thresholds by row; the sweeps run
in cache. Only rows with a record beyond a threshold (or missing) are looked at again. Thresholds
are always certified by records already held, so the result is exact whatever the order of the
data; the order only decides how many records are looked at twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.summaries.base import Integers
from modicum.summaries.kernel import CHUNK, ROW, Quantiser, exact_sum

__all__ = ["Ends", "TailsPass"]


@dataclass(frozen=True, slots=True, repr=False)
class Ends:
    """Sorted records divided: the lowest, the highest of the others, and what is left."""

    low: Integers
    high: Integers
    rest: Integers

    @classmethod
    def of_sorted(cls, kept: Integers, keep: int, count: int) -> Self:
        """Divide ``kept``, the known ones of ``count`` records."""
        lowest = min(count, keep)
        highest = min(count - lowest, keep)
        return cls(kept[:lowest], kept[len(kept) - highest :], kept[lowest : len(kept) - highest])


class _End:
    """The ``keep`` lowest of the integers it is given, in a buffer of bounded length."""

    __slots__ = ("_buffer", "_fill", "_full", "_keep", "bound")

    def __init__(self, lowest: Integers) -> None:
        self._keep = len(lowest)
        self._full = self._keep + max(self._keep, ROW)
        self._buffer = np.empty(self._full + CHUNK + ROW, dtype=np.int64)
        self._buffer[: self._keep] = lowest
        self._fill = self._keep
        self.bound = int(lowest.max())
        """At least ``keep`` records held are <= bound, so others >= bound need no place."""

    def add(self, values: Integers) -> Integers:
        """Take in records below the bound; return those that are no longer needed."""
        self._buffer[self._fill : self._fill + len(values)] = values
        self._fill += len(values)
        return self.shrink() if self._fill >= self._full else values[:0]

    def shrink(self) -> Integers:
        """Keep the lowest ones only; return the others."""
        held = self._buffer[: self._fill]
        held.partition(self._keep - 1)
        self.bound = int(held[self._keep - 1])
        self._fill = self._keep
        return held[self._keep :]

    def lowest(self) -> Integers:
        """Return the kept ones, sorted; call :meth:`shrink` first."""
        return np.sort(self._buffer[: self._keep])


class TailsPass:
    """Both ends and the middle of a column, from its chunks in any order."""

    def __init__(self, keep: int, quantiser: Quantiser) -> None:
        self._keep = keep
        self._quantiser = quantiser
        self._pending: list[Integers] = []  # integers at first; bits once there are bounds
        self._waiting = 0
        self._ends: tuple[_End, _End] | None = None  # the high end holds negated integers
        self._window = (0.0, 0.0)  # what the bounds look like after M was added
        self._middle_sum = 0
        self._middle_count = 0
        self._inside, self._scratch = np.empty(CHUNK, dtype=bool), np.empty(CHUNK, dtype=bool)
        self._row_of_zeros = np.array(ROW * quantiser.zero % 2**64, dtype=np.uint64).view(np.int64)

    def update(self, x: NDArray[np.float64]) -> None:
        """Take in a chunk of any length."""
        for start in range(0, len(x), CHUNK):
            bits = self._quantiser.bits(x[start : start + CHUNK])
            if self._ends is None:
                self._wait(self._quantiser.integers(bits))
                if self._waiting >= max(CHUNK, 4 * self._keep):
                    self._divide()
                continue
            whole = len(bits) // ROW * ROW
            if whole:
                self._sweep(bits[:whole])
            if whole < len(bits):
                self._wait(bits[whole:].copy())
            if self._waiting >= ROW:
                self._place(*self._ends)

    def finish(self) -> tuple[Integers, Integers, int, int]:
        """Return low, high, and the sum and count of the middle."""
        if self._ends is None:
            ends = self._divided()
            return ends.low, ends.high, self._middle_sum, self._middle_count
        low, high = self._ends
        self._place(low, high)
        self._to_middle(low.shrink())
        self._to_middle(-high.shrink())
        return low.lowest(), -high.lowest()[::-1], self._middle_sum, self._middle_count

    def _divide(self) -> None:
        """Choose the first bounds, from all records so far."""
        ends = self._divided()
        self._ends = _End(ends.low), _End(-ends.high)
        self._look_through(*self._ends)

    def _divided(self) -> Ends:
        waiting = np.sort(self._waited())
        ends = Ends.of_sorted(waiting, self._keep, len(waiting))
        self._to_middle(ends.rest)
        return ends

    def _sweep(self, bits: Integers) -> None:
        """Add whole rows to the middle, and set aside the records beyond the bounds."""
        size = len(bits)
        inside, scratch = self._inside[:size], self._scratch[:size]
        # Floats are in order like their bits, and faster to compare; NaN is on neither side.
        y = bits.view(np.float64)
        np.greater_equal(y, self._window[0], out=inside)
        np.less_equal(y, self._window[1], out=scratch)
        inside &= scratch
        foreign = _false_positions(inside)
        if 2 * len(foreign) > size:  # a sorted stream: to set all aside is less work
            self._wait(bits.copy())
            return
        # A row sums to ROW * zero plus the sum of its integers, modulo 2^64. That sum is at most
        # 2^62 in size once foreign bits are out, so the difference is exact ([K4] of
        # docs/proofs/summaries.md).
        sums = bits.reshape(-1, ROW).sum(axis=1)
        sums -= self._row_of_zeros
        if len(foreign):
            self._set_aside(bits[foreign], foreign, sums)
        self._middle_count += size - len(foreign)
        self._middle_sum += sum(sums.tolist())

    def _set_aside(self, foreign: Integers, positions: NDArray[np.intp], sums: Integers) -> None:
        """Take foreign bits out of the sums of their rows."""
        np.subtract.at(sums, positions // ROW, foreign - self._quantiser.zero)
        self._wait(foreign[~np.isnan(foreign.view(np.float64))])

    def _place(self, low: _End, high: _End) -> None:
        """Give the records that wait to their end; those no longer needed to the middle."""
        q = self._quantiser.integers(self._waited())
        lower, upper = q < low.bound, q > -high.bound
        self._to_middle(q[~(lower | upper)])  # the bounds have moved, or clamping brought it back
        self._to_middle(low.add(q[lower]))
        self._to_middle(-high.add(-q[upper]))
        self._look_through(low, high)

    def _look_through(self, low: _End, high: _End) -> None:
        self._window = self._quantiser.lifted(low.bound), self._quantiser.lifted(-high.bound)

    def _wait(self, values: Integers) -> None:
        self._pending.append(values)
        self._waiting += len(values)

    def _waited(self) -> Integers:
        waited = np.concatenate([*self._pending, np.empty(0, dtype=np.int64)])
        self._pending, self._waiting = [], 0
        return waited

    def _to_middle(self, q: Integers) -> None:
        if len(q):
            self._middle_sum += exact_sum(q)
            self._middle_count += len(q)


_ALL_TRUE = np.ones(8, dtype=bool).view(np.uint64)[0]


def _false_positions(flags: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Find the few flags that are false: eight at a time, then singly among those eight."""
    eights = (flags.view(np.uint64) != _ALL_TRUE).nonzero()[0]
    if 64 * len(eights) > len(flags):  # not few
        return np.logical_not(flags).nonzero()[0]
    near = (eights[:, np.newaxis] * 8 + np.arange(8)).ravel()
    found: NDArray[np.intp] = near[~flags[near]]
    return found
