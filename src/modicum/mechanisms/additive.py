"""Integers plus independent integer noise: the Laplace and Gaussian mechanisms on the lattice.

The sensitivity contract is stated where a mechanism is built, by :func:`laplace` or
:func:`gaussian`; the event follows from it. Both are exact: sums of lattice integers have
integer sensitivity, and the noise is an integer (Ghosh, Roughgarden and Sundararajan 2009;
Canonne, Kamath and Steinke 2020, Theorem 4).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.gaussian import discrete_gaussian, discrete_gaussian_many
from modicum.exact.laplace import Integers, as_integers, discrete_laplace, discrete_laplace_many
from modicum.mechanisms.base import (
    ALPHAS,
    SECRET,
    TAIL,
    Floats,
    Mechanism,
    Stated,
    Support,
    check_size,
    needed_rho,
)
from modicum.privacy import budget, split
from modicum.privacy.event import ZCDP, Event, PureDP
from modicum.stored.codec import storable

Cells = tuple[range, Floats]

_VECTOR = 50  # fewer draws are faster one by one
# Standard deviation of noise whose outcomes are not listed one by one.
_WIDE_GAUSSIAN, _WIDE_LAPLACE = 1 << 16, 1 << 12
_NEGLIGIBLE = 45.0  # nats below the largest term: a tail cut there is a relative 1e-15 or so
_MOST_TERMS = 1 << 20  # of one divergence
_WIDEST = 1 << 62  # of sums in int64
_FARTHEST = _WIDEST + (1 << 53)  # noise that takes any such integer beyond ±2^62
_LEAST_VARIANCE = 2.0**-400  # an upper bound where ε is in the hundreds, to be divided by


class Noise(ABC):
    """A distribution of integers about 0; subclasses are frozen dataclasses."""

    __slots__ = ()

    probed: ClassVar[bool] = False
    """Whether two shifted copies differ most at the probes of :class:`Additive`."""

    @property
    def words(self) -> str:
        """What a summary calls it."""
        return str(self)

    @property
    def probe(self) -> int:
        """Distance of the probes from a value."""
        return 10 + 4 * int(self.tail_bound(0.5))

    @abstractmethod
    def sample(self, entropy: Entropy) -> int:
        """Draw one integer."""

    def sample_many(self, count: int, entropy: Entropy) -> list[int]:
        """Draw independent integers."""
        if count < _VECTOR:
            return [self.sample(entropy) for _ in range(count)]
        drawn: list[int] = self.vector(count, entropy).tolist()
        return drawn

    def vector(self, count: int, entropy: Entropy) -> Integers:
        """Draw independent integers as an array."""
        return as_integers([self.sample(entropy) for _ in range(count)])

    def added_to(self, values: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        """Add independent draws to integers of size at most 2^53, as :class:`Additive` does each.

        Sums beyond ±2^62 become ±2^62, which is post-processing [bulk.6].
        """
        drawn = np.clip(self.vector(len(values), entropy), -_FARTHEST, _FARTHEST)
        return np.clip(values + drawn.astype(np.int64, copy=False), -_WIDEST, _WIDEST)

    @abstractmethod
    def log_pmf(self, k: int) -> float:
        """Log probability of ``k``."""

    @abstractmethod
    def masses(self, reach: int) -> Floats:
        """Return the probabilities of -reach, ..., reach, to float precision."""

    @abstractmethod
    def tail_bound(self, alpha: float) -> float:
        """Return a t with P(|noise| > t) <= alpha (0 < alpha < 1)."""

    @abstractmethod
    def beyond(self, t: Floats) -> Floats:
        """Upper bounds of P(noise > t)."""

    def above(self, t: Floats) -> Floats:
        """Closer upper bounds of P(noise > t), where there are any."""
        return self.beyond(t)

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance, or an upper bound of it."""

    @abstractmethod
    def quantile(self, t: float) -> int:
        """Return an integer that the noise exceeds with probability ``t`` <= 1/2, or about so."""

    def transform(self, u: Floats) -> Floats:
        """Return the characteristic function, the mean of cos(u noise), where it is known."""
        raise NotImplementedError(f"no characteristic function of {type(self).__name__}")

    @abstractmethod
    def length(self, width: int) -> float:
        """Size of ``width`` independent draws, about, in the norm of the sensitivity."""

    def sum_bound(self, parts: tuple[tuple[float, int], ...], alpha: float) -> float:
        """Return a t that a weighted sum of independent noises exceeds with probability <= alpha.

        ``parts`` are weights of at least 0, each with the number of noises that have it; alpha is
        in (0, 1).

        Examples
        --------
        >>> noise = LaplaceNoise(Fraction(1))
        >>> one, hundred = (noise.sum_bound(((1.0, n),), 0.05) for n in (1, 100))
        >>> one < 5, hundred < 40
        (True, True)
        """
        used = tuple((weight, times) for weight, times in parts if weight > 0 and times)
        return self._chernoff(used, math.log(1 / alpha)) if used else 0.0

    @abstractmethod
    def _chernoff(self, parts: tuple[tuple[float, int], ...], limit: float) -> float:
        """Bound a sum by P(S >= t) <= E e^(λ S) e^(-λ t) = e^-limit, at some λ (Chernoff 1952)."""

    @property
    def stride(self) -> int:
        """Distance of the integers at which a divergence is summed, in place of all integers."""
        return 1

    def cells(self) -> Cells | None:
        """Starts of stretches of wide noise, and their masses; 0 is a start."""
        return None


