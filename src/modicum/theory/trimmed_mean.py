"""The trimmed mean, as a monotone statistic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modicum.theory.data import Floats, Integers, checked_operations
from modicum.theory.statistic import Statistic

__all__ = ["TrimmedMean"]


@dataclass(frozen=True, slots=True)
class TrimmedMean(Statistic):
    """The mean without the m lowest and the m highest records, for n > 2m. Not private.

    Parameters
    ----------
    trim : int
        m >= 0, the number of records left out on each side.

    Raises
    ------
    InvalidArgument
        If m is no such integer.

    Notes
    -----
    After r removals from below and a additions at the upper end the window holds the records of
    ranks r + m + 1 to n + a - m, where ranks above n are new records (Asi and Duchi 2020, Lemma
    4.1, for bounded data; the lemma's value m + 1 for far targets holds for unbounded data only).
    The gain of additions is not concave, so every split of k operations is tried.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.modulus([0, 0, 1, 2, 9], theory.TrimmedMean(1), 1, within=(0, 10))
    2.0

    With a 10 more, ranks 2 to 5 are 0, 1, 2 and 9; before, they were 0, 1 and 2.
    """

    trim: int

    def __post_init__(self) -> None:
        """Refuse what is no number of records."""
        checked_operations(self.trim, "trim")

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"trimmed mean ({self.trim} a side)"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return window means without the lowest records and with new ones at ``hi``."""
        n, centre = len(x), x[len(x) // 2]
        below = np.concatenate([[0.0], np.cumsum(x - centre)])
        first, last = removed + self.trim, n + added - self.trim
        total = below[np.clip(last, 0, n)] - below[np.clip(first, 0, n)]
        fresh = np.maximum(last - np.maximum(first, n), 0)
        total[fresh > 0] += fresh[fresh > 0] * (hi - centre)
        size = last - first
        means = np.full(size.shape, np.nan)
        np.divide(total, size, out=means, where=size > 0)
        return np.asarray(centre + means, dtype=np.float64)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Return the least r + a that empties the window or brings its mean to the target.

        The sum of (window - target) gains x_(n-m+j) - target with the j-th addition (``hi`` beyond
        rank n) and target - x_(m+j) with the j-th removal, so the two kinds add up.
        """
        n, m = len(x), self.trim
        empty = max(n - 2 * m, 0)
        if not empty:
            return 0
        deficit = float((target - x[m : n - m]).sum())
        kept = np.concatenate([x[n - m :], np.full(max(empty - m, 0), hi)])[:empty]
        adding = np.concatenate([[0.0], np.cumsum(kept - target)])
        removing = np.concatenate([[0.0], np.cumsum(target - x[m : n - m])])
        # The least r whose gain, or that of a smaller r, fills what is left of the deficit.
        removed = np.searchsorted(np.maximum.accumulate(removing), deficit - adding)
        lengths = np.arange(len(adding)) + removed
        reached = lengths[removed < len(removing)]
        return int(min(reached.min(initial=empty), empty))
