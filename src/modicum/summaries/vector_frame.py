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
_SURELY = 1 - 2.0**-20  # more than what rounding adds to a sum of 2^16 positive numbers

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
    sizes : bool
        Whether each component u is replaced by |u|^power then.
    power : {1, 2}
        Norms are (sum of |u|^power)^(1/power).

    Examples
    --------
    >>> frame = VectorFrame((2,), (4.0, 1.0))
    >>> frame.view(Lattice(-8.0, 8.0, 1.0)).seen(np.array([[1.2, 3.0]]))
    array([[-4.,  1.]])
    """

    centre: tuple[int, ...]
    gains: tuple[float, ...]
    sizes: bool = False
    power: int = 2

    def __post_init__(self) -> None:
        """Refuse gains that are no scale."""
        if not all(math.isfinite(gain) and gain > 0 for gain in self.gains):
            raise InvalidArgument("gains must be positive finite numbers")

    def clipped(self, radius: int) -> VectorFrame:
        """Return the frame in which a norm of ``radius`` is :data:`BOUND`."""
        factor = BOUND / radius
        factor = factor ** (1 / self.power) if self.sizes else factor
        return replace(self, gains=tuple(gain * factor for gain in self.gains))

    def longest(self, lattice: Lattice, width: int) -> float:
        """Return a norm that no row of some components has beyond."""
        gains = np.array(self.gains * (width // len(self.gains)))
        return float(lattice.width * (gains**self.power).sum() ** (1 / self.power))

    def view(self, lattice: Lattice) -> FrameView:
        """Look at rows of a lattice."""
        return FrameView(self, lattice)


class FrameView:
    """A frame on a lattice: what it makes of rows, in arrays that the next call overwrites."""

    __slots__ = (
        "_arrays",
        "_gains",
        "_hi",
        "_lo",
        "_lower",
        "_magic",
        "_power",
        "_safe",
        "_sizes",
    )

    def __init__(self, frame: VectorFrame, lattice: Lattice) -> None:
        if lattice.step < _FINEST:
            raise InvalidArgument(
                f"step={lattice.step!r} is too fine for vectors: give a range or a step in which "
                "the step is at least 2^-900"
            )
        centre = np.array(frame.centre, dtype=np.float64)
        self._lo, self._hi = lattice.lo, lattice.hi
        self._magic = 1.5 * 2.0**52 * lattice.step
        self._lower = _one_or_all(self._magic + centre * lattice.step)
        self._gains = _one_or_all(np.array(frame.gains) / lattice.step)
        self._power, self._sizes = frame.power, frame.sizes
        ends = np.minimum(lattice.last - centre, centre - lattice.first) * lattice.step
        nearest = float((self._gains * ends).min())
        self._safe = nearest**frame.power if frame.sizes else nearest
        self._arrays = np.empty((2, 0, 0))

    def seen(self, x: Floats) -> Floats:
        """Return components; values beyond the range are clamped to it."""
        if x.min(initial=self._lo) < self._lo or x.max(initial=self._hi) > self._hi:
            x = np.clip(x, self._lo, self._hi, out=self._array(0, x))
        return self._quick(x)

    def measured(self, x: Floats) -> tuple[Floats, Floats]:
        """Return components, and of each row the sum of |u|^power, rounded.

        A value beyond the range would be in a row whose norm reaches the end of the range that is
        nearest to the centre: there are none if all norms are below that, and there is nothing
        to be clamped.
        """
        u = self._quick(x)
        found = size(u, self._power)
        if not found.max(initial=0.0) < self._safe**self._power * _SURELY:
            u = self.seen(x)
            found = size(u, self._power)
        return u, found

    def clipped(self, x: Floats) -> Floats:
        """Return rows of integers, each of norm at most :data:`BOUND` [F2].

        Rows within keep their direction and norm but for rounding to the nearest integers; others
        are shortened, and rounded towards zero.
        """
        inside = self._safe > BOUND + 1  # rows with a value beyond the range are too long
        u = self._quick(x) if inside else self.seen(x)
        v = np.rint(u, out=self._array(1, x))
        far = size(v, self._power) > BOUND**self._power
        if far.any():
            rows = self.seen(np.ascontiguousarray(x[far])) if inside else u[far]
            v[far] = _shortened(rows, self._power)
        return v

    def _quick(self, x: Floats) -> Floats:
        """Return components of values within the range; of others, something further off.

        Adding and taking away are exact within it [F1]; the product is rounded, number by number.
        """
        y = self._array(0, x)
        with np.errstate(over="ignore"):
            np.add(x, self._magic, out=y)
            y -= self._lower
            y *= self._gains
            if self._sizes:
                np.multiply(y, y, out=y) if self._power == 2 else np.abs(y, out=y)
        return y

    def _array(self, which: int, x: Floats) -> Floats:
        """Return one of two arrays of the shape of some rows."""
        rows, width = x.shape
        if self._arrays.shape[1] < rows or self._arrays.shape[2] != width:
            self._arrays = np.empty((2, rows, width))
        array: Floats = self._arrays[which, :rows]
        return array


def size(v: Floats, power: int) -> Floats:
    """Sum of |v|^power of each row.

    If v are integers it is exact up to 2^53, and beyond it is at least 2^53, for any order of
    summation: a sum of nonnegative integers in float64 is exact until it passes 2^53.
    """
    with np.errstate(over="ignore"):
        found: Floats = np.vecdot(v, v) if power == 2 else np.abs(v).sum(axis=1)
    return found


def norms(u: Floats, power: int = 2) -> Floats:
    """Norm of each row, to a relative :func:`slack`; the same for any order of summation [F3]."""
    places = _places(u.shape[1], power)
    exponents = np.frexp(np.abs(u).max(axis=1, initial=0.0))[1] - places
    whole = size(np.rint(np.ldexp(u, -exponents[:, None])), power)
    found: Floats = np.ldexp(np.sqrt(whole) if power == 2 else whole, exponents)
    return found


def slack(width: int, power: int = 2) -> float:
    """Bound of the relative error of :func:`norms`: half a unit in each component."""
    return math.ldexp(width ** (1 / power), -_places(width, power))


def _places(width: int, power: int) -> int:
    """Bits of the largest component, so that a row's sum of powers is at most 2^52."""
    return (52 - (width - 1).bit_length()) // power


def _shortened(u: Floats, power: int) -> Floats:
    factors = BOUND * (1 - 2 * slack(u.shape[1], power)) / norms(u, power)
    v = np.trunc(u * factors[:, None])
    # The factor makes room for the error of the norm; the guarantee rests on this line alone.
    v[size(v, power) > BOUND**power] = 0.0
    return v


def _one_or_all(numbers: Floats) -> Floats | np.float64:
    """One number for all components is faster than an array of one."""
    return numbers if len(numbers) > 1 else numbers[0]
