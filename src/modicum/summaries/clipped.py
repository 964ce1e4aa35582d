"""The exact sum of a column clipped to public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Rows, Sensitive, pack
from modicum.summaries.kernel import CHUNK, Quantiser, total_of_rows

__all__ = ["ClippedSum", "ClippedSummary"]


@dataclass(frozen=True, slots=True)
class ClippedSum:
    """Ask for the sum of lattice integers clipped to [lo, hi].

    Attributes
    ----------
    lo, hi : int
        Released or public bounds, lo <= hi.
    """

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise InvalidArgument(f"lo must not exceed hi, got lo={self.lo}, hi={self.hi}")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _ClippedPass:
        return _ClippedPass(self, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClippedSummary(Sensitive):
    """How many records there are, and the exact sum of their clipped integers.

    Attributes
    ----------
    count, total : int
        Sensitive.
    """

    count: int
    total: int

    def merge(self, other: Self) -> ClippedSummary:
        self._check_same(other)
        return ClippedSummary(self.count + other.count, self.total + other.total)

    def to_bytes(self) -> bytes:
        return pack("clipped", self.count, self.total)

    @classmethod
    def from_bytes(cls, data: bytes) -> ClippedSummary:
        fields = Fields("clipped", data)
        summary = cls(fields.integer(), fields.integer())
        fields.end()
        return summary


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
        # The minimum of the floats is NaN if one of them is: a fifth of the price of a mask.
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
