"""Integer noise of a different size for every coordinate of a vector.

The sensitivity is that of a weighted norm: a coordinate of weight w has noise 1/w as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from modicum.mechanisms.additive import Additive
from modicum.mechanisms.noise import GaussianNoise, LaplaceNoise
from modicum.privacy.event import Concentrated, Pure

__all__ = ["weighted_gaussian", "weighted_laplace"]


def weighted_laplace(
    values: Sequence[int], weights: Sequence[int], *, bound: int, epsilon: Fraction
) -> Additive:
    """Discrete Laplace noise of scale bound / (weight ε).

    Parameters
    ----------
    values : sequence of int
        Statistics with sum_i weights[i] |v_i - v'_i| <= bound for neighbours.
    weights : sequence of int
        Positive.
    bound : int
        Positive.
    epsilon : Fraction
        Pure ε of the draw.

    Notes
    -----
    log ratio <= sum_i |v_i - v'_i| weights[i] ε / bound <= ε.
    """
    noise = tuple(LaplaceNoise(bound / (weight * epsilon)) for weight in weights)
    return Additive(tuple(values), noise, Pure(epsilon))


def weighted_gaussian(
    values: Sequence[int], weights: Sequence[int], *, bound: int, rho: Fraction
) -> Additive:
    """Discrete Gaussian noise with sigma² = bound² / (2 weight² ρ).

    Parameters
    ----------
    values : sequence of int
        Statistics with sum_i weights[i]² (v_i - v'_i)² <= bound² for neighbours.
    weights : sequence of int
        Positive.
    bound : int
        Positive.
    rho : Fraction
        zCDP cost of the draw.

    Notes
    -----
    A coordinate costs (v_i - v'_i)² / (2 sigma_i²) (Canonne, Kamath and Steinke 2020, Theorem 4,
    which is for each), independent coordinates add up: to ρ at most.
    """
    noise = tuple(GaussianNoise(Fraction(bound, weight) ** 2 / (2 * rho)) for weight in weights)
    return Additive(tuple(values), noise, Concentrated(rho))