@storable
@dataclass(frozen=True, slots=True)
class LaplaceNoise(Noise):
    """Discrete Laplace: P(k) = (1 - a) / (1 + a) a^|k| with a = exp(-1/scale)."""

    scale: Fraction
    probed = True  # the log ratio is constant outside the interval between the two values

    @property
    def words(self) -> str:
        return f"discrete Laplace, scale {budget.short_text(self.scale)}"

    @property
    def _rate(self) -> float:
        # A quotient of integers is rounded once, as that of fractions is, which takes much longer.
        return self.scale.denominator / self.scale.numerator

    def sample(self, entropy: Entropy) -> int:
        return discrete_laplace(self.scale, entropy)

    def vector(self, count: int, entropy: Entropy) -> Integers:
        return discrete_laplace_many(self.scale, count, entropy)

    def log_pmf(self, k: int) -> float:
        """Log probability of ``k``; the differences between two k are exact to rounding."""
        # (1 - a)/(1 + a) = tanh(1/(2 scale)), which does not cancel for large scales.
        above, below = self.scale.numerator, self.scale.denominator
        return math.log(math.tanh(below / (2 * above))) - abs(int(k)) * below / above

    def masses(self, reach: int) -> Floats:
        found: Floats = np.exp(-np.abs(np.arange(-reach, reach + 1)) * self._rate)
        return found * math.tanh(float(1 / (2 * self.scale)))

    def tail_bound(self, alpha: float) -> float:
        """P(|noise| >= j) = 2 a^j / (1 + a), solved for the least integer j."""
        rate = self._rate
        return max(0.0, math.ceil((math.log(2 / alpha) - math.log1p(math.exp(-rate))) / rate) - 1.0)

    def beyond(self, t: Floats) -> Floats:
        """P(noise >= j) = a^j / (1 + a) for j >= 1, here with j >= t; the bound is 1 below 0."""
        rate = self._rate
        share: Floats = np.exp(-rate * np.maximum(t, 0.0)) / (1 + math.exp(-rate))
        return np.where(t < 0, 1.0, share)

    @property
    def variance(self) -> float:
        """2a/(1-a)², in a form that neither overflows nor cancels; not 0 where it is next to it."""
        rate = self._rate
        return max(2 * math.exp(-rate) / math.expm1(-rate) ** 2, _LEAST_VARIANCE)

    def quantile(self, t: float) -> int:
        """Return the least k >= 0 with P(K > k) = a^(k+1) / (1 + a) <= t."""
        rate = self._rate
        shift = math.log1p(math.exp(-rate))
        return max(0, math.ceil(-(math.log(t) + shift) / rate - 1))

    def transform(self, u: Floats) -> Floats:
        """1 / (1 + (sin(u/2) / sinh(rate/2))²): that of :meth:`_chernoff` at i u."""
        # For a rate beyond 1400 the noise is 0, whatever is drawn.
        ratio = np.sin(u / 2) / math.sinh(min(self._rate / 2, 700.0))
        found: Floats = 1 / (1 + ratio**2)
        return found

    def length(self, width: int) -> float:
        return width * float(self.scale)

    def _chernoff(self, parts: tuple[tuple[float, int], ...], limit: float) -> float:
        return _laplace_sum(self._rate, parts, limit)

    def cells(self) -> Cells | None:
        """Cut at 32nds of the standard deviation; beyond 21 of them there is a mass of 1e-13.

        The law is geometric on either side, so the mass of a stretch of m integers follows from the
        log densities at its ends: with their difference s, and t = s / (m - 1), the mean of
        exp(t i) over i = 0, ..., m - 1 is expm1(m t) / expm1(t) / m.
        """
        if self.variance < _WIDE_LAPLACE**2:
            return None
        starts = _stretches(self.variance, parts=32, reach=21)
        size = float(starts.step)
        first, last = (
            np.array([self.log_pmf(k + more) for k in starts]) for more in (0, starts.step - 1)
        )
        t = (last - first) / (size - 1)
        return starts, np.exp(first) * size * (np.expm1(size * t) / np.expm1(t) / size)


