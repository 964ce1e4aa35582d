"""The passes that find the records around two cut points, and the sum between these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Integers, Rows
from modicum.summaries.clipped import ClippedSum, ClippedSummary
from modicum.summaries.kernel import exact_sum
from modicum.summaries.sift import Sift, Sifted
from modicum.summaries.window_pass import WindowSearch, fetched

__all__ = ["CutsPass", "Found"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Found:
    """Number of records, those around both cut points, and the sum between these."""

    count: int
    low: Integers
    high: Integers
    middle: int


class CutsPass:
    """Finds the records around the positions ``cuts(n)`` of a column of n records.

    Each cut point has a bracket, as in :class:`~modicum.summaries.window_pass.WindowPass`, and the
    records between the brackets are summed in the pass that sifts the brackets. A column that is
    small enough is held instead.

    Parameters
    ----------
    cuts : callable
        From the number of records to the two cut points, m and n - m.
    reach : int
        Positions before and after a cut point that are wanted.
    lattice : Lattice
    rows : Rows or None
        Without them every record is held.
    """

    def __init__(
        self,
        cuts: Callable[[int], tuple[int, int]],
        reach: int,
        lattice: Lattice,
        rows: Rows | None,
    ) -> None:
        self._cuts, self._reach = cuts, reach
        self._lattice, self._rows = lattice, rows
        self._sides = tuple(_Side(cuts, i, reach, lattice) for i in (0, 1))
        self._pass: _Whole | _Apart | None = None

    def update(self, x: NDArray[np.float64]) -> None:
        """Take in one chunk of the first pass."""
        if self._pass is None:
            self._pass = self._start()
        self._pass.update(x)

    def _start(self) -> _Whole | _Apart:
        sample = fetched(self._rows, self._lattice)
        if sample is None or self._rows is None:
            return _Whole(self._lattice, self._rows, self._sides[0].search.most)
        for side in self._sides:
            side.search.start_from(sample)
        return _Apart(self._sides, self._lattice, self._rows)

    def finish(self) -> Found:
        """Return what was wanted, after more passes if need be."""
        passing = self._pass if self._pass is not None else self._start()
        if isinstance(passing, _Whole):
            known = passing.sift.finish()
            if known.holds_all:
                return self._of_whole(known)
            for side in self._sides:
                side.search.start_from(known.sample())
            passing = self._again()
        while not passing.settled():
            passing = self._again()
        low, high = (side.known for side in self._sides)
        assert low is not None
        assert high is not None
        return self._of_brackets(low, high, passing.clipped.finish())

    def _again(self) -> _Apart:
        assert self._rows is not None
        passing = _Apart(self._sides, self._lattice, self._rows)
        self._rows.feed(passing)
        return passing

    def _of_whole(self, known: Sifted) -> Found:
        n = known.count
        low, high = (known.window(*side.ranks(n)) for side in self._sides)
        if n == 0:
            return Found(0, low, high, 0)
        m, stop = self._cuts(n)
        ends = [int(known.window(at, at + 1)[0]) for at in (m, stop - 1)]
        (inside,) = known.inside.subsamples
        # [c1] Clipped to the outermost records between the cuts, m on each side are equal to these.
        beyond = known.on_lo * ends[0] + known.on_hi * ends[1]
        total = exact_sum(np.clip(inside, ends[0], ends[1])) + beyond
        return Found(n, low, high, total - m * sum(ends))

    def _of_brackets(self, lower: Sifted, upper: Sifted, clipped: ClippedSummary) -> Found:
        n = lower.count
        low, high = (
            sifted.window(*side.ranks(n))
            for side, sifted in zip(self._sides, (lower, upper), strict=True)
        )
        m, stop = self._cuts(n)
        first, last = clip_of(lower, upper)
        # [c2] Records between the cuts that were clipped lie in the brackets.
        left = lower.window(m, min(stop, n - lower.above))
        right = upper.window(max(m, upper.below), stop)
        over = exact_sum(np.maximum(right - last, 0)) + exact_sum(np.minimum(left - first, 0))
        return Found(n, low, high, clipped.total - m * (first + last) + over)


class _Side:
    """One cut point: its search, and what is known of its bracket when it is found."""

    def __init__(
        self, cuts: Callable[[int], tuple[int, int]], which: int, reach: int, lattice: Lattice
    ) -> None:
        self._cuts, self._which, self._reach = cuts, which, reach
        self.search = WindowSearch(self.ranks, lattice)
        self.known: Sifted | None = None

    def ranks(self, count: int) -> tuple[int, int]:
        """Positions from, to (exclusive)."""
        cut = self._cuts(count)[self._which]
        return max(0, cut - self._reach), min(count, cut + self._reach)


class _Whole:
    """A pass that holds all records, or a sample if they are many."""

    reads = True

    def __init__(self, lattice: Lattice, rows: Rows | None, most: int) -> None:
        entropy = None if rows is None else rows.entropy
        self.sift = Sift(lattice, entropy, (lattice.first, lattice.last), most)

    def update(self, x: NDArray[np.float64], /) -> None:
        self.sift.update(x)


class _Apart:
    """A pass over both brackets, or the one that is not settled, and the sum between them."""

    reads = True

    def __init__(self, sides: tuple[_Side, ...], lattice: Lattice, rows: Rows) -> None:
        self._sides = [side for side in sides if side.known is None]
        self._sifts = [
            Sift(lattice, rows.entropy, side.search.bracket, side.search.most)
            for side in self._sides
        ]
        lower, upper = (side.search.bracket for side in sides)
        first = lower[1]
        between = ClippedSum(first, max(first, upper[0]))
        self.clipped: Accumulator[ClippedSummary] = between.begin(lattice)

    def update(self, x: NDArray[np.float64], /) -> None:
        for sift in self._sifts:
            sift.update(x)
        self.clipped.update(x)

    def finish(self) -> None:
        """Nothing is returned: the pass is asked for what it knows."""

    def settled(self) -> bool:
        """Whether the records around both cut points are known now."""
        done = True
        for side, sift in zip(self._sides, self._sifts, strict=True):
            sifted = sift.finish()
            if side.search.learn(sifted) is None:
                done = False
            else:
                side.known = sifted
        return done


def clip_of(lower: Sifted, upper: Sifted) -> tuple[int, int]:
    """Bounds of the sum between two brackets, which may overlap."""
    return lower.hi, max(lower.hi, upper.lo)
