"""Shares of Skellam noise: differences of Poisson numbers, whose sums are of the same law."""

from __future__ import annotations

import bisect
import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy

__all__ = ["LARGEST_RATE", "Poisson"]

LARGEST_RATE = 1 << 26
"""Mean beyond which tables would be too long."""

_WORD = 64


@dataclass(frozen=True, slots=True)
class Poisson:
    """P(k) = e^-λ λ^k / k!.

    Parameters
    ----------
    rate : Fraction
        λ, positive and at most 2^26.

    Raises
    ------
    InvalidArgument
        For another rate.

    Notes
    -----
    [K1] Sums of independent ones are Poisson with the sum of the rates: n differences of two with
    rate λ make up Skellam noise of variance 2 n λ.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> drawn = Poisson(Fraction(9)).sample_many(2000, SeededEntropy(0))
    >>> bool(abs(drawn.mean() - 9) < 0.3)
    True
    """

    rate: Fraction

    def __post_init__(self) -> None:
        """Refuse what is no law, or has a table that is too long."""
        if not 0 < self.rate <= LARGEST_RATE:
            raise InvalidArgument(f"the rate must lie in (0, 2^26], got {float(self.rate):g}")

    def log_pmf(self, k: int) -> float:
        """Log probability of k >= 0."""
        rate = float(self.rate)
        return k * math.log(rate) - rate - math.lgamma(k + 1)

    def sample_many(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draw independent numbers by inversion, one word each but for the rarest."""
        first, below, above = _words(self)
        words = entropy.words(count)
        # U lies in [word, word + 1)/2^64: the least k with P(X <= k) >= (word + 1)/2^64 for sure.
        places = np.searchsorted(below, words, side="right")
        sure = (places < len(below)) & ((places == 0) | (words > above[places - 1]))
        if first:
            sure &= places > 0
        drawn: NDArray[np.int64] = first + places.astype(np.int64)
        for i in np.flatnonzero(~sure).tolist():
            drawn[i] = self._inverted(int(words[i]), entropy)
        return drawn

    def _inverted(self, word: int, entropy: Entropy) -> int:
        """Return the least k with U < P(X <= k), for a lazy uniform U that begins with a word.

        [P2] Where U cannot be placed, it gets 64 bits more, and the enclosures too.
        """
        bits = _WORD
        while True:
            word, bits = word << _WORD | entropy.word(), bits + _WORD
            k = self._placed(word, bits)
            if k is not None:
                return k

    def _placed(self, word: int, bits: int) -> int | None:
        first, low, high = _enclosed(self.rate, bits)
        place = bisect.bisect_right(low, word)
        if place == len(low) or (place == 0 and first) or (place and word < high[place - 1]):
            return None
        return first + place


@functools.lru_cache(maxsize=16)
def _enclosed(rate: Fraction, bits: int) -> tuple[int, list[int], list[int]]:
    """Enclose 2^bits P(X <= k) for consecutive k: the first k, lower ends, upper ends.

    [K2] Probabilities are followed from the mode by their ratios, upwards λ/(k + 1) and downwards
    k/λ, in integers over 2^(bits + 64) that are rounded down and up. They are not normalised: the
    sum of all is, and geometric series bound what was left out. So no exponential is needed.
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
def _words(law: Poisson) -> tuple[int, NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the enclosures as words: a word is above P(X <= k) if it exceeds the second."""
    first, lows, highs = _enclosed(law.rate, _WORD)
    most = (1 << _WORD) - 1
    below = np.array([min(x, most) for x in lows], np.uint64)
    return first, below, np.array([min(x - 1, most) for x in highs], np.uint64)
