"""Lengths of a trimmed mean when records are exchanged and their number n is public.

Asi and Duchi (2020), Lemma 4.1, which the paper states for one direction and data without bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

Data = tuple[int, ...]


def trimmed(data: Sequence[int], m: int) -> Fraction:
    """Mean without the m lowest and the m highest of more than 2 m records."""
    kept = sorted(data)[m : len(data) - m]
    return Fraction(sum(kept), len(kept))


def upper_length(data: Sequence[int], m: int, t: Fraction, largest: float) -> int:
    """Exchanges before the trimmed mean is t or more, of records that are at most ``largest``."""
    x, n = sorted(data), len(data)
    for k in range(m + 1):
        if sum(x[m + k : n - m + k]) >= (n - 2 * m) * t:
            return k
    for k in range(m + 1, n + 1):  # k - m records at the bound are inside the cuts
        if sum(x[m + k :]) + min(k - m, n - 2 * m) * largest >= (n - 2 * m) * t:
            return k
    return n


def length(data: Sequence[int], m: int, t: Fraction, bounds: tuple[float, float]) -> int:
    """Both directions: the one that t lies in counts."""
    upper = upper_length(data, m, t, bounds[1])
    return max(upper, upper_length([-x for x in data], m, -t, -bounds[0]))


def literal_length(data: Sequence[int], m: int, t: Fraction, ends: tuple[int, int]) -> int:
    """Lemma 4.1 as printed: f is the trimmed mean clipped to [a, b], and t >= f."""
    x, n = sorted(data), len(data)
    f = min(max(trimmed(data, m), ends[0]), ends[1])
    for k in range(m + 1):
        if t - f <= Fraction(sum(x[n - m + i] - x[m + i] for i in range(k)), n - 2 * m):
            return k
    return m + 1


class Exchanges:
    """Every data set of n records with these values, and distances between them."""

    def __init__(self, values: Sequence[int], n: int) -> None:
        self._values = values
        self.all: list[Data] = list(combinations_with_replacement(sorted(values), n))

    def distance(self, one: Data, other: Data) -> int:
        return sum(max(one.count(v) - other.count(v), 0) for v in self._values)

    def crossing(self, data: Data, m: int, t: Fraction) -> int:
        """Least distance to a trimmed mean on the other side of t, or on it."""
        value = trimmed(data, m)
        beyond = [
            self.distance(data, other)
            for other in self.all
            if (trimmed(other, m) >= t if t >= value else trimmed(other, m) <= t)
        ]
        return min(beyond, default=math.inf)  # type: ignore[return-value]
