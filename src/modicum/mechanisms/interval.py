"""An interval that holds a column, its place and its width at once, in one draw; or none."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.privacy.event import Event

__all__ = ["IntervalDraw", "IntervalGrid"]

Integers = NDArray[np.int64]

_PARTS = 16
_LEAST = 4  # a part of the narrowest interval is one lattice step
_REACH = 256
_UNIT = 1 << 40


@dataclass(frozen=True, slots=True)
class IntervalGrid:
    """Candidates [m r/2, m r/2 + r) for r = 2^k lattice steps and -256 <= m <= 254.

    Attributes
    ----------
    levels : int
        How many widths there are: 16, 32, ..., the last one twice as far from zero as any value.
    clear : bool
        Whether so much is heard that the score may ask for more, and the prior too. Then a core is
        three sixteenths and not two, so two values that are a power of two apart are a quarter of
        the interval apart, or more; and weights fall with the sixth power of the distance.
    """

    levels: int
    clear: bool = False

    @classmethod
    def of(cls, lattice: Lattice, *, clear: bool = False) -> IntervalGrid:
        """Take all widths that the lattice has use for.

        Examples
        --------
        >>> IntervalGrid.of(Lattice.within((-8, 8), 1)).interval(0)
        (-2048, 16)
        """
        farthest = max(-lattice.first, lattice.last + 1)
        return cls(max(1, farthest.bit_length() + 2 - _LEAST), clear)

    @property
    def size(self) -> int:
        """Number of candidates; as an index, the outcome that no interval was found."""
        return self.levels * (2 * _REACH - 1)

    def interval(self, index: int) -> tuple[int, int]:
        """Lower end and width of a candidate, in lattice steps; if none was found, all the range.

        That is the widest one about zero.
        """
        if index == self.size:
            index -= _REACH
        level, place = divmod(index, 2 * _REACH - 1)
        width = 1 << (level + _LEAST)
        return (place - _REACH) * (width >> 1), width

    def words(self, lattice: Lattice, index: int) -> str:
        """Ends of a candidate, in the unit of the data."""
        if index == self.size:
            return "none"
        low, wide = self.interval(index)
        return f"[{lattice.words(low)}, {lattice.words(low + wide)})"

    def prior(self) -> Integers:
        """Weights of the candidates: (1 + distance)^-2, or ^-6, the distance from that about zero.

        Distances are in halves of the width; every width has the same weight in all.
        """
        return _prior(self.levels, 6 if self.clear else 2)

    def ends(self) -> Integers:
        """Lattice integers at which sixteenths begin, one row for each width."""
        half = _PARTS // 2
        points = np.arange(-_REACH * half, _REACH * half + 1, dtype=np.int64)
        found: Integers = points << np.arange(self.levels)[:, None]
        return found

    def counts(self, values: Integers, ties: Integers) -> Integers:
        """Number of records in each sixteenth, one row for each width.

        Parameters
        ----------
        values, ties : int64 arrays
            Lattice integers, and how many records have each.
        """
        parts = _REACH * _PARTS
        place = (values >> np.arange(self.levels)[:, None]) + parts // 2
        there = (place >= 0) & (place < parts)
        place += np.arange(0, self.levels * parts, parts)[:, None]
        every = np.broadcast_to(ties, place.shape)
        found = np.bincount(place[there], every[there], self.levels * parts)  # exact below 2^53
        return found.astype(np.int64).reshape(self.levels, parts)

    def scores(self, counts: Integers) -> Integers:
        """Number of records in each candidate without those in its fullest core.

        Parameters
        ----------
        counts : (levels, parts) int64 array
            Records in each sixteenth: between each of the :meth:`ends` and the next.
        """
        half, core = _PARTS // 2, 3 if self.clear else 2
        sums = np.cumsum(np.pad(counts, ((0, 0), (1, core - 1))), axis=1)
        # Cores by the half in which they begin; the last few of a level, beyond its end, are not
        # used: a candidate has those that begin in one half, and the first ones of the next.
        cores = _by_halves(sums[:, core:] - sums[:, :-core])
        first = functools.reduce(np.maximum, cores)
        second = functools.reduce(np.maximum, cores[: half - core + 1])
        inside = functools.reduce(np.add, _by_halves(counts))
        fullest = np.maximum(first[:, :-1], second[:, 1:])
        found: Integers = inside[:, 1:] + inside[:, :-1] - fullest
        return found.ravel()


@dataclass(frozen=True, slots=True, eq=False)
class IntervalDraw(Law[int]):
    """An interval I with P(I) ∝ w(I) exp(ε s(I)), or none with P ∝ 2^doubt sum of all w(I).

    w is a prior that does not depend on the data.

    s(I) is the number of records in I outside of its fullest core, two or three neighbours of 16
    parts, so that no place of the data in a wide interval makes them look spread out. It is little
    if I misses the data, and if it is so wide that they are in a core of it. So it finds where
    the data are and their scale, whatever the range, at the cost of a logarithm of the number of
    widths. Records count once, so both ends come at the price of one. Of a column of which nothing
    is heard, as all scores are small, no interval is drawn with a probability of
    1 - 1/(1 + 2^doubt), in place of any one of them.

    Sensitivity contract: s(I) = min over cores c of #(I without c), a minimum of counts: a
    record more adds 0 or 1 to it, for every I, and nothing to the exponent of none, which is 0.
    After a common shift by 1/2 that is 1/2 in size at most: one draw is a bounded range of ε.

    Parameters
    ----------
    scores : int64 array
        One for each candidate of the grid (secret).
    grid : IntervalGrid
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.
    doubt : int or None
        The weight of none, in doublings of that of all intervals; public, at most 10. Without it
        there always is an interval.

    Notes
    -----
    The outcome is the index of the interval in the grid, ``grid.size`` for none.
    """

    scores: Integers = field(repr=False, metadata=SECRET)
    grid: IntervalGrid
    epsilon: Fraction
    stated: Event
    doubt: int | None = None

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    def sample(self, entropy: Entropy) -> int:
        scores = self._scores()
        return draw_level(self._weights(), int(scores.max()) - scores, self.epsilon, entropy)

    def log_density(self, outcome: int) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[int]) -> NDArray[np.float64]:
        """Log density at each of many outcomes."""
        scores = self._scores()
        exponents = float(self.epsilon) * (scores - scores.max()).astype(np.float64)
        weights = self._weights().astype(np.float64)
        logs = np.log(weights) + exponents
        found: NDArray[np.float64] = logs[list(outcomes)] - math.log(
            float(weights @ np.exp(exponents))
        )
        return found

    def probes(self) -> Iterable[int]:
        return range(self.grid.size + (self.doubt is not None))

    def _scores(self) -> Integers:
        return self.scores if self.doubt is None else np.append(self.scores, 0)

    def _weights(self) -> Integers:
        prior = self.grid.prior()
        if self.doubt is None:
            return prior
        return np.append(prior, int(math.ldexp(int(prior.sum()), self.doubt)))


def _by_halves(parts: Integers) -> Integers:
    """Arrange by place in the half of a candidate, level, and half."""
    halves = parts.reshape(len(parts), -1, _PARTS // 2)
    return np.ascontiguousarray(halves.transpose(2, 0, 1))


@functools.lru_cache(maxsize=8)
def _prior(levels: int, power: int) -> Integers:
    distance = np.abs(np.arange(-_REACH, _REACH - 1) + 1)
    weights = np.tile(np.maximum(_UNIT // (1 + distance) ** power, 1), levels)
    weights.flags.writeable = False
    return weights
