"""One of some public thresholds, with about a wanted number of records beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.privacy.event import Event

__all__ = ["BeyondTarget"]


@dataclass(frozen=True, slots=True)
class BeyondTarget(Law[int]):
    """A threshold k with P(k) ∝ exp(-(ε/2) |#{records beyond threshold k} - target|).

    Sensitivity contract: a record changes every count by at most 1, so every exponent by ε/2 at
    most: one draw is a bounded range of ε.

    Parameters
    ----------
    beyond : tuple of int
        For each threshold, the number of records beyond it (secret).
    target : int
        Public, or from released numbers.
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.
    """

    beyond: tuple[int, ...] = field(repr=False, metadata=SECRET)
    target: int
    epsilon: Fraction
    stated: Event

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    def sample(self, entropy: Entropy) -> int:
        losses = self._losses()
        return draw_level([1] * len(losses), losses, self.epsilon / 2, entropy)

    def log_density(self, outcome: int) -> float:
        exponents = -float(self.epsilon / 2) * np.array(self._losses(), dtype=np.float64)
        return float(exponents[outcome]) - math.log(float(np.exp(exponents).sum()))

    def probes(self) -> Iterable[int]:
        return range(len(self.beyond))

    def _losses(self) -> list[int]:
        losses = [abs(count - self.target) for count in self.beyond]
        least = min(losses)
        return [loss - least for loss in losses]
