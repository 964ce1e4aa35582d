"""The octaves of float64: the lattice on which a column's scale is read, whatever it is."""

from __future__ import annotations

import functools
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice

_MANTISSA = 52
_EXPONENT = 0x7FF
_BIAS = 1023
_SHIFT, _OCTAVES = np.uint64(_MANTISSA), _EXPONENT + 1
_IN_KEY = np.uint16(4)  # bits of the mantissa in the first 16 bits of a float64
_KEY = np.uint16(_EXPONENT << _IN_KEY)
_FIRST = 3 if sys.byteorder == "little" else 0  # of the four 16-bit words of a float64
_MANY = 1 << 16  # from here on it pays to ask which way is faster: that takes two milliseconds


@dataclass(frozen=True, slots=True)
class OctaveLattice(Lattice):
    r"""Every number becomes the number of its octave, in the order of sizes.

    [range.1] Octave k, from 1 to 2046, holds the x with 2^(k - 1023) <= \|x\| < 2^(k - 1022), of
    both signs: k is the exponent in the bits of x, so it is the same on every machine. Infinities
    are in the last octave; zeros, and sizes below 2^-1022, in octave 0.

    Examples
    --------
    >>> OCTAVES.quantise(np.array([0.0, 1.0, -1.99, 2.0, float("nan"), -float("inf")]))
    array([   0, 1023, 1023, 1024, 2046])
    >>> OCTAVES.value(1024)
    4.0
    """

    @property
    def numbers(self) -> Lattice:
        return Lattice(self.lo, self.hi, self.step)

    def read(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number of each octave, NaN for NaN."""
        exponents = (x.view(np.int64) >> _MANTISSA) & _EXPONENT
        octaves: NDArray[np.float64] = np.minimum(exponents, self.last).astype(np.float64)
        octaves[np.isnan(x)] = np.nan
        return octaves

    def quantise(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        return self.numbers.quantise(self.read(x))

    def counts(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many numbers are in each octave, NaN in none."""
        counts = (_faster() if len(x) >= _MANY else counted)(x)
        if counts[-1]:  # infinities and NaN have this exponent
            counts[self.last] += counts[-1] - np.count_nonzero(np.isnan(x))
        return counts[: self.last + 1]

    @staticmethod
    def least(octaves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the least number of each octave that is not negative."""
        return np.where(octaves > 0, np.ldexp(1.0, octaves - _BIAS), 0.0)

    @staticmethod
    def power(octave: int) -> int:
        """Return the least k so that no number of an octave reaches 2^k."""
        return octave - _BIAS + 1

    def value(self, q: int | Fraction) -> float:
        """Return the least power of two that no number of octave q reaches; 2^1023 for the last."""
        return math.ldexp(1.0, min(self.power(int(q)), _BIAS))


def counted(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count exponents one by one."""
    signed = np.bincount((x.view(np.uint64) >> _SHIFT).view(np.int64), minlength=2 * _OCTAVES)
    return signed[:_OCTAVES] + signed[_OCTAVES:]


def sorted_out(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count exponents by sorting the first 16 bits of each number: see where each one begins."""
    keys = np.ascontiguousarray(x).view(np.uint16)[_FIRST::4].copy()
    keys &= _KEY
    keys.sort()
    least, largest = (int(each) >> _IN_KEY for each in keys[[0, -1]])
    starts = np.empty(largest - least + 2, dtype=np.int64)
    starts[0], starts[-1] = 0, len(keys)
    others = np.arange(least + 1, largest + 1, dtype=np.uint16) << _IN_KEY
    starts[1:-1] = keys.searchsorted(others)
    counts = np.zeros(_OCTAVES, dtype=np.int64)
    counts[least : largest + 1] = starts[1:] - starts[:-1]
    return counts


@functools.cache
def _faster() -> Callable[[NDArray[np.float64]], NDArray[np.int64]]:
    """The faster way to the same counts, tried on numbers that are always the same.

    Sorting takes half the time where NumPy has wide instructions for 16-bit keys, and several times
    as long where it has none.
    """
    x = (np.arange(_MANY) * 40503 % _MANY).astype(np.float64)

    def seconds(way: Callable[[NDArray[np.float64]], NDArray[np.int64]]) -> float:
        times = [time.perf_counter()]
        for _ in range(3):
            way(x)
            times.append(time.perf_counter())
        return float(np.diff(times).min())

    return min((counted, sorted_out), key=seconds)


OCTAVES = OctaveLattice(0.0, float(_EXPONENT - 1), 1.0)
