"""Exact counts and sums: of all records, of clipped ones, of powers, and between public edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import (
    CHUNK,
    AdditiveSummary,
    Blockwise,
    Integers,
    Quantiser,
    Reduction,
    ranged,
    sum_of_rows,
)
from modicum.summaries.synthetic import SyntheticTable

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Count(Reduction["CountSummary"]):
    """Counts the non-missing values, or the rows where no column is named."""

    def begin(self, *_: object) -> Blockwise[CountSummary]:
        return Blockwise(lambda x: CountSummary(len(x) - int(np.count_nonzero(np.isnan(x)))))

    def synthetic(self, table: SyntheticTable, *_: object) -> CountSummary:
        return CountSummary(table.rows)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountSummary(AdditiveSummary):
    """A count (sensitive)."""

    kind: ClassVar[str] = "count"
    tails: ClassVar[None] = None

    count: int


@dataclass(frozen=True, slots=True)
class ClippedSum(Reduction["ClippedSummary"]):
    """Sums lattice integers clipped to [lo, hi], released or public bounds with lo <= hi."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise InvalidArgument(f"lo must not exceed hi, got lo={self.lo}, hi={self.hi}")

    def begin(self, lattice: Lattice | None, *_: object) -> Blockwise[ClippedSummary]:
        quantiser = Quantiser(lattice)
        # Every q lies in [first, last], and clipping is monotone: the two clips are one, to the
        # images of the range's ends. They differ only if [lo, hi] overlaps the range, and then
        # they lie in it; otherwise all records have the same image, of any size.
        least = min(max(quantiser.first, self.lo), self.hi)
        most = min(max(quantiser.last, self.lo), self.hi)

        def of_block(x: Floats) -> ClippedSummary:
            bits = quantiser.present(x)
            total = least * len(bits)
            if least < most:
                np.clip(bits, quantiser.zero + least, quantiser.zero + most, out=bits)
                bits -= quantiser.zero + least
                total += sum_of_rows(bits.view(np.uint64))
            return ClippedSummary(len(bits), total)

        return Blockwise(of_block)

    def follows_from(self, summary: Any) -> ClippedSummary | None:
        if not hasattr(summary, "clipped_sum") or not summary.covers(self.lo, self.hi):
            return None
        return ClippedSummary(summary.count, summary.clipped_sum(self.lo, self.hi))

    def synthetic(self, table: SyntheticTable, *_: object) -> ClippedSummary:
        return ClippedSummary(table.rows, table.clipped_sum(self.lo, self.hi))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClippedSummary(AdditiveSummary):
    """The number of records and the exact sum of their clipped integers, both sensitive."""

    kind: ClassVar[str] = "clipped"

    count: int
    total: int


BLOCK = 1 << 13
"""Products summed at a time: for more, some linear algebra libraries start threads."""


@dataclass(frozen=True, slots=True)
class _AboutCentre:
    """Distances q - centre of lattice integers q clipped to [lo, hi].

    The bounds and the centre are released or public, lo <= centre <= hi, within the range.
    """

    lo: int
    hi: int
    centre: int

    def __post_init__(self) -> None:
        if not self.lo <= self.centre <= self.hi:
            raise InvalidArgument(
                f"the centre must lie between the bounds, got lo={self.lo}, "
                f"centre={self.centre}, hi={self.hi}"
            )

    def _quantiser(self, lattice: Lattice | None) -> Quantiser:
        quantiser = Quantiser(lattice)
        if not quantiser.first <= self.lo <= self.hi <= quantiser.last:
            raise InvalidArgument(
                f"the bounds must lie within the range, [{quantiser.first}, {quantiser.last}] "
                f"in steps, got lo={self.lo}, hi={self.hi}"
            )
        return quantiser

    def _distances(self, quantiser: Quantiser, x: Floats) -> Integers:
        bits = quantiser.present(x)
        np.clip(bits, quantiser.zero + self.lo, quantiser.zero + self.hi, out=bits)
        bits -= quantiser.zero + self.centre
        return bits


class ClippedSquares(_AboutCentre, Reduction["SquareSummary"]):
    """Sums (q - centre)² over lattice integers q clipped to [lo, hi]."""

    __slots__ = ()

    def begin(self, lattice: Lattice | None, *_: object) -> Blockwise[SquareSummary]:
        quantiser, parts = self._quantiser(lattice), np.empty((3, CHUNK))

        def of_block(x: Floats) -> SquareSummary:
            distances = self._distances(quantiser, x)
            return SquareSummary(len(distances), _squares(distances, parts[:, : len(distances)]))

        return Blockwise(of_block)

    def synthetic(self, table: SyntheticTable, *_: object) -> SquareSummary:
        return SquareSummary(table.rows, table.squares(self.lo, self.hi, self.centre))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SquareSummary(AdditiveSummary):
    """The number of records and the exact sum of their squared distances, both sensitive."""

    kind: ClassVar[str] = "squares"

    count: int
    total: int


