"""Rows of several columns as vectors: their norms, sums of clipped rows, and rotated rows.

Vectors are measured from a public point in public units, and clipped to integers of bounded norm.
Each row is handled by itself, and gives the same result whatever rows stand beside it. Numbers are
changed one by one in float64. A sum over a row is used only where it is exact, or only as far as no
order of summation could change what follows (docs/research/proofs/mean_vector.md, [mean_vector.8]
to [mean_vector.11]).
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import MOST_COLUMNS, AdditiveSummary, Integers, Reduction, Rows

BOUND = 1 << 26
"""Norm to which rows are clipped, in units: its square, and any smaller one, is exact."""

_FINEST = 2.0**-900  # gains by a lattice step then are finite
_SURELY = 1 - 2.0**-20  # more than what rounding adds to a sum of 2^16 positive numbers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorScaling:
    """How rows are measured: component j of a row q is gains[j] (q[j] - centre[j]), in units.

    ``centre`` are lattice integers in the range and ``gains`` positive numbers of units in a
    lattice step: one for each component, or one for all. If ``sizes``, each component u is then
    replaced by |u|^power. Norms are (sum of |u|^power)^(1/power), power 1 or 2.

    Examples
    --------
    >>> scaling = VectorScaling((2,), (4.0, 1.0))
    >>> scaling.view(Lattice(-8.0, 8.0, 1.0)).seen(np.array([[1.2, 3.0]]))
    array([[-4.,  1.]])
    """

    centre: tuple[int, ...]
    gains: tuple[float, ...]
    sizes: bool = False
    power: int = 2

    def __post_init__(self) -> None:
        if not all(math.isfinite(gain) and gain > 0 for gain in self.gains):
            raise InvalidArgument("gains must be positive finite numbers")

    def clipped(self, radius: int) -> VectorScaling:
        """Return the scaling in which a norm of ``radius`` is :data:`BOUND`."""
        factor = BOUND / radius
        factor = factor ** (1 / self.power) if self.sizes else factor
        return replace(self, gains=tuple(gain * factor for gain in self.gains))

    def longest(self, lattice: Lattice, width: int) -> float:
        """Return a norm that no row of ``width`` components exceeds."""
        gains = np.array(self.gains * (width // len(self.gains)))
        return float(lattice.width * (gains**self.power).sum() ** (1 / self.power))

    def view(self, lattice: Lattice | None) -> ScaledRows:
        if lattice is None:
            raise InvalidArgument("vectors need a range: lattice must not be None")
        return ScaledRows(self, lattice)


class ScaledRows:
    """A scaling on a lattice; it measures rows in arrays that the next call overwrites."""

    def __init__(self, scaling: VectorScaling, lattice: Lattice) -> None:
        if lattice.step < _FINEST:
            raise InvalidArgument(
                f"step={lattice.step!r} is too fine for vectors: give a range or a step in which "
                "the step is at least 2^-900"
            )
        centre = np.array(scaling.centre, dtype=np.float64)
        self._lo, self._hi = lattice.lo, lattice.hi
        self._magic = 1.5 * 2.0**52 * lattice.step
        self._lower = _one_or_all(self._magic + centre * lattice.step)
        self._gains = _one_or_all(np.array(scaling.gains) / lattice.step)
        self._power, self._sizes = scaling.power, scaling.sizes
        ends = np.minimum(lattice.last - centre, centre - lattice.first) * lattice.step
        nearest = float((self._gains * ends).min())
        self._safe = nearest**scaling.power if scaling.sizes else nearest
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
            v[far] = shortened(rows, self._power)
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


def shortened(u: Floats, power: int) -> Floats:
    """Return rows of integers of norm at most :data:`BOUND`, from rows that are longer."""
    factors = BOUND * (1 - 2 * slack(u.shape[1], power)) / norms(u, power)
    v = np.trunc(u * factors[:, None])
    # The factor makes room for the error of the norm; the guarantee rests on this line alone.
    v[size(v, power) > BOUND**power] = 0.0
    return v


def _one_or_all(numbers: Floats) -> Floats | np.float64:
    """One number for all components is faster than an array of one."""
    return numbers if len(numbers) > 1 else numbers[0]


S = TypeVar("S", bound=AdditiveSummary)


class RowPass(Generic[S]):
    """One pass that adds up what a function makes of every block of rows, the first without rows.

    If the width of rows is public it is the first field of the summary.
    """

    reads = True

    def __init__(
        self,
        summary: type[S],
        of_block: Callable[[Any], tuple[Any, ...]],
        blocks: Callable[[Floats], Iterable[Any]] = lambda x: (x,),
    ) -> None:
        self._summary, self._of_block, self._blocks = summary, of_block, blocks
        self._width = 0
        self._sums: tuple[Any, ...] = ()

    def update(self, x: Floats, /) -> None:
        self._width = x.shape[1]
        if self._width > MOST_COLUMNS:
            raise InvalidArgument(
                f"vectors have at most {MOST_COLUMNS:,} components, got {self._width:,}"
            )
        for block in self._blocks(x):
            found = self._of_block(block)
            both = zip(self._sums, found, strict=True)
            self._sums = tuple(a + b for a, b in both) if self._sums else found

    def finish(self) -> S:
        width = (self._width,) if "width" in self._summary.public else ()
        sums = (a if isinstance(a, int) else tuple(a.tolist()) for a in self._sums)
        return self._summary(*width, *sums)


@dataclass(frozen=True, slots=True)
class ClippedVectors(Reduction["VectorSummary"]):
    """Sums rows clipped to a radius, in integers.

    Each row adds integers whose norm is at most :data:`~modicum.summaries.vectors.BOUND`, which
    stands for the radius. One row more or less moves the sum by no more than that. The radius is
    released or public, positive, in the scaling's units.
    """

    scaling: VectorScaling
    radius: int

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise InvalidArgument(f"the radius must be positive, got {self.radius}")

    @property
    def scaled(self) -> VectorScaling:
        """The scaling in whose units the sum is counted."""
        return self.scaling.clipped(self.radius)

    def begin(
        self, lattice: Lattice | None, _rows: Rows | None = None, /
    ) -> RowPass[VectorSummary]:
        view = self.scaled.view(lattice)

        def summed(x: Floats) -> tuple[int, Integers]:
            # Integers of at most 2^26: sums in float64 are exact for up to 2^27 rows, and those of
            # a pass are below 2^63 for up to 2^36 rows; more are in parts.
            return len(x), (np.ones(len(x)) @ view.clipped(x)).astype(np.int64)

        return RowPass(VectorSummary, summed)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VectorSummary(AdditiveSummary):
    """The number of rows and the sum of their clipped integers by component, both sensitive."""

    kind: ClassVar[str] = "vectors"

    count: int
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NormCounts(Reduction["NormSummary"]):
    """Counts the rows whose norm in a scaling exceeds each of some radii.

    The radii are positive and increasing, in the scaling's units.
    """

    scaling: VectorScaling
    radii: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.radii or self.radii[0] <= 0 or sorted(set(self.radii)) != [*self.radii]:
            raise InvalidArgument(f"radii must be positive and increase, got {self.radii}")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> RowPass[NormSummary]:
        view, power = self.scaling.view(lattice), self.scaling.power
        radii = np.array(self.radii, dtype=np.float64)

        def between(x: Floats) -> tuple[Integers]:
            """[mean_vector.11] Place rows by rounded norms; near a radius, by exact ones."""
            near = 4 * slack(x.shape[1], power)
            u, size = view.measured(x)
            rough = np.sqrt(size) if power == 2 else size
            places = radii.searchsorted(rough * (1 - near))
            unsure = places != radii.searchsorted(rough * (1 + near))
            if unsure.any():
                places[unsure] = radii.searchsorted(norms(u[unsure], power))
            return (np.bincount(places, minlength=len(radii) + 1),)

        return RowPass(NormSummary, between)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormSummary(AdditiveSummary):
    """Sensitive numbers of rows between radii, and the public number of components of a row.

    ``between`` counts the rows whose norm is at most the first radius; beyond it and at most the
    second; ...; beyond the last.
    """

    public: ClassVar[tuple[str, ...]] = ("width",)
    kind: ClassVar[str] = "norms"

    width: int
    between: tuple[int, ...]

    @property
    def count(self) -> int:
        return sum(self.between)

    @property
    def outside(self) -> tuple[int, ...]:
        """For each radius, the rows beyond it."""
        beyond = np.cumsum(self.between[::-1])[::-1][1:]
        return tuple(beyond.tolist())


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
    def scaling(self) -> VectorScaling:
        """The scaling that gives (q - origin) / 2^shift."""
        return VectorScaling((self.origin,), (2.0**-self.shift,))

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

    def begin(
        self, lattice: Lattice | None, _rows: Rows | None = None, /
    ) -> RowPass[RotatedSummary]:
        if lattice is None:
            raise InvalidArgument("rotated rows need a range: lattice must not be None")
        thresholds = np.array(self.thresholds, dtype=np.float64)
        view = functools.cache(lambda width: Rotation.of(lattice, width).scaling.view(lattice))

        def below(x: Floats) -> tuple[int, Integers]:
            whole = np.rint(view(x.shape[1]).seen(x))
            turned = Rotation.of(lattice, x.shape[1]).turned(whole)
            return len(x), (turned <= thresholds).sum(axis=0)

        return RowPass(RotatedSummary, below)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RotatedSummary(AdditiveSummary):
    """The number of rows, and of those at most a threshold in each rotated coordinate.

    ``width`` is the number of components of a row before the rotation; it is public, the counts are
    sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("width",)
    kind: ClassVar[str] = "rotated"

    width: int
    count: int
    below: tuple[int, ...]


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
