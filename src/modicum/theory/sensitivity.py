"""Local sensitivities at a distance, and what follows: smooth ones, radii, and their error."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from modicum.exact.rational import as_integer
from modicum.theory.data import Floats, Number, checked_range, ordered, positive
from modicum.theory.statistics import Statistic, chosen


def local_sensitivities(
    data: ArrayLike, statistic: str | Statistic, steps: int, *, within: tuple[float, float]
) -> Floats:
    """Return how far one changed record can move a statistic, 0, 1, ... changed records away.

    Not private: it is computed from the data themselves. One step changes a record, so n stays.

    Parameters
    ----------
    data, within
        As for :func:`modulus`.
    statistic : "mean", "median", Quantile or TrimmedMean
        A trimmed mean needs n > 2m. Others raise InvalidArgument.
    steps : int
        How many distances.

    Returns
    -------
    float64 array, shape (steps,)
        Entry k is the largest ω(D', 1) over all D' with at most k records changed, exactly.

    Notes
    -----
    The statistics are means of the records of ranks v to u. One change moves a record out at one
    end of these ranks, and in at the other. The entry is the maximum over 0 <= i <= k + 1 of
    x_(u+i) - x_(v+i-k-1) over the number of ranks; records above rank n are ``hi``, those below
    rank 1 ``lo`` (Nissim, Raskhodnikova and Smith 2007 for the median, Bun and Steinke 2019 for
    trimmed means). ``local_sensitivities(...)[k - 1]`` as R_k are the least radii of
    :class:`modicum.mechanisms.norm_ball.RadialMechanism` (Asi and Duchi 2020, Proposition 2.1,
    corrected).

    Examples
    --------
    >>> local_sensitivities([0, 1, 3, 6, 10], "median", 3, within=(0, 100))
    array([ 3.,  7., 97.])
    """
    # [radial.4]
    x = ordered(data)
    count = as_integer(steps, "steps", 0)
    lo, hi = checked_range(within, x)
    first, last = chosen(statistic).ranks(len(x))
    low = np.concatenate([np.full(count, lo), x])
    high = np.concatenate([x, np.full(count, hi)])
    found = []
    for k in range(count):
        i = np.arange(k + 2)
        above = high[np.minimum(last + i, len(high)) - 1]
        below = low[np.maximum(count + first + i - k - 1, 1) - 1]
        found.append(float((above - below).max()))
    return np.array(found) / (last - first + 1)


def smooth_sensitivity(sensitivities: ArrayLike, beta: Number, *, largest: float) -> float:
    """Return the β-smooth sensitivity max_k exp(-β k) LS_k of Nissim et al. 2007; not private.

    Parameters
    ----------
    sensitivities : array_like, shape (K,)
        Those 0, ..., K - 1 steps away, as :func:`local_sensitivities` returns them.
    beta : number
        Above 0.
    largest : float
        A bound of all further ones, such as the width of the range; with K too small it decides.

    Examples
    --------
    >>> round(smooth_sensitivity([3, 7, 97], 2, largest=100), 3)
    3.0
    """
    return float(smooth_radii(sensitivities, beta, largest=largest)[0])


def smooth_radii(sensitivities: ArrayLike, beta: Number, *, largest: float) -> Floats:
    """Return how large the smooth sensitivity is 0, 1, ..., K steps away; not private.

    Parameters are those of :func:`smooth_sensitivity`. Entries from 1 on are the radii of Asi and
    Duchi 2020, Proposition 2.2.

    Returns
    -------
    float64 array, shape (K + 1,)
        exp(β l) max_{k >= l} exp(-β k) LS_k, never above ``largest``: what is reached in k steps
        from D' is reached in k + l from D, so the maximum over all D' within l steps of the smooth
        sensitivity is this.

    Examples
    --------
    >>> smooth_radii([3, 7, 97], 2, largest=100).round(2).tolist()
    [3.0, 13.13, 97.0, 100.0]
    """
    # [radial.5]
    rate = float(positive(beta, "beta"))
    each = np.append(np.asarray(sensitivities, dtype=np.float64), largest)
    logs = np.full(len(each), -np.inf)
    np.log(each, out=logs, where=each > 0)
    logs -= rate * np.arange(len(each))
    most = np.maximum.accumulate(logs[::-1])[::-1] + rate * np.arange(len(each))
    found: Floats = np.minimum(np.exp(most), largest)
    return found


def radial_error(radii: ArrayLike, epsilon: Number, *, largest: float, dimension: int = 1) -> float:
    """Return the expected distance of an answer from the value, in real numbers.

    That of the approximate inverse sensitivity mechanism (Asi and Duchi 2020, M.2, without a cap),
    which is a mixture of uniform laws on balls: docs/proofs/radial.md, [radial.7]. The norm, of
    whatever kind, is the one that radii are in. A ball of radius 0 has no volume: where radii are
    0, give them the step of a lattice.

    Parameters
    ----------
    radii : array_like, shape (K,)
        R_1, ..., R_K, at least 0.
    epsilon : number
        Above 0.
    largest : float
        All further radii; above 0.
    dimension : int
        At least 1.

    Examples
    --------
    >>> round(radial_error([], 1, largest=1.0), 2)
    2.04

    Half of ε goes to the normaliser, which does not move here: Laplace noise would have an error
    of 1.
    """
    rate = float(positive(epsilon, "epsilon")) / 2
    d = as_integer(dimension, "dimension", 1)
    each = np.asarray(radii, dtype=np.float64)
    tail = np.full(math.ceil((40 + 20 * d) / rate) + 1, largest)
    reaches = np.cumsum(np.concatenate([each, tail]))
    weights = -rate * np.arange(1, len(reaches) + 1)
    seen = reaches > 0
    logs = weights[seen] + d * np.log(reaches[seen])
    shares = np.exp(logs - logs.max())
    return float(d / (d + 1) * (shares @ reaches[seen]) / shares.sum())
