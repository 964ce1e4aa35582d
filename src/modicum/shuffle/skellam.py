"""What Skellam noise guarantees for integer vectors that are near each other in L2 norm."""

from __future__ import annotations

import math

import numpy as np

from modicum.errors import InvalidArgument

__all__ = ["skellam_delta", "skellam_renyi", "skellam_variance"]

_SPARE = 1e-6  # what floats may be wrong by, and more
_STEPS = 60
_ORDERS = np.exp(np.linspace(math.log(1e-3), math.log(1e6), 4000))  # of Rényi, less 1


def skellam_renyi(order: float, *, variance: float, distance: float) -> float:
    """Bound the Rényi divergence of an order above 1, [K3] of the proof page.

    Parameters
    ----------
    order : float
    variance : float
        μ of the noise of each coordinate, above 2.
    distance : float
        L2 norm of the difference of two integer vectors.

    Examples
    --------
    >>> round(skellam_renyi(2, variance=1000, distance=10), 4)  # Gaussian noise has 0.1
    0.1003
    """
    moved = math.sinh((order - 1) * distance / (2 * (variance - 2)))
    own = distance**2 / (2 * (variance - 2))
    return own + 2 * variance / (order - 1) * moved**2


def skellam_delta(epsilon: float, *, variance: float, distance: float) -> float:
    """Return a δ for an ε: the best of many orders (Canonne, Kamath and Steinke 2020)."""
    s = _ORDERS
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.sinh(s * distance / (2 * (variance - 2)))
        own = s * distance**2 / (2 * (variance - 2))
        logs = own + 2 * variance * moved**2 - s * epsilon
        logs += (s + 1) * np.log(s / (s + 1)) - np.log(s)
    return min(1.0, math.exp(min(0.0, float(np.nanmin(logs)))) * (1 + _SPARE))


def skellam_variance(epsilon: float, delta: float, *, distance: float) -> int:
    """Return the least variance of each coordinate's noise for (ε, δ), to a thousandth above it.

    Raises
    ------
    InvalidArgument
        If no orders that are tried reach δ.

    Examples
    --------
    >>> round(skellam_variance(1, 1e-8, distance=100) ** 0.5)  # Gaussian noise needs 510
    539
    """
    low, high = 2.0, 2.0 + distance**2 * 1e12
    if skellam_delta(epsilon, variance=high, distance=distance) > delta:
        raise InvalidArgument(f"no Skellam noise was found for ε = {epsilon:g}, δ = {delta:g}")
    for _ in range(_STEPS):
        middle = 2 + math.sqrt((max(low, 2 + 1e-9) - 2) * (high - 2))
        reached = skellam_delta(epsilon, variance=middle, distance=distance) <= delta
        low, high = (low, middle) if reached else (middle, high)
    # A coarse number is the same on every machine.
    unit = 1 << max(0, math.frexp(high)[1] - 11)
    return math.ceil(high / unit) * unit
