"""Covariances and components of many rows: products along directions, and bounds on what they lack.

A rough look says along which directions rows are about one standard deviation long. Products along
these have noise of one size in every direction, relative to what it holds; rows are shrunk as a
whole, and what that took off is released. So intervals rest on numbers, and they are short. Labels
are those of docs/research/proofs/moments.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.additive import add_noise
from modicum.releases.array_release import Floats, Intervals
from modicum.releases.confidence import Tail, assumed_tail
from modicum.releases.status import USABLE, Status
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.vectors import covariance_error, refined_fit
from modicum.statistics.vectors.moments import SECOND, Moments, covered, noise_size
from modicum.statistics.vectors.products import (
    Products,
    ProductSize,
    directions,
    product_size,
    products_along,
    rough_moments,
    scatter_noise_size,
    typical_size,
)
from modicum.statistics.vectors.standardised import Flags, StandardisedColumns, noise_quantile
from modicum.stored.codec import storable
from modicum.summaries import gradients, second_moments

# ε n from which on directions are found, in ε and in ρ: times a power of the number of columns,
# and at least.
_ENOUGH = {False: (100.0, 2.0, 2500.0), True: (50.0, 1.5, 2500.0)}
# Shares: of what is left, of all, and of what is left; found by simulation, as all constants.
_ROUGH, _LOST, _LONG = Fraction(1, 4), Fraction(1, 5), Fraction(1, 8)
_PENALTY = 0.45  # parts of the largest eigenvalue of rough noise, about
HEAVY = Status(
    "heavy_tail",
    "so many rows are far from the rest that their tail may hold any variance: nothing bounds "
    "that by default",
)
HEAP = Status(
    "clipped",
    "some {records:,} rows are far from all others, and nothing tells how far: the answer is that "
    "of the others alone; these may be a code for missing values, or rare values of a column",
)
_PASSES, _LEAST = 3, 2.0**-20
_PRIOR = 30.0  # power of the size of rows, as rows that lose much have to be few
# Of a miss: what products lost, long rows, the size of noise, noise entry by entry.
_CHANCES = 0.15, 0.25, 0.1, 0.5
_INDEX, _HEAVIEST, _LIGHTER = 3.0, 1.1, 0.3
_NEAR_AND_FAR = 0.98, 0.02  # of a chance, for the two indexes
_CHANCE_HEAP = 0.005  # that noise alone shows a heap of rows
_LONGEST, _FURTHER = 3.0, 4  # times a typical size, at most: rows that are long, and longer
_MANY = 10.0  # halvings of a variance: so many equal parts are all but normal


def many_rows(scaled: StandardisedColumns) -> bool:
    """[moments.20] Tell from public numbers whether a rough look finds directions."""
    times, power, least = _ENOUGH[scaled.split.concentrated]
    enough = max(times * scaled.width**power, least)
    return not scaled.common and float(scaled.split.scale) * scaled.count >= enough


def refined_products(scaled: StandardisedColumns) -> Steps[tuple[Moments, Refined]]:
    """[moments.20] Spend all that is left on products along directions."""
    moments = yield from rough_moments(scaled, _ROUGH)
    kept = ~moments.state.lost
    penalty = _PENALTY * scatter_noise_size(moments, kept)
    view = gradients.RowView(scaled.scaling, directions(moments, kept, penalty))
    size = yield from product_size(scaled, view, _PRIOR)
    found = yield from read(scaled.ask(size.sums(view)))
    products = yield from products_along(scaled.split, found, size, _LOST, 1 - _LONG)
    long = yield from _long_rows(scaled, size, view, products)
    return moments, Refined(view, products, size.shortest(len(view.directions) + 1), *long)


def _long_rows(
    scaled: StandardisedColumns, size: ProductSize, view: gradients.RowView, products: Products
) -> Steps[tuple[tuple[int, ...], float]]:
    """[moments.21] Count rows of more than a size: up to four times that, 16 times, and beyond."""
    matrix, width, row_norm = products.matrix, len(view.directions) + 1, size.row_norm
    square = float(np.trace(matrix)) / max(float(matrix[0, 0]), products.noise, 1.0) / width
    typical = typical_size(row_norm.norm, width) * min(max(square, 1 / width), 1.0)
    bound = math.ceil(min(size.bound / 2, _LONGEST * typical))
    bounds = (bound, _FURTHER * bound, _FURTHER**2 * bound)
    beyond, further, furthest = (
        yield from read(scaled.ask(gradients.SizeCounts(view, row_norm, bounds)))
    ).totals
    apart = (beyond - further, further - furthest, furthest)
    law = add_noise(apart, scaled.split.rest(), sensitivity=1)
    long = yield from draw("rows that are long, and longer", scaled.split.spend(law))
    return long, math.sqrt(law.noise[0].variance)


class Noisy(NamedTuple):
    """A noisy covariance in the units of the data, and the metric in which its noise is even.

    A row is ``root`` times its coordinates, about the means, so a covariance is off by
    root E root': E has entries with the deviation ``noise`` and lacks a positive matrix. ``rows``
    is the noisy sum of their weights. Data may be divided by 2^``power``.
    """

    root: Floats
    matrix: Floats
    location: Floats
    noise: float
    rows: float
    power: int = 0

    def scaled(self) -> Noisy:
        """Return it for data divided by 2^power, so that fourth powers are floats."""
        power = math.frexp(float(np.abs(self.root).max(initial=0.0)))[1]
        root, matrix = np.ldexp(self.root, -power), np.ldexp(self.matrix, -2 * power)
        return self._replace(root=root, matrix=matrix, power=power)

    def in_units(self, squares: Floats) -> Floats:
        """Return covariances of the data themselves."""
        with np.errstate(over="ignore"):
            found: Floats = np.ldexp(squares, 2 * self.power)
        return found


@storable
@dataclass(frozen=True, slots=True)
class Refined:
    """Products along the directions of ``view``, and what is known of rows that were shrunk.

    Their squared length is at least ``shortest``. ``long`` has the noisy numbers of rows of more
    than some size, up to four times that and beyond, and ``deviation`` is the standard deviation of
    the noise of each.
    """

    view: gradients.RowView
    products: Products
    shortest: float
    long: tuple[int, ...]
    deviation: float

    def tail_index(self, level: float) -> float:
        """[moments.21] Return the tail index that intervals assume: less than 3 if rows say so.

        Of the rows beyond a size, a tail of index a has at most 2^-a beyond four times that, which
        is twice the length; near the body, where these are, tails of a power look lighter. Columns
        of two values have rows of one length far out and none beyond, so the larger one of two
        indexes counts: that of a power is at least as large as each, but for the noise.
        """
        if self.clustered:
            return _HEAVIEST
        chance, indexes = _CHANCES[1] * (1 - level) / 2, []
        for place, part in enumerate(_NEAR_AND_FAR, 1):
            slack = noise_quantile(self.products.norm, part * chance) * self.deviation
            most = max(sum(self.long[place:]), 0) + slack
            if not most:  # next to no noise, and none beyond: as light as any tail
                return _INDEX
            share = most / max(sum(self.long[place - 1 :]) - slack, most)
            indexes.append(-2 * math.log(share, _FURTHER) - _LIGHTER)
        index = max(indexes)
        return round(min(max(index, _HEAVIEST), _INDEX), 2)

    @property
    def clustered(self) -> bool:
        """[moments.26] Whether long rows get no fewer with their length, and products lost them.

        Of the rows beyond four times a size no tail with a variance has more than a quarter beyond
        16 times that: a heap of rows has, and may be at any distance.
        """
        _, further, furthest = self.long
        slack = noise_quantile(self.products.norm, _CHANCE_HEAP) * self.deviation
        lost = noise_quantile(self.products.norm, _CHANCE_HEAP) * self.products.lost_deviation
        few = (max(further, 0) + slack) / (_FURTHER - 1)
        return self.products.lost > lost and furthest - slack > few

    def spread(self, moments: Moments) -> Noisy:
        """Turn products into covariances in the units of the data; those of lost columns are 0."""
        products, places = self.products.matrix, np.flatnonzero(~moments.state.lost)
        rows = max(products[0, 0], self.products.noise, 1.0)
        means = products[0, 1:] / rows
        table = np.ldexp(np.array(self.view.directions, dtype=np.float64), -second_moments.FIT_BITS)
        table = table.reshape(-1, len(moments.labels) + 1)
        root = np.zeros((len(moments.labels), len(places)))
        root[places] = np.linalg.inv(table[:, 1 + places])
        middle = root @ (means - table[:, 0])
        root *= moments.units[:, None]
        location = moments.scaling.middles(moments.lattice) + middle * moments.units
        matrix = root @ (products[1:, 1:] / rows - np.outer(means, means)) @ root.T
        # The noise of (1, t)(1, t)' at (-means't, t), which is longer than t by this.
        noise = self.products.noise / rows * (1 + float(means @ means))
        return Noisy(root, (matrix + matrix.T) / 2, location, noise, rows)

    def missing(self, found: Noisy, tail: float | None, chance: float) -> Missing:
        """[moments.21] Bound what the covariance lacks, and the number of rows."""
        if tail is None:
            return Missing(0.0, 0.0)
        size = self.products.missing(tail, chance) / found.rows
        longer = found.noise * found.rows / self.products.noise
        return Missing(size * longer, self.products.counted(chance) / self.shortest / found.rows)

    def status(self, others: Status) -> Status:
        """Say that nothing bounds the tail, unless there is something else to say."""
        if others.code in USABLE and self.clustered:
            return HEAP.filled(records=self.long[-1])
        return HEAVY if others.ok and self.tail_index(0.95) <= SECOND else others

    @property
    def summary(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "squares_lost": max(self.products.lost, 0) / gradients.PARTS,
            "rows_long": list(self.long),
        }


class Missing(NamedTuple):
    """Bounds on the largest eigenvalue of what E lacks, and on the rows that do, as a share."""

    size: float
    rows: float


class Forms(NamedTuple):
    """Forms a'E b of pairs of vectors: what even noise adds, and what a positive matrix may.

    ``product`` is a'b, ``lengths`` is |a| |b|, ``variance`` that of a'N b for noise of variance 1
    in each entry of N, and ``largest`` bounds the part of one entry.
    """

    product: Floats
    lengths: Floats
    variance: Floats
    largest: Floats

    @classmethod
    def of(cls, a: Floats, b: Floats) -> Forms:
        """Of a row of ``a`` and one of ``b`` each."""
        fourth = a**2 @ (b**2).T
        lengths = np.outer((a**2).sum(axis=1), (b**2).sum(axis=1))
        # An entry N_ij, i < j, has the factor a_i b_j + a_j b_i, and N_ii has a_i b_i: the square
        # is at most (a_i² + a_j²) (b_i² + b_j²).
        product = a @ b.T
        largest = np.outer(*(np.sort(x**2, axis=1)[:, -2:].sum(axis=1) for x in (a, b)))
        return cls(product, np.sqrt(lengths), lengths + product**2 - fourth, largest)

    def noise(self, norm: second_moments.Norm, chance: float) -> Floats:
        """[moments.22] Bound a'N b on one side, but for a chance.

        A sum of Laplace variables of which none has more than a share 1/k of the variance has no
        more than the quantile of k equal ones; k is rounded down to a power of two.
        """
        if norm == "l2":
            return noise_quantile(norm, chance) * np.sqrt(self.variance)
        least = math.ulp(0.0)
        many = np.log2(np.maximum(self.variance, least) / np.maximum(self.largest, least))
        counts = np.floor(np.clip(many, 0.0, _MANY)).astype(np.int64)
        table = [
            refined_fit.ball_quantile(2 ** (k + 1) - 1, chance)
            for k in range(int(counts.max()) + 1)
        ]
        found: Floats = np.array(table)[counts] * np.sqrt(self.variance)
        return found

    def lacking(self, size: float) -> tuple[Floats, Floats]:
        """[moments.21] Ends of a'M b for a positive M whose eigenvalues are at most ``size``."""
        if math.isinf(size):
            return np.full_like(self.product, -np.inf), np.full_like(self.product, np.inf)
        return size / 2 * (self.product - self.lengths), size / 2 * (self.product + self.lengths)


