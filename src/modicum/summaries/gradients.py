"""Rows along released directions, their products, and what they pull a released fit with.

A row's coordinates are the constant 1 and the row along released directions, in which rows are
about one standard deviation long. Covariances follow from their products. A gradient is the
residual of a linear fit times the coordinates: least squares is where gradients add up to zero, so
their sum at another fit says how far away that is, once the products are known. All is a function
of one row, and exact up to the last product: docs/research/proofs/regression.md, [regression.4] to
[regression.7].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.stored.codec import storable
from modicum.summaries.base import AdditiveSummary, Integers, Reduction, Rows
from modicum.summaries.second_moments import BITS, FIT_BITS, RowNorm, RowTotals, Scaling, on_lattice
from modicum.summaries.vectors import BOUND, Floats, RowPass, norms, shortened, size

REACH = 1 << 8
"""Half-widths at which values are cut off here."""

LARGEST = 1 << 18
"""Size of a number of a fit or of a direction, at most, in units of 2^-12."""

WHOLE = 1 << 12
"""Units of a coordinate in products."""

LONGEST = 1 << 5
"""Size of a coordinate in products, at most: 2^17 units, as :class:`RowNorm` asks for."""

ROOT = 1 << 15
"""Units of a gradient of norm :data:`BOUND` along a direction, of which squares are added."""

PARTS = 16
"""Parts of a squared coordinate in which the size of what products lost is counted."""

_UNIT = 2.0 ** -(BITS + FIT_BITS)
_ROWS = 1 << 13  # rows at a time: of products below 2^34 a float64 holds their sum exactly


class Along(Protocol):
    """Rows along released directions, each a constant and coefficients in units of 2^-12."""

    @property
    def directions(self) -> tuple[tuple[int, ...], ...]: ...

    def rows(self, q: Integers) -> Floats:
        """Coordinates of rows of lattice integers, of the constant first."""


@storable
@dataclass(frozen=True, slots=True)
class RowView:
    """Rows along directions of all columns.

    Examples
    --------
    >>> view = RowView(Scaling((0, 0), (3, 3)), ((0, 1 << 13, 0), (1 << 12, 0, 1 << 12)))
    >>> view.rows(np.array([[8, 8], [8, 24], [-8, 0]])).tolist()
    [[1.0, 2.0, 2.0], [1.0, 2.0, 4.0], [1.0, -2.0, 1.0]]
    """

    scaling: Scaling
    directions: tuple[tuple[int, ...], ...]

    def rows(self, q: Integers) -> Floats:
        """Coordinates, of the constant first."""
        return _along(_half_widths(self.scaling, q), self.directions)


@storable
@dataclass(frozen=True, slots=True)
class GradientView:
    """Rows along directions, and what a fit leaves of the explained column, the last one.

    ``fit`` is an intercept and slopes in half-widths, and each of ``directions`` a constant and
    coefficients of the explaining columns, all in units of 2^-12. Residuals are multiplied with
    ``gain``; ``power`` is that of the norm of gradients. All of it is released.
    """

    scaling: Scaling
    fit: tuple[int, ...]
    directions: tuple[tuple[int, ...], ...]
    gain: float
    power: int

    def seen(self, q: Integers) -> tuple[Floats, Floats]:
        """Coordinates, of the constant first, and residuals times the gain, as a column.

        Examples
        --------
        >>> view = GradientView(Scaling((0, 0), (3, 3)), (0, 1 << 12), ((0, 1 << 13),), 1.0, 1)
        >>> rows, left = view.seen(np.array([[8, 8], [8, 24], [-8, 0]]))
        >>> rows.tolist(), left.ravel().tolist()
        ([[1.0, 2.0], [1.0, 2.0], [1.0, -2.0]], [0.0, 2.0, 1.0])
        """
        x = _half_widths(self.scaling, q)
        fit = np.array(self.fit, dtype=np.float64)
        left = np.ldexp(x[:, -1], FIT_BITS) - np.ldexp(fit[0], BITS) - x[:, :-1] @ fit[1:]
        return _along(x[:, :-1], self.directions), left[:, None] * (_UNIT * self.gain)

    def rows(self, q: Integers) -> Floats:
        """Coordinates, of the constant first."""
        return _along(_half_widths(self.scaling, q)[:, :-1], self.directions)

    def gradients(self, q: Integers) -> Floats:
        """Residuals times coordinates; each product is rounded once."""
        rows, left = self.seen(q)
        return rows * left


def _half_widths(scaling: Scaling, q: Integers) -> Floats:
    """Values in half-widths from the centres, in units of 2^-16; further than 256 is 256.

    These integers below 2^25, times others of at most 2^18, for up to 500 columns, add up to less
    than 2^53: sums are exact in float64, in any order [regression.4].
    """
    z, near, far = scaling.distances(q, BITS, REACH)
    x = np.where(far, REACH << BITS, near).astype(np.float64)
    return np.copysign(x, z, out=x)


def _along(x: Floats, directions: tuple[tuple[int, ...], ...]) -> Floats:
    """Coordinates of rows in units of 2^-16 half-widths, of the constant first."""
    table = np.array(directions, dtype=np.float64).reshape(-1, x.shape[1] + 1)
    rows = np.empty((len(x), len(table) + 1))
    rows[:, 0] = 1.0
    rows[:, 1:] = x @ table[:, 1:].T + np.ldexp(table[:, 0], BITS)
    rows[:, 1:] *= _UNIT
    return rows


def vectors(rows: Floats) -> Integers:
    """Coordinates as integers, rounded towards zero, in units of 1 / :data:`WHOLE`.

    A row with one beyond :data:`LONGEST` is shrunk as a whole.
    """
    long = np.abs(rows).max(axis=1, keepdims=True) / LONGEST
    found: Integers = np.trunc(rows / np.maximum(long, 1.0) * WHOLE).astype(np.int64)
    return found


@dataclass(frozen=True, slots=True)
class GradientCounts(Reduction[RowTotals]):
    """Counts the rows whose gradient is longer than each of some increasing radii."""

    view: GradientView
    radii: tuple[int, ...]

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> RowPass[RowTotals]:
        def counted(q: Integers) -> Integers:
            return _beyond(norms(self.view.gradients(q), self.view.power), self.radii)

        return _pass(len(self.radii), counted, lattice)


@dataclass(frozen=True, slots=True)
class SizeCounts(Reduction[RowTotals]):
    """Counts the rows whose vector has a larger size than each of some increasing bounds."""

    view: Along
    row_norm: RowNorm
    bounds: tuple[int, ...]

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> RowPass[RowTotals]:
        def counted(q: Integers) -> Integers:
            return _beyond(self.row_norm.sizes(vectors(self.view.rows(q))), self.bounds)

        return _pass(len(self.bounds), counted, lattice)


@dataclass(frozen=True, slots=True)
class GradientSums(Reduction[RowTotals]):
    """Sums the gradients, each clipped to norm :data:`BOUND`, as integers."""

    view: GradientView

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> RowPass[RowTotals]:
        def summed(q: Integers) -> Integers:
            total: Integers = self.clipped(self.view.gradients(q)).sum(axis=0)
            return total

        return _pass(len(self.view.directions) + 1, summed, lattice)

    def clipped(self, u: Floats) -> Integers:
        """[regression.5] Round gradients to integers; shorten those beyond the bound."""
        power = self.view.power
        found = np.rint(u)
        far = size(found, power) > BOUND**power
        found[far] = shortened(u[far], power)
        whole: Integers = found.astype(np.int64)
        return whole


@dataclass(frozen=True, slots=True)
class GradientSquares(Reduction[RowTotals]):
    """Sums the squares of clipped gradients along some ways, as integers [regression.10].

    Each of the ``ways`` has a coefficient for each number of a gradient, in units of 2^-12. A row's
    squares add up to at most ``most``, in squares of ``BOUND / ROOT``: those of a row that exceed
    it count as nothing.
    """

    gradients: GradientSums
    ways: tuple[tuple[int, ...], ...]
    most: int

    @classmethod
    def along(cls, view: GradientView, ways: tuple[tuple[int, ...], ...]) -> GradientSquares:
        """Take the least bound that no row exceeds: |L g|² is at most |g|² times that of L'L."""
        table = np.ldexp(np.array(ways, dtype=np.float64), -FIT_BITS)
        largest = float(np.linalg.eigvalsh(table.T @ table)[-1])
        return cls(GradientSums(view), ways, math.ceil(largest * (1 + 1e-9) * ROOT**2))

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> RowPass[RowTotals]:
        table = np.array(self.ways, dtype=np.float64).T * 2.0**-FIT_BITS * (ROOT / BOUND)

        def summed(q: Integers) -> Integers:
            return self.squares(self.gradients.clipped(self.gradients.view.gradients(q)), table)

        return _pass(len(self.ways), summed, lattice)

    def squares(self, clipped: Integers, table: Floats) -> Integers:
        """Add up squares. Sums of products of integers below 2^27 and 2^13 are exact."""
        along = np.trunc(clipped.astype(np.float64) @ table).astype(np.int64)
        squares = along * along
        squares[squares.sum(axis=1) > self.most] = 0
        total: Integers = squares.sum(axis=0)
        return total


