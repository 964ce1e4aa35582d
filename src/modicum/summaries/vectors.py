"""Rows of several columns as vectors: their norms, sums of clipped rows, and rotated rows.

Vectors are measured from a public point in public units, and clipped to integers of bounded norm.
Each row is handled by itself, and gives the same result whatever rows stand beside it. Numbers are
changed one by one in float64. A sum over a row is used only where it is exact, or only as far as no
order of summation could change what follows (docs/proofs/mean_vector.md, [mean_vector.8] to
[mean_vector.11]).
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Reduction, Rows, Sensitive, pack

BOUND = 1 << 26
"""Norm to which rows are clipped, in units: its square, and any smaller one, is exact."""

MOST_COLUMNS = 1 << 16

_FINEST = 2.0**-900  # gains by a lattice step then are finite
_SURELY = 1 - 2.0**-20  # more than what rounding adds to a sum of 2^16 positive numbers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorFrame:
    """How rows are measured: component j of a row q is gains[j] (q[j] - centre[j]), in units.

    ``centre`` are lattice integers in the range and ``gains`` positive numbers of units in a
    lattice step: one for each component, or one for all. If ``sizes``, each component u is then
    replaced by |u|^power. Norms are (sum of |u|^power)^(1/power), power 1 or 2.

    Examples
    --------
    >>> frame = VectorFrame((2,), (4.0, 1.0))
    >>> frame.view(Lattice(-8.0, 8.0, 1.0)).seen(np.array([[1.2, 3.0]]))
    array([[-4.,  1.]])
    """

    centre: tuple[int, ...]
    gains: tuple[float, ...]
    sizes: bool = False
    power: int = 2

    def __post_init__(self) -> None:
        if not all(math.isfinite(gain) and gain > 0 for gain in self.gains):
            raise InvalidArgument("gains must be positive finite numbers")

    def clipped(self, radius: int) -> VectorFrame:
        """Return the frame in which a norm of ``radius`` is :data:`BOUND`."""
        factor = BOUND / radius
        factor = factor ** (1 / self.power) if self.sizes else factor
        return replace(self, gains=tuple(gain * factor for gain in self.gains))

    def longest(self, lattice: Lattice, width: int) -> float:
        """Return a norm that no row of ``width`` components exceeds."""
        gains = np.array(self.gains * (width // len(self.gains)))
        return float(lattice.width * (gains**self.power).sum() ** (1 / self.power))

    def view(self, lattice: Lattice) -> FrameView:
        return FrameView(self, lattice)


class FrameView:
    """A frame on a lattice; it measures rows in arrays that the next call overwrites."""

    __slots__ = (
        "_arrays",
        "_gains",
        "_hi",
        "_lo",
        "_lower",
        "_magic",
        "_power",
        "_safe",
        "_sizes",
    )

    def __init__(self, frame: VectorFrame, lattice: Lattice) -> None:
        if lattice.step < _FINEST:
            raise InvalidArgument(
                f"step={lattice.step!r} is too fine for vectors: give a range or a step in which "
                "the step is at least 2^-900"
            )
        centre = np.array(frame.centre, dtype=np.float64)
        self._lo, self._hi = lattice.lo, lattice.hi
        self._magic = 1.5 * 2.0**52 * lattice.step
        self._lower = _one_or_all(self._magic + centre * lattice.step)
        self._gains = _one_or_all(np.array(frame.gains) / lattice.step)
        self._power, self._sizes = frame.power, frame.sizes
        ends = np.minimum(lattice.last - centre, centre - lattice.first) * lattice.step
        nearest = float((self._gains * ends).min())
        self._safe = nearest**frame.power if frame.sizes else nearest
        self._arrays = np.empty((2, 0, 0))

    def seen(self, x: Floats) -> Floats:
        """Return components; values beyond the range are clamped to it."""
        if x.min(initial=self._lo) < self._lo or x.max(initial=self._hi) > self._hi:
            x = np.clip(x, self._lo, self._hi, out=self._array(0, x))
        return self._quick(x)

    def measured(self, x: Floats) -> tuple[Floats, Floats]:
        """Return components, and of each row the sum of |u|^power, rounded.

        A value beyond the range would be in a row whose norm reaches the end of the range that is
        nearest to the centre. If all norms are below that, no value needs to be clamped.
        """
        u = self._quick(x)
        found = size(u, self._power)
        if not found.max(initial=0.0) < self._safe**self._power * _SURELY:
            u = self.seen(x)
            found = size(u, self._power)
        return u, found

    def clipped(self, x: Floats) -> Floats:
        """Return rows of integers, each of norm at most :data:`BOUND` [mean_vector.9].

        Rows within keep their direction and norm but for rounding to the nearest integers; others
        are shortened, and rounded towards zero.
        """
        inside = self._safe > BOUND + 1  # rows with a value beyond the range are too long
        u = self._quick(x) if inside else self.seen(x)
        v = np.rint(u, out=self._array(1, x))
        far = size(v, self._power) > BOUND**self._power
        if far.any():
            rows = self.seen(np.ascontiguousarray(x[far])) if inside else u[far]
            v[far] = _shortened(rows, self._power)
        return v

    def _quick(self, x: Floats) -> Floats:
        """Return components of values within the range; of others, something further off.

        Adding and subtracting are exact within the range [mean_vector.8]; the product is rounded,
        number by number.
        """
        y = self._array(0, x)
        with np.errstate(over="ignore"):
            np.add(x, self._magic, out=y)
            y -= self._lower
            y *= self._gains
            if self._sizes:
                np.multiply(y, y, out=y) if self._power == 2 else np.abs(y, out=y)
        return y

    def _array(self, which: int, x: Floats) -> Floats:
        rows, width = x.shape
        if self._arrays.shape[1] < rows or self._arrays.shape[2] != width:
            self._arrays = np.empty((2, rows, width))
        array: Floats = self._arrays[which, :rows]
        return array


def size(v: Floats, power: int) -> Floats:
    """Sum of |v|^power of each row.

    If v are integers it is exact up to 2^53, and beyond it is at least 2^53, for any order of
    summation: a sum of nonnegative integers in float64 is exact until it passes 2^53.
    """
    with np.errstate(over="ignore"):
        found: Floats = np.vecdot(v, v) if power == 2 else np.abs(v).sum(axis=1)
    return found


def norms(u: Floats, power: int = 2) -> Floats:
    """Norm of each row, to a relative :func:`slack`; the same for any order of summation.

    See [mean_vector.10].
    """
    places = _places(u.shape[1], power)
    exponents = np.frexp(np.abs(u).max(axis=1, initial=0.0))[1] - places
    whole = size(np.rint(np.ldexp(u, -exponents[:, None])), power)
    found: Floats = np.ldexp(np.sqrt(whole) if power == 2 else whole, exponents)
    return found


def slack(width: int, power: int = 2) -> float:
    """Bound of the relative error of :func:`norms`: half a unit in each component."""
    return math.ldexp(width ** (1 / power), -_places(width, power))


def _places(width: int, power: int) -> int:
    """Bits of the largest component, so that a row's sum of powers is at most 2^52."""
    return (52 - (width - 1).bit_length()) // power


