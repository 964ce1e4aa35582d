"""Local minimax risk: the error on D or on the one data set that is hardest to tell from it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from modicum.theory.data import (
    Neighbours,
    Number,
    checked_neighbours,
    ordered,
    positive,
    removals,
    warranted_range,
)
from modicum.theory.modulus import extremes
from modicum.theory.named import chosen
from modicum.theory.risk import RiskBounds
from modicum.theory.statistic import Statistic
from modicum.theory.two_point import two_point_errors

__all__ = ["local_minimax_risk"]


def local_minimax_risk(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    within: tuple[float, float],
    neighbours: Neighbours = "add-remove",
) -> RiskBounds:
    """Return the local minimax risk R1(D, ε) of Asi and Duchi 2020, exactly.

    It is the largest value, over data sets D', of the least value, over ε-private algorithms A, of
    the larger of E|A - θ| at D and at D'. Not private: it is computed from the data themselves.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
    statistic : "mean", "median" or a monotone statistic
    epsilon : int, float, str or Fraction
        In (0, 1].
    within : (lo, hi)
        Where records may lie. With an infinite end the risk is infinite.
    neighbours : {"add-remove", "swap"}

    Returns
    -------
    RiskBounds
        ``lower`` equals ``upper``. ``spread`` is ω(D, floor(1/ε)), for which the papers write
        R1 ≈ ω(D, 1/ε).

    Raises
    ------
    InvalidArgument
        For bad arguments, or if the statistic is not defined for the data.

    Notes
    -----
    R1 = max over k of ω(D, k) times :func:`two_point_error` of k: the two points alone matter, and
    the best test between them is known. With 1/ε an even number this gives R1 >= 0.30 ω(D, 1/ε).
    There is no such bound from above: for the median of equal records ω(D, 1/ε) is 0, while
    R1 is not. (Dick et al. 2023, equation (2), write ≈.)

    Numbers k are tried until those left cannot matter, about (2/ε) ln(range / R1) of them.

    Examples
    --------
    >>> from modicum import theory
    >>> print(theory.local_minimax_risk(range(1000), "mean", 0.1, within=(0, 1e6)))
    local minimax risk of the mean at ε = 0.1: 3605 (spread 9896; computed ... not private)
    """
    x = ordered(data)
    range_ = warranted_range(within, x)
    checked_neighbours(neighbours)
    k, rate, theta = removals(epsilon), positive(epsilon, "epsilon"), chosen(statistic)
    here = theta.value(x)
    low, high = extremes(x, theta, np.array([k]), range_, neighbours)
    spread = float(max(high[0] - here, here - low[0]))
    farthest = max(range_[1] - here, here - range_[0])
    best, done, block = 0.0, 0, 4 * k
    while math.isfinite(farthest):
        steps = np.arange(done + 1, done + block + 1)
        errors = two_point_errors(steps, float(rate))
        low, high = extremes(x, theta, steps, range_, neighbours)
        best = max(best, float((np.maximum(high - here, here - low) * errors).max()))
        done += block
        if farthest * errors[-1] <= best:
            break
    else:
        best = math.inf
    return RiskBounds("local minimax", theta.name, rate, k, spread, best, best)
