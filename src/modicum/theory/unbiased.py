"""What an unbiased private algorithm must lose on the data at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modicum.theory.data import Number, ordered, positive, warranted_range
from modicum.theory.modulus import extremes
from modicum.theory.named import chosen
from modicum.theory.statistic import Statistic

__all__ = ["unbiased_lower_bound"]


def unbiased_lower_bound(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    within: tuple[float, float],
) -> float:
    """Return the lower bound of Asi and Duchi 2020, Theorem 3, for unbiased mechanisms.

    Every ε-private mechanism (swap, n public) whose answer is at least as often near θ(x) as near
    θ(x'), for all x, x' and distances, has E|M(x) - θ(x)| at least this on these data. Additive
    symmetric noise is such a mechanism. Not private: it is computed from the data themselves.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
    statistic : "mean", "median" or a monotone statistic
        Continuous in every record, as all of them here but perhaps ``Monotone`` are.
    epsilon : int, float, str or Fraction
        Above 0.
    within : (lo, hi)
        Where records may lie.

    Returns
    -------
    float
        max over k of exp(-2kε) min(up, down) / 8, where up and down are how far k swaps raise and
        lower the statistic. In the unit of the data.

    Raises
    ------
    InvalidArgument
        For bad arguments, or if the statistic is not defined for the data.

    Notes
    -----
    The theorem assumes that the values W(x; k) within k swaps hold a ball of radius c ω(x; k). It
    prints a ball around 0, which would depend on the origin; it has to be one around θ(x). In one
    dimension W is an interval, so c ω is the shorter of its two sides.

    Examples
    --------
    >>> from modicum import theory
    >>> round(theory.unbiased_lower_bound([0.5] * 100, "mean", 0.1, within=(0, 1)), 5)
    0.00115

    The Laplace mechanism has 1/(n ε) = 0.1 here.
    """
    x, rate, theta = ordered(data), float(positive(epsilon, "epsilon")), chosen(statistic)
    range_ = warranted_range(within, x)
    here = theta.value(x)
    # exp(-2kε) is below 1e-17 beyond 20/ε, and the two sides grow no more than k-fold.
    steps = np.arange(1, min(len(x), int(20 / rate) + 1) + 1)
    low, high = extremes(x, theta, steps, range_, "swap")
    return float((np.exp(-2 * rate * steps) * np.minimum(high - here, here - low)).max()) / 8
