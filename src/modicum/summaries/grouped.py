"""The records of many groups, sorted: a group and a lattice integer in one int64.

Sorting packed integers is many times faster than sorting by two columns, and every summary of a
group is then one of a slice: no further pass is needed. A group and an integer may need more than
63 bits together. Then the records in a window of the range, which may well hold all of the data,
are packed by their distance from its start, and the others are first divided into buckets by the
leading bits of their group. So every bit of a value is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.summaries import order_statistics, subsample
from modicum.summaries.base import CHUNK, Integers, Quantiser, Reduction, Rows, Sensitive, exact_sum
from modicum.summaries.sums import ClippedSum, ClippedSummary, Count, CountSummary
from modicum.summaries.tails import Tails, TailSummary, tails_of_groups

_BITS = 63  # of an int64, without its sign
_BLOCK = 1 << 20  # records: 8 MB, which lie on large pages where there are any


class SortedGroups(Sensitive):
    """Every group's lattice integers, sorted.

    Each integer of ``packed`` (sensitive, sorted) holds a group above ``value_bits`` bits of a
    value, counted from the lattice integer ``first``. ``outside`` holds the records that did not
    fit into these bits, of one run of groups each.
    """

    __slots__ = ("_bounds", "_first", "_outside", "_packed", "_value_bits")

    def __init__(
        self,
        first: int,
        value_bits: int,
        packed: Integers,
        groups: int,
        outside: list[SortedGroups],
    ) -> None:
        self._first = first
        self._value_bits = value_bits
        self._packed = packed
        self._outside = outside
        starts = np.arange(groups, dtype=np.int64) << value_bits
        self._bounds = np.append(packed.searchsorted(starts), len(packed))

    def records(self, group: int) -> Integers:
        start, stop = self._bounds[group : group + 2]
        q = self._packed[start:stop] & ((1 << self._value_bits) - 1)
        q += self._first
        if not self._outside:
            return q
        run, place = divmod(group, len(self._outside[0]))
        others = self._outside[run].records(place)
        cut = others.searchsorted(self._first)
        return np.concatenate([others[:cut], q, others[cut:]]) if len(others) else q

    def summaries(self, reduction: Reduction[Any]) -> Callable[[int], Any] | None:
        """Return a function from a group to its summary, if reading all at once is faster."""
        if not isinstance(reduction, Tails) or self._outside:
            return None
        packed = self._packed, self._bounds, self._value_bits, self._first
        return tails_of_groups(*packed, reduction.keep)

    def __len__(self) -> int:
        return len(self._bounds) - 1


class FloatGroups(Sensitive):
    """The same of records as they are, whose integers take all bits; in the order that they came.

    It is a pass, too.
    """

    __slots__ = ("_bounds", "_groups", "_number", "_values")

    def __init__(self, groups: int) -> None:
        self._number = groups
        self._groups: list[Integers] = []
        self._values: list[NDArray[np.float64]] = []

    def update(self, groups: Integers, x: NDArray[np.float64]) -> None:
        """Take in rows: their groups (-1 for no group) and values; NaN is missing."""
        kept = (groups >= 0) & ~np.isnan(x)
        self._groups.append(groups[kept])
        self._values.append(x[kept])

    def finish(self) -> FloatGroups:
        groups = np.concatenate([*self._groups, np.empty(0, np.int64)])
        values = np.concatenate([*self._values, np.empty(0)])
        order = groups.argsort(kind="stable")
        self._groups, self._values = [], [values[order]]
        self._bounds = groups[order].searchsorted(np.arange(self._number + 1))
        return self

    def records(self, group: int) -> Integers:
        """Return the keys of a group's records."""
        start, stop = self._bounds[group : group + 2]
        return KEYS.quantise(self._values[0][start:stop])

    def summaries(self, reduction: Reduction[Any]) -> None:
        """Nothing is faster for all groups at once."""


