"""Records near wanted positions among the sorted ones, without sorting or keeping the others.

A pass collects the records in a bracket and counts those below and above it. Parts are read apart
and merged. If too many records lie inside to keep them all, a uniform sample of them takes their
place, and a narrower bracket follows from it; a search repeats this until the wanted positions are
known.

Whatever a sample says, the result is exact. A pass counts the records below and above its bracket,
so it knows whether the wanted ranks lie inside; if they do not, the bracket is widened and the
column is read again. The sample decides only how often that happens.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries import base
from modicum.summaries.base import Integers
from modicum.summaries.subsample import ChosenRows, SubsamplePass, distinct_positions

T = TypeVar("T")
Floats = NDArray[np.float64]


class Ranked(NamedTuple):
    """Different values in increasing order, and where they stand among all records.

    For each value, ``before`` is the number of records below it and ``ties`` the number of records
    that have it, 0 for a value that was looked up and is no record's.
    """

    values: Integers
    before: Integers
    ties: Integers

    def __repr__(self) -> str:
        """Return the name only: the values are data."""
        return "Ranked()"

    @classmethod
    def joined(cls, parts: Sequence[Ranked]) -> Ranked:
        if len(parts) == 1:
            return parts[0]
        values, places = np.unique(
            np.concatenate([part.values for part in parts]), return_index=True
        )
        before = np.concatenate([part.before for part in parts])[places]
        ties = np.concatenate([part.ties for part in parts])[places]
        return cls(values, before, ties)

    def between(self, start: int, stop: int) -> Ranked:
        """Return the values of which a record is at a position from start to stop (exclusive)."""
        # Records at a value end where the next begins, or before: only one can go on past start.
        first = int(np.searchsorted(self.before, start, side="right"))
        if first and self.before[first - 1] + self.ties[first - 1] > start:
            first -= 1
        last = int(np.searchsorted(self.before, stop, side="left"))
        values, before, ties = (column[first:last] for column in self)
        if (taken := ties > 0).all():
            return Ranked(values, before, ties)
        return Ranked(values[taken], before[taken], ties[taken])

    def around(self, value: int, count: int) -> tuple[int, int, int]:
        """Return bounds on the number of records below a value, of ``count``, and its ties.

        If both bounds are equal, the number of ties is exact.
        """
        i = int(np.searchsorted(self.values, value))
        if i < len(self.values):
            below = int(self.before[i])
            if self.values[i] == value:
                return below, below, int(self.ties[i])
        else:
            below = count
        return (int(self.before[i - 1] + self.ties[i - 1]) if i else 0), below, 0

    def covers(self, start: int, stop: int) -> bool:
        """Whether each position from start to stop (exclusive) is that of one of these values."""
        if start >= stop:
            return True
        if not len(self.values):
            return False
        ends = self.before + self.ties
        joined = bool((self.before[1:] == ends[:-1]).all())
        return joined and int(self.before[0]) <= start and stop <= int(ends[-1])


@dataclass(frozen=True, slots=True, repr=False)
class Sample:
    """Sorted records, a uniform sample of the ``size`` records strictly between two integers.

    ``before`` is the number of records up to and including ``lo``.
    """

    values: Integers
    size: float
    before: int
    lo: int
    hi: int

    def bracket(self, start: int, stop: int, sure: float) -> tuple[int, int]:
        """Return integers that hold the positions from start to stop (exclusive) between them.

        The number of sampled records up to a position p of ``size`` has a standard deviation of
        at most sqrt(m f (1 - f)), f = p / size, where m are sampled. See [quantile.15].
        """
        m = len(self.values)

        def place(position: int, sign: int) -> float:
            share = min(max((position - self.before) / max(self.size, 1.0), 0.0), 1.0)
            return m * share + sign * (sure * math.sqrt(m * share * (1 - share)) + sure)

        low, high = math.floor(place(start, -1)), math.ceil(place(stop, 1))
        return (
            self.lo if low < 0 else int(self.values[low]),
            self.hi if high >= m else int(self.values[high]),
        )


@dataclass(frozen=True, slots=True)
class Bracket(base.Reduction["BracketSummary"]):
    """Collects the records in [lo, hi]: all of them, or a sample if they are more than ``most``.

    The bracket follows from random samples, and reveals about the data what they do. See
    [quantile.17]. Without randomness all records are kept.
    """

    secret = True

    lo: int
    hi: int
    most: int

    def begin(self, lattice: Lattice | None, rows: base.Rows | None = None, /) -> BracketPass:
        entropy = None if rows is None else rows.entropy
        return BracketPass(self, base.ranged(lattice, "ranks need"), entropy)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BracketSummary(base.Summary):
    """The records of one part of the data, by their place relative to a :class:`Bracket`.

    The numbers of records are sensitive; if lo equals hi, the records there count as ``on_lo``. Of
    the ``records`` strictly inside, ``inside`` are all at level 0, else a uniform sample.
    """

    kind: ClassVar[str] = "bracket"
    public: ClassVar[tuple[str, ...]] = ("lo", "hi", "most")

    lo: int
    hi: int
    most: int
    below: int
    on_lo: int
    on_hi: int
    above: int
    level: int
    records: int
    inside: Integers

    @property
    def count(self) -> int:
        return self.below + self.on_lo + self.records + self.on_hi + self.above

    def covers(self, start: int, stop: int) -> bool:
        """Whether the records at positions from start to stop (exclusive) lie in the bracket."""
        return self.below <= start and stop <= self.count - self.above

    @property
    def holds_all(self) -> bool:
        """Whether every record of the bracket is known."""
        return self.level == 0

    def sample(self) -> Sample:
        before = self.below + self.on_lo
        return Sample(np.sort(self.inside), self.records, before, self.lo, self.hi)

    def place(self) -> tuple[int, int]:
        """Return the number of records below the bracket, and of those at its lower end."""
        return self.below, self.on_lo

    def ranked(self, start: int, stop: int) -> Ranked:
        """Return the values at covered positions from start to stop (exclusive), and their ranks.

        All records of a value are counted, those outside the positions too.
        """
        before = self.below + self.on_lo
        inner = np.sort(self._strictly_inside(start, stop))
        values, below, ties = (np.empty(0, dtype=np.int64) for _ in range(3))
        if len(inner):
            heads = np.flatnonzero(np.append(True, inner[1:] != inner[:-1]))
            values, below = inner[heads], heads + max(start, before)
            ties = np.diff(heads, append=len(inner))
            # Those equal to the two ends may also lie outside the positions.
            for place in {0, len(values) - 1}:
                below[place] = before + int(np.count_nonzero(self.inside < values[place]))
                ties[place] = int(np.count_nonzero(self.inside == values[place]))
        if start < before and start < stop:
            values, below = np.append(self.lo, values), np.append(self.below, below)
            ties = np.append(self.on_lo, ties)
        if stop > before + len(self.inside) and start < stop:
            values, below = np.append(values, self.hi), np.append(below, before + len(self.inside))
            ties = np.append(ties, self.on_hi)
        return Ranked(values.astype(np.int64), below.astype(np.int64), ties.astype(np.int64))

    def window(self, start: int, stop: int) -> Integers:
        """Return the records at covered positions from start to stop (exclusive), sorted."""
        return np.sort(self.unsorted(start, stop))

    def unsorted(self, start: int, stop: int) -> Integers:
        """Return the records at covered positions from start to stop (exclusive)."""
        inner = self._strictly_inside(start, stop)
        lows = min(max(self.below + self.on_lo - start, 0), stop - start)
        highs = stop - start - lows - len(inner)
        return np.concatenate([np.full(lows, self.lo), inner, np.full(highs, self.hi)])

    def _strictly_inside(self, start: int, stop: int) -> Integers:
        before = self.below + self.on_lo
        first, last = (min(max(p - before, 0), len(self.inside)) for p in (start, stop))
        if 0 < last - first < len(self.inside):
            return np.partition(self.inside, sorted({first, last - 1}))[first:last]
        return self.inside[first:last]

    def joined(self, other: BracketSummary, entropy: Entropy) -> BracketSummary:
        """Return the same of both parts; the records inside are sampled if they are too many."""
        self._check_same(other)
        level, records = 0, self.records + other.records
        if self.level == other.level == 0 and records <= self.most:
            inside = np.concatenate([self.inside, other.inside])
        else:
            one, two = (ChosenRows(x.level, x.records, (x.inside,)) for x in (self, other))
            chosen = one.joined(two, entropy)
            level, (inside,) = chosen.level, chosen.subsamples
        return BracketSummary(
            self.lo,
            self.hi,
            self.most,
            self.below + other.below,
            self.on_lo + other.on_lo,
            self.on_hi + other.on_hi,
            self.above + other.above,
            level,
            records,
            inside,
        )


class BracketPass(base.Accumulator[BracketSummary]):
    """Collects the records in a bracket and counts the others.

    Records on an end of the bracket are counted only, so that no number of ties needs memory. If
    more lie strictly inside than may be kept, a uniform sample takes their place; without entropy
    all are kept.
    """

    def __init__(self, asked: Bracket, lattice: Lattice, entropy: Entropy | None) -> None:
        self._read, self._lattice = lattice.read, lattice.numbers
        self._asked, self._entropy = asked, entropy
        # One step more on each side than is rounded into the bracket; what is beyond the range
        # is clamped to its ends.
        self._floor = -np.inf if asked.lo <= lattice.first else (asked.lo - 1) * lattice.step
        self._ceiling = np.inf if asked.hi >= lattice.last else (asked.hi + 1) * lattice.step
        self._below = self._above = self._on_lo = self._on_hi = self._records = 0
        self._kept: list[Integers] = []
        self._sampler: SubsamplePass | None = None

    def update(self, x: Floats, /) -> None:
        for start in range(0, len(x), base.CHUNK):
            part = self._read(x[start : start + base.CHUNK])
            from_floor, up_to_ceiling = part >= self._floor, part <= self._ceiling
            # NaN is neither, every number is one of them.
            numbers = np.count_nonzero(from_floor), np.count_nonzero(up_to_ceiling)
            inside = np.flatnonzero(np.logical_and(from_floor, up_to_ceiling, out=from_floor))
            self._above += int(numbers[0]) - len(inside)
            self._below += int(numbers[1]) - len(inside)
            if len(inside):
                self._take(self._lattice.quantise(part[inside]))

    def update_sorted(self, x: Floats) -> None:
        """Take in a sorted chunk without NaN."""
        x = self._read(x)
        start = int(np.searchsorted(x, self._floor, side="left"))
        stop = int(np.searchsorted(x, self._ceiling, side="right"))
        self._below += start
        self._above += len(x) - stop
        if start < stop:
            self._take(self._lattice.quantise(x[start:stop]))

    def _take(self, q: Integers) -> None:
        # [quantile.16]
        lo, hi = self._asked.lo, self._asked.hi
        inner = q[(q > lo) & (q < hi)]
        if len(inner) < len(q):
            self._below += int(np.count_nonzero(q < lo))
            self._above += int(np.count_nonzero(q > hi))
            self._on_lo += int(np.count_nonzero(q == lo))
            self._on_hi += 0 if lo == hi else int(np.count_nonzero(q == hi))
        self._records += len(inner)
        if self._sampler is not None:
            self._sampler.update(inner * np.float64(self._lattice.step))
            return
        self._kept.append(inner)
        if self._entropy is not None and self._records > self._asked.most:
            self._sampler = SubsamplePass(self._lattice, 1, self._entropy)
            for kept in self._kept:
                self._sampler.update(kept * np.float64(self._lattice.step))
            self._kept = []

    def finish(self) -> BracketSummary:
        level, inside = 0, np.concatenate([np.empty(0, dtype=np.int64), *self._kept])
        if self._sampler is not None:
            chosen = self._sampler.finish()
            level, (inside,) = chosen.level, chosen.subsamples
        asked, ends = self._asked, (self._below, self._on_lo, self._on_hi, self._above)
        return BracketSummary(asked.lo, asked.hi, asked.most, *ends, level, self._records, inside)


FIRST_JOB = 1 << 17  # records of a part, and of all, that the first job of a search in parts brings
WHOLE = 1 << 20  # records of a whole column that are kept: 8 MB
INSIDE = 1 << 21  # records of a bracket that are kept: 16 MB, twice as much in each further pass
_FEW = 1 << 17  # rows that are not worth a sample by position
_SORTED_FROM = 8  # most brackets that a chunk is compared with one by one
_FETCHED = 1 << 15  # rows of a sample by position
_SURE = 3.5  # standard deviations of a sample's rank between it and an end of the bracket

Ranks = Callable[[int], tuple[int, int]]
"""Maps the number of records to the positions that are wanted: from, to (exclusive)."""


class WindowSearch:
    """Narrows a bracket until the records at wanted positions are known. See [quantile.14].

    ``whole`` is the range, a bracket that holds every record. The search begins with ``bracket``,
    of which ``most`` records may be kept. ``found`` holds the wanted records, once they are known.
    """

    def __init__(
        self, ranks: Ranks, whole: tuple[int, int], most: int, bracket: tuple[int, int]
    ) -> None:
        self.ranks = ranks
        self.bracket = Bracket(*bracket, most)
        self.found: BracketSummary | None = None
        self._whole = whole
        self._known: Sample | None = None
        self._sure = _SURE

    def start_from(self, sample: Sample) -> None:
        """Begin with a sample of all records, whose number may be an estimate."""
        self._known = sample
        self.bracket = Bracket(*sample.bracket(*self.ranks(int(sample.size)), _SURE), INSIDE)

    def learn(self, seen: BracketSummary) -> None:
        """Take in what the bracket holds: the wanted records, or what leads to a new bracket."""
        start, stop = self.ranks(seen.count)
        if not seen.covers(start, stop):
            self._sure *= 2
        elif seen.holds_all:
            self.found = seen
            return
        else:
            self._known, self._sure = seen.sample(), _SURE
        # Without a sample the first bracket was too narrow: the rows are not those it came from.
        known = self._known
        ends = self._whole if known is None else known.bracket(start, stop, self._sure)
        # A bracket shrinks towards the window. Doubling ends this even if it does not.
        self.bracket = Bracket(*ends, max(2 * self.bracket.most, 2 * (stop - start), INSIDE))


class RankSearch(Generic[T]):
    """Finds the records at several windows of positions, in shared passes or jobs.

    The first bracket is the range, of which ``most`` records may be kept. ``summary`` makes the
    result of what holds the records of each window.
    """

    def __init__(
        self,
        windows: Sequence[Ranks],
        lattice: Lattice,
        most: int,
        summary: Callable[[list[BracketSummary]], T],
    ) -> None:
        whole = lattice.first, lattice.last
        self.searches = [WindowSearch(ranks, whole, most, whole) for ranks in windows]
        self._summary = summary

    def wanted(self) -> list[base.Reduction[Any]]:
        return [*self._brackets()]

    def learn(self, known: Sequence[Any]) -> T | None:
        seen = dict(zip(self._brackets(), known, strict=True))
        for each in self._waiting():
            each.learn(seen[each.bracket])
        found = [each.found for each in self.searches if each.found is not None]
        return self._summary(found) if len(found) == len(self.searches) else None

    def _brackets(self) -> list[Bracket]:
        # They begin with one bracket.
        return list(dict.fromkeys(each.bracket for each in self._waiting()))

    def _waiting(self) -> list[WindowSearch]:
        return [each for each in self.searches if each.found is None]


class RankPass(base.SearchPass[T]):
    """The passes of a search over a column; it begins with a sample if there is one."""

    def __init__(self, search: RankSearch[T], lattice: Lattice, rows: base.Rows | None) -> None:
        super().__init__(search, lattice, rows)
        self._searches: Sequence[WindowSearch] = search.searches

    def _begun(self) -> list[Any]:
        if self._searches:
            if (sample := _fetched(self._rows, self._lattice)) is not None:
                for each in self._searches:
                    each.start_from(sample)
            self._searches = ()
        return super()._begun()

    def update(self, x: Floats, /) -> None:
        """Read a chunk; for many brackets, sorting it once is cheaper than comparing with each."""
        passes = self._begun()
        for start in range(0, len(x), base.CHUNK):
            part = x[start : start + base.CHUNK]
            if len(passes) <= _SORTED_FROM:
                for each in passes:
                    each.update(part)
            else:
                ordered = np.sort(part)  # NaN comes last
                numbers = len(ordered) - int(np.count_nonzero(np.isnan(ordered)))
                for each in passes:
                    each.update_sorted(ordered[:numbers])


def _fetched(rows: base.Rows | None, lattice: Lattice) -> Sample | None:
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


class RankReduction(base.Reduction[T]):
    """A reduction to records around ranks, which may take several passes or jobs.

    One pass is enough for up to 10^6 rows, and where rows can be fetched by their position; longer
    streams take two. Beyond 10^8 rows, and once in a thousand times, it takes one more. See
    [quantile.7].
    """

    __slots__ = ()

    @abstractmethod
    def search(self, lattice: Lattice, most: int, more: base.More | None) -> RankSearch[T]:
        """Return the search; ``more`` reads the rows once more, ``None`` if all are kept."""

    def begin(self, lattice: Lattice | None, rows: base.Rows | None = None, /) -> RankPass[T]:
        lattice = base.ranged(lattice, "ranks need")
        more = None if rows is None else base.passes_over(rows, lattice)
        return RankPass(self.search(lattice, WHOLE, more), lattice, rows)

    def in_parts(self, lattice: Lattice | None, more: base.More, /) -> base.PartsSearch:
        return self.search(base.ranged(lattice, "ranks need"), FIRST_JOB, more)
