"""The inverse sensitivity mechanism in one dimension: a law over nested level sets of a length."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.mechanisms.law import SECRET
from modicum.mechanisms.piecewise import PiecewiseLaw, Runs
from modicum.privacy.event import Event

__all__ = ["LevelLaw", "level_ends"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LevelLaw(PiecewiseLaw):
    """An integer t of [first, last], P(t) ∝ exp(-ε len(t) / 2), len given by its level sets.

    {t: len(t) <= k} = {t: lows[k] <= t <= highs[k]} for k = 0, ..., K - 1, and len(t) = K at
    every other t. An estimator supplies these ends and nothing else (Asi and Duchi 2020;
    Dick, Kulesza, Sun and Suresh 2023, Algorithm 5, where ε/2 is missing).

    Sensitivity contract: for neighbouring data sets D and D', of the same public K,
    lows'[k + 1] <= lows[k] and highs'[k + 1] >= highs[k], and the same with D and D' exchanged.
    Then len moves by at most 1 at every t, and one draw is a bounded range of ε. A length that
    is a largest of two distances, that to {data: value >= t} for ``highs`` and that to
    {data: value <= t} for ``lows``, obeys it for every statistic. docs/proofs/level_sets.md has the
    proofs.

    Parameters
    ----------
    lows, highs : (K,) int64 arrays, K >= 1
        Ends of the level sets (secret): ``lows`` never increases, ``highs`` never decreases. A
        set is empty if lows[k] > highs[k]. Parts outside [first, last] do not matter.
    first, last : int
        The candidates.
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.

    Examples
    --------
    >>> from modicum.privacy.event import BoundedRange
    >>> one = Fraction(1)
    >>> law = LevelLaw(np.array([5, 3]), np.array([5, 8]), 0, 9, one, BoundedRange(one))
    >>> [round(2 * (law.log_density(5) - law.log_density(t))) for t in range(10)]
    [2, 2, 2, 1, 1, 0, 1, 1, 1, 2]
    """

    lows: Integers = field(repr=False, metadata=SECRET)
    highs: Integers = field(repr=False, metadata=SECRET)
    first: int
    last: int
    epsilon: Fraction
    stated: Event

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    @property
    def rate(self) -> Fraction:
        """Weight of one unit of length."""
        return self.epsilon / 2

    def runs(self) -> Runs:
        """Stretches of constant length: one on each side for every level, one in the middle."""
        lows, highs = level_ends(self.lows, self.highs, self.first, self.last)
        least = int(np.argmax(lows <= highs))
        lows, highs = lows[least:][::-1], highs[least:]
        starts = np.concatenate([lows, highs[:-1] + 1])
        lengths = np.diff(starts, append=self.last + 1)
        outward = np.arange(least, least + len(highs))
        losses = np.concatenate([outward[::-1], outward[1:]])
        there = lengths > 0
        return Runs(starts[there], lengths[there], losses[there])


def level_ends(lows: Integers, highs: Integers, first: int, last: int) -> tuple[Integers, Integers]:
    """Return the ends within [first, last], and [first, last] itself as a last level.

    Both maps keep the order of two ends, and with it the sensitivity contract of
    :class:`LevelLaw`.

    Raises
    ------
    InvalidArgument
        If the two arrays differ in length; never because of what they hold.
    """
    if lows.shape != highs.shape or lows.ndim != 1:
        raise InvalidArgument(
            f"lows and highs must have one length, got {lows.shape} and {highs.shape}"
        )
    return (
        np.append(np.clip(lows, first, last + 1), first),
        np.append(np.clip(highs, first - 1, last), last),
    )
