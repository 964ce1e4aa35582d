"""The modulus of continuity: how far a statistic moves when k records change."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument
from modicum.theory.data import (
    Floats,
    Integers,
    Neighbours,
    checked_neighbours,
    checked_operations,
    ordered,
    warranted_range,
)
from modicum.theory.named import chosen
from modicum.theory.statistic import Statistic

__all__ = ["extremes", "modulus"]


def modulus(
    data: ArrayLike,
    statistic: str | Statistic,
    operations: int,
    *,
    within: tuple[float, float],
    neighbours: Neighbours = "add-remove",
) -> float:
    """Return ω(D, k), the largest change of a statistic within distance k of the data.

    Not private: it is computed from the data themselves. ω(D, 1) is the local sensitivity.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
        Finite numbers, in any order.
    statistic : "mean", "median" or a monotone statistic
        For example ``Quantile(0.9)``, ``TrimmedMean(5)``, ``Location(3)`` or ``Monotone(f)``.
    operations : int
        k >= 0. For swaps at most n are of use.
    within : (lo, hi)
        Where new records may lie; it holds all records, and may be infinite.
    neighbours : {"add-remove", "swap"}
        Whether one step adds or removes a record, or changes one.

    Returns
    -------
    float
        In the unit of the data; infinite if the range lets it be.

    Raises
    ------
    InvalidArgument
        For bad arguments, records outside the range, or a statistic that is not defined here.

    Notes
    -----
    Asi and Duchi 2020, equation (2), in one dimension; Dick et al. 2023, appendix C. Exact for
    monotone statistics: the extremes remove from one end and add at the other. Data for which the
    statistic is not defined, such as none at all for a mean, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import theory
    >>> x = np.arange(1_000_000.0)
    >>> theory.modulus(x, "median", 100, within=(0, 1e9))
    50.0
    >>> theory.modulus(x, "median", 100, within=(0, 1e9), neighbours="swap")
    100.0
    """
    x = ordered(data)
    k = checked_operations(operations, "operations")
    range_ = warranted_range(within, x)
    checked_neighbours(neighbours)
    theta = chosen(statistic)
    here = theta.value(x)
    low, high = extremes(x, theta, np.array([k]), range_, neighbours)
    return float(max(high[0] - here, here - low[0]))


def extremes(
    x: Floats,
    statistic: Statistic,
    operations: Integers,
    within: tuple[float, float],
    neighbours: Neighbours,
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest values within each number of steps, shape (m,) each.

    Parameters
    ----------
    x : (n,) sorted float64 array
    statistic : Statistic
    operations : (m,) int64 array
    within : (lo, hi)
    neighbours : {"add-remove", "swap"}

    Raises
    ------
    InvalidArgument
        If the statistic is not defined for the data.
    """
    lo, hi = within
    if neighbours == "swap":
        changed = np.minimum(operations, len(x))
        low = statistic.lowered(x, changed, changed, lo)
        high = statistic.raised(x, changed, changed, hi)
    else:
        low, high = statistic.lowest(x, operations, lo), statistic.highest(x, operations, hi)
    if np.isnan(low).any() or np.isnan(high).any():
        raise InvalidArgument(f"the {statistic.name} is not defined for {len(x)} records")
    return low, high
