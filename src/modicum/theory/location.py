"""Minimisers of a sum of p-th powers of distances, as monotone statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.theory.data import Floats, Integers
from modicum.theory.statistic import Statistic, by_bisection

__all__ = ["Location"]


@dataclass(frozen=True, slots=True)
class Location(Statistic):
    """The t that minimises sum |x - t|^p, p > 1. Not private.

    Between the median (p towards 1), the mean (p = 2) and the midrange (p towards infinity). There
    is no closed form: one value costs some 60 passes over the distinct records, so data with few
    of them are quick at any n.

    Parameters
    ----------
    p : float
        Finite, above 1. For p = 1 use the median.

    Raises
    ------
    InvalidArgument
        For any other p.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import theory
    >>> x = np.append(np.zeros(999_999), 1.0)
    >>> bool(np.isclose(theory.Location(3).value(x), 1 / (1 + 999_999**0.5)))
    True
    """

    p: float

    def __post_init__(self) -> None:
        """Refuse a p for which the minimiser is not unique or not defined."""
        if not as_fraction(self.p, "p") > 1:
            raise InvalidArgument(f"p must be above 1, got {self.p!r}")

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"location (p = {self.p:g})"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return minimisers without the lowest records and with new ones at ``hi``."""
        values, counts = np.unique(x, return_counts=True)
        upto = np.cumsum(counts)
        found = []
        for r, a in zip(removed.tolist(), added.tolist(), strict=True):
            kept = int(np.searchsorted(upto, r, side="right"))
            rest, left = values[kept:], np.minimum(counts, np.maximum(upto - r, 0))[kept:]
            if a and not math.isfinite(hi):
                found.append(hi)
            elif a:
                found.append(self._minimiser(np.append(rest, hi), np.append(left, a)))
            elif r < len(x):
                found.append(self._minimiser(rest, left))
            else:
                found.append(math.nan)
        return np.array(found, dtype=np.float64)

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        """Return its highest values after so many additions and removals, shape (m,)."""
        return by_bisection(self, x, operations, hi)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Take the largest gains first, -psi(x - target) or, for new records, psi(hi - target).

        The minimiser is at least the target iff the sum of psi(x - target) is at least 0, with
        psi(v) = sgn(v) |v|^(p - 1).
        """
        gains = self._psi(target - x)
        deficit = float(gains.sum())
        if deficit <= 0:
            return 0
        fresh = float(self._psi(np.array([hi - target]))[0])
        better = np.cumsum(gains[gains > fresh])
        enough = int(np.searchsorted(better, deficit))
        if enough < len(better):
            return enough + 1
        rest = deficit - (float(better[-1]) if len(better) else 0.0)
        if not rest < fresh * len(x):
            return len(x)
        return min(len(better) + math.ceil(rest / fresh), len(x))

    def _psi(self, v: Floats) -> Floats:
        return np.asarray(np.sign(v) * np.abs(v) ** (self.p - 1), dtype=np.float64)

    def _minimiser(self, values: Floats, counts: Integers) -> float:
        """Halve an interval until its ends are neighbouring floats."""
        lo, hi = float(values[0]), float(values[-1])
        while True:
            middle = lo + (hi - lo) / 2
            if not lo < middle < hi:
                break
            distance = values - middle
            # Scaled, so that no power overflows.
            pull = counts * self._psi(distance / max(abs(distance[0]), abs(distance[-1])))
            if float(pull.sum()) > 0:
                lo = middle
            else:
                hi = middle
        return hi if abs(hi) < abs(lo) else lo
