"""Rows of several columns in units of their own widths, their size, and their outer products.

A row becomes a vector of integers. The first is the constant 1. The others are the values less a
released centre, in units of 2^-16 of a released half-width. A value further than two half-widths is
moved to two, and one further than eight to the centre. Each vector is a function of its row alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import (
    Fields,
    Integers,
    Quantiser,
    Reduction,
    Rows,
    Sensitive,
    pack,
    quantised,
)

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


@dataclass(frozen=True, slots=True)
class Frame:
    """Released centres, and half-widths 2^shift, of every column in lattice steps."""

    centres: tuple[int, ...]
    shifts: tuple[int, ...]

    def units(self, lattice: Lattice) -> NDArray[np.float64]:
        """Half-widths in the unit of the data."""
        found: NDArray[np.float64] = np.ldexp(lattice.step, np.array(self.shifts))
        return found

    def middles(self, lattice: Lattice) -> NDArray[np.float64]:
        """Centres in the unit of the data."""
        return np.array([lattice.value(each) for each in self.centres], dtype=np.float64)

    def rows(self, q: Integers) -> Integers:
        """Turn lattice integers of shape (m, d) into vectors of shape (m, d + 1).

        Examples
        --------
        >>> q = np.array([[10], [9], [0], [60], [75]])
        >>> (Frame((10,), (3,)).rows(q) / ONE).tolist()
        [[1.0, 0.0], [1.0, -0.125], [1.0, -1.25], [1.0, 2.0], [1.0, 0.0]]
        """
        shifts = np.array(self.shifts, dtype=np.int64)
        z = q - np.array(self.centres, dtype=np.int64)
        # Towards zero; what is left of a far value does not matter, but must not overflow.
        size = np.where(self.far(q), 0, np.abs(z))
        size = (size >> np.maximum(shifts - BITS, 0)) << np.maximum(BITS - shifts, 0)
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

    def cut_off(self, q: Integers) -> tuple[int, Integers]:
        """Count the rows with a value cut off, and sum what their squares lose.

        Squares count up to :data:`REACH` times that at which they are cut, in units of 1 /
        :data:`FINE` and rounded up; what one row adds is at most :data:`MOST_CUT` in all.

        Examples
        --------
        >>> count, squares = Frame((10,), (3,)).cut_off(np.array([[10], [26], [27], [75]]))
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
    of squares and products of values; ``2 square >= product``. ``goal`` is of products with the
    last column, ``goal_mean`` of its product with the constant, and ``goal_square`` of its square;
    all three are 0 if no column is a goal.
    """

    count: int
    mean: int
    square: int
    product: int
    goal: int = 0
    goal_mean: int = 0
    goal_square: int = 0

    def matrix(self, width: int) -> Integers:
        """Weights of all products of a vector of some width, the constant included."""
        found = np.full((width, width), self.product, dtype=np.int64)
        np.fill_diagonal(found, self.square)
        found[0], found[:, 0], found[0, 0] = self.mean, self.mean, self.count
        if self.goal:
            found[-1], found[:, -1] = self.goal, self.goal
            found[0, -1] = found[-1, 0] = self.goal_mean
            found[-1, -1] = self.goal_square
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

    def sizes(self, vectors: Integers) -> NDArray[np.float64] | Integers:
        """Size of every vector: exact in L1 norm, from above in L2 norm.

        Components are at most 2 ONE, so that no sum overflows for up to 2^12 columns.
        """
        w, one = self.weights, vectors[:, 0]
        last = len(vectors[0]) - (w.goal > 0) if len(vectors) else 1
        x = np.abs(vectors[:, 1:last])
        y = np.abs(vectors[:, -1]) if w.goal else np.zeros(len(vectors), dtype=np.int64)
        if self.norm == "l1":
            total, squares = x.sum(axis=1), (x * x).sum(axis=1)
            # (total² - squares) / 2 is the sum of all products of two columns, an integer.
            found: Integers = (
                w.count * one * one
                + w.mean * one * total
                + w.product * ((total * total - squares) // 2)
                + w.square * squares
                + w.goal_mean * one * y
                + w.goal * total * y
                + w.goal_square * y * y
            )
            return found
        # Sums of squares are exact integers below 2^53; fourth powers are rounded up.
        ones, ys = one.astype(np.float64) ** 2, y.astype(np.float64) ** 2
        squares = (x * x).sum(axis=1).astype(np.float64)
        coarse = (x + ((1 << _COARSE) - 1)) >> _COARSE
        fourth = (coarse**4).sum(axis=1).astype(np.float64) * 2.0 ** (4 * _COARSE)
        # Every term is positive, so the sum is exact to a relative error far below `_UP` - 1.
        total2 = w.count**2 * ones**2 + w.mean**2 * ones * squares
        total2 += w.product**2 / 2 * squares**2 + (w.square**2 - w.product**2 / 2) * fourth
        total2 += w.goal_mean**2 * ones * ys + w.goal**2 * squares * ys
        total2 += w.goal_square**2 * ys**2
        sizes: NDArray[np.float64] = np.sqrt(total2) * _UP
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
class RowNormCounts(Reduction["RowNormSummary"]):
    """Counts the rows that exceed each of some public sizes, and what is cut off."""

    frame: Frame
    row_norm: RowNorm
    bounds: tuple[int, ...]

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _RowNormPass:
        return _RowNormPass(self, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowNormSummary(Sensitive):
    """Number of rows beyond each size, without and with a value cut off, and squares (sensitive).

    The squares are those of :meth:`Frame.cut_off`.
    """

    beyond: tuple[int, ...]
    sides: tuple[int, ...]
    squares: tuple[int, ...]

    def merge(self, other: Self) -> RowNormSummary:
        self._check_same(other)
        return RowNormSummary(
            _added(self.beyond, other.beyond),
            _added(self.sides, other.sides),
            _added(self.squares, other.squares),
        )

    def to_bytes(self) -> bytes:
        return pack("gauge-counts", *map(_packed, (self.beyond, self.sides, self.squares)))

    @classmethod
    def from_bytes(cls, data: bytes) -> RowNormSummary:
        fields = Fields("gauge-counts", data)
        beyond, sides, squares = (tuple(fields.array().tolist()) for _ in range(3))
        fields.end()
        return cls(beyond, sides, squares)


def _added(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _packed(numbers: tuple[int, ...]) -> Integers:
    return np.array(numbers, dtype=np.int64)


class _RowNormPass:
    reads = True

    def __init__(self, asked: RowNormCounts, quantiser: Quantiser) -> None:
        self._asked, self._quantiser = asked, quantiser
        self._beyond = [0] * len(asked.bounds)
        self._rows = self._outside = 0
        self._squares = np.zeros(len(asked.frame.centres), dtype=np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for q in quantised(self._quantiser, x):
            outside, squares = self._asked.frame.cut_off(q)
            self._rows += len(q)
            self._outside += outside
            self._squares += squares
            sizes = self._asked.row_norm.sizes(self._asked.frame.rows(q))
            for place, bound in enumerate(self._asked.bounds):
                self._beyond[place] += int((sizes > bound).sum())

    def finish(self) -> RowNormSummary:
        sides = (self._rows - self._outside, self._outside)
        return RowNormSummary(tuple(self._beyond), sides, tuple(self._squares.tolist()))


@dataclass(frozen=True, slots=True)
class OuterProducts(Reduction["OuterSummary"]):
    """Sums the outer products of rows whose size is clipped to a released or public bound."""

    frame: Frame
    row_norm: RowNorm
    bound: int

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _OuterPass:
        return _OuterPass(self, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OuterSummary(Sensitive):
    """The exact upper triangle of a sum of outer products, row by row (sensitive)."""

    products: tuple[int, ...]

    def merge(self, other: Self) -> OuterSummary:
        self._check_same(other)
        return OuterSummary(_added(self.products, other.products))

    def to_bytes(self) -> bytes:
        return pack("outer-products", len(self.products), *self.products)

    @classmethod
    def from_bytes(cls, data: bytes) -> OuterSummary:
        fields = Fields("outer-products", data)
        summary = cls(tuple(fields.integer() for _ in range(fields.integer())))
        fields.end()
        return summary


class _OuterPass:
    reads = True

    def __init__(self, asked: OuterProducts, quantiser: Quantiser) -> None:
        self._asked, self._quantiser = asked, quantiser
        self._sums = np.zeros(0, dtype=np.object_)

    def update(self, x: NDArray[np.float64], /) -> None:
        upper = np.triu_indices(x.shape[1] + 1)
        if not len(self._sums):
            self._sums = np.zeros(len(upper[0]), dtype=np.object_)
        for start in range(0, len(x), _ROWS):
            for q in quantised(self._quantiser, x[start : start + _ROWS]):
                vectors = self._asked.row_norm.clipped(self._asked.frame.rows(q), self._asked.bound)
                # Components are at most 2^17: 2^13 products of two stay below 2^53.
                floats = vectors.astype(np.float64)
                self._sums += (floats.T @ floats)[upper].astype(np.int64).astype(np.object_)

    def finish(self) -> OuterSummary:
        return OuterSummary(tuple(int(each) for each in self._sums))


WHOLE = 1 << 10
"""What one row adds to the counts of all columns, at most."""


@dataclass(frozen=True, slots=True)
class FarCounts(Reduction["FarSummary"]):
    """Counts the rows that are far in each column, by :meth:`Frame.far`.

    A row that is far in k columns adds ``WHOLE // k`` to each of them.
    """

    frame: Frame

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _FarPass:
        return _FarPass(self.frame, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FarSummary(Sensitive):
    """The counts, in units of 1 / ``WHOLE`` (sensitive)."""

    counts: Integers

    def merge(self, other: Self) -> FarSummary:
        self._check_same(other)
        return FarSummary(self.counts + other.counts)

    def to_bytes(self) -> bytes:
        return pack("far-counts", self.counts)

    @classmethod
    def from_bytes(cls, data: bytes) -> FarSummary:
        fields = Fields("far-counts", data)
        summary = cls(fields.array())
        fields.end()
        return summary


class _FarPass:
    reads = True

    def __init__(self, frame: Frame, quantiser: Quantiser) -> None:
        self._frame, self._quantiser = frame, quantiser
        self._counts = np.zeros(len(frame.centres), dtype=np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for q in quantised(self._quantiser, x):
            far = self._frame.far(q)
            far = far[far.any(axis=1)]
            self._counts += (far * (WHOLE // far.sum(axis=1, keepdims=True))).sum(axis=0)

    def finish(self) -> FarSummary:
        return FarSummary(self._counts)


@dataclass(frozen=True, slots=True)
class HeldRows(Reduction["RowsSummary"]):
    """Holds all rows of ``width`` columns, rounded to the lattice: 8 bytes a number."""

    holds_rows = True

    width: int

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _RowsPass:
        return _RowsPass(self.width, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsSummary(Sensitive):
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
        return pack("held-rows", self.rows.shape[1], self.rows.ravel())

    @classmethod
    def from_bytes(cls, data: bytes) -> RowsSummary:
        fields = Fields("held-rows", data)
        width = fields.integer()
        rows = fields.array().reshape(-1, width)
        fields.end()
        return cls(rows)


class _RowsPass:
    reads = True

    def __init__(self, width: int, quantiser: Quantiser) -> None:
        self._width, self._quantiser = width, quantiser
        self._kept: list[Integers] = [np.empty((0, width), dtype=np.int64)]

    def update(self, x: NDArray[np.float64], /) -> None:
        if x.shape[1:] != (self._width,):
            found = x.shape[1] if x.ndim > 1 else 1
            raise InvalidArgument(f"the statistic is of {self._width} columns, got {found}")
        self._kept += quantised(self._quantiser, x)

    def finish(self) -> RowsSummary:
        return RowsSummary(_in_order(np.concatenate(self._kept)))


def _in_order(rows: Integers) -> Integers:
    return rows[np.lexsort(rows.T[::-1])]
