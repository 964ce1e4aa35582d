"""Quantiles of noise that is known by its standard deviation."""

from __future__ import annotations

import math
from statistics import NormalDist

from modicum.summaries.second_moments import Norm

__all__ = ["noise_quantile"]


def noise_quantile(norm: Norm, chance: float) -> float:
    """Quantile of noise, in standard deviations, that is exceeded with so much chance.

    A sum of Laplace variables is between one of them and a normal one, so the larger counts.

    Examples
    --------
    >>> round(noise_quantile("l2", 0.025), 2), round(noise_quantile("l1", 0.001), 2)
    (1.96, 4.39)
    """
    normal = -NormalDist().inv_cdf(chance)
    return max(normal, -math.log(2 * chance) / math.sqrt(2)) if norm == "l1" else normal
