"""Arguments of protocols and of plans, checked in one way."""

from __future__ import annotations

import numbers
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Number

__all__ = ["between", "integer", "length"]


def integer(value: object, name: str, least: int, most: int | None = None) -> int:
    """Read an integer of a range.

    Examples
    --------
    >>> integer(400.5, "clients", 100, 1000)
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: clients must be an integer from 100 to 1000, got 400.5
    """
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        whole = int(value)
        if least <= whole and (most is None or whole <= most):
            return whole
    wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InvalidArgument(f"{name} must be an integer {wanted}, got {value!r}")


def between(value: Number, name: str, low: str, high: str) -> Fraction:
    """Read a number of a closed range, whose ends are decimals.

    Examples
    --------
    >>> between("1e-9", "epsilon", "0.01", "10")
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: epsilon must lie between 0.01 and 10, got '1e-9'
    """
    found = as_fraction(value, name)
    if not Fraction(low) <= found <= Fraction(high):
        raise InvalidArgument(f"{name} must lie between {low} and {high}, got {value!r}")
    return found


def length(value: float, name: str) -> float:
    """Read a positive number, in the unit of the data.

    Examples
    --------
    >>> length(0, "width")
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: width must be a positive finite number, got 0
    """
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 < value < float("inf"):
        raise InvalidArgument(f"{name} must be a positive finite number, got {value!r}")
    return float(value)
