"""The passes that find the records at given ranks: a sample brackets them, a pass collects them.

Whatever the sample says, the result is exact: a pass counts the records below and above its
bracket, so it knows whether the wanted ranks lie inside, and if not, the bracket is widened and
the column is read again. The sample decides how often that happens, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Rows
from modicum.summaries.kernel import CHUNK
from modicum.summaries.membership import distinct_positions
from modicum.summaries.sift import Sample, Sift, Sifted

__all__ = ["INSIDE", "Sifting", "WindowPass", "WindowSearch", "fetched"]

_WHOLE = 1 << 20  # records of a whole column that are held: 8 MB
_FEW = 1 << 17  # rows that are not worth a sample by position
INSIDE = 1 << 21  # records of a bracket that are held: 16 MB, twice as much in each further pass
_SORTED_FROM = 8  # most brackets that a chunk is compared with one by one
_FETCHED = 1 << 15  # rows of a sample by position
_SURE = 3.5  # standard deviations of a sample's rank between it and an end of the bracket


class WindowSearch:
    """Narrows a bracket down until the records at wanted positions are known.

    Parameters
    ----------
    ranks : callable
        From the number of records to positions from, to (exclusive).
    whole : tuple of int
        The range: a bracket that holds every record.
    most : int, optional
        Records within the first bracket that may be held.
    bracket : tuple of int, optional
        Where to look first, if not in all of the range.

    Attributes
    ----------
    found : Sifted or None
        Holds the wanted records, once they are known.
    """

    def __init__(
        self,
        ranks: Callable[[int], tuple[int, int]],
        whole: tuple[int, int],
        most: int | None = None,
        bracket: tuple[int, int] | None = None,
    ) -> None:
        self.ranks = ranks
        self.bracket = whole if bracket is None else bracket
        self._whole = whole
        self.most = _WHOLE if most is None else most
        self.found: Sifted | None = None
        self._known: Sample | None = None
        self._sure = _SURE

    def start_from(self, sample: Sample) -> None:
        """Begin with a sample of all records, whose number may be an estimate."""
        self._known = sample
        self.bracket = sample.bracket(*self.ranks(int(sample.size)), _SURE)
        self.most = INSIDE

    def learn(self, sifted: Sifted) -> None:
        """Take in what the bracket holds: it is what is wanted, or there is a new bracket."""
        start, stop = self.ranks(sifted.count)
        if not sifted.covers(start, stop):
            self._sure *= 2
        elif sifted.holds_all:
            self.found = sifted
            return
        else:
            self._known, self._sure = sifted.sample(), _SURE
        # Without a sample the first bracket was too narrow: the rows are not those it came from.
        known = self._known
        self.bracket = self._whole if known is None else known.bracket(start, stop, self._sure)
        # A bracket shrinks towards the window. Doubling ends this even if it does not.
        self.most = max(2 * self.most, 2 * (stop - start), INSIDE)


def fetched(rows: Rows | None, lattice: Lattice) -> Sample | None:
    """Sample rows by position, if there are many and any of them can be fetched.

    The number of records among all rows is an estimate.
    """
    fetchable = None if rows is None else rows.fetchable
    if rows is None or fetchable is None or fetchable.size <= _FEW:
        return None
    positions = distinct_positions(fetchable.size, _FETCHED, rows.entropy)
    values = np.sort(lattice.quantise(fetchable.take(positions)))
    records = fetchable.size * len(values) / _FETCHED
    return Sample(values, records, 0, lattice.first, lattice.last)


class WindowPass:
    """Finds the records at several windows of positions of a column, in shared passes.

    Parameters
    ----------
    windows : sequence of callable
        Each from the number of records to positions from, to (exclusive).
    lattice : Lattice
    rows : Rows or None
        Without them every record is held.
    """

    def __init__(
        self,
        windows: Sequence[Callable[[int], tuple[int, int]]],
        lattice: Lattice,
        rows: Rows | None,
    ) -> None:
        whole = lattice.first, lattice.last
        self._searches = [WindowSearch(ranks, whole) for ranks in windows]
        self._lattice = lattice
        self._rows = rows
        self._sifting: Sifting | None = None

    def update(self, x: NDArray[np.float64]) -> None:
        """Take in one chunk of the first pass."""
        self._started().update(x)

    def _started(self) -> Sifting:
        if self._sifting is None:
            sample = fetched(self._rows, self._lattice)
            for search in self._searches:
                if sample is not None:
                    search.start_from(sample)
            self._sifting = self._next()
        return self._sifting

    def _next(self) -> Sifting:
        entropy = None if self._rows is None else self._rows.entropy
        return Sifting(self._searches, self._lattice, entropy)

    def further(self) -> Accumulator[object] | None:
        """Return the next pass over the column, ``None`` once the windows are known."""
        self._started().learn()
        if all(search.found for search in self._searches):
            return None
        self._sifting = self._next()
        return self._sifting

    def finish(self) -> list[Sifted]:
        """Return what holds the records of each window."""
        while (sifting := self.further()) is not None:
            assert self._rows is not None
            self._rows.feed(sifting)
        return [search.found for search in self._searches if search.found is not None]


class Sifting:
    """One pass for all searches that still look for records."""

    reads = True

    def __init__(
        self, searches: Sequence[WindowSearch], lattice: Lattice, entropy: Entropy | None
    ) -> None:
        self._waiting = [search for search in searches if search.found is None]
        self._sifts: dict[tuple[tuple[int, int], int], Sift] = {}
        for each in self._waiting:
            if (each.bracket, each.most) not in self._sifts:
                sift = Sift(lattice, entropy, each.bracket, each.most)
                self._sifts[each.bracket, each.most] = sift

    def update(self, x: NDArray[np.float64], /) -> None:
        """Sift a chunk; of many brackets, sorting it once is cheaper than comparing with each."""
        for start in range(0, len(x), CHUNK):
            part = x[start : start + CHUNK]
            if len(self._sifts) <= _SORTED_FROM:
                for sift in self._sifts.values():
                    sift.update(part)
            else:
                ordered = np.sort(part)  # NaN comes last
                numbers = len(ordered) - int(np.count_nonzero(np.isnan(ordered)))
                for sift in self._sifts.values():
                    sift.update_sorted(ordered[:numbers])

    def learn(self) -> None:
        """Tell the searches, once, what the pass has found."""
        sifted = {place: sift.finish() for place, sift in self._sifts.items()}
        for search in self._waiting:
            search.learn(sifted[search.bracket, search.most])
        self._waiting = []

    def finish(self) -> None:
        """Nothing is returned: the searches know."""
