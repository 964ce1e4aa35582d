"""Monotone statistics: how far additions and removals can push one, and how many it takes.

The contract, and five that fulfil it: any function, mean, trimmed mean, quantile and location.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.rational import as_fraction, as_integer
from modicum.privacy.budget import Number

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_PAIRS = 1 << 22  # splits computed at a time, 32 MB an array
_DENOMINATOR = 10**9  # numerators times ranks stay below 2^63 for n up to 9e9
_CELLS = 1 << 20  # distances computed at a time


class Statistic(ABC):
    """A statistic of one column that is monotone in three ways.

    Raising a record, adding a record at the upper end of the range, and removing the lowest
    record never lower it. Every property that is monotone under first-order stochastic dominance
    (Dick et al. 2023, Definition 4.2) is; a trimmed mean is too, although not a function of the
    distribution function. Then the highest value after k additions and removals is reached by
    removing the r lowest records and adding k - r at the upper end, for the best r.

    Not private: methods take the sorted records themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import theory
    >>> median, x = theory.Quantile(0.5), np.array([1.0, 2, 3, 4, 5])
    >>> median.value(x), median.highest(x, np.array([1, 2]), np.inf).tolist()
    (3.0, [3.0, 4.0])
    >>> median.length_up(x, target=4.5, hi=np.inf)
    4
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in tables."""

    @abstractmethod
    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        """Return its values without the lowest records and with new ones at the upper end.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.
        removed, added : int64 array, shape (m,)
            How many of the lowest are left out, at most n each, and how many are new.
        hi : float
            Where new records lie: at least x[-1], and perhaps infinite.

        Returns
        -------
        float64 array, shape (m,)
            NaN where the statistic is not defined.
        """

    @property
    def mirror(self) -> Statistic:
        """The statistic x -> -θ(-x), by which what is lowest follows from what is highest."""
        return self

    def lowered(self, x: Floats, removed: Integers, added: Integers, lo: float) -> Floats:
        """Return its values without the highest records and with new ones at the lower end.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.
        removed, added : int64 array, shape (m,)
            How many of the highest are left out, and how many are new.
        lo : float
            Where new records lie: at most x[0], and perhaps infinite.

        Returns
        -------
        float64 array, shape (m,)
            As of :meth:`raised`.
        """
        return -self.mirror.raised(-x[::-1], removed, added, -lo)

    def value(self, x: Floats) -> float:
        """Return the statistic of the records.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.

        Returns
        -------
        float
            In the unit of the data.

        Raises
        ------
        InvalidArgument
            If it is not defined for so few records.
        """
        none = np.zeros(1, np.int64)
        value = float(self.raised(x, none, none, float(x[-1]))[0])
        if np.isnan(value):
            raise InvalidArgument(f"the {self.name} is not defined for {len(x)} records")
        return value

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        """Return its highest values after so many additions and removals.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.
        operations : int64 array, shape (m,)
            Numbers of additions and removals together.
        hi : float
            The upper end of the range, perhaps infinite.

        Returns
        -------
        float64 array, shape (m,)
            In the unit of the data.
        """
        # All splits into removals and additions are tried: O(k) for each number k of operations.
        parts = []
        for block in _blocks(operations, len(x)):
            most = np.minimum(block, len(x))
            starts = np.cumsum(most + 1) - (most + 1)
            removed = np.arange(int((most + 1).sum())) - np.repeat(starts, most + 1)
            added = np.repeat(block, most + 1) - removed
            parts.append(np.fmax.reduceat(self.raised(x, removed, added, hi), starts))
        return np.concatenate(parts)

    def lowest(self, x: Floats, operations: Integers, lo: float) -> Floats:
        """Return its lowest values after so many additions and removals.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.
        operations : int64 array, shape (m,)
            Numbers of additions and removals together.
        lo : float
            The lower end of the range, perhaps infinite.

        Returns
        -------
        float64 array, shape (m,)
            In the unit of the data.
        """
        return -self.mirror.highest(-x[::-1], operations, -lo)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        """Return how many additions and removals bring the statistic to ``target`` or above.

        Data for which it is not defined count as being there, so n removals always do.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.
        target : float
            In the unit of the data.
        hi : float
            The upper end of the range, perhaps infinite.

        Returns
        -------
        int
            From 0 to n.
        """
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            there = self.highest(x, np.array([middle]), hi)[0] >= target
            low, high = (low, middle) if there else (middle + 1, high)
        return low

    def length_down(self, x: Floats, target: float, lo: float) -> int:
        """Return how many additions and removals bring it to ``target`` or below.

        Parameters
        ----------
        x : float64 array, shape (n,)
            The records, sorted and finite; n >= 1.
        target : float
            In the unit of the data.
        lo : float
            The lower end of the range, perhaps infinite.

        Returns
        -------
        int
            From 0 to n.
        """
        return self.mirror.length_up(-x[::-1], -target, -lo)

    def ranks(self, n: int) -> tuple[int, int]:
        """Return the ranks, from 1, of the first and last record of which it is the mean.

        Parameters
        ----------
        n : int
            How many records there are.

        Returns
        -------
        (int, int)
            From them follow local sensitivities at a distance.

        Raises
        ------
        InvalidArgument
            If it is no mean of consecutive ranks, or there are too few records.
        """
        raise InvalidArgument(
            "local sensitivities are known for means, quantiles and trimmed means of enough "
            f"records, not for the {self.name} of {n}"
        )


def _blocks(operations: Integers, n: int) -> Iterator[Integers]:
    """Cut the numbers of operations so that a block has few splits in all."""
    sizes = np.cumsum(np.minimum(operations, n) + 1)
    edges = np.searchsorted(sizes, np.arange(0, int(sizes[-1]), _PAIRS), side="right")
    for block in np.split(operations, np.unique(edges)):
        if len(block):
            yield block


@dataclass(frozen=True, slots=True)
class Monotone(Statistic):
    """A monotone statistic given by a function; nothing is known but its values.

    Not private. Every value costs a call, and one number k of operations costs k + 1 values.

    Parameters
    ----------
    function : callable
        Takes a sorted float64 array of shape (n,), n >= 1, returns a number, and is monotone in
        the three ways of :class:`Statistic`. That is not checked.
    name : str
        What it is called in tables.

    Examples
    --------
    >>> from modicum import theory
    >>> midrange = theory.Monotone(lambda x: (x[0] + x[-1]) / 2, "midrange")
    >>> theory.subset_risk([0, 1, 2, 3, 10], midrange, 1).spread
    4.0

    Without the 0 the midrange is 5.5, without the 10 it is 1.5.
    """

    function: Callable[[Floats], float] = field(repr=False)
    name: str = "statistic"

    @property
    def mirror(self) -> Monotone:
        return Monotone(lambda x: -self.function(-x[::-1]), self.name)

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        pairs = zip(removed.tolist(), added.tolist(), strict=True)
        moved = (np.concatenate([x[r:], np.full(a, hi)]) for r, a in pairs)
        return np.array([float(self.function(y)) if len(y) else np.nan for y in moved], np.float64)


class _MEstimator(Statistic):
    """A statistic that is at least t if and only if the sum of psi(. - t) is at least 0.

    Its highest values are found by bisection over the number of removals. Removing the r-th lowest
    record gains -psi(x_(r) - t), which does not increase with r, and gives up an addition, which
    gains psi(hi - t) whatever r is. So the sum is concave in r, those r that reach t are an
    interval, and the highest value has no plateau below its top.
    """

    __slots__ = ()

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        n = len(x)
        low = np.zeros_like(operations)
        high = np.minimum(operations, np.where(operations == n, n - 1, n))  # some record is left
        while (low < high).any():
            middle = (low + high) // 2
            following = np.minimum(middle + 1, high)
            here = self.raised(x, middle, operations - middle, hi)
            further = self.raised(x, following, operations - following, hi) > here
            low = np.where(further, following, low)
            high = np.where(further, high, middle)
        return self.raised(x, low, operations - low, hi)


def _window_means(x: Floats, first: Integers, last: Integers, hi: float) -> Floats:
    """Means of the records of ranks first + 1 to last, those above n being ``hi``."""
    n, centre = len(x), x[len(x) // 2]  # sums of centred records keep more digits
    below = np.concatenate([[0.0], np.cumsum(x - centre)])
    total = below[np.clip(last, 0, n)] - below[np.clip(first, 0, n)]
    fresh = np.maximum(last - np.maximum(first, n), 0)
    total[fresh > 0] += fresh[fresh > 0] * (hi - centre)  # 0 times infinity stays out
    size = last - first
    means = np.full(size.shape, np.nan)
    np.divide(total, size, out=means, where=size > 0)
    return np.asarray(centre + means, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Mean(_MEstimator):
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
        return "mean"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        return _window_means(x, removed, len(x) + added, hi)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        # Records below 2 target - hi are removed, lowest first, then records at hi are added: a
        # removal gains target - x, an addition hi - target, and the mean is at least the target
        # when the gains reach the deficit sum(target - x).
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

    def ranks(self, n: int) -> tuple[int, int]:
        return 1, n


@dataclass(frozen=True, slots=True)
class TrimmedMean(Statistic):
    """The mean without the m lowest and the m highest records, for n > 2m. Not private.

    Parameters
    ----------
    trim : int
        m >= 0, the number of records left out on each side.

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
        as_integer(self.trim, "trim", 0)

    @property
    def name(self) -> str:
        return f"trimmed mean ({self.trim} a side)"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        return _window_means(x, removed + self.trim, len(x) + added - self.trim, hi)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        # The least r + a that empties the window or brings its mean to the target. The sum of
        # (window - target) gains x_(n-m+j) - target with the j-th addition (hi beyond rank n) and
        # target - x_(m+j) with the j-th removal, so the two kinds add up.
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

    def ranks(self, n: int) -> tuple[int, int]:
        return (self.trim + 1, n - self.trim) if n > 2 * self.trim else Statistic.ranks(self, n)


