"""One record a person: the exact mean or sum of their values, on the lattice."""

from __future__ import annotations

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.frames.base import Floats
from modicum.privacy.unit import Combine
from modicum.summaries.base import LIMB, Integers, Sensitive

__all__ = ["PersonTotals"]

_LOW = (1 << LIMB) - 1


class PersonTotals(Sensitive):
    """Adds up each person's lattice integers, in two limbs, and counts them.

    A lattice integer is q = 2^26 h + l with 0 <= l < 2^26 and |h| <= 2^25, so that both sums stay
    within int64 for a person of up to 2^37 rows ([U4] on the proof page).

    Parameters
    ----------
    lattice : Lattice or None
        ``None``: values do not matter, only whether there are any.

    Examples
    --------
    >>> totals = PersonTotals(Lattice.within((-8, 8), step=1))
    >>> totals.add(np.array([0, 1, 0, 2]), np.array([3.0, 5.0, -6.0, np.nan]))
    >>> totals.records("mean", 3), totals.records("sum", 3)
    (array([-2.,  5., nan]), array([-3.,  5., nan]))
    """

    __slots__ = ("_counts", "_highs", "_lattice", "_lows")

    def __init__(self, lattice: Lattice | None) -> None:
        self._lattice = lattice
        self._counts = self._highs = self._lows = np.zeros(0, dtype=np.int64)

    def add(self, codes: Integers, x: Floats) -> None:
        """Take in values and the person of each; persons below 0 and NaN are dropped."""
        present = (codes >= 0) & ~np.isnan(x)
        codes = codes[present]
        self._grow(int(codes.max(initial=-1)) + 1)
        np.add.at(self._counts, codes, 1)
        if self._lattice is not None:
            q = self._lattice.quantise(x[present])
            np.add.at(self._highs, codes, q >> LIMB)
            np.add.at(self._lows, codes, q & _LOW)

    def records(self, combine: Combine, persons: int) -> Floats:
        """Return one number on the lattice for each person, NaN without values."""
        self._grow(persons)
        counts = self._counts[:persons]
        records = np.where(counts > 0, 0.0, np.nan)
        if self._lattice is not None:
            there = counts > 0
            highs, lows = self._highs[:persons][there], self._lows[:persons][there]
            highs, lows = highs + (lows >> LIMB), lows & _LOW
            q = (
                self._mean(highs, lows, counts[there])
                if combine == "mean"
                else self._sum(highs, lows)
            )
            records[there] = q * self._lattice.step
        return records

    @staticmethod
    def _mean(highs: Integers, lows: Integers, counts: Integers) -> Integers:
        """Floor of (2^26 h + l) / n: of h = n a + r it is 2^26 a + floor((2^26 r + l) / n)."""
        whole, rest = np.divmod(highs, counts)
        mean: Integers = (whole << LIMB) + ((rest << LIMB) + lows) // counts
        return mean

    def _sum(self, highs: Integers, lows: Integers) -> Integers:
        """2^26 h + l, clamped to the range: beyond |h| = 2^26 it is beyond 2^51 anyway."""
        assert self._lattice is not None
        sums = (np.clip(highs, -1 << LIMB, 1 << LIMB) << LIMB) + lows
        clamped: Integers = np.clip(sums, self._lattice.first, self._lattice.last)
        return clamped

    def _grow(self, persons: int) -> None:
        if persons > len(self._counts):
            more = np.zeros(max(persons, 2 * len(self._counts)) - len(self._counts), np.int64)
            self._counts = np.concatenate([self._counts, more])
            self._highs = np.concatenate([self._highs, more])
            self._lows = np.concatenate([self._lows, more])
