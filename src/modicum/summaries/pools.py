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
_LOOK_AHEAD = 1 << 15  # positions drawn at a time for rows that pass
_FEW = 14  # 2^14 to 2^15 records are kept on average, or all
_COINS = 6  # largest k for which a row may be given k coins
_AHEAD = 1 << 20  # rows for which members are drawn at a time


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
    if k <= _COINS and size <= _AHEAD:
        coins = entropy.words(-(-size // 8)).view(np.uint8)[:size]
        positions: Integers = ((coins & ((1 << k) - 1)) == 0).nonzero()[0]
        return positions
    return distinct_positions(size, binomial_pow2(size, k, entropy), entropy)


class _Choice:
    """Members among rows that pass: each with probability 2^-level, drawn some way ahead.

    One draw for many chunks spreads its fixed cost.
    """

    def __init__(self, level: int, entropy: Entropy) -> None:
        self.level = level
        self._entropy = entropy
        self._ahead = np.empty(0, dtype=np.int64)  # counted from the next row
        self._drawn = 0  # rows for which members have been drawn

    def among(self, rows: int) -> Integers:
        """Return the members among the next rows, as positions from the first of them."""
        if self.level == 0:
            return np.arange(rows)
        while self._drawn < rows:
            more = _members(_AHEAD, self.level, self._entropy) + self._drawn
            self._ahead = np.concatenate([self._ahead, more])
            self._drawn += _AHEAD
        members, later = np.split(self._ahead, [self._ahead.searchsorted(rows)])
        self._ahead = later - rows
        self._drawn -= rows
        return members

    def thin(self, deeper: int) -> None:
        """Raise the level, for the rows ahead too."""
        self.level += deeper
        self._ahead = self._ahead[_members(len(self._ahead), deeper, self._entropy)]


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
    """A pass that keeps a Poisson subsample, and thins it as records mount up."""

    def __init__(self, rows: Rows, lattice: Lattice) -> None:
        self._rows = rows
        self._lattice = lattice
        self._choice = _Choice(0, rows.entropy)
        self._records = 0
        self._q = [np.empty(0, dtype=np.int64)]

    def update(self, x: NDArray[np.float64]) -> None:
        """Choose rows of a chunk."""
        self._records += len(x) - int(np.count_nonzero(np.isnan(x)))
        deeper = kept_level(self._records) - self._choice.level
        if deeper > 0:
            kept = np.concatenate(self._q)
            self._q = [kept[_members(len(kept), deeper, self._rows.entropy)]]
            self._choice.thin(deeper)
        self._q.append(self._lattice.quantise(x[self._choice.among(len(x))]))

    def finish(self) -> Pool:
        """Return the chosen rows."""
        q = np.concatenate(self._q)
        return _PassedPool(self._rows, self._lattice, self._choice.level, q)


class _PassedPool:
    """Rows chosen while they passed; good for one subsample, in the process that chose them."""

    def __init__(self, rows: Rows, lattice: Lattice, level: int, q: Integers) -> None:
        self._rows = rows
        self._lattice = lattice
        self._level = level
        self._chosen: Integers | None = q
        self._process = os.getpid()

    def thin(self, k: int, entropy: Entropy) -> Integers:
        chosen = self._chosen
        if chosen is None or k < self._level or self._process != os.getpid():
            once_more = _PoissonPass(self._lattice, k, entropy)
            self._rows.feed(once_more)
            return once_more.finish()
        if k:  # used up: a second subsample has to be a fresh one
            self._chosen = None
        return chosen[_members(len(chosen), k - self._level, entropy)]

    def all(self) -> Integers:
        return self.thin(0, self._rows.entropy)


class _PoissonPass:
    """A pass that keeps each record with probability 2^-k."""

    reads = True

    def __init__(self, lattice: Lattice, k: int, entropy: Entropy) -> None:
        self._lattice = lattice
        self._choice = _Choice(k, entropy)
        self._q = [np.empty(0, dtype=np.int64)]

    def update(self, x: NDArray[np.float64], /) -> None:
        self._q.append(self._lattice.quantise(x[self._choice.among(len(x))]))

    def finish(self) -> Integers:
        return np.concatenate(self._q)
