"""What released moments may be off by: noise, rows that were shrunk, values that were cut off.

Proofs and assumptions are on docs/proofs/moments.md, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.statistics.moments import Moments
from modicum.statistics.noise_quantile import noise_quantile
from modicum.summaries.second_moments import CLIP, FINE, MOST_CUT, REACH, Norm

__all__ = ["CONDITION", "COUNTED", "Touched", "covered", "noise_size", "touched"]

Floats = NDArray[np.float64]

CONDITION = "for tails of index 3 or lighter"
COUNTED = 0.3
"""Part of the chance of a miss that goes to the numbers of rows and of squares cut off."""

_SECOND = 2  # tails of this index or heavier have no second moment


def noise_size(deviations: Floats, norm: Norm, chance: float) -> float:
    """Bound the largest eigenvalue, in size, of a symmetric matrix of independent noise.

    The smaller of two bounds, which depend on the deviations alone. Its mean is about twice the
    largest root of the sum of a row's variances (Bandeira and van Handel 2016), and it is a
    function of normal entries with the Lipschitz constant sqrt(2) times their largest deviation.
    And if all entries are within so many deviations, it is within so many times theirs.
    """
    size = len(deviations)
    rows = np.sqrt((deviations**2).sum(axis=1)).max(initial=0.0)
    largest = deviations.max(initial=0.0)
    of_rows = 2 * rows + math.sqrt(2) * noise_quantile(norm, chance / 2) * largest
    each = noise_quantile(norm, chance / (size * (size + 1)))
    return float(min(of_rows, each * np.abs(np.linalg.eigvalsh(deviations)).max(initial=0.0)))


@dataclass(frozen=True, slots=True)
class Touched:
    """Upper ends of the shares of rows that were shrunk or cut off, under the assumption [T].

    [T]: values fall off like a power of index ``tail``, or faster: so do squares, with half the
    index; and a share s of the rows holds at most s^(1 - 2/tail) of a sum of squares, in any
    direction.

    Attributes
    ----------
    shrunk : float
        The weight that rows have lost, as a share of their number.
    cut : float
        The share of rows with a value cut off.
    squares : float64 array
        What was cut off the squares of each column, per row, in half-widths, as far as counted.
    noise : float
        Standard deviation of the noise of each.
    times : float
        So many of these are to be added.
    tail : float or None
        None if the rows themselves, shrunk and cut off, are asked for: all is 0.
    """

    shrunk: float
    cut: float
    squares: Floats
    noise: float
    times: float
    tail: float | None

    @property
    def lost(self) -> float:
        """What shrunk rows lost, at most so many times a sum of squares; may be infinite."""
        if self.tail is None:
            return 0.0
        return _odds(self.shrunk ** max(1 - 2 / self.tail, 0.0))

    @property
    def unrelated(self) -> float:
        """The same for a sum of products whose factors are unrelated, and both kinds of rows [U].

        [U]: these have index ``tail``, not half of it, so 1/tail takes the place of 2/tail.
        """
        return (
            0.0
            if self.tail is None
            else _odds(min(self.shrunk + self.cut, 1.0) ** (1 - 1 / self.tail))
        )

    def missing(self, summed: Floats, means: Floats) -> Floats:
        """Bound what is missing from sums of products of deviations, per row, in half-widths."""
        size = len(summed)
        if self.tail is None:
            return np.zeros((size, size))
        if self.tail <= _SECOND:
            return np.full((size, size), np.inf)
        lost = np.sqrt(self._shrunk(summed, means))
        beyond = np.sqrt(self._beyond * (self.squares + self.times * self.noise))
        kept = np.sqrt(self.cut) * (CLIP + np.abs(means))
        held = kept * math.sqrt(self.tail / (self.tail - _SECOND))
        crossed = np.outer(beyond, kept)
        counted = crossed + crossed.T + np.outer(beyond, beyond)
        np.fill_diagonal(counted, beyond**2)
        found: Floats = np.outer(lost, lost) + np.minimum(counted, np.outer(held, held))
        return found

    def missing_size(self, summed: Floats, means: Floats, units: Floats) -> float:
        """Bound the largest eigenvalue of the matrix that is missing, in the units of the data."""
        if self.tail is None:
            return 0.0
        if self.tail <= _SECOND:
            return math.inf
        noise = self.times * self.noise * float(np.linalg.norm(units**2))
        beyond = self._beyond * (float(self.squares @ units**2) + noise)
        kept = self.cut * float((CLIP + np.abs(means)) ** 2 @ units**2)
        held = kept * self.tail / (self.tail - _SECOND)
        lost = float(self._shrunk(summed, means) @ units**2)
        return lost + min(beyond + 2 * math.sqrt(beyond * kept), held)

    @property
    def _beyond(self) -> float:
        """All squares that were cut off, over those that are counted, by the power law."""
        assert self.tail is not None
        return 1 / (1 - math.pow(REACH, 1 - self.tail / 2))

    def _shrunk(self, summed: Floats, means: Floats) -> Floats:
        """A row lost at most its weight times the largest square, or [T]."""
        most = self.shrunk * (CLIP + np.abs(means)) ** 2
        return most if math.isinf(self.lost) else np.minimum(most, self.lost * summed)


def touched(moments: Moments, tail: float | None, chance: float) -> Touched:
    """Bound them from released numbers, all at once but for a chance."""
    squares = np.array(moments.cut.squares) / FINE
    if tail is None:
        return Touched(0.0, 0.0, np.zeros_like(squares), 0.0, 0.0, None)
    times = noise_quantile(moments.norm, chance / (2 + len(squares)))
    slack = times * moments.cut.deviation
    counted = moments.cut.inside + moments.cut.outside
    rows = max(counted - math.sqrt(2) * slack, 1.0)
    less = counted - float(moments.products[0, 0])
    unsure = times * math.hypot(math.sqrt(2) * moments.cut.deviation, moments.noise[0, 0])
    shrunk = max(less, 0.0) + unsure
    cut = max(moments.cut.outside, 0) + slack
    return Touched(
        min(shrunk / rows, 1.0),
        min(cut / rows, 1.0),
        np.maximum(squares, 0.0) / rows,
        moments.cut.deviation * MOST_CUT / FINE / rows,
        times,
        tail,
    )


def covered(tail: float | None) -> str:
    """Say what intervals for all rows cover."""
    if tail is None:
        return "covers the noise, for the rows as they were shrunk and cut off, and no more."
    return (
        "covers the noise, to first order, and what was shrunk or cut off, of which the share is "
        f"known up to noise, if values fall off like a power of index {tail:g} or faster."
    )


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf
