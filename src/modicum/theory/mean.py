"""The mean, as a monotone statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from modicum.theory.data import Floats, Integers
from modicum.theory.statistic import Statistic, by_bisection

__all__ = ["Mean"]


@dataclass(frozen=True, slots=True)
class Mean(Statistic):
    """The mean of at least one record. Not private.

    Everything is computed from one prefix sum: n log n for the sort, then O(log n) for a number of
    operations.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.modulus([0, 0, 0, 1], theory.Mean(), 1, within=(0, 10))
    1.9500000000000002

    One record 10 more makes 11/5; one 0 less would make 1/3.
    """

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return "mean"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return means without the lowest records and with new ones at ``hi``."""
        n, centre = len(x), x[len(x) // 2]  # sums of centred records keep more digits
        below = np.concatenate([[0.0], np.cumsum(x - centre)])
        total = below[n] - below[removed]
        total[added > 0] += added[added > 0] * (hi - centre)  # 0 times infinity stays out
        size = n - removed + added
        means = np.full(size.shape, np.nan)
        np.divide(total, size, out=means, where=size > 0)
        return np.asarray(centre + means, dtype=np.float64)

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        """Return its highest values after so many additions and removals, shape (m,)."""
        return by_bisection(self, x, operations, hi)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Remove the records below 2 target - hi, lowest first, then add records at ``hi``.

        A removal gains target - x, an addition hi - target, and the mean is at least the target
        when the gains reach the deficit sum(target - x).
        """
        deficit = float((target - x).sum())
        if deficit <= 0:
            return 0
        gains = np.cumsum(target - x[: int(np.searchsorted(x, 2 * target - hi))])
        enough = int(np.searchsorted(gains, deficit))
        if enough < len(gains):
            return enough + 1
        rest = deficit - (float(gains[-1]) if len(gains) else 0.0)
        if not rest < (hi - target) * len(x):  # all n records go instead
            return len(x)
        return min(len(gains) + math.ceil(rest / (hi - target)), len(x))
