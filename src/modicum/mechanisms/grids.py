"""Public candidates: grids of integers, of radii and of intervals, and a warp of a range.

None of them depends on data. A law that is uniform on them is nearly uniform in the logarithm, so
a wide range costs little.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice

Integers = NDArray[np.int64]
PerOctave = Literal[2, 4, 8, 16]

HALF_LN2 = Fraction(355, 1024)  # ln(2)/2, the prior cost of a half octave for a prior of 1/r

_PARTS = 16  # of an interval
_LEAST = 4  # a part of the narrowest interval is one lattice step
_REACH = 256
_UNIT = 1 << 40


@dataclass(frozen=True, slots=True)
class FloatGrid:
    """Integers with ``bits`` fraction bits: log-uniform far from zero, complete near it.

    It holds every integer z whose binary form has at most ``bits + 1`` leading digits, that is 0
    and ±(2^bits + i) 2^s for 0 <= i < 2^bits, s >= 0, and all integers below 2^(bits+1) in size.
    Its points are numbered ..., -1, 0, 1, ... in increasing order, so a law that is uniform on the
    numbers is uniform in the logarithm of the point, to a relative 2^-bits.

    Examples
    --------
    >>> grid = FloatGrid(bits=2)
    >>> [grid.point(i) for i in range(6, 15)]
    [6, 7, 8, 10, 12, 14, 16, 20, 24]
    >>> grid.number(-11)
    -9
    >>> grid.point(-9)
    -10
    """

    bits: int

    def point(self, number: int) -> int:
        """Return the grid point with this number."""
        size = abs(number)
        shift = max(0, (size >> self.bits) - 1)
        point = (size - (shift << self.bits)) << shift
        return point if number >= 0 else -point

    def points(self, numbers: Integers) -> Integers:
        """Vectorised :meth:`point`."""
        size = np.abs(numbers)
        shift = np.maximum((size >> self.bits) - 1, 0)
        points: Integers = np.sign(numbers) * ((size - (shift << self.bits)) << shift)
        return points

    def first(self, count: int) -> Integers:
        """Return the points with the numbers 0, 1, ..., count - 1."""
        small = np.arange(1 << self.bits)
        octaves = np.arange((count >> self.bits) + 1)[:, None]
        points: Integers = np.append(small, (small + (1 << self.bits)) << octaves)[:count]
        return points

    def number(self, q: int) -> int:
        """Return the number of the grid point that ``q`` is rounded to (towards zero)."""
        size = abs(q)
        shift = max(0, size.bit_length() - 1 - self.bits)
        number = (shift << self.bits) + (size >> shift)
        return number if q >= 0 else -number

    def numbers(self, q: Integers) -> Integers:
        """Vectorised :meth:`number`; up to 2^53 + 1 in size, whose bit length float64 keeps."""
        size = np.abs(q)
        exponent = np.frexp(size.astype(np.float64))[1].astype(np.int64)  # = bit_length
        shift = np.maximum(exponent - 1 - self.bits, 0)
        numbers = (shift << self.bits) + (size >> shift)
        return np.where(q >= 0, numbers, -numbers)


@dataclass(frozen=True, slots=True)
class RadiusGrid:
    """Candidate radii in lattice steps: 0 and the distinct round(2^(j/m)) of a public range.

    ``indices`` holds the j of each radius, in increasing order; radius 0 counts as one index below
    the first.
    """

    radii: tuple[int, ...]
    indices: tuple[int, ...]

    @classmethod
    @functools.lru_cache(maxsize=64)
    def between(cls, smallest: int, largest: int, per_octave: PerOctave = 2) -> RadiusGrid:
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

    def bent(self, turn: int, part: Fraction) -> RadiusGrid:
        """Return the radii with indices that grow more slowly beyond one of them.

        An index counts as many as the denominator of ``part``, and beyond ``turn`` as its
        numerator.

        Examples
        --------
        >>> RadiusGrid.between(1, 10).bent(4, Fraction(1, 3)).indices
        (-3, 0, 6, 9, 12, 13, 14, 15)
        """
        last = self.indices[max(bisect_right(self.radii, turn) - 1, 0)]
        indices = (
            part.denominator * min(j, last) + part.numerator * max(j - last, 0)
            for j in self.indices
        )
        return RadiusGrid(self.radii, tuple(indices))

    @property
    def log_width(self) -> float:
        return math.log(self.radii[-1] / self.radii[1])


@functools.cache
def _powers(per_octave: PerOctave, octaves: int) -> list[int]:
    """Return round(2^(j/m)) for m = per_octave and j = 0, ..., m octaves."""
    powers = []
    for j in range(per_octave * octaves + 1):
        # round(x) = floor((floor(2 x) + 1) / 2) for x = 2^(j/m); floor(2 x) is the integer m-th
        # root of 2^(m + j), here some integer square roots.
        root = 1 << (per_octave + j)
        for _ in range(per_octave.bit_length() - 1):
            root = math.isqrt(root)
        powers.append((root + 1) // 2)
    return powers


@dataclass(frozen=True, slots=True)
class IntervalGrid:
    """Candidates [m r/2, m r/2 + r) for r = 2^k lattice steps and -256 <= m <= 254.

    There are ``levels`` widths: 16, 32, ..., the last one twice as far from zero as any value.

    With enough budget the grid is ``clear``: a core is three sixteenths and not two, so two values
    that are a power of two apart are a quarter of the interval apart, or more; and weights fall
    with the sixth power of the distance.
    """

    levels: int
    clear: bool = False

    @classmethod
    def of(cls, lattice: Lattice, *, clear: bool = False) -> IntervalGrid:
        """Take all widths that values of the lattice may need."""
        farthest = max(-lattice.first, lattice.last + 1)
        return cls(max(1, farthest.bit_length() + 2 - _LEAST), clear)

    @property
    def size(self) -> int:
        """Number of candidates; as an index, the outcome that no interval was found."""
        return self.levels * (2 * _REACH - 1)

    def interval(self, index: int) -> tuple[int, int]:
        """Lower end and width of a candidate, in lattice steps.

        If none was found it is the widest candidate about zero, which holds all of the range.
        """
        if index == self.size:
            index -= _REACH
        level, place = divmod(index, 2 * _REACH - 1)
        width = 1 << (level + _LEAST)
        return (place - _REACH) * (width >> 1), width

    def words(self, lattice: Lattice, index: int) -> str:
        """Ends of a candidate as text, in the unit of the data."""
        if index == self.size:
            return "none"
        low, wide = self.interval(index)
        return f"[{lattice.words(low)}, {lattice.words(low + wide)})"

    def prior(self) -> Integers:
        """Weights of the candidates: (1 + distance)^-2, or ^-6 if the grid is clear.

        Distances are from the candidate about zero, in halves of the width; every width has the
        same weight in all.
        """
        return _prior(self.levels, 6 if self.clear else 2)

    def ends(self) -> Integers:
        """Lattice integers at which sixteenths begin, one row for each width."""
        half = _PARTS // 2
        points = np.arange(-_REACH * half, _REACH * half + 1, dtype=np.int64)
        found: Integers = points << np.arange(self.levels)[:, None]
        return found

    def counts(self, values: Integers, ties: Integers) -> Integers:
        """Number of records in each sixteenth, one row for each width; ``ties`` have each value."""
        parts = _REACH * _PARTS
        place = (values >> np.arange(self.levels)[:, None]) + parts // 2
        there = (place >= 0) & (place < parts)
        place += np.arange(0, self.levels * parts, parts)[:, None]
        every = np.broadcast_to(ties, place.shape)
        found = np.bincount(place[there], every[there], self.levels * parts)  # exact below 2^53
        return found.astype(np.int64).reshape(self.levels, parts)

    def scores(self, counts: Integers) -> Integers:
        """Number of records in each candidate without those in its fullest core.

        The counts are those between each of the :meth:`ends` and the next.
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


