"""Integer noise: the discrete Laplace and the discrete Gaussian distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.gaussian import discrete_gaussian, discrete_gaussian_many
from modicum.exact.laplace import discrete_laplace, discrete_laplace_many

__all__ = ["GaussianNoise", "LaplaceNoise", "Noise"]

_VECTOR = 50  # fewer draws are faster one by one


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Discrete Laplace: P(k) = (1 - a) / (1 + a) a^|k| with a = exp(-1/scale)."""

    scale: Fraction

    def sample(self, entropy: Entropy) -> int:
        """Draw one integer."""
        return discrete_laplace(self.scale, entropy)

    def sample_many(self, count: int, entropy: Entropy) -> list[int]:
        """Draw independent integers."""
        if count < _VECTOR:
            return [self.sample(entropy) for _ in range(count)]
        drawn: list[int] = discrete_laplace_many(self.scale, count, entropy).tolist()
        return drawn

    def log_pmf(self, k: int) -> float:
        """Log probability of ``k``; the differences between two k are exact to rounding."""
        # (1 - a)/(1 + a) = tanh(1/(2 scale)), which does not cancel for large scales.
        return math.log(math.tanh(float(1 / (2 * self.scale)))) - float(abs(k) / self.scale)

    def tail_bound(self, alpha: float) -> float:
        """Smallest-known t with P(|noise| > t) <= alpha (0 < alpha < 1).

        P(|k| >= j) = 2 a^j / (1 + a) <= 2 a^j / (1 + a); solved for the least integer j.
        """
        rate = float(1 / self.scale)
        return max(0.0, math.ceil((math.log(2 / alpha) - math.log1p(math.exp(-rate))) / rate) - 1.0)

    def beyond(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Upper bounds of P(noise > t); 1 below 0.

        P(k >= j) = a^j / (1 + a) for j >= 1, here with j >= t.
        """
        rate = float(1 / self.scale)
        share: NDArray[np.float64] = np.exp(-rate * np.maximum(t, 0.0)) / (1 + math.exp(-rate))
        return np.where(t < 0, 1.0, share)

    @property
    def variance(self) -> float:
        """Variance, 2a/(1-a)², in a form that neither overflows nor cancels."""
        rate = float(1 / self.scale)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Discrete Gaussian: P(k) ∝ exp(-k²/(2 sigma2)) (Canonne, Kamath and Steinke 2020)."""

    sigma2: Fraction

    def sample(self, entropy: Entropy) -> int:
        """Draw one integer."""
        return discrete_gaussian(self.sigma2, entropy)

    def sample_many(self, count: int, entropy: Entropy) -> list[int]:
        """Draw independent integers."""
        if count < _VECTOR:
            return [self.sample(entropy) for _ in range(count)]
        drawn: list[int] = discrete_gaussian_many(self.sigma2, count, entropy).tolist()
        return drawn

    def log_pmf(self, k: int) -> float:
        """Log probability of ``k``."""
        return -float(Fraction(k) ** 2 / (2 * self.sigma2)) - math.log(_theta(float(self.sigma2)))

    def tail_bound(self, alpha: float) -> float:
        """Return a t with P(|noise| > t) <= alpha (0 < alpha < 1).

        The discrete Gaussian is dominated by the continuous one (Canonne, Kamath and Steinke
        2020, Proposition 25): P(X >= t) <= P(N(0, sigma2) >= t - 1) <= exp(-(t-1)²/(2 sigma2)).
        """
        return 1.0 + math.sqrt(2 * float(self.sigma2) * math.log(2 / alpha))

    def beyond(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Upper bounds of P(noise > t); 1 below 1.

        Chernoff's bound of the continuous Gaussian law (ibid.), exp(-(t-1)²/(2 sigma2)) / 2.
        """
        share: NDArray[np.float64] = np.exp(-((t - 1) ** 2) / (2 * float(self.sigma2))) / 2
        return np.where(t < 1, 1.0, share)

    @property
    def variance(self) -> float:
        """An upper bound on the variance, sigma2 (ibid., Corollary 9)."""
        return float(self.sigma2)


Noise = LaplaceNoise | GaussianNoise


def _theta(sigma2: float) -> float:
    """Sum of exp(-k²/(2 sigma2)) over the integers, by the faster of its two theta series."""
    if sigma2 >= 1:  # Poisson summation: sqrt(2 pi s) (1 + 2 sum_j exp(-2 pi² s j²))
        dual = 2 * math.pi**2 * sigma2
        return math.sqrt(2 * math.pi * sigma2) * (
            1 + 2 * sum(math.exp(-dual * j * j) for j in range(1, 4))
        )
    terms = int(math.sqrt(2 * sigma2 * 750)) + 1
    return 1 + 2 * sum(math.exp(-k * k / (2 * sigma2)) for k in range(1, terms + 1))
