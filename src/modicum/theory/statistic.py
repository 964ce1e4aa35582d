"""A monotone statistic: how far additions and removals can push it, and how many it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from modicum.errors import InvalidArgument
from modicum.theory.data import Floats, Integers

__all__ = ["Monotone", "Statistic", "by_bisection"]

_PAIRS = 1 << 22  # splits computed at a time, 32 MB an array


class Statistic(ABC):
    """A statistic of one column that is monotone in three ways.

    Raising a record, adding a record at the upper end of the range, and removing the lowest
    record never lower it. Every property that is monotone under first-order stochastic dominance
    (Dick et al. 2023, Definition 4.2) is; a trimmed mean is too, although it is no function of the
    distribution function. Then the highest value after k additions and removals is reached by
    removing the r lowest records and adding k - r at the upper end, for the best r.

    Not private: methods take the sorted records themselves.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in tables."""

    @abstractmethod
    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return its values without the lowest records and with new ones at ``hi``.

        Parameters
        ----------
        x : (n,) sorted float64 array
        removed, added : (m,) int64 arrays
            Numbers of records removed (at most n) and added.
        hi : float
            At least x[-1]; infinite if it may be.

        Returns
        -------
        (m,) float64 array
            NaN where the statistic is not defined.
        """

    def lowered(self, x: Floats, removed: Integers, added: Integers, lo: float) -> Floats:
        """Return the same for the highest records removed and new ones at ``lo``."""
        return -self.raised(-x[::-1], removed, added, -lo)

    def value(self, x: Floats) -> float:
        """Return the statistic of sorted records.

        Raises
        ------
        InvalidArgument
            If it is not defined for so few records.
        """
        none = np.zeros(1, np.int64)
        value = float(self.raised(x, none, none, float(x[-1]))[0])
        if np.isnan(value):
            raise InvalidArgument(f"the {self.name} is not defined for {len(x)} records")
        return value

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        """Return its highest values after so many additions and removals, shape (m,).

        All splits into removals and additions are tried: O(k) for each number k of operations.
        """
        parts = []
        for block in _blocks(operations, len(x)):
            most = np.minimum(block, len(x))
            starts = np.cumsum(most + 1) - (most + 1)
            removed = np.arange(int((most + 1).sum())) - np.repeat(starts, most + 1)
            added = np.repeat(block, most + 1) - removed
            parts.append(np.fmax.reduceat(self.raised(x, removed, added, hi), starts))
        return np.concatenate(parts)

    def lowest(self, x: Floats, operations: Integers, lo: float) -> Floats:
        """Return its lowest values after so many additions and removals, shape (m,)."""
        return -self.highest(-x[::-1], operations, -lo)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Return how many additions and removals bring the statistic to ``target`` or above.

        Data for which it is not defined count as being there, so n removals always do.
        """
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            there = self.highest(x, np.array([middle]), hi)[0] >= target
            low, high = (low, middle) if there else (middle + 1, high)
        return low

    def length_down(self, x: Floats, target: float, lo: float) -> int:
        """Return how many additions and removals bring it to ``target`` or below."""
        return self.length_up(-x[::-1], -target, -lo)


@dataclass(frozen=True, slots=True)
class Monotone(Statistic):
    """A monotone statistic given by a function; nothing is known but its values.

    Not private. Every value costs a call, and one number k of operations costs k + 1 values.

    Parameters
    ----------
    function : callable
        Takes a sorted float64 array of shape (n,), n >= 1, returns a number, and is monotone in
        the three ways of :class:`Statistic`. That is not checked.
    name : str
        What it is called in tables.

    Examples
    --------
    >>> from modicum import theory
    >>> midrange = theory.Monotone(lambda x: (x[0] + x[-1]) / 2, "midrange")
    >>> theory.subset_risk([0, 1, 2, 3, 10], midrange, 1).spread
    4.0

    Without the 0 the midrange is 5.5, without the 10 it is 1.5.
    """

    function: Callable[[Floats], float] = field(repr=False)
    name: str = "statistic"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Call the function once for each pair."""
        values = []
        for r, a in zip(removed.tolist(), added.tolist(), strict=True):
            moved = np.concatenate([x[r:], np.full(a, hi)])
            values.append(float(self.function(moved)) if len(moved) else np.nan)
        return np.array(values, dtype=np.float64)

    def lowered(self, x: Floats, removed: Integers, added: Integers, lo: float) -> Floats:
        """Call the function once for each pair."""
        values = []
        for r, a in zip(removed.tolist(), added.tolist(), strict=True):
            moved = np.concatenate([np.full(a, lo), x[: len(x) - r]])
            values.append(float(self.function(moved)) if len(moved) else np.nan)
        return np.array(values, dtype=np.float64)

    def lowest(self, x: Floats, operations: Integers, lo: float) -> Floats:
        """Return its lowest values after so many additions and removals, shape (m,)."""
        return -_Mirror(self).highest(-x[::-1], operations, -lo)

    def length_down(self, x: Floats, target: float, lo: float) -> int:
        """Return how many additions and removals bring it to ``target`` or below."""
        return _Mirror(self).length_up(-x[::-1], -target, -lo)


@dataclass(frozen=True, slots=True)
class _Mirror(Statistic):
    """The statistic x -> -θ(-x)."""

    original: Statistic

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.original.name

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Lower the original on mirrored records."""
        return -self.original.lowered(-x[::-1], removed, added, -hi)


def by_bisection(statistic: Statistic, x: Floats, operations: Integers, hi: float) -> Floats:
    """Return the highest values by bisection over the number of removals, for M-estimators.

    The statistic is at least t if and only if the sum of psi(. - t) is at least 0. Removing the
    r-th lowest record gains -psi(x_(r) - t), which does not increase with r, and gives up an
    addition, which gains psi(hi - t) whatever r is. So the sum is concave in r, those r that reach
    t are an interval, and the highest value has no plateau below its top.
    """
    n = len(x)
    low = np.zeros_like(operations)
    high = np.minimum(operations, np.where(operations == n, n - 1, n))  # some record is left
    while (low < high).any():
        middle = (low + high) // 2
        following = np.minimum(middle + 1, high)
        here = statistic.raised(x, middle, operations - middle, hi)
        further = statistic.raised(x, following, operations - following, hi) > here
        low = np.where(further, following, low)
        high = np.where(further, high, middle)
    return statistic.raised(x, low, operations - low, hi)


def _blocks(operations: Integers, n: int) -> Iterator[Integers]:
    """Cut the numbers of operations so that a block has few splits in all."""
    sizes = np.cumsum(np.minimum(operations, n) + 1)
    edges = np.searchsorted(sizes, np.arange(0, int(sizes[-1]), _PAIRS), side="right")
    for block in np.split(operations, np.unique(edges)):
        if len(block):
            yield block
