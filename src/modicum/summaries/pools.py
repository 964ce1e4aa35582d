"""Where a subsample comes from: rows that can be fetched, rows held, or rows that pass."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import SYSTEM, Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries import membership
from modicum.summaries.base import Fetchable, Integers
from modicum.summaries.chosen import ChosenRows
from modicum.summaries.membership import members

__all__ = ["ChosenPool", "FetchedPool", "HeldPool", "PassingRows", "PoissonPass", "Pool"]

_BLOCK = 1 << 18  # rows fetched at a time
_WAITING = 1 << 14  # chosen rows that are rounded at a time


class Pool(Protocol):
    """A source of fresh Poisson subsamples."""

    def thin(self, k: int, entropy: Entropy) -> Integers:
        """Keep each record with probability exactly 2^-k, independently."""

    def all(self) -> Integers:
        """Return every record."""


def _missing(x: NDArray[np.float64]) -> int:
    """Count NaN; where there is none, the smallest value tells so for less."""
    return int(np.count_nonzero(np.isnan(x))) if len(x) and np.isnan(x.min()) else 0


class _Passing:
    """A Poisson subsample of rate 2^-level of the rows that pass.

    Members are drawn some way ahead, 2^14 of them on average: one draw for many chunks spreads its
    fixed cost, and is small enough for many groups at once. For the same reason the chosen rows
    wait as they came, and are rounded to the lattice many at a time.
    """

    def __init__(self, lattice: Lattice, level: int, entropy: Entropy) -> None:
        self.level = level
        self._lattice = lattice
        self._entropy = entropy
        self._ahead = np.empty(0, dtype=np.int64)  # positions among all rows
        self._passed = 0
        self._drawn = 0  # rows for which members have been drawn
        self._q = np.empty(0, dtype=np.int64)
        self._waiting: list[NDArray[np.float64]] = []
        self._rows_waiting = 0

    def update(self, x: NDArray[np.float64]) -> None:
        """Choose among the next rows."""
        chosen = x[self._members(len(x))]
        self._waiting.append(chosen)
        self._rows_waiting += len(chosen)
        if self._rows_waiting >= _WAITING:
            self.finish()

    def thin(self, deeper: int) -> None:
        """Raise the level, for the rows ahead too."""
        q = self.finish()
        self._q = q[members(len(q), deeper, self._entropy)]
        self._ahead = self._ahead[members(len(self._ahead), deeper, self._entropy)]
        self.level += deeper

    def finish(self) -> Integers:
        """Return the records chosen so far."""
        waited = np.concatenate([np.empty(0), *self._waiting])
        self._q = np.concatenate([self._q, self._lattice.quantise(waited)])
        self._waiting, self._rows_waiting = [], 0
        return self._q

    def _members(self, rows: int) -> Integers:
        """Return the members among the next rows, as positions from the first of them."""
        start, stop = self._passed, self._passed + rows
        if self.level == 0:
            self._passed = self._drawn = stop
            return np.arange(rows)
        ahead = 1 << (self.level + membership.FEW)
        while self._drawn < stop:
            later = self._ahead[self._ahead.searchsorted(start) :]
            more = members(ahead, self.level, self._entropy) + self._drawn
            self._ahead = np.concatenate([later, more])
            self._drawn += ahead
        self._passed = stop
        first, last = self._ahead.searchsorted((start, stop))
        return self._ahead[first:last] - start


class HeldPool:
    """Records in memory."""

    def __init__(self, q: Integers) -> None:
        self._q = q

    def thin(self, k: int, entropy: Entropy) -> Integers:
        return self._q[members(len(self._q), k, entropy)]

    def all(self) -> Integers:
        return self._q.copy()


class FetchedPool:
    """Rows that can be fetched by their position."""

    def __init__(self, rows: Fetchable, lattice: Lattice) -> None:
        self._rows = rows
        self._size = rows.size
        self._lattice = lattice

    def thin(self, k: int, entropy: Entropy) -> Integers:
        return self._fetch(members(self._size, k, entropy))

    def all(self) -> Integers:
        return self._fetch(np.arange(self._size))

    def _fetch(self, positions: Integers) -> Integers:
        blocks = [
            self._lattice.quantise(self._rows.take(positions[start : start + _BLOCK]))
            for start in range(0, len(positions), _BLOCK)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *blocks])


class PassingRows:
    """A pass that keeps independent Poisson subsamples, and thins them as records mount up."""

    reads = True

    def __init__(self, lattice: Lattice, subsamples: int, entropy: Entropy) -> None:
        self._kept = [_Passing(lattice, 0, entropy) for _ in range(subsamples)]
        self._level = 0
        self._records = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        """Choose rows of a chunk."""
        self._records += len(x) - _missing(x)
        deeper = membership.kept_level(self._records) - self._level
        for kept in self._kept:
            if deeper:
                kept.thin(deeper)
            kept.update(x)
        self._level += deeper

    def finish(self) -> ChosenRows:
        """Return the chosen rows."""
        subsamples = tuple(kept.finish() for kept in self._kept)
        return ChosenRows(self._level, self._records, subsamples)


class PoissonPass(_Passing):
    """A pass that keeps each record with probability 2^-level."""

    reads = True


class ChosenPool:
    """Subsamples chosen while rows passed; each good for once, in the process that got them.

    Parameters
    ----------
    chosen : ChosenRows
    again : callable
        Draws a fresh subsample of a level, in one more pass.
    """

    def __init__(self, chosen: ChosenRows, again: Callable[[int, Entropy], Integers]) -> None:
        self._level = chosen.level
        self._chosen = list(chosen.subsamples)
        self._again = again
        self._process = os.getpid()

    def thin(self, k: int, entropy: Entropy) -> Integers:
        if not self._chosen or k < self._level or self._process != os.getpid():
            return self._again(k, entropy)
        # Used up, where there was a choice: the next subsample has to be a fresh one.
        chosen = self._chosen.pop() if k else self._chosen[-1]
        return chosen[members(len(chosen), k - self._level, entropy)]

    def all(self) -> Integers:
        return self.thin(0, SYSTEM)  # nothing is drawn
