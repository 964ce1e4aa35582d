"""The staircase of the L1 norm, for one or two integers.

Geng and Viswanath (2014) add a staircase to a scalar. Kulesza, Suresh and Wang (2023) remark that
it may replace the Laplace noise of their Algorithm 3. Coordinate by coordinate that is false: the
pair moves by (x, D - x), and a staircase may drop by a whole factor exp(-ε) however short the move,
so two independent ones cost 2 ε. A :class:`Staircase` of the L1 norm drops once, because the norm
moves by at most D (docs/research/proofs/bounded_mean.md, [bounded_mean.8]).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from modicum.exact import bernoulli, levels
from modicum.exact.entropy import Entropy
from modicum.mechanisms.additive import Additive, Cells, Noise, add_noise
from modicum.mechanisms.base import SECRET, Floats, Mechanism, Support, points_around
from modicum.privacy.event import Event, PureDP
from modicum.privacy.split import Share
from modicum.stored.codec import storable

STAIRCASE_FROM = Fraction(3, 2)  # ε of a draw: from here on a staircase is 9 % better, or more
_WIDE = 1 << 12  # standard deviation of noise whose outcomes are not listed one by one
_NEGLIGIBLE = 45.0  # nats
_MOST_CELLS = 1 << 14
_FINE = 1 << 16  # parts of the sensitivity, of which a width is a whole number


@dataclass(frozen=True, slots=True)
class Staircase(Mechanism[tuple[int, ...]]):
    """``values + z`` where P(z) depends on the L1 norm of z alone and falls in steps.

    With r = ||z||_1 the weight is exp(-ε k(r)): k = 0 for r < width, k = j >= 1 for
    width + (j - 1) l1 <= r < width + j l1, that is k(r) = floor((r + l1 - width) / l1).

    Sensitivity contract: ``values``, one or two integers and secret, move by at most ``l1`` in L1
    norm between neighbours. Then r moves by at most l1 at every outcome, k(r) by at most 1, and the
    normaliser not at all: one draw is pure ε. See [bounded_mean.6], [bounded_mean.7].

    ``width`` is the number of norms on the top step, from 1 to ``l1``; see :func:`best_width`.
    """

    values: tuple[int, ...] = field(repr=False, metadata=SECRET)
    l1: int
    width: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        """Refuse parameters for which the proof does not hold."""
        if len(self.values) not in {1, 2}:
            raise ValueError(f"a staircase is for one or two values, got {len(self.values)}")
        if not (1 <= self.width <= self.l1 and self.epsilon > 0):
            raise ValueError(
                f"need 1 <= width <= l1 and epsilon > 0, got width={self.width}, l1={self.l1}, "
                f"epsilon={self.epsilon}"
            )

    @property
    def event(self) -> Event:
        return PureDP(self.epsilon)

    @property
    def term(self) -> StaircaseTerm:
        """The distribution of the noise of each value."""
        return StaircaseTerm(len(self.values), self.l1, self.width, self.epsilon)

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw a step, then a point on it uniformly.

        [bounded_mean.9] The numbers of points on the steps have the generating function P(x) /
        (1 - x)^d with a polynomial P of degree d and positive coefficients (:func:`_shifts`). Hence
        the step is a shift in 0..d, drawn with weights P_i exp(-ε i), plus d independent geometric
        numbers.
        """
        d = len(self.values)
        shifts = _shifts(d, self.width, self.l1)
        step = levels.draw_level(shifts, range(len(shifts)), self.epsilon, entropy)
        for _ in self.values:
            step += bernoulli.geometric(self.epsilon, entropy)
        inner = _points(d, self.width + (step - 1) * self.l1) if step else 0
        outer = _points(d, self.width + step * self.l1)
        point = self._point(inner + entropy.below(outer - inner))
        return tuple(v + z for v, z in zip(self.values, point, strict=True))

    def log_density(self, outcome: tuple[int, ...]) -> float:
        norm = sum(abs(k - v) for k, v in zip(outcome, self.values, strict=True))
        step = (norm + self.l1 - self.width) // self.l1
        q, d = math.exp(-float(self.epsilon)), len(self.values)
        top = sum(c * Fraction(q) ** i for i, c in enumerate(_shifts(d, self.width, self.l1)))
        log_top = math.log(top.numerator) - math.log(top.denominator)
        log_normaliser = log_top - d * math.log(-math.expm1(-float(self.epsilon)))
        return -float(self.epsilon * step) - log_normaliser

    def probes(self) -> Iterable[tuple[int, ...]]:
        """The value, and the last points of the top step along every axis.

        Whatever the move, one of these lies on the top step for one data set and below it for
        the other: moving away from it, every outcome of norm width - 1 leaves the step.
        """
        yield self.values
        for axis, value in enumerate(self.values):
            for reach in (1 - self.width, self.width - 1):
                yield (*self.values[:axis], value + reach, *self.values[axis + 1 :])

    @property
    def dimension(self) -> int:
        return len(self.values)

    @classmethod
    def support(cls, mechanisms: Sequence[Staircase]) -> Support:
        """List the points whose weight, for one of the laws, is at least exp(-40) of the top."""
        reach = max(
            mechanism.width + mechanism.l1 * math.ceil(40 / float(mechanism.epsilon))
            for mechanism in mechanisms
        )
        centres = {mechanism.values for mechanism in mechanisms}
        return Support.of(
            point
            for point in points_around([(centre, reach) for centre in centres])
            if any(
                sum(abs(x - v) for x, v in zip(point, centre, strict=True)) <= reach
                for centre in centres
            )
        )

    def _point(self, index: int) -> tuple[int, ...]:
        """Number all integer points by increasing norm, and return the one with this number."""
        if len(self.values) == 1:
            size = (index + 1) // 2
            return (size if index % 2 else -size,)
        if index == 0:
            return 0, 0
        # Norm r >= 1 has the 4 r numbers from B(r) = 2 r (r - 1) + 1 on, so r is the largest
        # integer with (2 r - 1)² <= 2 index - 1.
        norm = (math.isqrt(2 * index - 1) + 1) // 2
        side, along = divmod(index - _points(2, norm), norm)
        x, y = norm - along, along
        return ((x, y), (-y, x), (-x, -y), (y, -x))[side]


