"""Numbers given by a caller, read exactly."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument, as_given

# Beyond this exponent a decimal is a slip, and its Fraction would need huge integers.
_LARGEST_EXPONENT = 1000
_MOST = 2**63 - 1  # of an integer without another bound
_LONGEST = 14_000  # bits: Python writes integers of up to 4,300 digits
_BITS = 64


def as_fraction(x: float | str | Decimal | Fraction, name: str) -> Fraction:
    """Read a number exactly; a float stands for its shortest decimal, so 0.1 is 1/10.

    A number is an integer, a float, a ``Fraction``, a ``Decimal``, a NumPy scalar, or text such as
    ``"0.1"``, ``"1e-6"`` or ``"1/3"``. Refused are NaN, infinities, booleans, text with an
    underscore and exponents beyond ±1000. ``name`` is that of the argument, for the error message.

    Examples
    --------
    >>> as_fraction(0.1, "epsilon"), as_fraction("1/3", "epsilon"), as_fraction("1e-3", "delta")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000))
    >>> as_fraction("a lot", "epsilon")
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: epsilon must be a finite number, got 'a lot'
    """
    if isinstance(x, numbers.Integral) and not isinstance(x, bool):
        x = Fraction(int(x))
    if isinstance(x, Fraction):
        if max(x.numerator.bit_length(), x.denominator.bit_length()) <= _LONGEST:
            return x
    elif isinstance(x, str) and x.count("/") == 1:
        top, bottom = (_decimal(part) for part in x.split("/"))
        if top is not None and bottom:
            return Fraction(top) / Fraction(bottom)
    # str() of a float or of a NumPy scalar is the shortest decimal that reads back as it.
    elif isinstance(x, str | float | np.floating | Decimal):
        value = _decimal(str(x))
        if value is not None:
            return Fraction(value)
    hint = ""
    if isinstance(x, str) and _decimal(x.replace(",", ".")) is not None:
        hint = f": with a decimal point, {x.replace(',', '.')}"
    raise InvalidArgument(f"{name} must be a finite number, got {as_given(x)}{hint}")


def as_integer(x: object, name: str, least: int, most: int | None = None) -> int:
    """Read an integer of a range; booleans are not integers.

    Examples
    --------
    >>> as_integer(2.5, "clients", 1)
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: clients must be an integer of at least 1, got 2.5
    """
    if isinstance(x, numbers.Integral) and not isinstance(x, bool):
        whole = int(x)
        if least <= whole <= (_MOST if most is None else most):
            return whole
    wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InvalidArgument(f"{name} must be an integer {wanted}, got {as_given(x)}")


def _decimal(text: str) -> Decimal | None:
    """Read a decimal numeral; None unless it is finite and of moderate size."""
    if "_" in text:  # a slip as often as not: 1_0 for 1.0
        return None
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):  # 'n', 'N' and 'F' mark NaN and infinities
        return None
    moderate = abs(exponent) <= _LARGEST_EXPONENT and abs(value.adjusted()) <= _LARGEST_EXPONENT
    return value if moderate else None


def short_below(x: Fraction) -> Fraction:
    """Round down to 64 significant bits: an irrational bound need not carry a long fraction on."""
    places = _BITS + x.denominator.bit_length() - abs(x.numerator).bit_length()
    return Fraction(math.floor(x * Fraction(2) ** places)) / Fraction(2) ** places


def short_above(x: Fraction) -> Fraction:
    """Round up to 64 significant bits."""
    return -short_below(-x)
