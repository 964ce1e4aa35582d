"""A prior for an integer of an absurdly wide range: about log-uniform in its distance from a point.

Among 2^52 equally likely candidates nearly all are far beyond the data, and a few records cannot
outweigh them. A weight of r^-power in the distance r from a released point makes the expected
overshoot a geometric series, whatever the range is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.mechanisms.grid import FloatGrid
from modicum.mechanisms.piecewise import Runs

__all__ = ["CELLS", "OctavePrior"]

CELLS = FloatGrid(3)
"""Numbers distances so that 8 more are twice as far; those below 16 one by one."""

_LN2 = Fraction(710, 1024)
# Least distances of the cells from the first on, up to more than the widest interval has.
_BEGINS = np.array([CELLS.point(number) for number in range(1, CELLS.number(1 << 54) + 1)])


@dataclass(frozen=True, slots=True)
class OctavePrior:
    """Every doubling of the distance from a centre makes an integer less likely.

    Distances are counted by :data:`CELLS`, eight cells an octave: a function of the distance
    alone, so the data have no influence on the prior.

    Parameters
    ----------
    centre : int
        Released or public.
    power : Fraction
        An integer at distance r has weight r^-power, about.
    atom : int
        Cells that all integers but the centre are further away, for data that are constant.
    """

    centre: int
    power: Fraction
    atom: int = 0

    def cost(self, rate: Fraction) -> int:
        """Loss of one cell, in units that weigh ``rate`` each."""
        return round(self.power * _LN2 / (1 << CELLS.bits) / rate)

    def added(self, runs: Runs, cost: int) -> Runs:
        """Cut stretches at the cells, and add ``cost`` for each cell.

        Examples
        --------
        >>> one = Runs(np.array([14]), np.array([9]), np.array([5]))
        >>> cut = OctavePrior(0, Fraction(1)).added(one, 2)
        >>> cut.starts.tolist(), cut.losses.tolist()
        ([14, 15, 16, 18, 20, 22], [33, 35, 37, 39, 41, 43])
        """
        first, end = int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1])
        cells = CELLS.number(max(abs(first - self.centre), abs(end - self.centre))) + 1
        distances = _BEGINS[:cells]
        edges = np.concatenate([self.centre + distances, self.centre + 1 - distances])
        starts = np.concatenate([runs.starts, edges[(first < edges) & (edges < end)]])
        starts.sort()  # np.unique of integers hashes them first
        starts = starts[np.append(True, starts[1:] > starts[:-1])]
        place = np.searchsorted(runs.starts, starts, side="right") - 1
        lengths = np.diff(starts, append=end)
        # All of a stretch is in one cell now.
        numbers = CELLS.numbers(np.abs(starts - self.centre))
        numbers += self.atom * (numbers > 0)
        return Runs(starts, lengths, runs.losses[place] + cost * numbers)

    def log_beyond(self, distance: int, candidates: tuple[int, int], rate: Fraction) -> float:
        """Logarithm of the weight of all candidates at least so far above the centre.

        ``rate`` is that of the law which has the prior. Where no candidate is so far it is about
        that of none, -690.
        """
        first, last = candidates
        length = np.array([last + 1 - first])
        runs = self.added(Runs(np.array([first]), length, np.zeros(1, np.int64)), self.cost(rate))
        starts = np.maximum(runs.starts, self.centre + distance)
        lengths = np.maximum(runs.starts + runs.lengths - starts, 0)
        weights = np.exp(-float(rate) * runs.losses.astype(np.float64))
        return math.log(max(math.fsum((lengths * weights).tolist()), 1e-300))

    def log_cost(self, width: int) -> float:
        """Most that the weights of two integers of an interval can differ by, as a logarithm."""
        cells = CELLS.number(width) + self.atom
        return float(self.power * _LN2) * cells / (1 << CELLS.bits)
