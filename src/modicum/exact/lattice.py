"""The public lattice on which data are rounded, so that every later sum is exact."""

from __future__ import annotations

import math
import numbers
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.stored.codec import storable

# |x| <= 2^51 step keeps x + 1.5 * 2^52 step inside [2^52, 2^53] step, where floats are spaced by
# exactly one step: the addition rounds to the lattice and the subtraction is exact.
_INDEX_BITS = 51
# 1.5 * 2^52 step + 2^51 step = 2^53 step has to stay below 2^1024, and 1/step has to be finite.
_LARGEST_EXPONENT = 970
_SMALLEST_EXPONENT = -1000
WIDEST = math.ldexp(1.0, _LARGEST_EXPONENT + _INDEX_BITS)
"""The furthest end of a range."""


@storable
@dataclass(frozen=True, slots=True)
class Lattice:
    """A public range and the step by which numbers in it are rounded to integers.

    A number x becomes the integer nearest to x/step, ties to even, after it is clamped to
    [lo, hi]. The rounding is two float64 additions, ((x + M) - M) / step with M = 1.5 * 2^52 step,
    hence the same on every IEEE 754 engine, monotone and unbiased at ties.

    Parameters
    ----------
    lo, hi
        The range, finite, lo < hi.
    step
        A power of two with max(|lo|, |hi|) <= 2^51 step.
    floor
        A size, in steps, below which distances from zero are nothing beside the values, where that
        is known of a range that was found; one step where it is not.

    Examples
    --------
    >>> lattice = Lattice.within((0, 100))
    >>> lattice.step == 2**-44, lattice.width == 100 * 2**44
    (True, True)
    >>> Lattice.within((0, 10), step=1).quantise(np.array([0.5, 1.5, float("nan"), -3, 99]))
    array([ 0,  2,  0, 10])
    """

    lo: float
    hi: float
    step: float
    floor: int = field(default=1, repr=False)

    @property
    def nats(self) -> float:
        """Logarithm of how often the range holds what is not nothing beside the values."""
        return math.log(self.width / self.floor + 1)

    def __post_init__(self) -> None:
        _check_range(self.lo, self.hi)
        _check_step(self.lo, self.hi, self.step)

    @classmethod
    def within(cls, within: tuple[float, float], step: float | None = None) -> Lattice:
        """Make the lattice of a range.

        Parameters
        ----------
        within
            Two finite numbers, the lower one first. Any safe public range will do; tight bounds
            are not needed.
        step
            A power of two; by default the smallest that is safe for the range,
            max(|lo|, |hi|) <= 2^51 step, so ±1e9 is resolved to 2^-21 and ±1e15 to 1/2.

        Raises
        ------
        InvalidArgument
            For anything but two finite numbers in ascending order, a range beyond ±2^1021, or a
            step that is not a power of two, too fine for float64 or too coarse for the range.
        """
        lo, hi = _pair(within)
        _check_range(lo, hi)
        return cls(lo, hi, _finest_step(lo, hi) if step is None else _number(step, "step"))

    @property
    def first(self) -> int:
        """The integer of ``lo``: no datum lies below it."""
        return _ends(self.lo, self.hi, self.step)[0]

    @property
    def last(self) -> int:
        """The integer of ``hi``: no datum lies above it."""
        return _ends(self.lo, self.hi, self.step)[1]

    @property
    def width(self) -> int:
        first, last = _ends(self.lo, self.hi, self.step)
        return last - first

    @property
    def coarse(self) -> bool:
        """Whether the step is wider than it has to be: rounding to it may show."""
        return self.step > _finest_step(self.lo, self.hi)

    def widened(self, octaves: int) -> Lattice:
        """Return one of sums of values: ends other than 0 are 2^octaves times as far out.

        An end on the other side of zero stays, as a sum of values beyond it is beyond it too. The
        step is coarser if it has to be, and the largest range that a lattice can have is the most.

        Examples
        --------
        >>> Lattice.within((-1, 8), step=1).widened(2)
        Lattice(lo=-4.0, hi=32.0, step=1.0)
        >>> Lattice.within((4, 8)).widened(51).step
        8.0
        """
        lo, hi = (
            min(x * sign * 2.0**octaves, WIDEST) * sign if x * sign > 0 else x
            for x, sign in ((self.lo, -1), (self.hi, 1))
        )
        return Lattice(lo, hi, max(self.step, _finest_step(lo, hi)))

    @property
    def linear(self) -> Lattice:
        """The lattice of the values as they are, on which a person's rows are combined."""
        return self

    @property
    def numbers(self) -> Lattice:
        """The lattice of what :meth:`read` returns, with the same integers."""
        return self

    def numbers_of(self, q: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers of integers, in their order."""
        return np.multiply(q, self.step, dtype=np.float64)

    def read(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers that are rounded: the values, or a function of each."""
        return x

    def quantise(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Round numbers to lattice integers in [first, last], in the order of ``x``.

        NaN (a missing value) is dropped; everything else, infinities included, is clamped to
        [lo, hi].
        """
        present = ~np.isnan(x)
        kept = x if present.all() else x[present]
        y = np.clip(kept, self.lo, self.hi)
        magic = _magic(self.step)
        y += magic
        y -= magic
        y /= self.step
        return y.astype(np.int64)

    def words(self, q: int | Fraction) -> str:
        """Return q * step as text to six digits.

        Examples
        --------
        >>> Lattice.within((-8, 8), step=0.25).words(7)
        '1.75'
        """
        return f"{self.value(q):,.6g}"

    def value(self, q: int | Fraction) -> float:
        """Return q * step, correctly rounded; never -0.0, and finite for every q.

        Examples
        --------
        >>> Lattice.within((-8, 8), step=0.25).value(Fraction(7, 2))
        0.875
        """
        if isinstance(q, int) and self.first <= q <= self.last:
            return q * self.step + 0.0  # exact: at most 52 bits times a power of two
        try:
            return float(Fraction(q) * Fraction(self.step)) + 0.0
        except OverflowError:
            return sys.float_info.max if q > 0 else -sys.float_info.max

    def inside(self, q: int | Fraction) -> Fraction:
        """Return q * step exactly, or the end of the range that it lies beyond.

        The range's ends need not be multiples of a coarse step: their integers may lie beyond them.

        Examples
        --------
        >>> Lattice.within((0, 1.75), step=1).inside(2)
        Fraction(7, 4)
        """
        q = q if isinstance(q, int) else Fraction(q)
        above, below = q.numerator, q.denominator
        numerator, denominator = self.step.as_integer_ratio()
        if (self.first + 1) * below <= above <= (self.last - 1) * below:
            return Fraction(above * numerator, below * denominator)
        value = Fraction(q) * Fraction(self.step)
        return min(max(value, Fraction(self.lo)), Fraction(self.hi))


@lru_cache(maxsize=1024)
def _ends(lo: float, hi: float, step: float) -> tuple[int, int]:
    """Return the integers of the ends of a range."""
    magic = _magic(step)
    first, last = (int(((x + magic) - magic) / step) for x in (lo, hi))
    return first, last


def _magic(step: float) -> float:
    return 1.5 * 2.0**52 * step


def _finest_step(lo: float, hi: float) -> float:
    """Return the smallest safe power of two at which max(|lo|, |hi|) <= 2^51 step."""
    mantissa, exponent = math.frexp(max(abs(lo), abs(hi)))  # mantissa in [1/2, 1)
    exponent -= _INDEX_BITS + (mantissa == 0.5)
    return math.ldexp(1.0, max(exponent, _SMALLEST_EXPONENT))


def _pair(within: object) -> tuple[float, float]:
    if not isinstance(within, tuple | list | np.ndarray) or len(within) != 2:
        raise InvalidArgument(
            f"within must be a pair of numbers, (lowest, highest), got {as_given(within)}"
        )
    return _number(within[0], "within"), _number(within[1], "within")


def _number(x: object, name: str) -> float:
    """Read one finite float; -0.0 becomes 0.0."""
    if isinstance(x, numbers.Real) and not isinstance(x, bool):
        try:
            value = float(x)
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            return value + 0.0
    raise InvalidArgument(f"{name} must be made of finite numbers, got {as_given(x)}")


def _check_range(lo: float, hi: float) -> None:
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise InvalidArgument(f"within must be made of finite numbers, got ({lo!r}, {hi!r})")
    if not lo < hi:
        raise InvalidArgument(
            f"within must be (lowest, highest) with lowest < highest, got ({lo!r}, {hi!r})"
        )
    if max(-lo, hi) > WIDEST:
        raise InvalidArgument(
            f"within must lie inside ±2^{_LARGEST_EXPONENT + _INDEX_BITS} (2.2e307) "
            f"to be rounded safely, got ({lo!r}, {hi!r})"
        )


def _check_step(lo: float, hi: float, step: float) -> None:
    mantissa, exponent = math.frexp(step)
    if not math.isfinite(step) or mantissa != 0.5:
        raise InvalidArgument(
            f"step must be a power of two such as 0.25, 1 or 4, got {as_given(step)}"
        )
    finest = _finest_step(lo, hi)
    if step < finest:
        reach = "" if exponent - 1 < _SMALLEST_EXPONENT else f" (at most ±{step * 2.0**51!r})"
        raise InvalidArgument(
            f"step={step!r} is too fine for the range ({lo!r}, {hi!r}): the finest step allowed "
            f"is {finest!r}; use it, or a narrower range{reach}"
        )
    magic = _magic(step)
    if exponent - 1 > _LARGEST_EXPONENT or (lo + magic) - magic == (hi + magic) - magic:
        raise InvalidArgument(
            f"step={step!r} is too coarse: both ends of the range ({lo!r}, {hi!r}) round to the "
            "same multiple of it"
        )
