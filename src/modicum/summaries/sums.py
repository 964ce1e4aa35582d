"""Exact counts and sums: of all records, of clipped ones, of squares, and between public cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import (
    CHUNK,
    ROW,
    Fields,
    Integers,
    Quantiser,
    Reduction,
    Rows,
    Sensitive,
    pack,
    total_of_rows,
)
from modicum.summaries.synthetic import SyntheticTable


@dataclass(frozen=True, slots=True)
class Count(Reduction["CountSummary"]):
    """Counts the non-missing values, or the rows where no column is named."""

    def begin(self, _lattice: Lattice | None, _rows: Rows | None = None, /) -> _CountPass:
        return _CountPass()

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy
    ) -> CountSummary:
        return CountSummary(table.rows)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountSummary(Sensitive):
    """A count (sensitive)."""

    count: int
    tails: ClassVar[None] = None

    def merge(self, other: Self) -> CountSummary:
        self._check_same(other)
        return CountSummary(self.count + other.count)

    def to_bytes(self) -> bytes:
        return pack("count", self.count)

    @classmethod
    def from_bytes(cls, data: bytes) -> CountSummary:
        fields = Fields("count", data)
        summary = cls(fields.integer())
        fields.end()
        return summary


class _CountPass:
    reads = True

    def __init__(self) -> None:
        self._count = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        self._count += len(x) - int(np.count_nonzero(np.isnan(x)))

    def finish(self) -> CountSummary:
        return CountSummary(self._count)


@dataclass(frozen=True, slots=True)
class ClippedSum(Reduction["ClippedSummary"]):
    """Sums lattice integers clipped to [lo, hi], released or public bounds with lo <= hi."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise InvalidArgument(f"lo must not exceed hi, got lo={self.lo}, hi={self.hi}")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _ClippedPass:
        return _ClippedPass(self, Quantiser(lattice))

    def follows_from(self, summary: Any) -> ClippedSummary | None:
        if not hasattr(summary, "clipped_sum") or not summary.covers(self.lo, self.hi):
            return None
        return ClippedSummary(summary.count, summary.clipped_sum(self.lo, self.hi))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy
    ) -> ClippedSummary:
        return ClippedSummary(table.rows, table.clipped_sum(self.lo, self.hi))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _ExactSum(Sensitive):
    """The number of records and an exact sum over them, both sensitive."""

    written: ClassVar[str]

    count: int
    total: int

    def merge(self, other: Self) -> Self:
        self._check_same(other)
        return type(self)(self.count + other.count, self.total + other.total)

    def to_bytes(self) -> bytes:
        return pack(self.written, self.count, self.total)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        fields = Fields(cls.written, data)
        summary = cls(fields.integer(), fields.integer())
        fields.end()
        return summary


class ClippedSummary(_ExactSum):
    """The number of records and the exact sum of their clipped integers."""

    __slots__ = ()
    written = "clipped"


class _ClippedPass:
    reads = True

    def __init__(self, asked: ClippedSum, quantiser: Quantiser) -> None:
        # Every q lies in [first, last], and clipping is monotone: the two clips are one, to the
        # images of the range's ends. They differ only if [lo, hi] overlaps the range, and then
        # they lie in it; otherwise all records have the same image, of any size.
        self._least = min(max(quantiser.first, asked.lo), asked.hi)
        self._most = min(max(quantiser.last, asked.lo), asked.hi)
        self._quantiser = quantiser
        self._count = 0
        self._excess = 0  # sum of clipped integers minus `least`

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            self._chunk(self._quantiser.bits(x[start : start + CHUNK]))

    def _chunk(self, bits: NDArray[np.int64]) -> None:
        # The minimum of the floats is NaN if one of them is: a fifth of the cost of a mask.
        if np.isnan(bits.view(np.float64).min(initial=np.inf)):
            bits = bits[~np.isnan(bits.view(np.float64))]
        self._count += len(bits)
        if self._least < self._most:
            least = self._quantiser.zero + self._least
            np.clip(bits, least, self._quantiser.zero + self._most, out=bits)
            bits -= least
            self._excess += total_of_rows(bits.view(np.uint64))

    def finish(self) -> ClippedSummary:
        return ClippedSummary(self._count, self._least * self._count + self._excess)


