"""In-neighbour risk: the error on data near D that use its values only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modicum.theory.data import Number, ordered, positive, removals
from modicum.theory.modulus import extremes
from modicum.theory.named import chosen
from modicum.theory.risk import RiskBounds, ball_bounds
from modicum.theory.statistic import Statistic

__all__ = ["in_neighbour_risk"]


def in_neighbour_risk(data: ArrayLike, statistic: str | Statistic, epsilon: Number) -> RiskBounds:
    """Return the in-neighbour risk R2(D, ε) of Huang et al. 2021, extended to distance 1/ε.

    It is the least value, over ε-private algorithms A, of the largest E|A(D') - θ(D')| over the
    data sets D' within k = floor(1/ε) additions and removals whose values all occur in D. Not
    private: it is computed from the data themselves.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
    statistic : "mean", "median" or a monotone statistic
    epsilon : int, float, str or Fraction
        In (0, 1].

    Returns
    -------
    RiskBounds
        ``spread`` is the largest ``|θ(D) - θ(D')|``, the quantity of Dick et al. 2023, Remark 2.4.

    Raises
    ------
    InvalidArgument
        For bad arguments, or if the statistic is not defined for the data.

    Notes
    -----
    For a monotone statistic the extremes add copies of the largest or smallest record, so the
    spread is the modulus of continuity for the range of the data. Differs from both papers:
    expected loss as in R, where Huang et al. ask for an error that holds with probability
    2/3. Dick et al. print that as Pr(loss > η) < 2/3, which allows failure with
    probability 2/3: then a coin that knows two values has risk 0.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.in_neighbour_risk([0.0] * 900 + [1.0] * 100, "mean", 0.1).spread
    0.009090909090909094

    Without ten of the ones: 90/990 against 100/1000.
    """
    x, k = ordered(data), removals(epsilon)
    rate, theta = positive(epsilon, "epsilon"), chosen(statistic)
    here = theta.value(x)
    support = (float(x[0]), float(x[-1]))
    lowest, highest = extremes(x, theta, np.arange(k + 1), support, "add-remove")
    lower, upper = ball_bounds(lowest, highest, rate)
    spread = float(max(highest[-1] - here, here - lowest[-1]))
    return RiskBounds("in-neighbour", theta.name, rate, k, spread, lower, upper)
