"""Summaries of records that are held as sorted lattice integers: no pass is needed for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Integers, Reduction, Rows
from modicum.summaries.clipped import ClippedSum, ClippedSummary
from modicum.summaries.count import Count, CountSummary
from modicum.summaries.kernel import exact_sum
from modicum.summaries.part_records import PartRecords, PartSubsample
from modicum.summaries.part_window import PartWindow
from modicum.summaries.pools import HeldPool
from modicum.summaries.records import Records, RecordSummary
from modicum.summaries.tails import Tails, TailSummary
from modicum.summaries.tails_pass import Ends
from modicum.summaries.window import RankWindow, WindowSummary

__all__ = ["summary_of_held"]


def summary_of_held(
    reduction: Reduction[Any], lattice: Lattice, q: Integers, rows: Rows | None = None
) -> Any:
    """Return what a pass over records with these lattice integers returns.

    Parameters
    ----------
    reduction : Reduction
    lattice : Lattice
    q : sorted int64 array
        All records of the column, each in [lattice.first, lattice.last].
    rows : Rows, optional
        Needed by the reductions of a part, which choose records in secret.

    Notes
    -----
    Any reduction is answered by a pass over q * step: these floats are exact, and their lattice
    integers are q again. A few are answered at once.

    Examples
    --------
    >>> lattice = Lattice(-8.0, 8.0, 1.0)
    >>> summary_of_held(Count(), lattice, np.array([-3, 1])) == CountSummary(2)
    True
    """
    match reduction:
        case Count():
            return CountSummary(len(q))
        case Tails(keep):
            ends = Ends.of_sorted(q, keep, len(q))
            rest = ends.rest
            middle = exact_sum(rest) if len(rest) else 0
            return TailSummary(len(q), ends.low, ends.high, middle, len(rest), keep)
        case ClippedSum(lo, hi) if lattice.first <= lo and hi <= lattice.last:
            return ClippedSummary(len(q), exact_sum(np.clip(q, lo, hi)))
        case RankWindow(share, reach):
            start, stop = reduction.ranks(len(q))
            return WindowSummary(len(q), start, q[start:stop].copy(), share, reach)
        case Records():
            return RecordSummary((HeldPool(q),))
    of_part = isinstance(reduction, PartRecords | PartSubsample | PartWindow)
    accumulator = reduction.begin(lattice, rows if of_part else None)
    accumulator.update(q * np.float64(lattice.step))
    return accumulator.finish()