class OfRefined(covariance_error.OfCovariance):
    """Base of what follows from products along directions."""

    __slots__ = ()
    refined: Refined

    @property
    def seen(self) -> Flags:
        found = self._spread
        noise = found.noise * math.sqrt(2) * (found.root**2).sum(axis=1)
        seen: Flags = (
            np.diag(found.matrix) > covariance_error.SEEN * noise
        ) & ~self.moments.state.lost
        return seen

    @property
    def condition(self) -> str:
        return f"{super().condition}, as far as long rows show"

    def tail_index(self, level: float) -> float:
        """Return the tail index that intervals assume by default."""
        return self.refined.tail_index(level)

    def to_dict(self) -> dict[str, object]:
        return super().to_dict() | self.refined.summary

    @property
    def _spread(self) -> Noisy:
        return self.refined.spread(self.moments)

    @property
    def _noisy(self) -> Floats:
        return self._spread.matrix


@storable
@dataclass(frozen=True, slots=True)
class RefinedCovarianceErrorModel(OfRefined):
    """Covariances from products along directions."""

    refined: Refined

    def columns_status(
        self, what: str = covariance_error.COVARIANCE_0, none: Status = covariance_error.NOTHING
    ) -> Status:
        return self.refined.status(covariance_error.OfCovariance.columns_status(self, what, none))

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """[moments.23] Intervals for the covariances of all rows, all at once."""
        found, chance = self._spread.scaled(), 1 - level
        missing = self.refined.missing(found, tail, _CHANCES[0] * chance)
        forms, norm = Forms.of(found.root, found.root), self.refined.products.norm
        # A covariance is a sum over rows, whose noise moves it too.
        moved = forms._replace(
            variance=forms.variance + found.matrix**2,
            largest=np.maximum(forms.largest, found.matrix**2),
        )
        each = _CHANCES[3] * chance / (len(found.root) * (len(found.root) + 1))
        noise = found.noise * moved.noise(norm, each)
        low, high = (found.matrix + end for end in forms.lacking(missing.size))
        # The number of rows that is divided by may lack some.
        fewer = 1 + missing.rows
        low, high = low - noise, high + noise
        low, high = np.minimum(low, low / fewer), np.maximum(high, high / fewer)
        free = self.moments.state.lost
        heavy = tail is not None and (self.moments.state.unbounded & ~free).any()
        if heavy or math.isinf(missing.size):
            free = np.ones_like(free)
        low[free], low[:, free], high[free], high[:, free] = -np.inf, -np.inf, np.inf, np.inf
        np.fill_diagonal(low, np.maximum(np.diag(low), 0.0))
        low, high = found.in_units(low), found.in_units(high)
        low, high = np.minimum(low, self.matrix), np.maximum(high, self.matrix)
        return Intervals(low.ravel(), high.ravel())

    def assumption(self, tail: float | None) -> str:
        return f"interval() is for the covariances of the rows. It {covered(tail)}"


