"""Shares of discrete Laplace noise: differences of negative binomials with a fractional size."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.enclosure import exp_bounds, ln_bounds
from modicum.exact.entropy import Entropy

__all__ = ["Polya"]

_WORD = 64


@dataclass(frozen=True, slots=True)
class Polya:
    """Negative binomial with size r and ratio a = exp(-rate): P(k) = (1-a)^r a^k (r)_k / k!.

    Parameters
    ----------
    size : Fraction
        r, positive; 1/n for one of n shares.
    rate : Fraction
        Positive.

    Raises
    ------
    InvalidArgument
        Unless both are positive.

    Notes
    -----
    [P1] The sum of n independent ones of size 1/n is geometric, P(k) = (1 - a) a^k, and the
    difference of two geometric numbers is discrete Laplace with scale 1/rate.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> entropy = SeededEntropy(0)
    >>> noise = Polya(Fraction(1), Fraction(1, 5))
    >>> bool(abs(noise.sample_many(2000, entropy).mean() - 4.5) < 0.5)
    True
    """

    size: Fraction
    rate: Fraction

    def __post_init__(self) -> None:
        """Refuse what is no law."""
        if self.size <= 0 or self.rate <= 0:
            raise InvalidArgument(
                f"size and rate must be positive, got {self.size} and {self.rate}"
            )

    def log_pmf(self, k: int) -> float:
        """Log probability of k >= 0."""
        r, rate = float(self.size), float(self.rate)
        choices = math.lgamma(k + r) - math.lgamma(k + 1) - math.lgamma(r)
        return choices + r * math.log(-math.expm1(-rate)) - k * rate

    def sample_many(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draw independent numbers. Most are 0 if the size is small, and cost one word each."""
        words = entropy.words(count)
        drawn = np.zeros(count, np.int64)
        surely_zero = np.uint64(max(0, (_at_zero(self, 2 * _WORD)[0] >> _WORD) - 1))
        for i in np.flatnonzero(words >= surely_zero).tolist():
            drawn[i] = self._inverted(int(words[i]), entropy)
        return drawn

    def _inverted(self, word: int, entropy: Entropy) -> int:
        """Return the least k with U < P(X <= k), for a lazy uniform U that begins with a word.

        [P2] Probabilities are enclosed between integers over 2^bits. Where U cannot be placed, it
        gets 64 bits more, and the enclosures too; what was decided stays decided.
        """
        known, bits = _WORD, 2 * _WORD
        while True:
            k = self._placed(word, known, bits)
            if k is not None:
                return k
            word, known, bits = word << _WORD | entropy.word(), known + _WORD, bits + _WORD

    def _placed(self, word: int, known: int, bits: int) -> int | None:
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
def _ratio(law: Polya, bits: int) -> tuple[int, int]:
    """Enclose a 2^bits."""
    low, high = exp_bounds(-law.rate, bits // 3)
    return math.floor(low * 2**bits), math.ceil(high * 2**bits)


@functools.lru_cache(maxsize=256)
def _at_zero(law: Polya, bits: int) -> tuple[int, int]:
    """Enclose (1 - a)^r 2^bits."""
    digits = bits // 3
    low, high = exp_bounds(-law.rate, digits)
    ends = (
        exp_bounds(law.size * ln_bounds(1 - high, digits)[0], digits)[0],
        exp_bounds(law.size * ln_bounds(1 - low, digits)[1], digits)[1],
    )
    return math.floor(ends[0] * 2**bits), math.ceil(ends[1] * 2**bits)
