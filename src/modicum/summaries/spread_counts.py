"""How many records are in each cell of a floating-point grid, for several columns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import FloatGrid
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import CHUNK, Quantiser

__all__ = ["CELLS", "MOST_COLUMNS", "SpreadCounts", "SpreadSummary", "cell_numbers", "quantised"]

CELLS = FloatGrid(10)
"""Cells of 1/1024 of their distance from zero, and single integers near it."""

MOST_COLUMNS = 500
"""Each has a table of some 700 KB, and a product with every other one."""


@dataclass(frozen=True, slots=True)
class SpreadCounts:
    """Ask for the number of records in each cell, for every one of several columns.

    A cell is [p, p'), p and p' neighbours in :data:`CELLS`; below zero cells are mirrored about
    -1/2, so that they too hold their lower end.
    """

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _SpreadPass:
        return _SpreadPass(Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SpreadSummary(Sensitive):
    """Counts of the cells.

    Attributes
    ----------
    first : int
        Number of the cell that the first row of ``counts`` is about; public.
    width : int
        Number of columns; public.
    count : int
        Number of records (sensitive).
    counts : int64 array of shape (width, cells)
        Sensitive.
    """

    first: int
    width: int
    count: int
    counts: Integers

    public = ("first", "width")

    def merge(self, other: Self) -> SpreadSummary:
        self._check_same(other)
        counts = self.counts + other.counts
        return SpreadSummary(self.first, self.width, self.count + other.count, counts)

    def below(self, column: int, cells: Integers) -> Integers:
        """Count the records of a column below cells, by their :func:`cell_numbers`."""
        sums = np.concatenate([[0], np.cumsum(self.counts[column])])
        found: Integers = sums[np.clip(cells - self.first, 0, len(sums) - 1)]
        return found

    def to_bytes(self) -> bytes:
        # Most cells are empty as a rule: those that are not are written with their places.
        counts = self.counts.ravel()
        filled = np.flatnonzero(counts)
        ends = (self.first, self.width, self.counts.shape[1])
        return pack("spread-counts", *ends, self.count, filled, counts[filled])

    @classmethod
    def from_bytes(cls, data: bytes) -> SpreadSummary:
        fields = Fields("spread-counts", data)
        first, width, cells, count = (fields.integer() for _ in range(4))
        filled, numbers = fields.array(), fields.array()
        fields.end()
        counts = np.zeros(width * cells, dtype=np.int64)
        counts[filled] = numbers
        return cls(first, width, count, counts.reshape(width, cells))


class _SpreadPass:
    reads = True

    def __init__(self, quantiser: Quantiser) -> None:
        self._quantiser = quantiser
        ends = cell_numbers(np.array([quantiser.first, quantiser.last]))
        self._first, self._cells = int(ends[0]), int(ends[1] - ends[0]) + 1
        self._counts = np.zeros((0, self._cells), dtype=np.int64)
        self._count = 0
        self._waiting: list[Integers] = []
        self._held = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        if not len(self._counts):
            if x.shape[1] > MOST_COLUMNS:
                raise InvalidArgument(f"at most {MOST_COLUMNS} columns together, got {x.shape[1]}")
            self._counts = np.zeros((x.shape[1], self._cells), dtype=np.int64)
        starts = np.arange(x.shape[1]) * self._cells - self._first
        for q in quantised(self._quantiser, x):
            self._count += len(q)
            self._waiting.append((cell_numbers(q) + starts).ravel())
            self._held += q.size
            if self._held >= max(self._counts.size, CHUNK):
                self._flush()

    def _flush(self) -> None:
        """Count what waits: one table is added up for about as many values as it has cells."""
        if self._waiting:
            found = np.bincount(np.concatenate(self._waiting), minlength=self._counts.size)
            self._counts += found.reshape(self._counts.shape)
        self._waiting, self._held = [], 0

    def finish(self) -> SpreadSummary:
        if not len(self._counts):
            raise InvalidArgument("this reduction needs rows of several columns")
        self._flush()
        return SpreadSummary(self._first, len(self._counts), self._count, self._counts)


def cell_numbers(q: Integers) -> Integers:
    """Return the number of the cell of each lattice integer, in increasing order of cells."""
    below = q < 0
    numbers: Integers = CELLS.numbers(np.where(below, ~q, q))
    return np.where(below, ~numbers, numbers)


def quantised(quantiser: Quantiser, x: NDArray[np.float64]) -> list[Integers]:
    """Round rows without missing values to lattice integers, in blocks."""
    rows, width = x.shape
    size = max(1, CHUNK // width)
    return [
        quantiser.integers(quantiser.bits(x[start : start + size].ravel())).reshape(-1, width)
        for start in range(0, rows, size)
    ]
