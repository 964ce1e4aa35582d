"""A private radius: the least width outside of which only a handful of records lie."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.flip import flip_many, permute_and_flip
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.privacy.event import BoundedRange, Event, Pure

__all__ = ["RadiusDraw", "RadiusGrid", "quadrature"]

Selection = Literal["flip", "exponential"]

_MANY = 16  # fewer laws are drawn from one by one
_BLOCK = 256  # laws whose coins are held at a time
_INT64 = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class RadiusGrid:
    """Candidate radii in lattice steps: 0 and the distinct round(2^(j/m)) of a public range.

    Attributes
    ----------
    radii : tuple of int
        Increasing, starting with 0.
    indices : tuple of int
        The index j of each radius; radius 0 counts as one index below the first.
    """

    radii: tuple[int, ...]
    indices: tuple[int, ...]

    @classmethod
    @functools.lru_cache(maxsize=64)
    def between(cls, smallest: int, largest: int, per_octave: Literal[2, 4] = 2) -> RadiusGrid:
        """Build the grid from just above ``smallest - 1`` to the first radius >= ``largest``.

        Examples
        --------
        >>> RadiusGrid.between(1, 10).radii
        (0, 1, 2, 3, 4, 6, 8, 11)
        """
        powers = _powers(per_octave, max(smallest, largest).bit_length())
        begin = max(0, per_octave * (smallest.bit_length() - 1))
        begin = bisect_left(powers, smallest, begin)
        end = bisect_left(powers, largest, begin)
        numbers: dict[int, int] = {}
        for j in range(begin, end + 1):
            numbers.setdefault(powers[j], j)
        return cls((0, *numbers), (begin - 1, *numbers.values()))

    @property
    def log_width(self) -> float:
        """ln(largest / smallest positive radius)."""
        return math.log(self.radii[-1] / self.radii[1])


@dataclass(frozen=True, slots=True)
class RadiusDraw(Law[tuple[int, ...]]):
    """One radius a side, few records outside, wide radii less likely a priori.

    A radius r has score -epsilon #{records outside r} - tilt j(r), with j(r) about m log2 r.
    The side's radius is drawn by permute-and-flip (McKenna and Sheldon 2020) or by the
    exponential mechanism.

    Sensitivity contract: a record is outside on at most one side, and there it lowers every
    score by 0 or ``epsilon``. Both selections depend on score differences only, so after a
    common shift of epsilon/2 each score moves by at most epsilon/2: one side is pure
    ``epsilon`` (flip), or a bounded range of ``epsilon`` (exponential). The sides touch
    disjoint records and are drawn independently: together still one event of that size
    (parallel composition). The tilt does not depend on the data.

    Why a tilt and not a rank target: with the prior r^-p the expected overshoot is a geometric
    series, bounded whatever the public range is. A rank target would have to grow with the
    logarithm of the range, and its bias with it.

    Parameters
    ----------
    outside : tuple of tuples of int
        For each side and radius, the number of records outside (secret); nonincreasing. It
        may be capped at any public number.
    grid : RadiusGrid
    epsilon : Fraction
    tilt : Fraction
        Prior cost of one index of the grid.
    selection : {"flip", "exponential"}

    Notes
    -----
    The outcome is the tuple of the chosen positions in ``grid.radii``, one a side.
    """

    outside: tuple[tuple[int, ...], ...] = field(repr=False, metadata=SECRET)
    grid: RadiusGrid
    epsilon: Fraction
    tilt: Fraction
    selection: Selection

    @property
    def event(self) -> Event:
        """One event for all sides."""
        return Pure(self.epsilon) if self.selection == "flip" else BoundedRange(self.epsilon)

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw a position for each side."""
        return tuple(self._sample_side(counts, entropy) for counts in self.outside)

    @classmethod
    def sample_many(cls, laws: Sequence[RadiusDraw], entropy: Entropy) -> list[tuple[int, ...]]:
        """Draw from many laws; the coins of permute-and-flip are tossed as vectors."""
        if len(laws) < _MANY or any(law.selection != "flip" for law in laws):
            return [law.sample(entropy) for law in laws]
        drawn: list[tuple[int, ...]] = []
        for start in range(0, len(laws), _BLOCK):
            drawn += _flipped(laws[start : start + _BLOCK], entropy)
        return drawn

    def _sample_side(self, counts: Sequence[int], entropy: Entropy) -> int:
        gaps, unit = self._gaps(counts)
        if self.selection == "flip":
            return permute_and_flip(gaps, unit, entropy)
        return draw_level([1] * len(gaps), gaps, Fraction(1, unit), entropy)

    def _gaps(self, counts: Sequence[int]) -> tuple[list[int], int]:
        """Score gaps to the best candidate as integers over one common denominator."""
        unit, a, b = self.whole_scores()
        costs = [a * f + b * j for f, j in zip(counts, self.grid.indices, strict=True)]
        least = min(costs)
        return [cost - least for cost in costs], unit

    def whole_scores(self) -> tuple[int, int, int]:
        """The common denominator of the scores, and epsilon and tilt times it."""
        unit = math.lcm(self.epsilon.denominator, self.tilt.denominator)
        a = self.epsilon.numerator * (unit // self.epsilon.denominator)
        return unit, a, self.tilt.numerator * (unit // self.tilt.denominator)

    def log_density(self, outcome: tuple[int, ...]) -> float:
        """Sum over the sides of the log probability of the chosen position."""
        return sum(
            self._log_side(counts, i) for counts, i in zip(self.outside, outcome, strict=True)
        )

    def _log_side(self, counts: Sequence[int], chosen: int) -> float:
        gaps, unit = self._gaps(counts)
        exponents = np.array([gap / unit for gap in gaps])
        weights = np.exp(-exponents)
        if self.selection == "exponential":
            return -float(exponents[chosen]) - math.log(float(weights.sum()))
        # Permute-and-flip: candidate i arrives at a uniform time t and is accepted with w_i;
        # every other j has arrived and been accepted before with probability t w_j. Hence
        # P(i) = w_i ∫_0^1 prod_{j != i} (1 - t w_j) dt, a polynomial of degree m - 1, on which
        # Gauss-Legendre with ceil(m / 2) nodes is exact.
        nodes, node_weights = quadrature((len(gaps) + 1) // 2)
        times = (nodes + 1) / 2
        others = np.delete(weights, chosen)
        integral = float(node_weights @ np.prod(1 - times[:, None] * others, axis=1)) / 2
        return -float(exponents[chosen]) + math.log(integral)

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Return every pair of positions on a small grid."""
        return product(range(len(self.grid.radii)), repeat=len(self.outside))


def _flipped(laws: Sequence[RadiusDraw], entropy: Entropy) -> list[tuple[int, ...]]:
    """Draw by permute-and-flip from a block of laws."""
    numbers = [law.whole_scores() for law in laws]
    sides = [(i, counts) for i, law in enumerate(laws) for counts in law.outside]
    sizes = [len(counts) for _, counts in sides]
    largest = [
        max(numbers[i][1] * (counts[0] + 1), numbers[i][2] * (laws[i].grid.indices[-1] + 1))
        for i, counts in sides
    ]
    if max(largest) > _INT64 // 2:
        return [law.sample(entropy) for law in laws]
    units, a, b = zip(*(numbers[i] for i, _ in sides), strict=True)
    costs = np.array([count for _, counts in sides for count in counts], dtype=np.int64)
    costs *= np.repeat(np.array(a, dtype=np.int64), sizes)
    tilts = np.array([j for i, _ in sides for j in laws[i].grid.indices], dtype=np.int64)
    costs += tilts * np.repeat(np.array(b, dtype=np.int64), sizes)
    starts = np.cumsum(sizes) - np.array(sizes)
    costs -= np.repeat(np.minimum.reduceat(costs, starts), sizes)
    drawn = iter(flip_many(costs, sizes, units, entropy))
    return [tuple(next(drawn) for _ in law.outside) for law in laws]


@functools.cache
def _powers(per_octave: Literal[2, 4], octaves: int) -> list[int]:
    """Return round(2^(j/m)) for m = per_octave and j = 0, ..., m octaves."""
    powers = []
    for j in range(per_octave * octaves + 1):
        # round(x) = floor((floor(2 x) + 1) / 2) for x = 2^(j/m); floor(2 x) is the integer m-th
        # root of 2^(m + j), here one or two integer square roots.
        root = math.isqrt(1 << (per_octave + j))
        powers.append(((root if per_octave == 2 else math.isqrt(root)) + 1) // 2)
    return powers


@functools.cache
def quadrature(nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return points, weights
