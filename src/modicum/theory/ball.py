"""The risk over all data sets within a radius: Asi and Duchi 2020, equation (6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modicum.theory.data import (
    Neighbours,
    Number,
    checked_neighbours,
    checked_operations,
    ordered,
    positive,
    warranted_range,
)
from modicum.theory.modulus import extremes
from modicum.theory.named import chosen
from modicum.theory.risk import RiskBounds, ball_bounds
from modicum.theory.statistic import Statistic

__all__ = ["ball_risk"]


def ball_risk(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    radius: int,
    within: tuple[float, float],
    neighbours: Neighbours = "swap",
) -> RiskBounds:
    """Return the least, over ε-private algorithms, of the largest error within a radius of D.

    Not private: it is computed from the data themselves.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
    statistic : "mean", "median" or a monotone statistic
    epsilon : int, float, str or Fraction
        Above 0.
    radius : int
        r >= 0, the distance from the data up to which the error counts.
    within : (lo, hi)
        Where records may lie.
    neighbours : {"add-remove", "swap"}
        The paper's data sets have one size.

    Returns
    -------
    RiskBounds
        ``spread`` is ω(D, r).

    Raises
    ------
    InvalidArgument
        For bad arguments, or if the statistic is not defined for the data.

    Notes
    -----
    Theorem 4 states R(x; d/ε) = Ω(ω(x; d/ε)) without the constant. In one dimension the two-point
    bound gives it: ``lower`` is at least ω(x; r) :func:`two_point_error` (r), which is 0.30 times
    ω if r = 1/ε. ``upper`` is the algorithm that always answers the middle.

    Examples
    --------
    >>> from modicum import theory
    >>> bounds = theory.ball_risk([0.5] * 100, "mean", 0.1, radius=10, within=(0, 1))
    >>> print(bounds)
    radius 10 minimax risk of the mean at ε = 0.1: 0.01839 to 0.05 (spread 0.05; ... private)
    """
    x, rate, theta = ordered(data), positive(epsilon, "epsilon"), chosen(statistic)
    r = checked_operations(radius, "radius")
    range_ = warranted_range(within, x)
    checked_neighbours(neighbours)
    here = theta.value(x)
    lowest, highest = extremes(x, theta, np.arange(r + 1), range_, neighbours)
    lower, upper = ball_bounds(lowest, highest, rate)
    spread = float(max(highest[-1] - here, here - lowest[-1]))
    return RiskBounds(f"radius {r} minimax", theta.name, rate, r, spread, lower, upper)
