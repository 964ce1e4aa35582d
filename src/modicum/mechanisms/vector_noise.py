"""A vector of integers plus independent discrete Gaussian noise on every component.

The discrete Gaussian on a lattice of step one: exact, since clipped rows are integers, and its
zCDP is that of the continuous law (Canonne, Kamath and Steinke 2020, Theorem 14).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from modicum.exact.entropy import Entropy
from modicum.mechanisms.law import SECRET, Law
from modicum.mechanisms.noise import GaussianNoise
from modicum.privacy.event import Concentrated, Event

__all__ = ["VectorNoise"]


@dataclass(frozen=True, slots=True)
class VectorNoise(Law[tuple[int, ...]]):
    """``values[j] + noise[j]``, discrete Gaussian noise with sigma² = bound² / (2 rho) for each j.

    Sensitivity contract: neighbours change ``values`` by at most ``bound`` in L2 norm. Then the
    Rényi divergence of order α is at most α sum_j shift_j² / (2 sigma²) <= α rho, for every α.

    Parameters
    ----------
    values : tuple of int
        Secret.
    bound : int
        The sensitivity, positive.
    rho : Fraction
        zCDP cost of the draw.
    """

    values: tuple[int, ...] = field(repr=False, metadata=SECRET)
    bound: int
    rho: Fraction

    @property
    def noise(self) -> GaussianNoise:
        """The noise of each component."""
        return GaussianNoise(Fraction(self.bound**2) / (2 * self.rho))

    @property
    def event(self) -> Event:
        """ρ-zCDP."""
        return Concentrated(self.rho)

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw every component."""
        drawn = self.noise.sample_many(len(self.values), entropy)
        return tuple(v + z for v, z in zip(self.values, drawn, strict=True))

    def log_density(self, outcome: tuple[int, ...]) -> float:
        """Sum of the components' log probabilities."""
        noise = self.noise
        return sum(noise.log_pmf(k - v) for k, v in zip(outcome, self.values, strict=True))

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Every component at its value, then one after the other far below and above."""
        reach = 10 + 4 * int(self.noise.tail_bound(0.5))
        return self._moved(reach)

    def _moved(self, reach: int) -> Iterator[tuple[int, ...]]:
        yield self.values
        for place, value in enumerate(self.values):
            for moved in (value - reach, value + reach):
                yield (*self.values[:place], moved, *self.values[place + 1 :])
