"""Bounds on weighted sums of independent integer noises."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.additive import LaplaceNoise, Noise

__all__ = ["sum_bound"]

Floats = NDArray[np.float64]


def sum_bound(noise: Noise, parts: tuple[tuple[float, int], ...], alpha: float) -> float:
    """Return a t that a weighted sum of independent noises exceeds with probability <= alpha.

    Parameters
    ----------
    noise : Noise
        The law of each.
    parts : tuple of (float, int)
        Weights of at least 0, and how many of the noises have them.
    alpha : float
        In (0, 1).

    Notes
    -----
    Chernoff 1952: P(S >= t) <= E e^(λ S) e^(-λ t), at the best of some λ. E e^(λ K) of the discrete
    Laplace law is (1 - a)² / ((1 - a e^λ) (1 - a e^-λ)), a = e^(-1/scale), which is
    1 / (1 - (sinh(λ/2) / sinh(1/(2 scale)))²); the discrete Gaussian's is at most e^(λ² σ²/2)
    (Canonne, Kamath and Steinke 2020).

    Examples
    --------
    >>> from fractions import Fraction
    >>> one, hundred = (sum_bound(LaplaceNoise(Fraction(1)), ((1.0, n),), 0.05) for n in (1, 100))
    >>> one < 5, hundred < 40
    (True, True)
    """
    limit = math.log(1 / alpha)
    used = [(weight, times) for weight, times in parts if weight > 0 and times]
    if not used:
        return 0.0
    if not isinstance(noise, LaplaceNoise):
        variance = noise.variance * sum(times * weight**2 for weight, times in used)
        return math.sqrt(2 * variance * limit)
    rate = float(1 / noise.scale)
    most = rate / max(weight for weight, _ in used)
    # λ up to the pole, and small ones, which are best for many noises
    powers = np.exp2(-np.arange(1, 80) / 8.0)
    slopes = most * np.concatenate([1 - powers, powers])
    total = np.full(len(slopes), limit)
    for weight, times in used:
        ratio = _sinh_ratio(slopes * weight / 2, rate / 2)
        total -= times * np.log1p(-(ratio**2))
    return float((total / slopes).min())


def _sinh_ratio(x: Floats, y: float) -> Floats:
    """Return sinh(x) / sinh(y) for 0 < x < y, without overflow."""
    ratio: Floats = np.exp(x - y) * np.expm1(-2 * x) / math.expm1(-2 * y)
    return ratio
