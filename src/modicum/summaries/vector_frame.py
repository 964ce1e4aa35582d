"""Vectors as seen from a public point, in public units, and clipped to integers of bounded norm.

Everything here is done to each row by itself, and the same whatever rows stand beside it: numbers
are changed one by one in float64, and a sum over a row is used only where it is exact, or only as
far as no order of summation could change what follows (docs/proofs/mean_vector.md, [F1] to [F4]).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice

__all__ = ["BOUND", "MOST_COLUMNS", "Floats", "FrameView", "VectorFrame"]

BOUND = 1 << 26
"""Norm to which rows are clipped, in units: its square, and any smaller one, is exact."""

MOST_COLUMNS = 1 << 16

_FINEST = 2.0**-900  # gains by a lattice step then are finite

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorFrame:
    """How rows are measured: component j of a row q is gains[j] (q[j] - centre[j]), in units.

    Attributes
    ----------
    centre : tuple of int
        Lattice integers in the range: one for each component, or one for all.
    gains : tuple of float
        Positive; units in a lattice step, one for each component, or one for all.
    squared : bool
        Whether each component is squared then.

    Examples
    --------
    >>> frame = VectorFrame((2,), (4.0, 1.0))
    >>> frame.view(Lattice(-8.0, 8.0, 1.0)).seen(np.array([[1.2, 3.0]]))
    array([[-4.,  1.]])
    """

    centre: tuple[int, ...]
    gains: tuple[float, ...]
    squared: bool = False

    def __post_init__(self) -> None:
        """Refuse gains that are no scale."""
        if not all(math.isfinite(gain) and gain > 0 for gain in self.gains):
            raise InvalidArgument("gains must be positive finite numbers")

    def clipped(self, radius: int) -> VectorFrame:
        """Return the frame in which a norm of ``radius`` is :data:`BOUND`."""
        factor = BOUND / radius
        factor = math.sqrt(factor) if self.squared else factor
        return replace(self, gains=tuple(gain * factor for gain in self.gains))

    def view(self, lattice: Lattice) -> FrameView:
        """Look at rows of a lattice."""
        return FrameView(self, lattice)


class FrameView:
    """A frame on a lattice: what it makes of rows, in arrays that the next call overwrites."""

    __slots__ = ("_arrays", "_gains", "_hi", "_lo", "_lower", "_magic", "_squared")

    def __init__(self, frame: VectorFrame, lattice: Lattice) -> None:
        if lattice.step < _FINEST:
            raise InvalidArgument(
                f"step={lattice.step!r} is too fine for vectors: give a range or a step in which "
                "the step is at least 2^-900"
            )
        self._lo, self._hi = lattice.lo, lattice.hi
        self._magic = 1.5 * 2.0**52 * lattice.step
        self._lower = self._magic + np.array(frame.centre, dtype=np.float64) * lattice.step
        self._gains = np.array(frame.gains) / lattice.step
        self._squared = frame.squared
        self._arrays = np.empty((2, 0, 0))

    def seen(self, x: Floats) -> Floats:
        """Return components; values beyond the range are clamped to it.

        Adding and taking away are exact [F1]; the product is rounded, number by number.
        """
        y = self._array(0, x)
        if x.min(initial=self._lo) < self._lo or x.max(initial=self._hi) > self._hi:
            x = np.clip(x, self._lo, self._hi, out=y)
        np.add(x, self._magic, out=y)
        y -= self._lower
        y *= self._gains
        if self._squared:
            y *= y
        return y

    def clipped(self, x: Floats) -> Floats:
        """Return rows of integers, each of norm at most :data:`BOUND` [F2].

        Rows within keep their direction and norm but for rounding to the nearest integers; others
        are shortened, and rounded towards zero.
        """
        u = self.seen(x)
        v = np.rint(u, out=self._array(1, x))
        far = squares(v) > BOUND**2
        if far.any():
            v[far] = _shortened(u[far])
        return v

    def _array(self, which: int, x: Floats) -> Floats:
        """Return one of two arrays of the shape of some rows."""
        rows, width = x.shape
        if self._arrays.shape[1] < rows or self._arrays.shape[2] != width:
            self._arrays = np.empty((2, rows, width))
        array: Floats = self._arrays[which, :rows]
        return array


def squares(v: Floats) -> Floats:
    """Sum of squares of each row.

    If v are integers it is exact up to 2^53, and beyond it is at least 2^53, for any order of
    summation: a sum of nonnegative integers in float64 is exact until it passes 2^53.
    """
    total: Floats = np.einsum("ij,ij->i", v, v)
    return total


def norms(u: Floats) -> Floats:
    """Norm of each row, to a relative :func:`slack`; the same for any order of summation [F3]."""
    width = u.shape[1]
    exponents = np.frexp(np.abs(u).max(axis=1, initial=0.0))[1] - _places(width)
    whole = np.rint(np.ldexp(u, -exponents[:, None]))
    found: Floats = np.ldexp(np.sqrt(squares(whole)), exponents)
    return found


def slack(width: int) -> float:
    """Bound of the relative error of :func:`norms`: half a unit in each component."""
    return math.sqrt(width) * 2.0 ** -_places(width)


def _places(width: int) -> int:
    """Bits of the largest component, so that a row's sum of squares is at most 2^52."""
    return (52 - (width - 1).bit_length()) // 2


def _shortened(u: Floats) -> Floats:
    factors = BOUND * (1 - 2 * slack(u.shape[1])) / norms(u)
    v = np.trunc(u * factors[:, None])
    # The factor makes room for the error of the norm; the guarantee rests on this line alone.
    v[squares(v) > BOUND**2] = 0.0
    return v
