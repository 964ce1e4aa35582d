"""Noisy counts of the records in cells around released points, and what they say of quantiles.

[quantiles.16] edges      where cells end: public, from the points and a noisy number of records;
[quantiles.17] intervals  from edges that have the quantile surely above or below them;
[quantiles.20] moved      a point, by the rank that the counts say it has.

docs/research/proofs/quantiles.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.mechanisms import additive, noise_sums
from modicum.releases.array_release import Intervals
from modicum.statistics.order.quantile_ranks import OWN, SIDE, CombinedNoise, PlaceCounts
from modicum.stored.codec import storable

# Standard deviations by which edges are further than noise asks; the last is as far as may be.
MARGINS = (0.5, 1.6, 4.0, 30.0, math.inf)
_SAMPLE_MARGINS = (1.0, 0.8, 3.0, 30.0, math.inf)  # where a population is asked about,
_SAMPLED = (0.0, 1.05, 1.4, 8.0, 0.0)  # and as many times its ranks: densities are not even
_NONE, _EMPTY = 3.0, 3  # deviations that the count of an empty cell has, and how many are a gap
STRAY = 4.0  # standard deviations of a number of records that are not by chance
SPARE = 1 / 32  # share of what may go wrong, for edges of other places and for empty cells
ROUND = 1000  # steps: a multiple of so many, or of ten times as many, is a common value
_FURTHEST = 1e9  # records to an edge, where no rank is ever sure
_OTHERS = 1 / 4  # share of what may go wrong for a population, for edges of other places
_UNSURE = 1.5  # standard deviations of noise that never tell a rank

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SampledRanks:
    """How far the ranks of a population's quantiles may be, and the chance of each test of them.

    ``margins`` are those downwards and upwards of each quantile.
    """

    margins: tuple[tuple[float, float], ...]
    chance: float

    @property
    def each(self) -> float:
        """Chance of a test of a quantile's own edges on one side."""
        return self.chance / (2 * len(self.margins)) * (1 - _OTHERS)


@dataclass(frozen=True, slots=True)
class RankNoise:
    """Noise of #{records below an edge} - q n, from counts of cells.

    It is (1 - q) times that of the cells below the edge, and -q times that of the others.
    """

    noise: additive.Noise
    q: float
    below: int
    cells: int

    @property
    def _parts(self) -> tuple[tuple[float, int], tuple[float, int]]:
        return (1 - self.q, self.below), (self.q, self.cells - self.below)

    @property
    def variance(self) -> float:
        (one, below), (other, above) = self._parts
        return self.noise.variance * (below * one**2 + above * other**2)

    def exceeds(self, rank: float, alpha: float) -> bool:
        """Whether the noise may be more than this with a probability above ``alpha``."""
        sd = math.sqrt(self.variance)
        # Far out the tail of a sum of these noises, which are integers, is above the normal one at
        # the next integer: where that is above alpha, the exact masses would say the same.
        if rank <= _UNSURE * sd or math.erfc((rank + 1) / (math.sqrt(2) * sd)) > 2 * alpha:
            return True
        if rank > self.noise.sum_bound(self._parts, alpha):
            return False
        return noise_sums.sum_tail(self.noise, self._parts, rank) > alpha


