"""The records around several ranks, found in the passes of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Rows, Sensitive
from modicum.summaries.ranked import Ranked
from modicum.summaries.sift import Sift, Sifted
from modicum.summaries.window import RankWindow
from modicum.summaries.window_pass import INSIDE, WindowPass, WindowSearch

__all__ = ["RankWindows", "WindowsSummary"]

Sifts = Callable[[tuple[int, int], int], Sifted]
"""One more pass: of a bracket, in which so many records may be held."""


@dataclass(frozen=True, slots=True)
class RankWindows:
    """Ask for the records of several windows, which pass together.

    Attributes
    ----------
    windows : tuple of RankWindow
        At least one, by increasing q.
    """

    windows: tuple[RankWindow, ...]

    def __post_init__(self) -> None:
        if not self.windows:
            raise InvalidArgument("at least one window is needed")

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> _Pass:
        if lattice is None:
            raise InvalidArgument("ranks need a range: lattice must not be None")
        return _Pass(self, lattice, rows)

    def ranks(self, count: int) -> list[tuple[int, int]]:
        """Return the windows as positions from, to (exclusive) among ``count`` sorted records."""
        return [window.ranks(count) for window in self.windows]

    def summary(self, found: Sequence[Sifted], lattice: Lattice, again: Sifts) -> WindowsSummary:
        """Return the summary of all records, after searches that have found these."""
        spans: list[tuple[Sifted, int, int]] = []
        for window, sifted in zip(self.windows, found, strict=True):
            start, stop = window.ranks(sifted.count)
            if spans and spans[-1][0] is sifted and start <= spans[-1][2]:  # they overlap
                _, first, last = spans.pop()
                start, stop = min(first, start), max(last, stop)
            spans.append((sifted, start, stop))
        cells = [sifted.cells(start, stop) for sifted, start, stop in spans]
        return WindowsSummary(found[0].count, Ranked.joined(cells), lattice, again)


class WindowsSummary(Sensitive):
    """Values around several ranks, and where they stand among all records.

    What is not among them is found by another pass over the rows, when it is asked for; with
    generous windows that is rare.

    Parameters
    ----------
    count : int
        Number n of records (sensitive, as all else).
    known : Ranked
        Values in increasing order, with their ranks and ties.
    lattice : Lattice
    again : callable or None
        Makes a pass for what is not known; None if everything is.
    """

    __slots__ = ("_again", "_known", "_lattice", "count")
    public: ClassVar[tuple[str, ...]] = ()

    def __init__(self, count: int, known: Ranked, lattice: Lattice, again: Sifts | None) -> None:
        self.count = count
        self._known = known
        self._lattice = lattice
        self._again = again

    def place(self, value: int) -> tuple[int, int]:
        """Return the number of records below a value, and of those that have it."""
        if not self._lattice.first <= value <= self._lattice.last:
            return (0 if value < self._lattice.first else self.count), 0  # records are clamped
        fewest, most, ties = self._known.around(value, self.count)
        if fewest == most:
            return fewest, ties
        assert self._again is not None
        found = self._again((value, value), INSIDE).place()
        self._learn(Ranked(*(np.array([number]) for number in (value, *found))))
        return found

    def below(self, value: int) -> int:
        """Return the number of records below a value: without a pass at the range's first."""
        return 0 if value <= self._lattice.first else self.place(value)[0]

    def between(self, start: int, stop: int) -> Ranked:
        """Return the values of the records at positions from start to stop (exclusive)."""
        start, stop = max(start, 0), min(stop, self.count)
        found = self._known.between(start, stop)
        if found.covers(start, stop):
            return found
        assert self._again is not None
        search = WindowSearch(
            lambda count: (min(start, count), min(stop, count)),  # rows may be gone
            (self._lattice.first, self._lattice.last),
            INSIDE,
            self._bracket(start, stop),
        )
        while search.found is None:
            search.learn(self._again(search.bracket, search.most))
        self._learn(search.found.cells(*search.ranks(search.found.count)))
        return self._known.between(start, stop)

    def _bracket(self, start: int, stop: int) -> tuple[int, int]:
        """Return the closest known values that hold the positions between them."""
        values, before, ties = self._known
        low = int(np.searchsorted(before, start, side="right")) - 1
        high = int(np.searchsorted(before + ties, stop, side="left"))
        return (
            self._lattice.first if low < 0 else int(values[low]),
            self._lattice.last if high >= len(values) else int(values[high]),
        )

    def _learn(self, more: Ranked) -> None:
        self._known = Ranked.joined([self._known, more])


class _Pass:
    reads = True

    def __init__(self, asked: RankWindows, lattice: Lattice, rows: Rows | None) -> None:
        ranks = [window.ranks for window in asked.windows]
        self._passing = WindowPass(ranks, lattice, rows)
        self._asked = asked
        self._lattice = lattice
        self._rows = rows

    def update(self, x: np.ndarray[tuple[int], np.dtype[np.float64]], /) -> None:
        self._passing.update(x)

    def further(self) -> Accumulator[object] | None:
        return self._passing.further()

    def finish(self) -> WindowsSummary:
        found, rows = self._passing.finish(), self._rows
        if rows is None:
            count = found[0].count
            return WindowsSummary(count, found[0].cells(0, count), self._lattice, None)
        return self._asked.summary(
            found, self._lattice, lambda bracket, most: self._again(rows, bracket, most)
        )

    def _again(self, rows: Rows, bracket: tuple[int, int], most: int) -> Sifted:
        sift = Sift(self._lattice, rows.entropy, bracket, most)
        rows.feed(sift)
        return sift.finish()
