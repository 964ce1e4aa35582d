"""Records near wanted positions among the sorted ones, without sorting or holding the others.

A sift collects the records in a bracket and counts those below and above it. Parts are sifted apart
and merged. If more records lie inside than may be held, a uniform sample of them takes their place,
and a narrower bracket follows from it; a search repeats this until the wanted positions are known.

Whatever a sample says, the result is exact. A pass counts the records below and above its bracket,
so it knows whether the wanted ranks lie inside; if they do not, the bracket is widened and the
column is read again. The sample decides only how often that happens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import (
    CHUNK,
    Accumulator,
    Fields,
    Integers,
    Reduction,
    Rows,
    Sensitive,
    pack,
)
from modicum.summaries.subsample import ChosenRows, PassingRows, distinct_positions, of_part

T = TypeVar("T")


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
        first = int(np.searchsorted(self.before + self.ties, start, side="right"))
        last = int(np.searchsorted(self.before, stop, side="left"))
        values, before, ties = (column[first:last] for column in self)
        if (held := ties > 0).all():
            return Ranked(values, before, ties)
        return Ranked(values[held], before[held], ties[held])

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sifted(Sensitive):
    """The records of one part of the data, by their place relative to a bracket [lo, hi].

    At most ``most`` records (public) may be held within the bracket. The numbers of records are
    sensitive; if lo equals hi, the records there count as ``on_lo``. ``inside`` are those strictly
    inside: all of them at level 0, else a uniform sample.
    """

    public: ClassVar[tuple[str, ...]] = ("lo", "hi", "most")

    lo: int
    hi: int
    most: int
    below: int
    on_lo: int
    on_hi: int
    above: int
    inside: ChosenRows

    @property
    def count(self) -> int:
        return self.below + self.on_lo + self.inside.records + self.on_hi + self.above

    def covers(self, start: int, stop: int) -> bool:
        """Whether the records at positions from start to stop (exclusive) lie in the bracket."""
        return self.below <= start and stop <= self.count - self.above

    @property
    def holds_all(self) -> bool:
        """Whether every record of the bracket is known."""
        return self.inside.level == 0

    def sample(self) -> Sample:
        (chosen,) = self.inside.subsamples
        before = self.below + self.on_lo
        return Sample(np.sort(chosen), self.inside.records, before, self.lo, self.hi)

    def place(self) -> tuple[int, int]:
        """Return the number of records below the bracket, and of those at its lower end."""
        return self.below, self.on_lo

    def cells(self, start: int, stop: int) -> Ranked:
        """Return the values at covered positions from start to stop (exclusive), and their ranks.

        All records of a value are counted, those outside the positions too.
        """
        (strictly,) = self.inside.subsamples
        before = self.below + self.on_lo
        first, last = (min(max(p - before, 0), len(strictly)) for p in (start, stop))
        values, below, ties = (np.empty(0, dtype=np.int64) for _ in range(3))
        if first < last:
            if last - first < len(strictly):
                strictly = np.partition(strictly, sorted({first, last - 1}))
            inner = np.sort(strictly[first:last])
            heads = np.flatnonzero(np.append(True, inner[1:] != inner[:-1]))
            values, below = inner[heads], heads + before + first
            ties = np.diff(heads, append=len(inner))
            # Those equal to the two ends may also lie outside the positions.
            for place in {0, len(values) - 1}:
                below[place] = before + int(np.count_nonzero(strictly < values[place]))
                ties[place] = int(np.count_nonzero(strictly == values[place]))
        if start < before and start < stop:
            values, below = np.append(self.lo, values), np.append(self.below, below)
            ties = np.append(self.on_lo, ties)
        if stop > before + len(strictly) and start < stop:
            values, below = np.append(values, self.hi), np.append(below, before + len(strictly))
            ties = np.append(ties, self.on_hi)
        return Ranked(values.astype(np.int64), below.astype(np.int64), ties.astype(np.int64))

    def window(self, start: int, stop: int) -> Integers:
        """Return the records at covered positions from start to stop (exclusive), sorted."""
        (strictly,) = self.inside.subsamples
        before = self.below + self.on_lo
        first, last = (min(max(p - before, 0), len(strictly)) for p in (start, stop))
        if first < last:
            strictly = np.partition(strictly, sorted({first, last - 1}))
        lows = min(max(before - start, 0), stop - start)
        highs = stop - start - lows - (last - first)
        inner = np.sort(strictly[first:last])
        return np.concatenate([np.full(lows, self.lo), inner, np.full(highs, self.hi)])

    def merge(self, other: Sifted, entropy: Entropy) -> Sifted:
        """Return the same of both parts; the records inside are sampled if they are too many."""
        self._check_same(other)
        one, two = self.inside, other.inside
        if one.level == two.level == 0 and one.records + two.records <= self.most:
            q = np.concatenate([one.subsamples[0], two.subsamples[0]])
            inside = ChosenRows(0, one.records + two.records, (q,))
        else:
            inside = one.merge(two, entropy)
        return Sifted(
            self.lo,
            self.hi,
            self.most,
            self.below + other.below,
            self.on_lo + other.on_lo,
            self.on_hi + other.on_hi,
            self.above + other.above,
            inside,
        )

    def joined(self, other: Sifted, entropy: Entropy) -> Sifted:
        return self.merge(other, entropy)

    def to_bytes(self) -> bytes:
        numbers = (self.lo, self.hi, self.most, self.below, self.on_lo, self.on_hi, self.above)
        (chosen,) = self.inside.subsamples
        return pack("sifted", *numbers, self.inside.level, self.inside.records, chosen)

    @classmethod
    def from_bytes(cls, data: bytes) -> Sifted:
        fields = Fields("sifted", data)
        lo, hi, most, below, on_lo, on_hi, above, level, records = (
            fields.integer() for _ in range(9)
        )
        inside = ChosenRows(level, records, (fields.array(),))
        fields.end()
        return cls(lo, hi, most, below, on_lo, on_hi, above, inside)


class Sift:
    """A pass that collects the records in a bracket [lo, hi] and counts the others.

    Records on an end of the bracket are counted only, so that no number of ties needs memory. If
    more than ``most`` lie strictly inside, a uniform sample of them is kept in their place;
    without entropy all are held.
    """

    reads = True

    def __init__(
        self, lattice: Lattice, entropy: Entropy | None, bracket: tuple[int, int], most: int
    ) -> None:
        self._read, self._lattice = lattice.read, lattice.numbers
        self._entropy, self._most = entropy, most
        self.lo, self.hi = bracket
        # One step more on each side than is rounded into the bracket; what is beyond the range
        # is clamped to its ends.
        self._floor = -np.inf if self.lo <= lattice.first else (self.lo - 1) * lattice.step
        self._ceiling = np.inf if self.hi >= lattice.last else (self.hi + 1) * lattice.step
        self.below = self.above = 0
        self._on_lo = self._on_hi = self._strictly = 0
        self._held: list[Integers] = []
        self._sampler: PassingRows | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            part = self._read(x[start : start + CHUNK])
            from_floor, up_to_ceiling = part >= self._floor, part <= self._ceiling
            # NaN is neither, every number is one of them.
            numbers = np.count_nonzero(from_floor), np.count_nonzero(up_to_ceiling)
            inside = np.flatnonzero(np.logical_and(from_floor, up_to_ceiling, out=from_floor))
            self.above += int(numbers[0]) - len(inside)
            self.below += int(numbers[1]) - len(inside)
            if len(inside):
                self._take(self._lattice.quantise(part[inside]))

    def update_sorted(self, x: NDArray[np.float64]) -> None:
        """Sift a sorted chunk without NaN."""
        x = self._read(x)
        start = int(np.searchsorted(x, self._floor, side="left"))
        stop = int(np.searchsorted(x, self._ceiling, side="right"))
        self.below += start
        self.above += len(x) - stop
        if start < stop:
            self._take(self._lattice.quantise(x[start:stop]))

    def _take(self, q: Integers) -> None:
        # [quantile.16]
        inner = q[(q > self.lo) & (q < self.hi)]
        if len(inner) < len(q):
            self.below += int(np.count_nonzero(q < self.lo))
            self.above += int(np.count_nonzero(q > self.hi))
            self._on_lo += int(np.count_nonzero(q == self.lo))
            self._on_hi += 0 if self.lo == self.hi else int(np.count_nonzero(q == self.hi))
        self._strictly += len(inner)
        if self._sampler is not None:
            self._sampler.update(inner * np.float64(self._lattice.step))
            return
        self._held.append(inner)
        if self._entropy is not None and self._strictly > self._most:
            self._sampler = PassingRows(self._lattice, 1, self._entropy)
            for held in self._held:
                self._sampler.update(held * np.float64(self._lattice.step))
            self._held = []

    def finish(self) -> Sifted:
        if self._sampler is None:
            held = np.concatenate([np.empty(0, dtype=np.int64), *self._held])
            inside = ChosenRows(0, self._strictly, (held,))
        else:
            inside = self._sampler.finish()
        ends = (self.below, self._on_lo, self._on_hi, self.above)
        return Sifted(self.lo, self.hi, self._most, *ends, inside)


HELD = 1 << 17  # records of a part, and of all, that the first job of a search in parts brings
_WHOLE = 1 << 20  # records of a whole column that are held: 8 MB
_FEW = 1 << 17  # rows that are not worth a sample by position
INSIDE = 1 << 21  # records of a bracket that are held: 16 MB, twice as much in each further pass
_SORTED_FROM = 8  # most brackets that a chunk is compared with one by one
_FETCHED = 1 << 15  # rows of a sample by position
_SURE = 3.5  # standard deviations of a sample's rank between it and an end of the bracket


class WindowSearch:
    """Narrows a bracket until the records at wanted positions are known. See [quantile.14].

    ``ranks`` maps the number of records to positions from, to (exclusive); ``whole`` is the range,
    a bracket that holds every record. The search begins with ``bracket``, or with the whole, in
    which ``most`` records may be held. ``found`` holds the wanted records, once they are known.
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

    @property
    def part(self) -> PartWindow:
        return PartWindow(*self.bracket, self.most)

    def start_from(self, sample: Sample) -> None:
        """Begin with a sample of all records, whose number may be an estimate."""
        self._known = sample
        self.bracket = sample.bracket(*self.ranks(int(sample.size)), _SURE)
        self.most = INSIDE

    def learn(self, sifted: Sifted) -> None:
        """Take in what the bracket holds: the wanted records, or what leads to a new bracket."""
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


