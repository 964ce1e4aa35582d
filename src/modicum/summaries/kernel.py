"""Lattice integers of float64 chunks, and sums of them that cannot overflow.

The integer of x is read off the bits of y = x + M, M = 1.5 * 2^52 step: for |x| <= 2^51 step, y
lies in [2^52, 2^53] step, where one step is one unit in the last place, so the bits of y, taken as
an integer, are the bits of M plus the lattice integer. Outside, they are still in order for y >= 0
and negative for y < 0, so clamping bits to the bits of the range's ends is clamping x. The bits
of a NaN lie beyond those of every number (docs/proofs/summaries.md, [K1] to [K3]).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers

__all__ = ["CHUNK", "LIMB", "ROW", "Quantiser", "exact_sum", "total_of_rows"]

CHUNK = 1 << 16
"""Values that are worked on at a time: 512 KB, within a core's second-level cache."""

ROW = 1 << 11
"""Values summed in one int64: each lattice integer is at most 2^51 in size, a row 2^62."""

LIMB = 26
"""Bits of the lower part of an integer that is summed in two parts."""


class Quantiser:
    """Turns chunks of at most :data:`CHUNK` numbers into bits of lattice integers."""

    __slots__ = ("_buffer", "_magic", "first", "last", "zero")

    def __init__(self, lattice: Lattice | None) -> None:
        if lattice is None:
            raise InvalidArgument("this reduction needs a range: lattice must not be None")
        self._magic = 1.5 * 2.0**52 * lattice.step
        self.zero = int(np.float64(self._magic).view(np.int64))
        self.first, self.last = lattice.first, lattice.last
        self._buffer = np.empty(CHUNK)

    def bits(self, x: NDArray[np.float64]) -> Integers:
        """Return zero + q for x within the range, something beyond for all other x.

        The result is overwritten by the next call.
        """
        y = self._buffer[: len(x)]
        # A warning of an overflow would tell that there is a huge value.
        with np.errstate(all="ignore"):
            np.add(x, self._magic, out=y)
        return y.view(np.int64)

    def integers(self, bits: Integers) -> Integers:
        """Return a new array of clamped lattice integers, without those of NaN."""
        missing = np.isnan(bits.view(np.float64))
        present = bits[~missing] if missing.any() else bits
        q = np.maximum(present, self.zero + self.first)
        np.minimum(q, self.zero + self.last, out=q)
        q -= self.zero
        return q

    def lifted(self, q: int) -> float:
        """Return M + q * step, the float whose bits are zero + q."""
        return float(np.int64(self.zero + q).view(np.float64))


def total_of_rows(values: NDArray[np.uint64]) -> int:
    """Sum integers that are at most 2^52 each: a row stays within 2^63."""
    whole = len(values) // ROW * ROW
    rows = values[:whole].reshape(-1, ROW).sum(axis=1)
    total: int = sum(rows.tolist())
    return total + int(values[whole:].sum())


def exact_sum(q: Integers) -> int:
    """Sum up to 2^36 integers of at most 2^52 in size, in two limbs."""
    high = int((q >> LIMB).sum())
    low = int((q & ((1 << LIMB) - 1)).sum())
    return (high << LIMB) + low