class PackedGroups:
    """A pass that collects the records of a public number of groups. See [groups.4]."""

    def __init__(self, groups: int, lattice: Lattice) -> None:
        self._quantiser = Quantiser(lattice)
        self._groups = groups
        self._range_bits = lattice.width.bit_length()
        self._value_bits = min(self._range_bits, _BITS - max(groups - 1, 0).bit_length())
        self._inside: _Packing | None = None
        if self._value_bits == self._range_bits:
            self._inside = _Packing(groups, lattice.first, self._value_bits)
        self._outside: list[_Packing] = []

    def update(self, groups: Integers, x: NDArray[np.float64]) -> None:
        """Take in rows: their groups (-1 for no group) and values; NaN is missing."""
        for start in range(0, len(x), CHUNK):
            self._chunk(groups[start : start + CHUNK], x[start : start + CHUNK])

    def _chunk(self, groups: Integers, x: NDArray[np.float64]) -> None:
        quantiser = self._quantiser
        y = quantiser.bits(x).view(np.float64)
        # The minimum of the floats is NaN if one of them is: cheaper than a mask.
        if groups.min() < 0 or np.isnan(y.min()):
            kept = groups >= 0
            kept &= ~np.isnan(y)
            groups, y = groups[kept], y[kept]
            if not len(y):
                return
        ends = quantiser.lifted(quantiser.first), quantiser.lifted(quantiser.last)
        if y.min() < ends[0] or y.max() > ends[1]:
            np.clip(y, *ends, out=y)
        if self._inside is None:
            self._inside = _Packing(self._groups, self._start(y), self._value_bits)
        first = self._inside.first
        if self._value_bits < self._range_bits:
            last = min(first + (1 << self._value_bits) - 1, quantiser.last)
            window = quantiser.lifted(first), quantiser.lifted(last)
            if y.min() < window[0] or y.max() > window[1]:
                inside = (y >= window[0]) & (y <= window[1])
                self._put_outside(groups[~inside], y[~inside].view(np.int64))
                groups, y = groups[inside], y[inside]
        self._inside.put(groups, y.view(np.int64), quantiser.zero)

    def _start(self, y: NDArray[np.float64]) -> int:
        """Return where the window begins: its middle is the median of a chunk."""
        middle = int(np.median(y).view(np.int64)) - self._quantiser.zero
        room = 1 << self._value_bits
        return min(max(middle - room // 2, self._quantiser.first), self._quantiser.last + 1 - room)

    def _put_outside(self, groups: Integers, bits: Integers) -> None:
        """Divide records into runs of groups, so few that a group's place and a value fit."""
        run = 1 << (_BITS - self._range_bits)
        if not self._outside:
            first, bits_of_range = self._quantiser.first, self._range_bits
            self._outside = [
                _Packing(run, first, bits_of_range) for _ in range(-(-self._groups // run))
            ]
        numbers = groups // run
        kind = np.uint8 if len(self._outside) <= 1 << 8 else np.int64
        order = numbers.astype(kind).argsort(kind="stable")  # few of them: by digits
        groups, bits = groups[order] % run, bits[order]
        cuts = np.bincount(numbers, minlength=len(self._outside)).cumsum()
        for packing, (start, stop) in zip(
            self._outside, pairwise([0, *cuts.tolist()]), strict=True
        ):
            if start < stop:
                packing.put(groups[start:stop], bits[start:stop], self._quantiser.zero)

    def finish(self) -> SortedGroups:
        inside = self._inside or _Packing(self._groups, self._quantiser.first, self._value_bits)
        return inside.finish([each.finish([]) for each in self._outside])


class _Packing:
    """Packed records on their way, in blocks.

    One array that grows would be moved off the large pages that new arrays lie on, and sorted a
    third slower.
    """

    __slots__ = ("_blocks", "_groups", "_room", "_value_bits", "first")

    def __init__(self, groups: int, first: int, value_bits: int) -> None:
        self.first = first
        self._groups = groups
        self._value_bits = value_bits
        self._blocks: list[Integers] = []  # all but the last one are full
        self._room = 0  # of the last one

    def put(self, groups: Integers, bits: Integers, zero: int) -> None:
        """Take in records by the bits of their integers, which are ``zero`` too large."""
        offset = 0
        while offset < len(bits):
            if not self._room:
                self._room = min(_BLOCK, CHUNK << len(self._blocks))
                self._blocks.append(np.empty(self._room, dtype=np.int64))
            stop = min(offset + self._room, len(bits))
            start = len(self._blocks[-1]) - self._room
            packed = self._blocks[-1][start : start + stop - offset]
            np.left_shift(groups[offset:stop], self._value_bits, out=packed)
            packed += bits[offset:stop]  # beyond 2^63 for a moment, which comes round
            packed -= zero + self.first
            self._room -= stop - offset
            offset = stop

    def finish(self, outside: list[SortedGroups]) -> SortedGroups:
        """Sort; nothing can be put in any more."""
        if self._room:
            self._blocks[-1] = self._blocks[-1][: -self._room]
        packed = np.empty(sum(map(len, self._blocks)), dtype=np.int64)
        stop = len(packed)
        while self._blocks:  # each is given back as soon as it is copied
            block = self._blocks.pop()
            packed[stop - len(block) : stop] = block
            stop -= len(block)
        packed.sort()
        return SortedGroups(self.first, self._value_bits, packed, self._groups, outside)


def of_groups(groups: int, lattice: Lattice) -> PackedGroups | FloatGroups:
    """Collect the records of groups on a lattice."""
    return FloatGroups(groups) if lattice is KEYS else PackedGroups(groups, lattice)


def summary_of_sorted(
    reduction: Reduction[Any], lattice: Lattice, q: Integers, rows: Rows | None = None
) -> Any:
    """Return what a pass over records with these lattice integers returns.

    ``q`` are all records of the column, sorted, each in [lattice.first, lattice.last]. ``rows`` are
    needed by the reductions of a part, which choose records in secret. A few reductions are
    computed directly; any other one passes over q * step: these floats are exact, and their lattice
    integers are q again.

    Examples
    --------
    >>> lattice = Lattice(-8.0, 8.0, 1.0)
    >>> summary_of_sorted(Count(), lattice, np.array([-3, 1])) == CountSummary(2)
    True
    """
    match reduction:
        case Count():
            return CountSummary(len(q))
        case Tails(keep):
            return TailSummary.of_sorted(q, keep, len(q))
        case ClippedSum(lo, hi) if lattice.first <= lo and hi <= lattice.last:
            return ClippedSummary(len(q), exact_sum(np.clip(q, lo, hi)))
        case order_statistics.RankWindow(share, reach):
            start, stop = reduction.ranks(len(q))
            return order_statistics.WindowSummary(len(q), start, q[start:stop].copy(), share, reach)
        case subsample.Records():
            return subsample.RecordSummary(subsample.rows_in_memory(q))
    accumulator = reduction.begin(lattice.numbers, rows if reduction.secret else None)
    accumulator.update(q * np.float64(lattice.step))
    return accumulator.finish()
