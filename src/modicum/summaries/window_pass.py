"""The passes that find the records at given ranks: a sample brackets them, a pass collects them.

Whatever the sample says, the result is exact: a pass counts the records below and above its
bracket, so it knows whether the wanted ranks lie inside, and if not, the bracket is widened and
the column is read again. The sample decides how often that happens, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers, Rows
from modicum.summaries.kernel import CHUNK
from modicum.summaries.membership import distinct_positions
from modicum.summaries.pools import PassingRows

__all__ = ["Ranked", "WindowPass", "count_around"]

_WHOLE = 1 << 20  # records of a whole column that are held: 8 MB
_FEW = 1 << 17  # rows that are not worth a sample by position
_INSIDE = 1 << 21  # records of a bracket that are held: 16 MB, twice as much in each further pass
_FETCHED = 1 << 15  # rows of a sample by position
_SORTED_FROM = 8  # most brackets that a chunk is compared with one by one
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


class Ranked(NamedTuple):
    """Different values of records in increasing order, and where they stand among all records.

    Attributes
    ----------
    values, before, ties : int64 arrays
        Each value, the number of records below it, and the number of those that have it.
    """

    values: Integers
    before: Integers
    ties: Integers


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

    def update_sorted(self, x: NDArray[np.float64]) -> None:
        """Sift a sorted chunk without NaN."""
        start = int(np.searchsorted(x, self._floor, side="left"))
        stop = int(np.searchsorted(x, self._ceiling, side="right"))
        self.below += start
        self.above += len(x) - stop
        if start < stop:
            self._take(self._lattice.quantise(x[start:stop]))

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

    def place(self) -> tuple[int, int]:
        """Return the number of records below the bracket, and of those at its lower end."""
        return self.below, self._on_lo

    @property
    def holds_all(self) -> bool:
        """Whether every record of the bracket is known."""
        return self._sampler is None

    def sample(self) -> _Sample:
        """Return the sample that was kept instead."""
        assert self._sampler is not None
        (chosen,) = self._sampler.finish().subsamples
        return _Sample(np.sort(chosen), self._strictly, self.below + self._on_lo, self.lo, self.hi)

    def cells(self, start: int, stop: int) -> Ranked:
        """Return the values at covered positions from start to stop (exclusive), and their ranks.

        All records of a value are counted, those outside the positions too.
        """
        strictly = np.concatenate([np.empty(0, dtype=np.int64), *self._held])
        before = self.below + self._on_lo
        first, last = (min(max(p - before, 0), len(strictly)) for p in (start, stop))
        values, below, ties = (np.empty(0, dtype=np.int64) for _ in range(3))
        if first < last:
            strictly.partition(sorted({first, last - 1}))
            inner = np.sort(strictly[first:last])
            values, below, ties = np.unique(inner, return_index=True, return_counts=True)
            below = below + before + first
            # Those equal to the two ends may also lie outside the positions.
            for place in {0, len(values) - 1}:
                below[place] = before + int(np.count_nonzero(strictly < values[place]))
                ties[place] = int(np.count_nonzero(strictly == values[place]))
        if start < before and start < stop:
            values, below = np.append(self.lo, values), np.append(self.below, below)
            ties = np.append(self._on_lo, ties)
        if stop > before + len(strictly) and start < stop:
            values, below = np.append(values, self.hi), np.append(below, before + len(strictly))
            ties = np.append(ties, self._on_hi)
        return Ranked(values.astype(np.int64), below.astype(np.int64), ties.astype(np.int64))


class WindowPass:
    """Finds the records at given positions of a column of n records: one window or several.

    Parameters
    ----------
    ranks : callable
        From the number of records to the windows, each as positions from, to (exclusive).
    lattice : Lattice
    rows : Rows or None
        Without them every record is held.
    """

    reads = True

    def __init__(
        self,
        ranks: Callable[[int], Sequence[tuple[int, int]]],
        lattice: Lattice,
        rows: Rows | None,
    ) -> None:
        self._ranks = ranks
        self._lattice = lattice
        self._rows = rows
        self._known: list[_Sample | None] = []
        self._sifts: list[_Sift] = []

    def update(self, x: NDArray[np.float64], /) -> None:
        """Take in one chunk of the first pass."""
        if not self._sifts:
            self._start()
        _pour(self._sifts, x)

    def _start(self) -> None:
        """Open one sift for all windows, or one for each if a sample can be fetched."""
        size = None if self._rows is None else self._rows.size
        if size is not None and size > _FEW:
            known = self._fetched(size)
            windows = self._ranks(int(known.size))
            brackets = [known.bracket(*window, _SURE) for window in windows]
            self._known = [known] * len(windows)
            most = _INSIDE
        else:
            brackets, most = [(self._lattice.first, self._lattice.last)], _WHOLE
        self._sifts = [_Sift(self._lattice, self._rows, bracket, most) for bracket in brackets]

    def _fetched(self, size: int) -> _Sample:
        """Sample rows by position; the number of records among all rows is an estimate."""
        assert self._rows is not None
        positions = distinct_positions(size, _FETCHED, self._rows.entropy)
        values = np.sort(self._lattice.quantise(self._rows.take(positions)))
        records = size * len(values) / _FETCHED
        return _Sample(values, records, 0, self._lattice.first, self._lattice.last)

    def finish(self) -> tuple[int, list[Ranked]]:
        """Return the number of records, and the cells of each window."""
        if not self._sifts:
            self._start()
        count = self._sifts[0].count
        windows = list(self._ranks(count))
        shared = len(self._sifts) == 1
        searches = [
            _Search(
                window,
                self._sifts[0 if shared else i],
                self._known[i] if self._known else None,
            )
            for i, window in enumerate(windows)
        ]
        while waiting := [search for search in searches if not search.found]:
            assert self._rows is not None
            opened: dict[tuple[int, int], _Sift] = {}
            for search in waiting:
                bracket, most = search.next_bracket()
                if bracket not in opened:
                    opened[bracket] = _Sift(self._lattice, self._rows, bracket, most)
                search.sift = opened[bracket]
            self._rows.feed(_Together(list(opened.values())))
        return count, [search.sift.cells(*search.window) for search in searches]


def count_around(value: int, lattice: Lattice, rows: Rows) -> tuple[int, int]:
    """Return the number of records below a value, and of those that have it, by a pass."""
    sift = _Sift(lattice, rows, (value, value), _INSIDE)
    rows.feed(sift)
    return sift.place()


class _Together:
    """Sifts that share a pass."""

    reads = True

    def __init__(self, sifts: list[_Sift]) -> None:
        self._sifts = sifts

    def update(self, x: NDArray[np.float64], /) -> None:
        """Sift one chunk of any length."""
        _pour(self._sifts, x)

    def finish(self) -> None:
        """Nothing is returned: the sifts are asked."""


def _pour(sifts: Sequence[_Sift], x: NDArray[np.float64]) -> None:
    """Sift a chunk; where there are many brackets, sorting it once is cheaper than comparing."""
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        if len(sifts) <= _SORTED_FROM:
            for sift in sifts:
                sift.update(part)
        else:
            ordered = np.sort(part)  # NaN comes last
            numbers = len(ordered) - int(np.count_nonzero(np.isnan(ordered)))
            for sift in sifts:
                sift.update_sorted(ordered[:numbers])


class _Search:
    """One window on its way through the passes."""

    def __init__(self, window: tuple[int, int], sift: _Sift, known: _Sample | None) -> None:
        self.window = window
        self.sift = sift
        self._known = known
        self._sure, self._most = _SURE, _INSIDE

    @property
    def found(self) -> bool:
        """Whether every record of the window is held."""
        return self.sift.covers(*self.window) and self.sift.holds_all

    def next_bracket(self) -> tuple[tuple[int, int], int]:
        """Return where to look in the next pass, and how much may be held there."""
        if not self.sift.covers(*self.window):
            self._sure *= 2
        else:
            self._known, self._sure = self.sift.sample(), _SURE
        assert self._known is not None
        start, stop = self.window
        # A bracket shrinks towards the window. Doubling ends this even if it does not.
        self._most = max(2 * self._most, 2 * (stop - start))
        return self._known.bracket(start, stop, self._sure), self._most
