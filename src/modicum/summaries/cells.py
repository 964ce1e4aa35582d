"""Counts by public cells: by distance from a centre, with exact sums, and on a grid of floats."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import lt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import FloatGrid
from modicum.summaries import base
from modicum.summaries.base import CHUNK, Integers
from modicum.summaries.synthetic import SyntheticTable

_FOR_EACH_CELL, _MOST_SORTED = 32, 1 << 19  # records that are sorted together: 4 MB


@dataclass(frozen=True, slots=True)
class Cells(base.Reduction["CellSummary"]):
    """Counts and sums the records of each cell around a centre, exactly.

    The records at a distance d from the centre with edge[i-1] < d <= edge[i] form cell i of their
    side; those with d <= edge[0] form one cell, and those beyond the last edge form one on each
    side. The edges are increasing distances, the first at least 0.
    """

    centre: int
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        rise = map(lt, self.edges, self.edges[1:])
        if not self.edges or self.edges[0] < 0 or not all(rise):
            raise InvalidArgument(
                f"edges must increase from at least 0, got {as_given(self.edges)}"
            )

    def begin(self, lattice: Lattice | None, *_: object) -> _CellsPass:
        return _CellsPass(self, base.Quantiser(lattice))

    def synthetic(self, table: SyntheticTable, lattice: Lattice | None, *_: object) -> CellSummary:
        assert lattice is not None
        found = table.cells(self.centre, self.edges)
        return CellSummary(self.centre, self.edges, lattice.first, lattice.last, *found)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellSummary(base.AdditiveSummary):
    """A table of cells, from the far left over the centre to the far right.

    Every record lies in the public range [first, last]. ``counts`` and ``sums`` are sensitive, one
    for each of the 2 len(edges) + 1 cells.
    """

    kind: ClassVar[str] = "cells"
    public: ClassVar[tuple[str, ...]] = ("centre", "edges", "first", "last")

    centre: int
    edges: tuple[int, ...]
    first: int
    last: int
    counts: tuple[int, ...]
    sums: tuple[int, ...]

    @property
    def count(self) -> int:
        return sum(self.counts)

    def above(self, t: int) -> int:
        """Return the number of records > t, an edge on the right of the centre (or the centre)."""
        return sum(self.counts[_known(self._upper(t), t) :])

    def below(self, t: int) -> int:
        """Return the number of records < t, an edge on the left of the centre (or the centre)."""
        return sum(self.counts[: _known(self._lower(t), t)])

    def above_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return :meth:`above` of many edges."""
        upto = [0, *accumulate(self.counts)]
        return [upto[-1] - upto[_known(self._upper(each), each)] for each in map(int, t)]

    def below_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return :meth:`below` of many edges."""
        upto = [0, *accumulate(self.counts)]
        return [upto[_known(self._lower(each), each)] for each in map(int, t)]

    def magnitude_above_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return the numbers of records of size > t for many edges t; the centre must be 0."""
        if self.centre != 0:
            raise InvalidArgument(f"sizes are distances from 0, but the centre is {self.centre}")
        sizes = [int(each) for each in t]
        both = zip(self.above_many(sizes), self.below_many([-each for each in sizes]), strict=True)
        return [above + below for above, below in both]

    def covers(self, lo: int, hi: int) -> bool:
        """Whether each bound is an edge of its side or lies beyond the range."""
        return lo <= hi and self._lower(lo) is not None and self._upper(hi) is not None

    def clipped_sum(self, lo: int, hi: int) -> int:
        """Return the exact sum of the records clipped to bounds that the cells cover."""
        left, right = self._lower(lo), self._upper(hi)
        if lo > hi or left is None or right is None:
            raise InvalidArgument("these bounds are no edges of the cells: make a second pass")
        outside = lo * sum(self.counts[:left]) + hi * sum(self.counts[right:])
        return outside + sum(self.sums[left:right])

    def _lower(self, lo: int) -> int | None:
        """Number of cells wholly below ``lo``; ``None`` if ``lo`` cuts a cell."""
        place = self._place(self.centre - lo)
        if place is not None:
            return len(self.edges) - place
        return 0 if lo <= self.first else None

    def _upper(self, hi: int) -> int | None:
        """Number of cells not wholly above ``hi``; ``None`` if ``hi`` cuts a cell."""
        place = self._place(hi - self.centre)
        if place is not None:
            return len(self.edges) + 1 + place
        return len(self.counts) if hi >= self.last else None

    def _place(self, distance: int) -> int | None:
        place = bisect_left(self.edges, distance)
        found = place < len(self.edges) and self.edges[place] == distance
        return place if found else None


def _known(cells: int | None, t: int) -> int:
    if cells is None:
        raise InvalidArgument(f"{t} is no edge of the cells on that side")
    return cells


@lru_cache(maxsize=64)
def _bounds_of(asked: Cells, least: int, most: int) -> Integers:
    """Cell i holds the q with bounds[i-1] <= q < bounds[i].

    Those beyond the range are moved to its ends, which moves no record.
    """
    edges = np.array(asked.edges, dtype=np.int64)
    bounds: Integers = asked.centre + np.concatenate([-edges[::-1], edges + 1])
    return np.clip(bounds, least, most)