BLOCK = 1 << 13
"""Products summed at a time: for more, some linear algebra libraries start threads."""

Part = NDArray[np.float64]


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


class ClippedSquares(_AboutCentre, Reduction["SquareSummary"]):
    """Sums (q - centre)² over lattice integers q clipped to [lo, hi]."""

    __slots__ = ()

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _SquaresPass:
        return _SquaresPass(self, self._quantiser(lattice))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy
    ) -> SquareSummary:
        return SquareSummary(table.rows, table.squares(self.lo, self.hi, self.centre))


class SquareSummary(_ExactSum):
    """The number of records and the exact sum of their squared distances."""

    __slots__ = ()
    written = "squares"


class _SquaresPass:
    """A distance of at most 2^52 is cut into three parts, d = d2 + d1 + d0.

    d2 is a multiple of 2^36 and d1 one of 2^18; each part is at most 2^17 of its units in size.
    So a product of two is at most 2^34 of its units, and a chunk's sum 2^50: exact in float64,
    whatever the order of summation.
    """

    reads = True

    def __init__(self, asked: ClippedSquares, quantiser: Quantiser) -> None:
        self._ends = quantiser.zero + asked.lo, quantiser.zero + asked.hi
        self._centre = quantiser.zero + asked.centre
        self._quantiser = quantiser
        self._parts = np.empty((3, CHUNK))
        self._count = 0
        self._total = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            self._chunk(self._quantiser.bits(x[start : start + CHUNK]))

    def _chunk(self, bits: Integers) -> None:
        # The minimum of the floats is NaN if one of them is: a fifth of the cost of a mask.
        if np.isnan(bits.view(np.float64).min(initial=np.inf)):
            bits = bits[~np.isnan(bits.view(np.float64))]
        self._count += len(bits)
        distance = np.clip(bits, *self._ends, out=bits)
        distance -= self._centre
        high, middle, low = self._parts[:, : len(bits)]
        low[:] = distance
        _split(low, 36, high)
        _split(low, 18, middle)
        for start in range(0, len(bits), BLOCK):
            block = slice(start, start + BLOCK)
            self._add(high[block], middle[block], low[block])

    def _add(self, a: Part, b: Part, c: Part) -> None:
        alone = int(a @ a) + int(b @ b) + int(c @ c)
        self._total += alone + 2 * (int(a @ b) + int(a @ c) + int(b @ c))

    def finish(self) -> SquareSummary:
        return SquareSummary(self._count, self._total)


class ClippedPowers(_AboutCentre, Reduction["PowerSummary"]):
    """Sums (q - centre)^k, k = 1, 2 and 3, over lattice integers q clipped to [lo, hi]."""

    __slots__ = ()

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _PowersPass:
        return _PowersPass(self, self._quantiser(lattice))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy
    ) -> PowerSummary:
        first, second, third = (table.power(self.lo, self.hi, self.centre, k) for k in (1, 2, 3))
        return PowerSummary(table.rows, (first, second, third))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PowerSummary(Sensitive):
    """The number of records and the exact sums of three powers of their distances (sensitive)."""

    count: int
    totals: tuple[int, int, int]

    def merge(self, other: PowerSummary) -> PowerSummary:
        first, second, third = (a + b for a, b in zip(self.totals, other.totals, strict=True))
        return PowerSummary(self.count + other.count, (first, second, third))

    def to_bytes(self) -> bytes:
        return pack("powers", self.count, *self.totals)

    @classmethod
    def from_bytes(cls, data: bytes) -> PowerSummary:
        fields = Fields("powers", data)
        count, first, second, third = (fields.integer() for _ in range(4))
        fields.end()
        return cls(count, (first, second, third))