@storable
@dataclass(frozen=True, slots=True)
class StaircaseTerm:
    """The noise of one value of a :class:`Staircase` with the same parameters."""

    dimension: int
    l1: int
    width: int
    epsilon: Fraction

    @property
    def noise(self) -> None:
        """No distribution of one value alone: those of a pair are not independent."""

    def bound(self, alpha: float) -> float:
        """Return a t with P(norm of all noise > t) <= alpha [bounded_mean.10]."""
        low, high = 0, 1
        while self._beyond(high) > alpha:
            low, high = high, 2 * high
        while low < high:
            step = (low + high) // 2
            low, high = (low, step) if self._beyond(step) <= alpha else (step + 1, high)
        return float(self.width + low * self.l1 - 1)

    def explains(self, seen: float) -> bool:
        """Whether noise alone may explain what was seen; it is larger 3 times in 100."""
        return abs(seen) <= self.bound(0.03)

    @property
    def variance(self) -> float:
        """Variance of the noise of one value, as if integers were a continuum [bounded_mean.11]."""
        d, g = self.dimension, self.width / self.l1
        ratio = _raised(self.epsilon, g, d + 2) / _raised(self.epsilon, g, d)
        return 2 / ((d + 1) * (d + 2)) * ratio * float(self.l1) ** 2

    def _beyond(self, step: int) -> float:
        """P(step of the noise > step): a shift, and as many geometric numbers as dimensions."""
        epsilon = float(self.epsilon)
        shifts = _shifts(self.dimension, self.width, self.l1)
        weights = [float(p) * math.exp(-epsilon * i) for i, p in enumerate(shifts)]

        def above(k: int) -> float:  # P(sum of the geometric numbers > k)
            if k < 0:
                return 1.0
            more = 1.0 if self.dimension == 1 else 1 - (k + 1) * math.expm1(-epsilon)
            return math.exp(-epsilon * (k + 1)) * more

        rest = sum(w * above(step - i) for i, w in enumerate(weights))
        return rest / sum(weights)


