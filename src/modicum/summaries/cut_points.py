"""The cut points of a trimmed mean: the records around them, and the sum between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
    exact_sum,
    pack,
)
from modicum.summaries.order_statistics import ranged
from modicum.summaries.sifting import (
    HELD,
    PartWindow,
    Sample,
    Sift,
    Sifted,
    WindowSearch,
    fetched,
)
from modicum.summaries.sums import ClippedSum, ClippedSummary
from modicum.summaries.synthetic import SyntheticTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Found:
    """Number of records, those around both cut points, and the sum between the cut points."""

    count: int
    low: Integers
    high: Integers
    middle: int


class CutsSearch:
    """Narrows two brackets until the records around both cut points are known.

    ``cuts`` maps the number n of records to the two cut points, m and n - m; the records up to
    ``reach`` positions before and after a cut point are wanted. ``most`` records may be held within
    the first brackets, which are the whole range.
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
        """The sum between the brackets, which a pass over them makes too."""
        lower, upper = (side.search.bracket for side in self._sides)
        return ClippedSum(lower[1], max(lower[1], upper[0]))

    def learn(self, sifted: Sequence[Sifted], clipped: ClippedSummary) -> Found | None:
        """Take in what the brackets of ``windows`` hold, and the sum between them.

        Returns ``None`` if there is a new bracket.
        """
        for search, known in zip(self.windows, sifted, strict=True):
            search.learn(known)
        low, high = (side.search.found for side in self._sides)
        return None if low is None or high is None else self._of_brackets(low, high, clipped)

    def of_whole(self, known: Sifted) -> Found:
        n = known.count
        low, high = (known.window(*side.ranks(n)) for side in self._sides)
        if n == 0:
            return Found(0, low, high, 0)
        m, stop = self._cuts(n)
        ends = [int(known.window(at, at + 1)[0]) for at in (m, stop - 1)]
        (inside,) = known.inside.subsamples
        # [trimmed_mean.7] Clipped to the outermost records between the cuts, m on each side are
        # equal to these.
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
        # [trimmed_mean.7] Records between the cuts that were clipped lie in the brackets.
        left = lower.window(m, min(stop, n - lower.above))
        right = upper.window(max(m, upper.below), stop)
        over = exact_sum(np.maximum(right - last, 0)) + exact_sum(np.minimum(left - first, 0))
        return Found(n, low, high, clipped.total - m * (first + last) + over)


class _Side:
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
        cut = self._cuts(count)[self._which]
        return max(0, cut - self._reach), min(count, cut + self._reach)


class CutsPass:
    """Finds the records around the positions ``cuts(n)`` of a column of n records.

    Each cut point has a bracket, as in :class:`~modicum.summaries.sifting.WindowPass`, and the pass
    that sifts the brackets sums the records between them. A column that is small enough is held
    instead. Without ``rows`` every record is held.
    """

    reads = True

    def __init__(self, asked: Cuts, lattice: Lattice, rows: Rows | None) -> None:
        self._asked = asked
        self._search = CutsSearch(asked.cuts, asked.reach, lattice)
        self._lattice, self._rows = lattice, rows
        self._pass: Sift | _Apart | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
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


class _Apart:
    """A pass over the brackets that are not settled, which sums what is between them."""

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
        """Return nothing: :meth:`known` returns what the pass has found."""

    def known(self) -> tuple[list[Sifted], ClippedSummary]:
        return [sift.finish() for sift in self._sifts], self._between.finish()


class _CutsOfParts:
    def __init__(self, asked: Cuts, lattice: Lattice) -> None:
        self._asked = asked
        self._search = CutsSearch(asked.cuts, asked.reach, lattice, HELD)

    def wanted(self) -> list[Reduction[Any]]:
        return [*self._windows(), self._search.between]

    def learn(self, known: Sequence[Any]) -> CutSummary | None:
        *sifted, clipped = known
        if len(sifted) < len(self._search.windows):  # one window for both
            sifted *= 2
        found = self._search.learn(sifted, clipped)
        return None if found is None else self._asked.summary(found)

    def _windows(self) -> list[PartWindow]:
        every = (search.part for search in self._search.windows)
        return list(dict.fromkeys(every))  # the first job brings the whole range, once


@dataclass(frozen=True, slots=True)
class Cuts(Reduction["CutSummary"]):
    """Finds the records near the cut points of n sorted records, and the sum between the points.

    The cut points are the positions m = floor(share n), from 0, and n - m, share in [0, 1/2); near
    means up to ``reach`` >= 1 positions before and after. Passes are as for
    :class:`~modicum.summaries.order_statistics.RankWindow`.
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

    def in_parts(self, lattice: Lattice | None, _more: More) -> PartsSearch:
        return _CutsOfParts(self, ranged(lattice))

    def synthetic(
        self, table: SyntheticTable, _lattice: Lattice | None, entropy: Entropy
    ) -> CutSummary:
        cuts, n, reach = self.cuts(table.rows), table.rows, self.reach
        low, high = (table.at(max(0, cut - reach), min(n, cut + reach), entropy) for cut in cuts)
        return CutSummary(n, low, high, table.between(*cuts).total(), self.share, reach)

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
        return CutSummary(found.count, found.low, found.high, found.middle, self.share, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CutSummary(Sensitive):
    """Sorted records around both cut points of :class:`Cuts`, and the exact sum between these.

    Two of them cannot be merged: which records are near a cut point of the union does not follow
    from those near the cut points of its parts.

    Of n = ``count`` records, ``low`` are at the positions max(0, m - reach) to min(n, m + reach),
    exclusive, and ``high`` the same around n - m, both sorted. ``middle`` is the exact sum of those
    at m to n - m, exclusive. ``share`` and ``reach`` are public; all else is sensitive.
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
        """Return the summary of the negated records."""
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
