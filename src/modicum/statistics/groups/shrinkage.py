"""[pooled.8] Means of small groups, shrunk towards that of all: post-processing of releases.

The mean of a group is worth as much as its noise is small beside the differences of groups. Both
are known from released numbers: the law of the noise is public, and what the means of groups differ
by more than that is the rest (empirical Bayes: James and Stein 1961; Paule and Mandel 1982).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from sys import float_info
from typing import Any

import numpy as np

from modicum.statistics.groups.pooled import Pool
from modicum.statistics.groups.pooled_law import Floats, PooledErrorModel

_FEWEST = 3  # groups, of which two are needed for what they have in common
_HALVINGS = 100
_WIDEST = float_info.max / 4  # noise that is wider tells as little
_NOTHING = 1e-30  # of the square of the largest number


def shrunk(pool: Pool, estimates: Sequence[Any]) -> list[Any]:
    """Return the estimates of all groups, those between bounds of all groups shrunk.

    Groups that answered alone stay as they are, and have no part in the mean of the others.
    """
    models = [each.error_model for each in estimates]
    places = [i for i, model in enumerate(models) if isinstance(model, PooledErrorModel)]
    if len(places) < _FEWEST:
        return [*estimates]
    among, scatter = [models[i] for i in places], cache(partial(_scatter, pool))
    towards, weights = toward_all(
        np.array([model.unshrunk for model in among]),
        np.array([model.deviation for model in among]),
        np.array([scatter(model.lo, model.hi) / math.sqrt(model.count) for model in among]),
    )
    found = [*estimates]
    for i, model, weight in zip(places, among, weights.tolist(), strict=True):
        moved = replace(model, towards=towards, weight=weight)
        found[i] = replace(estimates[i], value=moved.value, error_model=moved)
    return found


def toward_all(values: Floats, noise: Floats, scatter: Floats) -> tuple[float, Floats]:
    """Return the mean of all groups, and the weight of each group's own value against it.

    A value is off from its group's true mean with the standard deviation ``noise``, and that from
    the mean of all groups with the deviation ``scatter`` of a sample, and a variance that all
    groups have in common: as large as makes the sum of squares, weighted by their inverse
    variances, what it is on average.

    Examples
    --------
    >>> values, ones = np.array([1.0, 3.0, 2.0, 2.0]), np.ones(4)
    >>> towards, weights = toward_all(values, 10 * ones, 0 * ones)
    >>> towards, weights.tolist()
    (2.0, [0.0, 0.0, 0.0, 0.0])
    """
    mean, common = in_common(values, noise, scatter)
    return mean, weights_of_own(np.hypot(common, scatter), noise)


def weights_of_own(common: float | Floats, noise: Floats) -> Floats:
    """Return the weights of values with noise, of groups with a deviation in common.

    Examples
    --------
    >>> weights_of_own(1.0, np.array([0.0, 1.0])).round(12).tolist()
    [1.0, 0.5]
    """
    both = np.hypot(common, np.minimum(noise, _WIDEST))
    found: Floats = (common / np.maximum(both, np.finfo(float).tiny)) ** 2
    return found


def in_common(values: Floats, noise: Floats, scatter: Floats) -> tuple[float, float]:
    """Return the mean of all groups, and the deviation that they have in common.

    Examples
    --------
    >>> in_common(np.array([1.0, 3.0]), np.zeros(2), np.zeros(2))
    (2.0, 1.41421356...)
    """
    noise = np.minimum(noise, _WIDEST)
    unit = max(float(np.abs(each).max()) for each in (values, noise, scatter)) or 1.0
    values, noise, scatter = values / unit, (noise / unit) ** 2, (scatter / unit) ** 2
    own = np.maximum(noise + scatter, _NOTHING)

    def fitted(common: float) -> tuple[float, float]:
        inverse = 1 / (own + common)
        mean = float(inverse @ values / inverse.sum())
        return mean, float(inverse @ (values - mean) ** 2)

    usual = len(values) - 1
    low, high = 0.0, float(np.ptp(values)) ** 2
    if fitted(0.0)[1] <= usual:
        high = 0.0
    for _ in range(_HALVINGS if high else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if fitted(middle)[1] > usual else (low, middle)
    return fitted(high)[0] * unit, math.sqrt(high) * unit


def _scatter(pool: Pool, lo: int, hi: int) -> float:
    """Standard deviation of all groups' records, clipped to bounds of one, from released cells."""
    lows, highs = ([pair[side] for pair in pool.nested] for side in (0, 1))
    inner = [*lows[::-1], pool.centre, *highs]
    ends = np.clip(np.array(inner), lo, hi).astype(float)
    edges = np.concatenate([ends[:1], ends, ends[-1:]])
    shares, middles = np.array(pool.shares), (edges[1:] + edges[:-1]) / 2
    mean = float(shares @ middles)
    spread = (middles - mean) ** 2 + (edges[1:] - edges[:-1]) ** 2 / 12
    return math.sqrt(float(shares @ spread)) * pool.lattice.step