class _PowersPass:
    """A distance of at most 2^52 is cut into three parts of at most 2^17 units, as for squares.

    A product of three is at most 2^51 units, so that a row's sum stays within 2^62.
    """

    reads = True

    def __init__(self, asked: ClippedPowers, quantiser: Quantiser) -> None:
        self._asked = asked
        self._quantiser = quantiser
        self._count = 0
        self._totals = [0, 0, 0]

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            q = self._quantiser.integers(self._quantiser.bits(x[start : start + CHUNK]))
            self._count += len(q)
            distance = np.clip(q, self._asked.lo, self._asked.hi) - self._asked.centre
            high = (distance + (1 << 35)) >> 36
            distance -= high << 36
            middle = (distance + (1 << 17)) >> 18
            parts = {36: high, 18: middle, 0: distance - (middle << 18)}
            for a, x1 in parts.items():
                self._totals[0] += _sum_of_rows(x1) << a
                for b, x2 in parts.items():
                    self._totals[1] += _sum_of_rows(x1 * x2) << (a + b)
                    for c, x3 in parts.items():
                        self._totals[2] += _sum_of_rows(x1 * x2 * x3) << (a + b + c)

    def finish(self) -> PowerSummary:
        first, second, third = self._totals
        return PowerSummary(self._count, (first, second, third))


def _sum_of_rows(values: Integers) -> int:
    """Sum integers of at most 2^51 in size."""
    sums = np.add.reduceat(values, range(0, len(values), ROW)) if len(values) else values
    return sum(sums.tolist())


def _split(x: NDArray[np.float64], power: int, into: NDArray[np.float64]) -> None:
    """Move the nearest multiples of 2^power from integers of at most 2^52 to another array."""
    magic = 1.5 * 2.0 ** (52 + power)  # the unit in its last place is 2^power
    np.add(x, magic, out=into)
    into -= magic
    x -= into


@dataclass(frozen=True, slots=True)
class BinCounts(Reduction["BinSummary"]):
    """Counts the records below the first cut, from it to the next, ..., and from the last on.

    The cuts are increasing lattice integers; a record on a cut is above it.
    """

    cuts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.cuts or any(a >= b for a, b in zip(self.cuts, self.cuts[1:], strict=False)):
            raise InvalidArgument(f"cuts must increase, got {len(self.cuts)} of them")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _BinPass:
        if lattice is None:
            raise InvalidArgument("bins need a range: lattice must not be None")
        return _BinPass(self.cuts, lattice)

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy
    ) -> BinSummary:
        return BinSummary(self.cuts, table.counts(self.cuts))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinSummary(Sensitive):
    """Sensitive numbers of records between public cuts: one more number than there are cuts."""

    public: ClassVar[tuple[str, ...]] = ("cuts",)

    cuts: tuple[int, ...]
    counts: tuple[int, ...]

    def merge(self, other: Self) -> BinSummary:
        self._check_same(other)
        pairs = zip(self.counts, other.counts, strict=True)
        return BinSummary(self.cuts, tuple(a + b for a, b in pairs))

    def to_bytes(self) -> bytes:
        return pack("bins", np.array(self.cuts), np.array(self.counts))

    @classmethod
    def from_bytes(cls, data: bytes) -> BinSummary:
        fields = Fields("bins", data)
        cuts, counts = fields.array(), fields.array()
        fields.end()
        return cls(tuple(cuts.tolist()), tuple(counts.tolist()))


class _BinPass:
    reads = True

    def __init__(self, cuts: tuple[int, ...], lattice: Lattice) -> None:
        self._cuts = np.array(cuts, dtype=np.int64)
        self._lattice = lattice
        self._counts: Integers = np.zeros(len(cuts) + 1, dtype=np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            q = self._lattice.quantise(x[start : start + CHUNK])
            q.sort()  # cheaper than to look up every record among the cuts
            places = np.searchsorted(q, self._cuts, side="left")
            self._counts += np.diff(places, prepend=0, append=len(q))

    def finish(self) -> BinSummary:
        return BinSummary(tuple(self._cuts.tolist()), tuple(self._counts.tolist()))
