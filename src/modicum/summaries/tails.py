"""The lowest and the highest records, and the exact sum of all between them.

The pass that finds them makes four cheap sweeps a chunk, which run in cache, and looks again only
where needed. It rounds a chunk to the lattice, sums it, and compares it with the thresholds by row.
Only rows with a missing value or a record beyond a threshold are looked at again. Records that are
already kept certify each threshold, so the result is exact whatever the order of the data; the
order only decides how many records are looked at twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries import base
from modicum.summaries.base import CHUNK, ROW, Integers
from modicum.summaries.synthetic import SyntheticTable


class _End:
    """The ``keep`` lowest of the integers it is given, in a buffer of bounded length."""

    __slots__ = ("_buffer", "_fill", "_full", "_keep", "bound")

    def __init__(self, lowest: Integers) -> None:
        self._keep = len(lowest)
        self._full = self._keep + max(self._keep, ROW)
        self._buffer = np.empty(self._full + CHUNK + ROW, dtype=np.int64)
        self._buffer[: self._keep] = lowest
        self._fill = self._keep
        self.bound = int(lowest.max())
        """At least ``keep`` records kept are <= bound, so others >= bound need no place."""

    def add(self, values: Integers) -> Integers:
        """Take in records below the bound; return those that are no longer needed."""
        self._buffer[self._fill : self._fill + len(values)] = values
        self._fill += len(values)
        return self.shrink() if self._fill >= self._full else values[:0]

    def shrink(self) -> Integers:
        """Keep the lowest ones only; return the others."""
        values = self._buffer[: self._fill]
        values.partition(self._keep - 1)
        self.bound = int(values[self._keep - 1])
        self._fill = self._keep
        return values[self._keep :]

    def lowest(self) -> Integers:
        """Return the kept ones, sorted; call :meth:`shrink` first."""
        return np.sort(self._buffer[: self._keep])


class TailsPass(base.Accumulator["TailSummary"]):
    """Both ends and the middle of a column, from its chunks in any order."""

    def __init__(self, keep: int, quantiser: base.Quantiser) -> None:
        self._keep = keep
        self._quantiser = quantiser
        self._pending: list[Integers] = []  # integers at first; bits once there are bounds
        self._waiting = 0
        self._ends: tuple[_End, _End] | None = None  # the high end holds negated integers
        self._window = (0.0, 0.0)  # what the bounds look like after M was added
        self._middle_sum = 0
        self._middle_count = 0
        self._inside, self._scratch = np.empty(CHUNK, dtype=bool), np.empty(CHUNK, dtype=bool)
        self._row_of_zeros = np.array(ROW * quantiser.zero % 2**64, dtype=np.uint64).view(np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            bits = self._quantiser.bits(x[start : start + CHUNK])
            if self._ends is None:
                self._wait(self._quantiser.integers(bits))
                if self._waiting >= max(CHUNK, 4 * self._keep):
                    self._divide()
                continue
            whole = len(bits) // ROW * ROW
            if whole:
                self._sweep(bits[:whole])
            if whole < len(bits):
                self._wait(bits[whole:].copy())
            if self._waiting >= ROW:
                self._place(*self._ends)

    def finish(self) -> TailSummary:
        if self._ends is None:
            return self._divided()
        lower, upper = self._ends
        self._place(lower, upper)
        self._to_middle(lower.shrink())
        self._to_middle(-upper.shrink())
        low, high = lower.lowest(), -upper.lowest()[::-1]
        count = len(low) + len(high) + self._middle_count
        return TailSummary(count, low, high, self._middle_sum, self._middle_count, self._keep)

    def _divide(self) -> None:
        """Choose the first bounds, from all records so far [summaries.6]."""
        known = self._divided()
        self._middle_sum, self._middle_count = known.middle_sum, known.middle_count
        self._ends = _End(known.low), _End(-known.high)
        self._look_through(*self._ends)

    def _divided(self) -> TailSummary:
        q, keep = self._waited(), self._keep
        if len(q) > 2 * keep:  # the middle is only summed, in whatever order
            q.partition(keep)
            rest = q[keep:]
            rest.partition(len(rest) - keep)
            q[:keep].sort()
            rest[-keep:].sort()
        else:
            q.sort()
        return TailSummary.of_sorted(q, keep, len(q))

    def _sweep(self, bits: Integers) -> None:
        """Add whole rows to the middle, and set aside the records beyond the bounds."""
        size = len(bits)
        inside, scratch = self._inside[:size], self._scratch[:size]
        # Floats are in order like their bits, and faster to compare; NaN is on neither side.
        y = bits.view(np.float64)
        np.greater_equal(y, self._window[0], out=inside)
        np.less_equal(y, self._window[1], out=scratch)
        inside &= scratch
        foreign = np.logical_not(inside, out=scratch).nonzero()[0]
        if 2 * len(foreign) > size:  # a sorted stream: to set all aside is less work
            self._wait(bits.copy())
            return
        # A row sums to ROW * zero plus the sum of its integers, modulo 2^64. That sum is at most
        # 2^62 in size once foreign bits are out, so the difference is exact ([summaries.4] of
        # docs/research/proofs/summaries.md).
        sums = bits.reshape(-1, ROW).sum(axis=1)
        sums -= self._row_of_zeros
        if len(foreign):
            self._set_aside(bits[foreign], foreign, sums)
        self._middle_count += size - len(foreign)
        self._middle_sum += sum(sums.tolist())

    def _set_aside(self, foreign: Integers, positions: NDArray[np.intp], sums: Integers) -> None:
        """Take foreign bits out of the sums of their rows."""
        np.subtract.at(sums, positions // ROW, foreign - self._quantiser.zero)
        self._wait(foreign[~np.isnan(foreign.view(np.float64))])

    def _place(self, low: _End, high: _End) -> None:
        """Give the records that wait to their end; those no longer needed to the middle.

        See [summaries.5].
        """
        q = self._quantiser.integers(self._waited())
        lower, upper = q < low.bound, q > -high.bound
        self._to_middle(q[~(lower | upper)])  # the bounds have moved, or clamping brought it back
        self._to_middle(low.add(q[lower]))
        self._to_middle(-high.add(-q[upper]))
        self._look_through(low, high)

    def _look_through(self, low: _End, high: _End) -> None:
        self._window = self._quantiser.lifted(low.bound), self._quantiser.lifted(-high.bound)

    def _wait(self, values: Integers) -> None:
        self._pending.append(values)
        self._waiting += len(values)

    def _waited(self) -> Integers:
        waited = np.concatenate([*self._pending, np.empty(0, dtype=np.int64)])
        self._pending, self._waiting = [], 0
        return waited

    def _to_middle(self, q: Integers) -> None:
        if len(q):
            self._middle_sum += base.exact_sum(q)
            self._middle_count += len(q)


_BEYOND = 1 << 62  # further out than any lattice integer


@dataclass(frozen=True, slots=True)
class Tails(base.Reduction["TailSummary"]):
    """Keeps the ``keep`` lowest and highest records, and sums the rest exactly; keep is at least 1.

    Every count and clipped sum whose bounds leave at most ``keep`` records outside on each side
    follows from it, so one pass serves estimators that choose their bounds later.
    """

    keep: int

    def __post_init__(self) -> None:
        if self.keep < 1:
            raise InvalidArgument(f"keep must be at least 1, got {self.keep}")

    def begin(self, lattice: Lattice | None, *_: object) -> TailsPass:
        return TailsPass(self.keep, base.Quantiser(lattice))

    def synthetic(self, table: SyntheticTable, *_: object) -> TailSummary:
        low, rest = table.lowest(self.keep)
        high, middle = rest.highest(self.keep)
        return TailSummary(table.rows, low, high, middle.total(), middle.rows, self.keep)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TailSummary(base.Summary):
    """Both ends of a column in full, and the sum of its middle, on lattice integers.

    Of n = ``count`` records, ``low`` are the min(n, keep) lowest and ``high`` the min(n - len(low),
    keep) highest of the others, both sorted. ``middle_sum`` and ``middle_count`` are of the records
    in neither. ``keep`` is public; all else is sensitive.
    """

    kind: ClassVar[str] = "tails"
    public: ClassVar[tuple[str, ...]] = ("keep",)

    count: int
    low: Integers
    high: Integers
    middle_sum: int
    middle_count: int
    keep: int

    @classmethod
    def of_sorted(
        cls, kept: Integers, keep: int, count: int, middle_sum: int = 0, middle_count: int = 0
    ) -> Self:
        """Divide ``kept``: all of ``count`` records but those of a middle between them."""
        lows = min(count, keep)
        cut = len(kept) - min(count - lows, keep)
        low, rest, high = kept[:lows], kept[lows:cut], kept[cut:]
        if len(rest):
            middle_sum, middle_count = middle_sum + base.exact_sum(rest), middle_count + len(rest)
        return cls(count, low, high, middle_sum, middle_count, keep)

    @property
    def tails(self) -> Self:
        """Itself; a :class:`CountSummary` has none."""
        return self

    def lowest(self) -> Integers:
        return self.low

    def highest(self) -> Integers:
        """Return the min(n, keep) highest records, sorted."""
        if self.middle_count:
            return self.high
        return np.concatenate([self.low, self.high])[-self.keep :]

    # [summaries.8] If there is a middle, a count that reaches into it exceeds `keep` on that end
    # alone, so it is enough to count in both ends and to cut at `keep`.

    def above_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return min(keep, number of records > t) for each threshold t."""
        return self._capped(self._count_above(_thresholds(t)))

    def below_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return min(keep, number of records < t) for each threshold t."""
        return self._capped(self._count_below(_thresholds(t)))

    def magnitude_above_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return min(keep, number of records of size > t) for each threshold t >= 0."""
        thresholds = _thresholds(t)
        return self._capped(self._count_above(thresholds) + self._count_below(-thresholds))

    def covers(self, lo: int, hi: int) -> bool:
        """Whether every record outside [lo, hi] is certainly among the kept ones."""
        if lo > hi:
            return False
        return not self.middle_count or bool(lo <= self.low[-1] and self.high[0] <= hi)

    def clipped_sum(self, lo: int, hi: int) -> int:
        """Return the exact sum of the records clipped to bounds that the kept ones cover."""
        if not self.covers(lo, hi):
            raise InvalidArgument("the kept records do not cover these bounds: make a second pass")
        return self.middle_sum + sum(_clipped(end, lo, hi) for end in (self.low, self.high))

    def counts_below(self, edges: Sequence[int]) -> list[int] | None:
        """Return the numbers of records below edges in order; ``None``: the kept ones do not tell.

        All records below the first ones have to be kept, and all from the other ones on.
        """
        if not self.middle_count:
            return list(map(int, self._count_below(_thresholds(edges))))
        ends = (int(self.low[0]), *edges, int(self.high[-1]) + 1)
        for k in range(len(edges) + 1):
            if self.covers(ends[k], ends[k + 1] - 1):
                below = self._count_below(_thresholds(edges[:k])).tolist()
                above = self._count_above(_thresholds([edge - 1 for edge in edges[k:]])).tolist()
                return [*below, *(self.count - each for each in above)]
        return None

    def merge(self, other: Self) -> TailSummary:
        self._check_same(other)
        # [summaries.7] A middle lies between full ends, so the ends of the union are among the
        # kept.
        kept = np.sort(np.concatenate([self.low, self.high, other.low, other.high]))
        return self.of_sorted(
            kept,
            self.keep,
            self.count + other.count,
            self.middle_sum + other.middle_sum,
            self.middle_count + other.middle_count,
        )

    def _capped(self, counts: Integers) -> list[int]:
        capped: list[int] = np.minimum(counts, self.keep).tolist()
        return capped

    def _count_above(self, thresholds: Integers) -> Integers:
        kept = len(self.low) + len(self.high)
        inside: Integers = np.searchsorted(self.low, thresholds, side="right")
        inside = inside + np.searchsorted(self.high, thresholds, side="right")
        return kept - inside

    def _count_below(self, thresholds: Integers) -> Integers:
        below: Integers = np.searchsorted(self.low, thresholds, side="left")
        return below + np.searchsorted(self.high, thresholds, side="left")