@storable
@dataclass(frozen=True, slots=True)
class CellCounts:
    """Noisy counts of the records between edges, each with ``noise``.

    A cell holds the integers from one edge to the one before the next; the first and the last one
    reach to the ends of the range, and one between equal edges is empty. ``first``: counts between
    the places of the points, drawn before; then there are edges on both sides of each. ``least``:
    records that there should be, in earlier releases.
    """

    edges: tuple[int, ...]
    cells: tuple[int, ...]
    noise: additive.Noise
    least: float = 0.0
    first: PlaceCounts | None = None

    @property
    def total(self) -> int:
        return sum(self.cells)

    def bound(self, alpha: float) -> float:
        """Return a t that the total's noise exceeds with probability <= alpha."""
        return self.noise.sum_bound(((1.0, len(self.cells)),), alpha)

    def found(self, qs: Sequence[Fraction], points: Sequence[int], alpha: float) -> bool:
        """[quantiles.22] Whether no point is off by the smallest share of the records, for sure."""
        missed = min(b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1))))
        for q, point in zip(qs, points, strict=True):
            below, above = bisect_right(self.edges, point) - 1, bisect_right(self.edges, point)
            ends = ((below, -1, q + missed), (above, 1, q - missed))
            for k, side, rank in ends:
                if 0 <= k < len(self.edges) and 0 < rank < 1:
                    away = side * float(self._excess(float(rank))[k])
                    law = RankNoise(self.noise, float(rank), k + 1, len(self.cells))
                    if law.exceeds(away, alpha):
                        return False
        return True

    def intervals(
        self, lattice: Lattice, qs: Sequence[Fraction], points: Sequence[int], level: float
    ) -> Intervals:
        """Return ends that are beyond each quantile for sure; else the range.

        [quantiles.17], and first [quantiles.19] where there are edges for it. No q-quantile is
        below an edge if fewer than q n records are, and none is on or above it if more than q n
        are.
        """
        lower, upper = np.full(len(qs), lattice.lo), np.full(len(qs), lattice.hi)
        for i, (q, point) in enumerate(zip(qs, points, strict=True)):
            own, alpha = bisect_right(self.edges, point), (1 - level) / len(qs)
            below = above = None
            if self.first is not None:
                place = self.first.places[i]
                below, above = self._around(self.first, q, place, alpha)
                own, alpha = OWN * place + SIDE + 1, alpha * SPARE  # a moved point may be elsewhere
            if below is None:
                below = self._surely(range(own - 1, -1, -1), float(q), own, alpha)
            if above is None:
                above = self._surely(range(own, len(self.edges)), float(q), own, alpha)
            if below is not None:
                edge = min(self.edges[below], point)
                lower[i] = max(lattice.lo, (edge - 0.5) * lattice.step)
            if above is not None:
                edge = max(self.edges[above], point + 1)
                upper[i] = min(lattice.hi, (edge - 0.5) * lattice.step)
        return Intervals(lower, upper)

    def population_intervals(
        self,
        lattice: Lattice,
        ranks: Sequence[tuple[Fraction, Fraction]],
        points: Sequence[int],
        alpha: float,
    ) -> Intervals:
        """[quantiles.21] Return ends that are beyond rows of two ranks for sure; else the range.

        ``ranks`` are those below and above each quantile of the population, as shares of the rows;
        a share outside of (0, 1) has no end.
        """
        lower, upper = np.full(len(ranks), lattice.lo), np.full(len(ranks), lattice.hi)
        each = alpha / (2 * len(ranks))
        for i, ((low, high), point) in enumerate(zip(ranks, points, strict=True)):
            below = self._beyond(low, i, point, -1, each) if float(low) > 0 else None
            above = self._beyond(high, i, point, 1, each) if float(high) < 1 else None
            if below is not None:
                edge = min(self.edges[below], point)
                lower[i] = max(lattice.lo, (edge - 0.5) * lattice.step)
            if above is not None:
                edge = max(self.edges[above], point + 1)
                upper[i] = min(lattice.hi, (edge - 0.5) * lattice.step)
        return Intervals(lower, upper)

    def _beyond(self, q: Fraction, i: int, point: int, side: int, alpha: float) -> int | None:
        """Return an edge on one side of a point that is beyond a rank for sure, if there is any."""
        own, found = bisect_right(self.edges, point), None
        if self.first is not None:
            place = self.first.places[i]
            middle, sure = OWN * place + SIDE, self._law(self.first, q, place)
            rank, own = self.rank(self.first, q, place), middle + 1
            found = self._end(sure.sure(side, alpha * (1 - _OTHERS)), middle, side, rank)
            alpha *= _OTHERS
        if found is not None:
            return found
        edges = range(own - 1, -1, -1) if side < 0 else range(own, len(self.edges))
        return self._surely(edges, float(q), own, alpha, power=1)

    def _around(
        self, first: PlaceCounts, q: Fraction, place: int, alpha: float
    ) -> tuple[int | None, int | None]:
        """[quantiles.19] Return the edges of a place that are beyond a quantile for sure.

        Each is asked about only if all further ones are sure. Both sides have all of ``alpha``,
        less what is spent elsewhere, if there are surely records between the nearest edges.
        """
        middle, law = OWN * place + SIDE, self._law(first, q, place)
        spread = self.noise.sum_bound(((1.0, 2),), alpha * SPARE)
        some = self.cells[middle] + self.cells[middle + 1] > spread
        each = alpha * (1 - 2 * SPARE) / (1 if some else 2)
        rank = self.rank(first, q, place)
        below, above = (self._end(law.sure(side, each), middle, side, rank) for side in (-1, 1))
        return below, above

    def _end(self, sure: tuple[float, ...], middle: int, side: int, rank: float) -> int | None:
        """Return the nearest edge on a side of a place that all further ones are as sure as.

        Edges that are equal are one, the nearest of them.
        """
        found, away = None, side * rank + sum(self._beside(middle, side))
        for k, cell in reversed(list(enumerate(self._beside(middle, side), 1))):
            edge = middle + side * k
            if self.edges[edge] != self.edges[edge - side] or k == 1:
                if away < sure[k - 1]:
                    return found
                found = edge
            away -= cell
        return found

    def _beside(self, middle: int, side: int) -> tuple[int, ...]:
        """Return the cells from a place to its outermost edge on a side."""
        if side < 0:
            return self.cells[middle - SIDE + 1 : middle + 1][::-1]
        return self.cells[middle + 1 : middle + 1 + SIDE]

    def _law(self, first: PlaceCounts, q: Fraction, place: int) -> CombinedNoise:
        return CombinedNoise(first.noise, self.noise, q, place, len(first.cells) - 1)

    def rank(self, first: PlaceCounts, q: Fraction, place: int) -> float:
        """[quantiles.18] Noisy number of records below a place, less q n, from both counts."""
        weight = self._law(first, q, place).weight
        excess = float(self._excess(float(q))[OWN * place + SIDE])
        return weight * first.excess(q, place) + (1 - weight) * excess

    def _surely(
        self, edges: Iterable[int], q: float, own: int, alpha: float, *, power: int = 3
    ) -> int | None:
        """Return the first of the edges on one side that is beyond a quantile for sure.

        An edge that is d edges away from the point's ``own`` cell gets a share of ``alpha`` like
        1/(1/2 + d)³, because d hardly matters where it is large: quantiles of a population may be
        beyond those of other places, and take a lower power.
        """
        weights = 1.0 / (np.abs(np.arange(len(self.edges)) - own + 0.5)) ** power
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

    def moved(
        self, lattice: Lattice, q: Fraction, at: PointPlace, place: int, variance: float
    ) -> int:
        """[quantiles.20] Return where the counts see a quantile whose point is at a place.

        ``variance`` is that of the point's rank. Cells are gone through from the place on, up to
        where as many records are as the point seems to be off. Where they are not as many as the
        points let expect, values may be equal, and only a gap about the point is left for its end.
        """
        if self.first is None or not at.records:
            return at.value
        middle = OWN * place + SIDE
        law, rank = self._law(self.first, q, place), self.rank(self.first, q, place)
        side, left = (-1 if rank > 0 else 1), abs(rank) * variance / (variance + law.variance(0))
        bounds = (lattice.first, *self.edges, lattice.last + 1)
        widths = [b - a for a, b in pairwise(bounds)]
        inner = range(middle - SIDE + 2, middle + SIDE)
        uneven = is_round(lattice, at.value) or at.first < at.last
        for k in inner:
            known = at.records * widths[k]
            uneven |= abs(self.cells[k] - known) > STRAY * math.sqrt(known + self.noise.variance)
        if uneven:
            return self._out_of_gap(lattice, at.value, middle, side, bounds)
        near = sum(widths[middle : middle + 2])
        density = max(sum(self.cells[middle : middle + 2]), 1) / near if near else at.records
        outwards = range(middle, inner.start - 1, -1) if side < 0 else range(middle + 1, inner.stop)
        for k in outwards:
            expected = density * widths[k]
            trusted = expected / (expected + self.noise.variance)
            records = expected + (self.cells[k] - expected) * trusted
            if left <= records and widths[k]:
                steps = round(left / max(records, 1.0) * widths[k])
                start, stop = bounds[k : k + 2]
                return min(max(stop - steps if side < 0 else start + steps, start), stop - 1)
            left -= max(records, 0.0)
        return at.value

    def _out_of_gap(
        self, lattice: Lattice, point: int, middle: int, side: int, bounds: Sequence[int]
    ) -> int:
        """[quantiles.20] Return the end of a gap, on a side, that is seen about a point.

        Values are not closer than it is wide, as far as cells are empty, so they are taken for
        multiples of the next power of ten, if that is in the first cell that has records.
        """
        if is_round(lattice, point):
            return point
        none = _NONE * math.sqrt(self.noise.variance)
        low, high = middle, middle + 1
        while low > 0 and self.cells[low] <= none:
            low -= 1
        while high < len(self.cells) - 1 and self.cells[high] <= none:
            high += 1
        gap = bounds[high] - bounds[low + 1]
        if gap < 1 or high - low < _EMPTY:
            return point
        unit = Fraction(10) ** math.ceil(math.log10(gap * lattice.step))
        whole = Fraction(point) * Fraction(lattice.step) / unit
        number = math.floor(whole) if side < 0 else math.ceil(whole)
        found, cell = round(number * unit / Fraction(lattice.step)), low if side < 0 else high
        return found if bounds[cell] <= found <= bounds[cell + 1] else point


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
    first: PlaceCounts,
    noise: additive.Noise,
    level: float,
    sampled: SampledRanks | None = None,
) -> tuple[int, ...]:
    """[quantiles.16] Place edges around each place, so far that counts will tell them beyond.

    ``variances`` are those of the ranks of the points, and ``noise`` is that of the counts. None is
    beyond the middle between two places; there are several. All but the first on each side are
    beyond what is ``sampled``.
    """
    values = [at.value for at in places]
    middles = [(a + b + 1) // 2 for a, b in pairwise(values)]
    ends = zip((lattice.first, *middles), (*middles, lattice.last), strict=True)
    alpha, edges = (1 - level) / len(qs) * (1 - 2 * SPARE), list[int]()
    for i, (at, (low, high)) in enumerate(zip(places, ends, strict=True)):
        centre, left = at.value, variances[at.first]
        whole = at.first < at.last or is_round(lattice, at.value) or not at.records
        if not whole:
            centre, left = _centred(first, qs[at.first], i, at, left)
        below, above = (
            _steps(
                CombinedNoise(first.noise, noise, qs[k], i, len(places)),
                side,
                alpha,
                left,
                at,
                None if sampled is None else (sampled.margins[k][side > 0], sampled.each),
            )
            for side, k in ((-1, at.first), (1, at.last))
        )
        for steps, side in ((below, 0), (above, -1)):
            if at is places[side] and at.records:  # as many as all records that are further out
                steps[-1] = max(steps[-2], round(first.cells[side] / at.records))
        if whole:
            below[0] = above[0] = 0
        edges += [max(low, min(centre - step, at.value)) for step in reversed(below)]
        edges.append(at.value)
        edges += [min(high, max(centre + step, at.value) + 1) for step in above]
    return tuple(edges)


def _steps(
    law: CombinedNoise,
    side: int,
    alpha: float,
    variance: float,
    at: PointPlace,
    sampled: tuple[float, float] | None,
) -> list[int]:
    """Return distances of the edges on one side, the nearest first.

    The nearest edge is mostly sure, the next one nearly always; ``variance`` is that of the rank at
    their centre. All but the first are so beyond ranks that are ``sampled``, with that chance.
    """
    sure, margins, more = law.sure(side, alpha), MARGINS, (0.0,) * SIDE
    if sampled is not None:
        further, chance = sampled
        sure = (sure[0], *law.sure(side, chance)[1:])
        margins, more = _SAMPLE_MARGINS, tuple(part * further for part in _SAMPLED)
    ranks = [
        rank + margin * math.sqrt(law.variance(cells) + variance + 1) + beyond
        for cells, (rank, margin, beyond) in enumerate(zip(sure, margins, more, strict=True), 1)
    ]
    return [round(min(rank, _FURTHEST) / (at.records or 1)) for rank in ranks]


def _centred(
    first: PlaceCounts, q: Fraction, place: int, at: PointPlace, variance: float
) -> tuple[int, float]:
    """Return where the first counts see a quantile, and the variance of the rank there.

    A rank that is further off than the noise explains is of equal records, or of a gap.
    """
    excess, noise = first.excess(q, place), first.variance(q, place)
    if abs(excess) > 2 * STRAY * math.sqrt(variance + noise):
        return at.value, variance
    known = variance / (variance + noise)
    return at.value - round(excess * known / at.records), known * noise


def _inside(lattice: Lattice, edges: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({edge for edge in edges if lattice.first < edge <= lattice.last}))
