"""A linear fit of many rows, in three stages, one budget.

The labels are those of docs/research/proofs/regression.md.

[regression.1] rough fit   noisy moments of rows in half-widths: a first fit, and directions along
                           which rows are about one standard deviation long;
[regression.2] products    those of rows along these directions, and what shrinking rows took off;
                           with them gradients: what the rows pull the first fit with;
[regression.3] gradients   again, at the fit that follows, with most of the budget.

A gradient is a residual times d + 1 coordinates, and its noise that of d + 1 numbers; that of d²/2
products only says how the last small step is to be made. :class:`RegressionErrorModel` bounds how
far the result may be from least squares of all rows as they are.
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

from modicum.array_release import Floats, Intervals
from modicum.mechanisms.additive import Additive, VectorNoise, add_noise
from modicum.mechanisms.norm_ball import MOST_DIMENSIONS, RadialMechanism
from modicum.privacy.split import BudgetSplit, Share
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics.moments import (
    Moments,
    OfMoments,
)
from modicum.statistics.products import (
    Products,
    directions,
    drawn,
    many_products,
    part_of_rest,
    product_size,
    products_along,
    radius_grid,
    rough_moments,
    scatter_noise_size,
    tilt,
    units,
)
from modicum.statistics.standardised import StandardisedColumns, noise_quantile
from modicum.statistics.tail_index import USUAL
from modicum.status import OK, Status
from modicum.summaries.gradients import (
    PARTS,
    GradientCounts,
    GradientSums,
    GradientView,
)
from modicum.summaries.second_moments import (
    FIT_BITS,
    Scaling,
)
from modicum.summaries.vectors import BOUND

SEEN = 1.0  # a column enters if its spread exceeds its noise so many times

# Shares of the budget; of products and first gradients, of what is left. Found by simulation.
_RADIUS, _LAST_RADIUS = Fraction(1, 50), Fraction(3, 100)
_LOST, _OUTSIDE = Fraction(1, 10), Fraction(1, 10)
_ROUGH, _PRODUCTS, _FIRST = Fraction(3, 10), Fraction(1, 5), Fraction(3, 20)

_ROUGH_PENALTY, _PENALTY = 0.3, 0.6  # parts of the largest eigenvalue of noise, about
_TYPICAL = 1 << 12  # units of radii in a typical gradient
_GRADIENTS = (-4, 11)  # octaves of radii about a typical one
_FEW_OUTSIDE = 5  # prior power of the radius of gradients


def refined_fit(scaled: StandardisedColumns) -> Steps[RegressionErrorModel]:
    """Spend all that is left on a fit of the last column."""
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
    view = _moved(view, _step(products, pull))

    last, outside = yield from _clipping(scaled, view, _LAST_RADIUS, "radius of gradients")
    share = split.share(_OUTSIDE)
    count, noise = yield from draw_count(split, outside, share, "gradients beyond the radius")
    sums = yield from read(scaled.ask(GradientSums(last)))
    pull, deviation = yield from _gradients(split, sums.totals, last, split.rest(), "")
    gradient = Gradient(
        tuple(pull.tolist()),
        deviation,
        BOUND / last.gain,
        last.power,
        count,
        math.sqrt(noise.variance),
    )
    return RegressionErrorModel(moments, view, products, gradient)


# ---- [regression.1] A rough fit


class RoughFit(NamedTuple):
    """Slopes in half-widths; no columns are ``kept`` if the explained one is lost."""

    slopes: Floats
    kept: NDArray[np.bool_]
    penalty: float


def rough_fit(moments: Moments) -> RoughFit:
    """Solve the penalised normal equations of the columns that are seen."""
    kept = moments.seen(SEEN)[:-1] & ~moments.state.lost[-1]
    slopes, size = np.zeros(len(kept)), int(kept.sum())
    if not size:
        return RoughFit(slopes, kept, 0.0)
    inner, goal = moments.scatter[:-1, :-1][np.ix_(kept, kept)], moments.scatter[:-1, -1][kept]
    penalty = _ROUGH_PENALTY * scatter_noise_size(moments, np.append(kept, False))
    values, vectors = np.linalg.eigh(inner)
    inverse = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
    slopes[kept] = inverse @ goal
    return RoughFit(slopes, kept, penalty)


def _view(moments: Moments, rough: RoughFit, scaling: Scaling) -> GradientView:
    """[regression.2] Look along the roots of the inverse scatter, from the rough fit."""
    means, width = moments.means, int(rough.kept.sum()) + 1
    ways = directions(moments, rough.kept, rough.penalty)
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
    first = (1 << FIT_BITS, *(0 for _ in view.fit[1:]))
    return np.ldexp(np.array([first, *view.directions], dtype=np.float64), -FIT_BITS)


def _line(view: GradientView) -> Floats:
    """Intercept and slopes of the fit, in half-widths."""
    return np.ldexp(np.array(view.fit, dtype=np.float64), -FIT_BITS)


def _moved(view: GradientView, step: Floats) -> GradientView:
    return replace(view, fit=units(_line(view) + step @ _frame(view)))


# ---- Draws


def _clipping(
    scaled: StandardisedColumns, view: GradientView, share: Fraction, label: str
) -> Steps[tuple[GradientView, int]]:
    """Draw a radius of gradients; return a view where it is ``BOUND``, and how many are beyond."""
    grid = radius_grid(_TYPICAL, _GRADIENTS)
    counts = yield from read(scaled.ask(GradientCounts(view, grid.radii)))
    prior = tilt(_FEW_OUTSIDE)
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


@dataclass(frozen=True, slots=True)
class Gradient:
    """A noisy sum of gradients, and ``outside``, the noisy number of those that were clipped.

    ``radius`` is the norm of the given ``power`` to which they were. ``deviation`` is the standard
    deviation of the noise of each number, ``outside_deviation`` that of the number outside.
    """

    sums: tuple[float, ...]
    deviation: float
    radius: float
    power: int
    outside: int
    outside_deviation: float

    def missing(self, tail: float | None, times: float) -> float:
        """[regression.8] Bound the norm of what was clipped off."""
        if tail is None:
            return 0.0
        return max(self.outside + times * self.outside_deviation, 0.0) * self.radius / (tail - 1)


_UNSURE = 0.5  # largest eigenvalue of the noise of products, about, in the least one of theirs
_CHANCE_HEAVY, _MUCH, _LEAST_INDEX = (
    0.01,
    1.0,
    1.2,
)  # times as many as a power law from a typical gradient on has
_CHANCES = 0.7, 0.1, 0.2  # of a miss: noise, number outside, products lost


HEAVY_ROWS = Status(
    "heavy_tail",
    "more rows are far from the fit than a tail of index 3 explains: the default interval allows "
    "for {index:.1f}, but a few rows may be further out",
)
NO_ENDS = Status(
    "unseen",
    "too few rows for this budget to tell how far off the coefficients are: their intervals have "
    "no ends; more rows or a larger budget give them ends",
)


def _unsure(products: Products, least: float) -> float:
    """About the largest eigenvalue of the noise of products, as for the penalty, in their least."""
    return 2 * math.sqrt(len(products.matrix)) * products.noise / max(least, math.ulp(0.0))


class Parts(NamedTuple):
    """Middles of intervals, half of their widths by noise alone, and what is allowed for besides.

    In the units of the data, the intercept first; infinite for columns that were left out.
    """

    middle: Floats
    noise: Floats
    allowance: Floats


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
    gradient: Gradient | None = None

    @property
    def rough(self) -> RoughFit:
        """The first fit, and the columns that take part."""
        return rough_fit(self.moments)

    @property
    def _refined(self) -> tuple[GradientView, Products, Gradient]:
        assert self.view is not None
        assert self.products is not None
        assert self.gradient is not None
        return self.view, self.products, self.gradient

    @property
    def condition(self) -> str:
        return f"assumes tails of index {self.tail_index(0.95):.2g} or lighter"

    @property
    def coefficients(self) -> Floats:
        """The intercept and the slopes, in the units of the data; 0 for columns left out."""
        _, products, gradient = self._refined
        return self._at(_step(products, np.array(gradient.sums)))

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Intervals for the least-squares fit of all rows to the columns that were kept."""
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
        view, products, gradient = self._refined
        nothing = np.zeros(len(view.fit))
        unknown = Parts(nothing, np.full_like(nothing, np.inf), np.full_like(nothing, np.inf))
        kept, state = self.rough.kept, self.moments.state
        used = np.append(kept, True)
        if (state.lost if tail is None else state.unbounded)[used].any() or self._heavy(tail):
            return unknown
        values, vectors = np.linalg.eigh(products.matrix)
        unsure = _unsure(products, float(values[0]))
        if unsure > _UNSURE:
            return unknown
        inverse = (vectors / values) @ vectors.T
        chance, width = 1 - level, len(values)
        noise_chance, outside_chance, lost_chance = (part * chance for part in _CHANCES)
        ways = self._transform @ _frame(view).T @ inverse
        lengths = np.sqrt((ways**2).sum(axis=1))
        step = inverse @ np.array(gradient.sums)
        # What the products' noise times the true step adds: of a row l of ways it has the variance
        # σ² (|l|² |step|² + (l'step)² - sum of (l_i step_i)²).
        squared = float(step @ step) + gradient.deviation**2 * float((inverse**2).sum())
        second = products.noise**2 * (lengths**2 * squared + (ways @ step) ** 2)
        deviations = np.sqrt(((lengths * gradient.deviation) ** 2 + second) / (1 - unsure**2))
        times = self._quantile(noise_chance / (2 * width))
        counted = noise_quantile(self.moments.norm, outside_chance)
        clipped = gradient.missing(tail, counted)
        reach = lengths if gradient.power == 2 else np.abs(ways).max(axis=1)
        # In coordinates in which the products are 1 they lack M, 0 <= M <= missing: the true step
        # is (1 + M)^-1 times the gradient.
        missing = products.missing(tail, lost_chance) / values[0]
        shrunk = missing / (1 + missing) if math.isfinite(missing) else 1.0
        root = vectors / np.sqrt(values)
        turned = self._transform @ _frame(view).T @ root
        found = root.T @ np.array(gradient.sums)
        spread = gradient.deviation / np.sqrt(values)
        off = float(np.linalg.norm(spread) + times * spread[0])
        off += clipped / math.sqrt(values[0])
        largest = float(np.linalg.norm(found)) + 2 * off
        far = shrunk / 2 * (np.abs(turned @ found) + np.sqrt((turned**2).sum(axis=1)) * largest)
        noise, allowance = times * deviations, reach * clipped + far
        noise[1:][~kept] = np.inf
        return Parts(self._at(step), noise, allowance)

    def tail_index(self, _level: float) -> float:
        """[regression.8] The index assumed by default: 3, or what the gradients beyond refute."""
        if self.gradient is None or not self._heavy(USUAL):
            return USUAL
        view, _, gradient = self._refined
        times = noise_quantile(self.moments.norm, _CHANCE_HEAVY)
        most = gradient.outside + times * gradient.outside_deviation
        ratio = gradient.radius * view.gain / _TYPICAL
        index = math.log(self.moments.count / most) / math.log(ratio)
        return max(index, _LEAST_INDEX)

    def status(self) -> Status:
        """Say of the rows that are far from the fit, and whether noise leaves no bounds."""
        _, products, _ = self._refined
        least = float(np.linalg.eigvalsh(products.matrix)[0])
        if _unsure(products, least) > _UNSURE:
            return NO_ENDS
        index = self.tail_index(0.95)
        return HEAVY_ROWS.filled(index=index) if index < USUAL else OK

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

    @property
    def _transform(self) -> Floats:
        """Turn intercept and slopes in half-widths, about the centres, into those of the data."""
        moments = self.moments
        units, middles = moments.units, moments.scaling.middles(moments.lattice)
        found = np.diag(units[-1] / np.append(1.0, units[:-1]))
        found[0, 1:] = -middles[:-1] * (units[-1] / units[:-1])
        return found

    def _at(self, step: Floats) -> Floats:
        """Coefficients after a step from the fit, in the units of the data."""
        moments, (view, _, _) = self.moments, self._refined
        found: Floats = self._transform @ (_line(view) + step @ _frame(view))
        found[0] += moments.scaling.middles(moments.lattice)[-1]
        return found

    def assumption(self, tail: float | None) -> str:
        covers = (
            "covers the noise, for gradients and products as they were clipped, and no more."
            if tail is None
            else "covers the noise, to first order, and what was clipped off, of which the share "
            "is known up to noise, if the size of gradients and rows falls off like a power of "
            f"index {tail:g} or faster."
        )
        return (
            "interval() is for the coefficients of least squares, without a penalty, of the rows "
            "on the columns that were kept, and not for a line that rows were drawn from: add the "
            f"standard error of least squares for that. It {covers} A slope has no bound if its "
            "column was left out, or if noise could hide a direction of the columns."
        )

    def to_dict(self) -> dict[str, object]:
        moments = self.moments
        return {
            **moments.summary,
            "penalty": self.rough.penalty,
            "centres": moments.scaling.middles(moments.lattice).tolist(),
            "kept": list(compress(moments.labels, self.rough.kept)),
            "gradients_clipped": None if self.gradient is None else self.gradient.outside,
        }