@storable
@dataclass(frozen=True, slots=True)
class RefinedComponentsErrorModel(OfRefined, covariance_error.OfComponents):
    """Principal components from products along directions."""

    refined: Refined

    @property
    def location(self) -> Floats:
        return self._spread.location

    @property
    def noise_size(self) -> float:
        """About the largest variance that noise alone shows in the direction of the last one."""
        found = self._spread
        along = found.root.T @ self.directions[-1]
        return 2 * math.sqrt(len(along) + 1) * found.noise * float(along @ along)

    @property
    def status(self) -> Status:
        """What is lost in the noise: columns, or the last component; or that the tail is heavy."""
        return self.refined.status(self.visible)

    def variance_intervals(self, level: float = 0.95, tail: Tail = "auto") -> Intervals:
        """[moments.24] Intervals for the variances along the true components, all at once."""
        bounds = self._bounds(level, assumed_tail(self, level, tail))
        if bounds is None:
            return Intervals(np.zeros(self.components), np.full(self.components, np.inf))
        rows = noise_quantile(self.refined.products.norm, _CHANCES[2] * (1 - level) / 2)
        rows *= bounds.spread.noise
        low = np.maximum(bounds.low, 0.0) / (1 + rows) / (1 + bounds.missing.rows)
        high = bounds.high / max(1 - rows, math.ulp(0.0))
        found = self.explained_variance
        low, high = (bounds.spread.in_units(each[: self.components]) for each in (low, high))
        return Intervals(np.minimum(low, found), np.maximum(high, found))

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """[moments.25] Entries of the true components, each up to its sign."""
        released, bounds = self.directions, self._bounds(level, tail)
        low, high = np.full_like(released, -1.0), np.full_like(released, 1.0)
        if bounds is not None:
            chance = _CHANCES[3] * (1 - level) / (2 * (released.size + 2 * self.components))
            for place in range(self.components):
                ends = bounds.component(place, self.refined.products.norm, chance)
                if ends is None:
                    continue
                one, other = ends
                if released[place] @ (one + other) < 0:
                    one, other = -other, -one
                low[place] = np.maximum(np.minimum(one, released[place]), -1.0)
                high[place] = np.minimum(np.maximum(other, released[place]), 1.0)
        return Intervals(low.ravel(), high.ravel())

    def _bounds(self, level: float, tail: float | None) -> _Bounds | None:
        """Return what is known of the true matrix; nothing if a column has no bound."""
        moments, chance = self.moments, 1 - level
        if (moments.state.lost if tail is None else moments.state.unbounded).any():
            return None
        found = self.refined.spread(moments).scaled()
        missing = self.refined.missing(found, tail, _CHANCES[0] * chance)
        if math.isinf(missing.size):
            return None
        even = np.full([len(found.root) + 1] * 2, found.noise)
        return _Bounds.of(
            found, missing, noise_size(even, self.refined.products.norm, _CHANCES[2] * chance / 2)
        )

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() is for the components of the covariance of the rows, each up to its sign; "
            "where noise and what was shrunk may close the gap of the variances, only [-1, 1] is "
            f"known. It {covered(tail)} "
            "error_model.variance_intervals() is the same for the variances."
        )


