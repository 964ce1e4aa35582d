"""Windows: where a column is and how widely it is spread, in one draw over all scales of float64.

A window has a radius r, a power of two, and a middle m r/2, and so two others of its size overlap
it on either side. There are as many of a size as places need bits; those in unusual octaves are
less likely beforehand. The draw is exact: windows that hold next to nothing are counted, and not
listed. docs/research/proofs/window.md has the proofs.
"""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.mechanisms.base import SECRET
from modicum.mechanisms.exponential import Runs, ScoreFunction

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEAR = 3  # windows with |m| <= 3 are listed one by one
_NEAR_BITS = _NEAR.bit_length()
_HALVES, _QUARTERS = 4, 8  # of a radius in a window
_ALIKE = 6  # octaves on either side of the usual one that have one weight
_LN4 = Fraction(1420, 1024)  # twice as many further out weigh a quarter each
MOST_BITS = 45
_NARROWEST, _WIDEST = -1000, 1020  # octaves of windows in a range
_LIMIT = 900  # octaves on either side of 1: a lattice can be made of every window


class DataWindow(NamedTuple):
    """The numbers from (place - 2) to (place + 2) halves of the radius 2^octave, half-open."""

    octave: int
    place: int

    @property
    def radius(self) -> Fraction:
        """Half of its width."""
        return Fraction(2) ** self.octave

    @property
    def middle(self) -> Fraction:
        return self.place * self.radius / 2


@dataclass(frozen=True, slots=True)
class WindowGrid:
    """Windows of the octaves ``first`` to ``last``, whose places have at most ``bits`` bits.

    ``usual`` is the octave in which values are expected. Numbers are float64, read on
    :data:`~modicum.exact.float_keys.KEYS`. Windows are numbered: first those with |m| <= 3, by m
    and octave; then, for every number of bits of |m| and either sign, by octave and |m|.

    Examples
    --------
    >>> grid = WindowGrid(-2, 3, bits=4)
    >>> grid.window(grid.number(DataWindow(1, -9)))
    DataWindow(octave=1, place=-9)
    """

    first: int
    last: int
    bits: int
    usual: int = 0

    @classmethod
    def of_floats(cls, bits: int) -> WindowGrid:
        """All windows, with places of at most so many bits."""
        return cls(-_LIMIT, _LIMIT, min(max(bits, _NEAR_BITS), MOST_BITS))

    @classmethod
    def of_range(cls, lattice: Lattice, bits: int) -> WindowGrid:
        """Those from a step of a lattice to its ends, with places of at most so many bits.

        Values are expected within some octaves of the ends.
        """
        reach = max(abs(lattice.lo), abs(lattice.hi))
        first, last = (math.frexp(each)[1] for each in (lattice.step, reach))
        first, last = max(first - 1, _NARROWEST), min(last, _WIDEST)
        return replace(
            cls.of_floats(min(bits, last - first + 1)), first=first, last=last, usual=last - _ALIKE
        )

    @property
    def octaves(self) -> int:
        """How many radii there are."""
        return self.last + 1 - self.first

    @property
    def near(self) -> int:
        """How many windows are listed one by one."""
        return (2 * _NEAR + 1) * self.octaves

    @property
    def size(self) -> int:
        """How many windows there are."""
        return self.begin(self.bits + 1, 1)

    def begin(self, bits: int, sign: int) -> int:
        """Number of the first window whose |m| has so many bits, more than those listed."""
        half = 1 << (bits - 1)
        return self.near + self.octaves * (2 * (half - _NEAR - 1) + half * (sign < 0))

    def number(self, window: DataWindow) -> int:
        """Return the number of a window."""
        octave, place = window.octave - self.first, window.place
        if abs(place) <= _NEAR:
            return (place + _NEAR) * self.octaves + octave
        bits = abs(place).bit_length()
        half = 1 << (bits - 1)
        return self.begin(bits, 1 if place > 0 else -1) + octave * half + abs(place) - half

    def numbers(self, places: Integers, octave: int) -> Integers:
        """Vectorised :meth:`number`, of windows that are not listed one by one."""
        size = np.abs(places)
        half = np.int64(1) << (np.frexp(size.astype(np.float64))[1].astype(np.int64) - 1)
        begin = self.near + self.octaves * (2 * (half - _NEAR - 1) + half * (places < 0))
        found: Integers = begin + (octave - self.first) * half + size - half
        return found

    def window(self, number: int) -> DataWindow:
        """Return the window with a number."""
        if number < self.near:
            place, octave = divmod(number, self.octaves)
            return DataWindow(octave + self.first, place - _NEAR)
        bits = _NEAR_BITS + 1
        while number >= self.begin(bits + 1, 1):
            bits += 1
        sign = -1 if number >= self.begin(bits, -1) else 1
        half = 1 << (bits - 1)
        octave, rest = divmod(number - self.begin(bits, sign), half)
        return DataWindow(octave + self.first, sign * (rest + half))

    def pieces(self) -> tuple[Integers, Integers]:
        """First numbers of stretches of windows with one prior weight, and the band of each.

        A band is 0 about the usual octave, of the middle or else of the radius, and 1, 2, ...
        further out, each twice as long as the last.
        """
        return _pieces(self)


