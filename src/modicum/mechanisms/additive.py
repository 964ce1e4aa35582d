"""Integers plus independent integer noise: the Laplace and Gaussian mechanisms on the lattice.

The sensitivity contract is stated where the law is built, by :func:`laplace` or
:func:`gaussian`; the event follows from it. Both are exact: sums of lattice integers have
integer sensitivity, and the noise is an integer (Ghosh, Roughgarden and Sundararajan 2009;
Canonne, Kamath and Steinke 2020, Theorem 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from modicum.exact.entropy import Entropy
from modicum.mechanisms.law import SECRET, Law
from modicum.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise
from modicum.privacy.event import Concentrated, Event, Pure

__all__ = ["Additive", "gaussian", "laplace"]


@dataclass(frozen=True, slots=True)
class Additive(Law[tuple[int, ...]]):
    """``values[i] + noise[i]``, independently for every coordinate.

    Parameters
    ----------
    values : tuple of int
        The exact statistics (secret).
    noise : tuple of Noise
        One distribution a coordinate.
    stated : Event
        What one draw costs: derived from the sensitivity by the functions of this module.
    """

    values: tuple[int, ...] = field(repr=False, metadata=SECRET)
    noise: tuple[Noise, ...]
    stated: Event

    @property
    def event(self) -> Event:
        """The event that the builder derived from the stated sensitivity."""
        return self.stated

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw every coordinate."""
        return tuple(v + z.sample(entropy) for v, z in zip(self.values, self.noise, strict=True))

    @classmethod
    def sample_many(cls, laws: Sequence[Additive], entropy: Entropy) -> list[tuple[int, ...]]:
        """Draw from many laws; equal noise, which is public, is drawn as one vector."""
        times = Counter(noise for law in laws for noise in law.noise)
        drawn: dict[Noise, Iterator[int]] = {
            noise: iter(noise.sample_many(count, entropy)) for noise, count in times.items()
        }
        return [
            tuple(v + next(drawn[z]) for v, z in zip(law.values, law.noise, strict=True))
            for law in laws
        ]

    def log_density(self, outcome: tuple[int, ...]) -> float:
        """Sum of the coordinates' log probabilities."""
        return sum(
            z.log_pmf(k - v) for k, v, z in zip(outcome, self.values, self.noise, strict=True)
        )

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Each coordinate below, at and above its value.

        For the Laplace law the log ratio of two neighbours is constant outside the interval
        between their two values, so with the other data set's probes these are worst.
        """
        reach = 10 + 4 * max(int(z.tail_bound(0.5)) for z in self.noise)
        return product(*[(v - reach, v, v + reach) for v in self.values])


def laplace(values: Iterable[int], *, l1: int, epsilon: Fraction) -> Additive:
    """Discrete Laplace mechanism: every coordinate with scale ``l1 / epsilon``.

    Parameters
    ----------
    values : iterable of int
        Statistics whose vector changes by at most ``l1`` in L1 norm between neighbours.
    l1 : int
        The sensitivity, positive.
    epsilon : Fraction
        Pure ε of the draw.

    Notes
    -----
    log ratio = sum_i (|k_i - v_i| - |k_i - v'_i|) ε / l1 <= ε ||v - v'||_1 / l1 <= ε.
    """
    exact = tuple(values)
    return Additive(exact, (LaplaceNoise(l1 / epsilon),) * len(exact), Pure(epsilon))


def gaussian(values: Iterable[int], *, l2: int, rho: Fraction) -> Additive:
    """Discrete Gaussian mechanism: every coordinate with sigma² = ``l2² / (2 rho)``.

    Parameters
    ----------
    values : iterable of int
        Statistics whose vector changes by at most ``l2`` in L2 norm between neighbours.
    l2 : int
        The sensitivity, positive.
    rho : Fraction
        zCDP cost of the draw.
    """
    exact = tuple(values)
    noise = GaussianNoise(Fraction(l2) ** 2 / (2 * rho))
    return Additive(exact, (noise,) * len(exact), Concentrated(rho))