def _thresholds(t: Sequence[int] | Integers) -> Integers:
    if isinstance(t, np.ndarray):
        return t
    try:
        return np.array(t, dtype=np.int64)
    except OverflowError:
        return np.array([min(max(each, -_BEYOND), _BEYOND) for each in t], dtype=np.int64)


def _clipped(q: Integers, lo: int, hi: int) -> int:
    start, stop = q.searchsorted(lo), q.searchsorted(hi, side="right")
    return lo * int(start) + base.exact_sum(q[start:stop]) + hi * int(len(q) - stop)


_BLOCK = 1 << 18  # records whose upper limbs are in memory at a time


def tails_of_groups(
    packed: Integers, bounds: Integers, value_bits: int, first: int, keep: int
) -> Callable[[int], TailSummary]:
    """Return a function from a group to what a pass over its records alone returns.

    ``packed`` holds a group and a value of ``value_bits`` bits in each integer, sorted; ``bounds``
    is where the groups begin in it, and its length. Both are sensitive. ``first`` is the lattice
    integer of the value 0.
    """
    starts, counts = bounds[:-1], np.diff(bounds)
    lows = np.minimum(counts, keep)
    highs = np.minimum(counts - lows, keep)
    sums = _between(packed, starts + lows, bounds[1:] - highs, value_bits)
    # The places of all kept records: two runs a group, one after the other.
    starts_of_runs = np.column_stack([starts, bounds[1:] - highs]).ravel()
    runs = np.column_stack([lows, highs]).ravel()
    ends_of_runs = runs.cumsum()
    places = np.repeat(starts_of_runs - (ends_of_runs - runs), runs)
    places += np.arange(len(places))
    kept = packed[places]
    kept &= (1 << value_bits) - 1
    kept += first
    kept_before = np.append(0, ends_of_runs[1::2])

    def summary(group: int) -> TailSummary:
        start, stop = kept_before[group : group + 2].tolist()
        count, cut = int(counts[group]), start + int(lows[group])
        middle = count - (stop - start)
        high, low = sums[:, group].tolist()
        total = (high << base.LIMB) + low + middle * first
        return TailSummary(count, kept[start:cut], kept[cut:stop], total, middle, keep)

    return summary


