"""The public lattice of logarithms: steps of equal ratio between two positive numbers.

docs/research/proofs/geometric_mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.stored.codec import storable

Floats = NDArray[np.float64]

_LN2 = 0.6931471805599453
_LAST_POWER = 21
_SPARE = 16  # a computed logarithm is off by at most an eighth of so many finest steps
_LARGEST = 690.0  # exp of it is a float, and so is exp of its negative


@storable
@dataclass(frozen=True, slots=True)
class LogLattice(Lattice):
    """A positive range, and the step by which logarithms in it are rounded to integers.

    [geometric_mean.1] A number x, clamped to [lo, hi], becomes the integer nearest to ln(x / lo) /
    step. Zero and negative numbers are clamped to lo, and become 0.

    Parameters
    ----------
    lo, hi
        The range of the values, finite, 0 < lo < hi.
    step
        Of the logarithms: a power of two with ln(hi / lo) <= 2^51 step. By default 16 times the
        least for that, and at least 2^-47.

    Examples
    --------
    >>> lattice = LogLattice.within((1, 1e6))
    >>> q = lattice.quantise(np.array([-5.0, 0, 1, 10, 1e9, float("nan")]))
    >>> (q * lattice.step / math.log(10)).round(9).tolist(), round(lattice.value(int(q[3])), 9)
    ([0.0, 0.0, 0.0, 1.0, 6.0], 10.0)
    """

    def __post_init__(self) -> None:
        if not 0 < self.lo < self.hi < math.inf:
            raise InvalidArgument(
                "within must be (lowest, highest) with 0 < lowest < highest, got "
                f"{(self.lo, self.hi)!r}: give the lowest value that means something, "
                "such as within=(0.01, 1e9); what is below it counts as that"
            )
        _ = self.numbers  # its step is checked there

    @classmethod
    def within(cls, within: tuple[float, float], step: float | None = None) -> LogLattice:
        """Make the lattice of a range; the step follows from the ratio of its ends."""
        values = Lattice.within(within)
        if step is None:
            width = _width(values.lo, values.hi) if values.lo > 0 else 1.0
            step = _SPARE * Lattice.within((0.0, max(width, 1.0))).step
        return cls(values.lo, values.hi, step)

    @classmethod
    def of(cls, lattice: Lattice) -> LogLattice:
        """Take the range of a lattice as one of logarithms, unless it is one already."""
        if isinstance(lattice, LogLattice):
            return lattice
        lo, hi = (math.exp(min(max(end, -_LARGEST), _LARGEST)) for end in (lattice.lo, lattice.hi))
        return cls(lo, hi, lattice.step)

    @property
    def numbers(self) -> Lattice:
        """The lattice of ln(x / lo)."""
        return Lattice(0.0, _width(self.lo, self.hi), self.step)

    @property
    def linear(self) -> Lattice:
        return Lattice.within((self.lo, self.hi))

    @property
    def first(self) -> int:
        return 0

    @property
    def last(self) -> int:
        return self.numbers.last

    @property
    def coarse(self) -> bool:
        return False

    def read(self, x: Floats) -> Floats:
        """Return ln(x / lo), NaN for NaN."""
        return _logarithms(np.clip(x, self.lo, self.hi), self.lo)

    def quantise(self, x: Floats) -> NDArray[np.int64]:
        return self.numbers.quantise(self.read(x))

    def value(self, q: int | Fraction) -> float:
        return self.exp(float(q * Fraction(self.step)))

    def inside(self, q: int | Fraction) -> Fraction:
        return Fraction(self.value(q))

    def exp(self, t: float) -> float:
        """Return lo exp(t), or the end of the range that it lies beyond."""
        if t >= _width(self.lo, self.hi):
            return self.hi
        half = math.exp(t / 2)  # of which the square may not be a float
        return max(self.lo, min(self.lo * half * half, self.hi))


def _logarithms(x: Floats, lo: float) -> Floats:
    """Logarithms of x / lo by exactly rounded operations: the same on every machine.

    With x / lo = m 2^e, √½ <= m < √2, s = (m - 1)/(m + 1) it is e ln 2 + 2 (s + s³/3 + ...), see
    [geometric_mean.1]. NumPy's own differ between machines in the last digit, and so would sums
    over a cluster.
    """
    m, e = np.frexp(x)
    unit, exponent = math.frexp(lo)
    m, e = m / unit, e - exponent  # in (1/2, 2)
    up, down = m < math.sqrt(0.5), m >= math.sqrt(2)
    m = np.where(up, 2 * m, np.where(down, m / 2, m))
    s = (m - 1) / (m + 1)
    square, series = s * s, np.zeros(len(x))
    for power in range(_LAST_POWER, 0, -2):
        series = series * square + 1 / power
    found: Floats = (e - up + down) * _LN2 + 2 * s * series
    return found


def _width(lo: float, hi: float) -> float:
    return float(_logarithms(np.array([hi]), lo)[0])
