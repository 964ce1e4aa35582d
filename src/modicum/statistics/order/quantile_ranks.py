"""What two counts of the records around released points say of ranks, and how surely.

[quantiles.18] combined   a rank from both counts, and the law of its noise;
[quantiles.19] sure       ranks that this noise reaches so rarely that an edge is beyond a quantile.

docs/research/proofs/quantiles.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms import additive, noise_sums
from modicum.stored.codec import storable

SIDE = 5  # edges on each side of a place, each a cell further than that before it
OWN = 2 * SIDE + 1  # edges around a place, of which it is one itself: number SIDE
GROWING = 0.05  # a rank's excess over one nearer by, so that the nearest edge decides
_PLACES = 128  # of a standard deviation, of the grid on which noise is added up
_SMALLEST = 1e-9  # standard deviation of noise that is all but never drawn
_MOST, _HALVINGS = 64.0, 16  # standard deviations up to where a rank is searched, and how closely

Floats = NDArray[np.float64]


@storable
@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """Noisy counts of the records between neighbouring places, drawn before the edges are known.

    ``places`` says which place each quantile is at.
    """

    cells: tuple[int, ...]
    noise: additive.Noise
    places: tuple[int, ...]

    def excess(self, q: Fraction, place: int) -> float:
        """Noisy number of records below a place, less q times that of all."""
        return sum(self.cells[: place + 1]) - float(q) * sum(self.cells)

    def variance(self, q: Fraction, place: int) -> float:
        """Return that of the noise of :meth:`excess`."""
        below, above = place + 1, len(self.cells) - place - 1
        return self.noise.variance * (below * float(1 - q) ** 2 + above * float(q) ** 2)


@dataclass(frozen=True)
class CombinedNoise:
    """[quantiles.18] Noise of #{records below an edge} - q n, from both counts.

    The first ones, with noise ``first``, are of the cells between ``places``; the second ones are
    of those between all edges around them. The number below the place is a weighted mean of both,
    of the least variance; the second ones tell the records from there to the edge.
    """

    first: additive.Noise
    second: additive.Noise
    q: Fraction
    place: int
    places: int

    @property
    def _cells(self) -> tuple[int, int]:
        """Cells of the second counts below the place and above it."""
        below = OWN * self.place + SIDE + 1
        return below, OWN * self.places + 1 - below

    @cached_property
    def _variances(self) -> tuple[float, float]:
        return self.first.variance, self.second.variance

    @cached_property
    def weight(self) -> float:
        """Weight of the first counts."""
        q, (below, above), (one, two) = float(self.q), self._cells, self._variances
        one *= (self.place + 1) * (1 - q) ** 2 + (self.places - self.place) * q**2
        two *= below * (1 - q) ** 2 + above * q**2
        return two / (one + two) if one + two > 0 else 0.5

    @cached_property
    def of_first(self) -> tuple[noise_sums.Part, ...]:
        """Noise of the first counts."""
        q, weight = float(self.q), self.weight
        below, above = self.place + 1, self.places - self.place
        return (self.first, weight * (1 - q), below), (self.first, weight * q, above)

    def of_second(self, cells: int) -> tuple[noise_sums.Part, ...]:
        """Noise of the second counts, at an edge so many cells above the place, or below it."""
        q, rest = float(self.q), 1 - self.weight
        below, above = self._cells
        own = 1 - rest * (q if cells > 0 else 1 - q)
        return (
            (self.second, rest * (1 - q), below - max(0, -cells)),
            (self.second, rest * q, above - max(0, cells)),
            (self.second, own, abs(cells)),
        )

    def variance(self, cells: int) -> float:
        """Variance of the noise at an edge."""
        each = zip(self._variances, (self.of_first, self.of_second(cells)), strict=True)
        return sum(one * weight**2 * times for one, parts in each for _, weight, times in parts)

    def mirrored(self) -> CombinedNoise:
        """Return the noise where up and down, and q and 1 - q, change places."""
        return CombinedNoise(
            self.first, self.second, 1 - self.q, self.places - 1 - self.place, self.places
        )

    def sure(self, side: int, alpha: float) -> tuple[float, ...]:
        """[quantiles.19] Ranks that noise reaches with probability at most ``alpha``.

        Those of the edges above a place, or with ``side`` -1 below it, the nearest first: whichever
        of them it is that the first counts have placed on the wrong side.
        """
        return _sure_above(self if side > 0 else self.mirrored(), alpha)


@lru_cache(maxsize=1 << 14)
def _sure_above(law: CombinedNoise, alpha: float) -> tuple[float, ...]:
    """Return a rank t_c for each edge, in proportion to the standard deviation of its noise.

    The first counts have the noise U, and the second ones B_c at an edge: the mean over U of the
    largest P(B_c >= t_c - U) is at most ``alpha``.
    """
    deviations = [
        math.sqrt(law.variance(cells)) * (1 + GROWING * (cells - 1)) for cells in range(1, SIDE + 1)
    ]
    step = max(math.sqrt(law.variance(SIDE)), _SMALLEST) / _PLACES
    first = noise_sums.grid_masses(law.of_first, step)
    second = [noise_sums.grid_masses(law.of_second(cells), step) for cells in range(1, SIDE + 1)]
    lost = sum(each.lost for each in (first, *second))
    drawn = first.first + np.arange(len(first.masses))

    def missed(t: float) -> float:
        reached = [
            each.tail(math.ceil(t * deviation / step) - drawn)
            for each, deviation in zip(second, deviations, strict=True)
        ]
        return float(first.masses @ np.max(reached, axis=0)) + lost

    low, high = 0.0, _MOST
    if missed(high) > alpha:
        return (math.inf,) * SIDE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) > alpha else (low, middle)
    return tuple(high * deviation for deviation in deviations)


def place_of_each(first_last: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the place of each quantile, from the first and the last quantile of each place.

    >>> place_of_each([(0, 1), (2, 2)])
    (0, 0, 1)
    """
    return tuple(i for i, (first, last) in enumerate(first_last) for _ in range(first, last + 1))
