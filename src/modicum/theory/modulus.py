"""How far a statistic moves when k records change, and its inverse: how many have to change.

Moduli of continuity, crossing lengths, and moduli of anything by trying all data sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_integer
from modicum.theory.data import (
    Floats,
    Integers,
    Neighbours,
    checked_neighbours,
    checked_range,
    ordered,
)
from modicum.theory.statistics import Statistic, chosen

_MOST = 10**5


Multiset = tuple[float, ...]


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
    statistic is not defined, as no data at all for a mean, are left out.

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
    k = as_integer(operations, "operations", 0)
    range_, theta = checked_range(within, x), chosen(statistic)
    return farthest(theta.value(x), *extremes(x, theta, np.array([k]), range_, neighbours))


def extremes(
    x: Floats,
    statistic: Statistic,
    operations: Integers,
    within: tuple[float, float],
    neighbours: Neighbours,
) -> tuple[Floats, Floats]:
    """The lowest and the highest values within each number of steps, of sorted records."""
    checked_neighbours(neighbours)
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


def farthest(here: float, lowest: Floats, highest: Floats) -> float:
    """How far the last of the extremes are from the value."""
    return float(max(highest[-1] - here, here - lowest[-1]))


def crossing_length(
    data: ArrayLike,
    statistic: str | Statistic,
    targets: ArrayLike,
    *,
    within: tuple[float, float],
) -> Integers:
    """Return the crossing lengths of values: the scores of an inverse sensitivity mechanism.

    len(t) is the larger of two numbers of additions and removals, that after which the statistic
    can be t or above, and that after which it can be t or below. Not private: it is computed from
    the data themselves.

    Parameters
    ----------
    data, statistic, within
        As for :func:`modulus`; the range has to be finite.
    targets : array_like, shape (m,)
        Values t inside the range.

    Returns
    -------
    (m,) int64 array
        At most n each, since no data count as having every value.

    Notes
    -----
    Differs from Asi and Duchi 2020, equation (1), and Dick et al. 2023, appendix C, which ask for
    θ(D') = t. On a grid that length is not monotone in t; this one is, and it is a maximum of two
    distances to fixed sets, so one record moves it by 1 at most. A target takes O(n) for
    the mean, the trimmed mean and the location, O(log n) for a quantile, and O(n log n) evaluations
    of a function.

    Computed in float64: exact while sums of records and targets are.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.crossing_length([0, 0, 0, 4], "mean", [0, 1, 2, 3, 4], within=(0, 4))
    array([1, 0, 2, 3, 3])

    The mean is 1. Without the 4 it is 0; two 4 more make it 2; without the zeros it is 4.
    """
    x = ordered(data)
    lo, hi = checked_range(within, x)
    aims = np.asarray(targets, dtype=np.float64)
    if aims.ndim != 1 or not ((aims >= lo) & (aims <= hi)).all():
        raise InvalidArgument("targets must be a one-dimensional array of values inside the range")
    if not np.isfinite([lo, hi]).all():
        raise InvalidArgument(f"within must be finite for lengths, got {within!r}")
    theta = chosen(statistic)
    lengths = [max(theta.length_up(x, t, hi), theta.length_down(x, t, lo)) for t in aims.tolist()]
    return np.array(lengths, dtype=np.int64)


def brute_force_modulus(
    data: ArrayLike,
    function: Callable[[Floats], float],
    operations: int,
    *,
    grid: ArrayLike,
    neighbours: Neighbours = "add-remove",
) -> float:
    """Return the largest change of any statistic within distance k, new records on a grid.

    Not private: it is computed from the data themselves. For statistics that are not monotone,
    and to check the closed forms; the cost grows like the k-th power of the size of the grid.

    Parameters
    ----------
    data, operations, neighbours
        As for :func:`modulus`.
    function : callable
        Takes a sorted float64 array of shape (m,), m >= 1, and returns a number.
    grid : array_like, shape (g,), g >= 1
        Values that new records may have.

    Returns
    -------
    float
        The supremum over the data sets reached; the empty one is left out.

    Raises
    ------
    InvalidArgument
        Also if more than 100,000 data sets would be tried.

    Examples
    --------
    The mode is not monotone.

    >>> from modicum import theory
    >>> def mode(x):
    ...     values, counts = np.unique(x, return_counts=True)
    ...     return values[counts.argmax()]
    >>> theory.brute_force_modulus([0, 0, 0, 5], mode, 2, grid=range(6))
    0.0
    >>> theory.brute_force_modulus([0, 0, 0, 5], mode, 3, grid=range(6))
    5.0
    """
    x, values = ordered(data), sorted(set(ordered(grid).tolist()))
    k = as_integer(operations, "operations", 0)
    checked_neighbours(neighbours)
    step = _swaps if neighbours == "swap" else _additions_and_removals
    reached: set[Multiset] = {tuple(x.tolist())}
    frontier = set(reached)
    for _ in range(k):
        fresh: set[Multiset] = set()
        for old in frontier:
            fresh.update(step(old, values))
            if len(fresh) > _MOST:
                raise InvalidArgument(
                    f"more than 100,000 data sets lie within distance {k}; use a smaller grid"
                )
        frontier = fresh - reached
        reached |= frontier
    here = float(function(x))
    return max(abs(float(function(np.array(other))) - here) for other in reached if other)


def _additions_and_removals(records: Multiset, values: list[float]) -> Iterator[Multiset]:
    for value in values:
        yield tuple(sorted((*records, value)))
    for i in range(len(records)):
        yield records[:i] + records[i + 1 :]


def _swaps(records: Multiset, values: list[float]) -> Iterator[Multiset]:
    for i in range(len(records)):
        for value in values:
            yield tuple(sorted((*records[:i], value, *records[i + 1 :])))
