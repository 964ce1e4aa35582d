"""Order statistics: the records around ranks and trim points, and the sum between the latter.

The passes that find them are those of :mod:`modicum.summaries.brackets`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers, More, Reduction, Sensitive, Summary, exact_sum
from modicum.summaries.brackets import (
    INSIDE,
    Bracket,
    BracketSummary,
    Ranked,
    RankReduction,
    RankSearch,
    WindowSearch,
)
from modicum.summaries.sums import ClippedSum
from modicum.summaries.synthetic import SyntheticTable


@dataclass(frozen=True, slots=True)
class RankWindow(RankReduction["WindowSummary"]):
    """Finds the records whose rank is within ``reach`` >= 1 of q n, 0 < q < 1, n being the count.

    See :class:`~modicum.summaries.brackets.RankReduction` for how often it reads a column.
    """

    q: Fraction
    reach: int

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise InvalidArgument(f"q must lie strictly between 0 and 1, got {self.q}")
        if self.reach < 1:
            raise InvalidArgument(f"reach must be at least 1, got {self.reach}")

    def search(self, lattice: Lattice, most: int, _more: More | None) -> RankSearch[WindowSummary]:
        return RankSearch([self.ranks], lattice, most, lambda found: self._summary(*found))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, entropy: Entropy, /
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

    def _summary(self, found: BracketSummary) -> WindowSummary:
        start, stop = self.ranks(found.count)
        return WindowSummary(found.count, start, found.window(start, stop), self.q, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowSummary(Summary):
    """Sorted records at the positions of a :class:`RankWindow`.

    Two of them cannot be merged: which records are near rank q n of the union does not follow from
    those near rank q n of its parts.

    ``count`` is the number n of all records, and ``below`` that of the records before the window.
    ``q`` and ``reach`` are public; all else is sensitive.
    """

    kind: ClassVar[str] = "window"
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


@dataclass(frozen=True, slots=True)
class RankWindows(RankReduction["WindowsSummary"]):
    """Finds the records of several windows, by increasing q, in shared passes."""

    windows: tuple[RankWindow, ...]

    def __post_init__(self) -> None:
        if not self.windows:
            raise InvalidArgument("at least one window is needed")

    def search(self, lattice: Lattice, most: int, more: More | None) -> RankSearch[WindowsSummary]:
        ranks = [window.ranks for window in self.windows]
        return RankSearch(ranks, lattice, most, lambda found: self._summary(found, lattice, more))

    def synthetic(self, table: SyntheticTable, *_: object) -> _SyntheticRanks:
        return _SyntheticRanks(table, self.ranks(table.rows))

    def ranks(self, count: int) -> list[tuple[int, int]]:
        return [window.ranks(count) for window in self.windows]

    def _summary(
        self, found: Sequence[BracketSummary], lattice: Lattice, more: More | None
    ) -> WindowsSummary:
        count = found[0].count
        if more is None:  # every record is known
            return WindowsSummary(count, found[0].ranked(0, count), lattice, None)
        spans: list[tuple[BracketSummary, int, int]] = []
        for window, there in zip(self.windows, found, strict=True):
            start, stop = window.ranks(count)
            if spans and spans[-1][0] is there and start <= spans[-1][2]:  # they overlap
                _, first, last = spans.pop()
                start, stop = min(first, start), max(last, stop)
            spans.append((there, start, stop))
        known = [there.ranked(start, stop) for there, start, stop in spans]
        return WindowsSummary(count, Ranked.joined(known), lattice, more)


class WindowsSummary(Sensitive):
    """Values around several ranks, and where they stand among all records; sensitive.

    ``known`` holds values with their ranks and ties. What is not among them is found by another
    pass over the rows when it is needed, by ``more`` (``None`` if everything is known); with
    generous windows that is rare.
    """

    __slots__ = ("_known", "_lattice", "_more", "count")

    def __init__(self, count: int, known: Ranked, lattice: Lattice, more: More | None) -> None:
        self.count = count
        self._known = known
        self._lattice = lattice
        self._more = more

    def place(self, value: int) -> tuple[int, int]:
        """Return the number of records below a value, and of those that have it."""
        if not self._lattice.first <= value <= self._lattice.last:
            return (0 if value < self._lattice.first else self.count), 0  # records are clamped
        least, most, ties = self._known.around(value, self.count)
        if least == most:
            return least, ties
        found = self._read(Bracket(value, value, INSIDE)).place()
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
        search = WindowSearch(
            lambda count: (min(start, count), min(stop, count)),  # rows may be gone
            (self._lattice.first, self._lattice.last),
            INSIDE,
            self._bracket(start, stop),
        )
        while search.found is None:
            search.learn(self._read(search.bracket))
        self._learn(search.found.ranked(*search.ranks(search.found.count)))
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

    def _read(self, bracket: Bracket) -> BracketSummary:
        assert self._more is not None
        seen: BracketSummary = self._more(bracket, None)
        return seen

    def _learn(self, found: Ranked) -> None:
        self._known = Ranked.joined([self._known, found])


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
        least, most, ties = self._known.around(value, self.count)
        below = int(self._table.weights[: np.searchsorted(self._table.q, value)].sum())
        return min(max(below, least), most), ties

    def below(self, value: int) -> int:
        return self.place(value)[0]

    def between(self, start: int, stop: int) -> Ranked:
        return self._known.between(start, stop)


@dataclass(frozen=True, slots=True)
class TrimPoints(RankReduction["TrimSummary"]):
    """Finds the records near the trim points of n sorted records, and the sum between the points.

    The trim points are the positions m = floor(share n), from 0, and n - m, share in [0, 1/2); near
    means up to ``reach`` >= 1 positions before and after. See
    :class:`~modicum.summaries.brackets.RankReduction` for how often it reads a column.
    """

    share: Fraction
    reach: int

    def __post_init__(self) -> None:
        if not 0 <= self.share < Fraction(1, 2):
            raise InvalidArgument(f"share must lie in [0, 1/2), got {self.share}")
        if self.reach < 1:
            raise InvalidArgument(f"reach must be at least 1, got {self.reach}")

    def search(self, lattice: Lattice, most: int, _more: More | None) -> RankSearch[TrimSummary]:
        return _TrimSearch(self, lattice, most)

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, entropy: Entropy, /
    ) -> TrimSummary:
        n = table.rows
        low, high = (table.at(*self.window(side, n), entropy) for side in (0, 1))
        middle = table.between(*self.points(n)).total()
        return TrimSummary(n, low, high, middle, self.share, self.reach)

    def points(self, count: int) -> tuple[int, int]:
        """Return the trim points of ``count`` records.

        Examples
        --------
        >>> TrimPoints(Fraction(1, 10), 5).points(99), TrimPoints(Fraction(0), 5).points(99)
        ((9, 90), (0, 99))
        """
        lower = trimmed_of(self.share, count)
        return lower, count - lower

    def window(self, side: int, count: int) -> tuple[int, int]:
        """Return positions from, to (exclusive) around the lower (0) or the upper point (1)."""
        point = self.points(count)[side]
        return max(0, point - self.reach), min(count, point + self.reach)


def trimmed_of(share: Fraction, count: int) -> int:
    """Return how many of ``count`` records are trimmed on a side."""
    return count * share.numerator // share.denominator


class _TrimSearch(RankSearch["TrimSummary"]):
    """Narrows the brackets of both trim points, and sums the records between the brackets."""

    def __init__(self, asked: TrimPoints, lattice: Lattice, most: int) -> None:
        windows = [partial(asked.window, side) for side in (0, 1)]
        super().__init__(windows, lattice, most, lambda found: self._trimmed(*found))
        self._asked = asked
        self._between = 0

    def wanted(self) -> list[Reduction[Any]]:
        lower, upper = (each.bracket for each in self.searches)
        between = [ClippedSum(lower.hi, upper.lo)] if lower.hi < upper.lo else []
        return [*self._brackets(), *between]

    def learn(self, known: Sequence[Any]) -> TrimSummary | None:
        brackets = len(self._brackets())
        for clipped in known[brackets:]:
            self._between = clipped.total
        return super().learn(known[:brackets])

    def _trimmed(self, lower: BracketSummary, upper: BracketSummary) -> TrimSummary:
        n, asked = lower.count, self._asked
        m, stop = asked.points(n)
        (start, _), (other, _) = windows = [asked.window(side, n) for side in (0, 1)]
        low, high = (at.window(*each) for at, each in zip((lower, upper), windows, strict=True))
        if n and lower is upper:
            middle = _sum_of_one(lower, m, int(low[m - start]), int(high[stop - 1 - other]))
        else:
            middle = self._sum_of_two(lower, upper, m, stop)
        return TrimSummary(n, low, high, middle, asked.share, asked.reach)

    def _sum_of_two(self, lower: BracketSummary, upper: BracketSummary, m: int, stop: int) -> int:
        """Sum the records at positions m to stop = n - m, exclusive."""
        n = lower.count
        first, last = lower.hi, max(lower.hi, upper.lo)
        # [trimmed_mean.7] Clipped to the inner ends of the brackets, m records on each side are
        # equal to these. Records between the trim points that were clipped lie in the brackets.
        clipped = self._between if first < last else n * first
        left = lower.unsorted(m, min(stop, n - lower.above))
        right = upper.unsorted(max(m, upper.below), stop)
        over = exact_sum(np.maximum(right - last, 0)) + exact_sum(np.minimum(left - first, 0))
        return clipped - m * (first + last) + over


def _sum_of_one(seen: BracketSummary, m: int, first: int, last: int) -> int:
    """Sum all but m records on each side; ``first`` and ``last`` are the outermost others.

    Clipped to these, m records on each side are equal to them.
    """
    outside = (seen.below + seen.on_lo) * first + (seen.on_hi + seen.above) * last
    return exact_sum(np.clip(seen.inside, first, last)) + outside - m * (first + last)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrimSummary(Summary):
    """Sorted records around both :class:`TrimPoints`, and the exact sum between these.

    Two of them cannot be merged: which records are near a trim point of the union does not follow
    from those near the trim points of its parts.

    Of n = ``count`` records, ``low`` are at the positions max(0, m - reach) to min(n, m + reach),
    exclusive, and ``high`` the same around n - m, both sorted. ``middle`` is the exact sum of those
    at m to n - m, exclusive. ``share`` and ``reach`` are public; all else is sensitive.
    """

    kind: ClassVar[str] = "trim-points"
    public: ClassVar[tuple[str, ...]] = ("share", "reach")

    count: int
    low: Integers
    high: Integers
    middle: int
    share: Fraction
    reach: int

    def trimmed(self, count: int) -> int:
        """Number of records below the lower trim point of ``count`` records."""
        return trimmed_of(self.share, count)

    def mirrored(self) -> TrimSummary:
        """Return the summary of the negated records."""
        return TrimSummary(
            self.count, -self.high[::-1], -self.low[::-1], -self.middle, self.share, self.reach
        )