_GRID = 401


@lru_cache(maxsize=64)
def ball_quantile(dimension: int, chance: float) -> float:
    """Quantile of one direction of noise in balls, in standard deviations [regression.5].

    The density exp(-|z|) in d dimensions is that of sqrt(2 G) times a normal vector, G being gamma
    with shape (d + 1) / 2: their characteristic functions are both (1 + |t|²)^(-(d + 1) / 2).

    >>> round(ball_quantile(1, 0.025), 2), round(ball_quantile(1000, 0.025), 2)  # Laplace, normal
    (2.12, 1.96)
    """
    shape = (dimension + 1) / 2
    about = math.log(shape) + np.linspace(-12, 8, _GRID) / math.sqrt(shape)
    weights = np.exp(shape * about - np.exp(about) - math.lgamma(shape))
    weights /= weights.sum()
    # In standard deviations of a direction: the variance of sqrt(2 G) N is d + 1.
    scales = np.exp(about / 2) * math.sqrt(2 / (dimension + 1))
    normal = NormalDist()
    low, high = 0.0, 200.0
    for _ in range(40):
        middle = (low + high) / 2
        tail = np.array([normal.cdf(-each) for each in (middle / scales).tolist()])
        low, high = (middle, high) if float(weights @ tail) > chance else (low, middle)
    return high
