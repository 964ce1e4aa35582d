"""Rows under a public random rotation: how many are at most a threshold, in each coordinate.

The rotation of Huang, Liang and Yi (2021), section 3.3: rows are padded with zeros to a power of
two, signs are flipped, and the Hadamard matrix, entries ±1, is applied. On integers small enough
for every sum to be exact in float64, in any order of summation.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import Self

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.vector_frame import MOST_COLUMNS, Floats, FrameView, VectorFrame

__all__ = ["RotatedCounts", "RotatedSummary", "Rotation"]

_EXACT = 52  # bits of a sum that float64 holds
_SIGNS = b"modicum: signs of the rotation of mean vectors"


@dataclass(frozen=True, slots=True)
class Rotation:
    """A public rotation of rows of some width, and the integers that it makes of them.

    A row q becomes H D round((q - origin) / 2^shift), of no more than ``reach`` in each
    coordinate.

    Attributes
    ----------
    width, padded : int
    origin : int
        The point of the range that is nearest to 0, a lattice integer.
    shift, reach : int
    """

    width: int
    padded: int
    origin: int
    shift: int
    reach: int

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, lattice: Lattice, width: int) -> Rotation:
        """Choose the finest integers whose sums are exact.

        Examples
        --------
        >>> Rotation.of(Lattice(-8.0, 8.0, 1.0), 3)
        Rotation(width=3, padded=4, origin=0, shift=0, reach=32)
        """
        padded = 1 << (width - 1).bit_length()
        origin = min(max(0, lattice.first), lattice.last)
        furthest = max(lattice.last - origin, origin - lattice.first)
        shift = 0
        while ((furthest >> shift) + 1) * padded >> _EXACT:
            shift += 1
        largest = furthest if shift == 0 else (furthest >> shift) + 1
        return cls(width, padded, origin, shift, padded * largest)

    @property
    def frame(self) -> VectorFrame:
        """What rows are measured in."""
        return VectorFrame((self.origin,), (2.0**-self.shift,))

    def turned(self, whole: Floats) -> Floats:
        """Rotate rows of integers.

        H is the Kronecker product of two smaller Hadamard matrices: two products of matrices.
        """
        wide = np.zeros((len(whole), self.padded))
        np.multiply(whole, _signs(self.width), out=wide[:, : self.width])
        bits = self.padded.bit_length() - 1
        first, second = _hadamard(bits // 2), _hadamard(bits - bits // 2)
        half = (wide.reshape(-1, len(second)) @ second).reshape(-1, len(first), len(second))
        found: Floats = (first @ half).reshape(wide.shape)
        return found

    def point(self, turned: Integers, lattice: Lattice) -> tuple[int, ...]:
        """Turn a point back, to the nearest lattice integers in the range; the padding is left out.

        Its coordinates are integers below 2^52 and their sums are Python's, so that the point is
        the same on every machine.
        """
        sums = turned.astype(object)
        half = 1
        while half < self.padded:
            pairs = sums.reshape(-1, 2, half)
            both = (pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1])
            sums = np.stack(both, axis=1).reshape(-1)
            half *= 2
        unit = self.padded
        place = []
        for each, sign in zip(sums[: self.width], _signs(self.width).tolist(), strict=True):
            moved = (2 * (int(each) * int(sign) << self.shift) + unit) // (2 * unit)
            place.append(min(max(self.origin + moved, lattice.first), lattice.last))
        return tuple(place)


@dataclass(frozen=True, slots=True)
class RotatedCounts:
    """Ask, for each rotated coordinate, how many rows are at most a threshold.

    Attributes
    ----------
    thresholds : tuple of int
        One for each rotated coordinate, or one for all.
    """

    thresholds: tuple[int, ...]

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _RotatedPass:
        if lattice is None:
            raise InvalidArgument("rotated rows need a range: lattice must not be None")
        return _RotatedPass(self, lattice)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RotatedSummary(Sensitive):
    """How many rows there are, and how many are at most a threshold in each coordinate.

    Attributes
    ----------
    width : int
        Components of a row before the rotation; public.
    count : int
        Sensitive.
    below : tuple of int
        One for each rotated coordinate. Sensitive.
    """

    width: int
    count: int
    below: tuple[int, ...]

    public = ("width",)

    def merge(self, other: Self) -> RotatedSummary:
        self._check_same(other)
        below = tuple(a + b for a, b in zip(self.below, other.below, strict=True))
        return RotatedSummary(self.width, self.count + other.count, below)

    def to_bytes(self) -> bytes:
        return pack("rotated", self.width, self.count, np.array(self.below, dtype=np.int64))

    @classmethod
    def from_bytes(cls, data: bytes) -> RotatedSummary:
        fields = Fields("rotated", data)
        summary = cls(fields.integer(), fields.integer(), tuple(fields.array().tolist()))
        fields.end()
        return summary


class _RotatedPass:
    """Each row is rotated by itself; a comparison of exact integers counts it."""

    reads = True

    def __init__(self, asked: RotatedCounts, lattice: Lattice) -> None:
        self._lattice = lattice
        self._thresholds = np.array(asked.thresholds, dtype=np.float64)
        self._rotation: Rotation | None = None
        self._view: FrameView | None = None
        self._count = 0
        self._below: Integers = np.zeros(1, dtype=np.int64)

    def update(self, x: Floats, /) -> None:
        if self._rotation is None or self._view is None:
            if x.shape[1] > MOST_COLUMNS:
                raise InvalidArgument(
                    f"vectors have at most {MOST_COLUMNS:,} components, got {x.shape[1]:,}"
                )
            self._rotation = Rotation.of(self._lattice, x.shape[1])
            self._view = self._rotation.frame.view(self._lattice)
            self._below = np.zeros(self._rotation.padded, dtype=np.int64)
        if len(x):
            turned = self._rotation.turned(np.rint(self._view.seen(x)))
            self._count += len(x)
            self._below = self._below + (turned <= self._thresholds).sum(axis=0)

    def finish(self) -> RotatedSummary:
        width = 1 if self._rotation is None else self._rotation.width
        return RotatedSummary(width, self._count, tuple(self._below.tolist()))


@functools.lru_cache(maxsize=16)
def _signs(width: int) -> Floats:
    """Signs from the bits of SHAKE-256 of a fixed text: public, and chosen before any data."""
    bits = np.frombuffer(hashlib.shake_256(_SIGNS).digest((width + 7) // 8), dtype=np.uint8)
    return np.where(np.unpackbits(bits)[:width] == 1, -1.0, 1.0)


@functools.lru_cache(maxsize=16)
def _hadamard(bits: int) -> Floats:
    matrix = [[1.0]]
    for _ in range(bits):
        matrix = [row + row for row in matrix] + [row + [-x for x in row] for row in matrix]
    return np.array(matrix)