@storable
@dataclass(frozen=True, slots=True)
class GaussianNoise(Noise):
    """Discrete Gaussian: P(k) ∝ exp(-k²/(2 sigma2)) (Canonne, Kamath and Steinke 2020)."""

    sigma2: Fraction
    probed = True  # its cost, a zCDP, is not measured by log ratios

    @property
    def words(self) -> str:
        return f"discrete Gaussian, σ² = {budget.short_text(self.sigma2)}"

    def sample(self, entropy: Entropy) -> int:
        return discrete_gaussian(self.sigma2, entropy)

    def vector(self, count: int, entropy: Entropy) -> Integers:
        return discrete_gaussian_many(self.sigma2, count, entropy)

    def log_pmf(self, k: int) -> float:
        above, below = self.sigma2.numerator, self.sigma2.denominator
        return -(int(k) ** 2 * below / (2 * above)) - math.log(_theta(above / below))

    def masses(self, reach: int) -> Floats:
        squares = np.arange(-reach, reach + 1, dtype=np.float64) ** 2
        found: Floats = np.exp(-squares / (2 * float(self.sigma2)))
        return found / _theta(float(self.sigma2))

    def tail_bound(self, alpha: float) -> float:
        """The continuous Gaussian dominates the discrete one (ibid., Proposition 25).

        P(X >= t) <= P(N(0, sigma2) >= t - 1) <= exp(-(t-1)²/(2 sigma2)).
        """
        return 1.0 + math.sqrt(2 * float(self.sigma2) * math.log(2 / alpha))

    def beyond(self, t: Floats) -> Floats:
        """Chernoff's bound of the continuous law (ibid.), exp(-(t-1)²/(2 sigma2)) / 2, or 1."""
        share: Floats = np.exp(-((t - 1) ** 2) / (2 * float(self.sigma2))) / 2
        return np.where(t < 1, 1.0, share)

    def above(self, t: Floats) -> Floats:
        """P(noise >= j) <= P(N(0, sigma2) >= j - 1) (ibid.), j the least integer above t."""
        z = np.floor(t) / math.sqrt(2 * float(self.sigma2))
        return np.array([math.erfc(each) / 2 for each in z.tolist()])

    @property
    def variance(self) -> float:
        """The upper bound sigma2 (ibid., Corollary 9)."""
        return float(self.sigma2)

    def quantile(self, t: float) -> int:
        normal = import_module("statistics").NormalDist(sigma=math.sqrt(self.variance))
        deviate: float = normal.inv_cdf(t)
        return round(-deviate)

    def transform(self, u: Floats) -> Floats:
        """A ratio of theta series: of the integers, or of their dual, whichever is shorter."""
        sigma2 = float(self.sigma2)
        if sigma2 < 1:
            k = np.arange(1, int(math.sqrt(2 * sigma2 * _NEGLIGIBLE)) + 2)[:, None]
            weights = np.exp(-(k**2) / (2 * sigma2))
            found: Floats = 1 + 2 * (weights * np.cos(k * u)).sum(axis=0)
            found /= 1 + 2 * weights.sum()
            return found
        near = u - 2 * math.pi * np.round(u / (2 * math.pi))
        shifts = 2 * math.pi * np.array([[-1.0], [0.0], [1.0]])
        dual: Floats = np.exp(-sigma2 * (near - shifts) ** 2 / 2).sum(axis=0)
        dual *= math.sqrt(2 * math.pi * sigma2) / _theta(sigma2)
        return dual

    def length(self, width: int) -> float:
        return math.sqrt(width * self.variance)

    def _chernoff(self, parts: tuple[tuple[float, int], ...], limit: float) -> float:
        # E e^(λ K) is at most e^(λ² sigma2/2) (ibid.).
        variance = self.variance * sum(times * weight**2 for weight, times in parts)
        return math.sqrt(2 * variance * limit)

    @property
    def stride(self) -> int:
        """A quarter of the standard deviation: see :func:`_shifted`."""
        return max(1, math.floor(math.sqrt(self.variance) / 4))

    def cells(self) -> Cells | None:
        """Cut at 256ths of the standard deviation.

        The density at a start stands for its stretch, as if all were shifted by half a stretch, a
        512th of a standard deviation: a sample of less than 10^5 draws cannot show it. The
        densities, times the length, add up to 1 but for a relative 1e-130 (Poisson summation).
        """
        if self.variance < _WIDE_GAUSSIAN**2:
            return None
        starts = _stretches(self.variance, parts=256, reach=9)
        densities = np.array([self.log_pmf(k) for k in starts])
        return starts, np.exp(densities) * float(starts.step)


