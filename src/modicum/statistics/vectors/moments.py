"""First and second moments of several columns together, with no bounds to guess.

Four steps, one budget (docs/research/proofs/moments.md; the labels are the same):

[moments.1] count      a noisy count drives the schedule;
[moments.2] intervals  for each column, one interval that holds most of it: a centre and a
                       half-width; or none; then how many rows are far from it;
[moments.5] size       how large the rows are in these units: a threshold with a public share beyond
                       it, and noisy numbers of rows with a value cut off, and of what their squares
                       lose;
[moments.7] products   the sum of the outer products of rows, the constant 1 among their components,
                       shrunk to that size.

The first two are in ``standardised.py``. A covariance, principal components and a linear regression
follow from the last one. :class:`Touched` and what stands after it bound what released moments may
be off by: noise, rows that were shrunk, values that were cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum import errors
from modicum.exact.lattice import Lattice
from modicum.mechanisms import additive, scores
from modicum.mechanisms.exponential import Exponential
from modicum.privacy.budget import Budget
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases import status
from modicum.releases.array_release import ArrayRelease, Floats
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec
from modicum.statistics.tails import outside, tail_index
from modicum.statistics.vectors import standardised
from modicum.stored.codec import storable
from modicum.summaries import base, cells, second_moments

_ONE_IN_TEN = 1.65  # standard deviations that noise exceeds once in ten, upwards or downwards
PLAIN = second_moments.Weights(count=20, mean=10, square=20, product=20)
# With one half-width for all columns rows are some half-widths long, whatever their number.
_COMMON, _LONG = second_moments.Weights(count=10, mean=10, square=20, product=20), 5
_SIZE = Fraction(1, 20)
_ENOUGH_SIZE, _SURE = 100.0, 16.0  # ε times all rows, or times those that are to be beyond it
_HALVINGS = range(-4, 11)  # thresholds, in half powers of two below a typical size


@storable
@dataclass(frozen=True, slots=True)
class CutOff:
    """What is known of values further than two half-widths, at which they are cut off.

    ``inside`` and ``outside`` are noisy numbers of records without and with such a value;
    ``squares`` noisy sums of what was cut off the squares of each column, up to twice the square at
    which they are cut, in units of ``1 / FINE``. The standard deviation of the noise of the numbers
    is ``deviation``, that of ``squares`` ``MOST_CUT`` times as large.
    """

    inside: int
    outside: int
    squares: tuple[int, ...]
    deviation: float


@storable
@dataclass(frozen=True, slots=True)
class Moments:
    """Released moments of rows in units of their own half-widths.

    ``scaling`` has the centres and half-widths (``common``: one half-width for all columns), and
    ``count`` is the first noisy number of records. ``sums`` are noisy sums of products, of the
    constant 1 first: the upper triangle, row by row, in units of 2^-32; ``deviations`` are the
    standard deviations of their noise, in these units; it is Laplace if ``norm`` is "l1". The share
    of the records that was to be shrunk, ``beyond``, and what was cut off are of use for intervals
    of moments; a regression does without.
    """

    labels: tuple[str, ...]
    lattice: Lattice
    scaling: second_moments.Scaling
    state: standardised.ColumnState
    count: int
    norm: second_moments.Norm
    sums: tuple[int, ...]
    deviations: tuple[float, ...]
    beyond: float | None = None
    cut: CutOff | None = None
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
        return self.scaling.units(self.lattice)

    @property
    def location(self) -> Floats:
        """Means in the unit of the data."""
        return self.scaling.middles(self.lattice) + self.means * self.units

    @property
    def summary(self) -> dict[str, object]:
        """Numbers as JSON types, of whatever follows from the moments."""
        found: dict[str, object] = {
            "rows": self.count,
            "half_widths": self.units.tolist(),
            "means": self.location.tolist(),
        }
        if self.cut is not None:
            found |= {"share_shrunk": self.beyond, "rows_cut_off": self.cut.outside}
        return found | {"share_far": self.state.share_far}

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
        return found & ~self.state.lost

    def _matrix(self, upper: Sequence[float]) -> Floats:
        width = len(self.labels) + 1
        found = np.zeros((width, width))
        found[np.triu_indices(width)] = [each / second_moments.ONE**2 for each in upper]
        return found + np.triu(found, 1).T


class OfMoments:
    """Base of error models that hold moments, with the warnings of ``releases/status.py``."""

    __slots__ = ()
    noise_apart: ClassVar[bool] = True
    moments: Moments

    @property
    def lattice(self) -> Lattice:
        """Of all columns."""
        return self.moments.lattice

    @property
    def few_seen(self) -> bool:
        rows, noise = self.moments.products[0, 0], self.moments.noise[0, 0]
        return status.hardly_seen(float(rows), _ONE_IN_TEN * float(noise))

    @property
    def in_steps(self) -> tuple[float, ...]:
        """Half-widths of the columns that rise above the noise, in steps."""
        units = self.moments.units[self.moments.seen(1.0)] / self.moments.lattice.step
        return tuple(units.tolist())

    @property
    def condition(self) -> str:
        return CONDITION

    def to_dict(self) -> dict[str, object]:
        return self.moments.summary


def moments_of(
    row: spec.Row[spec.Chosen, ArrayRelease],
    columns: base.Columns,
    lattice: Lattice | None,
    cost: Budget,
    options: spec.Chosen,
) -> Query[ArrayRelease]:
    """Build the query of what follows from moments; a release takes only so many columns."""
    if columns.names is not None and len(columns.names) > cells.MOST_COLUMNS:
        raise errors.InvalidArgument(
            f"at most {cells.MOST_COLUMNS} columns together, got {len(columns.names)}"
        )
    return row.query(columns, lattice, cost, options)


def exact_values(numbers: Floats) -> tuple[Fraction, ...]:
    """Return the components in C order."""
    return tuple(Fraction(each) for each in numbers.ravel().tolist())


def noisy_moments(scaled: standardised.StandardisedColumns) -> Steps[Moments]:
    """Release first and second moments for all that is left of the budget."""
    split, n0 = scaled.split, scaled.count
    row_norm = second_moments.RowNorm(scaled.state.norm, _COMMON if scaled.common else PLAIN)
    bounds = row_sizes(row_norm, _LONG if scaled.common else scaled.width + 1)
    beyond = _share_beyond(float(split.scale) * n0, scaled.width)
    share = min(_SIZE, split.part_for_range(max(_ENOUGH_SIZE, _SURE / beyond) / n0))
    sizes = yield from read(
        scaled.ask(second_moments.RowNormCounts(scaled.scaling, row_norm, bounds))
    )
    score = scores.TargetScore(sizes.beyond, round(beyond * n0))
    law_of_size = split.spend(Exponential(score, *split.share(share).ranged))  # [moments.5]
    bound = bounds[(yield from draw("size of the rows", law_of_size))]
    cut = yield from _cut_off(split, sizes, scaled.saved)
    moments = yield from noisy_products(scaled, row_norm, bound, split.rest())
    return replace(moments, beyond=beyond, cut=cut)


def row_sizes(row_norm: second_moments.RowNorm, width: int) -> tuple[int, ...]:
    """Thresholds of the size of rows, decreasing, about that of so many ones."""
    typical = row_norm.typical(width)
    return tuple(math.isqrt(typical**2 << 4 >> half + 4) for half in _HALVINGS)


def noisy_products(
    scaled: standardised.StandardisedColumns,
    row_norm: second_moments.RowNorm,
    bound: int,
    share: Share,
) -> Steps[Moments]:
    """[moments.7] [moments.11] Release products of rows that are shrunk to a size."""
    sums = yield from read(
        scaled.ask(second_moments.SecondMoments(scaled.scaling, row_norm, bound))
    )
    upper = np.triu_indices(scaled.width + 1)
    each = tuple(row_norm.weights.matrix(scaled.width + 1)[upper].tolist())
    law = scaled.split.spend(
        additive.add_noise(sums.totals, share, sensitivity=bound, weights=each)
    )
    noisy = yield from draw("products", law)
    return Moments(
        scaled.labels,
        scaled.lattice,
        scaled.scaling,
        scaled.state,
        scaled.count,
        scaled.state.norm,
        noisy,
        tuple(math.sqrt(z.variance) for z in law.noise),
        common=scaled.common,
    )


def _cut_off(
    split: BudgetSplit, sizes: second_moments.RowNormSummary, saved: Fraction
) -> Steps[CutOff]:
    """[moments.6] Count what is cut off: a tenth of what the intervals saved goes to each."""
    share = standardised.COUNTED + saved / 10
    sides = split.spend(additive.add_noise(sizes.sides, split.share(share), sensitivity=1))
    inside, outside = yield from draw("rows without and with a value cut off", sides)
    lost = split.spend(
        additive.add_noise(sizes.squares, split.share(share), sensitivity=second_moments.MOST_CUT)
    )
    squares = yield from draw("squares cut off", lost)
    return CutOff(inside, outside, squares, math.sqrt(sides.noise[0].variance))


def _share_beyond(scale: float, width: int) -> float:
    """Share of the rows to be shrunk: much if the noise dominates, next to none if it does not.

    80 (d + 1) / (ε n), found by simulation over tables of 5 to 50 columns.
    """
    return min(0.75, 80 * width / scale)


CONDITION = outside.ALLOWS
CHANCE_COUNTED = 0.3
"""Part of the chance of a miss that goes to the numbers of rows and of squares cut off."""

SECOND = 2  # tails of this index or heavier have no second moment


def noise_size(deviations: Floats, norm: second_moments.Norm, chance: float) -> float:
    """[moments.15] Bound the largest eigenvalue in size of a symmetric matrix of independent noise.

    The smaller of two bounds, which depend on the deviations alone. Its mean is about twice the
    largest root of the sum of a row's variances (Bandeira and van Handel 2016), and it is a
    function of normal entries with the Lipschitz constant sqrt(2) times their largest deviation.
    And if all entries are within so many deviations, it is within so many times theirs.
    """
    size = len(deviations)
    rows = np.hypot.reduce(deviations, axis=1).max(initial=0.0)
    largest = deviations.max(initial=0.0)
    of_rows = 2 * rows + math.sqrt(2) * standardised.noise_quantile(norm, chance / 2) * largest
    each = standardised.noise_quantile(norm, chance / (size * (size + 1)))
    return float(min(of_rows, each * np.abs(np.linalg.eigvalsh(deviations)).max(initial=0.0)))


@dataclass(frozen=True, slots=True)
class Touched:
    """Upper ends of the shares of rows that were shrunk or cut off, under an assumption.

    [moments.17]: values fall off like a power of index ``tail``, or faster: so do squares, with
    half the index; and a share s of the rows holds at most s^(1 - 2/tail) of a sum of squares, in
    any direction. Without a tail the bounds are for the rows as shrunk and cut off, and all are 0.

    ``shrunk`` is the weight that rows have lost, as a share of their number, and ``cut`` the share
    of rows with a value cut off. ``squares`` is what was cut off the squares of each column, per
    row, in half-widths, as far as counted: ``noise`` is the standard deviation of the noise of
    each, and ``times`` how many of these are to be added.
    """

    shrunk: float
    cut: float
    squares: Floats
    noise: float
    times: float
    tail: float | None

    @property
    def lost(self) -> float:
        """What shrunk rows lost, at most so many times a sum of squares; may be infinite."""
        if self.tail is None:
            return 0.0
        return _odds(self.shrunk ** max(1 - 2 / self.tail, 0.0))

    def missing(self, summed: Floats, means: Floats) -> Floats:
        """[moments.18] Bound what sums of products of deviations miss, per row, in half-widths."""
        size = len(summed)
        if self.tail is None:
            return np.zeros((size, size))
        if self.tail <= SECOND:
            return np.full((size, size), np.inf)
        lost = np.sqrt(self._shrunk(summed, means))
        beyond = np.sqrt(self._beyond * (self.squares + self.times * self.noise))
        kept = np.sqrt(self.cut) * (second_moments.CLIP + np.abs(means))
        held = kept * math.sqrt(self.tail / (self.tail - SECOND))
        crossed = np.outer(beyond, kept)
        counted = crossed + crossed.T + np.outer(beyond, beyond)
        np.fill_diagonal(counted, beyond**2)
        found: Floats = np.outer(lost, lost) + np.minimum(counted, np.outer(held, held))
        return found

    def missing_size(self, summed: Floats, means: Floats, units: Floats) -> float:
        """[moments.19] Bound the largest eigenvalue of the missing matrix, in the data's units."""
        if self.tail is None:
            return 0.0
        if self.tail <= SECOND:
            return math.inf
        noise = self.times * self.noise * float(np.hypot.reduce(units**2))
        beyond = self._beyond * (float(self.squares @ units**2) + noise)
        kept = self.cut * float((second_moments.CLIP + np.abs(means)) ** 2 @ units**2)
        held = kept * self.tail / (self.tail - SECOND)
        lost = float(self._shrunk(summed, means) @ units**2)
        return lost + min(beyond + 2 * math.sqrt(beyond * kept), held)

    @property
    def _beyond(self) -> float:
        assert self.tail is not None
        return power_law(self.tail)

    def _shrunk(self, summed: Floats, means: Floats) -> Floats:
        """A row lost at most its weight times the largest square, or [moments.17]."""
        most = self.shrunk * (second_moments.CLIP + np.abs(means)) ** 2
        return most if math.isinf(self.lost) else np.minimum(most, self.lost * summed)


