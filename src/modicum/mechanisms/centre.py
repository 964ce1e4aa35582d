"""A private median on a floating-point grid: the centre around which spread is measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.grid import FloatGrid
from modicum.mechanisms.law import SECRET
from modicum.mechanisms.piecewise import PiecewiseLaw, Runs, runs_between

__all__ = ["MedianCentre"]


@dataclass(frozen=True, slots=True, eq=False)
class MedianCentre(PiecewiseLaw):
    """Exponential mechanism for the median over the numbers of a :class:`FloatGrid`.

    Sensitivity contract: with a records above, b below and e on a grid point, its loss is
    max(0, |a - b| - e), the number of records to add before the point is a median. One record
    more moves one of a, b, e by one, so the loss moves by at most 1, whatever the record.
    Data are rounded to the grid one record at a time.

    The outcome is the *number* of a grid point (see :class:`FloatGrid`).

    Parameters
    ----------
    numbers : sorted int64 array
        Grid numbers of the records (secret).
    grid : FloatGrid
    first, last : int
        Lattice integers of the public range; the grid points between them are the candidates.
    epsilon : Fraction
        Size of the bounded-range event.
    """

    numbers: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    grid: FloatGrid
    first: int
    last: int
    epsilon: Fraction

    @classmethod
    def template(cls, grid: FloatGrid, first: int, last: int, epsilon: Fraction) -> MedianCentre:
        """Build the law of empty data, to be filled by :meth:`over`."""
        return cls(np.empty(0, dtype=np.int64), grid, first, last, epsilon)

    def over(self, q: NDArray[np.int64]) -> MedianCentre:
        """Build the same law for these records (lattice integers, any order)."""
        return replace(self, numbers=np.sort(self.grid.numbers(q)))

    @property
    def rate(self) -> Fraction:
        """Weight of one unit of loss."""
        return self.epsilon / 2

    def runs(self) -> Runs:
        """Stretches of constant loss."""
        first, last = self.grid.number(self.first), self.grid.number(self.last)
        starts, lengths, below, equal = runs_between(self.numbers, first, last)
        above = len(self.numbers) - below - equal
        return Runs(starts, lengths, np.maximum(np.abs(above - below) - equal, 0))

    def point(self, outcome: int) -> int:
        """Return the lattice integer of an outcome, inside the public range."""
        return min(max(self.grid.point(outcome), self.first), self.last)