class _CellsPass(base.Accumulator[CellSummary]):
    def __init__(self, asked: Cells, quantiser: base.Quantiser) -> None:
        self._asked = asked
        self._quantiser = quantiser
        self._bounds = bounds = _bounds_of(asked, quantiser.first, quantiser.last + 1)
        # Counts, and sums in two limbs: each grows by at most 2^26 a record.
        self._tallies = np.zeros((3, len(bounds) + 1), dtype=np.int64)
        # A block costs as much as its sort and a few steps for each cell.
        self._block = min(_MOST_SORTED, max(CHUNK, _FOR_EACH_CELL * len(bounds)))
        self._waiting: list[Integers] = []
        self._rows = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            q = self._quantiser.integers(self._quantiser.bits(x[start : start + CHUNK]))
            self._waiting.append(q)
            self._rows += len(q)
            if self._rows >= self._block:
                self._tally()

    def _tally(self) -> None:
        q = np.concatenate(self._waiting)
        self._waiting, self._rows = [], 0
        q.sort()
        starts = np.concatenate([[0], q.searchsorted(self._bounds)])
        counts = np.diff(starts, append=len(q))
        filled = counts > 0
        self._tallies[0] += counts
        if filled.any():
            firsts = starts[filled]
            self._tallies[1, filled] += np.add.reduceat(q >> base.LIMB, firsts)
            self._tallies[2, filled] += np.add.reduceat(q & ((1 << base.LIMB) - 1), firsts)

    def finish(self) -> CellSummary:
        if self._waiting:
            self._tally()
        counts, high, low = self._tallies.tolist()
        sums = tuple([(a << base.LIMB) + b for a, b in zip(high, low, strict=True)])
        asked, ends = self._asked, (self._quantiser.first, self._quantiser.last)
        return CellSummary(asked.centre, asked.edges, *ends, tuple(counts), sums)


CELLS = FloatGrid(10)
"""Cells of 1/1024 of their distance from zero, and single integers near it."""

MOST_COLUMNS = 500
"""Each has a table of some 700 KB, and a product with every other one."""


@dataclass(frozen=True, slots=True)
class SpreadCounts(base.Reduction["SpreadSummary"]):
    """Counts the records in each cell, for every one of several columns.

    A cell is [p, p'), p and p' neighbours in :data:`CELLS`; below zero cells are mirrored about
    -1/2, so that they too hold their lower end.
    """

    def begin(self, lattice: Lattice | None, *_: object) -> _SpreadPass:
        return _SpreadPass(base.Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SpreadSummary(base.AdditiveSummary):
    """Counts of the cells: ``counts`` has shape (width, cells).

    ``first`` is the number of the cell that ``counts`` begins with. It and ``width``, the number of
    columns, are public; ``counts`` and ``count``, the number of records, are sensitive.
    """

    kind: ClassVar[str] = "spread-counts"
    public: ClassVar[tuple[str, ...]] = ("first", "width")

    first: int
    width: int
    count: int
    counts: Integers

    def below(self, column: int, cells: Integers) -> Integers:
        """Count the records of a column below cells, given by their :func:`cell_numbers`."""
        sums = np.concatenate([[0], np.cumsum(self.counts[column])])
        found: Integers = sums[np.clip(cells - self.first, 0, len(sums) - 1)]
        return found

    def to_bytes(self) -> bytes:
        # Most cells are usually empty, so only the others are written, with their places.
        counts = self.counts.ravel()
        filled = np.flatnonzero(counts)
        ends = (self.first, self.width, self.counts.shape[1])
        return base.pack(self.kind, *ends, self.count, filled, counts[filled])

    @classmethod
    def from_bytes(cls, data: bytes) -> SpreadSummary:
        fields = base.Fields(cls.kind, data)
        first, width, cells, count = (fields.integer() for _ in range(4))
        filled, numbers = fields.array(), fields.array()
        fields.end()
        counts = np.zeros(width * cells, dtype=np.int64)
        counts[filled] = numbers
        return cls(first, width, count, counts.reshape(width, cells))


class _SpreadPass(base.Accumulator[SpreadSummary]):
    def __init__(self, quantiser: base.Quantiser) -> None:
        self._quantiser = quantiser
        ends = cell_numbers(np.array([quantiser.first, quantiser.last]))
        self._first, self._cells = int(ends[0]), int(ends[1] - ends[0]) + 1
        self._counts = np.zeros((0, self._cells), dtype=np.int64)
        self._count = 0
        self._waiting: list[Integers] = []
        self._numbers = 0  # that wait

    def update(self, x: NDArray[np.float64], /) -> None:
        if not len(self._counts):
            if x.shape[1] > MOST_COLUMNS:
                raise InvalidArgument(f"at most {MOST_COLUMNS} columns together, got {x.shape[1]}")
            self._counts = np.zeros((x.shape[1], self._cells), dtype=np.int64)
        starts = np.arange(x.shape[1]) * self._cells - self._first
        for q in base.quantised(self._quantiser, x):
            self._count += len(q)
            self._waiting.append((cell_numbers(q) + starts).ravel())
            self._numbers += q.size
            if self._numbers >= max(self._counts.size, CHUNK):
                self._flush()

    def _flush(self) -> None:
        """Count what waits: one table is summed for about as many values as it has cells."""
        if self._waiting:
            found = np.bincount(np.concatenate(self._waiting), minlength=self._counts.size)
            self._counts += found.reshape(self._counts.shape)
        self._waiting, self._numbers = [], 0

    def finish(self) -> SpreadSummary:
        if not len(self._counts):
            raise InvalidArgument("this reduction needs rows of several columns")
        self._flush()
        return SpreadSummary(self._first, len(self._counts), self._count, self._counts)


def cell_numbers(q: Integers) -> Integers:
    """Return the number of the cell of each lattice integer, in increasing order of cells.

    See [moments.9].
    """
    below = q < 0
    numbers: Integers = CELLS.numbers(np.where(below, ~q, q))
    return np.where(below, ~numbers, numbers)
