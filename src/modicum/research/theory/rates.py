"""Upper bounds that the papers prove for their algorithms, and rates of private means.

Bounds have the constants that hold. Rates leave constants and logarithms out: they are those of
Dick et al. 2023, Table 1, for independent samples. Every function takes ``epsilon`` above 0 and
``n``, a number of records, of at least 1, and raises InvalidArgument for arguments out of range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument, as_given
from modicum.exact.rational import as_fraction, as_integer
from modicum.privacy.budget import Number
from modicum.research.theory.arguments import ordered, positive


def bounded_mean_error(width: float, n: int, epsilon: Number) -> float:
    """Return 3 w / (n ε), a bound of E|error| of a private mean of n records of range w >= 0.

    Dick et al. 2023, Lemma 3.3. It holds for their Algorithm 1 (noisy centred sum and count,
    clipped ratio) and for transformed noise (Kulesza et al. 2023, Algorithm 3).

    Parameters
    ----------
    width : float
        w, the width of the range, in the unit of the data: finite and at least 0.
    n : int
        Number of records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Examples
    --------
    >>> bounded_mean_error(100, 1000, 1)
    0.3
    """
    size, rate = as_integer(n, "n", 1), float(positive(epsilon, "epsilon"))
    if not 0 <= width < math.inf:
        raise InvalidArgument(f"width must be finite and at least 0, got {as_given(width)}")
    return 3 * width / (size * rate)


def threshold_rank_error(candidates: float, zeta: float, epsilon: Number) -> float:
    """Return (2/ε) ln(candidates/ζ), the rank error of a private threshold but for probability ζ.

    Dick et al. 2023, Theorem 3.7, with (b - a)/α candidates. On a lattice with some point of loss 0
    (a rank between 0 and n) the candidates are its points; Corollary 3.8 has three times as many.

    Parameters
    ----------
    candidates : float
        At least 1.
    zeta : float
        In (0, 1).
    epsilon : number
        Above 0: that of the threshold.

    Returns
    -------
    float
        Records.

    Examples
    --------
    >>> round(threshold_rank_error(2**52, 1e-6, 0.25))
    399
    """
    if not candidates >= 1 or not 0 < zeta < 1:
        raise InvalidArgument(
            f"candidates must be at least 1 and zeta in (0, 1), got {as_given(candidates)} "
            f"and {as_given(zeta)}"
        )
    return 2 / float(positive(epsilon, "epsilon")) * math.log(candidates / zeta)


def subset_mean_error(
    spread: float, *, candidates: float, zeta: float, width: float, step: float
) -> float:
    """Return the bound of Theorem 3.1 for ``modicum.mean(method="subset")``.

    E|error| <= (10 + 32 ln(candidates/ζ)) spread + 2ζ width + step, where spread is that of
    :func:`subset_risk` at the whole ε, with 1/ε an integer and n > 4 t, t the rank target.

    Parameters
    ----------
    spread : float
        Of the subset risk, in the unit of the data.
    candidates : float
        Points of the lattice, width/step + 1.
    zeta : float
        Failure probability of one threshold, 1e-6 in the library.
    width, step : float
        Of the public range, and of the lattice.

    Returns
    -------
    float
        In the unit of the data.

    Notes
    -----
    Thresholds cost ε/4 each and the mean ε/2. With probability 1 - 2ζ both rank errors are below
    β = (8/ε) ln(candidates/ζ), and between 1/ε and 1/ε + 1 + 2β records lie beyond each. The noise
    is 3w/(n ε/2) at most, and spread >= (1/ε) w/(n - 1/ε), so it is at most 6 spread. The bias is
    at most that of removing those records from one end, by their Lemma B.1
    2 (1/ε + 1 + 2β) ε <= 4 + 32 ln(candidates/ζ) times the spread. Beyond that event the error is
    at most the width.

    Differs from the paper's proof: its last line has 56 + 44 ln(...), from 2e² in one place and 2e
    in another; it counts the failure of one of the two thresholds. With R >= spread/(2e), see
    :func:`subset_risk`, its own constants come to 28 + 44 ln(...).

    Examples
    --------
    >>> round(subset_mean_error(0.1, candidates=2**52, zeta=1e-6, width=2e9, step=2**-21))
    4161
    """
    ranks = threshold_rank_error(candidates, zeta, 1)
    if not min(spread, width, step) >= 0:
        raise InvalidArgument("spread, width and step must be at least 0")
    return (10 + 16 * ranks) * spread + 2 * zeta * width + step


def inverse_sensitivity_cost(
    epsilon: Number, *, candidates: float, largest_loss: float, slack: float
) -> float:
    """Return the ε' at which inverse sensitivity loses at most ω(D, 1/ε) + slack on average.

    Dick et al. 2023, Theorem C.1, for the mechanism P(t) ∝ exp(-ε' len(t)/2).

    Parameters
    ----------
    epsilon : number
        Above 0: 1/ε is the distance up to which the modulus counts.
    candidates : float
        Points of the grid, 2R/β + 1 for multiples of β in [-R, R].
    largest_loss : float
        B, above 0.
    slack : float
        Lβ, above 0 and at most candidates B, in the unit of the loss.

    Returns
    -------
    float
        ε' = 2ε ln(candidates B / slack).

    Notes
    -----
    If some candidate has length 0, those of length k weigh at most candidates exp(-ε' k/2) in all,
    and for k > 1/ε that is at most slack/B. Differs from the paper, which prints
    ε' = 2ε ln(2BR/β): the argument has to be free of units, and its form
    is negative on data in a large unit (B = 2R = 0.2, β = 0.05).

    Examples
    --------
    >>> round(inverse_sensitivity_cost(0.1, candidates=201, largest_loss=2, slack=0.01), 3)
    2.12
    """
    rate = float(positive(epsilon, "epsilon"))
    if not min(candidates, largest_loss, slack) > 0 or candidates * largest_loss < slack:
        raise InvalidArgument(
            "candidates, largest_loss and slack must be above 0, and slack at most their product"
        )
    return 2 * rate * math.log(candidates * largest_loss / slack)


def inverse_sensitivity_tail(steps: int, epsilon: Number, *, candidates: float) -> float:
    """Return the tail bound exp(-Kε/2) candidates of inverse sensitivity, at most 1.

    It bounds ``P(|M - θ| >= ω(D, K) + ρ)``, K = ``steps``: Asi and Duchi 2020, Theorem 2, in one
    dimension. The smooth mechanism on an interval with ρ > 0 has diameter/ρ candidates (their
    n^r D). On a grid with a point of length 0, ρ = 0 and the candidates are its points.

    Parameters
    ----------
    steps : int
        K, at least 0.
    epsilon : number
        Above 0.
    candidates : float
        How many places can be drawn, above 0.

    Returns
    -------
    float
        A probability.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Examples
    --------
    >>> inverse_sensitivity_tail(40, 1, candidates=1000) < 1e-5
    True
    """
    if not candidates > 0:
        raise InvalidArgument(f"candidates must be above 0, got {as_given(candidates)}")
    k, rate = as_integer(steps, "steps", 0), float(positive(epsilon, "epsilon"))
    return min(1.0, candidates * math.exp(-k * rate / 2))


def absolute_central_moment(data: ArrayLike, k: float) -> float:
    """Return the k-th absolute central moment of the data, ``mean |x - mean|^k``, k >= 1.

    Not private: it is computed from the data themselves. Dick et al. 2023, Definition 5.2, for the
    empirical distribution.

    Parameters
    ----------
    data : array, shape (n,)
        Finite numbers, n >= 1.
    k : float
        The order, finite and at least 1.

    Returns
    -------
    float
        In the k-th power of the unit of the data.

    Raises
    ------
    InvalidArgument
        For data or an order that cannot be used.

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

    Table 1, second row: the minimax rate over all distributions with M_k <= m, k >= 2 (Kamath et
    al. 2020), which the subset-optimal mean reaches up to logarithms without knowing k or m. Not a
    bound: constants and logarithms are left out.

    Parameters
    ----------
    k : float
        The order, finite and at least 2.
    moment : number
        m, above 0, in the k-th power of the unit of the data.
    n : int
        Number of records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Examples
    --------
    >>> moment_rate(2, 1, n=10_000, epsilon=1)
    0.02
    """
    size, rate = as_integer(n, "n", 1), float(positive(epsilon, "epsilon"))
    scale = math.pow(positive(moment, "moment"), 1 / _order(k, least=2))
    return scale / math.sqrt(size) + scale / math.pow(size * rate, 1 - 1 / float(k))


def subgaussian_rate(sigma: Number, *, n: int, epsilon: Number) -> float:
    """Return σ/sqrt(n) + σ/(n ε): the best rate for sub-Gaussian distributions.

    Table 1, third row (Karwa and Vadhan 2017). The proxy σ is that of
    ``P(|X - μ| >= t) <= 2 exp(-t²/σ²)``, so a normal distribution has σ = sd times the square root
    of 2. Not a bound: constants and logarithms are left out.

    Parameters
    ----------
    sigma : number
        The proxy σ, above 0, in the unit of the data.
    n : int
        Number of records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Examples
    --------
    >>> subgaussian_rate(2, n=10_000, epsilon=1)
    0.0202
    """
    size, rate = as_integer(n, "n", 1), float(positive(epsilon, "epsilon"))
    proxy = float(positive(sigma, "sigma"))
    return proxy / math.sqrt(size) + proxy / (size * rate)


def distribution_rate(moments: Mapping[float, float], *, n: int, epsilon: Number) -> float:
    """Return sqrt(M_2/n) + min over k of M_k^(1/k)/(n ε)^(1 - 1/k), the rate of Corollary 5.3.

    It holds for every distribution on a public range, each with its own best k, and the algorithm
    needs to know neither. Not a bound: constants and logarithms are left out.

    Parameters
    ----------
    moments : mapping of float to float
        From orders k >= 2 to absolute central moments M_k, infinite ones included; 2 is needed.
    n : int
        Number of records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        In the unit of the data.

    Examples
    --------
    The moments of a standard normal variable are 1 (k = 2), 3 (k = 4) and 15 (k = 6).

    >>> round(distribution_rate({2: 1, 4: 3, 6: 15}, n=10_000, epsilon=1), 5)
    0.01073
    """
    k = best_moment(moments, n=n, epsilon=epsilon)
    total = n * float(positive(epsilon, "epsilon"))
    return math.sqrt(moments[2] / n) + _privacy_term(k, moments[k], total)


def best_moment(moments: Mapping[float, float], *, n: int, epsilon: Number) -> float:
    """Return the order k that minimises M_k^(1/k)/(n ε)^(1 - 1/k), see :func:`distribution_rate`.

    Parameters
    ----------
    moments : mapping of float to float
        Orders k, at least 2, of which 2 is one, to moments M_k, at least 0 and perhaps infinite.
    n : int
        Number of records, at least 1.
    epsilon : number
        Above 0.

    Returns
    -------
    float
        One of the orders that were given.

    Raises
    ------
    InvalidArgument
        For arguments out of range, or without the order 2.

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
            raise InvalidArgument(f"moments must be numbers of at least 0, got {as_given(value)}")
    total = as_integer(n, "n", 1) * float(positive(epsilon, "epsilon"))
    return min(moments, key=lambda k: _privacy_term(k, moments[k], total))


def _privacy_term(k: float, moment: float, total: float) -> float:
    return math.pow(moment, 1 / k) / math.pow(total, 1 - 1 / k)


def _order(k: float, least: int = 1) -> float:
    order = float(as_fraction(k, "k"))
    if order < least:
        raise InvalidArgument(f"k must be at least {least}, got {as_given(k)}")
    return order
