"""First and second moments of several columns together, with no bounds to guess.

Four steps, one budget (docs/proofs/moments.md; the labels are the same):

[W1] count      a noisy count drives the schedule;
[W2] intervals  for each column, one interval that holds most of it: a centre and a half-width;
                or none; then how many rows are far from it;
[W3] size       how large the rows are in these units: a threshold with a public share beyond it,
                and noisy numbers of rows with a value cut off, and of what their squares lose;
[W4] products   the sum of the outer products of rows, the constant 1 among their components,
                shrunk to that size.

A covariance, principal components and a linear regression follow from the last one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.statistics.held_columns import HeldColumns
from modicum.statistics.placed import COUNTED, PlacedColumns
from modicum.statistics.purse import Purse
from modicum.statistics.split import share_of
from modicum.status import unseen
from modicum.steps import Steps, draw, need
from modicum.summaries.second_moments import (
    MOST_CUT,
    ONE,
    Frame,
    Gauge,
    GaugeCounts,
    GaugeSummary,
    Norm,
    OuterProducts,
    Weights,
)

__all__ = ["CutOff", "Moments", "OfMoments", "noisy_moments"]

Floats = NDArray[np.float64]

_ONE_IN_TEN = 1.65  # standard deviations that noise exceeds once in ten, upwards or downwards
_PLAIN = Weights(count=20, mean=10, square=20, product=20)
# A regression can do with much noisier products of its predictors: a penalty takes their place.
_GOAL: Mapping[Norm, Weights] = {
    "l1": Weights(count=20, mean=10, square=20, product=6, goal=40, goal_mean=40, goal_square=12),
    "l2": Weights(count=20, mean=10, square=20, product=6, goal=80, goal_mean=40, goal_square=12),
}
# With one half-width for all columns rows are some half-widths long, whatever their number.
_COMMON, _LONG = Weights(count=10, mean=10, square=20, product=20), 5
_SIZE = Fraction(1, 20)
_ENOUGH_SIZE, _SURE = 100.0, 16.0  # ε times all rows, or times those that are to be beyond it
_HALVINGS = range(-4, 11)  # thresholds, in half powers of two below a typical size


@dataclass(frozen=True, slots=True)
class CutOff:
    """What is known of values further than two half-widths, at which they are cut off.

    Attributes
    ----------
    inside, outside : int
        Noisy numbers of records without and with such a value.
    squares : tuple of int
        Noisy sums of what was cut off the squares of each column, up to twice the square at
        which they are cut, in units of ``1 / FINE``.
    deviation : float
        Standard deviation of the noise of the numbers of records; that of ``squares`` is
        ``MOST_CUT`` times as large.
    """

    inside: int
    outside: int
    squares: tuple[int, ...]
    deviation: float


@dataclass(frozen=True, slots=True)
class Moments:
    """Released moments of rows in units of their own half-widths.

    Attributes
    ----------
    labels : tuple of str
        Of the columns.
    lattice : Lattice
    frame : Frame
        Centres and half-widths.
    held : HeldColumns
    count : int
        The first noisy number of records.
    beyond : float
        The share of the records that was to be shrunk.
    cut : CutOff
    norm : {"l1", "l2"}
        The kind of noise: Laplace or Gaussian.
    sums : tuple of int
        Noisy sums of products, of the constant 1 first: the upper triangle, row by row, in units
        of 2^-32.
    deviations : tuple of float
        Standard deviations of their noise, in these units.
    common : bool
        Whether all columns have one half-width.
    """

    labels: tuple[str, ...]
    lattice: Lattice
    frame: Frame
    held: HeldColumns
    count: int
    beyond: float
    cut: CutOff
    norm: Norm
    sums: tuple[int, ...]
    deviations: tuple[float, ...]
    common: bool = False

    @property
    def products(self) -> Floats:
        """Noisy sums of products, shape (d + 1, d + 1), of the constant 1 first."""
        return self._matrix(self.sums)

    @property
    def noise(self) -> Floats:
        """Standard deviations of their noise."""
        return self._matrix(self.deviations)

    @property
    def weight(self) -> float:
        """Effective number of rows, at least 1 and at least its noise."""
        return max(float(self.products[0, 0]), float(self.noise[0, 0]), 1.0)

    @property
    def means(self) -> Floats:
        """Means in half-widths from the centres; no row is further than two."""
        found: Floats = np.clip(self.products[0, 1:] / self.weight, -2.0, 2.0)
        return found

    @property
    def scatter(self) -> Floats:
        """Sums of products of deviations from the means, in half-widths."""
        means = self.means
        found: Floats = self.products[1:, 1:] - self.weight * np.outer(means, means)
        return found

    @property
    def units(self) -> Floats:
        """Half-widths in the unit of the data."""
        return self.frame.units(self.lattice)

    @property
    def location(self) -> Floats:
        """Means in the unit of the data."""
        return self.frame.middles(self.lattice) + self.means * self.units

    @property
    def summary(self) -> dict[str, object]:
        """Numbers as JSON types, of whatever follows from the moments."""
        return {
            "rows": self.count,
            "half_widths": self.units.tolist(),
            "means": self.location.tolist(),
            "share_shrunk": self.beyond,
            "rows_cut_off": self.cut.outside,
            "share_far": self.held.share_far,
        }

    def scatter_noise(self, rows: Floats | float = 0.0) -> Floats:
        """Standard deviations of the noise of :attr:`scatter`, to first order.

        With M the products, m the sums and n the rows, M_ij - m_i m_j / n has the noise of
        M_ij - (m_j / n) m_i - (m_i / n) m_j + (m_i m_j / n²) n. All are independent, but m_i and
        m_j are one on the diagonal. ``rows`` is what n moves besides, in size.
        """
        means, first = np.abs(self.means), self.noise[0, 1:]
        crossed = np.outer(means, first)
        both = crossed**2 + crossed.T**2 + np.diag(2 * np.diag(crossed) ** 2)
        moved = ((np.outer(means, means) + rows) * self.noise[0, 0]) ** 2
        found: Floats = np.sqrt(self.noise[1:, 1:] ** 2 + both + moved)
        return found

    def seen(self, threshold: float) -> NDArray[np.bool_]:
        """Tell the columns that are not lost and whose spread exceeds its noise so many times.

        A column whose interval missed it is constant, in its units, and is not seen.
        """
        noise = np.diag(self.scatter_noise())
        found: NDArray[np.bool_] = np.diag(self.scatter) > threshold * noise
        return found & ~self.held.lost

    def _matrix(self, upper: Sequence[float]) -> Floats:
        width = len(self.labels) + 1
        found = np.zeros((width, width))
        found[np.triu_indices(width)] = [each / ONE**2 for each in upper]
        return found + np.triu(found, 1).T


class OfMoments:
    """What evidence that holds moments may warn of, see :func:`~modicum.status.judged`."""

    __slots__ = ()
    moments: Moments

    @property
    def lattice(self) -> Lattice:
        """Of all columns."""
        return self.moments.lattice

    @property
    def none_seen(self) -> bool:
        """Whether the released number of rows cannot be told from 0."""
        rows, noise = self.moments.products[0, 0], self.moments.noise[0, 0]
        return unseen(float(rows), _ONE_IN_TEN * float(noise))

    @property
    def in_steps(self) -> tuple[float, ...]:
        """Half-widths of the columns that rise above the noise, in steps."""
        units = self.moments.units[self.moments.seen(1.0)] / self.moments.lattice.step
        return tuple(units.tolist())


def noisy_moments(placed: PlacedColumns, *, goal: bool) -> Steps[Moments]:
    """Release first and second moments.

    Parameters
    ----------
    placed : PlacedColumns
        The draws spend all that is left of its purse.
    goal : bool
        Whether the last column is to be explained by the others: its products are then the most
        accurate.
    """
    purse, frame, width, n0 = placed.purse, placed.frame, placed.width, placed.count
    weights = _COMMON if placed.common else _GOAL[purse.norm] if goal else _PLAIN
    gauge = Gauge(purse.norm, weights)
    typical = gauge.typical(_LONG if placed.common else width + 1)
    bounds = tuple(math.isqrt(typical**2 << 4 >> half + 4) for half in _HALVINGS)
    beyond = _share_beyond(float(purse.scale) * n0, width)
    share = min(_SIZE, share_of(purse, max(_ENOUGH_SIZE, _SURE / beyond) / n0))
    sizes = yield from need(placed.ask(GaugeCounts(frame, gauge, bounds)))
    law_of_size = purse.beyond(sizes.beyond, target=round(beyond * n0), share=share)  # [W3]
    bound = bounds[(yield from draw("size of the rows", law_of_size))]
    cut = yield from _cut_off(purse, sizes, placed.saved)

    sums = yield from need(placed.ask(OuterProducts(frame, gauge, bound)))
    upper = np.triu_indices(width + 1)
    each = tuple(weights.matrix(width + 1)[upper].tolist())
    final = purse.weighted(sums.products, each, bound=bound)  # [W4]
    noisy = yield from draw("products", final)
    deviations = tuple(math.sqrt(z.variance) for z in final.noise)
    return Moments(
        placed.labels,
        placed.lattice,
        frame,
        placed.held,
        n0,
        beyond,
        cut,
        purse.norm,
        noisy,
        deviations,
        placed.common,
    )


def _cut_off(purse: Purse, sizes: GaugeSummary, saved: Fraction) -> Steps[CutOff]:
    """Count what is cut off; a tenth of what the intervals have saved goes to each number."""
    share = COUNTED + saved / 10
    sides = purse.noisy(sizes.sides, sensitivity=1, share=share)
    inside, outside = yield from draw("rows without and with a value cut off", sides)
    lost = purse.noisy(sizes.squares, sensitivity=MOST_CUT, share=share)
    squares = yield from draw("squares cut off", lost)
    return CutOff(inside, outside, squares, math.sqrt(sides.noise[0].variance))


def _share_beyond(scale: float, width: int) -> float:
    """Share of the rows to be shrunk: much if the noise dominates, next to none if it does not.

    80 (d + 1) / (ε n), found by simulation over tables of 5 to 50 columns.
    """
    return min(0.75, 80 * width / scale)
