"""Arguments of the theory: an array, ε and a range, checked and brought into one form."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Number

__all__ = [
    "Floats",
    "Integers",
    "Neighbours",
    "Number",
    "checked_neighbours",
    "checked_range",
    "ordered",
    "positive",
    "removals",
]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Neighbours = Literal["add-remove", "swap"]


def ordered(data: ArrayLike) -> Floats:
    """The records in increasing order, shape (n,), n >= 1, all finite."""
    try:
        x = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument("data must be an array of numbers") from None
    if x.ndim != 1:
        raise InvalidArgument(f"data must have one dimension, got shape {x.shape}")
    if not len(x):
        raise InvalidArgument("data must hold at least one record")
    if not np.isfinite(x).all():
        raise InvalidArgument("data must be finite: drop NaN and infinities first")
    return np.sort(x)


def positive(x: Number, name: str) -> Fraction:
    """Read a number above 0 exactly; a float stands for its shortest decimal."""
    value = as_fraction(x, name)
    if value <= 0:
        raise InvalidArgument(f"{name} must be above 0, got {x!r}")
    return value


def removals(epsilon: Number) -> int:
    """Return k = floor(1/ε), the number of records that subset risk may remove.

    Above 1 no record could be removed and the risk would be 0.
    """
    value = positive(epsilon, "epsilon")
    if value > 1:
        raise InvalidArgument(f"epsilon must be at most 1 for this risk, got {epsilon!r}")
    return math.floor(1 / value)


def checked_range(within: tuple[float, float], x: Floats) -> tuple[float, float]:
    """Read a pair lo <= hi that holds the sorted records; infinite ends are allowed."""
    try:
        lo, hi = map(float, within)
    except (TypeError, ValueError):
        raise InvalidArgument(f"within must be a pair (lo, hi), got {within!r}") from None
    if not lo <= hi:
        raise InvalidArgument(f"within must have lo <= hi, got {within!r}")
    if x[0] < lo or x[-1] > hi:
        raise InvalidArgument(f"within must hold every record, got {within!r}")
    return lo, hi


def checked_neighbours(neighbours: str) -> None:
    """Refuse a metric that has neither of the two names."""
    if neighbours not in get_args(Neighbours):
        raise InvalidArgument(f"neighbours must be 'add-remove' or 'swap', got {neighbours!r}")
