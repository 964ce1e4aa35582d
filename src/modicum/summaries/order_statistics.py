"""Order statistics: the records around ranks, and around the cut points of a trimmed mean.

The passes that find them are those of :mod:`modicum.summaries.sifting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, exact_sum, pack
from modicum.summaries.sifting import (
    INSIDE,
    Ranked,
    Sample,
    Sift,
    Sifted,
    WindowPass,
    WindowSearch,
    fetched,
)
from modicum.summaries.sums import ClippedSum, ClippedSummary

__all__ = [
    "CutSummary",
    "Cuts",
    "CutsPass",
    "CutsSearch",
    "Found",
    "RankWindow",
    "RankWindows",
    "WindowSummary",
    "WindowsSummary",
]


@dataclass(frozen=True, slots=True)
class RankWindow:
    """Ask for the records whose rank is within ``reach`` of q n, and for the number n of all.

    Up to 10^6 rows, and where rows can be fetched by their position, one pass is enough; long
    streams take two. Beyond 10^8 rows, and once in a thousand times, it takes one more.

    Attributes
    ----------
    q : Fraction
        In (0, 1).
    reach : int
        At least 1.
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
        """Return the summary of all records, after a search that has found these."""
        start, stop = self.ranks(found.count)
        return WindowSummary(found.count, start, found.window(start, stop), self.q, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowSummary(Sensitive):
    """Sorted records at the positions of a :class:`RankWindow`.

    Two of them cannot be merged: which records are near rank q n of the union does not follow
    from those near rank q n of its parts.

    Attributes
    ----------
    count : int
        Number n of records.
    below : int
        Number of records before the window.
    values : sorted int64 array
        The window.
    q, reach
        Public; all else is sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("q", "reach")

    count: int
    below: int
    values: Integers
    q: Fraction
    reach: int

    def mirrored(self) -> WindowSummary:
        """Return the same of the negated records, for 1 - q."""
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Found:
    """Number of records, those around both cut points, and the sum between these."""

    count: int
    low: Integers
    high: Integers
    middle: int


class CutsSearch:
    """Narrows two brackets down until the records around both cut points are known.

    Parameters
    ----------
    cuts : callable
        From the number of records to the two cut points, m and n - m.
    reach : int
        Positions before and after a cut point that are wanted.
    lattice : Lattice
    most : int, optional
        Records within the first brackets, the whole range, that may be held.
    """

    def __init__(
        self,
        cuts: Callable[[int], tuple[int, int]],
        reach: int,
        lattice: Lattice,
        most: int | None = None,
    ) -> None:
        self._cuts = cuts
        self._sides = tuple(_Side(cuts, i, reach, lattice, most) for i in (0, 1))

    def start_from(self, sample: Sample) -> None:
        """Begin with a sample of all records, whose number may be an estimate."""
        for side in self._sides:
            side.search.start_from(sample)

    @property
    def windows(self) -> list[WindowSearch]:
        """The searches of the cut points that are not settled yet."""
        return [side.search for side in self._sides if side.search.found is None]

    @property
    def between(self) -> ClippedSum:
        """What else is wanted of a pass over the brackets."""
        lower, upper = (side.search.bracket for side in self._sides)
        return ClippedSum(lower[1], max(lower[1], upper[0]))

    def learn(self, sifted: Sequence[Sifted], clipped: ClippedSummary) -> Found | None:
        """Take in what the brackets of ``windows`` hold, and the sum between them.

        ``None`` if there is a new bracket.
        """
        for search, known in zip(self.windows, sifted, strict=True):
            search.learn(known)
        low, high = (side.search.found for side in self._sides)
        return None if low is None or high is None else self._of_brackets(low, high, clipped)

    def of_whole(self, known: Sifted) -> Found:
        """Return what is wanted of a bracket that holds every record."""
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
        first, last = lower.hi, max(lower.hi, upper.lo)
        # [c2] Records between the cuts that were clipped lie in the brackets.
        left = lower.window(m, min(stop, n - lower.above))
        right = upper.window(max(m, upper.below), stop)
        over = exact_sum(np.maximum(right - last, 0)) + exact_sum(np.minimum(left - first, 0))
        return Found(n, low, high, clipped.total - m * (first + last) + over)


class CutsPass:
    """Finds the records around the positions ``cuts(n)`` of a column of n records.

    Each cut point has a bracket, as in :class:`~modicum.summaries.sifting.WindowPass`, and the
    records between the brackets are summed in the pass that sifts the brackets. A column that is
    small enough is held instead. Without ``rows`` every record is held.
    """

    reads = True

    def __init__(self, asked: Cuts, lattice: Lattice, rows: Rows | None) -> None:
        self._asked = asked
        self._search = CutsSearch(asked.cuts, asked.reach, lattice)
        self._lattice, self._rows = lattice, rows
        self._pass: Sift | _Apart | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
        """Take in one chunk of the first pass."""
        if self._pass is None:
            self._pass = self._start()
        self._pass.update(x)

    def _start(self) -> Sift | _Apart:
        sample = fetched(self._rows, self._lattice)
        if sample is None or self._rows is None:
            entropy = None if self._rows is None else self._rows.entropy
            search = self._search.windows[0]
            return Sift(self._lattice, entropy, search.bracket, search.most)
        self._search.start_from(sample)
        return _Apart(self._search, self._lattice, self._rows)

    def finish(self) -> CutSummary:
        """Return what was wanted, after more passes if need be."""
        return self._asked.summary(self._found())

    def _found(self) -> Found:
        passing = self._pass if self._pass is not None else self._start()
        if isinstance(passing, Sift):
            known = passing.finish()
            if known.holds_all:
                return self._search.of_whole(known)
            self._search.start_from(known.sample())
            passing = self._again()
        while (found := self._search.learn(*passing.known())) is None:
            passing = self._again()
        return found

    def _again(self) -> _Apart:
        assert self._rows is not None
        passing = _Apart(self._search, self._lattice, self._rows)
        self._rows.feed(passing)
        return passing


class _Side:
    """One cut point and its search."""

    def __init__(
        self,
        cuts: Callable[[int], tuple[int, int]],
        which: int,
        reach: int,
        lattice: Lattice,
        most: int | None,
    ) -> None:
        self._cuts, self._which, self._reach = cuts, which, reach
        self.search = WindowSearch(self.ranks, (lattice.first, lattice.last), most)

    def ranks(self, count: int) -> tuple[int, int]:
        """Positions from, to (exclusive)."""
        cut = self._cuts(count)[self._which]
        return max(0, cut - self._reach), min(count, cut + self._reach)


class _Apart:
    """A pass over the brackets that are not settled, and the sum between them."""

    reads = True

    def __init__(self, search: CutsSearch, lattice: Lattice, rows: Rows) -> None:
        self._sifts = [
            Sift(lattice, rows.entropy, window.bracket, window.most) for window in search.windows
        ]
        self._between = search.between.begin(lattice)

    def update(self, x: NDArray[np.float64], /) -> None:
        for sift in self._sifts:
            sift.update(x)
        self._between.update(x)

    def finish(self) -> None:
        """Nothing is returned: the pass is asked for what it knows."""

    def known(self) -> tuple[list[Sifted], ClippedSummary]:
        return [sift.finish() for sift in self._sifts], self._between.finish()


@dataclass(frozen=True, slots=True)
class Cuts:
    """Ask for the records near the cut points of n sorted records, and the sum between these.

    The cut points are the positions m = floor(share n), from 0, and n - m; near means up to
    ``reach`` positions before and after. Passes are as for
    :class:`~modicum.summaries.order_statistics.RankWindow`.

    Attributes
    ----------
    share : Fraction
        In [0, 1/2).
    reach : int
        At least 1.
    """

    share: Fraction
    reach: int

    def __post_init__(self) -> None:
        if not 0 <= self.share < Fraction(1, 2):
            raise InvalidArgument(f"share must lie in [0, 1/2), got {self.share}")
        if self.reach < 1:
            raise InvalidArgument(f"reach must be at least 1, got {self.reach}")

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> CutsPass:
        return CutsPass(self, ranged(lattice), rows)

    def cuts(self, count: int) -> tuple[int, int]:
        """Return the cut points of ``count`` records.

        Examples
        --------
        >>> Cuts(Fraction(1, 10), 5).cuts(99), Cuts(Fraction(0), 5).cuts(99)
        ((9, 90), (0, 99))
        """
        lower = count * self.share.numerator // self.share.denominator
        return lower, count - lower

    def summary(self, found: Found) -> CutSummary:
        """Return what was found as a summary."""
        return CutSummary(found.count, found.low, found.high, found.middle, self.share, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CutSummary(Sensitive):
    """Sorted records around both cut points of :class:`Cuts`, and the exact sum between these.

    Two of them cannot be merged: which records are near a cut point of the union does not follow
    from those near the cut points of its parts.

    Attributes
    ----------
    count : int
        Number n of records.
    low, high : sorted int64 arrays
        Records at the positions max(0, m - reach) to min(n, m + reach), exclusive, and the same
        around n - m.
    middle : int
        Exact sum of the records at the positions m to n - m, exclusive.
    share, reach
        Public; all else is sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("share", "reach")

    count: int
    low: Integers
    high: Integers
    middle: int
    share: Fraction
    reach: int

    def cut(self, count: int) -> int:
        """Number of records before the lower cut point of ``count`` records."""
        return Cuts(self.share, self.reach).cuts(count)[0]

    def mirrored(self) -> CutSummary:
        """Return the same of the negated records."""
        return CutSummary(
            self.count, -self.high[::-1], -self.low[::-1], -self.middle, self.share, self.reach
        )

    def to_bytes(self) -> bytes:
        public = (self.share.numerator, self.share.denominator, self.reach)
        return pack("cuts", *public, self.count, self.middle, self.low, self.high)

    @classmethod
    def from_bytes(cls, data: bytes) -> CutSummary:
        fields = Fields("cuts", data)
        numerator, denominator, reach, count, middle = (fields.integer() for _ in range(5))
        low, high = fields.array(), fields.array()
        fields.end()
        return cls(count, low, high, middle, Fraction(numerator, denominator), reach)
