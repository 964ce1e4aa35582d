"""Arguments of protocols and plans, and clients' values, checked in one way."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Number

__all__ = [
    "Flags",
    "Floats",
    "Integers",
    "between",
    "integer",
    "length",
    "numbers_of",
    "read_column",
]

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def integer(value: object, name: str, least: int, most: int | None = None) -> int:
    """Read an integer of a range."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        whole = int(value)
        if least <= whole and (most is None or whole <= most):
            return whole
    wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InvalidArgument(f"{name} must be an integer {wanted}, got {value!r}")


def between(value: Number, name: str, low: str, high: str) -> Fraction:
    """Read a number of a closed range, whose ends are decimals."""
    found = as_fraction(value, name)
    if not Fraction(low) <= found <= Fraction(high):
        raise InvalidArgument(f"{name} must lie between {low} and {high}, got {value!r}")
    return found


def length(value: float, name: str) -> float:
    """Read a positive number, in the unit of the data."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 < value < float("inf"):
        raise InvalidArgument(f"{name} must be a positive finite number, got {value!r}")
    return float(value)


def read_column(values: object, lattice: Lattice) -> Floats:
    """Read one number for each client; a missing one becomes the middle of the range."""
    x = numbers_of(values)
    if x.ndim != 1:
        raise InvalidArgument(f"values must have the shape (n,), got {x.shape}")
    return np.where(np.isnan(x), lattice.lo / 2 + lattice.hi / 2, x)


def numbers_of(values: object) -> Floats:
    """Read real numbers: of an array by its declared type, else each by its own.

    No number is too large, and what stands for a missing one is missing, also under a mask: an
    error for a few values would tell them. NumPy makes an array of objects of such lists and
    columns.
    """
    if isinstance(values, list | tuple | numbers.Real) or _missing(values):
        values = np.asarray(values, object)
    x = np.asanyarray(values)
    hidden = np.ma.getmaskarray(x) if isinstance(x, np.ma.MaskedArray) else None
    x = np.asarray(x)
    if x.dtype.kind == "O":
        found = np.array([_float(value) for value in x.ravel().tolist()], np.float64)
        found = found.reshape(x.shape)
    elif x.dtype.kind in "fiub":
        with np.errstate(over="ignore"):  # long floats beyond float64 become infinite
            found = x.astype(np.float64)
    else:
        raise UnsupportedData(f"values must be real numbers, got an array of {x.dtype}")
    return found if hidden is None else np.where(hidden, np.nan, found)


def _float(value: object) -> float:
    if _missing(value):
        return math.nan
    if not isinstance(value, numbers.Real | np.bool_):
        raise UnsupportedData(f"values must be real numbers, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def _missing(value: object) -> bool:
    """Tell what stands for no number: None, a masked number, and the two of pandas."""
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")
