"""Crossing lengths from their definition: distances to sets of small data sets, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

Data = tuple[int, ...]
Statistic = Callable[[Data], Fraction | None]
"""A value of sorted data, or ``None`` where there is none: such data count as on both sides."""


class Crossing:
    """len(D, t) = max(d(D, {value >= t}), d(D, {value <= t})) under add-remove.

    Distances are taken over all data sets of up to ``largest`` records with these values.
    """

    def __init__(self, statistic: Statistic, values: Sequence[int], largest: int) -> None:
        self._values = list(values)
        self._all: list[Data] = [
            data for n in range(largest + 1) for data in combinations_with_replacement(values, n)
        ]
        self._tables = np.array([self._table(data) for data in self._all])
        self._worth = [statistic(data) for data in self._all]
        self._sides: dict[int | Fraction, NDArray[np.bool_]] = {}

    def _table(self, data: Data) -> list[int]:
        return [data.count(value) for value in self._values]

    def ends(self, data: Data, t: int | Fraction) -> tuple[int, int]:
        """Return d(D, {value <= t}) and d(D, {value >= t})."""
        if t not in self._sides:
            sides = [[v is None or v <= t, v is None or v >= t] for v in self._worth]
            self._sides[t] = np.array(sides)
        far = np.abs(self._tables - self._table(data)).sum(axis=1)
        down, up = self._sides[t].T
        return int(far[down].min()), int(far[up].min())

    def extremes(
        self, data: Data, levels: int
    ) -> tuple[list[Fraction | None], list[Fraction | None]]:
        """Least and highest value within k changes, k < levels; ``None``: there need be none."""
        far = np.abs(self._tables - self._table(data)).sum(axis=1)
        near = [[v for v, d in zip(self._worth, far, strict=True) if d <= k] for k in range(levels)]
        lost = [None in values for values in near]
        return tuple(  # type: ignore[return-value]
            [None if gone else end(values) for values, gone in zip(near, lost, strict=True)]
            for end in (min, max)
        )

    def levels(
        self, data: Data, first: int, last: int, cap: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the least t with d(D, {value <= t}) <= k, and the largest with the other."""
        pairs = {t: self.ends(data, t) for t in range(first, last + 1)}
        lows = [min((t for t in pairs if pairs[t][0] <= k), default=last + 1) for k in range(cap)]
        highs = [max((t for t in pairs if pairs[t][1] <= k), default=first - 1) for k in range(cap)]
        return np.array(lows), np.array(highs)


def mean(data: Data) -> Fraction | None:
    """Plain mean."""
    return Fraction(sum(data), len(data)) if data else None


def median(data: Data) -> Fraction | None:
    """Lower median."""
    return Fraction(data[(len(data) - 1) // 2]) if data else None


def trimmed_mean(m: int) -> Statistic:
    """Mean without the m lowest and the m highest records."""
    return lambda data: mean(data[m : len(data) - m]) if len(data) > 2 * m else None


def winsorized_mean(m: int) -> Statistic:
    """Mean after the m lowest records are moved to the next one, and the m highest."""

    def value(data: Data) -> Fraction | None:
        if len(data) <= 2 * m:
            return None
        kept = data[m : len(data) - m]
        return Fraction(sum(kept) + m * (kept[0] + kept[-1]), len(data))

    return value
