"""The discrete Laplace distribution with a rational scale."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import exp_coin, exp_coins, unit_geometric, unit_geometrics
from modicum.exact.entropy import Entropy

Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""Exact integers: int64, or Python integers if one of them does not fit."""

CHUNK = 1 << 14
"""Candidates treated at a time: few enough for the intermediate arrays to stay in the cache."""

_INT64 = 1 << 63


def discrete_laplace(scale: Fraction, entropy: Entropy) -> int:
    """Draw an integer k with probability (1 - a)/(1 + a) a^|k|, a = exp(-1/scale), scale > 0.

    Canonne, Kamath and Steinke (2020), Algorithm 2, with the geometric part drawn from one word. A
    draw takes a few microseconds, whatever the scale.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> entropy = SeededEntropy(0)
    >>> [discrete_laplace(Fraction(5), entropy) for _ in range(8)]
    [-2, -5, 6, -5, 0, 10, -1, -4]
    """
    t, s = _ratio(scale)
    below = entropy.below
    while True:
        # [samplers.9] X = U + t V has P(X = x) proportional to exp(-x/t): U is uniform below t,
        # kept with probability exp(-U/t), and V is geometric. Hence P(X // s >= y) = exp(-y s/t).
        u = below(t)
        if exp_coin(u, t, entropy):
            y = (u + t * unit_geometric(entropy)) // s
            # [samplers.10] A random sign, with -0 refused lest zero be drawn twice as often.
            if not entropy.bits(1):
                return y
            if y:
                return -y


def discrete_laplace_many(scale: Fraction, count: int, entropy: Entropy) -> Integers:
    """Draw ``count`` independent integers as :func:`discrete_laplace` does.

    They are drawn as vectors while the numerator of the scale is at most 2^64, with the same
    rejections; the coins are those of :func:`modicum.exact.bernoulli.exp_coins`. Below about 50
    draws the scalar function is faster. The law has no largest value; Python integers replace int64
    when a draw does not fit (for scales up to 2^56, with a probability below exp(-127) each).

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> discrete_laplace_many(Fraction(5), 8, SeededEntropy(0))
    array([17,  2,  7,  2, -3, -4,  0,  6])
    """
    t, s = _ratio(scale)
    if t > 1 << 64:
        return as_integers([discrete_laplace(scale, entropy) for _ in range(count)])
    kept: list[Integers] = []
    missing = count
    while missing:
        drawn = _candidates(t, s, min(2 * missing + 16, CHUNK), entropy)[:missing]
        kept.append(drawn)
        missing -= len(drawn)
    return as_integers(np.concatenate(kept)) if kept else np.zeros(0, np.int64)


def as_integers(values: list[int] | NDArray[Any]) -> Integers:
    """Return the integers as int64 if all fit, and as Python integers otherwise."""
    if isinstance(values, np.ndarray) and values.dtype != np.object_:
        return values
    wide: NDArray[np.object_] = np.array(values, dtype=np.object_)
    return wide.astype(np.int64) if all(-_INT64 <= v < _INT64 for v in wide) else wide


def _candidates(t: int, s: int, tries: int, entropy: Entropy) -> Integers:
    """Return the accepted ones of ``tries`` rounds of the rejection in :func:`discrete_laplace`."""
    u = entropy.below_many(t, tries)
    # [samplers.11] Two conversions and one division: x is off by at most 2^-51 of itself.
    x = u.astype(np.float64) / float(t)
    u = u[exp_coins(x, lambda i: Fraction(int(u[i]), t), entropy)]
    v = unit_geometrics(len(u), entropy)
    if max(t * (int(v.max(initial=0)) + 1), s) < _INT64:
        y: Integers = (u.astype(np.int64) + t * v) // s
    else:
        y = (u.astype(np.object_) + t * v.astype(np.object_)) // s
    negative = (entropy.words(len(u)) >> np.uint64(63)).astype(np.bool_)
    kept = ~(negative & (y == 0))
    signed: Integers = np.where(negative, -y, y)[kept]
    return signed


def _ratio(scale: Fraction) -> tuple[int, int]:
    t, s = scale.numerator, scale.denominator
    if t <= 0:
        raise InvalidArgument(f"the scale must be positive, got {scale}")
    return t, s
