"""The exponential mechanism on an interval of integers whose loss is piecewise constant.

P(z) ∝ exp(-rate loss(z)) for z in [first, last]. A loss that changes by at most 1 between
neighbouring data sets at every z makes one draw a :class:`~modicum.privacy.event.BoundedRange`
event of size 2 rate: numerator and normaliser each move by a factor exp(±rate) (McSherry and
Talwar 2007). The interval may hold 2^60 integers; only the runs between data points matter.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import Law
from modicum.privacy.event import BoundedRange, Event

__all__ = ["PiecewiseLaw", "Runs", "runs_between"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Runs:
    """Consecutive stretches of an integer interval: first integer, length, loss of each."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    losses: NDArray[np.int64]


class PiecewiseLaw(Law[int]):
    """Base of laws on ``[first, last]`` with density exp(-rate loss)."""

    __slots__ = ()

    @property
    @abstractmethod
    def rate(self) -> Fraction:
        """Weight of one unit of loss, half of the event's size."""

    @abstractmethod
    def runs(self) -> Runs:
        """Stretches of constant loss, in order, without gaps or overlaps."""

    @property
    def event(self) -> Event:
        """Bounded range of twice the rate."""
        return BoundedRange(2 * self.rate)

    def sample(self, entropy: Entropy) -> int:
        """Choose a stretch by its exact weight, then an integer of it uniformly."""
        runs = self.runs()
        excess = runs.losses - runs.losses.min()
        i = draw_level(runs.lengths, excess, self.rate, entropy)
        return int(runs.starts[i]) + entropy.below(int(runs.lengths[i]))

    def log_density(self, outcome: int) -> float:
        """Log probability of one integer."""
        runs = self.runs()
        i = int(np.searchsorted(runs.starts, outcome, side="right")) - 1
        if i < 0 or outcome >= int(runs.starts[i]) + int(runs.lengths[i]):
            return -math.inf
        # Subtracting integers first keeps the exponents of the heavy stretches exact.
        exponents = (runs.losses - runs.losses[i]) * float(self.rate)
        log_weights = np.log(runs.lengths.astype(np.float64)) - exponents
        top = float(log_weights.max())
        return -(top + math.log(float(np.exp(log_weights - top).sum())))

    def probes(self) -> Iterable[int]:
        """Return the two ends of every stretch: the law is constant in between."""
        runs = self.runs()
        ends = runs.starts + runs.lengths - 1
        return sorted({*runs.starts.tolist(), *ends.tolist()})


def runs_between(
    points: NDArray[np.int64], first: int, last: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cut ``[first, last]`` at sorted points: every distinct point and every gap is a stretch.

    Parameters
    ----------
    points : (m,) sorted int64 array inside the interval, repetitions allowed
    first, last : int
        The interval, first <= last.

    Returns
    -------
    starts, lengths, below, equal : int64 arrays
        For each stretch its first integer, its length, the number of points below it and the
        number of points on it (zero for a gap).
    """
    # np.unique would sort again; the points are sorted.
    heads = np.flatnonzero(np.diff(points, prepend=first - 1))
    values = points[heads]
    before = np.append(heads, len(points))
    starts = np.empty(2 * len(values) + 1, dtype=np.int64)
    starts[0], starts[1::2], starts[2::2] = first, values, values + 1
    stops = np.append(starts[1:], last + 1)
    below = np.empty_like(starts)
    below[0::2], below[1::2] = before, before[:-1]
    equal = np.zeros_like(starts)
    equal[1::2] = np.diff(before)
    lengths = stops - starts
    real = lengths > 0
    return starts[real], lengths[real], below[real], equal[real]
