"""Order statistics: the records around ranks.

The passes that find them are those of :mod:`modicum.summaries.sifting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import (
    Fields,
    Integers,
    More,
    PartsSearch,
    Reduction,
    Rows,
    Sensitive,
    pack,
)
from modicum.summaries.sifting import (
    HELD,
    INSIDE,
    PartWindow,
    Ranked,
    Sift,
    Sifted,
    WindowPass,
    WindowSearch,
)
from modicum.summaries.synthetic import SyntheticTable


@dataclass(frozen=True, slots=True)
class RankWindow(Reduction["WindowSummary"]):
    """Finds the records whose rank is within ``reach`` >= 1 of q n, 0 < q < 1, n being the count.

    One pass is enough for up to 10^6 rows, and where rows can be fetched by their position; longer
    streams take two. Beyond 10^8 rows, and once in a thousand times, it takes one more. See
    [quantile.7].
    """

    q: Fraction
    reach: int

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise InvalidArgument(f"q must lie strictly between 0 and 1, got {self.q}")
        if self.reach < 1:
            raise InvalidArgument(f"reach must be at least 1, got {self.reach}")

    def begin(
        self, lattice: Lattice | None, rows: Rows | None = None, /
    ) -> WindowPass[WindowSummary]:
        return WindowPass([self.ranks], ranged(lattice), rows, lambda found: self.summary(*found))

    def in_parts(self, lattice: Lattice | None, _more: More) -> PartsSearch:
        return _WindowsOfParts((self,), ranged(lattice), lambda found: self.summary(*found))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, entropy: Entropy
    ) -> WindowSummary:
        start, stop = self.ranks(table.rows)
        values = table.at(start, stop, entropy)
        return WindowSummary(table.rows, start, values, self.q, self.reach)

    def ranks(self, count: int) -> tuple[int, int]:
        """Return the window as positions from, to (exclusive) among ``count`` sorted records.

        Examples
        --------
        >>> RankWindow(Fraction(9, 10), 3).ranks(100), RankWindow(Fraction(9, 10), 3).ranks(3)
        ((87, 94), (0, 3))
        """
        centre = count * self.q.numerator // self.q.denominator
        return max(0, centre - self.reach), min(count, centre + self.reach + 1)

    def summary(self, found: Sifted) -> WindowSummary:
        start, stop = self.ranks(found.count)
        return WindowSummary(found.count, start, found.window(start, stop), self.q, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowSummary(Sensitive):
    """Sorted records at the positions of a :class:`RankWindow`.

    Two of them cannot be merged: which records are near rank q n of the union does not follow from
    those near rank q n of its parts.

    ``count`` is the number n of all records, and ``below`` that of the records before the window.
    ``q`` and ``reach`` are public; all else is sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("q", "reach")

    count: int
    below: int
    values: Integers
    q: Fraction
    reach: int

    def mirrored(self) -> WindowSummary:
        """Return the summary of the negated records, for 1 - q."""
        above = self.count - self.below - len(self.values)
        return WindowSummary(self.count, above, -self.values[::-1], 1 - self.q, self.reach)

    def to_bytes(self) -> bytes:
        numbers = (self.q.numerator, self.q.denominator, self.reach, self.count, self.below)
        return pack("window", *numbers, self.values)

    @classmethod
    def from_bytes(cls, data: bytes) -> WindowSummary:
        fields = Fields("window", data)
        numerator, denominator, reach, count, below = (fields.integer() for _ in range(5))
        values = fields.array()
        fields.end()
        return cls(count, below, values, Fraction(numerator, denominator), reach)


def ranged(lattice: Lattice | None) -> Lattice:
    """Return the lattice, without which there are no ranks."""
    if lattice is None:
        raise InvalidArgument("ranks need a range: lattice must not be None")
    return lattice


Sifts = Callable[[tuple[int, int], int], Sifted]
"""One more pass: of a bracket, in which so many records may be held."""


@dataclass(frozen=True, slots=True)
class RankWindows(Reduction["WindowsSummary"]):
    """Finds the records of several windows, by increasing q, in shared passes."""

    windows: tuple[RankWindow, ...]

    def __post_init__(self) -> None:
        if not self.windows:
            raise InvalidArgument("at least one window is needed")

    def begin(
        self, lattice: Lattice | None, rows: Rows | None = None, /
    ) -> WindowPass[WindowsSummary]:
        known = ranged(lattice)

        def again(bracket: tuple[int, int], most: int) -> Sifted:
            assert rows is not None
            sift = Sift(known, rows.entropy, bracket, most)
            rows.feed(sift)
            return sift.finish()

        def summary(found: list[Sifted]) -> WindowsSummary:
            if rows is not None:
                return self.summary(found, known, again)
            count = found[0].count  # every record is held
            return WindowsSummary(count, found[0].cells(0, count), known, None)

        return WindowPass([window.ranks for window in self.windows], known, rows, summary)

    def in_parts(self, lattice: Lattice | None, more: More) -> PartsSearch:
        known = ranged(lattice)

        def again(bracket: tuple[int, int], most: int) -> Sifted:
            sifted: Sifted = more(PartWindow(*bracket, most), None)
            return sifted

        return _WindowsOfParts(self.windows, known, lambda found: self.summary(found, known, again))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy
    ) -> _SyntheticRanks:
        return _SyntheticRanks(table, self.ranks(table.rows))

    def ranks(self, count: int) -> list[tuple[int, int]]:
        return [window.ranks(count) for window in self.windows]

    def summary(self, found: Sequence[Sifted], lattice: Lattice, again: Sifts) -> WindowsSummary:
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
    """Values around several ranks, and where they stand among all records; sensitive.

    ``known`` holds values with their ranks and ties. What is not among them is found by another
    pass over the rows when it is needed, by ``again`` (``None`` if everything is known); with
    generous windows that is rare.
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
        """Return the number of records below a value; at the range's first value without a pass."""
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


class _SyntheticRanks:
    """Records around several ranks of a synthetic table; between them ranks are interpolated."""

    def __init__(self, table: SyntheticTable, ranks: list[tuple[int, int]]) -> None:
        self.count = table.rows
        self._table = table
        spans: list[tuple[int, int]] = []
        for start, stop in ranks:  # they overlap, or follow each other
            if spans and start <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(spans[-1][1], stop)
            else:
                spans.append((start, stop))
        parts = []
        for start, stop in spans:
            values, first, ties = np.unique(
                table.at(start, stop, None), return_index=True, return_counts=True
            )
            parts.append(Ranked(values, first + start, ties))
        self._known = Ranked.joined(parts)

    def place(self, value: int) -> tuple[int, int]:
        """Return about how many records lie below a value, and how many have it."""
        fewest, most, ties = self._known.around(value, self.count)
        below = int(self._table.weights[: np.searchsorted(self._table.q, value)].sum())
        return min(max(below, fewest), most), ties

    def below(self, value: int) -> int:
        return self.place(value)[0]

    def between(self, start: int, stop: int) -> Ranked:
        return self._known.between(start, stop)


class _WindowsOfParts:
    def __init__(
        self,
        windows: Sequence[RankWindow],
        lattice: Lattice,
        summary: Callable[[list[Sifted]], Any],
    ) -> None:
        whole = lattice.first, lattice.last
        self._searches = [WindowSearch(each.ranks, whole, HELD) for each in windows]
        self._summary = summary

    def wanted(self) -> list[Reduction[Any]]:
        # They begin with one bracket.
        return list(dict.fromkeys(search.part for search in self._waiting()))

    def learn(self, known: Sequence[Any]) -> Any:
        answers = dict(zip(self.wanted(), known, strict=True))
        parts = [(each, each.part) for each in self._waiting()]
        for search, part in parts:
            search.learn(answers[part])
        found = [each.found for each in self._searches if each.found is not None]
        return self._summary(found) if len(found) == len(self._searches) else None

    def _waiting(self) -> list[WindowSearch]:
        return [each for each in self._searches if each.found is None]
