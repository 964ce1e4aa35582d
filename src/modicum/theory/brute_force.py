"""The modulus of any statistic of few records, by trying all data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument
from modicum.theory.data import (
    Floats,
    Neighbours,
    checked_neighbours,
    checked_operations,
    ordered,
)

__all__ = ["brute_force_modulus"]

_MOST = 10**5

Multiset = tuple[float, ...]


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
    data : array_like, shape (n,), n >= 1
    function : callable
        Takes a sorted float64 array of shape (m,), m >= 1, and returns a number.
    operations : int
        k >= 0.
    grid : array_like, shape (g,), g >= 1
        Values that new records may have.
    neighbours : {"add-remove", "swap"}

    Returns
    -------
    float
        The supremum over the data sets reached; the empty one is left out.

    Raises
    ------
    InvalidArgument
        For bad arguments, or if more than 100,000 data sets would be tried.

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
    k = checked_operations(operations, "operations")
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