@dataclass(frozen=True, slots=True)
class Quantile(Statistic):
    """The record of rank ceil(q n), counted from 1 in increasing order. Not private.

    For q = 1/2 and even n this is the lower of the two middle records.

    Parameters
    ----------
    q : int, float, str or Fraction
        Strictly between 0 and 1, read exactly; a denominator above 10^9 is rounded.

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
        q = as_fraction(self.q, "q")
        if not 0 < q < 1:
            raise InvalidArgument(f"q must lie strictly between 0 and 1, got {as_given(self.q)}")
        object.__setattr__(self, "q", q.limit_denominator(_DENOMINATOR))
        if not 0 < self.share < 1:
            raise InvalidArgument(
                f"q must be at least 1e-9 away from 0 and 1, got {as_given(self.q)}"
            )

    @property
    def share(self) -> Fraction:
        """Q as a fraction."""
        return Fraction(self.q)

    @property
    def name(self) -> str:
        return "median" if self.share == Fraction(1, 2) else f"{float(self.share):g} quantile"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
        # Records of rank r + ceil(q (n - r + a)), or hi above rank n.
        size = len(x) - removed + added
        rank = removed + self._rank(size)
        values = np.where(rank <= len(x), x[np.clip(rank, 1, len(x)) - 1], hi)
        return np.where(size > 0, values, np.nan)

    def lowered(self, x: Floats, removed: Integers, added: Integers, lo: float) -> Floats:
        # Records of rank ceil(q (n - r + a)) - a, or lo below rank 1.
        size = len(x) - removed + added
        rank = self._rank(size) - added
        values = np.where(rank >= 1, x[np.clip(rank, 1, len(x)) - 1], lo)
        return np.where(size > 0, values, np.nan)

    def highest(self, x: Floats, operations: Integers, hi: float) -> Floats:
        removed = self._removals(operations, len(x), self.share <= Fraction(1, 2))
        return self.raised(x, removed, operations - removed, hi)

    def lowest(self, x: Floats, operations: Integers, lo: float) -> Floats:
        removed = self._removals(operations, len(x), self.share >= Fraction(1, 2))
        return self.lowered(x, removed, operations - removed, lo)

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        # In units of 1/denominator: the value is >= target iff #{x < target} < q n.
        n, q = len(x), self.share
        below = int(np.searchsorted(x, target, side="left"))
        excess = (1 - q) * below - q * (n - below)
        return 0 if excess < 0 else min(math.floor(excess / max(q, 1 - q)) + 1, n)

    def length_down(self, x: Floats, target: float, lo: float) -> int:
        # Likewise: the value is <= target iff #{x <= target} >= q n.
        n, q = len(x), self.share
        upto = int(np.searchsorted(x, target, side="right"))
        excess = q * (n - upto) - (1 - q) * upto
        return math.ceil(max(excess, Fraction(0)) / max(q, 1 - q))

    def ranks(self, n: int) -> tuple[int, int]:
        rank = math.ceil(self.share * n)
        return rank, rank

    def _rank(self, size: Integers) -> Integers:
        """ceil(q size) in integers."""
        q = self.share
        return -((-q.numerator * size) // q.denominator)

    @staticmethod
    def _removals(operations: Integers, n: int, only: bool) -> Integers:  # noqa: FBT001
        """How many of the operations remove, where a record has to be left."""
        most = np.minimum(operations, np.where(operations == n, n - 1, n))
        return most if only else np.zeros_like(operations)


@dataclass(frozen=True, slots=True)
class Location(_MEstimator):
    """The t that minimises ``sum |x - t|^p``, p > 1. Not private.

    Between the median (p towards 1), the mean (p = 2) and the midrange (p towards infinity). There
    is no closed form: one value costs some 60 passes over the distinct records, so data with few
    of them are quick at any n.

    Parameters
    ----------
    p : float
        Finite, above 1. For p = 1 use the median.

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
        p = as_fraction(self.p, "p")
        if p <= 1:
            raise InvalidArgument(f"p must be above 1, got {as_given(self.p)}")
        object.__setattr__(self, "p", float(p))

    @property
    def name(self) -> str:
        return f"location (p = {self.p:g})"

    def raised(self, x: Floats, removed: Integers, added: Integers, hi: float) -> Floats:
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

    def length_up(self, x: Floats, target: float, hi: float) -> int:
        # The minimiser is at least the target iff the sum of psi(x - target) is at least 0, with
        # psi(v) = sgn(v) |v|^(p - 1). The largest gains are taken first: -psi(x - target) or, for
        # new records, psi(hi - target).
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
