"""Rates of private mean estimation from independent samples: Dick et al. 2023, Table 1."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.theory.data import Number, checked_operations, ordered, positive

__all__ = [
    "absolute_central_moment",
    "best_moment",
    "distribution_rate",
    "moment_rate",
    "subgaussian_rate",
]


def absolute_central_moment(data: ArrayLike, k: float) -> float:
    """Return the k-th absolute central moment of the data, ``mean |x - mean|^k``.

    Not private: it is computed from the data themselves. Dick et al. 2023, Definition 5.2, for the
    empirical distribution.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
    k : float
        At least 1.

    Returns
    -------
    float
        In the k-th power of the unit of the data.

    Raises
    ------
    InvalidArgument
        For bad arguments.

    Examples
    --------
    >>> absolute_central_moment([0, 0, 3, 3], 2)
    2.25
    """
    x = ordered(data)
    order = _order(k)
    return float((np.abs(x - x.mean()) ** order).mean())


def moment_rate(k: float, moment: Number, *, n: int, epsilon: Number) -> float:
    """Return m^(1/k)/sqrt(n) + m^(1/k)/(n ε)^(1 - 1/k): the best rate if the k-th moment is m.

    Not a bound: constants and logarithms are left out. Table 1, second row: the minimax rate over
    all distributions with M_k <= m (Kamath et al. 2020), which the subset-optimal mean reaches up
    to logarithms without knowing k or m.

    Parameters
    ----------
    k : float
        Order, at least 2.
    moment : number
        m > 0, in the k-th power of the unit.
    n : int
        Records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For other arguments.

    Examples
    --------
    >>> moment_rate(2, 1, n=10_000, epsilon=1)
    0.02
    """
    size, rate = _size(n), float(positive(epsilon, "epsilon"))
    scale = math.pow(positive(moment, "moment"), 1 / _order(k, least=2))
    return scale / math.sqrt(size) + scale / math.pow(size * rate, 1 - 1 / float(k))


def subgaussian_rate(sigma: Number, *, n: int, epsilon: Number) -> float:
    """Return σ/sqrt(n) + σ/(n ε): the best rate for sub-Gaussian distributions.

    Not a bound: constants and logarithms are left out. Table 1, third row (Karwa and Vadhan 2017).
    The proxy σ is that of ``P(|X - μ| >= t) <= 2 exp(-t²/σ²)``, so a normal distribution has σ = sd
    times the square root of 2.

    Parameters
    ----------
    sigma : number
        Above 0, in the unit of the data.
    n : int
        Records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For other arguments.

    Examples
    --------
    >>> subgaussian_rate(2, n=10_000, epsilon=1)
    0.0202
    """
    size, rate = _size(n), float(positive(epsilon, "epsilon"))
    proxy = float(positive(sigma, "sigma"))
    return proxy / math.sqrt(size) + proxy / (size * rate)


def distribution_rate(moments: Mapping[float, float], *, n: int, epsilon: Number) -> float:
    """Return sqrt(M_2/n) + min over k of M_k^(1/k)/(n ε)^(1 - 1/k), the rate of Corollary 5.3.

    Not a bound: constants and logarithms are left out. It holds for every distribution on a public
    range, each with its own best k, and the algorithm needs to know neither.

    Parameters
    ----------
    moments : mapping
        From orders k >= 2 to absolute central moments M_k, infinite ones included; 2 is needed.
    n : int
        Records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For other arguments.

    Examples
    --------
    The moments of a standard normal variable are 1 (k = 2), 3 (k = 4) and 15 (k = 6).

    >>> round(distribution_rate({2: 1, 4: 3, 6: 15}, n=10_000, epsilon=1), 5)
    0.01073
    """
    k = best_moment(moments, n=n, epsilon=epsilon)
    size, rate = _size(n), float(positive(epsilon, "epsilon"))
    return math.sqrt(moments[2] / size) + _privacy_term(k, moments[k], size * rate)


def best_moment(moments: Mapping[float, float], *, n: int, epsilon: Number) -> float:
    """Return the order k that minimises M_k^(1/k)/(n ε)^(1 - 1/k), see :func:`distribution_rate`.

    Parameters
    ----------
    moments : mapping
        From orders k >= 2 to absolute central moments M_k, infinite ones included; 2 is needed.
    n : int
        Records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        The order, a key of ``moments``.

    Raises
    ------
    InvalidArgument
        For other arguments.

    Examples
    --------
    >>> best_moment({2: 1, 4: 3, 6: 15}, n=10_000, epsilon=1)
    6
    >>> best_moment({2: 1, 4: math.inf}, n=10_000, epsilon=1)
    2
    """
    if 2 not in moments:
        raise InvalidArgument("moments must hold the order 2")
    for order, value in moments.items():
        _order(order, least=2)
        if not value >= 0:
            raise InvalidArgument(f"moments must be numbers of at least 0, got {value!r}")
    total = _size(n) * float(positive(epsilon, "epsilon"))
    return min(moments, key=lambda k: _privacy_term(k, moments[k], total))


def _privacy_term(k: float, moment: float, total: float) -> float:
    return math.pow(moment, 1 / k) / math.pow(total, 1 - 1 / k)


def _order(k: float, least: int = 1) -> float:
    order = float(as_fraction(k, "k"))
    if order < least:
        raise InvalidArgument(f"k must be at least {least}, got {k!r}")
    return order


def _size(n: int) -> int:
    size = checked_operations(n, "n")
    if not size:
        raise InvalidArgument("n must be at least 1")
    return size
