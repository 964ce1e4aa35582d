"""A synthetic table of any number of rows: it stands in for data that no plan may touch.

Only a few thousand distinct values are held, each with the number of rows that have it:
- the TAIL lowest and TAIL highest records are drawn at random, as order statistics of a sample:
  they decide where a release clips, and a typical maximum is not the maximum's mean;
- the records between stand at stratified quantiles. A stratum has at most 1/64 of the rank of
  its records, counted from the nearer end, and at most 1/4096 of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.plan.shapes import Array, Shape

__all__ = ["Population", "Table"]

TAIL = 512
_FINENESS = 64
_STRATA = 4096
_LIMB = 20
_LIMB_MASK = (1 << _LIMB) - 1

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Lattice integers in increasing order, and how many rows have each."""

    q: Integers
    weights: Integers

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.weights.sum())

    def clipped_sum(self, lo: int, hi: int) -> int:
        """Exact sum of all rows, clipped to [lo, hi]."""
        return _dot(np.clip(self.q, lo, hi), self.weights)

    def total(self) -> int:
        """Exact sum of all rows."""
        return _dot(self.q, self.weights)

    def squares(self, lo: int, hi: int, centre: int) -> int:
        """Exact sum of squared distances of all rows, clipped to [lo, hi], from a point."""
        distances = np.clip(self.q, lo, hi) - centre
        pairs = zip(distances.tolist(), self.weights.tolist(), strict=True)
        return sum(d * d * weight for d, weight in pairs)

    def variance(self) -> Fraction:
        """Exact variance (divided by the number of rows), in squared lattice steps."""
        squares = self.squares(int(self.q[0]), int(self.q[-1]), 0)
        return Fraction(squares, self.rows) - self.mean() ** 2

    def mean(self) -> Fraction:
        """Exact mean, in lattice steps."""
        return Fraction(self.total(), self.rows)

    def quantile(self, q: Fraction) -> Fraction:
        """Middle of the lowest and the highest q-quantile, in lattice steps."""
        rank, upto = q * self.rows, np.cumsum(self.weights)
        ends = (math.ceil(rank) - 1, math.floor(rank))
        places = [min(max(end, 0), self.rows - 1) for end in ends]
        low, high = (int(self.q[np.searchsorted(upto, place, side="right")]) for place in places)
        return Fraction(low + high, 2)

    def between(self, start: int, stop: int) -> Table:
        """Return the table of the records at positions from start to stop (exclusive)."""
        upto = np.cumsum(self.weights)
        lower = np.maximum(upto - self.weights, start)
        return Table(self.q, np.maximum(np.minimum(upto, stop) - lower, 0))

    def lowest(self, count: int) -> tuple[Integers, Table]:
        """Return the ``count`` lowest records (or all), and the table of the others."""
        upto = np.cumsum(self.weights)
        taken = np.clip(count - (upto - self.weights), 0, self.weights)
        return np.repeat(self.q, taken), Table(self.q, self.weights - taken)

    def highest(self, count: int) -> tuple[Integers, Table]:
        """Return the ``count`` highest records (or all), increasing, and the others' table."""
        mirrored, rest = Table(-self.q[::-1], self.weights[::-1]).lowest(count)
        return -mirrored[::-1], Table(self.q, rest.weights[::-1])

    def cells(self, centre: int, edges: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Rows and exact sums by distance from a centre, from the far left to the far right."""
        left = [centre - edge for edge in reversed(edges)]
        right = [centre + edge for edge in edges]
        cuts = [
            0,
            *np.searchsorted(self.q, left, side="left").tolist(),
            *np.searchsorted(self.q, right, side="right").tolist(),
            len(self.q),
        ]
        rows, *parts = (
            np.diff(np.concatenate([[0], np.cumsum(x)])[cuts]).tolist()
            for x in (self.weights, *(limb * self.weights for limb in _limbs(self.q)))
        )
        sums = (
            sum(x << i * _LIMB for i, x in enumerate(cell)) for cell in zip(*parts, strict=True)
        )
        return tuple(rows), tuple(sums)

    def counts(self, cuts: Sequence[int]) -> tuple[int, ...]:
        """Rows below the first cut, from it to the next, ..., from the last on."""
        upto = np.concatenate([[0], np.cumsum(self.weights)])
        ends = upto[np.searchsorted(self.q, cuts, side="left")]
        return tuple(np.diff(ends, prepend=0, append=self.rows).tolist())

    def at(self, start: int, stop: int, entropy: Entropy | None) -> Integers:
        """Return the sorted records at positions from start to stop (exclusive).

        The tails are as they were drawn. The others, which stand at regular quantiles, are spread
        at random over the ranks between them, as records of a sample are; evenly without entropy,
        where windows must fit together and be true to :meth:`quantile`.
        """
        rows, upto = self.rows, np.cumsum(self.weights)
        if rows <= 2 * TAIL:
            return self.q[start:stop]
        low, high = min(max(TAIL, start), stop), max(min(rows - TAIL, stop), start)
        ranks = np.arange(start, stop) + 0.5
        if low < high and entropy is not None:
            spread = low + (high - low) * np.sort(_uniform(high - low, entropy))
            ranks[low - start : high - start] = spread
        records: Integers = np.rint(np.interp(ranks, upto - self.weights / 2, self.q)).astype(int)
        return records

    def thin(self, level: int, entropy: Entropy) -> Integers:
        """Keep each record with probability 2^-level; of equal ones nearly the expected number."""
        if level == 0:
            return np.repeat(self.q, self.weights)
        expected = self.weights * 2.0**-level
        return np.repeat(self.q, np.floor(expected + _uniform(len(self.q), entropy)).astype(int))


def _dot(q: Integers, weights: Integers) -> int:
    """Sum of q * weights; a limb of 20 bits times 2^40 rows cannot overflow."""
    return sum(int(limb @ weights) << i * _LIMB for i, limb in enumerate(_limbs(q)))


def _limbs(q: Integers) -> tuple[Integers, Integers, Integers]:
    """Digits of q in base 2^20, the last of them signed."""
    return q & _LIMB_MASK, q >> _LIMB & _LIMB_MASK, q >> 2 * _LIMB


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Tables of one shape and size; each has tails of its own, and all have the same middle."""

    shape: Shape
    lattice: Lattice
    rows: int
    middle: Array
    weights: Integers

    @classmethod
    def of(cls, shape: Shape, lattice: Lattice, rows: int) -> Population:
        """Compute the middle."""
        if rows <= 2 * TAIL:
            return cls(shape, lattice, rows, np.empty(0), np.empty(0, dtype=np.int64))
        halves = [_strata(rows, rows // 2), _strata(rows, rows - rows // 2)]
        (low, low_weights), (high, high_weights) = halves
        return cls(
            shape,
            lattice,
            rows,
            np.concatenate([shape.below(low), shape.above(high)[::-1]]),
            np.concatenate([low_weights, high_weights[::-1]]),
        )

    def table(self, entropy: Entropy) -> Table:
        """Draw a table."""
        if self.rows <= 2 * TAIL:
            x = self.shape.below(_uniform(self.rows, entropy))
            weights = np.ones(self.rows, dtype=np.int64)
        else:
            ends = [
                self.shape.below(self._extremes(entropy)),
                self.shape.above(self._extremes(entropy)),
            ]
            x = np.concatenate([*ends, self.middle])
            weights = np.concatenate([np.ones(2 * TAIL, dtype=np.int64), self.weights])
        q = self.lattice.quantise(x)
        order = np.argsort(q, kind="stable")
        return Table(q[order], weights[order])

    def _extremes(self, entropy: Entropy) -> Array:
        """Probabilities beyond the most extreme records of one side, the least first.

        The i-th of n sorted uniforms is the sum of i exponentials over that of n + 1, which is
        n but for a share of 1/sqrt(n); the two ends are independent to the same order.
        """
        upto = np.cumsum(-np.log(_uniform(TAIL, entropy)))
        smallest: Array = np.minimum(upto / self.rows, 0.5)
        return smallest


def _strata(rows: int, half: int) -> tuple[Array, Integers]:
    """Probabilities in the middle of the strata of ranks [TAIL, half), and their rows."""
    largest = max(1, rows // _STRATA)
    starts = [TAIL]
    while starts[-1] < half:
        starts.append(min(half, starts[-1] + max(1, min(starts[-1] // _FINENESS, largest))))
    edges = np.array(starts, dtype=np.int64)
    return (edges[:-1] + edges[1:]) / (2.0 * rows), np.diff(edges)


def _uniform(count: int, entropy: Entropy) -> Array:
    """Uniform numbers in (0, 1)."""
    return ((entropy.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
