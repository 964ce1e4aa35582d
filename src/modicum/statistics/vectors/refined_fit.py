"""A linear fit of many rows, in three stages, one budget.

The labels are those of docs/research/proofs/regression.md.

[regression.1] rough fit   noisy moments of rows in half-widths: a first fit, and directions along
                           which rows are about one standard deviation long;
[regression.2] products    those of rows along these directions, and what shrinking rows took off;
                           with them gradients: what the rows pull the first fit with;
[regression.3] gradients   again, at the fit that follows, with most of the budget.

A gradient is a residual times d + 1 coordinates, and its noise that of d + 1 numbers; that of d²/2
products only says how the last small step is to be made. :class:`RegressionErrorModel` bounds how
far the result may be from least squares of all rows as they are, and with what ``sandwich.py``
draws also from that of their population.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.additive import Additive, VectorNoise, add_noise
from modicum.mechanisms.norm_ball import MOST_DIMENSIONS, RadialMechanism
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.array_release import Floats, Intervals
from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics.tails import error_law, outside, tail_index
from modicum.statistics.vectors import clipped_gradients, sandwich
from modicum.statistics.vectors.moments import Moments, OfMoments
from modicum.statistics.vectors.products import (
    Products,
    directions,
    drawn,
    frame_of,
    hidden,
    in_use,
    many_products,
    narrowed,
    part_of_rest,
    product_size,
    products_along,
    radius_grid,
    rough_moments,
    scatter_noise_size,
    tilt,
    units,
)
from modicum.statistics.vectors.standardised import StandardisedColumns, noise_quantile
from modicum.stored.codec import storable
from modicum.summaries.gradients import PARTS, ROOT, GradientCounts, GradientSums, GradientView
from modicum.summaries.second_moments import FIT_BITS, Scaling
from modicum.summaries.vectors import BOUND

_CLEARLY = 3.0  # a column stays if its spread exceeds its noise in the first products so often
SEEN = 1.0  # a column has a first slope if its spread exceeds its noise so many times

# Shares of the budget; of products and first gradients, of what is left. Found by simulation.
_RADIUS, _LAST_RADIUS = Fraction(1, 50), Fraction(3, 100)
_LOST, _OUTSIDE = Fraction(1, 10), Fraction(1, 10)
_ROUGH, _PRODUCTS, _FIRST = Fraction(3, 10), Fraction(1, 5), Fraction(3, 20)

_ROUGH_PENALTY, _PENALTY = 0.3, 0.6  # parts of the largest eigenvalue of noise, about
_TYPICAL = 1 << 12  # units of radii in a typical gradient
_GRADIENTS = (-4, 11)  # octaves of radii about a typical one
# Prior power of the radius of gradients; less, in pure ε, where the explained column has rare
# values, which are what is to be explained, and far from the rest. Under ρ few are beyond anyway.
_FEW_OUTSIDE, _FEWER_OUTSIDE = 5.0, 3.5


def refined_fit(
    scaled: StandardisedColumns, *, population: bool = False
) -> Steps[RegressionErrorModel]:
    """Spend all that is left on a fit of the last column, a little of it on its population."""
    split = scaled.split
    moments = yield from rough_moments(scaled, _ROUGH)
    rough = rough_fit(moments)
    view = _view(moments, rough, scaled.scaling)
    size = yield from product_size(scaled, view, many_products(len(view.directions) + 1))
    first, _ = yield from _clipping(scaled, view, _RADIUS, "radius of first gradients")
    found, sums = yield from read_both(
        scaled.ask(size.sums(view)),
        scaled.ask(GradientSums(first)),
    )
    products = yield from products_along(split, found, size, _LOST, _PRODUCTS)
    pull, _ = yield from _gradients(
        split, sums.totals, first, part_of_rest(split, _FIRST), "first "
    )
    view, products, pull = _without_hidden(view, products, pull, moments.seen(_CLEARLY)[:-1])
    view = _moved(view, _step(products, pull))

    last, outside = yield from _clipping(scaled, view, _LAST_RADIUS, "radius of gradients")
    share = split.share(_OUTSIDE)
    count, noise = yield from draw_count(split, outside, share, "gradients beyond the radius")
    squares = None
    if population and (inverse := _inverse(products)) is not None:
        asked = sandwich.squares_along(last, _ways(moments, view, inverse.matrix))
        sums, squared = yield from read_both(scaled.ask(GradientSums(last)), scaled.ask(asked))
        width, ratio = len(view.directions) + 1, BOUND * view.gain / (last.gain * _TYPICAL)
        typical = scaled.count * ROOT**2 / (ratio * width ** (1 / view.power)) ** 2
        squares = yield from sandwich.draw_squares(split, squared.totals, asked, typical)
    else:
        sums = yield from read(scaled.ask(GradientSums(last)))
    pull, deviation = yield from _gradients(split, sums.totals, last, split.rest(), "")
    gradient = clipped_gradients.Gradient(
        tuple(pull.tolist()),
        deviation,
        BOUND / last.gain,
        last.power,
        count,
        math.sqrt(noise.variance),
        float(split.share(_LAST_RADIUS).range),
        _few_outside(scaled),
    )
    return RegressionErrorModel(moments, view, products, gradient, squares)


# ---- [regression.1] A rough fit


class RoughFit(NamedTuple):
    """Slopes in half-widths, 0 for columns that noise hides so far.

    All columns that are not lost have ``entered``, or none if the explained one is lost.
    """

    slopes: Floats
    entered: NDArray[np.bool_]
    penalty: float


def rough_fit(moments: Moments) -> RoughFit:
    """Solve the penalised normal equations of the columns that are seen."""
    entered = ~moments.state.lost[:-1] & ~moments.state.lost[-1]
    seen = moments.seen(SEEN)[:-1] & entered
    slopes = np.zeros(len(seen))
    penalty = _ROUGH_PENALTY * scatter_noise_size(moments, np.append(entered, False))
    if seen.any():
        inner, goal = moments.scatter[:-1, :-1][np.ix_(seen, seen)], moments.scatter[:-1, -1][seen]
        values, vectors = np.linalg.eigh(inner)
        inverse = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
        slopes[seen] = inverse @ goal
    return RoughFit(slopes, entered, penalty)


def _view(moments: Moments, rough: RoughFit, scaling: Scaling) -> GradientView:
    """[regression.2] Look along the roots of the inverse scatter, from the rough fit."""
    means, width = moments.means, int(rough.entered.sum()) + 1
    ways = directions(moments, rough.entered, rough.penalty)
    line = np.concatenate([[means[-1] - rough.slopes @ means[:-1]], rough.slopes])
    residual = np.append(-line, 1.0)
    # The mean square of what the fit leaves, or the noise of that if it is more.
    left = float(residual @ moments.products @ residual)
    noise = math.sqrt(float(residual**2 @ moments.noise**2 @ residual**2))
    size = math.sqrt(max(left, noise) / moments.weight)
    pure = moments.norm == "l1"
    power = 1 if pure and width > MOST_DIMENSIONS[2] else 2
    typical = size * (width) ** (1 / power)
    return GradientView(scaling, units(line), ways, _TYPICAL / typical, power)


def _frame(view: GradientView) -> Floats:
    """Coordinates of rows (1, x), as a matrix: x in half-widths of all explaining columns."""
    return frame_of(view.directions, len(view.fit) - 1)


def _without_hidden(
    view: GradientView, products: Products, pull: Floats, clear: NDArray[np.bool_]
) -> tuple[GradientView, Products, Floats]:
    """[regression.13] Leave out the columns that noise may hide; their slopes are 0.

    Those that are ``clear`` by the first products stay: long rows of others may hide them here. So
    do all if noise may hide a direction of the others too, and no interval gains by it.
    """
    frame = _frame(view)
    lost = hidden(products, frame) & ~clear
    if not lost.any():
        return view, products, pull
    kept = in_use(frame) & ~lost
    found = narrowed(frame, kept)
    others = products.turned(found.turn)
    if _inverse(others) is None:
        return view, products, pull
    fewer = (len(frame) / (1 + int(kept.sum()))) ** (1 / view.power)
    fit = tuple(np.where(np.append(True, kept), view.fit, 0).tolist())
    view = replace(view, fit=fit, directions=found.directions, gain=view.gain * fewer)
    return view, others, found.turn @ pull


def _line(view: GradientView) -> Floats:
    """Intercept and slopes of the fit, in half-widths."""
    return np.ldexp(np.array(view.fit, dtype=np.float64), -FIT_BITS)


def _transform(moments: Moments) -> Floats:
    """Turn intercept and slopes in half-widths, about the centres, into those of the data."""
    units, middles = moments.units, moments.scaling.middles(moments.lattice)
    found = np.diag(units[-1] / np.append(1.0, units[:-1]))
    found[0, 1:] = -middles[:-1] * (units[-1] / units[:-1])
    return found


def _ways(moments: Moments, view: GradientView, inverse: Floats) -> Floats:
    """How far a sum of gradients moves each coefficient, in the units of the data."""
    found: Floats = _transform(moments) @ _frame(view).T @ inverse
    return found


def _moved(view: GradientView, step: Floats) -> GradientView:
    return replace(view, fit=units(_line(view) + step @ _frame(view)))


# ---- Draws


def _few_outside(scaled: StandardisedColumns) -> float:
    rare = scaled.rare and not scaled.split.concentrated
    return _FEWER_OUTSIDE if rare else _FEW_OUTSIDE


def _clipping(
    scaled: StandardisedColumns, view: GradientView, share: Fraction, label: str
) -> Steps[tuple[GradientView, int]]:
    """Draw a radius of gradients; return a view where it is ``BOUND``, and how many are beyond."""
    grid = radius_grid(_TYPICAL, _GRADIENTS)
    counts = yield from read(scaled.ask(GradientCounts(view, grid.radii)))
    prior = tilt(_few_outside(scaled))
    place = yield from drawn(scaled.split, counts.totals, grid, prior, share, label)
    gain = view.gain * (BOUND / grid.radii[place])
    return replace(view, gain=gain), counts.totals[place]


def _gradients(
    split: BudgetSplit, totals: tuple[int, ...], view: GradientView, share: Share, which: str
) -> Steps[tuple[Floats, float]]:
    """[regression.5] Draw the sum of clipped gradients; return the standard deviation too."""
    law: RadialMechanism | Additive | VectorNoise
    if split.concentrated:
        law = split.spend(VectorNoise.of(totals, share, bound=BOUND))
        deviation = math.sqrt(law.noise[0].variance)
    elif view.power == 1:
        law = split.spend(add_noise(totals, share, sensitivity=BOUND))
        deviation = math.sqrt(law.noise[0].variance)
    else:
        # Balls of one size about the sum: it is ε in full that a change of the sum costs.
        epsilon = share.pure
        law = split.spend(RadialMechanism(totals, (), BOUND, 2, 2 * epsilon, share.loss))
        deviation = BOUND / float(epsilon) * math.sqrt(len(totals) + 1)
    noisy = yield from draw(f"{which}gradients", law)
    return np.array(noisy, dtype=np.float64) / view.gain, deviation / view.gain


# ---- What follows from the released numbers


def _step(products: Products, gradient: Floats) -> Floats:
    """Solve the normal equations with a penalty: the move that a gradient asks for.

    What was lost is put back, in all directions alike; without it steps would be too long.
    """
    values, vectors = np.linalg.eigh(products.matrix)
    penalty = _PENALTY * 2 * math.sqrt(len(values)) * products.noise
    penalty += max(products.lost, 0) / PARTS / len(values)
    found: Floats = (vectors / (np.maximum(values, 0.0) + penalty)) @ (vectors.T @ gradient)
    return found


_UNSURE = 0.5  # largest eigenvalue of the noise of products, about, where these are 1
# Rows beyond the radius as many times as a power law from a typical gradient on has.
_CHANCE_HEAVY, _MUCH, _LEAST_INDEX = 0.01, 1.0, 1.2
_CHANCES = 0.7, 0.1, 0.2  # of a miss: noise, number outside, products lost
_CHANCE_FEWER = 0.05  # that fewer gradients are beyond the radius than an index is told by
_SPENT = 0.02, 0.02, 0.08  # the same, on what is bounded and not added as a law


NO_ENDS = Status(
    "unseen",
    "too few rows for this budget to tell how far off the coefficients are: their intervals have "
    "no ends; more rows or a larger budget give them ends",
)


class _Inverse(NamedTuple):
    """Of products: eigenvalues and vectors, the inverse, and about the noise in the least value.

    ``unsure`` is the largest eigenvalue of the noise, about, in coordinates where products are 1.
    """

    values: Floats
    vectors: Floats
    matrix: Floats
    unsure: float


def _inverse(products: Products) -> _Inverse | None:
    """Invert noisy products, of which noise hides no direction; ``None``: it may."""
    values, vectors = np.linalg.eigh(products.matrix)
    if values[0] <= 2 * products.noise / _UNSURE:
        return None
    unsure = 2 * products.noise * math.sqrt(float((1 / values).sum() / values[0]))
    if unsure > _UNSURE:
        return None
    return _Inverse(values, vectors, (vectors / values) @ vectors.T, unsure)


class _Bounded(NamedTuple):
    """What coefficients without a penalty are off by, in the units of the data.

    ``deviations`` are those of noise, of which bounds hold ``times`` as much, ``reach`` is how far
    what is clipped off gradients moves them, of which ``clipped`` is a bound, and ``lack`` how far
    products that lack as much as they have. What they lack is ``missing`` at most, and about
    ``lost`` with so much noise. ``sampled`` is what a gradient of the radius moves them.
    """

    middle: Floats
    times: float
    deviations: Floats
    clipped: float
    reach: Floats
    lack: Floats
    missing: float
    lost: tuple[float, float]
    sampled: Floats

    @property
    def far(self) -> Floats:
        """Bound what the products lack moves."""
        share = self.missing / (1 + self.missing) if math.isfinite(self.missing) else 1.0
        found: Floats = share * self.lack
        return found


class Parts(NamedTuple):
    """Middles of intervals, half of their widths by noise alone, and what is allowed for besides.

    In the units of the data, the intercept first; infinite for columns that were left out.
    """

    middle: Floats
    noise: Floats
    allowance: Floats


@storable
@dataclass(frozen=True, slots=True)
class RegressionErrorModel(OfMoments):
    """Coefficients, and intervals for those of least squares.

    ``view`` has the fit at which the ``gradient`` was taken, and the directions along which
    ``products`` are. Releases that were stored before there were any have moments only, and no
    bounds.
    """

    moments: Moments
    view: GradientView | None = None
    products: Products | None = None
    gradient: clipped_gradients.Gradient | None = None
    squares: sandwich.SandwichSums | None = None

    @property
    def rough(self) -> RoughFit:
        """The first fit."""
        return rough_fit(self.moments)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """The columns that take part; the others have slope 0."""
        return self.rough.entered if self.view is None else in_use(_frame(self.view))

    @property
    def _refined(self) -> tuple[GradientView, Products, clipped_gradients.Gradient]:
        assert self.view is not None
        assert self.products is not None
        assert self.gradient is not None
        return self.view, self.products, self.gradient

    @property
    def condition(self) -> str:
        if self.tail_index(0.95) <= 1:
            return "nothing: it has no bounds"
        return outside.ALLOWS

    @property
    def coefficients(self) -> Floats:
        """The intercept and the slopes, in the units of the data; 0 for columns left out."""
        _, products, gradient = self._refined
        return self._at(_step(products, np.array(gradient.sums)))

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Intervals for the least-squares fit of all rows to the columns that were kept.

        Where they stand beside those for a population, errors are added in the same way.
        """
        if self.squares is not None:
            return self._added(level, tail, population=False)
        if self.gradient is None:
            free = np.full(len(self.moments.labels), np.inf)
            return Intervals(-free, free)
        parts, center = self.parts(level, tail), self.coefficients
        width = parts.noise + parts.allowance
        low, high = parts.middle - width, parts.middle + width
        return Intervals(np.minimum(low, center), np.maximum(high, center))

    def parts(self, level: float, tail: float | None) -> Parts:
        """[regression.9] Bound the distance of the fit without a penalty from that of all rows.

        All bounds hold at once; they are infinite if noise may hide a direction of the columns.
        """
        found = self._bounded(tail, *(part * (1 - level) for part in _CHANCES))
        if found is None:
            unknown = np.full(len(self.moments.labels), np.inf)
            return Parts(np.zeros_like(unknown), unknown, unknown)
        noise = found.times * found.deviations
        noise[1:][~self.kept] = np.inf
        return Parts(found.middle, noise, found.reach * found.clipped + found.far)

    def _bounded(
        self, tail: float | None, noise_chance: float, outside_chance: float, lost_chance: float
    ) -> _Bounded | None:
        """[regression.9] What the fit is off by, but for chances; ``None`` if nothing bounds it."""
        view, products, gradient = self._refined
        state, inverse = self.moments.state, _inverse(products)
        used = np.append(self.kept, True)
        if (state.lost if tail is None else state.unbounded)[used].any() or self._heavy(tail):
            return None
        if inverse is None or (tail is not None and tail <= 1):
            return None
        times = self._quantile(noise_chance / (2 * len(gradient.sums)))
        clipped = gradient.missing(tail, noise_quantile(self.moments.norm, outside_chance))
        values, vectors = inverse.values, inverse.vectors
        ways = _ways(self.moments, view, inverse.matrix)
        lengths = np.sqrt((ways**2).sum(axis=1))
        step = inverse.matrix @ np.array(gradient.sums)
        # What the products' noise times the true step adds: of a row l of ways it has the variance
        # σ² (|l|² |step|² + (l'step)² - sum of (l_i step_i)²).
        squared = float(step @ step) + gradient.deviation**2 * float((inverse.matrix**2).sum())
        second = products.noise**2 * (lengths**2 * squared + (ways @ step) ** 2)
        sure = math.sqrt(1 - inverse.unsure**2)
        deviations = np.sqrt((lengths * gradient.deviation) ** 2 + second) / sure
        # In coordinates in which the products are 1 they lack M, 0 <= M <= missing: the true step
        # is (1 + M)^-1 times the gradient.
        root = vectors / np.sqrt(values)
        turned = _transform(self.moments) @ _frame(view).T @ root
        found = root.T @ np.array(gradient.sums)
        spread = gradient.deviation / np.sqrt(values)
        off = float(np.linalg.norm(spread) + times * spread[0]) + clipped / math.sqrt(values[0])
        largest = float(np.linalg.norm(found)) + 2 * off
        return _Bounded(
            middle=self._at(step),
            times=times,
            deviations=deviations,
            clipped=clipped,
            reach=lengths if gradient.power == 2 else np.abs(ways).max(axis=1),
            lack=(np.abs(turned @ found) + np.sqrt((turned**2).sum(axis=1)) * largest) / 2,
            missing=products.missing(tail, lost_chance) / float(values[0]),
            lost=products.missing_law(tail, float(values[0])),
            sampled=lengths * gradient.radius / sure,
        )

    def population_intervals(self, level: float, tail: float | None) -> Intervals:
        """[regression.11] Intervals for the coefficients of least squares of the population."""
        return self._added(level, tail, population=True)

    def _added(self, level: float, tail: float | None, *, population: bool) -> Intervals:
        """[regression.11] Intervals from the sums of errors, whose laws are added."""
        widths, chance = np.full(len(self.moments.labels), np.inf), 1 - level
        found = None
        if self.squares is not None:
            found = self._bounded(tail, *(part * chance for part in _SPENT))
        if found is None:
            return Intervals(-widths, widths)
        places = np.flatnonzero(np.append(True, self.kept)).tolist()
        side = chance * (1 - sum(_SPENT)) / (2 * len(places))
        for place in places:
            widths[place] = self._reach(place, found, tail, population=population).bound(side)
        center = self.coefficients
        low, high = found.middle - widths, found.middle + widths
        return Intervals(np.minimum(low, center), np.maximum(high, center))

    def _reach(
        self, place: int, found: _Bounded, tail: float | None, *, population: bool
    ) -> error_law.Reach:
        """[regression.11] What a coefficient is off by, as laws: noise, sampling, clipping.

        What the products lack is taken at its bound where it is not small.
        """
        _, _, gradient = self._refined
        norm, balls = self.moments.norm, len(gradient.sums) if gradient.power == 2 else 1
        parts = sandwich.noise_parts(float(found.deviations[place]), norm, balls)
        if population:
            assert self.squares is not None
            unit, rows = float(found.sampled[place]), self.moments.count
            parts = (*parts, self.squares.part(place, unit, rows))
        if tail is None:
            return error_law.Reach(parts)
        each = float(found.reach[place]) * gradient.radius / (tail - 1)
        number = gradient.outside_sampled if population else gradient.outside_deviation
        parts, more = (
            (*parts, *sandwich.noise_parts(each * number, norm, 1)),
            each * max(gradient.outside, 0),
        )
        if found.missing >= 1:
            return error_law.Reach(parts, more + float(found.far[place]))
        lost, deviation = (part * float(found.lack[place]) for part in found.lost)
        return error_law.Reach((*parts, *sandwich.noise_parts(deviation, norm, 1)), more + lost)

    def tail_index(self, _level: float) -> float:
        """[regression.8] The index assumed by default: 3, or what the gradients beyond refute."""
        if self.gradient is None:
            return tail_index.USUAL
        view, _, gradient = self._refined
        if self.squares is not None and not gradient.rate:  # stored before
            gradient = replace(gradient, rate=self.squares.rate, prior=self.squares.power)
        most = gradient.index(noise_quantile(self.moments.norm, _CHANCE_FEWER), tail_index.USUAL)
        if not self._heavy(tail_index.USUAL):
            return most
        times = noise_quantile(self.moments.norm, _CHANCE_HEAVY)
        beyond = gradient.outside + times * gradient.outside_deviation
        ratio = gradient.radius * view.gain / _TYPICAL
        index = math.log(self.moments.count / beyond) / math.log(ratio)
        return min(most, max(index, _LEAST_INDEX))

    def status(self) -> Status:
        """Say of the rows that are far from the fit, and whether noise leaves no bounds."""
        _, products, gradient = self._refined
        index = self.tail_index(0.95)
        if index <= 1:
            return clipped_gradients.FAR_ROWS.filled(records=gradient.outside)
        if _inverse(products) is None:
            return NO_ENDS
        return clipped_gradients.HEAVY_ROWS if index < tail_index.USUAL else OK

    def _heavy(self, tail: float | None) -> bool:
        """[regression.8] Tell whether more gradients are beyond the radius than the tail has."""
        if tail is None:
            return False
        view, _, gradient = self._refined
        times = noise_quantile(self.moments.norm, _CHANCE_HEAVY)
        surely = gradient.outside - times * gradient.outside_deviation
        ratio = gradient.radius * view.gain / _TYPICAL
        return ratio > 1 and surely > _MUCH * self.moments.count * ratio**-tail

    def _quantile(self, chance: float) -> float:
        pure, (_, _, gradient) = self.moments.norm == "l1", self._refined
        if pure and gradient.power == 2:
            return ball_quantile(len(gradient.sums), chance)
        return noise_quantile(self.moments.norm, chance)

    def _at(self, step: Floats) -> Floats:
        """Coefficients after a step from the fit, in the units of the data."""
        moments, (view, _, _) = self.moments, self._refined
        found: Floats = _transform(moments) @ (_line(view) + step @ _frame(view))
        found[0] += moments.scaling.middles(moments.lattice)[-1]
        return found

    def assumption(self, tail: float | None) -> str:
        covers = (
            "covers the noise, for gradients and products as they were clipped, and no more."
            if tail is None
            else "covers the noise, to first order, and what was clipped off, of which the share "
            f"is known up to noise, if large gradients and rows are rare: {tail_index.rare(tail)}."
        )
        sampled = (
            "which population=True of the question buys an interval for."
            if self.squares is None
            else "for which confidence_interval() adds the error of sampling, by noisy squares of "
            "gradients, whatever the spread of the residuals depends on."
        )
        return (
            "interval() is for the coefficients of least squares, without a penalty, of the rows "
            f"on the columns that were kept, and not for those of their population, {sampled} It "
            f"{covers} A slope has no bound if its column was left out, or if noise could hide a "
            "direction of the columns."
        )

    def to_dict(self) -> dict[str, object]:
        moments = self.moments
        return {
            **moments.summary,
            "penalty": self.rough.penalty,
            "centres": moments.scaling.middles(moments.lattice).tolist(),
            "kept": list(compress(moments.labels, self.kept)),
            "gradients_clipped": None if self.gradient is None else self.gradient.outside,
        }


_GRID = 401


@lru_cache(maxsize=64)
def ball_quantile(dimension: int, chance: float) -> float:
    """Quantile of one direction of noise in balls, in standard deviations [regression.5].

    >>> round(ball_quantile(1, 0.025), 2), round(ball_quantile(1000, 0.025), 2)  # Laplace, normal
    (2.12, 1.96)
    """
    scales, weights = error_law.ball_scales(dimension, _GRID)
    normal = NormalDist()
    low, high = 0.0, 200.0
    for _ in range(40):
        middle = (low + high) / 2
        tail = np.array([normal.cdf(-each) for each in (middle / scales).tolist()])
        low, high = (middle, high) if float(weights @ tail) > chance else (low, middle)
    return high