@dataclass(frozen=True, slots=True)
class RangeWarp:
    """A warp of a range: integers near a centre have more places than far ones.

    Every integer t begins at its own place, and holds the places up to that of t + 1.

    With d = t - centre, an integer less than 2^near from the centre has 2^octaves places. From
    there on the number is halved at every doubling of d, so that each octave has as many places
    as half of the near part has on one side; it is 1 in the last octave. So a law that is uniform
    on places is uniform near the centre, and in the logarithm of the distance far from it: an empty
    part of a wide range outweighs the near part by a few octaves, and not by its length.

    Distances are at most 2^(near + octaves), and near + octaves at most 55. Without octaves, places
    are integers. See [quantiles.10].

    Examples
    --------
    >>> warp = RangeWarp(centre=0, near=1, octaves=2)
    >>> warp.starts(np.arange(9)).tolist()
    [0, 4, 8, 10, 12, 13, 14, 15, 16]
    >>> [warp.value(place) for place in (-9, -8, -1, 0, 7, 11, 12)]
    [-3, -2, -1, 0, 1, 3, 4]
    """

    centre: int = 0
    near: int = 62
    octaves: int = 0

    @classmethod
    def about(cls, centre: int, near: int, ends: tuple[int, int]) -> RangeWarp:
        """Warp a range from its first to its last integer around one of them."""
        reach = max(ends[1] + 1 - centre, centre - ends[0])
        return cls(centre, near, max(0, (reach - 1).bit_length() - near))

    def start(self, t: int) -> int:
        """Return the first place of an integer."""
        if self.octaves == 0:
            return t - self.centre
        size = abs(t - self.centre)
        octave = min(max(0, size.bit_length() - self.near), self.octaves)
        place = (octave * self._octave) + (size << (self.octaves - octave))
        return place if t >= self.centre else -place

    def starts(self, values: Integers) -> Integers:
        """Vectorised :meth:`start`."""
        size = np.abs(values - self.centre)
        ends = np.int64(1) << np.arange(self.near, self.near + self.octaves, dtype=np.int64)
        octave = np.searchsorted(ends, size, side="right").astype(np.int64)
        places = octave * self._octave + (size << (self.octaves - octave))
        return np.where(values >= self.centre, places, -places)

    def value(self, place: int) -> int:
        """Return the integer that holds a place."""
        if self.octaves == 0:
            return self.centre + place
        size = abs(place)
        octave = min(max(0, size // self._octave - 1), self.octaves)
        within, shift = size - octave * self._octave, self.octaves - octave
        return self.centre + ((within if place >= 0 else -within) >> shift)

    @property
    def _octave(self) -> int:
        """Places of each octave; the near part has two of them on either side."""
        return 1 << max(0, self.near + self.octaves - 1)


EVEN = RangeWarp()
"""Every integer has one place."""
