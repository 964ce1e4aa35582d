"""Noisy counts of the records in cells around released points, and what they say of quantiles.

[quantiles.16] edges      where cells end: public, from the points and a noisy number of records;
[quantiles.17] intervals  from edges that have the quantile surely above or below them;
[quantiles.18] moved      a point, by the rank that the counts say it has.

docs/research/proofs/quantiles.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import Intervals
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.mechanisms.noise_sums import sum_tail

MARGIN = 1.0  # standard deviations by which an edge is further than the noise alone asks for
ALONE = 2.0  # the same, of an edge without another one after it
CLOSE = 3.0  # times as far is the middle to the next point, at most, where there is one edge
FURTHER = 3  # times as far is the next edge, in case that this is not enough
UNEVEN = 3.0  # times as many records as expected, or fewer: a point is not moved
ROUND = 1000  # steps: a multiple of so many, or of ten times as many, is a common value
_NEAREST = 0.48  # share of the nearest edge in what may go wrong, about
_UNSURE = 1.5  # standard deviations of noise that never tell a rank

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankNoise:
    """Noise of #{records below an edge} - q n, from counts of cells.

    It is (1 - q) times that of the cells below the edge, and -q times that of the others.
    """

    noise: Noise
    q: float
    below: int
    cells: int

    @property
    def _parts(self) -> tuple[tuple[float, int], tuple[float, int]]:
        return (1 - self.q, self.below), (self.q, self.cells - self.below)

    @property
    def variance(self) -> float:
        return self.noise.variance * sum(times * weight**2 for weight, times in self._parts)

    def exceeds(self, rank: float, alpha: float) -> bool:
        """Whether the noise may be more than this with a probability above ``alpha``."""
        if rank <= _UNSURE * math.sqrt(self.variance):
            return True
        if rank > self.noise.sum_bound(self._parts, alpha):
            return False
        return sum_tail(self.noise, self._parts, rank) > alpha


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Noisy counts of the records between edges, each with ``noise``.

    A cell holds the integers from one edge to the one before the next; the first and the last one
    reach to the ends of the range. ``least``: records that there should be, so that no quantile is
    lost.
    """

    edges: tuple[int, ...]
    cells: tuple[int, ...]
    noise: Noise
    least: float

    @property
    def total(self) -> int:
        return sum(self.cells)

    def bound(self, alpha: float) -> float:
        """Return a t that the total's noise exceeds with probability <= alpha."""
        return self.noise.sum_bound(((1.0, len(self.cells)),), alpha)

    def intervals(
        self, lattice: Lattice, qs: Sequence[Fraction], points: Sequence[int], level: float
    ) -> Intervals:
        """[quantiles.17] The nearest edges that are beyond each quantile for sure; else the range.

        No q-quantile is below an edge if fewer than q n records are, and none is on or above it if
        more than q n are.
        """
        lower, upper = np.full(len(qs), lattice.lo), np.full(len(qs), lattice.hi)
        for i, (q, point) in enumerate(zip(qs, points, strict=True)):
            own, alpha = bisect_right(self.edges, point), (1 - level) / len(qs)
            below = self._surely(range(own - 1, -1, -1), float(q), own, alpha)
            above = self._surely(range(own, len(self.edges)), float(q), own, alpha)
            if below is not None:
                lower[i] = max(lattice.lo, (self.edges[below] - 0.5) * lattice.step)
            if above is not None:
                upper[i] = min(lattice.hi, (self.edges[above] - 0.5) * lattice.step)
        return Intervals(lower, upper)

    def _surely(self, edges: Iterable[int], q: float, own: int, alpha: float) -> int | None:
        """Return the first of the edges on one side that is beyond a quantile for sure.

        An edge that is d edges away from the point's ``own`` cell gets a share of ``alpha`` like
        1/(1/2 + d)³, because d hardly matters where it is large.
        """
        weights = 1.0 / (np.abs(np.arange(len(self.edges)) - own + 0.5)) ** 3
        parts, excess = alpha * weights / weights.sum(), self._excess(q)
        for k in edges:
            rank = float(excess[k]) if k >= own else -float(excess[k])
            rank_noise = RankNoise(self.noise, q, k + 1, len(self.cells))
            if not rank_noise.exceeds(rank, float(parts[k])):
                return k
        return None

    def _excess(self, q: float) -> Floats:
        """Noisy numbers of records below the edges, less q times that of all."""
        upto = np.cumsum(self.cells).astype(np.float64)
        found: Floats = upto[:-1] - q * upto[-1]
        return found

    def moved(self, q: Fraction, point: int, variance: float, expected: float) -> int:
        """[quantiles.18] Move a point within its cell to where the counts see the quantile.

        ``variance`` is that of its rank, and ``expected`` the records a step around it.
        """
        own = bisect_right(self.edges, point)
        if not 0 < own < len(self.edges):
            return point
        start, stop = self.edges[own - 1 : own + 1]
        held, about = self.cells[own], expected * (stop - start)
        if not about / UNEVEN <= held <= about * UNEVEN:
            return point
        rank = float(self._excess(float(q))[own - 1]) + held * (point - start) / (stop - start)
        noise = RankNoise(self.noise, float(q), own, len(self.cells)).variance
        steps = rank * variance / (variance + noise) * (stop - start) / held
        return min(max(point - round(steps), start), stop - 1)