def _squares(distances: Integers, parts: Floats) -> int:
    """Sum squares of integers of at most 2^52, cut into three parts, d = d2 + d1 + d0.

    d2 is a multiple of 2^36 and d1 one of 2^18; each part is at most 2^17 of its units in size.
    So a product of two is at most 2^34 of its units, and a chunk's sum 2^50: exact in float64,
    whatever the order of summation.
    """
    high, middle, low = parts
    low[:] = distances
    _split(low, 36, high)
    _split(low, 18, middle)
    total = 0
    for start in range(0, len(distances), BLOCK):
        block = slice(start, start + BLOCK)
        a, b, c = high[block], middle[block], low[block]
        total += int(a @ a) + int(b @ b) + int(c @ c)
        total += 2 * (int(a @ b) + int(a @ c) + int(b @ c))
    return total


def _split(x: Floats, power: int, into: Floats) -> None:
    """Move the nearest multiples of 2^power from integers of at most 2^52 to another array."""
    magic = 1.5 * 2.0 ** (52 + power)  # the unit in its last place is 2^power
    np.add(x, magic, out=into)
    into -= magic
    x -= into


class ClippedPowers(_AboutCentre, Reduction["PowerSummary"]):
    """Sums (q - centre)^k, k = 1, 2 and 3, over lattice integers q clipped to [lo, hi]."""

    __slots__ = ()

    def begin(self, lattice: Lattice | None, *_: object) -> Blockwise[PowerSummary]:
        quantiser = self._quantiser(lattice)

        def of_block(x: Floats) -> PowerSummary:
            distances = self._distances(quantiser, x)
            return PowerSummary(len(distances), _powers(distances))

        return Blockwise(of_block)

    def synthetic(self, table: SyntheticTable, *_: object) -> PowerSummary:
        totals = (table.power(self.lo, self.hi, self.centre, k) for k in (1, 2, 3))
        return PowerSummary(table.rows, tuple(totals))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PowerSummary(AdditiveSummary):
    """The number of records and the exact sums of three powers of their distances (sensitive)."""

    kind: ClassVar[str] = "powers"

    count: int
    totals: tuple[int, ...]


def _powers(distances: Integers) -> tuple[int, ...]:
    """Sum three powers of integers of at most 2^52, cut into parts of at most 2^17 units.

    The parts are those of squares. A product of three is at most 2^51 units, so that a row's sum
    stays within 2^62.
    """
    high = (distances + (1 << 35)) >> 36
    distances -= high << 36
    middle = (distances + (1 << 17)) >> 18
    parts = {36: high, 18: middle, 0: distances - (middle << 18)}
    first = second = third = 0
    for a, x1 in parts.items():
        first += sum_of_rows(x1) << a
        for b, x2 in parts.items():
            second += sum_of_rows(x1 * x2) << (a + b)
            for c, x3 in parts.items():
                third += sum_of_rows(x1 * x2 * x3) << (a + b + c)
    return first, second, third


_ALL_BITS = np.iinfo(np.int64)
_COMPARED = 12  # edges, with each of which all records are compared: of more they are sorted


@dataclass(frozen=True, slots=True)
class BinCounts(Reduction["BinSummary"]):
    """Counts the records below the first edge, from it to the next, ..., and from the last on.

    The edges are increasing lattice integers; a record on an edge is above it.
    """

    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.edges or any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise InvalidArgument(f"edges must increase, got {len(self.edges)} of them")

    def begin(self, lattice: Lattice | None, *_: object) -> Blockwise[BinSummary]:
        lattice = ranged(lattice, "bins need")
        edges = np.array(self.edges, dtype=np.int64)

        def of_few(x: Floats) -> BinSummary:
            bits = quantiser.present(x)
            below = [np.count_nonzero(bits < end) for end in ends]
            return BinSummary(self.edges, np.diff(below, prepend=0, append=len(bits)))

        if len(edges) <= _COMPARED:
            quantiser = Quantiser(lattice)
            # An edge that is not within the range leaves all records on one side, clamped or not.
            ends = np.where(edges > quantiser.last, _ALL_BITS.max, edges + quantiser.zero)
            ends[edges <= quantiser.first] = _ALL_BITS.min
            return Blockwise(of_few)

        def of_block(x: Floats) -> BinSummary:
            q = lattice.quantise(x)
            q.sort()  # cheaper than to look up every record among the edges
            places = np.searchsorted(q, edges, side="left")
            return BinSummary(self.edges, np.diff(places, prepend=0, append=len(q)))

        return Blockwise(of_block)

    def follows_from(self, summary: Any) -> BinSummary | None:
        below = summary.counts_below(self.edges) if hasattr(summary, "counts_below") else None
        if below is None:
            return None
        return BinSummary(self.edges, np.diff(below, prepend=0, append=summary.count))

    def synthetic(self, table: SyntheticTable, *_: object) -> BinSummary:
        return BinSummary(self.edges, np.array(table.counts(self.edges)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinSummary(AdditiveSummary):
    """Sensitive numbers of records between public edges: one more number than there are edges."""

    kind: ClassVar[str] = "bins"
    public: ClassVar[tuple[str, ...]] = ("edges",)

    edges: tuple[int, ...]
    tallies: Integers

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(self.tallies.tolist())
