"""A secret random subsample of the records, gathered without a coin per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Integers, Rows, Sensitive
from modicum.summaries.pools import (
    ChosenPool,
    FetchedPool,
    HeldPool,
    PassingRows,
    PoissonPass,
    Pool,
)

__all__ = ["RecordSummary", "Records"]


@dataclass(frozen=True, slots=True)
class Records:
    """Ask for a handle from which secret Poisson subsamples can be drawn.

    Where any row can be fetched by its position, nothing is read until the subsample is drawn.
    Otherwise rows are chosen while they pass, with randomness from ``rows.entropy``. Without
    ``rows`` (a chunk-by-chunk reduction in memory) every record is kept.

    Parameters
    ----------
    subsamples : int
        How many independent ones are wanted; a further one takes one more pass.
    """

    subsamples: int = 1

    def begin(
        self, lattice: Lattice | None, rows: Rows | None = None, /
    ) -> Accumulator[RecordSummary]:
        if lattice is None:
            raise InvalidArgument("records need a range: lattice must not be None")
        if rows is None:
            return _Collecting(lattice)
        fetchable = rows.fetchable
        if fetchable is not None:
            return _Ready(RecordSummary((FetchedPool(fetchable, lattice),)))
        return _Passing(rows, lattice, self.subsamples)


class RecordSummary(Sensitive):
    """The records of a column, as a secret Poisson subsample of them or all.

    Notes
    -----
    ``thin(k)`` keeps each record with probability exactly 2^-k, independently of the others:

    - [R1] *Fetched rows.* The size is drawn as Binomial(rows, 2^-k), then that many distinct
      positions, all sets of that size being equally likely. A set S of s rows then has
      probability C(n, s) 2^-ks (1 - 2^-k)^(n-s) / C(n, s): the product law. Missing values are
      dropped afterwards, which leaves the product law on the others.
    - [R2] *Passing rows.* A Poisson subsample of rate 2^-L is kept, chunk by chunk as in [R1]. A
      Poisson subsample of rate 2^-d of it is one of rate 2^-(L+d) of the rows: both choices are
      independent from row to row, and their probabilities multiply. So L can rise as records
      mount up, and ``thin`` can choose any k >= L. L depends on the number of records passed, not
      on who was chosen, so it does not change the law.
    - [R3] A subsample is handed out once; the next one is another of those kept, which were
      chosen independently, or is drawn afresh, from fetched rows or in one more pass. So is one
      for a k below the kept level, or in a forked process.

    Where the data are in parts, each part chooses as in [R2], and what was chosen is merged, see
    :class:`~modicum.summaries.chosen.ChosenRows` for [R4].
    """

    __slots__ = ("_pools",)

    def __init__(self, pools: tuple[Pool, ...]) -> None:
        self._pools = pools

    def thin(self, k: int, entropy: Entropy) -> Integers:
        """Return each record with probability exactly 2^-k, independently.

        Parameters
        ----------
        k : int
            0 keeps all.
        entropy : Entropy

        Returns
        -------
        int64 array
            Lattice integers in no particular order.
        """
        if k < 0:
            raise InvalidArgument(f"k must be at least 0, got {k}")
        return np.concatenate([pool.thin(k, entropy) for pool in self._pools])

    def all(self) -> Integers:
        """Return every record."""
        return np.concatenate([pool.all() for pool in self._pools])

    def merge(self, other: Self) -> RecordSummary:
        """Return the records of both."""
        self._check_same(other)
        return RecordSummary(self._pools + other._pools)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = Sensitive.__hash__


class _Ready:
    """Nothing to read: rows are fetched when they are wanted."""

    reads = False

    def __init__(self, summary: RecordSummary) -> None:
        self._summary = summary

    def update(self, x: NDArray[np.float64], /) -> None:
        pass

    def finish(self) -> RecordSummary:
        return self._summary


class _Collecting:
    reads = True

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._kept: list[Integers] = [np.empty(0, dtype=np.int64)]

    def update(self, x: NDArray[np.float64], /) -> None:
        self._kept.append(self._lattice.quantise(x))

    def finish(self) -> RecordSummary:
        return RecordSummary((HeldPool(np.concatenate(self._kept)),))


class _Passing:
    reads = True

    def __init__(self, rows: Rows, lattice: Lattice, subsamples: int) -> None:
        self._rows = rows
        self._lattice = lattice
        self._choosing = PassingRows(lattice, subsamples, rows.entropy)

    def update(self, x: NDArray[np.float64], /) -> None:
        self._choosing.update(x)

    def finish(self) -> RecordSummary:
        return RecordSummary((ChosenPool(self._choosing.finish(), self._again),))

    def _again(self, k: int, entropy: Entropy) -> Integers:
        once_more = PoissonPass(self._lattice, k, entropy)
        self._rows.feed(once_more)
        return once_more.finish()
