"""A synthetic column that a plan reads in place of the data, which it may not touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice

Integers = NDArray[np.int64]

TAIL = 512
"""Records at each end that are known one by one, in a table that is longer."""

_LIMB = 20
_LIMB_MASK = (1 << _LIMB) - 1


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticTable:
    """Lattice integers in increasing order, and how many rows have each."""

    q: Integers
    weights: Integers

    @property
    def rows(self) -> int:
        return int(self.weights.sum())

    def moved(self, of: Lattice, to: Lattice) -> SyntheticTable:
        """Round it to another lattice than the one that it is ``of``."""
        q = to.quantise(self.q * np.float64(of.step))
        order = np.argsort(q, kind="stable")
        return SyntheticTable(q[order], self.weights[order])

    def clipped_sum(self, lo: int, hi: int) -> int:
        return _dot(np.clip(self.q, lo, hi), self.weights)

    def total(self) -> int:
        return _dot(self.q, self.weights)

    def squares(self, lo: int, hi: int, centre: int) -> int:
        """Exact sum of the squared distances from ``centre`` of all rows clipped to [lo, hi]."""
        return self.power(lo, hi, centre, 2)

    def power(self, lo: int, hi: int, centre: int, k: int) -> int:
        """Exact sum of the k-th powers of the distances in :meth:`squares`."""
        distances = np.clip(self.q, lo, hi) - centre
        pairs = zip(distances.tolist(), self.weights.tolist(), strict=True)
        return sum(d**k * weight for d, weight in pairs)

    def variance(self) -> Fraction:
        """Exact variance (divided by the number of rows), in squared lattice steps."""
        squares = self.squares(int(self.q[0]), int(self.q[-1]), 0)
        return Fraction(squares, self.rows) - self.mean() ** 2

    def mean(self) -> Fraction:
        """Exact mean, in lattice steps."""
        return Fraction(self.total(), self.rows)

    def between(self, start: int, stop: int) -> SyntheticTable:
        """Return the table of the records at positions from start to stop (exclusive)."""
        upto = np.cumsum(self.weights)
        lower = np.maximum(upto - self.weights, start)
        return SyntheticTable(self.q, np.maximum(np.minimum(upto, stop) - lower, 0))

    def lowest(self, count: int) -> tuple[Integers, SyntheticTable]:
        """Return the ``count`` lowest records (or all), and the table of the others."""
        upto = np.cumsum(self.weights)
        taken = np.clip(count - (upto - self.weights), 0, self.weights)
        return np.repeat(self.q, taken), SyntheticTable(self.q, self.weights - taken)

    def highest(self, count: int) -> tuple[Integers, SyntheticTable]:
        """Return the ``count`` highest records (or all), increasing, and the others' table."""
        mirrored, rest = SyntheticTable(-self.q[::-1], self.weights[::-1]).lowest(count)
        return -mirrored[::-1], SyntheticTable(self.q, rest.weights[::-1])

    def cells(self, centre: int, edges: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Rows and exact sums by distance from a centre, from the far left to the far right."""
        left = [centre - edge for edge in reversed(edges)]
        right = [centre + edge for edge in edges]
        places = [
            0,
            *np.searchsorted(self.q, left, side="left").tolist(),
            *np.searchsorted(self.q, right, side="right").tolist(),
            len(self.q),
        ]
        rows, *parts = (
            np.diff(np.concatenate([[0], np.cumsum(x)])[places]).tolist()
            for x in (self.weights, *(limb * self.weights for limb in _limbs(self.q)))
        )
        sums = (
            sum(x << i * _LIMB for i, x in enumerate(cell)) for cell in zip(*parts, strict=True)
        )
        return tuple(rows), tuple(sums)

    def counts(self, edges: Sequence[int]) -> tuple[int, ...]:
        """Rows below the first edge, from it to the next, ..., from the last on."""
        upto = np.concatenate([[0], np.cumsum(self.weights)])
        ends = upto[np.searchsorted(self.q, edges, side="left")]
        return tuple(np.diff(ends, prepend=0, append=self.rows).tolist())

    def at(self, start: int, stop: int, entropy: Entropy | None) -> Integers:
        """Return the sorted records at positions from start to stop (exclusive).

        The tails are as they were drawn. The others stand at regular quantiles. They are spread
        over the ranks between them at random, as records of a sample are; without entropy evenly,
        so that windows fit together.
        """
        rows, upto = self.rows, np.cumsum(self.weights)
        if rows <= 2 * TAIL:
            return self.q[start:stop]
        low, high = min(max(TAIL, start), stop), max(min(rows - TAIL, stop), start)
        ranks = np.arange(start, stop) + 0.5
        if low < high and entropy is not None:
            spread = low + (high - low) * np.sort(uniform(high - low, entropy))
            ranks[low - start : high - start] = spread
        records: Integers = np.rint(np.interp(ranks, upto - self.weights / 2, self.q)).astype(int)
        return records

    def thin(self, level: int, entropy: Entropy) -> Integers:
        """Keep each record with probability 2^-level; of equal ones nearly the expected number."""
        if level == 0:
            return np.repeat(self.q, self.weights)
        expected = self.weights * 2.0**-level
        return np.repeat(self.q, np.floor(expected + uniform(len(self.q), entropy)).astype(int))


def _dot(q: Integers, weights: Integers) -> int:
    """Sum of q * weights; a limb of 20 bits times 2^40 rows cannot overflow."""
    return sum(int(limb @ weights) << i * _LIMB for i, limb in enumerate(_limbs(q)))


def _limbs(q: Integers) -> tuple[Integers, Integers, Integers]:
    """Digits of q in base 2^20, the last of them signed."""
    return q & _LIMB_MASK, q >> _LIMB & _LIMB_MASK, q >> 2 * _LIMB


def uniform(count: int, entropy: Entropy) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1)."""
    return ((entropy.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