def _between(packed: Integers, starts: Integers, stops: Integers, value_bits: int) -> Integers:
    """Sum the values of slices in two limbs: 2^26 h + l, with l below 2^62 for 2^36 records.

    A slice is of one group, so its integers are v + g 2^b. The sums of v and of v >> 26 follow from
    those of the whole integers, modulo 2^64; the second is below 2^63, and so is what is
    left of the first without it: both are exact. (For b < 26, v >> b is 0.) See [groups.5].
    """
    sums = np.zeros((2, len(starts)), dtype=np.int64)
    filled = np.flatnonzero(stops > starts)
    starts, stops = starts[filled], stops[filled]
    limb = min(base.LIMB, value_bits)
    offset = 0
    while offset < len(filled):
        # As many slices as a block of records holds, or one.
        begin = int(starts[offset])
        until = max(offset + 1, int(stops.searchsorted(begin + _BLOCK, side="right")))
        edges = np.column_stack([starts[offset:until], stops[offset:until]]).ravel() - begin
        block = packed[begin : begin + int(edges[-1])]
        edges = edges[:-1]  # the last sum ends with the block anyway
        groups = filled[offset:until]
        numbers = stops[offset:until] - starts[offset:until]
        whole = np.add.reduceat(block, edges)[::2] - numbers * (groups << value_bits)
        upper = np.add.reduceat(block >> limb, edges)[::2]
        upper -= numbers * (groups << (value_bits - limb))
        sums[0, groups], sums[1, groups] = upper, whole - (upper << limb)
        offset = until
    return sums
