"""The passes that find the records at given ranks: a sample brackets them, a pass collects them.

Whatever the sample says, the result is exact: a pass counts the records below and above its
bracket, so it knows whether the wanted ranks lie inside, and if not, the bracket is widened and
the column is read again. The sample decides how often that happens, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fetchable, Integers, Rows
from modicum.summaries.membership import distinct_positions
from modicum.summaries.sift import Sample, Sift, Sifted

__all__ = ["WindowPass", "WindowSearch"]

_WHOLE = 1 << 20  # records of a whole column that are held: 8 MB
_FEW = 1 << 17  # rows that are not worth a sample by position
_INSIDE = 1 << 21  # records of a bracket that are held: 16 MB, twice as much in each further pass
_FETCHED = 1 << 15  # rows of a sample by position
_SURE = 3.5  # standard deviations of a sample's rank between it and an end of the bracket


class WindowSearch:
    """Narrows a bracket down until the records at wanted positions are known.

    Parameters
    ----------
    ranks : callable
        From the number of records to positions from, to (exclusive).
    lattice : Lattice
    most : int
        Records within the first bracket, the whole range, that may be held.
    """

    def __init__(
        self, ranks: Callable[[int], tuple[int, int]], lattice: Lattice, most: int
    ) -> None:
        self._ranks = ranks
        self._known: Sample | None = None
        self._sure = _SURE
        self.bracket = lattice.first, lattice.last
        self.most = most

    def start_from(self, sample: Sample) -> None:
        """Begin with a sample of all records, whose number may be an estimate."""
        self._known = sample
        self.bracket = sample.bracket(*self._ranks(int(sample.size)), _SURE)
        self.most = _INSIDE

    def learn(self, sifted: Sifted) -> tuple[int, int, Integers] | None:
        """Take in what the bracket holds.

        Returns
        -------
        tuple or None
            The number of records, that before the window, and the window. ``None`` if there is a
            new bracket.
        """
        start, stop = self._ranks(sifted.count)
        if not sifted.covers(start, stop):
            self._sure *= 2
        elif sifted.holds_all:
            return sifted.count, start, sifted.window(start, stop)
        else:
            self._known, self._sure = sifted.sample(), _SURE
        assert self._known is not None
        self.bracket = self._known.bracket(start, stop, self._sure)
        # A bracket shrinks towards the window. Doubling ends this even if it does not.
        self.most = max(2 * self.most, 2 * (stop - start), _INSIDE)
        return None


class WindowPass:
    """Finds the records at the positions ``ranks(n)`` of a column of n records.

    Parameters
    ----------
    ranks : callable
        From the number of records to positions from, to (exclusive).
    lattice : Lattice
    rows : Rows or None
        Without them every record is held.
    """

    def __init__(
        self, ranks: Callable[[int], tuple[int, int]], lattice: Lattice, rows: Rows | None
    ) -> None:
        self._search = WindowSearch(ranks, lattice, _WHOLE)
        self._lattice = lattice
        self._rows = rows
        self._sift: Sift | None = None

    def update(self, x: NDArray[np.float64]) -> None:
        """Take in one chunk of the first pass."""
        if self._sift is None:
            self._sift = self._start()
        self._sift.update(x)

    def _start(self) -> Sift:
        fetchable = None if self._rows is None else self._rows.fetchable
        if fetchable is not None and fetchable.size > _FEW:
            assert self._rows is not None
            self._search.start_from(self._fetched(fetchable, self._rows.entropy))
        return self._next()

    def _next(self) -> Sift:
        entropy = None if self._rows is None else self._rows.entropy
        return Sift(self._lattice, entropy, self._search.bracket, self._search.most)

    def _fetched(self, rows: Fetchable, entropy: Entropy) -> Sample:
        """Sample rows by position; the number of records among all rows is an estimate."""
        positions = distinct_positions(rows.size, _FETCHED, entropy)
        values = np.sort(self._lattice.quantise(rows.take(positions)))
        records = rows.size * len(values) / _FETCHED
        return Sample(values, records, 0, self._lattice.first, self._lattice.last)

    def finish(self) -> tuple[int, int, Integers]:
        """Return the number of records, that before the window, and the window."""
        sift = self._sift if self._sift is not None else self._start()
        while (found := self._search.learn(sift.finish())) is None:
            assert self._rows is not None
            sift = self._next()
            self._rows.feed(sift)
        return found