@lru_cache(maxsize=1024)
def _laplace_sum(rate: float, parts: tuple[tuple[float, int], ...], limit: float) -> float:
    # E e^(λ K) is (1 - a)² / ((1 - a e^λ) (1 - a e^-λ)),
    # which is 1 / (1 - (sinh(λ/2) / sinh(rate/2))²).
    most = rate / max(weight for weight, _ in parts)
    # λ up to the pole, and small ones, which are best for many noises
    powers = np.exp2(-np.arange(1, 80) / 8.0)
    slopes = most * np.concatenate([1 - powers, powers])
    total = np.full(len(slopes), limit)
    for weight, times in parts:
        ratio = _sinh_ratio(slopes * weight / 2, rate / 2)
        total -= times * np.log1p(-(ratio**2))
    return float((total / slopes).min())


def _sinh_ratio(x: Floats, y: float) -> Floats:
    """sinh(x) / sinh(y) for 0 < x < y, without overflow."""
    ratio: Floats = np.exp(x - y) * np.expm1(-2 * x) / math.expm1(-2 * y)
    return ratio


def _stretches(variance: float, *, parts: int, reach: int) -> range:
    """Starts of stretches of 1/parts of a standard deviation, up to ``reach`` of these from 0."""
    stride = int(math.sqrt(variance)) // parts
    return range(-reach * parts * stride, reach * parts * stride, stride)


