"""A floating-point grid on the lattice integers: log-uniform far from zero, complete near it.

``FloatGrid(bits)`` holds every integer z whose binary form has at most ``bits + 1`` leading
digits, that is 0 and ±(2^bits + i) 2^s for 0 <= i < 2^bits, s >= 0, and all integers below
2^(bits+1) in size. Its points are numbered ..., -1, 0, 1, ... in increasing order, so a law that
is uniform on the numbers is uniform in the logarithm of the point, to a relative 2^-bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatGrid"]


@dataclass(frozen=True, slots=True)
class FloatGrid:
    """Integers with ``bits`` fraction bits, in increasing order.

    Examples
    --------
    >>> grid = FloatGrid(bits=2)
    >>> [grid.point(i) for i in range(6, 15)]
    [6, 7, 8, 10, 12, 14, 16, 20, 24]
    >>> grid.number(-11)
    -9
    >>> grid.point(-9)
    -10
    """

    bits: int

    def point(self, number: int) -> int:
        """Return the grid point with this number."""
        size = abs(number)
        shift = max(0, (size >> self.bits) - 1)
        point = (size - (shift << self.bits)) << shift
        return point if number >= 0 else -point

    def number(self, q: int) -> int:
        """Return the number of the grid point that ``q`` is rounded to (towards zero)."""
        size = abs(q)
        shift = max(0, size.bit_length() - 1 - self.bits)
        number = (shift << self.bits) + (size >> shift)
        return number if q >= 0 else -number

    def numbers(self, q: NDArray[np.int64]) -> NDArray[np.int64]:
        """Vectorised :meth:`number`; up to 2^53 + 1 in size, whose bit length float64 keeps."""
        size = np.abs(q)
        exponent = np.frexp(size.astype(np.float64))[1].astype(np.int64)  # = bit_length
        shift = np.maximum(exponent - 1 - self.bits, 0)
        numbers = (shift << self.bits) + (size >> shift)
        return np.where(q >= 0, numbers, -numbers)
