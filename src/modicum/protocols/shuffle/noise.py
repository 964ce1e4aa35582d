"""Shares of noise that add up to a known one: Pólya numbers to Laplace, Poisson to Skellam.

What Skellam noise guarantees is at the end.
"""

from __future__ import annotations

import bisect
import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.enclosure import exp_bounds, ln_bounds
from modicum.exact.entropy import Entropy
from modicum.protocols.local.protocol import Floats, Integers

LARGEST_RATE = 1 << 26  # mean of Poisson numbers beyond which tables would be too long
_WORD = 64


class _InverseSampler(ABC):
    """A distribution on 0, 1, ... that is drawn from by inversion of its distribution function."""

    __slots__ = ()

    @abstractmethod
    def _placed(self, word: int, known: int) -> int | None:
        """The least k with U < P(X <= k), if so many known bits of U decide it."""

    def _sample_slowly(self, word: int, entropy: Entropy) -> int:
        """The least k with U < P(X <= k), for a lazy uniform U that begins with a word.

        [shuffle.2] Probabilities are enclosed between integers over a power of two. Where U cannot
        be placed, it gets 64 bits more, and the enclosures too; what was decided stays decided.
        """
        known = _WORD
        while (k := self._placed(word, known)) is None:
            word, known = word << _WORD | entropy.word(), known + _WORD
        return k