@lru_cache(maxsize=1024)
def _theta(sigma2: float) -> float:
    """Sum of exp(-k²/(2 sigma2)) over the integers, by the faster of its two theta series."""
    if sigma2 >= 1:  # Poisson summation: sqrt(2 pi s) (1 + 2 sum_j exp(-2 pi² s j²))
        dual = 2 * math.pi**2 * sigma2
        return math.sqrt(2 * math.pi * sigma2) * (
            1 + 2 * sum(math.exp(-dual * j * j) for j in range(1, 4))
        )
    terms = int(math.sqrt(2 * sigma2 * 750)) + 1
    return 1 + 2 * sum(math.exp(-k * k / (2 * sigma2)) for k in range(1, terms + 1))


@lru_cache(maxsize=8192)
def _shifted(noise: Noise, shift: int) -> Floats:
    """Divergences over α, in both directions, of noise about ``shift`` and about 0.

    The window of summation is doubled until, at the largest α, the terms at its ends are
    negligible beside the largest one, in both directions.

    For the discrete Gaussian every term P^α Q^(1-α) is exp of -z²/(2 σ²) plus a linear part. The
    sum over multiples of h, times h, then differs from the sum over all integers by a relative
    2 exp(-2 π² σ²/h²) (Poisson summation): with h <= σ/4 by less than 1e-130. See [audit.7].
    """
    if shift == 0:
        return np.zeros((2, len(ALPHAS)))
    stride = noise.stride
    # For Gaussian noise the largest term at the largest α lies at α shift.
    reach = math.ceil(ALPHAS[-1]) * shift + 11 * math.ceil(math.sqrt(noise.variance))
    reach //= stride
    density = cache(noise.log_pmf)  # the windows of both laws overlap
    while reach < _MOST_TERMS:
        outcomes = range(-reach * stride, reach * stride + 1, stride)
        p = np.array([density(k - shift) for k in outcomes])
        q = np.array([density(k) for k in outcomes])
        worst = [ALPHAS[-1] * a - (ALPHAS[-1] - 1) * b for a, b in ((p, q), (q, p))]
        if all(max(w[0], w[-1]) < w.max() - _NEGLIGIBLE for w in (*worst, p, q)):
            return np.array([needed_rho(p, q, float(stride)), needed_rho(q, p, float(stride))])
        reach *= 2
    raise InvalidArgument(
        f"the divergence of {noise} about {shift} and about 0 needs more than {_MOST_TERMS:,} "
        "terms: audit the same law at a smaller noise scale"
    )


