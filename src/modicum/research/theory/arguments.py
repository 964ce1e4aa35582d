"""The arguments of all of the theory: a statistic, an array, ε and a range."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument, as_given
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Number
from modicum.research.theory.statistics import Floats, Mean, Quantile, Statistic

_NAMED: dict[str, Statistic] = {"mean": Mean(), "median": Quantile(Fraction(1, 2))}


def chosen(statistic: str | Statistic) -> Statistic:
    """The statistic, or the one of that name."""
    if isinstance(statistic, Statistic):
        return statistic
    if str(statistic) in _NAMED:
        return _NAMED[str(statistic)]
    raise InvalidArgument(
        f"statistic must be 'mean', 'median', or a statistic of modicum.theory, got "
        f"{as_given(statistic)}"
    )


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
        raise InvalidArgument(f"{name} must be above 0, got {as_given(x)}")
    return value


def checked_range(within: tuple[float, float], x: Floats) -> tuple[float, float]:
    """Read a pair lo <= hi that holds the sorted records; infinite ends are allowed."""
    try:
        lo, hi = map(float, within)
    except (TypeError, ValueError):
        raise InvalidArgument(f"within must be a pair (lo, hi), got {as_given(within)}") from None
    if not lo <= hi:
        raise InvalidArgument(f"within must have lo <= hi, got {as_given(within)}")
    if x[0] < lo or x[-1] > hi:
        raise InvalidArgument(f"within must hold every record, got {as_given(within)}")
    return lo, hi
