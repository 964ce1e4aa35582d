"""One of some public candidates, with nearly the least loss over all records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.privacy.event import Event

__all__ = ["LeastLoss"]


@dataclass(frozen=True, slots=True, eq=False)
class LeastLoss(Law[int]):
    """A candidate k with P(k) ∝ w(k) exp(-ε loss(k) / most), loss(k) a sum over records.

    w is 1 but for the first candidate, which is what remains if no other is heard to be better.

    The exponential mechanism (McSherry and Talwar 2007). Every record adds to a loss, so one more
    moves all of them in one direction, and no factor 2 is lost.

    Sensitivity contract: a record adds an integer of [0, most] to every loss. After a common shift
    by most / 2 that is most / 2 in size at most: one draw is a bounded range of ε.

    Parameters
    ----------
    losses : int64 array
        One for each candidate (secret).
    most : int
        The largest loss of one record.
    first : int
        Weight of the first candidate; public.
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.

    Notes
    -----
    The outcome is the candidate's place in the list.
    """

    losses: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    most: int
    first: int
    epsilon: Fraction
    stated: Event

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    def sample(self, entropy: Entropy) -> int:
        return draw_level(self._weights(), self.losses, self.epsilon / self.most, entropy)

    def log_density(self, outcome: int) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[int]) -> NDArray[np.float64]:
        """Log density at each of many outcomes."""
        steps = (self.losses.min() - self.losses).astype(np.float64)
        exponents = float(self.epsilon / self.most) * steps
        weights = self._weights().astype(np.float64)
        logs = np.log(weights) + exponents
        found: NDArray[np.float64] = logs[list(outcomes)] - math.log(weights @ np.exp(exponents))
        return found

    def probes(self) -> Iterable[int]:
        return range(len(self.losses))

    def _weights(self) -> NDArray[np.int64]:
        weights = np.ones(len(self.losses), dtype=np.int64)
        weights[0] = self.first
        return weights
