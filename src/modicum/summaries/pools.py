"""Where a subsample comes from: rows that can be fetched, rows held, or rows tagged in passing."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.binomial import binomial_pow2
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers, Rows

__all__ = ["FetchedPool", "HeldPool", "Pool", "TaggedPass", "distinct_positions", "kept_level"]

_BLOCK = 1 << 18  # rows fetched at a time
_FEW = 13  # at least 2^13 records are kept, or all


class Pool(Protocol):
    """A source of fresh Poisson subsamples."""

    def thin(self, k: int, entropy: Entropy) -> Integers:
        """Keep each record with probability exactly 2^-k, independently."""

    def all(self) -> Integers:
        """Return every record."""


def kept_level(records: int) -> int:
    """Level below which rows are forgotten after so many records: 2^13 to 2^15 are kept.

    Examples
    --------
    >>> [kept_level(n) for n in (0, 2**15 - 1, 2**15, 10**9)]
    [0, 0, 1, 15]
    """
    return max(0, records.bit_length() - _FEW - 2)


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
    """Draw a Poisson subsample of the positions below ``size``."""
    if k == 0:
        return np.arange(size)
    return distinct_positions(size, binomial_pow2(size, k, entropy), entropy)


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


class TaggedPass:
    """A pass that chooses rows by their level, and forgets low levels as records mount up."""

    def __init__(self, rows: Rows, lattice: Lattice) -> None:
        self._rows = rows
        self._lattice = lattice
        self._level = 0
        self._records = 0
        self._q = [np.empty(0, dtype=np.int64)]
        self._levels = [np.empty(0, dtype=np.int64)]

    def update(self, x: NDArray[np.float64]) -> None:
        """Choose rows of a chunk."""
        self._records += len(x) - int(np.count_nonzero(np.isnan(x)))
        if kept_level(self._records) > self._level:
            self._forget_below(kept_level(self._records))
        entropy = self._rows.entropy
        q = self._lattice.quantise(x[_members(len(x), self._level, entropy)])
        self._q.append(q)
        self._levels.append(self._level + _trailing_zeros(entropy.words(len(q))))

    def finish(self) -> Pool:
        """Return the chosen rows."""
        return _TaggedPool(self._rows, self._lattice, self._level, *self._chosen())

    def _forget_below(self, level: int) -> None:
        self._level = level
        q, levels = self._chosen()
        self._q, self._levels = [q[levels >= level]], [levels[levels >= level]]

    def _chosen(self) -> tuple[Integers, Integers]:
        return np.concatenate(self._q), np.concatenate(self._levels)


class _TaggedPool:
    """Rows chosen while they passed; good for one subsample, in the process that chose them."""

    def __init__(
        self, rows: Rows, lattice: Lattice, level: int, q: Integers, levels: Integers
    ) -> None:
        self._rows = rows
        self._lattice = lattice
        self._level = level
        self._chosen: tuple[Integers, Integers] | None = (q, levels)
        self._process = os.getpid()

    def thin(self, k: int, entropy: Entropy) -> Integers:
        if self._chosen is None or k < self._level or self._process != os.getpid():
            return self._again(k, entropy)
        q, levels = self._chosen
        if k:  # used up: a second subsample has to be a fresh one
            self._chosen = None
        return q[levels >= k]

    def all(self) -> Integers:
        return self.thin(0, self._rows.entropy)

    def _again(self, k: int, entropy: Entropy) -> Integers:
        """Choose rows afresh, in one more pass."""
        once_more = _PoissonPass(self._lattice, k, entropy)
        self._rows.feed(once_more)
        return once_more.finish()


class _PoissonPass:
    """A pass that keeps each record with probability 2^-k."""

    reads = True

    def __init__(self, lattice: Lattice, k: int, entropy: Entropy) -> None:
        self._lattice = lattice
        self._k = k
        self._entropy = entropy
        self._q = [np.empty(0, dtype=np.int64)]

    def update(self, x: NDArray[np.float64], /) -> None:
        chosen = x[_members(len(x), self._k, self._entropy)]
        self._q.append(self._lattice.quantise(chosen))

    def finish(self) -> Integers:
        return np.concatenate(self._q)


def _trailing_zeros(words: NDArray[np.uint64]) -> Integers:
    """Geometric levels: at least j with probability exactly 2^-j, for j <= 64."""
    lowest = words & (~words + np.uint64(1))
    return np.bitwise_count(lowest - np.uint64(1)).astype(np.int64)
