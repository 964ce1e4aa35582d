"""The exact sum of squared distances of a clipped column from a public point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import CHUNK, LIMB, Quantiser, total_of_rows

__all__ = ["ClippedSquares", "SquareSummary"]


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
    """A distance d <= 2^52 is a 2^26 + b with a <= 2^26 and b < 2^26.

    d² = a² 2^52 + a b 2^27 + b²; each of the three products is at most 2^52, so a row of them
    stays within 2^63, and their sums are exact.
    """

    reads = True

    def __init__(self, asked: ClippedSquares, quantiser: Quantiser) -> None:
        self._ends = quantiser.zero + asked.lo, quantiser.zero + asked.hi
        self._centre = quantiser.zero + asked.centre
        self._quantiser = quantiser
        self._count = 0
        self._sums = [0, 0, 0]  # of a², a b and b²

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
        np.abs(distance, out=distance)
        high = distance >> LIMB
        distance &= (1 << LIMB) - 1
        products = (high * distance, high * high, distance * distance)
        for i, product in zip((1, 0, 2), products, strict=True):
            self._sums[i] += total_of_rows(product.view(np.uint64))

    def finish(self) -> SquareSummary:
        high, mixed, low = self._sums
        return SquareSummary(self._count, (high << 2 * LIMB) + (mixed << LIMB + 1) + low)
