"""To which digits a released number is published.

An interval of half-width h supports the digits of its value down to a tenth of the leading digit of
h: with 10^k <= h < 10^(k+1) the step is 10^(k-1), at most h/10. The value moves by at most h/20.
The ends are rounded outwards, by less than h/10 each, so a rounded interval covers whatever the
interval covered. The value rounds to the nearest step; since the ends are multiples of the step,
or of a coarser one that is a multiple of it, it stays between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from sys import float_info
from typing import Literal, NamedTuple

from modicum.errors import InvalidArgument, as_given
from modicum.exact.rational import as_fraction

Digits = int | Literal["auto"] | None
Base = int | float | str | Fraction
_SURE = 15  # digits that every float has
_MOST = 300
_EXACT = Context(prec=1200)  # more digits than a float has in decimal
_PLAIN = range(-7, 18)  # exponents of numbers that are written without one


class Rounded(NamedTuple):
    """A value and the ends of its interval, as they are printed; ends may be infinite."""

    value: Decimal
    lower: Decimal
    upper: Decimal


@dataclass(frozen=True, slots=True)
class Rounding:
    """Which digits are kept: those that the interval supports, a number of them, or multiples.

    Examples
    --------
    >>> shown = Rounding.of("auto", None).rounded(41034.52, 41009.9, 41060.1)
    >>> [written(each) for each in shown]
    ['41035', '41009', '41061']
    >>> [written(each) for each in Rounding.of("auto", 5).rounded(12.0, 8.0, 16.0)]
    ['10', '5', '20']
    """

    digits: Digits
    base: Decimal | None

    @classmethod
    def of(cls, digits: Digits, base: Base | None) -> Rounding:
        """Read the arguments ``digits`` and ``base``."""
        automatic = isinstance(digits, str) and digits == "auto"
        if base is not None:
            if not automatic:
                raise InvalidArgument(
                    f"give digits or base, not both, got digits={as_given(digits)}"
                )
            step = as_fraction(base, "base")
            if step <= 0 or "/" in str(base):
                raise InvalidArgument(
                    f"base must be a positive decimal, such as 5, got {as_given(base)}"
                )
            return cls("auto", Decimal(str(base)))
        whole = isinstance(digits, int) and not isinstance(digits, bool)
        if not (automatic or digits is None or (whole and abs(int(digits)) <= _MOST)):
            raise InvalidArgument(
                f'digits must be "auto", a number of decimal places from {-_MOST} to {_MOST}, such '
                f"as 2 or -3 for thousands, or None for all digits, got {as_given(digits)}"
            )
        return cls(digits, None)

    @property
    def rounds(self) -> bool:
        """Whether anything is rounded."""
        return self.digits is not None

    @property
    def words(self) -> str:
        """What is done to each number."""
        if self.base is not None:
            how = f"the nearest multiple of {written(self.base)}"
        elif self.digits is None:
            return "not rounded"
        elif self.digits == "auto":
            how = "the digits that its interval supports, two of half of its width"
        else:
            how = f"{self.digits} decimal places"
        return f"each value to {how}; ends of intervals outwards"

    def rounded(self, value: float, lower: float, upper: float) -> Rounded:
        """Round a value and its interval; an end beyond the largest float is infinite."""
        lower = lower if lower > -float_info.max else -math.inf
        upper = upper if upper < float_info.max else math.inf
        steps = self._steps(value, lower, upper)
        if steps is None:
            exact = (Decimal(repr(each)) for each in (value, lower, upper))
            return Rounded(*(each or Decimal(0) for each in exact))
        step, outer = steps
        return Rounded(
            _multiple(value, step, round),
            _multiple(lower, outer, math.floor),
            _multiple(upper, outer, math.ceil),
        )

    def _steps(self, value: float, lower: float, upper: float) -> tuple[Decimal, Decimal] | None:
        """Steps of the value and of the ends; ``None``: nothing is rounded."""
        if self.base is not None:
            return self.base, self.base
        if self.digits is None:
            return None
        if self.digits != "auto":
            return _tens(-self.digits), _tens(-self.digits)
        half, own = upper / 2 - lower / 2, _power(value) if value else math.inf
        if not half or (math.isinf(half) and not value):
            return None
        outer = own if math.isinf(half) else _power(half) - 1
        sizes = [_power(each) for each in (value, lower, upper) if each and math.isfinite(each)]
        outer = max(outer, max(sizes) - _SURE)
        if all(each.is_integer() for each in (value, lower, upper)):
            outer = max(outer, 0)
        return _tens(min(outer, own)), _tens(outer)


def written(number: Decimal) -> str:
    """Write a number for a CSV file.

    Examples
    --------
    >>> [written(Decimal(each)) for each in ("1.20E+3", "-0.50", "1E-30", "Infinity")]
    ['1200', '-0.50', '1E-30', 'INF']
    """
    if number.is_infinite():
        return "INF" if number > 0 else "-INF"
    if not number and number.adjusted() not in _PLAIN:
        return "0"
    return format(number, "f") if number.adjusted() in _PLAIN else str(number)


def _power(x: float) -> int:
    """The exponent of the leading digit."""
    return Decimal(repr(x)).adjusted()


def _tens(power: float) -> Decimal:
    return Decimal((0, (1,), int(power)))


def _multiple(x: float, step: Decimal, nearest: Callable[[Fraction], int]) -> Decimal:
    """A multiple of the step near the number that a float shows: 0.1 is a tenth."""
    if math.isinf(x):
        return Decimal(x)
    return _EXACT.multiply(Decimal(nearest(Fraction(repr(x)) / Fraction(step))), step)