@dataclass(frozen=True, slots=True)
class Polya(_InverseSampler):
    """Negative binomial with size r and ratio a = exp(-rate): P(k) = (1-a)^r a^k (r)_k / k!.

    Notes
    -----
    [shuffle.1] The sum of n independent ones of size 1/n is geometric, P(k) = (1 - a) a^k, and the
    difference of two geometric numbers is discrete Laplace with scale 1/rate.
    """

    size: Fraction  # r; 1/n for one of n shares
    rate: Fraction

    def __post_init__(self) -> None:
        if self.size <= 0 or self.rate <= 0:
            raise InvalidArgument(
                f"size and rate must be positive, got {self.size} and {self.rate}"
            )

    def log_pmf(self, k: int) -> float:
        r, rate = float(self.size), float(self.rate)
        choices = math.lgamma(k + r) - math.lgamma(k + 1) - math.lgamma(r)
        return choices + r * math.log(-math.expm1(-rate)) - k * rate

    def sample_many(self, count: int, entropy: Entropy) -> Integers:
        """Draw independent numbers. Most are 0 if the size is small, and cost one word each."""
        words, found = entropy.words(count), np.zeros(count, np.int64)
        surely_zero = np.uint64(max(0, (_at_zero(self, 2 * _WORD)[0] >> _WORD) - 1))
        for i in np.flatnonzero(words >= surely_zero).tolist():
            found[i] = self._sample_slowly(int(words[i]), entropy)
        return found

    def _placed(self, word: int, known: int) -> int | None:
        bits = known + _WORD
        first, last = word << (bits - known), (word + 1) << (bits - known)
        low, high = _at_zero(self, bits)
        ratio = _ratio(self, bits)
        below, above = low, high  # enclose P(X <= k)
        top, bottom = self.size.numerator, self.size.denominator
        k = 0
        while True:
            if last <= below:
                return k
            if first < above:
                return None
            numerator, denominator = k * bottom + top, ((k + 1) * bottom) << bits
            low = low * ratio[0] * numerator // denominator
            high = -(-high * ratio[1] * numerator // denominator)
            below, above, k = below + low, above + high, k + 1


@functools.lru_cache(maxsize=256)
def _ratio(mechanism: Polya, bits: int) -> tuple[int, int]:
    """Enclose a 2^bits."""
    low, high = exp_bounds(-mechanism.rate, bits // 3)
    return math.floor(low * 2**bits), math.ceil(high * 2**bits)


@functools.lru_cache(maxsize=256)
def _at_zero(mechanism: Polya, bits: int) -> tuple[int, int]:
    """Enclose (1 - a)^r 2^bits."""
    digits = bits // 3
    low, high = exp_bounds(-mechanism.rate, digits)
    ends = (
        exp_bounds(mechanism.size * ln_bounds(1 - high, digits)[0], digits)[0],
        exp_bounds(mechanism.size * ln_bounds(1 - low, digits)[1], digits)[1],
    )
    return math.floor(ends[0] * 2**bits), math.ceil(ends[1] * 2**bits)


@dataclass(frozen=True, slots=True)
class Poisson(_InverseSampler):
    """P(k) = e^-λ λ^k / k!.

    Notes
    -----
    [shuffle.10] Sums of independent ones are Poisson with the sum of the rates: n differences of
    two with rate λ make up Skellam noise of variance 2 n λ.
    """

    rate: Fraction  # λ

    def __post_init__(self) -> None:
        if not 0 < self.rate <= LARGEST_RATE:
            raise InvalidArgument(f"the rate must lie in (0, 2^26], got {float(self.rate):g}")

    def log_pmf(self, k: int) -> float:
        rate = float(self.rate)
        return k * math.log(rate) - rate - math.lgamma(k + 1)

    def sample_many(self, count: int, entropy: Entropy) -> Integers:
        """Draw independent numbers by inversion, one word each but for the rarest."""
        first, below, above = _words(self)
        words = entropy.words(count)
        # U lies in [word, word + 1)/2^64: the least k with P(X <= k) >= (word + 1)/2^64 for sure.
        places = np.searchsorted(below, words, side="right")
        sure = (places < len(below)) & ((places == 0) | (words > above[places - 1]))
        if first:
            sure &= places > 0
        found: Integers = first + places.astype(np.int64)
        for i in np.flatnonzero(~sure).tolist():
            found[i] = self._sample_slowly(int(words[i]), entropy)
        return found

    def _placed(self, word: int, known: int) -> int | None:
        first, low, high = _enclosed(self.rate, known)
        place = bisect.bisect_right(low, word)
        if place == len(low) or (place == 0 and first) or (place and word < high[place - 1]):
            return None
        return first + place


@functools.lru_cache(maxsize=16)
def _enclosed(rate: Fraction, bits: int) -> tuple[int, list[int], list[int]]:
    """Enclose 2^bits P(X <= k) for consecutive k: the first k, lower ends, upper ends.

    [shuffle.11] Probabilities are followed from the mode by their ratios, upwards λ/(k + 1) and
    downwards k/λ, in integers over 2^(bits + 64) that are rounded down and up. They are not
    normalised: the sum of all is, and geometric series bound what was left out. So no exponential
    is needed.
    """
    top, bottom = rate.numerator, rate.denominator
    mode, one = math.floor(rate), 1 << (bits + _WORD)
    least = 1 << (_WORD // 2)
    down, up = [(one, one)], [(one, one)]
    k = mode
    while k > 0 and down[-1][1] > least:
        low, high = down[-1]
        down.append((low * k * bottom // top, -(-high * k * bottom // top)))
        k -= 1
    first = k
    # P(X < k)/P(k) <= k/(λ - k), and P(X > k)/P(k) <= λ/(k + 1 - λ).
    under = -(-down[-1][1] * first * bottom // (top - first * bottom)) if first else 0
    k = mode
    while up[-1][1] > least:
        k += 1
        low, high = up[-1]
        up.append((low * top // (k * bottom), -(-high * top // (k * bottom))))
    over = -(-up[-1][1] * top // ((k + 1) * bottom - top))
    weights = down[:0:-1] + up
    whole = sum(low for low, _ in weights), sum(high for _, high in weights) + under + over
    lows, highs, low, high = [], [], 0, under
    for w, v in weights:
        low, high = low + w, high + v
        lows.append((low << bits) // whole[1])
        highs.append(-((-high << bits) // whole[0]))
    return first, lows, highs


@functools.lru_cache(maxsize=16)
def _words(mechanism: Poisson) -> tuple[int, NDArray[np.uint64], NDArray[np.uint64]]:
    """The enclosures as words: a word is above P(X <= k) if it exceeds the second."""
    first, lows, highs = _enclosed(mechanism.rate, _WORD)
    most = (1 << _WORD) - 1
    below = np.array([min(x, most) for x in lows], np.uint64)
    return first, below, np.array([min(x - 1, most) for x in highs], np.uint64)


_SPARE = 1e-6  # what floats may be wrong by, and more
_STEPS = 60
_ORDERS = np.exp(np.linspace(math.log(1e-3), math.log(1e6), 4000))  # of Rényi, less 1


def _scaled_renyi(s: Floats, variance: float, distance: float) -> Floats:
    """Bound the Rényi divergences of orders 1 + s, s > 0, times s [shuffle.12].

    ``variance`` is μ of the noise of each coordinate, above 2, and ``distance`` the L2 norm of the
    difference of two integer vectors.
    """
    moved = np.sinh(s * distance / (2 * (variance - 2)))
    return np.asarray(s * distance**2 / (2 * (variance - 2)) + 2 * variance * moved**2)


def skellam_delta(epsilon: float, *, variance: float, distance: float) -> float:
    """A δ for an ε: the best of many orders (Canonne, Kamath and Steinke 2020)."""
    s = _ORDERS
    with np.errstate(over="ignore", invalid="ignore"):
        logs = _scaled_renyi(s, variance, distance) - s * epsilon
        logs += (s + 1) * np.log(s / (s + 1)) - np.log(s)
    return min(1.0, math.exp(min(0.0, float(np.nanmin(logs)))) * (1 + _SPARE))


def skellam_variance(epsilon: float, delta: float, *, distance: float) -> int:
    """The least variance of each coordinate's noise for (ε, δ), to a thousandth above it."""
    low, high = 2.0, 2.0 + distance**2 * 1e12
    if skellam_delta(epsilon, variance=high, distance=distance) > delta:
        raise InvalidArgument(f"no Skellam noise was found for ε = {epsilon:g}, δ = {delta:g}")
    for _ in range(_STEPS):
        middle = 2 + math.sqrt((max(low, 2 + 1e-9) - 2) * (high - 2))
        reached = skellam_delta(epsilon, variance=middle, distance=distance) <= delta
        low, high = (low, middle) if reached else (middle, high)
    # A coarse number is the same on every machine.
    unit = 1 << max(0, math.frexp(high)[1] - 11)
    return math.ceil(high / unit) * unit
