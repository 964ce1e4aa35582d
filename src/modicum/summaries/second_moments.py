"""Rows of several columns in units of their own widths, their size, and their outer products.

A row becomes a vector of integers. The first is the constant 1. The others are the values less a
released centre, in units of 2^-16 of a released half-width. A value further than two half-widths is
moved to two, and one further than eight to the centre. Each vector is a function of its row alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.stored.codec import storable
from modicum.summaries import base
from modicum.summaries.base import Integers
from modicum.summaries.vectors import Floats, RowPass

BITS = 16
ONE = 1 << BITS
"""A half-width, and the constant 1."""

CLIP = 2
"""Half-widths from a centre at which values are cut off."""

REACH = 2
"""Times the square of a value at which it is cut off, up to which its own square is counted."""

FINE = 16
"""Parts of the square of a half-width in which that is counted."""

MOST_CUT = (REACH - 1) * CLIP**2 * FINE
"""What one row adds to the squares that were cut off, at most: a value's, in all columns."""

FAR = 8
_LAST = math.sqrt(REACH) * CLIP
_ROWS = 1 << 13  # of products below 2^34: a float64 holds their sum exactly
_COARSE = 4  # bits left out of fourth powers, so that their sum fits int64
_TIMES = 3  # the size of a shrunk vector is from above again, by a thousandth or so
_DOWN = 1 - 2.0**-10
_UP = 1 + 2.0**-30  # more than what a dozen roundings take away

Norm = Literal["l1", "l2"]


@storable
@dataclass(frozen=True, slots=True)
class Scaling:
    """Released centres, and half-widths 2^shift, of every column in lattice steps."""

    centres: tuple[int, ...]
    shifts: tuple[int, ...]

    def units(self, lattice: Lattice) -> Floats:
        """Half-widths in the unit of the data."""
        found: Floats = np.ldexp(lattice.step, np.array(self.shifts))
        return found

    def middles(self, lattice: Lattice) -> Floats:
        """Centres in the unit of the data."""
        return np.array([lattice.value(each) for each in self.centres], dtype=np.float64)

    def rows(self, q: Integers) -> Integers:
        """Turn lattice integers of shape (m, d) into vectors of shape (m, d + 1).

        Examples
        --------
        >>> q = np.array([[10], [9], [0], [60], [75]])
        >>> (Scaling((10,), (3,)).rows(q) / ONE).tolist()
        [[1.0, 0.0], [1.0, -0.125], [1.0, -1.25], [1.0, 2.0], [1.0, 0.0]]
        """
        z, size, _ = self.distances(q, BITS, FAR)
        vectors = np.empty((len(q), q.shape[1] + 1), dtype=np.int64)
        vectors[:, 0] = ONE
        np.minimum(size, CLIP * ONE, out=vectors[:, 1:])
        vectors[:, 1:] *= np.sign(z)
        return vectors

    def far(self, q: Integers) -> NDArray[np.bool_]:
        """Return which values are further than eight half-widths from the centre."""
        z = q - np.array(self.centres, dtype=np.int64)
        found: NDArray[np.bool_] = np.abs(z) >> np.array(self.shifts, dtype=np.int64) >= FAR
        return found

    def distances(
        self, q: Integers, bits: int, limit: int
    ) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Subtract the centres; return sizes in units of 2^-bits half-widths, too, towards zero.

        The last are values at ``limit`` half-widths or beyond: they have size 0.
        """
        shifts = np.array(self.shifts, dtype=np.int64)
        z = q - np.array(self.centres, dtype=np.int64)
        size = np.abs(z)
        far = size >> shifts >= limit
        size = np.where(far, 0, size)  # what is far must not overflow
        return z, (size >> np.maximum(shifts - bits, 0)) << np.maximum(bits - shifts, 0), far

    def cut_off(self, q: Integers) -> tuple[int, Integers]:
        """Count the rows with a value cut off, and sum what their squares lose.

        Squares count up to :data:`REACH` times that at which they are cut, in units of 1 /
        :data:`FINE` and rounded up; what one row adds is at most :data:`MOST_CUT` in all.

        Examples
        --------
        >>> count, squares = Scaling((10,), (3,)).cut_off(np.array([[10], [26], [27], [75]]))
        >>> count, (squares / FINE).round(2).tolist()
        (2, [4.56])
        """
        z, shifts = np.abs(q - np.array(self.centres, dtype=np.int64)), np.array(self.shifts)
        # Beyond CLIP half-widths, that is z > CLIP << shift; rows without are left out.
        beyond = z - 1 >> shifts >= CLIP
        touched = beyond.any(axis=1)
        z = z[touched]
        far = z >> shifts >= FAR
        size = np.minimum(np.ldexp(z.astype(np.float64), -shifts), _LAST)
        kept = np.where(far, 0.0, np.minimum(size, CLIP))
        lost = np.ceil((size**2 - kept**2) * FINE).astype(np.int64)
        total = np.maximum(lost.sum(axis=1, keepdims=True), MOST_CUT)
        return len(lost), (lost * MOST_CUT // total).sum(axis=0)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of product counts in a row's size: more weight means less noise.

    ``count`` is of the constant, ``mean`` of its products with values, ``square`` and ``product``
    of squares and products of values; ``2 square >= product``.
    """

    count: int
    mean: int
    square: int
    product: int

    def matrix(self, width: int) -> Integers:
        """Weights of all products of a vector of some width, the constant included."""
        found = np.full((width, width), self.product, dtype=np.int64)
        np.fill_diagonal(found, self.square)
        found[0], found[:, 0], found[0, 0] = self.mean, self.mean, self.count
        return found


