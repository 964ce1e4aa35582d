"""The passes that find the records at given ranks: a sample brackets them, a pass collects them.

Whatever the sample says, the result is exact: a pass counts the records below and above its
bracket, so it knows whether the wanted ranks lie inside, and if not, the bracket is widened and
the column is read again. The sample decides how often that happens, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Integers, Rows
from modicum.summaries.kernel import CHUNK
from modicum.summaries.membership import distinct_positions
from modicum.summaries.pools import PassingRows

__all__ = ["WindowPass"]

_WHOLE = 1 << 20  # records of a whole column that are held: 8 MB
_FEW = 1 << 17  # rows that are not worth a sample by position
_INSIDE = 1 << 21  # records of a bracket that are held: 16 MB, twice as much in each further pass
_FETCHED = 1 << 15  # rows of a sample by position
_SURE = 3.5  # standard deviations of a sample's rank between it and an end of the bracket


@dataclass(frozen=True, slots=True)
class _Sample:
    """Sorted records, a uniform sample of the ``size`` records strictly between two integers.

    Attributes
    ----------
    before : int
        Number of records up to and including ``lo``.
    """

    values: Integers
    size: float
    before: int
    lo: int
    hi: int

    def bracket(self, start: int, stop: int, sure: float) -> tuple[int, int]:
        """Return integers that hold the positions from start to stop (exclusive) between them.

        The number of sampled records up to a position p of ``size`` has a standard deviation of
        at most sqrt(m f (1 - f)), f = p / size, where m are sampled.
        """
        m = len(self.values)

        def place(position: int, sign: int) -> float:
            share = min(max((position - self.before) / max(self.size, 1.0), 0.0), 1.0)
            return m * share + sign * (sure * math.sqrt(m * share * (1 - share)) + sure)

        low, high = math.floor(place(start, -1)), math.ceil(place(stop, 1))
        return (
            self.lo if low < 0 else int(self.values[low]),
            self.hi if high >= m else int(self.values[high]),
        )


class _Sift:
    """A pass that collects the records in a bracket [lo, hi] and counts the others.

    Records on an end of the bracket are counted only, so that no number of ties needs memory. If
    more than ``most`` lie strictly inside, a uniform sample of them is kept in their place.
    """

    reads = True

    def __init__(
        self, lattice: Lattice, rows: Rows | None, bracket: tuple[int, int], most: int
    ) -> None:
        self._lattice, self._rows, self._most = lattice, rows, most
        self.lo, self.hi = bracket
        # One step more on each side than is rounded into the bracket; what is beyond the range
        # is clamped to its ends.
        self._floor = -np.inf if self.lo == lattice.first else (self.lo - 1) * lattice.step
        self._ceiling = np.inf if self.hi == lattice.last else (self.hi + 1) * lattice.step
        self.below = self.above = 0
        self._on_lo = self._on_hi = self._strictly = 0
        self._held: list[Integers] = []
        self._sampler: PassingRows | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
        """Sift one chunk of any length."""
        for start in range(0, len(x), CHUNK):
            part = x[start : start + CHUNK]
            from_floor, up_to_ceiling = part >= self._floor, part <= self._ceiling
            # NaN is neither, every number is one of them.
            numbers = np.count_nonzero(from_floor), np.count_nonzero(up_to_ceiling)
            inside = np.flatnonzero(np.logical_and(from_floor, up_to_ceiling, out=from_floor))
            self.above += int(numbers[0]) - len(inside)
            self.below += int(numbers[1]) - len(inside)
            if len(inside):
                self._take(self._lattice.quantise(part[inside]))

    def _take(self, q: Integers) -> None:
        inner = q[(q > self.lo) & (q < self.hi)]
        if len(inner) < len(q):
            self.below += int(np.count_nonzero(q < self.lo))
            self.above += int(np.count_nonzero(q > self.hi))
            self._on_lo += int(np.count_nonzero(q == self.lo))
            self._on_hi += 0 if self.lo == self.hi else int(np.count_nonzero(q == self.hi))
        self._strictly += len(inner)
        if self._sampler is not None:
            self._sampler.update(inner * np.float64(self._lattice.step))
            return
        self._held.append(inner)
        if self._rows is not None and self._strictly > self._most:
            self._sampler = PassingRows(self._lattice, 1, self._rows.entropy)
            for held in self._held:
                self._sampler.update(held * np.float64(self._lattice.step))
            self._held = []

    def finish(self) -> None:
        """Nothing is returned: the pass is asked for what it knows."""

    @property
    def count(self) -> int:
        """Number of all records."""
        return self.below + self._on_lo + self._strictly + self._on_hi + self.above

    def covers(self, start: int, stop: int) -> bool:
        """Whether the records at positions from start to stop (exclusive) lie in the bracket."""
        return self.below <= start and stop <= self.count - self.above

    @property
    def holds_all(self) -> bool:
        """Whether every record of the bracket is known."""
        return self._sampler is None

    def sample(self) -> _Sample:
        """Return the sample that was kept instead."""
        assert self._sampler is not None
        (chosen,) = self._sampler.finish().subsamples
        return _Sample(np.sort(chosen), self._strictly, self.below + self._on_lo, self.lo, self.hi)

    def window(self, start: int, stop: int) -> Integers:
        """Return the records at covered positions from start to stop (exclusive), sorted."""
        strictly = np.concatenate([np.empty(0, dtype=np.int64), *self._held])
        before = self.below + self._on_lo
        first, last = (min(max(p - before, 0), len(strictly)) for p in (start, stop))
        if first < last:
            strictly.partition(sorted({first, last - 1}))
        lows = min(max(before - start, 0), stop - start)
        highs = stop - start - lows - (last - first)
        inner = np.sort(strictly[first:last])
        return np.concatenate([np.full(lows, self.lo), inner, np.full(highs, self.hi)])


class WindowPass:
    """Finds the records at the positions ``ranks(n)`` of a column of n records.

    Parameters
    ----------
    ranks : callable
        From the number of records to positions from, to (exclusive).
    lattice : Lattice
    rows : Rows or None
        Without them every record is held.
    """

    def __init__(
        self, ranks: Callable[[int], tuple[int, int]], lattice: Lattice, rows: Rows | None
    ) -> None:
        self._ranks = ranks
        self._lattice = lattice
        self._rows = rows
        self._known: _Sample | None = None
        self._sift: _Sift | None = None
        self._sure, self._most = _SURE, _INSIDE

    def update(self, x: NDArray[np.float64]) -> None:
        """Take in one chunk of the first pass."""
        self._started().update(x)

    def _start(self) -> _Sift:
        size = None if self._rows is None else self._rows.size
        bracket, most = (self._lattice.first, self._lattice.last), _WHOLE
        if size is not None and size > _FEW:
            self._known = self._fetched(size)
            bracket = self._known.bracket(*self._ranks(int(self._known.size)), _SURE)
            most = _INSIDE
        return _Sift(self._lattice, self._rows, bracket, most)

    def _fetched(self, size: int) -> _Sample:
        """Sample rows by position; the number of records among all rows is an estimate."""
        assert self._rows is not None
        positions = distinct_positions(size, _FETCHED, self._rows.entropy)
        values = np.sort(self._lattice.quantise(self._rows.take(positions)))
        records = size * len(values) / _FETCHED
        return _Sample(values, records, 0, self._lattice.first, self._lattice.last)

    def further(self) -> Accumulator[object] | None:
        """Return the next pass over the column, ``None`` once the window is known."""
        sift = self._started()
        start, stop = self._ranks(sift.count)
        if not sift.covers(start, stop):
            self._sure *= 2
        elif sift.holds_all:
            return None
        else:
            self._known, self._sure = sift.sample(), _SURE
        assert self._known is not None
        bracket = self._known.bracket(start, stop, self._sure)
        # A bracket shrinks towards the window. Doubling ends this even if it does not.
        self._most = max(2 * self._most, 2 * (stop - start))
        self._sift = _Sift(self._lattice, self._rows, bracket, self._most)
        return self._sift

    def finish(self) -> tuple[int, int, Integers]:
        """Return the number of records, that before the window, and the window."""
        while (sift := self.further()) is not None:
            assert self._rows is not None
            self._rows.feed(sift)
        sift = self._started()
        start, stop = self._ranks(sift.count)
        return sift.count, start, sift.window(start, stop)

    def _started(self) -> _Sift:
        if self._sift is None:
            self._sift = self._start()
        return self._sift