class _Bounds(NamedTuple):
    """Eigenvalues and vectors of the noisy matrix, and ends of the true eigenvalues, decreasing.

    ``noise`` bounds the largest eigenvalue of the noise of E.
    """

    spread: Noisy
    missing: Missing
    noise: float
    values: Floats
    vectors: Floats
    low: NDArray[Any]
    high: NDArray[Any]

    @classmethod
    def of(cls, spread: Noisy, missing: Missing, noise: float) -> _Bounds:
        """[moments.24] No eigenvalue falls if a positive matrix is added."""
        metric = spread.root @ spread.root.T
        values, vectors = np.linalg.eigh(spread.matrix)
        low = np.linalg.eigvalsh(spread.matrix - noise * metric)
        high = np.linalg.eigvalsh(spread.matrix + (noise + missing.size) * metric)
        return cls(spread, missing, noise, values[::-1], vectors[:, ::-1], low[::-1], high[::-1])

    def component(
        self, place: int, norm: second_moments.Norm, chance: float
    ) -> tuple[Floats, Floats] | None:
        """[moments.25] Bound the entries of a true component; ``None`` if there is no gap."""
        others = np.arange(len(self.values)) != place
        turned = self.spread.root.T @ self.vectors
        along, across = turned[:, place], turned[:, others]
        length, size = float(np.linalg.norm(along)), self.noise + self.missing.size
        moved = self.spread.noise * Forms.of(along[None], along[None]).noise(norm, chance).item()
        low, high = float(self.low[place]), float(self.high[place])
        for _ in range(_PASSES):
            gaps = self._gaps(place, low, high)
            if gaps is None:
                return None
            # What the true component has across this one, in the metric and in the data's units.
            ways = across / gaps
            metric, twice = self._across(ways @ across.T, along, norm, chance)
            if metric + twice >= 1:
                return None
            longer = length / (1 - metric - twice)
            rest = (metric + twice) * longer
            tilt, twice = self._across(ways.T, along, norm, chance)
            cosine = math.sqrt(max(1 - (tilt * longer + twice * rest) ** 2, 0.0))
            # Its eigenvalue moves by along'E p over the cosine.
            more = size * length * rest / max(cosine, _LEAST)
            low = max(low, self.values[place] - moved - more)
            high = min(high, self.values[place] + moved + more + self.missing.size * length**2)
        pull = self.vectors[:, others] @ ways.T
        forms = Forms.of(pull, along[None])
        reach = np.sqrt((pull**2).sum(axis=1)) * size * rest
        noise = self.spread.noise * forms.noise(norm, chance).ravel() + reach
        below, above = (each.ravel() for each in forms.lacking(self.missing.size))
        vector = self.vectors[:, place]
        ends = np.sort([vector * cosine, vector], axis=0)
        return ends[0] + below - noise, ends[1] + above + noise

    def _gaps(self, place: int, low: float, high: float) -> Floats | None:
        """Signed distances of an eigenvalue between two ends from all others; or there is none."""
        above, below = self.values[:place], self.values[place + 1 :]
        if (above <= high).any() or (below >= low).any():
            return None
        return np.concatenate([high - above, low - below])

    def _across(
        self, ways: Floats, along: Floats, norm: second_moments.Norm, chance: float
    ) -> tuple[float, float]:
        """[moments.25] Bound ways E p for a fixed p = along + r: by lengths of p, and of r."""
        largest = float(np.linalg.norm(ways, 2)) if ways.size else 0.0
        already = float(np.linalg.norm(ways @ along) / np.linalg.norm(along))
        # Its mean square is the sum of the variances of its components, and it moves by the
        # largest deviation of a component in any direction.
        mean = math.hypot(float(np.linalg.norm(ways)), already)
        noise = mean + noise_quantile(norm, chance) * math.hypot(largest, already)
        half = self.missing.size / 2
        return noise * self.spread.noise + half * (largest + already), half * largest