@dataclass(frozen=True, slots=True)
class Additive(Stated[tuple[int, ...]]):
    """``values[i] + noise[i]``, independently for every coordinate.

    The values are the exact statistics (secret); ``stated``, the cost of one draw, is derived from
    their sensitivity by the functions of this module.
    """

    values: tuple[int, ...] = field(repr=False, metadata=SECRET)
    noise: tuple[Noise, ...]
    stated: Event

    @property
    def dimension(self) -> int:
        return len(self.values)

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        return tuple(v + z.sample(entropy) for v, z in zip(self.values, self.noise, strict=True))

    @classmethod
    def sample_many(cls, mechanisms: Sequence[Additive], entropy: Entropy) -> list[tuple[int, ...]]:
        """Draw from many mechanisms; equal noise, which is public, is drawn as one vector."""
        times = Counter(noise for mechanism in mechanisms for noise in mechanism.noise)
        drawn: dict[Noise, Iterator[int]] = {
            noise: iter(noise.sample_many(count, entropy)) for noise, count in times.items()
        }
        return [
            tuple(
                v + next(drawn[z]) for v, z in zip(mechanism.values, mechanism.noise, strict=True)
            )
            for mechanism in mechanisms
        ]

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return sum(
            z.log_pmf(k - v) for k, v, z in zip(outcome, self.values, self.noise, strict=True)
        )

    def log_densities(self, outcomes: Sequence[tuple[int, ...]]) -> Floats:
        if self.dimension != 1:
            return Mechanism.log_densities(self, outcomes)
        (value,), (noise,) = self.values, self.noise
        return np.array([noise.log_pmf(k - value) for (k,) in outcomes], dtype=np.float64)

    def factors(self) -> tuple[Additive, ...]:
        pairs = zip(self.values, self.noise, strict=True)
        return tuple(Additive((value,), (noise,), self.stated) for value, noise in pairs)

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Each coordinate below, at and above its value."""
        reach = max(z.probe for z in self.noise)
        return product(*[(v - reach, v, v + reach) for v in self.values])

    @classmethod
    def telling(cls, mechanisms: Sequence[Additive]) -> list[tuple[int, ...]]:
        """Return the probes of all laws, or all outcomes if noise is not ``probed``."""
        if all(noise.probed for noise in mechanisms[0].noise):
            return Mechanism.telling(mechanisms)
        return list(cls.support(mechanisms).outcomes)

    @classmethod
    def support(cls, mechanisms: Sequence[Additive]) -> Support:
        """List the integers around the values; a vector is listed by its factors."""
        if mechanisms[0].dimension > 1:
            raise InvalidArgument("the outcomes of a vector with noise are listed by its factors")
        ends = [
            mechanism.values[0] + sign * math.ceil(mechanism.noise[0].tail_bound(TAIL))
            for mechanism in mechanisms
            for sign in (-1, 1)
        ]
        check_size(max(ends) - min(ends) + 1)
        return Support.of((k,) for k in range(min(ends), max(ends) + 1))

    def cells(self) -> tuple[Support, Floats]:
        """Cut the integers; wide noise has its own stretches."""
        wide = self.noise[0].cells() if self.dimension == 1 else None
        if wide is None:
            return Mechanism.cells(self)
        starts, masses = wide
        outcomes = tuple((self.values[0] + k,) for k in starts)
        return Support(outcomes, np.full(len(outcomes), float(starts.step))), masses

    def renyi(self, other: Additive) -> Floats:
        """Sum over a window of integers that grows with the order, not over the support."""
        if self.noise != other.noise or self.dimension > 1:
            return Mechanism.renyi(self, other)
        shift = self.values[0] - other.values[0]
        needed = _shifted(self.noise[0], abs(shift))
        return needed if shift > 0 else needed[::-1]


def laplace(
    values: Iterable[int], *, l1: int, epsilon: Fraction, weights: Sequence[int] | None = None
) -> Additive:
    """Discrete Laplace mechanism: every coordinate with scale ``l1 / (weight epsilon)``.

    Sensitivity contract: sum_i weights[i] |v_i - v'_i| <= ``l1`` between neighbours, ``l1`` and the
    weights being positive. Without weights each is 1, so that ``l1`` bounds the change in L1 norm;
    a coordinate of weight w has noise 1/w as large. One draw is pure ε:

    log ratio = sum_i (|k_i - v_i| - |k_i - v'_i|) weights[i] ε / l1
    <= sum_i |v_i - v'_i| weights[i] ε / l1 <= ε.
    """
    exact = tuple(values)
    if weights is None:
        noise: tuple[Noise, ...] = (LaplaceNoise(l1 / epsilon),) * len(exact)
    else:
        noise = tuple(LaplaceNoise(l1 / (weight * epsilon)) for weight in weights)
    return Additive(exact, noise, PureDP(epsilon))


def gaussian(
    values: Iterable[int], *, l2: int, rho: Fraction, weights: Sequence[int] | None = None
) -> Additive:
    """Discrete Gaussian mechanism: every coordinate with sigma² = ``l2² / (2 weight² rho)``.

    Sensitivity contract: sum_i weights[i]² (v_i - v'_i)² <= ``l2²`` between neighbours, ``l2`` and
    the weights being positive. Without weights each is 1, so that ``l2`` bounds the change in L2
    norm; a coordinate of weight w has noise 1/w as large.

    A coordinate costs (v_i - v'_i)² / (2 sigma_i²) (Canonne, Kamath and Steinke 2020, Theorem 4,
    which is for each), and the costs of independent coordinates add up: one draw is ρ-zCDP.
    """
    exact = tuple(values)
    if weights is None:
        noise: tuple[Noise, ...] = (GaussianNoise(Fraction(l2) ** 2 / (2 * rho)),) * len(exact)
    else:
        noise = tuple(GaussianNoise(Fraction(l2, weight) ** 2 / (2 * rho)) for weight in weights)
    return Additive(exact, noise, ZCDP(rho))


def add_noise(
    values: Iterable[int],
    share: split.Share,
    *,
    sensitivity: int,
    weights: Sequence[int] | None = None,
) -> Additive:
    """Integers plus the noise that a share of a budget allows: Laplace in pure ε, Gaussian in zCDP.

    ``sensitivity`` must bound their L1 and their L2 change, both weighted if there are weights.
    """
    if share.zcdp is None:
        return laplace(values, l1=sensitivity, epsilon=share.pure, weights=weights)
    return gaussian(values, l2=sensitivity, rho=share.zcdp, weights=weights)


def add_noise_to_sums(
    values: Iterable[int], share: split.Share, *, size: int, records: int, widest: int
) -> Additive:
    """Sums of cells plus the noise that a share allows, for all the records of a person.

    Sensitivity contract: every cell is part of one of the ``values``, each of which adds up at most
    ``widest`` cells; a person more or less changes at most ``records`` cells, each by at most
    ``size``. So the change in L1 norm is at most records size. If d_j cells of a person are part of
    value j, then d_j <= min(records, widest), and the change in L2 norm is at most the root of
    sum_j (d_j size)² <= min(records, widest) records size². See [crosstab.2].
    """
    exact = tuple(values)
    if share.zcdp is None:
        return laplace(exact, l1=records * size, epsilon=share.pure)
    squared = min(records, widest) * records * size**2
    noise = GaussianNoise(squared / (2 * share.zcdp))
    return Additive(exact, (noise,) * len(exact), ZCDP(share.zcdp))


def noise_sd(share: split.Share) -> float:
    """Return the standard deviation of the noise of a count with this share."""
    return math.sqrt(add_noise((0,), share, sensitivity=1).noise[0].variance)


@dataclass(frozen=True, slots=True)
class VectorNoise(Mechanism[tuple[int, ...]]):
    """``values[j] + noise[j]``, discrete Gaussian noise with sigma² = bound² / (2 rho) for each j.

    Prefer it to :func:`gaussian` for long vectors: all components are drawn at once. The discrete
    Gaussian on a lattice of step one is exact, since clipped rows are integers, and its zCDP is
    that of the continuous law (Canonne, Kamath and Steinke 2020, Theorem 14).

    Sensitivity contract: neighbours change ``values``, which are secret, by at most ``bound`` in L2
    norm. Then the Rényi divergence of order α is at most α sum_j shift_j² / (2 sigma²) <= α rho,
    for every α.
    """

    values: tuple[int, ...] = field(repr=False, metadata=SECRET)
    bound: int
    rho: Fraction

    @classmethod
    def of(cls, values: tuple[int, ...], share: split.Share, *, bound: int) -> VectorNoise:
        assert share.zcdp is not None
        return cls(values, bound, share.zcdp)

    @property
    def noise(self) -> tuple[Noise, ...]:
        return (GaussianNoise(Fraction(self.bound**2) / (2 * self.rho)),) * len(self.values)

    @property
    def event(self) -> Event:
        return ZCDP(self.rho)

    @property
    def dimension(self) -> int:
        return len(self.values)

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        drawn = self.noise[0].sample_many(len(self.values), entropy)
        return tuple(v + z for v, z in zip(self.values, drawn, strict=True))

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return Additive(self.values, self.noise, self.event).log_density(outcome)

    def factors(self) -> tuple[Additive, ...]:
        return Additive(self.values, self.noise, self.event).factors()

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Every component at its value, then one after the other far below and above."""
        reach = 10 + 4 * int(self.noise[0].tail_bound(0.5))
        yield self.values
        for place, value in enumerate(self.values):
            for moved in (value - reach, value + reach):
                yield (*self.values[:place], moved, *self.values[place + 1 :])
