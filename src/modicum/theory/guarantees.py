"""Upper bounds that the papers prove for their algorithms, with the constants that hold."""

from __future__ import annotations

import math

from modicum.errors import InvalidArgument
from modicum.theory.data import Number, checked_operations, positive

__all__ = [
    "bounded_mean_error",
    "inverse_sensitivity_price",
    "inverse_sensitivity_tail",
    "subset_mean_error",
    "threshold_rank_error",
]


def bounded_mean_error(width: float, n: int, epsilon: Number) -> float:
    """Return 3 w / (n ε), a bound of E|error| of a private mean of n records of range w.

    Dick et al. 2023, Lemma 3.3. It holds for their Algorithm 1 (noisy centred sum and count,
    clipped ratio) and for transformed noise (Kulesza et al. 2023, Algorithm 3).

    Parameters
    ----------
    width : float
        w = u - l >= 0, in the unit of the data.
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
    >>> bounded_mean_error(100, 1000, 1)
    0.3
    """
    size, rate = checked_operations(n, "n"), float(positive(epsilon, "epsilon"))
    if not size or not 0 <= width < math.inf:
        raise InvalidArgument(f"n must be at least 1 and width finite, got {n!r} and {width!r}")
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
        Above 0.

    Returns
    -------
    float
        Records.

    Raises
    ------
    InvalidArgument
        For other arguments.

    Examples
    --------
    >>> round(threshold_rank_error(2**52, 1e-6, 0.25))
    399
    """
    if not candidates >= 1 or not 0 < zeta < 1:
        raise InvalidArgument(
            f"candidates must be at least 1 and zeta in (0, 1), got {candidates!r} and {zeta!r}"
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
    width : float
        Of the public range.
    step : float
        Of the lattice.

    Returns
    -------
    float
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        For other arguments.

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
    threshold_rank_error(candidates, zeta, 1)  # refuses what is out of range
    if not min(spread, width, step) >= 0:
        raise InvalidArgument("spread, width and step must be at least 0")
    return (10 + 32 * math.log(candidates / zeta)) * spread + 2 * zeta * width + step


def inverse_sensitivity_price(
    epsilon: Number, *, candidates: float, largest_loss: float, slack: float
) -> float:
    """Return the ε' at which inverse sensitivity loses at most ω(D, 1/ε) + slack on average.

    Dick et al. 2023, Theorem C.1, for the mechanism P(t) ∝ exp(-ε' len(t)/2).

    Parameters
    ----------
    epsilon : number
        Above 0.
    candidates : float
        Points of the grid, 2R/β + 1 for multiples of β in [-R, R].
    largest_loss : float
        B, above 0.
    slack : float
        Lβ, above 0, in the unit of the loss.

    Returns
    -------
    float
        ε' = 2ε ln(candidates B / slack).

    Raises
    ------
    InvalidArgument
        For other arguments, or if candidates B < slack.

    Notes
    -----
    If some candidate has length 0, those of length k weigh at most candidates exp(-ε' k/2) in all,
    and for k > 1/ε that is at most slack/B. Differs from the paper, which prints
    ε' = 2ε ln(2BR/β): the argument has to be free of units, and its form
    is negative on data in a large unit (B = 2R = 0.2, β = 0.05).

    Examples
    --------
    >>> round(inverse_sensitivity_price(0.1, candidates=201, largest_loss=2, slack=0.01), 3)
    2.12
    """
    rate = float(positive(epsilon, "epsilon"))
    if not min(candidates, largest_loss, slack) > 0 or candidates * largest_loss < slack:
        raise InvalidArgument(
            "candidates, largest_loss and slack must be above 0, and slack at most their product"
        )
    return 2 * rate * math.log(candidates * largest_loss / slack)


def inverse_sensitivity_tail(steps: int, epsilon: Number, *, candidates: float) -> float:
    """Return the tail bound exp(-Kε/2) candidates of inverse sensitivity.

    It bounds ``P(|M - θ| >= ω(D, K) + ρ)``: Asi and Duchi 2020, Theorem 2, in one dimension. The
    smooth mechanism on an interval with ρ > 0 has diameter/ρ candidates (their n^r D). On a grid
    with a point of length 0, ρ = 0 and the candidates are its points.

    Parameters
    ----------
    steps : int
        K >= 0.
    epsilon : number
        Above 0.
    candidates : float
        Above 0.

    Returns
    -------
    float
        At most 1.

    Raises
    ------
    InvalidArgument
        For other arguments.

    Examples
    --------
    >>> inverse_sensitivity_tail(40, 1, candidates=1000) < 1e-5
    True
    """
    if not candidates > 0:
        raise InvalidArgument(f"candidates must be above 0, got {candidates!r}")
    k, rate = checked_operations(steps, "steps"), float(positive(epsilon, "epsilon"))
    return min(1.0, candidates * math.exp(-k * rate / 2))
