"""Sifting: collect the records in a bracket, count those below and above it.

Parts are sifted apart and merged. If more records lie inside than may be held, a uniform sample
of them takes their place, from which a narrower bracket follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Sensitive, pack
from modicum.summaries.chosen import ChosenRows
from modicum.summaries.kernel import CHUNK
from modicum.summaries.pools import PassingRows
from modicum.summaries.ranked import Ranked

__all__ = ["Sample", "Sift", "Sifted"]


@dataclass(frozen=True, slots=True, repr=False)
class Sample:
    """Sorted records, a uniform sample of the ``size`` records strictly between two integers.

    Attributes
    ----------
    before : int
        Number of records up to and including ``lo``.
    """

    values: Integers
    size: float
    before: int
    lo: int
    hi: int

    def bracket(self, start: int, stop: int, sure: float) -> tuple[int, int]:
        """Return integers that hold the positions from start to stop (exclusive) between them.

        The number of sampled records up to a position p of ``size`` has a standard deviation of
        at most sqrt(m f (1 - f)), f = p / size, where m are sampled.
        """
        m = len(self.values)

        def place(position: int, sign: int) -> float:
            share = min(max((position - self.before) / max(self.size, 1.0), 0.0), 1.0)
            return m * share + sign * (sure * math.sqrt(m * share * (1 - share)) + sure)

        low, high = math.floor(place(start, -1)), math.ceil(place(stop, 1))
        return (
            self.lo if low < 0 else int(self.values[low]),
            self.hi if high >= m else int(self.values[high]),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sifted(Sensitive):
    """The records of one part of the data, by their place relative to a bracket [lo, hi].

    Attributes
    ----------
    lo, hi : int
    most : int
        Public: how many records within the bracket may be held.
    below, on_lo, on_hi, above : int
        Sensitive numbers of records (if lo is hi, those on it are on_lo).
    inside : ChosenRows
        Those strictly inside: all of them at level 0, else a uniform sample.
    """

    public: ClassVar[tuple[str, ...]] = ("lo", "hi", "most")

    lo: int
    hi: int
    most: int
    below: int
    on_lo: int
    on_hi: int
    above: int
    inside: ChosenRows

    @property
    def count(self) -> int:
        """Number of all records."""
        return self.below + self.on_lo + self.inside.records + self.on_hi + self.above

    def covers(self, start: int, stop: int) -> bool:
        """Whether the records at positions from start to stop (exclusive) lie in the bracket."""
        return self.below <= start and stop <= self.count - self.above

    @property
    def holds_all(self) -> bool:
        """Whether every record of the bracket is known."""
        return self.inside.level == 0

    def sample(self) -> Sample:
        """Return the records inside as a sample of them."""
        (chosen,) = self.inside.subsamples
        before = self.below + self.on_lo
        return Sample(np.sort(chosen), self.inside.records, before, self.lo, self.hi)

    def place(self) -> tuple[int, int]:
        """Return the number of records below the bracket, and of those at its lower end."""
        return self.below, self.on_lo

    def cells(self, start: int, stop: int) -> Ranked:
        """Return the values at covered positions from start to stop (exclusive), and their ranks.

        All records of a value are counted, those outside the positions too.
        """
        (strictly,) = self.inside.subsamples
        before = self.below + self.on_lo
        first, last = (min(max(p - before, 0), len(strictly)) for p in (start, stop))
        values, below, ties = (np.empty(0, dtype=np.int64) for _ in range(3))
        if first < last:
            if last - first < len(strictly):
                strictly = np.partition(strictly, sorted({first, last - 1}))
            inner = np.sort(strictly[first:last])
            heads = np.flatnonzero(np.append(True, inner[1:] != inner[:-1]))
            values, below = inner[heads], heads + before + first
            ties = np.diff(heads, append=len(inner))
            # Those equal to the two ends may also lie outside the positions.
            for place in {0, len(values) - 1}:
                below[place] = before + int(np.count_nonzero(strictly < values[place]))
                ties[place] = int(np.count_nonzero(strictly == values[place]))
        if start < before and start < stop:
            values, below = np.append(self.lo, values), np.append(self.below, below)
            ties = np.append(self.on_lo, ties)
        if stop > before + len(strictly) and start < stop:
            values, below = np.append(values, self.hi), np.append(below, before + len(strictly))
            ties = np.append(ties, self.on_hi)
        return Ranked(values.astype(np.int64), below.astype(np.int64), ties.astype(np.int64))

    def window(self, start: int, stop: int) -> Integers:
        """Return the records at covered positions from start to stop (exclusive), sorted."""
        (strictly,) = self.inside.subsamples
        before = self.below + self.on_lo
        first, last = (min(max(p - before, 0), len(strictly)) for p in (start, stop))
        if first < last:
            strictly = np.partition(strictly, sorted({first, last - 1}))
        lows = min(max(before - start, 0), stop - start)
        highs = stop - start - lows - (last - first)
        inner = np.sort(strictly[first:last])
        return np.concatenate([np.full(lows, self.lo), inner, np.full(highs, self.hi)])

    def merge(self, other: Sifted, entropy: Entropy) -> Sifted:
        """Return the same of both parts; they are sampled if together they hold too many."""
        self._check_same(other)
        one, two = self.inside, other.inside
        if one.level == two.level == 0 and one.records + two.records <= self.most:
            q = np.concatenate([one.subsamples[0], two.subsamples[0]])
            inside = ChosenRows(0, one.records + two.records, (q,))
        else:
            inside = one.merge(two, entropy)
        return Sifted(
            self.lo,
            self.hi,
            self.most,
            self.below + other.below,
            self.on_lo + other.on_lo,
            self.on_hi + other.on_hi,
            self.above + other.above,
            inside,
        )

    def to_bytes(self) -> bytes:
        numbers = (self.lo, self.hi, self.most, self.below, self.on_lo, self.on_hi, self.above)
        (chosen,) = self.inside.subsamples
        return pack("sifted", *numbers, self.inside.level, self.inside.records, chosen)

    @classmethod
    def from_bytes(cls, data: bytes) -> Sifted:
        fields = Fields("sifted", data)
        lo, hi, most, below, on_lo, on_hi, above, level, records = (
            fields.integer() for _ in range(9)
        )
        inside = ChosenRows(level, records, (fields.array(),))
        fields.end()
        return cls(lo, hi, most, below, on_lo, on_hi, above, inside)


class Sift:
    """A pass that collects the records in a bracket [lo, hi] and counts the others.

    Records on an end of the bracket are counted only, so that no number of ties needs memory. If
    more than ``most`` lie strictly inside, a uniform sample of them is kept in their place;
    without entropy all are held.
    """

    reads = True

    def __init__(
        self, lattice: Lattice, entropy: Entropy | None, bracket: tuple[int, int], most: int
    ) -> None:
        self._lattice, self._entropy, self._most = lattice, entropy, most
        self.lo, self.hi = bracket
        # One step more on each side than is rounded into the bracket; what is beyond the range
        # is clamped to its ends.
        self._floor = -np.inf if self.lo <= lattice.first else (self.lo - 1) * lattice.step
        self._ceiling = np.inf if self.hi >= lattice.last else (self.hi + 1) * lattice.step
        self.below = self.above = 0
        self._on_lo = self._on_hi = self._strictly = 0
        self._held: list[Integers] = []
        self._sampler: PassingRows | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
        """Sift one chunk of any length."""
        for start in range(0, len(x), CHUNK):
            part = x[start : start + CHUNK]
            from_floor, up_to_ceiling = part >= self._floor, part <= self._ceiling
            # NaN is neither, every number is one of them.
            numbers = np.count_nonzero(from_floor), np.count_nonzero(up_to_ceiling)
            inside = np.flatnonzero(np.logical_and(from_floor, up_to_ceiling, out=from_floor))
            self.above += int(numbers[0]) - len(inside)
            self.below += int(numbers[1]) - len(inside)
            if len(inside):
                self._take(self._lattice.quantise(part[inside]))

    def update_sorted(self, x: NDArray[np.float64]) -> None:
        """Sift a sorted chunk without NaN."""
        start = int(np.searchsorted(x, self._floor, side="left"))
        stop = int(np.searchsorted(x, self._ceiling, side="right"))
        self.below += start
        self.above += len(x) - stop
        if start < stop:
            self._take(self._lattice.quantise(x[start:stop]))

    def _take(self, q: Integers) -> None:
        inner = q[(q > self.lo) & (q < self.hi)]
        if len(inner) < len(q):
            self.below += int(np.count_nonzero(q < self.lo))
            self.above += int(np.count_nonzero(q > self.hi))
            self._on_lo += int(np.count_nonzero(q == self.lo))
            self._on_hi += 0 if self.lo == self.hi else int(np.count_nonzero(q == self.hi))
        self._strictly += len(inner)
        if self._sampler is not None:
            self._sampler.update(inner * np.float64(self._lattice.step))
            return
        self._held.append(inner)
        if self._entropy is not None and self._strictly > self._most:
            self._sampler = PassingRows(self._lattice, 1, self._entropy)
            for held in self._held:
                self._sampler.update(held * np.float64(self._lattice.step))
            self._held = []

    def finish(self) -> Sifted:
        """Return what is known of all chunks."""
        if self._sampler is None:
            held = np.concatenate([np.empty(0, dtype=np.int64), *self._held])
            inside = ChosenRows(0, self._strictly, (held,))
        else:
            inside = self._sampler.finish()
        ends = (self.below, self._on_lo, self._on_hi, self.above)
        return Sifted(self.lo, self.hi, self._most, *ends, inside)