@functools.lru_cache(maxsize=64)
def _pieces(grid: WindowGrid) -> tuple[Integers, Integers]:
    octaves = np.arange(grid.octaves)
    far = np.abs(np.arange(grid.first, grid.last + grid.bits + 1) - grid.usual)
    bands = np.frexp((far // _ALIKE + 1).astype(np.float64))[1].astype(np.int64) - 1
    starts = [np.arange(grid.near)]
    found = [bands[octaves + abs(m).bit_length()] for m in range(-_NEAR, _NEAR + 1)]
    for bits in range(_NEAR_BITS + 1, grid.bits + 1):
        band = bands[octaves + bits]
        cuts = np.append(0, np.flatnonzero(np.diff(band)) + 1)
        for sign in (1, -1):
            starts.append(grid.begin(bits, sign) + (cuts << (bits - 1)))
            found.append(band[cuts])
    return np.concatenate(starts), np.concatenate(found)


def _distinct(numbers: Integers) -> Integers:
    """Sort, and keep one of each; for so few numbers that is faster than hashing them."""
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


@dataclass(frozen=True, slots=True, eq=False)
class WindowScore(ScoreFunction):
    """A window that holds nearly all records, and in which they are spread.

    The score of a window is max(``least``, min(I, F + ``spare``)): I is the number of records in
    it, and F that of those outside of its fullest core, two neighbours of its eight parts; or, if
    it holds the origin, and that is more, of those half a radius away from it, up to ``sized``. A
    window beside the data holds nothing; of one that is far wider than they are a core holds them
    all, so that it has ``spare`` and no more, and so has one round a single value of many records,
    but for one about the origin that is as large as that value.

    Sensitivity contract: one record more adds 0 or 1 to I, and to the number of records in the
    window without any one core, so to the least of these; so to the number of those away from the
    origin, to the lesser of that and sized, to the larger of both, which is F, to min(I, F +
    spare), and to the larger of that and ``least``: sized, spare and least are public. All losses
    move in one direction, by 1 at most. The prior does not depend on the data. See [window.2].

    ``positions`` are those of the records, sorted and secret; ``lattice`` has their integers.
    """

    mechanism = "WindowDraw"
    span = 1

    positions: Floats = field(repr=False, metadata=SECRET)
    grid: WindowGrid
    spare: int
    sized: int
    least: int
    lattice: Lattice = KEYS

    def over(self, q: Integers) -> WindowScore:
        return replace(self, positions=np.sort(self.lattice.numbers_of(q)))

    def runs(self, rate: Fraction) -> Runs:
        starts, bands = self.grid.pieces()
        near, size = self.grid.near, self.grid.size
        listed = [each for octave in self._octaves() for each in [self._level(octave)]]
        numbers = np.concatenate([np.empty(0, np.int64), *(each[0] for each in listed)])
        order = np.argsort(numbers)
        numbers = numbers[order]
        scores = np.concatenate([np.empty(0, np.int64), *(each[1] for each in listed)])[order]
        # A window that is listed is a stretch of its own, and what is behind it begins another one.
        every = _distinct(np.concatenate([starts, numbers, numbers + 1]))
        every = every[every < size]
        score = np.full(len(every), self.least)
        score[:near] = np.maximum(self._near(), self.least)
        score[np.searchsorted(every, numbers)] = scores
        runs = Runs(every, np.diff(every, append=size), score.max() - score).finer(rate)
        cost = round(_LN4 * runs.fine / rate)
        piece = np.searchsorted(starts, every, side="right") - 1
        return replace(runs, losses=runs.losses + cost * bands[piece])

    def _scores(self, below: Integers, about: Integers | None = None) -> Integers:
        """Scores of windows, of the numbers of records below the ends of their parts.

        ``about`` are the numbers of those near the origin, of windows that hold it.
        """
        parts = np.diff(below, axis=0)
        inside = below[-1] - below[0]
        spread = inside - (parts[1:] + parts[:-1]).max(axis=0)
        if about is not None:
            spread = np.maximum(spread, np.minimum(inside - about, self.sized))
        found: Integers = np.minimum(inside, spread + self.spare)
        return found

    def _near(self) -> Integers:
        """Scores of the windows about the origin, in the order of their numbers."""
        x, grid = self.positions, self.grid
        sizes = np.abs(x[x != 0])
        first, last = np.frexp([sizes.min(), sizes.max()])[1].tolist() if len(sizes) else (0, 0)
        # All that are narrower hold the zeros, in one core; all that are wider hold everything.
        octaves = np.clip(np.arange(grid.first, grid.last + 1), first - 4, last + 4)
        some = _distinct(octaves)
        place = np.searchsorted(some, octaves)
        reach = 2 * _NEAR + _HALVES
        parts = np.arange(-reach, reach + 1)[:, None]
        below = np.searchsorted(x, parts * np.ldexp(1.0, some - 2))
        scores = []
        for m in range(-_NEAR, _NEAR + 1):
            first = 2 * m - _HALVES
            about = None
            if -2 < m <= 2:  # it holds the origin: those within half a radius of that
                about = below[reach + 2] - below[reach + max(-2, first)]
            ends = below[reach + first : reach + first + _QUARTERS + 1]
            scores.append(self._scores(ends, about)[place])
        return np.concatenate(scores)

    def _octaves(self) -> list[int]:
        """Octaves with windows away from the origin that may have more than the least score."""
        grid, x = self.grid, self.positions
        if len(x) <= self.least:
            return []
        sizes = np.sort(np.abs(x))
        first, last = np.frexp(sizes[[0, -1]])[1].tolist()
        with np.errstate(over="ignore"):  # a window with so many records is wider than this
            width = float((x[self.least :] - x[: len(x) - self.least]).min())
        narrowest = math.frexp(min(width, sys.float_info.max))[1] - 1 if width else grid.first
        octaves = np.arange(max(first - grid.bits, narrowest, grid.first), min(last, grid.last) + 1)
        # |m| >= 4 and m < 2^bits: the records from r on, and less than 2^bits r away.
        ends = (np.ldexp(1.0, np.minimum(octaves + more, 1023)) for more in (0, grid.bits))
        least, most = (np.searchsorted(sizes, end) for end in ends)
        found: list[int] = octaves[most - least > self.least].tolist()
        return found

    def _level(self, octave: int) -> tuple[Integers, Integers]:
        """Numbers and scores of the windows of an octave that have more than the least score."""
        reach = np.ldexp(1.0, min(octave + self.grid.bits, 1023))
        first, last = np.searchsorted(self.positions, (-reach, reach))
        parts = np.floor(np.ldexp(self.positions[first:last], 2 - octave)).astype(np.int64)
        halves = parts >> 1
        new = np.flatnonzero(np.diff(halves, prepend=halves[0] - 1))
        # Of a window with more than the least score one half has more than a quarter of that.
        many = halves[new[np.diff(new, append=len(halves)) * _HALVES > self.least]]
        places = _distinct((many[:, None] + np.arange(-1, 3)).ravel())
        places = places[(np.abs(places) > _NEAR) & (np.abs(places) < 1 << self.grid.bits)]
        ends = 2 * places + np.arange(-_HALVES, _HALVES + 1)[:, None]
        scores = self._scores(np.searchsorted(parts, ends))
        enough = scores > self.least
        return self.grid.numbers(places[enough], octave), scores[enough]
