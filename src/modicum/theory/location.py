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

_CELLS = 1 << 20  # distances computed at a time


@dataclass(frozen=True, slots=True)
class Location(Statistic):
    """The t that minimises ``sum |x - t|^p``, p > 1. Not private.

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
        p = as_fraction(self.p, "p")
        if p <= 1:
            raise InvalidArgument(f"p must be above 1, got {self.p!r}")
        object.__setattr__(self, "p", float(p))

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"location (p = {self.p:g})"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return minimisers without the lowest records and with new ones at ``hi``."""
        values, counts = np.unique(x, return_counts=True)
        values, counts = np.append(values, hi), np.append(counts, 0)
        upto = np.cumsum(counts)
        found = np.full(len(removed), math.nan)
        found[added > 0] = hi  # right if it is infinite
        rows = max(1, _CELLS // len(values))
        solvable = np.flatnonzero((removed < len(x)) | (added > 0))
        if not math.isfinite(hi):
            values[-1] = values[-2]
            solvable = solvable[added[solvable] == 0]
        for begin in range(0, len(solvable), rows):
            block = solvable[begin : begin + rows]
            left = np.minimum(counts, np.maximum(upto - removed[block, None], 0))
            left[:, -1] = added[block]
            found[block] = self._minimisers(values, left)
        return found

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        """Return its highest values after so many additions and removals, shape (m,)."""
        return by_bisection(self, x, operations, hi)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Take the largest gains first, -psi(x - target) or, for new records, psi(hi - target).

        The minimiser is at least the target iff the sum of psi(x - target) is at least 0, with
        ``psi(v) = sgn(v) |v|^(p - 1)``.
        """
        scale = max(hi - target, target - float(x[0])) or 1.0  # so that no power overflows
        gains = self._psi((target - x) / scale)
        # What is missing without the j lowest, summed from the small end to keep its digits.
        missing = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
        fresh = float(self._psi(np.array([(hi - target) / scale]))[0])
        better = int((gains > fresh).sum())
        filled = np.flatnonzero(missing[: better + 1] <= 0)
        if len(filled):
            return int(filled[0])
        rest = float(missing[better])
        if not rest < fresh * len(x):
            return len(x)
        return min(better + math.ceil(rest / fresh), len(x))

    def _psi(self, v: Floats) -> Floats:
        return np.asarray(np.sign(v) * np.abs(v) ** (self.p - 1), dtype=np.float64)

    def _minimisers(self, values: Floats, counts: Integers) -> Floats:
        """Halve intervals until their ends are neighbouring floats; counts has a row for each."""
        present = counts > 0
        first = values[present.argmax(axis=1)]
        last = values[len(values) - 1 - present[:, ::-1].argmax(axis=1)]
        lo, hi = first.copy(), last.copy()
        while True:
            middle = lo + (hi - lo) / 2
            open_ = (lo < middle) & (middle < hi)
            if not open_.any():
                return np.asarray(np.where(np.abs(hi) < np.abs(lo), hi, lo), dtype=np.float64)
            # Scaled, so that no power overflows; absent values may lie outside.
            scale = np.maximum(middle - first, last - middle)
            scale[scale == 0] = 1.0
            distance = (values - middle[:, None]) / scale[:, None]
            distance = np.minimum(np.maximum(distance, -1.0), 1.0)
            upwards = (counts * self._psi(distance)).sum(axis=1) > 0
            lo = np.where(open_ & upwards, middle, lo)
            hi = np.where(open_ & ~upwards, middle, hi)