@dataclass(frozen=True, slots=True)
class ProductSums(Reduction["ProductTotals"]):
    """Sums the products of coordinates of rows that are shrunk to a size, and what that loses.

    ``bound`` is the size by ``row_norm``. Lost are products too, of what is left of rows; the
    squared length of what a row adds there is at most ``most``.
    """

    view: Along
    row_norm: RowNorm
    bound: int
    most: int

    def begin(
        self, lattice: Lattice | None, _rows: Rows | None = None, /
    ) -> RowPass[ProductTotals]:
        width = len(self.view.directions) + 1
        upper = np.triu_indices(width)
        # Components are at most 2^17, and those of what is lost at most the root of ``most`` in
        # units: products of two, for so many rows, stay below 2^53.
        size = min(_ROWS, max(1, 2**53 // (self.most * WHOLE**2)))

        def summed(q: Integers) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
            products, lost = np.zeros((2, len(upper[0])), dtype=np.int64)
            for start in range(0, len(q), size):
                rows = self.view.rows(q[start : start + size])
                whole = vectors(rows)
                kept = self.row_norm.clipped(whole, self.bound)
                products += _products(kept)[upper]
                touched = (kept != whole).any(axis=1) | (np.abs(rows) > LONGEST).any(axis=1)
                lost += _products(self.lost(rows[touched], kept[touched] / WHOLE))[upper]
            return products.astype(np.object_), lost.astype(np.object_)

        return RowPass(ProductTotals, summed, on_lattice(lattice))

    def lost(self, a: Floats, b: Floats) -> Integers:
        """[regression.7] Vectors along the rows a, whose squared length bounds what a a' - b b' is.

        Its eigenvalues are ((a - b)'(a + b) ± |a - b| |a + b|) / 2. Components are rounded towards
        zero, and the length is computed again from the integers.
        """
        most = self.most
        long = np.minimum(norms(a - b) * norms(a + b), most)
        scale = WHOLE * np.sqrt(long) / np.maximum(norms(a), 1.0)
        found: Integers = np.trunc(a * scale[:, None]).astype(np.int64)
        found[(found * found).sum(axis=1) > most * WHOLE**2] = 0
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProductTotals(AdditiveSummary):
    """Sums of products, the upper triangle row by row, and of what they lost (sensitive)."""

    kind: ClassVar[str] = "product-totals"

    products: tuple[int, ...]
    lost: tuple[int, ...]

    @property
    def lost_size(self) -> int:
        """[regression.7] The Frobenius norm of what products lost, in parts, rounded down.

        A matrix more of some norm moves it by that norm at most.
        """
        width = (math.isqrt(8 * len(self.lost) + 1) - 1) // 2
        diagonal = {place * width - place * (place - 1) // 2 for place in range(width)}
        squares = sum(
            each * each * (1 if place in diagonal else 2) for place, each in enumerate(self.lost)
        )
        return math.isqrt(squares) // (WHOLE**2 // PARTS)


def _products(rows: Integers) -> Integers:
    short = rows.astype(np.float64)
    found: Integers = (short.T @ short).astype(np.int64)
    return found


def _beyond(numbers: NDArray[Any], limits: tuple[int, ...]) -> Integers:
    """How many numbers exceed each of some increasing limits."""
    places = np.array(limits).searchsorted(numbers)
    found: Integers = len(numbers) - np.bincount(places, minlength=len(limits) + 1).cumsum()[:-1]
    return found


def _pass(width: int, of_rows: Any, lattice: Lattice | None) -> RowPass[RowTotals]:
    """Add up what a function makes of a few rows."""

    def summed(q: Integers) -> tuple[NDArray[np.object_]]:
        total = np.zeros(width, dtype=np.int64)
        for start in range(0, len(q), _ROWS):
            total += of_rows(q[start : start + _ROWS])
        return (total.astype(np.object_),)

    return RowPass(RowTotals, summed, on_lattice(lattice))