def is_round(lattice: Lattice, point: int) -> bool:
    """Whether a point is a decimal of few digits beside the step: a value of many records.

    The next power of ten above 1000 steps divides it, as it does one integer in a thousand or more.
    """
    unit = Fraction(10) ** math.ceil(math.log10(ROUND * lattice.step))
    value = point * Fraction(lattice.step)
    return 2 * abs(value - round(value / unit) * unit) <= lattice.step


@dataclass(frozen=True, slots=True)
class PointPlace:
    """A value of some of the points: quantiles number ``first`` to ``last``.

    ``records`` are those a step about it, as it seems from the other points; 0 if there are none.
    """

    value: int
    first: int
    last: int
    records: float


def places_of(points: Sequence[int], qs: Sequence[Fraction], count: int) -> tuple[PointPlace, ...]:
    """Return the different ones of increasing points; ``count`` is a noisy number of records."""
    values = sorted(set(points))
    first = [points.index(value) for value in values]
    last = [*(place - 1 for place in first[1:]), len(points) - 1]
    density = [
        max(1, count) * float(qs[j] - qs[i]) / (b - a)
        for i, j, (a, b) in zip(last, first[1:], pairwise(values), strict=False)
    ]
    records = _slopes(density, [b - a for a, b in pairwise(values)])
    return tuple(map(PointPlace, values, first, last, records))


def _slopes(density: Sequence[float], widths: Sequence[int]) -> list[float]:
    """Return records a step at each place, from those between neighbours.

    It is the slope of the parabola through a place and its neighbours: the mean of the densities on
    both sides, where that of the narrower side counts more. At both ends the parabola is that of
    the next place, and has at most twice, and at least half, of the density beside it.
    """
    if len(density) < 2:
        return [*density, *density] or [0.0]
    inner = [
        (density[i] * widths[i + 1] + density[i + 1] * widths[i]) / (widths[i] + widths[i + 1])
        for i in range(len(density) - 1)
    ]
    low, high = (
        min(max(2 * beside - slope, beside / 2), 2 * beside)
        for beside, slope in ((density[0], inner[0]), (density[-1], inner[-1]))
    )
    return [low, *inner, high]


def plain_edges(lattice: Lattice, places: Iterable[PointPlace]) -> tuple[int, ...]:
    """Return edges on both sides of each place: cells of the places and of what is between."""
    return _inside(lattice, (edge for at in places for edge in (at.value, at.value + 1)))


def edges_around(
    lattice: Lattice,
    qs: Sequence[Fraction],
    places: Sequence[PointPlace],
    variances: Sequence[float],
    noise: Noise,
    level: float,
) -> tuple[int, ...]:
    """[quantiles.16] PointPlace edges so far from the points that counts will tell them beyond.

    ``variances`` are those of the ranks of the points. There are several places. How far an edge
    has to be depends on the number of cells, and that on how far it is.
    """
    cells, alpha = 2 * len(places) + 1, (1 - level) / len(qs)
    edges: tuple[int, ...] = ()
    for _ in range(2):
        ranks = [
            _reaches(RankNoise(noise, float(q), _middle(q, cells), cells), alpha, variance)
            for q, variance in zip(qs, variances, strict=True)
        ]
        edges = _inside(lattice, _around(places, ranks))
        cells = max(3, len(edges) + 1)
    return edges


def _inside(lattice: Lattice, edges: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({edge for edge in edges if lattice.first < edge <= lattice.last}))


def _both(value: int, steps: int) -> tuple[int, int]:
    """Return edges so many steps below and above an integer."""
    return value - steps, value + 1 + steps


def _middle(q: Fraction, cells: int) -> int:
    return min(max(1, round(q * cells)), cells - 1)


def _reaches(noise: RankNoise, alpha: float, variance: float) -> tuple[float, float]:
    """Ranks from a point to an edge beyond its quantile, if another one follows and if it is alone.

    Counts tell mostly, and nearly always, that it is beyond.
    """
    sure = NormalDist().inv_cdf(1 - _NEAREST * alpha) * math.sqrt(noise.variance)
    missed = math.sqrt(noise.variance + variance)
    return sure + MARGIN * missed, sure + ALONE * missed


def _around(places: Sequence[PointPlace], ranks: Sequence[tuple[float, float]]) -> Iterator[int]:
    """Go through edges at such distances from the place of each quantile.

    Two on a side, or one where the next point is near; none is beyond the middle between two
    places. Where points are equal many records are as well, so there are edges on both sides.
    """
    for i, at in enumerate(places):
        if at.first < at.last:
            yield from _both(at.value, 0)
        for side, which in ((-1, at.first), (1, at.last)):
            near, alone = (reach / at.records for reach in ranks[which])
            steps = [round(near), round(FURTHER * near)]
            if 0 <= i + side < len(places):
                middle = (at.value + places[i + side].value + 1) // 2
                room = abs(middle - _both(at.value, 0)[side > 0])
                if room < CLOSE * alone:
                    steps = [round(alone)]
                if steps[0] > room:
                    steps = []
                    yield middle
            for step in steps:
                yield _both(at.value, step)[side > 0]
