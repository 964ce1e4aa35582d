"""The exact sum of squared distances of a clipped column from a public point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import CHUNK, Quantiser

__all__ = ["ClippedSquares", "SquareSummary"]

BLOCK = 1 << 13
"""Products summed at a time: for more, some linear algebra libraries start threads."""

Part = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClippedSquares:
    """Ask for the sum of (q - centre)² over lattice integers q clipped to [lo, hi].

    Attributes
    ----------
    lo, hi : int
        Released or public bounds within the range.
    centre : int
        Released or public, lo <= centre <= hi.
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

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _SquaresPass:
        quantiser = Quantiser(lattice)
        if not quantiser.first <= self.lo <= self.hi <= quantiser.last:
            raise InvalidArgument(
                f"the bounds must lie within the range, [{quantiser.first}, {quantiser.last}] "
                f"in steps, got lo={self.lo}, hi={self.hi}"
            )
        return _SquaresPass(self, quantiser)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SquareSummary(Sensitive):
    """How many records there are, and the exact sum of their squared distances.

    Attributes
    ----------
    count, total : int
        Sensitive.
    """

    count: int
    total: int

    def merge(self, other: Self) -> SquareSummary:
        self._check_same(other)
        return SquareSummary(self.count + other.count, self.total + other.total)

    def to_bytes(self) -> bytes:
        return pack("squares", self.count, self.total)

    @classmethod
    def from_bytes(cls, data: bytes) -> SquareSummary:
        fields = Fields("squares", data)
        summary = cls(fields.integer(), fields.integer())
        fields.end()
        return summary


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
        # The minimum of the floats is NaN if one of them is: a fifth of the price of a mask.
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


def _split(x: NDArray[np.float64], power: int, into: NDArray[np.float64]) -> None:
    """Move the nearest multiples of 2^power from integers of at most 2^52 to another array."""
    magic = 1.5 * 2.0 ** (52 + power)  # the unit in its last place is 2^power
    np.add(x, magic, out=into)
    into -= magic
    x -= into
