"""The records of many groups, sorted: a group and a lattice integer in one int64.

Sorting packed integers is many times faster than sorting by two columns, and every summary of a
group is then one of a slice. Where a group and an integer need more than 63 bits together, the
groups are first divided into buckets by their leading bits, so no bit of a value is given up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers, Sensitive
from modicum.summaries.kernel import CHUNK, Quantiser

__all__ = ["PackedGroups", "SortedGroups"]

_BITS = 63  # of an int64, without its sign


class SortedGroups(Sensitive):
    """Every group's lattice integers, sorted.

    Parameters
    ----------
    first : int
        The integer of the range's lower end, which is added to what is stored.
    value_bits, group_bits : int
        Bits of a value, and bits of a group within its bucket.
    buckets : list of sorted int64 arrays
        Sensitive.
    """

    __slots__ = ("_bounds", "_buckets", "_first", "_group_bits", "_mask")

    def __init__(
        self, first: int, value_bits: int, group_bits: int, buckets: list[Integers]
    ) -> None:
        self._first = first
        self._group_bits = group_bits
        self._mask = (1 << value_bits) - 1
        self._buckets = buckets
        starts = np.arange(1 << group_bits, dtype=np.int64) << value_bits
        self._bounds = [np.append(each.searchsorted(starts), len(each)) for each in buckets]

    def records(self, group: int) -> Integers:
        """Return the sorted lattice integers of one group."""
        bucket, place = divmod(group, 1 << self._group_bits)
        start, stop = self._bounds[bucket][place : place + 2]
        q = self._buckets[bucket][start:stop] & self._mask
        q += self._first
        return q


class PackedGroups:
    """A pass that collects the records of many groups.

    Parameters
    ----------
    groups : int
        Their number, public.
    lattice : Lattice
    """

    def __init__(self, groups: int, lattice: Lattice) -> None:
        self._quantiser = Quantiser(lattice)
        self._value_bits = lattice.width.bit_length()
        needed = max(groups - 1, 0).bit_length()
        self._group_bits = min(needed, _BITS - self._value_bits)
        self._buckets = max(1, -(-groups >> self._group_bits))
        self._kind = np.uint8 if self._buckets <= 1 << 8 else np.uint16  # sorted by their digits
        self._parts: list[tuple[Integers, list[int]]] = []

    def update(self, groups: Integers, x: NDArray[np.float64]) -> None:
        """Take in rows: their groups, -1 for none of them, and values; NaN is missing."""
        for start in range(0, len(x), CHUNK):
            self._chunk(groups[start : start + CHUNK], x[start : start + CHUNK])

    def _chunk(self, groups: Integers, x: NDArray[np.float64]) -> None:
        bits = self._quantiser.bits(x)
        y = bits.view(np.float64)
        # The minimum of the floats is NaN if one of them is: cheaper than a mask.
        if groups.min() < 0 or np.isnan(y.min()):
            kept = groups >= 0
            kept &= ~np.isnan(y)
            groups, bits = groups[kept], bits[kept]
        least = self._quantiser.zero + self._quantiser.first
        packed = np.maximum(bits, least)
        np.minimum(packed, self._quantiser.zero + self._quantiser.last, out=packed)
        packed -= least
        if self._buckets == 1:
            packed |= groups << self._value_bits
            self._parts.append((packed, [0, len(packed)]))
            return
        packed |= (groups & ((1 << self._group_bits) - 1)) << self._value_bits
        bucket = (groups >> self._group_bits).astype(self._kind)
        ends = np.bincount(bucket, minlength=self._buckets).cumsum()
        packed = packed.take(bucket.argsort(kind="stable"), mode="clip")
        self._parts.append((packed, [0, *ends.tolist()]))

    def finish(self) -> SortedGroups:
        """Sort what was collected."""
        empty = np.empty(0, dtype=np.int64)
        buckets = []
        for bucket in range(self._buckets):
            parts = [part[at[bucket] : at[bucket + 1]] for part, at in self._parts]
            joined = np.concatenate([empty, *parts])
            joined.sort()
            buckets.append(joined)
        self._parts = []
        return SortedGroups(self._quantiser.first, self._value_bits, self._group_bits, buckets)