@storable
@dataclass(frozen=True, slots=True)
class StaircaseNoise(Noise):
    """The noise of a :class:`Staircase` of one value, as a term of other sums.

    With D = ``l1``, w = ``width`` and q = exp(-ε) a step k >= 0 are the sizes from w + (k - 1) D,
    or 0, to w + k D - 1, each with the weight q^k. See [bounded_mean.12].
    """

    l1: int
    width: int
    epsilon: Fraction
    probed = True

    @classmethod
    def of(cls, l1: int, epsilon: Fraction) -> StaircaseNoise:
        """Choose the width of least mean absolute error, D / (1 + exp(ε/2)) (ibid.).

        Of the continuous law (Geng and Viswanath 2014, Theorem 4); the width is public.
        """
        part = math.floor(_FINE / (1 + math.exp(min(float(epsilon) / 2, 700.0))))
        return cls(l1, l1 * part // _FINE + 1, epsilon)

    @property
    def probe(self) -> int:
        """The end of the top step, as for a :class:`Staircase`."""
        return self.width - 1

    def sample(self, entropy: Entropy) -> int:
        (drawn,) = Staircase((0,), self.l1, self.width, self.epsilon).sample(entropy)
        return drawn

    def log_pmf(self, k: int) -> float:
        step = (abs(k) + self.l1 - self.width) // self.l1
        above, below = self.epsilon.numerator, self.epsilon.denominator
        return -(above * int(step) / below) - math.log(self._total)

    def masses(self, reach: int) -> Floats:
        sizes = np.abs(np.arange(-reach, reach + 1))
        steps = (sizes + (self.l1 - self.width)) // self.l1
        found: Floats = np.exp(-float(self.epsilon) * steps)
        return found / self._total

    @property
    def _total(self) -> float:
        """Sum of all weights."""
        return 2 * self.width - 1 + 2 * self.l1 * _odds(self.epsilon)

    def _at_least(self, sizes: Floats) -> Floats:
        """P(|noise| >= j) for integers j >= 1: what is left of the step of j, and all further ones.

        Those of step k and beyond have the weight 2 D q^k / (1 - q).
        """
        steps = np.floor((sizes + (self.l1 - self.width)) / self.l1)
        left = self.width + steps * self.l1 - sizes
        further = self.l1 * _odds(self.epsilon)
        weights: Floats = 2 * np.exp(-float(self.epsilon) * steps) * (left + further) / self._total
        return np.minimum(weights, 1.0)

    def tail_bound(self, alpha: float) -> float:
        """Solve P(|noise| > t) <= alpha, which is linear in t within a step."""
        epsilon, total = float(self.epsilon), self._total
        further = 2 * self.l1 * _odds(self.epsilon)
        # Beyond step k is a weight of further q^k.
        step = max(0, math.ceil(math.log(further / (alpha * total)) / epsilon))
        spare = alpha * total * math.exp(epsilon * step) - further
        end = self.width + step * self.l1
        return max(0.0, math.ceil(end - spare / 2) - 1.0)

    def beyond(self, t: Floats) -> Floats:
        """P(noise > t) = P(|noise| >= j) / 2, j the least integer above t; 1 bounds it below 0."""
        share = self._at_least(np.floor(np.maximum(t, 0.0)) + 1) / 2
        return np.where(t < 0, 1.0, share)

    @property
    def variance(self) -> float:
        """By Abel summation E s(w + D J), with the geometric number J of :func:`_raised`.

        s(m) = (2 m³ - 3 m² + m) / 3 is the sum of z² over |z| < m; no term is negative.
        """
        d, w = float(self.l1), float(self.width)
        first, second, third = _moments(self.epsilon)[1:4]
        inner = w * (w - 1) * (2 * w - 1)
        outer = d * (6 * w * (w - 1) + 1) * first + d**2 * (6 * w - 3) * second
        return (inner + outer + 2 * d**3 * third) / (3 * self._total)

    @property
    def mean_size(self) -> float:
        """E |noise|, as the variance from the sum m (m - 1) of |z| over |z| < m."""
        d, w = float(self.l1), float(self.width)
        first, second = _moments(self.epsilon)[1:3]
        return (w * (w - 1) + d * (2 * w - 1) * first + d**2 * second) / self._total

    def quantile(self, t: float) -> int:
        return int(self.tail_bound(min(2 * t, 1.0)))

    def length(self, width: int) -> float:
        return width * self.mean_size

    def _chernoff(self, parts: tuple[tuple[float, int], ...], limit: float) -> float:
        """Bound each noise, and so their sum (union bound): many staircases are never added."""
        alpha = math.exp(-limit) / sum(times for _, times in parts)
        bound = self.tail_bound(min(1.0, 2 * alpha))
        return sum(weight * times for weight, times in parts) * bound

    def cells(self) -> Cells | None:
        """Cut at eighths of the top step, unless that were too many, up to a mass of e^-45."""
        if self.variance < _WIDE**2:
            return None
        reach = self.width + self.l1 * math.ceil(_NEGLIGIBLE / float(self.epsilon))
        stride = max(self.width // 8, 2 * reach // _MOST_CELLS, 1)
        number = reach // stride
        positive = self._at_least(stride * np.arange(1.0, number + 1)) / 2
        negative = self._at_least(stride * np.arange(number + 1.0) + 1) / 2
        upper = np.append(-np.diff(np.concatenate(([1 - negative[0]], positive))), positive[-1])
        lower = -np.diff(negative)
        starts = range(-number * stride, (number + 1) * stride, stride)
        return starts, np.concatenate((lower[::-1], upper))


def add_to_one(value: int, share: Share, *, sensitivity: int) -> Additive:
    """Add the noise of least mean size to one integer: a staircase from ε = 3/2 on.

    ``sensitivity`` must bound its change between neighbours. Below 3/2 Laplace noise is hardly
    worse, and a record that moves the value by less than the sensitivity loses less by it; in zCDP
    the noise is Gaussian.
    """
    if share.zcdp is None and share.pure >= STAIRCASE_FROM and sensitivity > 1:
        noise = StaircaseNoise.of(sensitivity, share.pure)
        return Additive((value,), (noise,), PureDP(share.pure))
    return add_noise((value,), share, sensitivity=sensitivity)


def _shifts(dimension: int, width: int, l1: int) -> tuple[int, ...]:
    """Coefficients of P.

    [bounded_mean.9] A ball of radius r (norms below r) has B(r) points, and P(x) = (1 - x)^(d+1)
    sum_j B(width + j l1) x^j. For d = 1: P = (B0, B1 - 2 B0) with B1 = B0 + 2 l1. For d = 2:
    P = (B0, B1 - 3 B0, B2 - 3 B1 + 3 B0).
    """
    b0, b1, b2 = (_points(dimension, width + j * l1) for j in range(3))
    if dimension == 1:
        return b0, b1 - 2 * b0
    return b0, b1 - 3 * b0, b2 - 3 * b1 + 3 * b0


def _points(dimension: int, radius: int) -> int:
    """B(radius): how many integer points have a norm below ``radius`` >= 1."""
    return 2 * radius - 1 if dimension == 1 else 2 * radius * (radius - 1) + 1


def staircase(values: Iterable[int], *, l1: int, epsilon: Fraction) -> Staircase:
    """Staircase mechanism with the width of least mean squared error.

    The vector of one or two values changes by at most ``l1`` in L1 norm between neighbours.

    Against :func:`~modicum.mechanisms.additive.laplace` the mean squared error of a pair is the
    same at ε = 0.1 and 1 % lower at 1, 5 % at 2 and 27 % at 4.
    """
    exact = tuple(values)
    return Staircase(exact, l1, best_width(len(exact), l1, epsilon), epsilon)


def best_width(dimension: int, l1: int, epsilon: Fraction) -> int:
    """Width of the top step for the least mean squared error, to 1/256 of ``l1``.

    [bounded_mean.11] Scaled to l1 = 1, with g the width and J geometric, P(J >= j) = exp(-ε j): the
    weight of the norms below t + g is a mixture over J of balls of radius g + J, hence E r² = d /
    (d + 2) E (g + J)^(d+2) / E (g + J)^d. The width is public and affects accuracy only, so floats
    may choose it.
    """
    best = min(
        (i / 256 for i in range(1, 257)),
        key=lambda g: _raised(epsilon, g, dimension + 2) / _raised(epsilon, g, dimension),
    )
    return min(max(round(best * l1), 1), l1)


def _odds(epsilon: Fraction) -> float:
    """Q / (1 - q) for q = exp(-ε); beyond an ε of 700, where floats end, what it is there."""
    return 1 / math.expm1(min(float(epsilon), 700.0))


def _moments(epsilon: Fraction) -> tuple[float, ...]:
    """E J^i of a geometric number, P(J >= j) = exp(-ε j), for i = 0, ..., 4."""
    m = _odds(epsilon)
    return 1.0, m, m + 2 * m**2, m + 6 * m**2 + 6 * m**3, m + 14 * m**2 + 36 * m**3 + 24 * m**4


def _raised(epsilon: Fraction, g: float, power: int) -> float:
    """E (g + J)^power for a power of at most 4."""
    moments = _moments(epsilon)
    return sum(math.comb(power, i) * g ** (power - i) * moments[i] for i in range(power + 1))