class WindowPass(Generic[T]):
    """Finds the records at several windows of positions of a column, in shared passes.

    Each window maps the number of records to positions from, to (exclusive). Without ``rows`` every
    record is held. ``summary`` makes the result of what holds the records of each window.
    """

    reads = True

    def __init__(
        self,
        windows: Sequence[Callable[[int], tuple[int, int]]],
        lattice: Lattice,
        rows: Rows | None,
        summary: Callable[[list[Sifted]], T],
    ) -> None:
        self._summary = summary
        whole = lattice.first, lattice.last
        self._searches = [WindowSearch(ranks, whole) for ranks in windows]
        self._lattice = lattice
        self._rows = rows
        self._sifting: Sifting | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
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

    def finish(self) -> T:
        while (sifting := self.further()) is not None:
            assert self._rows is not None
            self._rows.feed(sifting)
        return self._summary(
            [search.found for search in self._searches if search.found is not None]
        )


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
        """Give the searches what the pass has found; call this once."""
        sifted = {place: sift.finish() for place, sift in self._sifts.items()}
        for search in self._waiting:
            search.learn(sifted[search.bracket, search.most])
        self._waiting = []

    def finish(self) -> None:
        """Return nothing: the searches hold the result."""


@dataclass(frozen=True, slots=True)
class PartWindow(Reduction["Sifted"]):
    """Finds a part's share of a :class:`~modicum.summaries.order_statistics.RankWindow`.

    The bracket [lo, hi] follows from random samples, and reveals about the data what they do. If it
    holds more than ``most`` records, a sample of them is kept. See [quantile.17].
    """

    secret = True

    lo: int
    hi: int
    most: int

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> Accumulator[Sifted]:
        known, part = of_part(lattice, rows)
        return Sift(known, part.entropy, (self.lo, self.hi), self.most)