def _shortened(u: Floats, power: int) -> Floats:
    factors = BOUND * (1 - 2 * slack(u.shape[1], power)) / norms(u, power)
    v = np.trunc(u * factors[:, None])
    # The factor makes room for the error of the norm; the guarantee rests on this line alone.
    v[size(v, power) > BOUND**power] = 0.0
    return v


def _one_or_all(numbers: Floats) -> Floats | np.float64:
    """One number for all components is faster than an array of one."""
    return numbers if len(numbers) > 1 else numbers[0]


@dataclass(frozen=True, slots=True)
class ClippedVectors(Reduction["VectorSummary"]):
    """Sums rows clipped to a radius, in integers.

    Each row adds integers whose norm is at most :data:`~modicum.summaries.vectors.BOUND`, which
    stands for the radius. One row more or less moves the sum by no more than that. The radius is
    released or public, positive, in the frame's units.
    """

    frame: VectorFrame
    radius: int

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise InvalidArgument(f"the radius must be positive, got {self.radius}")

    @property
    def scaled(self) -> VectorFrame:
        """The frame in whose units the sum is counted."""
        return self.frame.clipped(self.radius)

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _VectorPass:
        if lattice is None:
            raise InvalidArgument("clipped vectors need a range: lattice must not be None")
        return _VectorPass(self.scaled.view(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VectorSummary(Sensitive):
    """The number of rows and the sum of their clipped integers by component, both sensitive."""

    count: int
    totals: tuple[int, ...]

    def merge(self, other: Self) -> VectorSummary:
        self._check_same(other)
        if len(self.totals) != len(other.totals):
            raise InvalidArgument("cannot merge sums of vectors of another width")
        totals = tuple(a + b for a, b in zip(self.totals, other.totals, strict=True))
        return VectorSummary(self.count + other.count, totals)

    def to_bytes(self) -> bytes:
        return pack("vectors", self.count, len(self.totals), *self.totals)

    @classmethod
    def from_bytes(cls, data: bytes) -> VectorSummary:
        fields = Fields("vectors", data)
        count, width = fields.integer(), fields.integer()
        summary = cls(count, tuple(fields.integer() for _ in range(width)))
        fields.end()
        return summary


class _VectorPass:
    """Integers of at most 2^26 each: a block's float64 sums are exact for up to 2^27 rows.

    The sums of a pass are below 2^63 for up to 2^36 rows; more are in parts.
    """

    reads = True

    def __init__(self, view: FrameView) -> None:
        self._view = view
        self._count = 0
        self._totals: Integers = np.zeros(1, dtype=np.int64)

    def update(self, x: Floats, /) -> None:
        if not len(x):
            self._totals = self._totals + np.zeros(x.shape[1], dtype=np.int64)
            return
        self._count += len(x)
        sums = np.ones(len(x)) @ self._view.clipped(x)
        self._totals = self._totals + sums.astype(np.int64)

    def finish(self) -> VectorSummary:
        return VectorSummary(self._count, tuple(self._totals.tolist()))


@dataclass(frozen=True, slots=True)
class NormCounts(Reduction["NormSummary"]):
    """Counts the rows whose norm in a frame exceeds each of some radii.

    The radii are positive and increasing, in the frame's units.
    """

    frame: VectorFrame
    radii: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.radii or self.radii[0] <= 0 or sorted(set(self.radii)) != [*self.radii]:
            raise InvalidArgument(f"radii must be positive and increase, got {self.radii}")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _NormPass:
        if lattice is None:
            raise InvalidArgument("norms need a range: lattice must not be None")
        return _NormPass(self, self.frame.view(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormSummary(Sensitive):
    """Sensitive numbers of rows between radii, and the public number of components of a row.

    ``between`` counts the rows whose norm is at most the first radius; beyond it and at most the
    second; ...; beyond the last.
    """

    width: int
    between: tuple[int, ...]

    public = ("width",)

    @property
    def count(self) -> int:
        return sum(self.between)

    @property
    def outside(self) -> tuple[int, ...]:
        """For each radius, the rows beyond it."""
        beyond = np.cumsum(self.between[::-1])[::-1][1:]
        return tuple(beyond.tolist())

    def merge(self, other: Self) -> NormSummary:
        self._check_same(other)
        if len(self.between) != len(other.between):
            raise InvalidArgument("cannot merge norms that were counted for other radii")
        between = tuple(a + b for a, b in zip(self.between, other.between, strict=True))
        return NormSummary(self.width, between)

    def to_bytes(self) -> bytes:
        return pack("norms", self.width, np.array(self.between, dtype=np.int64))

    @classmethod
    def from_bytes(cls, data: bytes) -> NormSummary:
        fields = Fields("norms", data)
        summary = cls(fields.integer(), tuple(fields.array().tolist()))
        fields.end()
        return summary


class _NormPass:
    """Places rows by rounded norms, and by exact ones where these come near a radius."""

    reads = True

    def __init__(self, asked: NormCounts, view: FrameView) -> None:
        self._view = view
        self._power = asked.frame.power
        self._radii = np.array(asked.radii, dtype=np.float64)
        self._between = np.zeros(len(asked.radii) + 1, dtype=np.int64)
        self._width = 1

    def update(self, x: Floats, /) -> None:
        self._width = x.shape[1]
        if self._width > MOST_COLUMNS:
            raise InvalidArgument(
                f"vectors have at most {MOST_COLUMNS:,} components, got {self._width:,}"
            )
        if len(x):
            self._between += np.bincount(self._places(x), minlength=len(self._between))

    def _places(self, x: Floats) -> NDArray[np.intp]:
        """How many radii each row's norm exceeds [mean_vector.11]."""
        near = 4 * slack(self._width, self._power)
        u, size = self._view.measured(x)
        rough = np.sqrt(size) if self._power == 2 else size
        places = self._exceeded(rough * (1 - near))
        unsure = places != self._exceeded(rough * (1 + near))
        if unsure.any():
            places[unsure] = self._exceeded(norms(u[unsure], self._power))
        return places

    def _exceeded(self, norm: Floats) -> NDArray[np.intp]:
        return np.searchsorted(self._radii, norm, side="left")

    def finish(self) -> NormSummary:
        return NormSummary(self._width, tuple(self._between.tolist()))


_EXACT = 52  # bits of a sum that float64 holds
_SIGNS = b"modicum: signs of the rotation of mean vectors"


@dataclass(frozen=True, slots=True)
class Rotation:
    """A public rotation of rows of some width, and the integers that it makes of them.

    A row q becomes H D round((q - origin) / 2^shift), of no more than ``reach`` in each coordinate.
    ``origin`` is the point of the range that is nearest to 0, a lattice integer.

    This is the rotation of Huang, Liang and Yi (2021), section 3.3: rows are padded with zeros to a
    power of two, signs are flipped (D), and the Hadamard matrix H, entries ±1, is applied. The
    integers are small enough for every sum to be exact in float64, in any order of summation.
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
        """The frame that gives (q - origin) / 2^shift."""
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
class RotatedCounts(Reduction["RotatedSummary"]):
    """Counts, for each rotated coordinate, the rows that are at most a threshold.

    There is one threshold for each rotated coordinate, or one for all.
    """

    thresholds: tuple[int, ...]

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _RotatedPass:
        if lattice is None:
            raise InvalidArgument("rotated rows need a range: lattice must not be None")
        return _RotatedPass(self, lattice)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RotatedSummary(Sensitive):
    """The number of rows, and of those at most a threshold in each rotated coordinate.

    ``width`` is the number of components of a row before the rotation; it is public, the counts are
    sensitive.
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
    """Rotates each row by itself and counts it by comparing exact integers."""

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
