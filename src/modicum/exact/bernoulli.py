"""Coins with exact probabilities: p, exp(-x), and the number of exp(-1) successes in a row."""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.decay import decay
from modicum.exact.enclosure import exp_bounds
from modicum.exact.entropy import Entropy

_WORD = 64
_LAST = 2**_WORD - 1
_LONGEST = 40  # the table of unit_geometric ends here; e^-40 2^64 is still 78


def ratio_coin(numerator: int, denominator: int, entropy: Entropy) -> bool:
    """Return True with probability numerator/denominator, a number in [0, 1], unchecked.

    [samplers.2] U < p for a lazy uniform U: both are compared digit by digit in base 2^64, so that
    huge integers need one word of entropy, but for one coin in 2^64, and one division.
    """
    while True:
        digit, numerator = divmod(numerator << _WORD, denominator)
        word = entropy.word()
        if word != digit:
            return word < digit


def exp_coin(numerator: int, denominator: int, entropy: Entropy) -> bool:
    """Return True with probability exp(-numerator/denominator), 0 <= numerator, unchecked.

    It takes about three words of entropy, however large the exponent is; only integers are
    compared. The law is that of Canonne, Kamath and Steinke (2020), Algorithm 1.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> exp_coin(0, 1, SeededEntropy(0)), exp_coin(99, 1, SeededEntropy(0))
    (True, False)
    """
    if numerator >= denominator:
        # [samplers.4] exp(-x) = exp(-whole) exp(-rest): two independent coins.
        whole, numerator = divmod(numerator, denominator)
        if unit_geometric(entropy) < whole:
            return False
    # [samplers.3] Coins of probability x/k, k = 1, 2, ..., are tossed until one fails, at k = K.
    # Then P(K > k) = x^k/k! and P(K odd) = 1 - x + x²/2 - x³/6 + ... = exp(-x), for 0 <= x <= 1.
    below, reach, odd = entropy.below, denominator, True
    while below(reach) < numerator:
        reach += denominator
        odd = not odd
    return odd


def unit_geometric(entropy: Entropy) -> int:
    """Return V >= 0 with P(V >= v) = exp(-v) exactly, for every v.

    [samplers.5] V = #{v >= 1: U < exp(-v)} for one uniform U whose first 64 bits are compared with
    the table; the undecided case, at most 40 words of 2^64, draws more bits of the same U.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> entropy = SeededEntropy(0)
    >>> [unit_geometric(entropy) for _ in range(10)]
    [1, 1, 0, 1, 1, 0, 0, 0, 0, 0]
    """
    word = entropy.word()
    return _finish(word, bisect_right(_thresholds(), word), entropy)


def geometric(rate: Fraction, entropy: Entropy) -> int:
    """Return G >= 0 with P(G >= k) = exp(-rate k) exactly, for every k; rate > 0, unchecked.

    Canonne, Kamath and Steinke (2020), Algorithm 2, without its sign.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> entropy = SeededEntropy(0)
    >>> [geometric(Fraction(1, 3), entropy) for _ in range(6)]
    [1, 2, 13, 0, 3, 0]
    """
    s, t = rate.numerator, rate.denominator
    while True:
        # X = U + t V has P(X >= x) = exp(-x/t), and G = X // s.
        u = entropy.below(t)
        if exp_coin(u, t, entropy):
            return (u + t * unit_geometric(entropy)) // s


