"""The tails of many sorted groups at once: what each alone would give, without a loop over them."""

from __future__ import annotations

import numpy as np

from modicum.summaries.base import Integers, Sensitive
from modicum.summaries.kernel import LIMB
from modicum.summaries.tails import TailSummary

__all__ = ["GroupTails"]

_BLOCK = 1 << 18  # records whose upper limbs are held at a time


class GroupTails(Sensitive):
    """The ``keep`` lowest and highest records of every group, and the exact sums between them.

    Parameters
    ----------
    packed : sorted int64 array
        A group and a value of ``value_bits`` bits in each integer. Sensitive.
    bounds : int64 array
        Where the groups begin in it, and its length. Sensitive.
    value_bits : int
    first : int
        The lattice integer of the value 0.
    keep : int
    """

    __slots__ = ("_counts", "_cuts", "_ends", "_first", "_keep", "_lows", "_sums")

    def __init__(
        self, packed: Integers, bounds: Integers, value_bits: int, first: int, keep: int
    ) -> None:
        self._keep, self._first = keep, first
        starts, self._counts = bounds[:-1], np.diff(bounds)
        self._lows = np.minimum(self._counts, keep)
        highs = np.minimum(self._counts - self._lows, keep)
        # The places of all kept records: two runs a group, one after the other.
        starts_of_runs = np.column_stack([starts, bounds[1:] - highs]).ravel()
        runs = np.column_stack([self._lows, highs]).ravel()
        ends_of_runs = runs.cumsum()
        self._cuts = np.append(0, ends_of_runs[1::2])
        places = np.repeat(starts_of_runs - (ends_of_runs - runs), runs)
        places += np.arange(len(places))
        self._ends = packed[places]
        self._ends &= (1 << value_bits) - 1
        self._ends += first
        self._sums = _between(packed, starts + self._lows, bounds[1:] - highs, value_bits)

    def summary(self, group: int) -> TailSummary:
        """Return the summary of one group, as a pass over its records alone returns it."""
        count, lows = int(self._counts[group]), int(self._lows[group])
        start, stop = self._cuts[group : group + 2].tolist()
        middle = count - (stop - start)
        high, low = self._sums[:, group].tolist()
        total = (high << LIMB) + low + middle * self._first
        cut = start + lows
        ends = self._ends[start:cut], self._ends[cut:stop]
        return TailSummary(count, *ends, total, middle, self._keep)


def _between(packed: Integers, starts: Integers, stops: Integers, value_bits: int) -> Integers:
    """Sum the values of slices in two limbs: 2^26 h + l, with l below 2^62 for 2^36 records.

    A slice is of one group, so its integers are v + g 2^b. The sums of v and of v >> 26 follow from
    those of the whole integers, modulo 2^64; the second is below 2^63, and so is what is
    left of the first without it: both are exact. (For b < 26, v >> b is 0.)
    """
    sums = np.zeros((2, len(starts)), dtype=np.int64)
    filled = np.flatnonzero(stops > starts)
    starts, stops = starts[filled], stops[filled]
    limb = min(LIMB, value_bits)
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
