"""Quantiles, as monotone statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.theory.data import Floats, Integers, Number
from modicum.theory.statistic import Statistic

__all__ = ["Quantile"]

_DENOMINATOR = 10**9  # numerators times ranks stay below 2^63 for n up to 9e9


@dataclass(frozen=True, slots=True)
class Quantile(Statistic):
    """The record of rank ceil(q n), counted from 1 in increasing order. Not private.

    For q = 1/2 and even n this is the lower of the two middle records.

    Parameters
    ----------
    q : int, float, str or Fraction
        Strictly between 0 and 1, read exactly; a denominator above 10^9 is rounded.

    Raises
    ------
    InvalidArgument
        If q is not between 0 and 1.

    Notes
    -----
    With r of the lowest removed and k - r added above, the record has rank r + ceil(q (n + k - 2r))
    among the old ones. One more removal changes the rank by 1 + ceil(z - 2q) - ceil(z) for some
    z, which is >= 0 if q <= 1/2 and <= 0 if q >= 1/2: the best split is all removals or all
    additions.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.modulus([1, 2, 3, 4, 5], theory.Quantile(0.5), 2, within=(0, 10))
    1.0
    """

    q: Number

    def __post_init__(self) -> None:
        """Read q exactly."""
        q = as_fraction(self.q, "q")
        if not 0 < q < 1:
            raise InvalidArgument(f"q must lie strictly between 0 and 1, got {self.q!r}")
        object.__setattr__(self, "q", q.limit_denominator(_DENOMINATOR))
        if not 0 < self.share < 1:
            raise InvalidArgument(f"q must be at least 1e-9 away from 0 and 1, got {self.q!r}")

    @property
    def share(self) -> Fraction:
        """Q as a fraction."""
        return Fraction(self.q)

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return "median" if self.share == Fraction(1, 2) else f"{float(self.share):g} quantile"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return records of rank r + ceil(q (n - r + a)), or ``hi`` above rank n."""
        size = len(x) - removed + added
        rank = removed + self._rank(size)
        values = np.where(rank <= len(x), x[np.clip(rank, 1, len(x)) - 1], hi)
        return np.where(size > 0, values, np.nan)

    def lowered(self, x: Floats, removed: Integers, added: Integers, lo: float) -> Floats:
        """Return records of rank ceil(q (n - r + a)) - a, or ``lo`` below rank 1."""
        size = len(x) - removed + added
        rank = self._rank(size) - added
        values = np.where(rank >= 1, x[np.clip(rank, 1, len(x)) - 1], lo)
        return np.where(size > 0, values, np.nan)

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        """Return its highest values after so many additions and removals, shape (m,)."""
        removed = self._removals(operations, len(x), self.share <= Fraction(1, 2))
        return self.raised(x, removed, operations - removed, hi)

    def lowest(self, x: Floats, operations: Integers, lo: float) -> Floats:
        """Return its lowest values after so many additions and removals, shape (m,)."""
        removed = self._removals(operations, len(x), self.share >= Fraction(1, 2))
        return self.lowered(x, removed, operations - removed, lo)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Count in units of 1/denominator: the value is >= target iff #{x < target} < q n."""
        n, q = len(x), self.share
        below = int(np.searchsorted(x, target, side="left"))
        excess = (1 - q) * below - q * (n - below)
        return 0 if excess < 0 else min(math.floor(excess / max(q, 1 - q)) + 1, n)

    def length_down(self, x: Floats, target: float, lo: float) -> int:
        """Count likewise: the value is <= target iff #{x <= target} >= q n."""
        n, q = len(x), self.share
        upto = int(np.searchsorted(x, target, side="right"))
        excess = q * (n - upto) - (1 - q) * upto
        return math.ceil(max(excess, Fraction(0)) / max(q, 1 - q))

    def _rank(self, size: Integers) -> Integers:
        """Return ceil(q size) in integers."""
        q = self.share
        return -((-q.numerator * size) // q.denominator)

    @staticmethod
    def _removals(operations: Integers, n: int, only: bool) -> Integers:  # noqa: FBT001
        """Return how many of the operations remove, such that a record is left."""
        most = np.minimum(operations, np.where(operations == n, n - 1, n))
        return most if only else np.zeros_like(operations)
