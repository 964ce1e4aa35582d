"""Intervals for a population, of which the rows of a table are a random sample.

The ends of an interval for a quantile are drawn further out (:func:`sample_shift`). To a mean
sampling adds an error with the variance of the clipped data, divided by the number of rows:

[population.1] squares  with a small part of the budget, the sum of squares about the middle of the
                        clipping bounds, less half of the largest;
[population.2] sum      the errors of an answer are independent, so their distributions are added;
[population.3] spread   the variance is known up to the noise of its draw: it is averaged over;
[population.4] range    of values within [lo, hi] with the mean m it is (m - lo)(hi - m) at most.

docs/research/proofs/population.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise, add_noise
from modicum.mechanisms.base import Floats
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw, read_both
from modicum.statistics.ranges.bounds import Setting
from modicum.statistics.ranges.split import expected_records
from modicum.statistics.tails.error_law import (
    DiscretePart,
    ErrorLaw,
    ErrorPart,
    NormalPart,
    Reach,
    noise_parts,
    normal_above,
)
from modicum.statistics.tails.outside import Clipped, Counted, NoisyTerm, OneValue, Outside
from modicum.stored.codec import storable
from modicum.summaries.sums import ClippedSquares, ClippedSum

_MOST, _ROOT, _LEAST = 0.08, 4.0, 1 / 256  # strength of the squares: most, times N^(-1/2), least
_NODES = 24
_AWAY = 8.0  # standard deviations of the noise of a variance, beyond which it is not looked for
_ROUNDS = 8


@storable
@dataclass(frozen=True, slots=True)
class Squares:
    """[population.1] What was released of the squares of data clipped to [lo, hi], in steps.

    ``total`` is the sum of 2 (2x - lo - hi)² - w², w = hi - lo, plus ``noise``.
    """

    lo: int
    hi: int
    total: int
    noise: NoisyTerm

    def deviation(self, mean: float, counted: Counted) -> float:
        """Estimate the standard deviation about a mean, for people to read."""
        return math.sqrt(max(self._variance(mean, float(counted.value)), 0.0))

    def _variance(self, mean: float, count: float) -> float:
        square = (self.total / count + float(self.hi - self.lo) ** 2) / 8
        return square - (mean - (self.lo + self.hi) / 2) ** 2

    def variances(self, mean: float, off: float, counted: Counted) -> tuple[Floats, Floats]:
        """[population.3] What the variance of the clipped data may be, and how likely.

        ``off`` is the standard deviation of the noise in the ``mean``. A variance s has the
        likelihood exp(-sqrt(2) |s - estimate| / deviation), between 0 and what [population.4] says.
        """
        count, width = float(counted.value), float(self.hi - self.lo)
        found, middle = self._variance(mean, count), (self.lo + self.hi) / 2
        away = abs(mean - middle)
        # The noise of the total, of the number of rows, and of the mean.
        number = math.sqrt(sum(term.variance for term in counted.noise)) / count
        square = found + away**2
        spread = math.hypot(
            math.sqrt(self.noise.variance) / (8 * count),
            number * (square - width**2 / 8),
            2 * away * off,
        )
        return likely_variances(found, spread, largest_variance(self.lo, self.hi, mean, off))


def likely_variances(found: float, spread: float, top: float) -> tuple[Floats, Floats]:
    """[population.3] What a variance of at most ``top`` may be, and how likely, by an estimate.

    ``spread`` is the standard deviation of the estimate's noise.
    """
    low = max(0.0, min(found - _AWAY * spread, top))
    high = min(top, max(found + _AWAY * spread, spread))
    nodes = low + (high - low) * (np.arange(_NODES) + 0.5) / _NODES
    logs = -math.sqrt(2) * np.abs(nodes - found) / max(spread, 1e-300)
    weights = np.exp(logs - logs.max())
    return nodes, weights / weights.sum()


def largest_variance(lo: int, hi: int, mean: float, off: float) -> float:
    """[population.4] What no variance of values within [lo, hi] exceeds (Bhatia and Davis 2000).

    The mean may be ``off`` by twice the standard deviation of its noise.
    """
    nearest = min(max((lo + hi) / 2, mean - 2 * off), mean + 2 * off)
    return max((nearest - lo) * (hi - nearest), 0.0)


def part_for_squares(split: BudgetSplit, n0: int) -> Fraction:
    """Return the part of the budget that the squares get, by the noisy count."""
    strength = max(_LEAST, min(_MOST, _ROOT / math.sqrt(expected_records(split, n0))))
    return split.part_for(strength, "noise")


def draw_squares(here: Setting, lo: int, hi: int, n0: int) -> Steps[Squares]:
    """[population.1] Spend a part of the budget on the squares of the clipped data.

    With u = 2x - lo - hi a record adds 2u² - w², which lies in [-w², w²].
    """
    squares, clipped = yield from read_both(
        here.ask(ClippedSquares(lo, hi, lo)), here.ask(ClippedSum(lo, hi))
    )
    width, count = hi - lo, clipped.count
    shifted = clipped.total - count * lo  # of x - lo
    total = 8 * squares.total - 8 * width * shifted + count * width**2
    share = here.split.share(part_for_squares(here.split, n0))
    mechanism = here.split.spend(add_noise((total,), share, sensitivity=max(width**2, 1)))

    def words(drawn: tuple[int, ...]) -> str:
        square = Fraction(drawn[0], 8 * max(n0, 1)) + Fraction(width**2, 8)
        root = Fraction(math.isqrt(max(int(square), 0)))
        return f"typical distance from the middle of the bounds {here.lattice.words(root)}"

    (noisy,) = yield from draw("squares about the middle", mechanism, words)
    return Squares(lo, hi, noisy, NoisyTerm(mechanism.noise[0], 1.0))


def sampled(nodes: Floats, weights: Floats, count: float, step: float) -> tuple[NormalPart, ...]:
    """Return the error of the mean of so many records as a sample, if there may be any."""
    return (NormalPart(np.sqrt(nodes / count) * step, weights),) if nodes.max() > 0 else ()


SPENT = 0.1  # of the probability of error, on what is bounded


class Sampling(NamedTuple):
    """The error of a mean as that of a sample, on each side of it.

    ``off`` is the standard deviation of the noise in the mean, in steps.
    """

    squares: Squares | None
    lo: int
    hi: int
    counted: Counted
    off: float
    step: float

    def added(self, mean: float, side: int, reach: Reach, alpha: float) -> Reach:
        """Add it to the reach of noise and clipping [population.6].

        The further the mean of the population is towards the middle of the bounds, the larger is
        the variance about it: that of a mean at the end of the interval counts.
        """
        middle, count, at = (self.lo + self.hi) / 2, float(self.counted.value), mean
        widened = reach
        for _ in range(_ROUNDS):
            nodes, weights = self._variances(at)
            widened = Reach((*reach.parts, *sampled(nodes, weights, count, self.step)), reach.more)
            if (middle > mean) != bool(side):
                break
            end = mean + (1 if side else -1) * widened.bound(alpha) / self.step
            at, before = (min(end, middle) if side else max(end, middle)), at
            if abs(at - before) <= 0.02 * abs(at - mean):
                break
        return widened

    def _variances(self, mean: float) -> tuple[Floats, Floats]:
        if self.squares is not None:
            return self.squares.variances(mean, self.off, self.counted)
        return np.array([largest_variance(self.lo, self.hi, mean, self.off)]), np.ones(1)


class Deviations(Clipped):
    """What a law of a mean of clipped deviations is made of; see ``MeanErrorModel``."""

    __slots__ = ()

    if TYPE_CHECKING:
        squares: Squares | None

        @property
        def outside(self) -> Outside: ...

        @property
        def rough(self) -> int: ...

        @property
        def deviation(self) -> int: ...

        @property
        def reach(self) -> int: ...

        @property
        def value(self) -> Fraction: ...

    def error_law(self, alpha: float, tail: float | None, *, population: bool) -> ErrorLaw | None:
        """Return the law of the errors about the mean of the data, or of the population.

        ``None``: what the latter takes was not bought.
        """
        if population and self.squares is None:
            return None
        lattice, step, centre = self.lattice, self.lattice.step, float(self.value)
        count, spent = float(self.counted.value), SPENT * alpha
        least = self.counted.least(0.5 * spent)
        if least <= 0 or (tail is not None and self.too_little(alpha)):
            return ErrorLaw.anywhere(lattice, centre)
        z = self.noise.bound(0.25 * spent)
        deviation = min(float(self.reach), (abs(self.deviation) + z) / least)
        terms = [(self.noise.noise, self.noise.factor * step / count)]
        terms += [(n.noise, n.factor * deviation * step / count) for n in self.counted.noise]
        share = 0.0 if tail is None else min(1.0, self.outside.excess(0.25 * spent) / least)
        off = math.sqrt(self.noise.variance) / count
        sampling = Sampling(self.squares, self.lo, self.hi, self.counted, off, step)
        sides = []
        for side, room in enumerate((self.lo - lattice.first, lattice.last - self.hi)):
            parts: tuple[ErrorPart, ...] = noise_parts(terms)
            if tail is not None and not self.ended[side]:
                parts = (*parts, self._clipped(side, tail, step / count))
            reach = Reach(parts, (0.5 + share * max(room, 0)) * step)
            if population:
                reach = sampling.added(centre / step, side, reach, (alpha - spent) / 2)
            sides.append(reach)
        return ErrorLaw(centre, centre, sides[0], sides[1], (lattice.lo, lattice.hi), spent)

    def _clipped(self, side: int, tail: float, unit: float) -> DiscretePart:
        """How much the clipping of a side takes off the mean."""
        radius = self.outside.widening * self.outside.radii[side]
        distance = max((self.rough - self.lo, self.hi - self.rough)[side], radius)
        numbers, probabilities = self.outside.beyond(tail, distance, side)
        return DiscretePart(numbers * distance / (tail - 1) * unit, probabilities)


def law_over_the_range(
    lattice: Lattice,
    value: float,
    sums: tuple[int, int],
    noise: Noise,
    box: tuple[float, float],
    squares: Squares | None,
    alpha: float,
    *,
    population: bool,
) -> ErrorLaw:
    """Return the law of a mean from sums of x - lo and hi - x with equal noise [population.7].

    The mean of the data is in the ``box``, in steps, but for half of what is spent.
    """
    lo, hi, step = lattice.first, lattice.last, lattice.step
    width, count = max(hi - lo, 1), sum(sums) / max(hi - lo, 1)
    counted = Counted(Fraction(max(round(count), 1)), (NoisyTerm(noise, 1 / width),) * 2)
    spent = SPENT * alpha
    mean = lo + width * min(max(sums[0] / max(sum(sums), 1), 0.0), 1.0)
    if counted.least(0.5 * spent) <= 0:
        return ErrorLaw.anywhere(lattice, value)
    shares = (hi - box[0]) / width, (box[1] - lo) / width
    factors = [min(max(share, 0.0), 1.0) / count for share in shares]
    off = math.hypot(*factors) * math.sqrt(noise.variance)
    reach = Reach(noise_parts([(noise, factor * step) for factor in factors]), 0.5 * step)
    sides = [reach, reach]
    if population:
        sampling = Sampling(squares, lo, hi, counted, off, step)
        sides = [sampling.added(mean, side, reach, (alpha - spent) / 2) for side in (0, 1)]
    return ErrorLaw(value, mean * step, sides[0], sides[1], (lattice.lo, lattice.hi), spent)


def law_of_one_value(
    model: OneValue, value: float, alpha: float, tail: float | None, *, population: bool
) -> ErrorLaw:
    """Return the law where all but a few records have one value [population.8].

    The few may be anywhere in the range, and those of the population may be more (Wilson 1927).
    """
    lattice, spent = model.lattice, 0.5 * alpha
    most = max(0.0, model.elsewhere + model.noise.bound(0.9 * spent))
    least = model.counted.least(0.1 * spent)
    if population:
        z = -import_module("statistics").NormalDist().inv_cdf(0.4 * alpha)
        most += z**2 / 2 + z * math.sqrt(most + z**2 / 4)
    share = 0.0 if tail is None else 1.0 if most >= least else most / least
    rooms = model.lo - lattice.first, lattice.last - model.hi
    wide = model.hi - model.lo + 0.5
    below, above = (Reach((), (wide + share * room) * lattice.step) for room in rooms)
    return ErrorLaw(value, value, below, above, (lattice.lo, lattice.hi), spent)


SAMPLE_ROOM = 1 << 16  # ranks on each side that samples of up to 10^9 rows need
_LARGE = 50.0  # standard deviation from which a binomial number counts as normal


def sample_shift(q: Fraction, rows: float, rate: float, ends: float, alpha: float) -> int:
    """[quantile.18] How far beyond rank q n the draw of an end aims for a sample of so many rows.

    Of a sample B rows are below the population's quantile, and an end that is not beyond it has a
    loss of at least shift - (B - q n). The least shift is returned for which E min(1, e^(ends -
    rate loss)) <= alpha on both sides, B being binomial.
    """
    deviations, masses = _binomial(float(q), rows)
    low, high = 0.0, 1.0

    def missed(shift: float) -> float:
        logs = ends - rate * (shift - np.stack([deviations, -deviations]))
        return float((np.exp(np.minimum(logs, 0.0)) @ masses).max())

    while missed(high) > alpha:
        low, high = high, 2 * high
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) > alpha else (low, middle)
    return math.ceil(high)


def sample_margins(qs: Sequence[Fraction], rows: float, alpha: float) -> list[tuple[float, float]]:
    """[quantiles.21] Ranks that samples are off by at each of several quantiles, but for ``alpha``.

    Of each: by how much fewer than q n rows, and by how much more, lie below the population's
    quantile. All hold at once: each at its part of ``alpha``, or within the band of Massart (1990)
    for all q, for half of ``alpha``, where that is narrower.
    """

    def each(chance: float) -> list[tuple[float, float]]:
        return [_binomial_tails(float(q), rows, chance / (2 * len(qs))) for q in qs]

    band = math.sqrt(rows * math.log(4 / alpha) / 2)
    both = [(min(low, band), min(high, band)) for low, high in each(alpha / 2)]
    return min(each(alpha), both, key=lambda found: sum(low + high for low, high in found))


def _binomial_tails(q: float, rows: float, alpha: float) -> tuple[float, float]:
    """Return what a binomial number exceeds its mean by, downwards and upwards, so rarely."""
    deviations, masses = _binomial(q, rows)
    order = np.argsort(deviations)
    sizes, weights = deviations[order], masses[order]
    below = int((np.cumsum(weights) <= alpha).sum())
    above = int((np.cumsum(weights[::-1]) <= alpha).sum())
    most = len(sizes) - 1
    return -float(sizes[min(below, most)]), float(sizes[most - min(above, most)])


def _binomial(q: float, rows: float) -> tuple[Floats, Floats]:
    """Return deviations of a binomial number from its mean, and their probabilities.

    Of a large variance they are those of a normal one in cells, each moved to its outer end.
    """
    n, deviation = math.ceil(rows), math.sqrt(rows * q * (1 - q))
    if deviation > _LARGE:
        ends = np.linspace(-8.0, 8.0, 1601)
        masses = -np.diff(normal_above(ends))
        outer = np.where(ends[1:] > 0, ends[1:], ends[:-1]) * deviation
        return outer, masses / masses.sum()
    span = math.ceil(12 * deviation + 40)
    numbers = range(max(0, math.floor(n * q) - span), min(n, math.ceil(n * q) + span) + 1)
    logs = np.array([math.lgamma(k + 1) + math.lgamma(n - k + 1) for k in numbers])
    number = np.array(numbers, dtype=np.float64)
    logs = number * math.log(q) + (n - number) * math.log1p(-q) - logs
    weights = np.exp(logs - logs.max())
    return number - n * q, weights / weights.sum()
