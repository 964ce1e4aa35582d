"""Crossing lengths: how many records must change until a statistic passes a value."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument
from modicum.theory.data import Integers, ordered, warranted_range
from modicum.theory.named import chosen
from modicum.theory.statistic import Statistic

__all__ = ["crossing_length"]


def crossing_length(
    data: ArrayLike,
    statistic: str | Statistic,
    targets: ArrayLike,
    *,
    within: tuple[float, float],
) -> Integers:
    """Return the crossing lengths of values: the scores of an inverse sensitivity mechanism.

    len(t) is the larger of two numbers of additions and removals, that after which the statistic
    can be t or above, and that after which it can be t or below. Not private: it is computed from
    the data themselves.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
    statistic : "mean", "median" or a monotone statistic
    targets : array_like, shape (m,)
        Values t inside the range.
    within : (lo, hi)
        Where records may lie, finite.

    Returns
    -------
    (m,) int64 array
        At most n each, since no data count as having every value.

    Raises
    ------
    InvalidArgument
        For bad arguments, or records or targets outside the range.

    Notes
    -----
    Differs from Asi and Duchi 2020, equation (1), and Dick et al. 2023, appendix C, which ask for
    θ(D') = t. On a grid that length is not monotone in t; this one is, and it is a maximum of two
    distances to fixed sets, so one record moves it by 1 at most. A target takes O(n) for
    the mean, the trimmed mean and the location, O(log n) for a quantile, and O(n log n) evaluations
    of a function.

    Computed in float64: exact while sums of records and targets are.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.crossing_length([0, 0, 0, 4], "mean", [0, 1, 2, 3, 4], within=(0, 4))
    array([1, 0, 2, 3, 3])

    The mean is 1. Without the 4 it is 0; two 4 more make it 2; without the zeros it is 4.
    """
    x = ordered(data)
    lo, hi = warranted_range(within, x)
    aims = np.asarray(targets, dtype=np.float64)
    if aims.ndim != 1 or not ((aims >= lo) & (aims <= hi)).all():
        raise InvalidArgument("targets must be a one-dimensional array of values inside the range")
    if not np.isfinite([lo, hi]).all():
        raise InvalidArgument(f"within must be finite for lengths, got {within!r}")
    theta = chosen(statistic)
    lengths = [max(theta.length_up(x, t, hi), theta.length_down(x, t, lo)) for t in aims.tolist()]
    return np.array(lengths, dtype=np.int64)