def touched(moments: Moments, tail: float | None, chance: float) -> Touched:
    """Bound them from released numbers, all at once but for a chance [moments.16]."""
    assert moments.cut is not None
    squares = np.array(moments.cut.squares) / second_moments.FINE
    if tail is None:
        return Touched(0.0, 0.0, np.zeros_like(squares), 0.0, 0.0, None)
    times = standardised.noise_quantile(moments.norm, chance / (2 + len(squares)))
    slack = times * moments.cut.deviation
    counted = moments.cut.inside + moments.cut.outside
    rows = max(counted - math.sqrt(2) * slack, 1.0)
    less = counted - float(moments.products[0, 0])
    unsure = times * math.hypot(math.sqrt(2) * moments.cut.deviation, moments.noise[0, 0])
    shrunk = max(less, 0.0) + unsure
    cut = max(moments.cut.outside, 0) + slack
    return Touched(
        min(shrunk / rows, 1.0),
        min(cut / rows, 1.0),
        np.maximum(squares, 0.0) / rows,
        moments.cut.deviation * second_moments.MOST_CUT / second_moments.FINE / rows,
        times,
        tail,
    )


def power_law(tail: float) -> float:
    """All squares that were cut off, over those that are counted, by the power law [moments.17]."""
    return 1 / (1 - math.pow(second_moments.REACH, 1 - tail / 2)) if tail > SECOND else math.inf


def covered(tail: float | None) -> str:
    """Say what intervals for all rows cover."""
    if tail is None:
        return "covers the noise, for the rows as they were shrunk and cut off, and no more."
    return (
        "covers the noise, to first order, and what was shrunk or cut off, of which the share is "
        f"known up to noise, if large values are rare: {tail_index.rare(tail)}."
    )


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf
