"""A private threshold near a given rank: Dick, Kulesza, Sun and Suresh 2023, Algorithm 2."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.law import SECRET
from modicum.mechanisms.piecewise import PiecewiseLaw, Runs, runs_between

__all__ = ["RankThreshold"]


@dataclass(frozen=True, slots=True, eq=False)
class RankThreshold(PiecewiseLaw):
    """Exponential mechanism for a rank-t threshold over all integers of the public range.

    Sensitivity contract: the loss of z is max(0, #{x < z} - t, t - #{x <= z}), capped at
    ``cap``; t and the cap are public, both counts move by 0 or 1 with one record, so the loss
    moves by at most 1.

    Differs from the paper's Algorithm 2: the lattice takes the place of its window of width
    alpha (Corollary 3.8), so some candidate has loss 0 whenever t <= n. The literal
    ``alpha = gamma / |D|`` makes the window a function of the private size, which is not
    private at all. The cap lets the law be computed from the lowest ``cap + t`` records; it is
    chosen so large that capped candidates together have a negligible probability.

    Parameters
    ----------
    lowest : sorted int64 array
        The lowest records, at least min(n, cap + t) of them (secret). For a threshold from
        above, negate the highest records and the range.
    first, last : int
        The public range.
    target : int
        The rank t >= 0.
    cap : int
        Largest loss, at least ``target``.
    epsilon : Fraction
        Size of the bounded-range event.
    """

    lowest: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    first: int
    last: int
    target: int
    cap: int
    epsilon: Fraction

    @property
    def rate(self) -> Fraction:
        """Weight of one unit of loss."""
        return self.epsilon / 2

    def runs(self) -> Runs:
        """Stretches of constant loss."""
        starts, lengths, below, equal = runs_between(self.lowest, self.first, self.last)
        loss = np.maximum(below - self.target, self.target - below - equal)
        return Runs(starts, lengths, np.clip(loss, 0, self.cap))