def unit_geometrics(count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return ``count`` independent draws of :func:`unit_geometric`."""
    words = entropy.words(count)
    table = np.array(_thresholds(), np.uint64)
    place = np.searchsorted(table, words, side="right")
    v = _LONGEST - place.astype(np.int64)
    rare = (v == _LONGEST) | (table[place - (place > 0)] == words)
    for i in np.flatnonzero(rare).tolist():
        v[i] = _finish(int(words[i]), int(place[i]), entropy)
    return v


@functools.cache
def _thresholds() -> list[int]:
    """Floors of 2^64 exp(-v), ascending, v = 40, ..., 1."""
    table = []
    for v in range(_LONGEST, 0, -1):
        lower, upper = exp_bounds(Fraction(-v))
        assert math.floor(lower * 2**_WORD) == math.floor(upper * 2**_WORD)
        table.append(math.floor(lower * 2**_WORD))
    return table


def _finish(word: int, place: int, entropy: Entropy) -> int:
    """Complete :func:`unit_geometric`: ``place`` table entries are <= word."""
    v = _LONGEST - place
    if place and _thresholds()[place - 1] == word:
        # U lies in the same 2^-64 as exp(-(v + 1)); every other threshold is decided.
        theta = Fraction(-v - 1)
        v += point_below(word, _WORD, lambda digits: exp_bounds(theta, digits), entropy)
    # Beyond the table the law starts afresh: P(V >= 40 + v | V >= 40) = exp(-v).
    return v if v < _LONGEST else v + unit_geometric(entropy)


def point_below(
    word: int,
    bits: int,
    bounds: Callable[[int], tuple[Fraction, Fraction]],
    entropy: Entropy,
) -> bool:
    """Decide U < theta for a uniform U known to lie in [word, word + 1) 2^-bits.

    ``bounds(digits)`` encloses theta, ever closer as the number of digits grows.

    [samplers.1] U is a real number drawn lazily. Both it and theta are refined until the enclosures
    are disjoint, so the answer is that of the exact comparison. Each round more divides the chance
    of being undecided by about 2^64.
    """
    digits = 40
    while True:
        lower, upper = bounds(digits)
        if word + 1 <= lower * 2**bits:
            return True
        if word >= upper * 2**bits:
            return False
        word = word << _WORD | entropy.word()
        bits += _WORD
        digits += 20


class KnownCoin:
    """A coin for many tosses; ``bounds`` encloses its probability as in :func:`point_below`.

    One enclosure, rounded to whole words, decides nearly all tosses: a word w stands for [w, w + 1)
    2^-64. It is heads below ``sure`` and tails from ``never`` on. The others go on with the same
    uniform number.
    """

    __slots__ = ("bounds", "never", "sure")

    def __init__(self, bounds: Callable[[int], tuple[Fraction, Fraction]]) -> None:
        lower, upper = bounds(40)
        self.bounds = bounds
        self.sure: int = max(0, math.floor(lower * 2**_WORD))
        self.never: int = math.ceil(upper * 2**_WORD)

    def toss(self, entropy: Entropy) -> bool:
        word = entropy.word()
        if word < self.sure or word >= self.never:
            return word < self.sure
        return point_below(word, _WORD, self.bounds, entropy)

    def toss_many(self, count: int, entropy: Entropy) -> NDArray[np.bool_]:
        sure, never = (np.uint64(min(word, _LAST)) for word in (self.sure, self.never))
        return _below_each(entropy.words(count), sure, never, lambda i: self.bounds, entropy)

    @staticmethod
    def toss_each(
        coins: Sequence[KnownCoin], which: NDArray[np.intp], entropy: Entropy
    ) -> NDArray[np.bool_]:
        """Toss one coin per element, the coin of that place in a list; all are independent."""
        sure = np.array([min(coin.sure, _LAST) for coin in coins], np.uint64)[which]
        never = np.array([min(coin.never, _LAST) for coin in coins], np.uint64)[which]
        words = entropy.words(len(which))
        return _below_each(words, sure, never, lambda i: coins[which[i]].bounds, entropy)


def _below_each(
    words: NDArray[np.uint64],
    sure: NDArray[np.uint64] | np.uint64,
    never: NDArray[np.uint64] | np.uint64,
    bounds: Callable[[int], Callable[[int], tuple[Fraction, Fraction]]],
    entropy: Entropy,
) -> NDArray[np.bool_]:
    """Decide by :func:`point_below` what the words alone do not."""
    below: NDArray[np.bool_] = words < sure
    for i in np.flatnonzero(~below & (words <= never)).tolist():
        below[i] = point_below(int(words[i]), _WORD, bounds(i), entropy)
    return below


def guessed_below(
    log: float,
    error: float,
    bounds: Callable[[int], tuple[Fraction, Fraction]],
    entropy: Entropy,
) -> bool:
    """Return True with probability exactly theta, where |ln theta - log| <= error.

    The error is in [2^-40, 1). ``bounds`` encloses theta as in :func:`point_below`; it is called
    for about one coin in 1/error.

    [samplers.7] The first word of U decides, unless it lies within the error: then it is the first
    word in :func:`point_below`, which goes on with the same U.
    """
    word = entropy.word()
    low = math.exp(log - error) * (1 - 2.0**-40)  # more than what exp and its argument are off by
    high = math.exp(log + error) * (1 + 2.0**-40)
    if word + 1 <= math.floor(math.ldexp(low, _WORD)):
        return True
    if word > math.ceil(math.ldexp(high, _WORD)):
        return False
    return point_below(word, _WORD, bounds, entropy)


def small_exp_bounds(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose exp(-x), x >= 0, to 10^-digits; zero is a lower bound when x is large."""
    cut = 3 * digits  # exp(-3 digits) < 10^-digits
    if x <= cut:
        return exp_bounds(-x, digits)
    return Fraction(0), exp_bounds(Fraction(-cut), digits)[1]


def exp_coins(
    x: NDArray[np.float64], exact: Callable[[int], Fraction], entropy: Entropy
) -> NDArray[np.bool_]:
    """Toss one coin per element, coin i with probability exactly exp(-exact(i)).

    ``x`` approximates the exact exponents: x[i] >= 0 and |x[i] - exact(i)| <= 2^-42 (1 + exact(i)).
    ``exact`` is called for about one coin in 2^38.

    [samplers.6] exp(-x[i]) in float64 is within 2^-40 of the probability, and the top 53 bits of a
    word give U to 2^-53. Outside ±2^-39 the comparison is decided; inside, :func:`point_below`
    decides on the same U.
    """
    words = entropy.words(len(x))
    u = (words >> np.uint64(11)).astype(np.float64)
    u *= 2.0**-53
    u -= decay(x)
    for i in np.flatnonzero(np.abs(u) <= 2.0**-39).tolist():
        bounds = functools.partial(small_exp_bounds, exact(i))
        u[i] = -1.0 if point_below(int(words[i]), _WORD, bounds, entropy) else 1.0
    return u < 0
