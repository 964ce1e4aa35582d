"""Products of coordinates of rows along released directions, and what shrinking rows took off.

A rough look at many rows says along which directions they are about one standard deviation long.
Along these, noise of one size is the same share of what any direction holds, rows that are shrunk
are few, and what they lose is counted. Linear regression and covariances of many rows share this.
Labels are those of docs/research/proofs/regression.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from modicum.mechanisms import grids, selection
from modicum.mechanisms.additive import Additive, add_noise
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.array_release import Floats
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.vectors.moments import PLAIN, Moments, noisy_products, power_law, row_sizes
from modicum.statistics.vectors.standardised import Flags, StandardisedColumns, noise_quantile
from modicum.stored.codec import storable
from modicum.summaries import gradients
from modicum.summaries.second_moments import FIT_BITS, Norm, RowNorm, RowNormCounts, Weights

_ROUGH_SIZE, _SIZE = Fraction(1, 50), Fraction(1, 25)
_NARROWEST = 2.0**-5  # half-widths: a direction with less spread is taken at this
_EQUAL = Weights(count=1, mean=1, square=1, product=1)
_SIZES = (-1, 9)  # octaves of sizes about a typical one
_FINE = 4  # of them in an octave
_HIDDEN = 2.0  # deviations of an entry of products: a column with less spread is left out
_MANY = (5.0, 1 / 4, 40.0)  # prior power of sizes: least, by squared number of coordinates, most


def rough_moments(scaled: StandardisedColumns, share: Fraction) -> Steps[Moments]:
    """[regression.1] Release products of rows in half-widths; next to no rows are shrunk.

    ``share`` is of what is left of the budget once the size of rows is drawn.
    """
    row_norm = RowNorm(scaled.state.norm, PLAIN)
    bounds = row_sizes(row_norm, scaled.width + 1)
    counts = yield from read(scaled.ask(RowNormCounts(scaled.scaling, row_norm, bounds)))
    grid = grids.RadiusGrid(bounds[::-1], tuple(range(len(bounds))))
    prior = tilt(many_products(scaled.width) / 2, 2)
    place = yield from drawn(
        scaled.split, counts.beyond[::-1], grid, prior, _ROUGH_SIZE, "size of the rows"
    )
    part = part_of_rest(scaled.split, share)
    return (yield from noisy_products(scaled, row_norm, grid.radii[place], part))


def scatter_noise_size(moments: Moments, kept: Flags) -> float:
    """Return about the largest eigenvalue of the noise of the scatter of some columns.

    That is twice the largest root of the sum of a row's variances [moments.15]; the noise of means
    counts where columns are not about the middle.
    """
    noise = moments.scatter_noise()[np.ix_(kept, kept)]
    return 2 * float(np.hypot.reduce(noise, axis=1).max(initial=0.0))


def directions(moments: Moments, kept: Flags, penalty: float) -> tuple[tuple[int, ...], ...]:
    """[regression.2] Return the roots of the inverse scatter of some columns, about their means.

    Each is a constant and coefficients of as many columns as there are flags, in half-widths, in
    units of 2^-12. Noise of the size of ``penalty`` may hide a direction.
    """
    places = np.flatnonzero(kept)
    scatter = moments.scatter[np.ix_(places, places)] / moments.weight
    values, vectors = np.linalg.eigh(scatter)
    spread = np.maximum(values, 0.0) + max(_NARROWEST**2, penalty / moments.weight)
    turn = (vectors / np.sqrt(spread)) @ vectors.T
    table = np.zeros((len(places), len(kept) + 1))
    table[:, 0], table[:, 1 + places] = -turn @ moments.means[places], turn
    return tuple(map(units, table))


def units(numbers: Floats) -> tuple[int, ...]:
    """Round to multiples of 2^-12."""
    found = np.clip(np.rint(np.ldexp(numbers, FIT_BITS)), -gradients.LARGEST, gradients.LARGEST)
    return tuple(found.astype(np.int64).tolist())


# ---- [regression.13] Columns that are left out


class Narrowed(NamedTuple):
    """Directions of some columns alone, and coordinates along them by those before, as a matrix."""

    directions: tuple[tuple[int, ...], ...]
    turn: Floats


def frame_of(directions: tuple[tuple[int, ...], ...], width: int) -> Floats:
    """Coordinates of rows (1, x), as a matrix: x in half-widths of all explaining columns."""
    first = (1 << FIT_BITS, *(0 for _ in range(width)))
    return np.ldexp(np.array([first, *directions], dtype=np.float64), -FIT_BITS)


def in_use(frame: Floats) -> Flags:
    """Tell the columns that directions have a part of."""
    found: Flags = (frame[1:, 1:] != 0).any(axis=0)
    return found


def hidden(products: Products, frame: Floats) -> Flags:
    """Tell the columns in use whose spread does not rise above the noise of products."""
    used = in_use(frame)
    rows = _rows(frame)
    moments = rows @ products.matrix @ rows.T
    spread = np.diag(moments)[1:] - moments[0, 1:] ** 2 / max(float(moments[0, 0]), 1.0)
    strength = spread / (rows[1:, 1:] ** 2).sum(axis=1)
    found: Flags = np.zeros(len(used), dtype=bool)
    found[used] = strength < _HIDDEN * products.noise
    return found


def narrowed(frame: Floats, kept: Flags) -> Narrowed:
    """Look along directions of the columns that are kept alone."""
    rows, width = _rows(frame), len(kept)
    own = rows[1:, 1:][kept[in_use(frame)]]
    values, vectors = np.linalg.eigh(own @ own.T)
    root = (vectors / np.sqrt(np.maximum(values, _NARROWEST**2 / 4))) @ vectors.T
    table = np.zeros((len(own), 1 + width))
    table[:, 0], table[:, 1 + np.flatnonzero(kept)] = root @ own @ frame[1:, 0], root
    found = tuple(map(units, table))
    return Narrowed(found, frame_of(found, width)[:, np.append(True, in_use(frame))] @ rows)


def _rows(frame: Floats) -> Floats:
    """Rows (1, x) of the columns in use by their coordinates, as a matrix."""
    used = np.append(True, in_use(frame))
    return np.asarray(np.linalg.pinv(frame[:, used]), dtype=np.float64)


# ---- Draws


class ProductSize(NamedTuple):
    """How rows are shrunk for products, and what one of them adds to the squares lost at most."""

    row_norm: RowNorm
    bound: int
    most: int

    def sums(self, view: gradients.Along) -> gradients.ProductSums:
        """Return the reduction of rows that are shrunk so."""
        return gradients.ProductSums(view, self.row_norm, self.bound, self.most)

    def shortest(self, width: int) -> float:
        """Bound the squared length of rows that are shrunk from below.

        The L1 size of v is (|v|₁² + |v|²) / 2, and |v|₁² is at most the number of coordinates times
        |v|². The square of the L2 size is half of |v|⁴ and the fourth powers, at most |v|⁴.
        """
        size = self.bound / gradients.WHOLE**2
        shortest = 2 * size / (width + 1) if self.row_norm.norm == "l1" else size
        return min(shortest, float(gradients.LONGEST**2), float(self.most))


def typical_size(norm: Norm, width: int) -> float:
    """Size of a vector of ones."""
    return (width * (width + 1) / 2) ** (1 if norm == "l1" else 1 / 2) * gradients.WHOLE**2


def product_size(
    scaled: StandardisedColumns, view: gradients.Along, many: float
) -> Steps[ProductSize]:
    """Draw the size to which rows are shrunk along the directions; ``many`` is its prior power."""
    width, norm = len(view.directions) + 1, scaled.state.norm
    row_norm = RowNorm(norm, _EQUAL)
    grid = radius_grid(typical_size(norm, width), _SIZES)
    counts = yield from read(scaled.ask(gradients.SizeCounts(view, row_norm, grid.radii)))
    place = yield from drawn(
        scaled.split,
        counts.totals,
        grid,
        tilt(many),
        _SIZE,
        "size of the rows along directions",
    )
    bound = grid.radii[place]
    # About the square of the length of a row of this size; (sum of |v|)² is about twice its L1
    # size, and d times the sum of the squares.
    square = 2 * bound / width if norm == "l1" else math.sqrt(2) * bound
    return ProductSize(row_norm, bound, math.ceil(square / gradients.WHOLE**2))


def products_along(
    split: BudgetSplit,
    found: gradients.ProductTotals,
    size: ProductSize,
    counting: Fraction,
    part: Fraction | None = None,
) -> Steps[Products]:
    """Release what products lost, for the share ``counting``, and products.

    ``part`` is that of products of what is left; without it they have all.
    """
    counted = split.spend(
        add_noise(
            (found.lost_size,), split.share(counting), sensitivity=gradients.PARTS * size.most
        )
    )  # [regression.7]
    (lost,) = yield from draw("lost by products", counted)
    share = split.rest() if part is None else part_of_rest(split, part)
    law = split.spend(add_noise(found.products, share, sensitivity=size.bound))  # [regression.6]
    noisy = yield from draw("products along directions", law)
    norm = size.row_norm.norm
    return Products(noisy, _deviation(law), lost, _deviation(counted), norm)


def drawn(
    split: BudgetSplit,
    beyond: tuple[int, ...],
    grid: grids.RadiusGrid,
    prior: Fraction,
    share: Fraction,
    label: str,
) -> Steps[int]:
    """Draw the place of a radius, by the rows beyond each; a larger one is less likely before."""
    law = split.spend(selection.RadiusDraw.of((beyond,), grid, split.share(share), tilt=prior))
    (place,) = yield from draw(label, law)
    return place


def radius_grid(typical: float, octaves: tuple[int, int]) -> grids.RadiusGrid:
    """Radii from so many octaves about a typical one up to so many, four in each."""
    places = range(octaves[0] * _FINE, octaves[1] * _FINE + 1)
    radii = (max(round(typical * 2.0 ** (place / _FINE)), 1) for place in places)
    return grids.RadiusGrid(tuple(radii), tuple(range(len(places))))


def tilt(power: float, per_octave: int = _FINE) -> Fraction:
    """Return the prior exponent of one step of a grid: a radius r has the weight r^-power."""
    return Fraction(round(power * math.log(2) / per_octave * 2**20), 2**20)


def many_products(width: int) -> float:
    """Noise of products grows with their number, and what shrinking loses does not."""
    least, squared, most = _MANY
    return min(max(squared * width**2, least), most)


def part_of_rest(split: BudgetSplit, part: Fraction) -> Share:
    """Part of what is left."""
    return split.share(Fraction(round(part * split.left / split.total * 2**24), 2**24))


def _deviation(law: Additive) -> float:
    return math.sqrt(law.noise[0].variance)


@storable
@dataclass(frozen=True, slots=True)
class Products:
    """Noisy products of coordinates, in units of 2^-24, the upper triangle row by row.

    ``lost`` is the Frobenius norm of what shrinking took off, in 16ths; ``deviation`` and
    ``lost_deviation`` are the
    standard deviations of the noise in these units, Laplace if ``norm`` is "l1".
    """

    sums: tuple[int, ...]
    deviation: float
    lost: int
    lost_deviation: float
    norm: Norm

    @property
    def matrix(self) -> Floats:
        """All of them."""
        width = (math.isqrt(8 * len(self.sums) + 1) - 1) // 2
        found = np.zeros((width, width))
        found[np.triu_indices(width)] = [each / gradients.WHOLE**2 for each in self.sums]
        return found + np.triu(found, 1).T

    @property
    def noise(self) -> float:
        """Standard deviation of an entry."""
        return self.deviation / gradients.WHOLE**2

    def turned(self, turn: Floats) -> Products:
        """[regression.13] Products of fewer coordinates, which follow from these."""
        found = turn @ self.matrix @ turn.T
        largest = float(np.linalg.norm(turn, 2)) ** 2
        upper = found[np.triu_indices(len(found))]
        scale = largest * math.sqrt(len(self.matrix) / len(found))
        return replace(
            self,
            sums=tuple(map(round, (upper * gradients.WHOLE**2).tolist())),
            deviation=self.deviation * scale,
            lost=math.ceil(self.lost * largest),
            lost_deviation=self.lost_deviation * largest,
        )

    def counted(self, chance: float) -> float:
        """Bound what was lost as far as it counts, but for a chance."""
        slack = noise_quantile(self.norm, chance) * self.lost_deviation
        return (max(self.lost, 0) + slack) / gradients.PARTS

    def missing_law(self, tail: float | None, least: float) -> tuple[float, float]:
        """What they lack by the noisy number, and its noise, as shares of the least eigenvalue."""
        factor = 0.0 if tail is None else power_law(tail) / gradients.PARTS / least
        return max(self.lost, 0) * factor, self.lost_deviation * factor

    def missing(self, tail: float | None, chance: float) -> float:
        """[regression.7] Bound the largest eigenvalue of what products lack."""
        return 0.0 if tail is None else self.counted(chance) * power_law(tail)
