"""Secret random subsamples of the records, drawn without a coin for each row.

Whether a record is a member is drawn by its position, so that few members need few random numbers.
Rows come from a pool: rows that can be fetched, rows in memory, or rows that pass. What was chosen
of one part of the data can travel, and be merged with another part's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.binomial import binomial_pow2
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries import base
from modicum.summaries.base import Integers
from modicum.summaries.synthetic import SyntheticTable

FEW = 14
"""2^14 to 2^15 records are kept on average, or all."""

# Longest ranges of rows that may be given k coins each, for k = 1 to 6: a coin costs as much as 8
# bits, and a position as much as 32 and its place in a sorted list.
_COINED = dict.fromkeys((1, 2, 3), 1 << 20) | dict.fromkeys((4, 5, 6), 1 << 13)
_SHORT = 1 << 32  # positions of ranges up to it are drawn in half a word each


def kept_level(records: int) -> int:
    """Level of the subsample kept of so many records: 2^14 to 2^15 of them on average, or all.

    Examples
    --------
    >>> [kept_level(n) for n in (0, 2**15 - 1, 2**15, 10**9)]
    [0, 0, 1, 15]
    """
    return max(0, records.bit_length() - FEW - 1)


def distinct_positions(size: int, count: int, entropy: Entropy) -> Integers:
    """Draw a set of ``count`` positions below ``size``, all such sets being equally likely.

    As many positions as are missing are drawn, until none is missing: relabelling the positions
    relabels the outcome, so no set is preferred. For more than half of the positions, those left
    out are drawn instead. A word of 64 bits has two positions of up to 32; those that are not below
    ``size`` are drawn again, whatever was drawn besides.
    """
    if 2 * count > size:
        kept = np.ones(size, dtype=bool)
        kept[distinct_positions(size, size - count, entropy)] = False
        return kept.nonzero()[0]
    chosen = np.empty(0, dtype=np.uint32 if size <= _SHORT else np.uint64)
    while len(chosen) < count:
        drawn = _positions(size, count - len(chosen), entropy)
        chosen = np.sort(np.concatenate([chosen, drawn]))
        new = np.ones(len(chosen), dtype=bool)
        np.not_equal(chosen[1:], chosen[:-1], out=new[1:])
        chosen = chosen[new]
    return chosen.astype(np.int64)


def _positions(size: int, most: int, entropy: Entropy) -> NDArray[Any]:
    """Draw independent positions below ``size``, at most so many and hardly fewer."""
    if size > _SHORT:
        return entropy.below_many(size, most)
    unused = 32 - (size - 1).bit_length()
    some = (most << (32 - unused)) // size + (most >> 6) + 8
    drawn = entropy.words(-(-some // 2)).view(np.uint32) >> np.uint32(unused)
    return drawn[drawn <= size - 1][:most]


def members(size: int, k: int, entropy: Entropy) -> Integers:
    """Draw a Poisson subsample of the positions below ``size``, in increasing order.

    The rate is 2^-k. In short ranges at large rates, k fair coins a row (the low bits of a byte)
    are faster than drawing the size and a set of positions; the distribution is the same.
    """
    if k == 0:
        return np.arange(size)
    if size <= _COINED.get(k, -1):
        coins = entropy.words(-(-size // 8)).view(np.uint8)[:size]
        positions: Integers = ((coins & ((1 << k) - 1)) == 0).nonzero()[0]
        return positions
    return distinct_positions(size, binomial_pow2(size, k, entropy), entropy)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChosenRows(base.Summary):
    """Independent Poisson subsamples of rate 2^-level of the records of one part.

    ``records`` is the number of records, from which the level follows, or 0 if the level was given.
    ``subsamples`` hold lattice integers.

    Notes
    -----
    [summaries.12] Parts of level L1 and L2 are merged by a Poisson choice of rate 2^-(L - L1) of
    the one and 2^-(L - L2) of the other, L = max(L1, L2, level kept of all their records). As in
    [summaries.10] of :class:`RecordSummary`, the rates multiply, and L depends on numbers of
    records only, never on who was chosen. So however the parts are merged, the result is a Poisson
    subsample of the whole of rate 2^-L, and it stays as small as one part's.
    """

    kind: ClassVar[str] = "chosen"

    level: int
    records: int
    subsamples: tuple[Integers, ...]

    def joined(self, other: ChosenRows, entropy: Entropy) -> ChosenRows:
        if len(self.subsamples) != len(other.subsamples):
            raise InvalidArgument("parts to be merged must hold the same number of subsamples")
        records = self.records + other.records
        level = max(self.level, other.level, kept_level(records))
        pairs = zip(self._thinned(level, entropy), other._thinned(level, entropy), strict=True)
        return ChosenRows(level, records, tuple(np.concatenate(pair) for pair in pairs))

    def _thinned(self, level: int, entropy: Entropy) -> list[Integers]:
        deeper = level - self.level
        return [q[members(len(q), deeper, entropy)] for q in self.subsamples]


_BLOCK = 1 << 18  # rows fetched at a time
_WAITING = 1 << 14  # chosen rows that are rounded at a time

Pool = Callable[[int, Entropy], Integers]
"""A source of fresh Poisson subsamples: keeps each record with probability exactly 2^-k."""


def rows_in_memory(q: Integers) -> Pool:
    """Return the pool of all these records."""
    return lambda k, entropy: q[members(len(q), k, entropy)]


def rows_to_fetch(rows: base.Fetchable, lattice: Lattice) -> Pool:
    """Return the pool of rows that can be fetched by their position."""
    size = rows.size

    def thin(k: int, entropy: Entropy) -> Integers:
        positions = members(size, k, entropy)
        blocks = (positions[i : i + _BLOCK] for i in range(0, len(positions), _BLOCK))
        found = [lattice.quantise(rows.take(block)) for block in blocks]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    return thin


class ChosenPool:
    """Subsamples chosen while rows passed; each is used once, in the process that got them.

    ``more`` makes one more pass.
    """

    def __init__(self, chosen: ChosenRows, more: base.More) -> None:
        self._level = chosen.level
        self._chosen = list(chosen.subsamples)
        self._more = more
        self._process = os.getpid()

    def __call__(self, k: int, entropy: Entropy) -> Integers:
        if not self._chosen or k < self._level or self._process != os.getpid():
            fresh: Integers = self._more(PartRecords(1, k), entropy).subsamples[0]
            return fresh
        # Used up, where there was a choice: the next subsample has to be a fresh one.
        chosen = self._chosen.pop() if k else self._chosen[-1]
        return chosen[members(len(chosen), k - self._level, entropy)]


def _missing(x: NDArray[np.float64]) -> int:
    """Count NaN; if there is none, the smallest value shows it at a lower cost."""
    return int(np.count_nonzero(np.isnan(x))) if len(x) and np.isnan(x.min()) else 0


class _Passing:
    """A Poisson subsample of rate 2^-level of the rows that pass.

    Members are drawn some way ahead, 2^14 of them on average: one draw for many chunks spreads its
    fixed cost, and is small enough for many groups at once. For the same reason the chosen rows
    wait unrounded, and many are rounded to the lattice at a time.
    """

    def __init__(self, lattice: Lattice, level: int, entropy: Entropy) -> None:
        self.level = level
        self._lattice = lattice
        self._entropy = entropy
        self._ahead = np.empty(0, dtype=np.int64)  # positions among all rows
        self._passed = 0
        self._sampled_rows = 0  # rows for which members have been drawn
        self._q = np.empty(0, dtype=np.int64)
        self._waiting: list[NDArray[np.float64]] = []
        self._rows_waiting = 0

    def update(self, x: NDArray[np.float64]) -> None:
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
        waited = np.concatenate([np.empty(0), *self._waiting])
        self._q = np.concatenate([self._q, self._lattice.quantise(waited)])
        self._waiting, self._rows_waiting = [], 0
        return self._q

    def _members(self, rows: int) -> Integers:
        """Return the members among the next rows, as positions from the first of them."""
        start, stop = self._passed, self._passed + rows
        if self.level == 0:
            self._passed = self._sampled_rows = stop
            return np.arange(rows)
        ahead = 1 << (self.level + FEW)
        while self._sampled_rows < stop:
            later = self._ahead[self._ahead.searchsorted(start) :]
            more = members(ahead, self.level, self._entropy) + self._sampled_rows
            self._ahead = np.concatenate([later, more])
            self._sampled_rows += ahead
        self._passed = stop
        first, last = self._ahead.searchsorted((start, stop))
        return self._ahead[first:last] - start


class SubsamplePass(base.Accumulator[ChosenRows]):
    """A pass that keeps independent Poisson subsamples.

    They are thinned as records mount up, unless the level is given.
    """

    def __init__(
        self, lattice: Lattice, subsamples: int, entropy: Entropy, level: int | None = None
    ) -> None:
        self._given = level is not None
        self._level = level or 0
        self._kept = [_Passing(lattice, self._level, entropy) for _ in range(subsamples)]
        self._records = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        deeper = 0
        if not self._given:
            self._records += len(x) - _missing(x)
            deeper = kept_level(self._records) - self._level
        for kept in self._kept:
            if deeper:
                kept.thin(deeper)
            kept.update(x)
        self._level += deeper

    def finish(self) -> ChosenRows:
        # Without a number of records if the level was given: merging must not deepen it.
        return ChosenRows(self._level, self._records, tuple(kept.finish() for kept in self._kept))


@dataclass(frozen=True, slots=True)
class Records(base.Reduction["RecordSummary"]):
    """Prepares secret Poisson subsamples of the records; they are drawn from its summary.

    Where any row can be fetched by its position, nothing is read until the subsample is drawn.
    Otherwise rows are chosen while they pass, with randomness from ``rows.entropy``. Without
    ``rows`` (a chunk-by-chunk reduction in memory) every record is kept. ``subsamples`` independent
    ones are prepared; a further one takes one more pass.
    """

    secret = True

    subsamples: int = 1

    def begin(
        self, lattice: Lattice | None, rows: base.Rows | None = None, /
    ) -> base.Accumulator[RecordSummary]:
        lattice = base.ranged(lattice, "records need")
        if rows is None:
            return _RecordsInMemory(lattice)
        if (fetchable := rows.fetchable) is not None:
            return _RecordsToFetch(RecordSummary(rows_to_fetch(fetchable, lattice)))
        search = _RecordsSearch(self.subsamples, base.passes_over(rows, lattice))
        return base.SearchPass(search, lattice, rows)

    def in_parts(self, _lattice: Lattice | None, more: base.More, /) -> base.PartsSearch:
        return _RecordsSearch(self.subsamples, more)

    def synthetic(self, table: SyntheticTable, *_: object) -> RecordSummary:
        return RecordSummary(table.thin)


class RecordSummary(base.Sensitive):
    """The records of a column, as a secret Poisson subsample of them or all.

    Notes
    -----
    ``thin(k)`` keeps each record with probability exactly 2^-k, independently of the others:

    - [summaries.9] *Fetched rows.* The size is drawn as Binomial(rows, 2^-k), then that many
      distinct positions, all sets of that size being equally likely. A set S of s rows then has
      probability C(n, s) 2^-ks (1 - 2^-k)^(n-s) / C(n, s): the product law. Missing values are
      dropped afterwards, which leaves the product law on the others.
    - [summaries.10] *Passing rows.* A Poisson subsample of rate 2^-L is kept, chunk by chunk as in
      [summaries.9]. A Poisson subsample of rate 2^-d of it is one of rate 2^-(L+d) of the rows:
      both choices are independent from row to row, and their probabilities multiply. So L can rise
      as records mount up, and ``thin`` can choose any k >= L. L depends on the number of records
      passed, not on who was chosen, so it does not change the law.
    - [summaries.11] A subsample is handed out once; the next one is another of those kept, which
      were chosen independently, or is drawn afresh, from fetched rows or in one more pass. So is
      one for a k below the kept level, or in a forked process.

    Where the data are in parts, each part chooses as in [summaries.10], and what was chosen is
    merged, see :class:`~modicum.summaries.subsample.ChosenRows` for [summaries.12].
    """

    __slots__ = ("_pool",)

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def thin(self, k: int, entropy: Entropy) -> Integers:
        """Return the lattice integers of a subsample of rate exactly 2^-k, in no fixed order."""
        if k < 0:
            raise InvalidArgument(f"k must be at least 0, got {k}")
        return self._pool(k, entropy)

    def all(self) -> Integers:
        return self.thin(0, SYSTEM)  # nothing is drawn

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = base.Sensitive.__hash__


@dataclass(frozen=True, slots=True)
class _RecordsSearch:
    """Subsamples that are chosen in one pass, or by all parts in one job."""

    subsamples: int
    more: base.More

    def wanted(self) -> list[base.Reduction[Any]]:
        return [PartRecords(self.subsamples)]

    def learn(self, known: Sequence[Any]) -> RecordSummary:
        return RecordSummary(ChosenPool(known[0], self.more))


class _RecordsToFetch(base.Accumulator[RecordSummary]):
    """Reads nothing: rows are fetched when they are needed."""

    reads = False

    def __init__(self, summary: RecordSummary) -> None:
        self._summary = summary

    def update(self, x: NDArray[np.float64], /) -> None:
        pass

    def finish(self) -> RecordSummary:
        return self._summary


class _RecordsInMemory(base.Accumulator[RecordSummary]):
    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._q: list[Integers] = [np.empty(0, dtype=np.int64)]

    def update(self, x: NDArray[np.float64], /) -> None:
        self._q.append(self._lattice.quantise(x))

    def finish(self) -> RecordSummary:
        return RecordSummary(rows_in_memory(np.concatenate(self._q)))


@dataclass(frozen=True, slots=True)
class PartRecords(base.Reduction["ChosenRows"]):
    """Chooses a part's share of :class:`~modicum.summaries.subsample.Records`.

    With a ``level`` the rate is 2^-level, whatever the number of records.
    """

    secret = True

    subsamples: int
    level: int | None = None

    def begin(self, lattice: Lattice | None, rows: base.Rows | None = None, /) -> SubsamplePass:
        if lattice is None or rows is None:
            raise InvalidArgument(
                "records need a range and randomness: lattice and rows are missing"
            )
        return SubsamplePass(lattice, self.subsamples, rows.entropy, self.level)
