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

from modicum.mechanisms.piecewise import Runs

__all__ = ["OctavePrior"]

_LN2 = Fraction(710, 1024)


@dataclass(frozen=True, slots=True)
class OctavePrior:
    """Every doubling of the distance from a centre makes an integer less likely.

    The integers at distances 2^(j-1) to 2^j - 1 are octave j, the centre itself is octave 0.

    Parameters
    ----------
    centre : int
        Released or public.
    power : Fraction
        An integer of octave j has weight 2^(-power j), about.
    """

    centre: int
    power: Fraction

    def cost(self, rate: Fraction) -> int:
        """Loss of one octave, in units that weigh ``rate`` each."""
        return round(self.power * _LN2 / rate)

    def added(self, runs: Runs, cost: int) -> Runs:
        """Cut stretches at the octaves, and add ``cost`` for each octave.

        Examples
        --------
        >>> one = Runs(np.array([-4]), np.array([10]), np.array([5]))
        >>> cut = OctavePrior(0, Fraction(1)).added(one, 2)
        >>> cut.starts.tolist(), cut.losses.tolist()
        ([-4, -3, -1, 0, 1, 2, 4], [11, 9, 7, 5, 7, 9, 11])
        """
        first, end = int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1])
        distance = max(abs(first - self.centre), abs(end - self.centre), 1)
        edges = [self.centre + 1 - (1 << j) for j in range(distance.bit_length() + 1)]
        edges += [self.centre + (1 << j) for j in range(distance.bit_length() + 1)]
        cuts = np.array([e for e in edges if first < e < end], dtype=np.int64)
        starts = np.union1d(runs.starts, cuts)
        place = np.searchsorted(runs.starts, starts, side="right") - 1
        lengths = np.diff(starts, append=end)
        # All of a stretch is in one octave now. Distances are below 2^53, so frexp is exact.
        octaves = np.frexp(np.abs(starts - self.centre).astype(np.float64))[1].astype(np.int64)
        return Runs(starts, lengths, runs.losses[place] + cost * octaves)

    def log_cost(self, width: int) -> float:
        """Most that the weights of two integers of an interval can differ by, as a logarithm."""
        return float(self.power) * math.log(2) * (width.bit_length() + 1)
