"""Distances of two laws: the log ratio, and Rényi divergences by summing the exact pmf.

A log density is a float: a few roundings away from the truth. Every log ratio is moved towards
zero by more than those roundings can amount to, so a loss reported here is a lower bound of the
true one, and a law that keeps its promise exactly never seems to break it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.audit.support import log_densities, support
from modicum.errors import InvalidArgument
from modicum.mechanisms.additive import Additive
from modicum.mechanisms.law import Law
from modicum.mechanisms.noise import GaussianNoise, Noise

__all__ = ["ALPHAS", "log_ratio", "needed_delta", "needed_rho", "rho_of"]

ALPHAS = np.array([1.01, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0])
"""Orders of the Rényi divergences; near 1 the divergence is almost Kullback and Leibler's."""

_ROUNDING = 2.0**-44  # of a log density, relative to 1 + its size: some 500 roundings
_NEGLIGIBLE = 45.0  # nats below the largest term: a tail cut there is a relative 1e-15 or so
_MOST = 1 << 20  # terms of one sum


def log_ratio(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``one - other``, moved towards 0 by its rounding error.

    Outcomes that are impossible under both laws have ratio 0, under one of them an infinity.

    Examples
    --------
    >>> import numpy as np
    >>> log_ratio(np.array([-1.0, -np.inf, -np.inf]), np.array([-1.0, -2.0, -np.inf]))
    array([  0., -inf,   0.])
    """
    with np.errstate(invalid="ignore"):
        gap = one - other
    gap = np.where(np.isneginf(one) & np.isneginf(other), 0.0, gap)
    sizes = (np.abs(np.where(np.isneginf(x), 0.0, x)) for x in (one, other))
    ratio: NDArray[np.float64] = np.sign(gap) * np.maximum(
        np.abs(gap) - _ROUNDING * (2 + sum(sizes)), 0.0
    )
    return ratio + 0.0  # no negative zero


def needed_rho(
    log_p: NDArray[np.float64], log_q: NDArray[np.float64], sizes: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return D_α(P || Q) / α for every α of :data:`ALPHAS`; zCDP bounds all of them by ρ.

    Parameters
    ----------
    log_p, log_q : (m,) float arrays
        Log densities of one outcome in each stretch.
    sizes : (m,) float array or float
        Outcomes in each stretch.

    Notes
    -----
    D_α = ln(sum_z P(z) r(z)^(α-1)) / (α - 1) with r = P / Q. For a small exponent the sum is
    1 + sum P (r^(α-1) - 1), which keeps the digits of a small divergence.
    """
    possible = ~np.isneginf(log_p)
    log_p, log_q = log_p[possible], log_q[possible]
    if np.isneginf(log_q).any():
        return np.full(len(ALPHAS), math.inf)
    log_mass = log_p + np.log(sizes if isinstance(sizes, float) else sizes[possible])
    powers = (ALPHAS[:, None] - 1) * (log_p - log_q)
    mass = np.exp(log_mass)
    small = np.log1p((mass * np.expm1(np.minimum(powers, 1.0))).sum(axis=1))
    top = (log_mass + powers).max(axis=1)
    large = top + np.log(np.exp(log_mass + powers - top[:, None]).sum(axis=1))
    divergence = np.where(powers.max(axis=1) < 1, small, large) / (ALPHAS - 1)
    # An error e of the log ratios moves every D_α by at most e.
    error = _ROUNDING * (2 + float(mass @ (np.abs(log_p) + np.abs(log_q))))
    return np.array(np.maximum(divergence - error, 0.0) / ALPHAS)


def needed_delta(one: Law[Any], other: Law[Any], epsilon: float) -> float:
    """Return the least δ with which two laws are (ε, δ)-indistinguishable, in both directions.

    It is the larger of sum_z max(0, P(z) - exp(ε) Q(z)) and the same with P and Q exchanged: the
    excess of the worst set of outcomes. The outcomes of both laws must be few enough to list.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import laplace
    >>> one, other = (laplace([v], l1=1, epsilon=Fraction(1)) for v in (7, 8))
    >>> round(needed_delta(one, other, 1), 12), round(needed_delta(one, other, 0), 3)
    (0.0, 0.462)
    """
    both = support([one, other])
    p, q = (np.exp(log_densities(law, both.outcomes)) * both.sizes for law in (one, other))
    factor = math.exp(epsilon)
    return max(float(np.maximum(a - factor * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def rho_of(one: Law[Any], other: Law[Any]) -> NDArray[np.float64]:
    """Return D_α / α of two laws without factors in both directions, shape (2, len(ALPHAS)).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import gaussian
    >>> one, other = (gaussian([v], l2=3, rho=Fraction(1, 10)) for v in (7, 4))
    >>> rho_of(one, other).max().round(9)
    np.float64(0.1)
    """
    if (
        isinstance(one, Additive)
        and isinstance(other, Additive)
        and one.noise == other.noise
        and len(one.noise) == 1
    ):
        (shift,) = (a - b for a, b in zip(one.values, other.values, strict=True))
        needed = _shifted(one.noise[0], abs(shift))
        return needed if shift > 0 else needed[::-1]
    both = support([one, other])
    p, q = (log_densities(law, both.outcomes) for law in (one, other))
    return np.array([needed_rho(p, q, both.sizes), needed_rho(q, p, both.sizes)])


@lru_cache(maxsize=8192)
def _shifted(noise: Noise, shift: int) -> NDArray[np.float64]:
    """Both directions for integer noise about ``shift`` and about 0.

    The window of summation is doubled until, at the largest α, the terms at its ends are
    negligible beside the largest one, in both directions.

    For the discrete Gaussian every term P^α Q^(1-α) is exp of -z²/(2 σ²) plus a linear part. The
    sum over multiples of h, times h, then differs from the sum over all integers by a relative
    2 exp(-2 π² σ²/h²) (Poisson summation): with h <= σ/4 by less than 1e-130.
    """
    if shift == 0:
        return np.zeros((2, len(ALPHAS)))
    deviation = math.sqrt(noise.variance)
    stride = max(1, math.floor(deviation / 4)) if isinstance(noise, GaussianNoise) else 1
    # For Gaussian noise the largest term at the largest α lies at α shift.
    reach = (math.ceil(ALPHAS[-1]) * shift + 11 * math.ceil(deviation)) // stride
    while reach < _MOST:
        outcomes = range(-reach * stride, reach * stride + 1, stride)
        p = np.array([noise.log_pmf(k - shift) for k in outcomes])
        q = np.array([noise.log_pmf(k) for k in outcomes])
        worst = [ALPHAS[-1] * a - (ALPHAS[-1] - 1) * b for a, b in ((p, q), (q, p))]
        if all(max(w[0], w[-1]) < w.max() - _NEGLIGIBLE for w in (*worst, p, q)):
            return np.array([needed_rho(p, q, float(stride)), needed_rho(q, p, float(stride))])
        reach *= 2
    raise InvalidArgument(
        f"the divergence of {noise} about {shift} and about 0 needs more than {_MOST:,} terms: "
        "audit the same law at a smaller noise scale"
    )
