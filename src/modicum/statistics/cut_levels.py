"""How far a trimmed or a winsorized mean moves when k records change, exactly, for every k.

Both statistics rise with every record. So among all ways to add a records and to remove r, the
highest value comes from adding the largest possible one a times and removing the r lowest
(docs/proofs/trimmed_mean.md, [t2]). It is a ratio of integers; the end of level k is the ceiling
of the largest one with a + r <= k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.summaries.base import Integers
from modicum.summaries.order_statistics import CutSummary

__all__ = ["level_ends_of", "upper_ends"]

_LIMB = 26
_MASK = (1 << _LIMB) - 1
_FITS = 1 << 34  # with so many records no number below exceeds 2^63


def level_ends_of(
    cuts: CutSummary, first: int, last: int, levels: int, *, winsorized: bool
) -> tuple[Integers, Integers]:
    """Return ``lows`` and ``highs`` of a level law: what k changes reach, rounded outwards.

    Parameters
    ----------
    cuts : CutSummary
        With a reach of at least ``levels``.
    first, last : int
        No record can lie beyond them.
    levels : int
        At least 1.
    winsorized : bool
        Whether the records beyond the cut points are moved to them, or left out.
    """
    lows = -upper_ends(cuts.mirrored(), -first, levels, winsorized=winsorized)
    return lows, upper_ends(cuts, last, levels, winsorized=winsorized)


def upper_ends(cuts: CutSummary, largest: int, levels: int, *, winsorized: bool) -> Integers:
    """Return the ceiling of the highest value that k changes reach, for k = 0, ..., levels - 1.

    Nondecreasing; from k = n on it is ``largest``, since data without records have no value and
    count as beyond every t.

    Notes
    -----
    ``levels``² / 2 pairs (a, r), in integers: 2000 levels take about a tenth of a second.
    """
    ends = np.full(levels, largest, dtype=np.int64)
    few = min(levels, cuts.count)
    if few:
        ends[:few] = np.maximum.accumulate(_highest(cuts, largest, few, winsorized=winsorized))
    return ends


def _highest(cuts: CutSummary, largest: int, levels: int, *, winsorized: bool) -> Integers:
    """Highest value after exactly k changes, for k < levels <= n."""
    n, m = cuts.count, cuts.cut(cuts.count)
    # Records from position m on, and from position n - m - 1 on; beyond n come added ones.
    lower = _from(cuts.low, m - max(0, m - cuts.reach), levels, largest)
    upper = _from(cuts.high, n - m - 1 - max(0, n - m - cuts.reach), levels + 1, largest)
    total = cuts.middle + winsorized * m * int(lower[0] + upper[0])
    centre = total // (n if winsorized else n - 2 * m)
    whole: Any = np.int64 if n < _FITS else np.object_
    low, up = ((x - centre).astype(whole) for x in (lower, upper))
    # [t3] All sums are relative to the centre, in two limbs of 26 bits.
    rest = cuts.middle - centre * (n - 2 * m)
    lost, gained = _sums(low), _sums(up[1:])
    sizes = range(n - levels + 1, n + levels)
    moves = np.array([cuts.cut(size) - m for size in sizes], dtype=np.int64)
    best = np.full(levels, -(1 << 62), dtype=np.int64)
    for removed in range(levels):
        added = np.arange(levels - removed)
        there = slice(levels - 1 - removed, 2 * (levels - removed) - 1)
        move = moves[there]  # of the cut, with n + added - removed records
        count = (n - removed + added).astype(whole)
        start, stop = removed + move, added - move  # moves of the first and the last one kept
        high = (rest >> _LIMB) + gained[0][stop] - lost[0][start]
        rests = (rest & _MASK) + gained[1][stop] - lost[1][start]
        if winsorized:
            ends = low[start] + up[stop]
            high = high + (m + move) * (ends >> _LIMB)
            rests = rests + (m + move) * (ends & _MASK)
        else:
            count = count - 2 * (m + move)
        value = _ceiling(high, rests, count) + centre
        best[removed:] = np.maximum(best[removed:], value.astype(np.int64))
    return best


def _from(records: Integers, start: int, length: int, largest: int) -> Integers:
    """Records from a position on, continued by the largest possible one."""
    there = records[start : start + length]
    return np.append(there, np.full(length - len(there), largest, dtype=np.int64))


def _sums(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sums of the first 0, 1, 2, ... numbers, in two limbs."""
    zero = x[:1] * 0
    return (
        np.append(zero, np.cumsum(x >> _LIMB)),
        np.append(zero, np.cumsum(x & _MASK)),
    )


def _ceiling(high: NDArray[Any], low: NDArray[Any], count: NDArray[Any]) -> NDArray[Any]:
    """Ceiling of (high 2^26 + low) / count: the floor after count - 1 is added."""
    low = low + (count - 1)
    high = high + (low >> _LIMB)
    ratio = high // count
    value: NDArray[Any] = (ratio << _LIMB) + (
        ((high - ratio * count) << _LIMB) + (low & _MASK)
    ) // count
    return value
