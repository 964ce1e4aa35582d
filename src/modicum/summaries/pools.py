"""Where a subsample comes from: rows that can be fetched, rows held, or rows that pass."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.binomial import binomial_pow2
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers, Rows

__all__ = ["FetchedPool", "HeldPool", "PassingRows", "Pool", "distinct_positions", "kept_level"]

_BLOCK = 1 << 18  # rows fetched at a time
_WAITING = 1 << 14  # chosen rows that are rounded at a time
_FEW = 14  # 2^14 to 2^15 records are kept on average, or all
_COINS = 6  # largest k for which a row may be given k coins
_SHORT = 1 << 20  # longest range of rows that may be given coins


class Pool(Protocol):
    """A source of fresh Poisson subsamples."""

    def thin(self, k: int, entropy: Entropy) -> Integers:
        """Keep each record with probability exactly 2^-k, independently."""

    def all(self) -> Integers:
        """Return every record."""


def kept_level(records: int) -> int:
    """Level of the subsample kept of so many records: 2^14 to 2^15 of them on average, or all.

    Examples
    --------
    >>> [kept_level(n) for n in (0, 2**15 - 1, 2**15, 10**9)]
    [0, 0, 1, 15]
    """
    return max(0, records.bit_length() - _FEW - 1)


def distinct_positions(size: int, count: int, entropy: Entropy) -> Integers:
    """Draw a set of ``count`` positions below ``size``, all such sets being equally likely.

    As many positions as are missing are drawn, until none is: relabelling the positions relabels
    the outcome, so no set is preferred. Of more than half, the ones left out are drawn.
    """
    if 2 * count > size:
        kept = np.ones(size, dtype=bool)
        kept[distinct_positions(size, size - count, entropy)] = False
        return kept.nonzero()[0]
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < count:
        drawn = entropy.below_many(size, count - len(chosen)).astype(np.int64)
        chosen = np.sort(np.concatenate([chosen, drawn]))
        chosen = chosen[np.diff(chosen, prepend=-1) > 0]
    return chosen


def _members(size: int, k: int, entropy: Entropy) -> Integers:
    """Draw a Poisson subsample of the positions below ``size``, in increasing order.

    In short ranges at large rates, k fair coins a row (the low bits of a byte) are faster than
    drawing the size and a set of positions; the law is the same.
    """
    if k == 0:
        return np.arange(size)
    if k <= _COINS and size <= _SHORT:
        coins = entropy.words(-(-size // 8)).view(np.uint8)[:size]
        positions: Integers = ((coins & ((1 << k) - 1)) == 0).nonzero()[0]
        return positions
    return distinct_positions(size, binomial_pow2(size, k, entropy), entropy)


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
        self._q = q[_members(len(q), deeper, self._entropy)]
        self._ahead = self._ahead[_members(len(self._ahead), deeper, self._entropy)]
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
        ahead = 1 << (self.level + _FEW)
        while self._drawn < stop:
            later = self._ahead[self._ahead.searchsorted(start) :]
            more = _members(ahead, self.level, self._entropy) + self._drawn
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
        return self._q[_members(len(self._q), k, entropy)]

    def all(self) -> Integers:
        return self._q.copy()


class FetchedPool:
    """Rows that can be fetched by their position."""

    def __init__(self, rows: Rows, lattice: Lattice) -> None:
        assert rows.size is not None
        self._rows = rows
        self._size = rows.size
        self._lattice = lattice

    def thin(self, k: int, entropy: Entropy) -> Integers:
        return self._fetch(_members(self._size, k, entropy))

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

    def __init__(self, rows: Rows, lattice: Lattice, subsamples: int) -> None:
        self._rows = rows
        self._lattice = lattice
        self._kept = [_Passing(lattice, 0, rows.entropy) for _ in range(subsamples)]
        self._level = 0
        self._records = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        """Choose rows of a chunk."""
        self._records += len(x) - _missing(x)
        deeper = kept_level(self._records) - self._level
        for kept in self._kept:
            if deeper:
                kept.thin(deeper)
            kept.update(x)
        self._level += deeper

    def finish(self) -> Pool:
        """Return the chosen rows."""
        chosen = [kept.finish() for kept in self._kept]
        return _PassedPool(self._rows, self._lattice, self._level, chosen)


class _PassedPool:
    """Subsamples chosen while rows passed; each good for once, in the process that chose them."""

    def __init__(self, rows: Rows, lattice: Lattice, level: int, chosen: list[Integers]) -> None:
        self._rows = rows
        self._lattice = lattice
        self._level = level
        self._chosen = chosen
        self._process = os.getpid()

    def thin(self, k: int, entropy: Entropy) -> Integers:
        if not self._chosen or k < self._level or self._process != os.getpid():
            once_more = _PoissonPass(self._lattice, k, entropy)
            self._rows.feed(once_more)
            return once_more.finish()
        # Used up, where there was a choice: the next subsample has to be a fresh one.
        chosen = self._chosen.pop() if k else self._chosen[-1]
        return chosen[_members(len(chosen), k - self._level, entropy)]

    def all(self) -> Integers:
        return self.thin(0, self._rows.entropy)


class _PoissonPass(_Passing):
    """A pass that keeps each record with probability 2^-k."""

    reads = True