@dataclass(frozen=True, slots=True)
class RowNorm:
    """The weighted size of a row's outer product: of its upper triangle, in L1 or in L2 norm."""

    norm: Norm
    weights: Weights

    def typical(self, width: int) -> int:
        """Size of a vector of ones."""
        weights = np.triu(self.weights.matrix(width)).ravel().tolist()
        if self.norm == "l1":
            return sum(weights) * ONE**2
        return math.isqrt(sum(weight**2 for weight in weights)) * ONE**2

    def sizes(self, vectors: Integers) -> Floats | Integers:
        """Size of every vector: exact in L1 norm, from above in L2 norm.

        Components are at most 2 ONE, so that no sum overflows for up to 2^12 columns.
        """
        w, one, x = self.weights, vectors[:, 0], np.abs(vectors[:, 1:])
        if self.norm == "l1":
            total, squares = x.sum(axis=1), (x * x).sum(axis=1)
            # (total² - squares) / 2 is the sum of all products of two columns, an integer.
            found: Integers = (
                w.count * one * one
                + w.mean * one * total
                + w.product * ((total * total - squares) // 2)
                + w.square * squares
            )
            return found
        # Sums of squares are exact integers below 2^53; fourth powers are rounded up.
        ones = one.astype(np.float64) ** 2
        squares = (x * x).sum(axis=1).astype(np.float64)
        coarse = (x + ((1 << _COARSE) - 1)) >> _COARSE
        fourth = (coarse**4).sum(axis=1).astype(np.float64) * 2.0 ** (4 * _COARSE)
        # Every term is positive, so the sum is exact to a relative error far below `_UP` - 1.
        total2 = w.count**2 * ones**2 + w.mean**2 * ones * squares
        total2 += w.product**2 / 2 * squares**2 + (w.square**2 - w.product**2 / 2) * fourth
        sizes: Floats = np.sqrt(total2) * _UP
        return sizes

    def clipped(self, vectors: Integers, bound: int) -> Integers:
        """Shrink vectors, the constant included, whose size exceeds a bound.

        Every component is rounded towards zero, and the size is computed again from the integers: a
        vector that would still exceed the bound counts as nothing. See [moments.10].
        """
        shrunk = vectors
        for _ in range(_TIMES):
            sizes = np.asarray(self.sizes(shrunk), dtype=np.float64)
            room = np.where(sizes > bound, _DOWN * bound / np.maximum(sizes, 1.0), 1.0)
            factors = np.sqrt(room)
            shrunk = np.trunc(shrunk * factors[:, None]).astype(np.int64)
        shrunk[self.sizes(shrunk) > bound] = 0
        return shrunk


@dataclass(frozen=True, slots=True)
class RowNormCounts(base.Reduction["RowNormSummary"]):
    """Counts the rows that exceed each of some public sizes, and what is cut off."""

    scaling: Scaling
    row_norm: RowNorm
    bounds: tuple[int, ...]

    def begin(
        self, lattice: Lattice | None, _rows: base.Rows | None = None, /
    ) -> RowPass[RowNormSummary]:
        bounds = np.array(self.bounds)[:, None]

        def counted(q: Integers) -> tuple[Integers, Integers, Integers]:
            outside, squares = self.scaling.cut_off(q)
            beyond = (self.row_norm.sizes(self.scaling.rows(q)) > bounds).sum(axis=1)
            return beyond, np.array([len(q) - outside, outside]), squares

        return RowPass(RowNormSummary, counted, on_lattice(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowNormSummary(base.AdditiveSummary):
    """Number of rows beyond each size, without and with a value cut off, and squares (sensitive).

    The squares are those of :meth:`Scaling.cut_off`.
    """

    kind: ClassVar[str] = "row-norms"

    beyond: tuple[int, ...]
    sides: tuple[int, ...]
    squares: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowTotals(base.AdditiveSummary):
    """Exact totals over all rows (sensitive)."""

    kind: ClassVar[str] = "row-totals"

    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SecondMoments(base.Reduction[RowTotals]):
    """Sums the outer products of rows whose size is clipped to a released or public bound.

    The totals are the upper triangle, row by row.
    """

    scaling: Scaling
    row_norm: RowNorm
    bound: int

    def begin(
        self, lattice: Lattice | None, _rows: base.Rows | None = None, /
    ) -> RowPass[RowTotals]:
        upper = np.triu_indices(len(self.scaling.centres) + 1)

        def summed(q: Integers) -> tuple[NDArray[np.object_]]:
            sums = np.zeros(len(upper[0]), dtype=np.int64)
            for start in range(0, len(q), _ROWS):
                rows = self.scaling.rows(q[start : start + _ROWS])
                # Components are at most 2^17: 2^13 products of two stay below 2^53.
                vectors = self.row_norm.clipped(rows, self.bound).astype(np.float64)
                sums += (vectors.T @ vectors)[upper].astype(np.int64)
            return (sums.astype(np.object_),)

        return RowPass(RowTotals, summed, on_lattice(lattice))


WHOLE = 1 << 10
"""What one row adds to the counts of all columns, at most."""


@dataclass(frozen=True, slots=True)
class FarCounts(base.Reduction[RowTotals]):
    """Counts the rows that are far in each column, by :meth:`Scaling.far`.

    A row that is far in k columns adds ``WHOLE // k`` to each of their totals.
    """

    scaling: Scaling

    def begin(
        self, lattice: Lattice | None, _rows: base.Rows | None = None, /
    ) -> RowPass[RowTotals]:
        def counted(q: Integers) -> tuple[Integers]:
            far = self.scaling.far(q)
            far = far[far.any(axis=1)]
            return ((far * (WHOLE // far.sum(axis=1, keepdims=True))).sum(axis=0),)

        return RowPass(RowTotals, counted, on_lattice(lattice))


@dataclass(frozen=True, slots=True)
class RowsInMemory(base.Reduction["RowsSummary"]):
    """Holds all rows of ``width`` columns, rounded to the lattice: 8 bytes a number."""

    holds_rows = True

    width: int

    def begin(self, lattice: Lattice | None, _rows: base.Rows | None = None, /) -> _RowsPass:
        return _RowsPass(self.width, base.Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsSummary(base.Sensitive):
    """The rows, in an order that does not depend on how they came.

    ``rows`` has shape (n, width): lattice integers, sorted by the first column, then by the second,
    and so on (sensitive).
    """

    rows: Integers

    def merge(self, other: Self) -> RowsSummary:
        self._check_same(other)
        if self.rows.shape[1] != other.rows.shape[1]:
            raise InvalidArgument("cannot merge rows of different widths")
        return RowsSummary(_in_order(np.concatenate([self.rows, other.rows])))

    def to_bytes(self) -> bytes:
        return base.pack("rows", self.rows.shape[1], self.rows.ravel())

    @classmethod
    def from_bytes(cls, data: bytes) -> RowsSummary:
        fields = base.Fields("rows", data)
        width = fields.integer()
        rows = fields.array().reshape(-1, width)
        fields.end()
        return cls(rows)


class _RowsPass:
    reads = True

    def __init__(self, width: int, quantiser: base.Quantiser) -> None:
        self._width, self._quantiser = width, quantiser
        self._kept: list[Integers] = [np.empty((0, width), dtype=np.int64)]

    def update(self, x: Floats, /) -> None:
        if x.shape[1:] != (self._width,):
            found = x.shape[1] if x.ndim > 1 else 1
            raise InvalidArgument(f"the statistic is of {self._width} columns, got {found}")
        self._kept += base.quantised(self._quantiser, x)

    def finish(self) -> RowsSummary:
        return RowsSummary(_in_order(np.concatenate(self._kept)))


def _in_order(rows: Integers) -> Integers:
    return rows[np.lexsort(rows.T[::-1])]


def on_lattice(lattice: Lattice | None) -> Callable[[Floats], list[Integers]]:
    """Round rows to lattice integers, in blocks; of no rows there is a block without any."""
    quantiser = base.Quantiser(lattice)
    return lambda x: base.quantised(quantiser, x) or [np.empty(x.shape, dtype=np.int64)]


# ---- Losses of many public linear fits, each row adding at most a public amount


FIT_BITS = 12
"""Bits of a slope behind the point."""

RESIDUAL = 1 << 10
"""Parts of a half-width of the explained column in which residuals count."""

_ROW = 12  # bits of a row behind the point
_FAR_ROW = 1 << 10  # half-widths; a fit that uses a column that far away has its full loss
_LARGEST = 1 << 18  # a component of a fit: 2^22 of a row times this, for 500 columns, is below 2^49
_DICE = 12  # bytes whose sum is all but normal
_MEAN, _DEVIATION = 1530, 256  # 12 · 255 / 2 and the root of 12 · (2^16 - 1) / 12
_BLOCK = 1 << 20  # residuals at a time


@dataclass(frozen=True, slots=True)
class FitList:
    """A public list of ``size`` fits around one of them, ``middle``, which is the first.

    ``spread`` is the standard deviation of the components of the others, in units of 2^-12; every
    second one has half of it, or twice as much. Only the first ``free`` components differ from the
    middle, and of these not the ``idle`` ones. Each ``number`` gives another list.
    """

    middle: tuple[int, ...]
    spread: int
    size: int
    number: int
    free: int
    idle: tuple[int, ...] = ()

    def fits(self) -> Integers:
        """Return the fits, shape (size, number of components).

        Their steps are sums of dice from SHAKE-256 of a fixed text: the same everywhere, and chosen
        before any data. Privacy does not depend on where they are.

        Examples
        --------
        >>> FitList((0, 4096), 400, 4, 0, 2).fits().tolist()
        [[0, 4096], [-319, 3988], [-715, 3074], [-566, 3108]]
        """
        text = f"modicum: list {self.number} of fits".encode()
        dice = np.frombuffer(
            hashlib.shake_256(text).digest(self.size * len(self.middle) * _DICE), dtype=np.uint8
        ).reshape(self.size, len(self.middle), _DICE)
        steps = (dice.sum(axis=2, dtype=np.int64) - _MEAN) * self.spread
        # Of every eight in a row the last four leave about half of the components as they are.
        steps *= (np.arange(self.size) % 8 < 4)[:, None] | (dice[:, :, 0] & 1 == 1)
        # Half the spread, once, twice, once, and so on.
        steps *= np.array([2, 1, 2, 4])[np.arange(self.size) % 4][:, None]
        steps //= 2 * _DEVIATION
        steps[0], steps[:, self.free :], steps[:, list(self.idle)] = 0, 0, 0
        found: Integers = np.clip(steps + np.array(self.middle), -_LARGEST, _LARGEST)
        return found


@dataclass(frozen=True, slots=True)
class FitLosses(base.Reduction[RowTotals]):
    """Sums the squared residuals of every fit of a list, each residual clipped to a cap.

    The cap is in units of 1 / :data:`RESIDUAL`; a row adds at most its square to a loss. Residuals
    are exact integers: sums of float64 numbers below 2^53, in any order.
    """

    scaling: Scaling
    fits: FitList
    cap: int

    def begin(
        self, lattice: Lattice | None, _rows: base.Rows | None = None, /
    ) -> RowPass[RowTotals]:
        fits = self.fits.fits().T.astype(np.float64)
        used = fits[1:] != 0
        size = max(1, _BLOCK // self.fits.size)

        def summed(q: Integers) -> tuple[Integers]:
            losses = np.zeros(self.fits.size, dtype=np.int64)
            for start in range(0, len(q), size):
                z, near, far = self.scaling.distances(q[start : start + size], _ROW, _FAR_ROW)
                rows = np.copysign(np.where(far, _FAR_ROW << _ROW, near).astype(np.float64), z)
                left = rows[:, :-1] @ fits[1:]
                left += np.ldexp(fits[0], _ROW)
                left -= np.ldexp(rows[:, -1:], FIT_BITS)
                # Whole numbers up to the cap from here on: sums of squares are exact too.
                np.abs(left, out=left)
                left *= RESIDUAL * 2.0 ** -(FIT_BITS + _ROW)
                np.minimum(np.rint(left, out=left), self.cap, out=left)
                beyond = far[:, :-1].any(axis=1)
                left[beyond] = np.where(far[beyond, :-1] @ used, self.cap, left[beyond])
                losses += np.einsum("ij,ij->j", left, left).astype(np.int64)
            return (losses,)

        return RowPass(RowTotals, summed, on_lattice(lattice))
