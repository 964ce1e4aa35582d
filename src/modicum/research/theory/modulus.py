"""How far a statistic moves when k records change, and its inverse: how many have to change.

Moduli of continuity, crossing lengths, and moduli of anything by trying all data sets. Then local
sensitivities at a distance, and what follows: smooth ones, radii, and their error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument, as_given
from modicum.exact.rational import as_integer
from modicum.privacy.budget import Number
from modicum.research.theory.arguments import checked_range, chosen, ordered, positive
from modicum.research.theory.statistics import Floats, Integers, Statistic

_MOST = 10**5

Multiset = tuple[float, ...]
Neighbours = Literal["add-remove", "swap"]


def modulus(
    data: ArrayLike,
    statistic: str | Statistic,
    operations: int,
    *,
    within: tuple[float, float],
    neighbours: Neighbours = "add-remove",
) -> float:
    """Return ω(D, k), the largest change of a statistic within distance k of the data.

    Not private: it is computed from the data themselves. ω(D, 1) is the local sensitivity.

    Parameters
    ----------
    data : array_like, shape (n,), n >= 1
        Finite numbers, in any order.
    statistic : "mean", "median" or a monotone statistic
        For example ``Quantile(0.9)``, ``TrimmedMean(5)``, ``Location(3)`` or ``Monotone(f)``.
    operations : int
        k >= 0. For swaps at most n are of use.
    within : (lo, hi)
        Where new records may lie; it holds all records, and may be infinite.
    neighbours : {"add-remove", "swap"}
        Whether one step adds or removes a record, or changes one.

    Returns
    -------
    float
        In the unit of the data; infinite if the range lets it be.

    Raises
    ------
    InvalidArgument
        For bad arguments, records outside the range, or a statistic that is not defined here.

    Notes
    -----
    Asi and Duchi 2020, equation (2), in one dimension; Dick et al. 2023, appendix C. Exact for
    monotone statistics: the extremes remove from one end and add at the other. Data for which the
    statistic is not defined, as no data at all for a mean, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import theory
    >>> x = np.arange(1_000_000.0)
    >>> theory.modulus(x, "median", 100, within=(0, 1e9))
    50.0
    >>> theory.modulus(x, "median", 100, within=(0, 1e9), neighbours="swap")
    100.0
    """
    x = ordered(data)
    k = as_integer(operations, "operations", 0)
    range_, theta = checked_range(within, x), chosen(statistic)
    return farthest(theta.value(x), *extremes(x, theta, np.array([k]), range_, neighbours))


def extremes(
    x: Floats,
    statistic: Statistic,
    operations: Integers,
    within: tuple[float, float],
    neighbours: Neighbours,
) -> tuple[Floats, Floats]:
    """The lowest and the highest values within each number of steps, of sorted records."""
    _check_neighbours(neighbours)
    lo, hi = within
    if neighbours == "swap":
        changed = np.minimum(operations, len(x))
        low = statistic.lowered(x, changed, changed, lo)
        high = statistic.raised(x, changed, changed, hi)
    else:
        low, high = statistic.lowest(x, operations, lo), statistic.highest(x, operations, hi)
    if np.isnan(low).any() or np.isnan(high).any():
        raise InvalidArgument(f"the {statistic.name} is not defined for {len(x)} records")
    return low, high


def farthest(here: float, lowest: Floats, highest: Floats) -> float:
    """How far the last of the extremes are from the value."""
    return float(max(highest[-1] - here, here - lowest[-1]))


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
    data, statistic, within
        As for :func:`modulus`; the range has to be finite.
    targets : array_like, shape (m,)
        Values t inside the range.

    Returns
    -------
    (m,) int64 array
        At most n each, since no data count as having every value.

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
    lo, hi = checked_range(within, x)
    aims = np.asarray(targets, dtype=np.float64)
    if aims.ndim != 1 or not ((aims >= lo) & (aims <= hi)).all():
        raise InvalidArgument("targets must be a one-dimensional array of values inside the range")
    if not np.isfinite([lo, hi]).all():
        raise InvalidArgument(f"within must be finite for lengths, got {as_given(within)}")
    theta = chosen(statistic)
    lengths = [max(theta.length_up(x, t, hi), theta.length_down(x, t, lo)) for t in aims.tolist()]
    return np.array(lengths, dtype=np.int64)


def _check_neighbours(neighbours: str) -> None:
    """Refuse a metric that has neither of the two names."""
    if neighbours not in get_args(Neighbours):
        raise InvalidArgument(
            f"neighbours must be 'add-remove' or 'swap', got {as_given(neighbours)}"
        )


def brute_force_modulus(
    data: ArrayLike,
    function: Callable[[Floats], float],
    operations: int,
    *,
    grid: ArrayLike,
    neighbours: Neighbours = "add-remove",
) -> float:
    """Return the largest change of any statistic within distance k, new records on a grid.

    Not private: it is computed from the data themselves. For statistics that are not monotone,
    and to check the closed forms; the cost grows like the k-th power of the size of the grid.

    Parameters
    ----------
    data, operations, neighbours
        As for :func:`modulus`.
    function : callable
        Takes a sorted float64 array of shape (m,), m >= 1, and returns a number.
    grid : array_like, shape (g,), g >= 1
        Values that new records may have.

    Returns
    -------
    float
        The supremum over the data sets reached; the empty one is left out.

    Raises
    ------
    InvalidArgument
        Also if more than 100,000 data sets would be tried.

    Examples
    --------
    The mode is not monotone.

    >>> from modicum import theory
    >>> def mode(x):
    ...     values, counts = np.unique(x, return_counts=True)
    ...     return values[counts.argmax()]
    >>> theory.brute_force_modulus([0, 0, 0, 5], mode, 2, grid=range(6))
    0.0
    >>> theory.brute_force_modulus([0, 0, 0, 5], mode, 3, grid=range(6))
    5.0
    """
    x, values = ordered(data), sorted(set(ordered(grid).tolist()))
    k = as_integer(operations, "operations", 0)
    _check_neighbours(neighbours)
    step = _swaps if neighbours == "swap" else _additions_and_removals
    reached: set[Multiset] = {tuple(x.tolist())}
    frontier = set(reached)
    for _ in range(k):
        fresh: set[Multiset] = set()
        for old in frontier:
            fresh.update(step(old, values))
            if len(fresh) > _MOST:
                raise InvalidArgument(
                    f"more than 100,000 data sets lie within distance {k}; use a smaller grid"
                )
        frontier = fresh - reached
        reached |= frontier
    here = float(function(x))
    return max(abs(float(function(np.array(other))) - here) for other in reached if other)


def _additions_and_removals(records: Multiset, values: list[float]) -> Iterator[Multiset]:
    for value in values:
        yield tuple(sorted((*records, value)))
    for i in range(len(records)):
        yield records[:i] + records[i + 1 :]


def _swaps(records: Multiset, values: list[float]) -> Iterator[Multiset]:
    for i in range(len(records)):
        for value in values:
            yield tuple(sorted((*records[:i], value, *records[i + 1 :])))


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

    Returns
    -------
    float
        In the unit of the data; noise of this scale needs a law of its own, not Laplace's.

    Examples
    --------
    >>> round(smooth_sensitivity([3, 7, 97], 2, largest=100), 3)
    3.0
    """
    return float(smooth_radii(sensitivities, beta, largest=largest)[0])


def smooth_radii(sensitivities: ArrayLike, beta: Number, *, largest: float) -> Floats:
    """Return how large the smooth sensitivity is 0, 1, ..., K steps away; not private.

    Entries from 1 on are the radii of Asi and Duchi 2020, Proposition 2.2.

    Parameters
    ----------
    sensitivities, beta, largest
        As for :func:`smooth_sensitivity`.

    Returns
    -------
    float64 array, shape (K + 1,)
        exp(β l) max_{k >= l} exp(-β k) LS_k, never above ``largest``: what is reached in k steps
        from D' is reached in k + l from D, so the maximum over all D' within l steps of the smooth
        sensitivity is this.

    Raises
    ------
    InvalidArgument
        If β is not above 0.

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
    which is a mixture of uniform laws on balls: docs/research/proofs/radial.md, [radial.7]. The
    norm, of whatever kind, is the one that radii are in. A ball of radius 0 has no volume: where
    radii are 0, give them the step of a lattice.

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

    Returns
    -------
    float
        In the unit of the radii.

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
