"""Logarithms, exponentials and roots between two rational bounds.

The standard library's ``decimal`` rounds ``exp`` and ``ln`` correctly (half to even) at any
precision. One unit in the last place on either side of such a result encloses the true value, and
so does one step more at an argument that was itself rounded.
"""

from __future__ import annotations

import math
import sys
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from modicum.errors import InvalidArgument


def exp_bounds(x: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
    """Enclose exp(x), |x| < 10^15, between positive bounds of a relative distance below 10^-digits.

    With d digits, x is rounded to x' with |x - x'| <= |x| 10^(1-d)/2 [samplers.18]. The result y' =
    exp(x')(1 + e), |e| <= 10^(1-d)/2, so exp(x) = y' exp(x - x')/(1 + e) lies within the factor
    1 ± (2 + 2|x|) 10^(1-d) of y' while that margin is below 1/10 [samplers.19]. The working
    precision is raised by the digits of |x| so that it is.

    Examples
    --------
    >>> lower, upper = exp_bounds(Fraction(1), 20)
    >>> float(lower) == float(upper) == 2.718281828459045
    True
    """
    magnitude = len(str(math.floor(abs(x))))
    precision = digits + magnitude + 3
    context = decimal_context(precision)
    y = Fraction(context.exp(_rounded(x, context)))
    margin = y * (2 + 2 * abs(x)) / 10 ** (precision - 1)
    return y - margin, y + margin


def ln_bounds(x: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
    """Enclose the natural logarithm of x > 0.

    The bounds lie within 10^-digits max(1, |ln x|) of each other: with d digits, x' = x(1 + e) with
    |e| <= 10^(1-d)/2, so ln x' is within 10^(1-d) of ln x, and rounding the result adds at most
    |ln x'| 10^(1-d)/2 [samplers.20].

    Examples
    --------
    >>> lower, upper = ln_bounds(Fraction(2), 20)
    >>> float(lower) == float(upper) == 0.6931471805599453
    True
    """
    if x <= 0:
        raise InvalidArgument(f"the logarithm needs a positive number, got {x}")
    precision = digits + 3
    context = decimal_context(precision)
    y = Fraction(context.ln(_rounded(x, context)))
    margin = (1 + abs(y)) / Fraction(10) ** (precision - 1)
    return y - margin, y + margin


def exp_below(x: Fraction, digits: int = 30) -> Fraction:
    """Return a rational just below exp(x), relative error 10^-digits."""
    return exp_bounds(x, digits)[0]


def exp_above(x: Fraction, digits: int = 30) -> Fraction:
    """Return a rational just above exp(x), relative error 10^-digits."""
    return exp_bounds(x, digits)[1]


def ln_below(x: Fraction, digits: int = 30) -> Fraction:
    """Return a rational just below ln(x), x > 0."""
    return ln_bounds(x, digits)[0]


def ln_above(x: Fraction, digits: int = 30) -> Fraction:
    """Return a rational just above ln(x), x > 0."""
    return ln_bounds(x, digits)[1]


def sqrt_below(x: Fraction, bits: int) -> Fraction:
    """Return the largest multiple of 2^-bits that is <= sqrt(x), x >= 0.

    Examples
    --------
    >>> sqrt_below(Fraction(2), 10), sqrt_below(Fraction(9, 4), 10)
    (Fraction(181, 128), Fraction(3, 2))
    """
    if x < 0:
        raise InvalidArgument(f"the square root needs a number >= 0, got {x}")
    # floor(sqrt(y)) = isqrt(floor(y)) for every real y >= 0.
    return Fraction(math.isqrt(math.floor(x * 4**bits)), 2**bits)


def sqrt_above(x: Fraction, bits: int) -> Fraction:
    """Return the smallest multiple of 2^-bits that is >= sqrt(x), x >= 0."""
    root = sqrt_below(x, bits)
    return root if root**2 == x else root + Fraction(1, 2**bits)


def float_below(x: Fraction) -> float:
    """Return the largest float64 <= x (``-inf`` below all of them).

    Examples
    --------
    >>> float_below(Fraction(1, 10)) < float_above(Fraction(1, 10)) == 0.1
    True
    """
    value = _nearest(x)
    return math.nextafter(value, -math.inf) if value > x else value


def float_above(x: Fraction) -> float:
    """Return the smallest float64 >= x (``inf`` above all of them)."""
    return -float_below(-x) + 0.0


def float_nearest(x: Fraction) -> float:
    """Return the nearest finite float64.

    Examples
    --------
    >>> float_nearest(Fraction(1, 3)), float_nearest(Fraction(10) ** 400)
    (0.3333333333333333, 1.7976931348623157e+308)
    """
    return min(max(_nearest(x), -sys.float_info.max), sys.float_info.max)


def _nearest(x: Fraction) -> float:
    """Return the nearest float64; an infinity beyond the largest."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def decimal_context(precision: int) -> Context:
    """A context that the caller's decimal settings cannot change."""
    return Context(prec=precision, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def _rounded(x: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))
