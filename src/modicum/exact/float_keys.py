"""Float64 numbers as integers in the same order: records as they are, before any scale is known."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice

_SIZE = np.int64((1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class FloatKeys(Lattice):
    """Every number becomes the integer of its bits, negative numbers mirrored; infinities clamped.

    Examples
    --------
    >>> q = KEYS.quantise(np.array([-1.5, -0.0, 5e-324, float("nan"), float("inf")]))
    >>> KEYS.numbers_of(q).tolist()
    [-1.5, 0.0, 5e-324, 1.7976931348623157e+308]
    """

    def __post_init__(self) -> None:
        """Nothing to check: there is one."""

    def quantise(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        kept = np.clip(x[~np.isnan(x)], self.lo, self.hi) + 0.0  # -0.0 becomes 0.0
        bits = kept.view(np.int64)
        keys: NDArray[np.int64] = np.where(bits < 0, -(bits & _SIZE), bits)
        return keys

    def numbers_of(self, q: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.copysign(np.abs(q).view(np.float64), q.astype(np.float64))


KEYS = FloatKeys(-sys.float_info.max, sys.float_info.max, 0.0)
