"""Poisson shares: their sampler, and their sum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.shuffle.noise import LARGEST_RATE, Poisson, _enclosed

LAWS = [Poisson(Fraction(1, 50)), Poisson(Fraction(7, 2)), Poisson(Fraction(900))]


def p_value(drawn: np.ndarray, law: Poisson) -> float:
    """Chi-squared, rare outcomes pooled at both ends."""
    masses = np.exp([law.log_pmf(k) for k in range(3 * int(law.rate) + 40)])
    common = np.flatnonzero(len(drawn) * masses >= 8)
    first, last = int(common[0]), int(common[-1])
    seen = np.bincount(np.clip(drawn, first - 1, last + 1) - first + 1, minlength=last - first + 3)
    inner = masses[first : last + 1]
    wanted = np.array([masses[:first].sum(), *inner, masses[last + 1 :].sum()])
    kept = wanted > 0
    return float(stats.chisquare(seen[kept], wanted[kept] / wanted.sum() * len(drawn)).pvalue)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_sampler_follows_the_law_and_a_wrong_scale_is_noticed(law) -> None:
    drawn = law.sample_many(40_000, SeededEntropy(str(law)))
    assert p_value(drawn, law) > 1e-4
    wrong = Poisson(law.rate * Fraction(10, 13))
    assert p_value(wrong.sample_many(40_000, SeededEntropy(1)), law) < 1e-4


@pytest.mark.parametrize("law", [*LAWS, Poisson(Fraction(1 << 20))], ids=str)
def test_probabilities_are_enclosed(law) -> None:
    """Against the incomplete gamma function, whose own error is some 1e-10."""
    first, lows, highs = _enclosed(law.rate, 64)
    assert all(0 <= high - low <= 2 for low, high in zip(lows, highs, strict=True))
    exact = special.gammaincc(first + 1 + np.arange(len(lows)), float(law.rate))
    assert np.array(lows) / 2**64 == pytest.approx(exact, abs=1e-9)
    assert lows[-1] > 2**64 - 4
    if first:
        assert highs[0] <= 4


class Forced(Entropy):
    """Gives the words it is told."""

    def __init__(self, *told: int) -> None:
        self._told = list(told)

    def word(self) -> int:
        return self._told.pop(0)

    def words(self, count: int) -> np.ndarray:
        return np.array([self.word() for _ in range(count)], np.uint64)


def test_more_digits_decide_a_word_at_a_threshold() -> None:
    law = LAWS[1]
    cut = _enclosed(law.rate, 192)[1][2]  # P(X <= 2), 192 digits
    word, second, third = cut >> 128, (cut >> 64) % 2**64, cut % 2**64
    most = 2**64 - 1
    assert law.sample_many(1, Forced(word, second - 1))[0] == 2
    assert law.sample_many(1, Forced(word, second + 1))[0] == 3
    assert law.sample_many(1, Forced(word, second, third - 2**20))[0] == 2
    assert law.sample_many(1, Forced(word, second, min(most, third + 2**20)))[0] == 3
    # The words at both ends need more: U is 5 or 6 over 2^128, then just below 1 - 2^-64.
    low, high = LAWS[2].sample_many(2, Forced(0, most, 5, 0)).tolist()
    cdf, sf = stats.poisson(900).logcdf, stats.poisson(900).logsf
    assert cdf(low - 1) < math.log(6) - 128 * math.log(2) <= cdf(low) + 0.2
    assert sf(high - 1) > -64 * math.log(2) >= sf(high)


def test_shares_add_up_to_skellam_noise() -> None:
    """[K1], by convolution of the shares' exact probabilities."""
    h, variance = 6, 8
    law = Poisson(Fraction(variance, 2 * h))
    one = np.exp([law.log_pmf(k) for k in range(40)])
    difference = np.convolve(one, one[::-1])
    noise = difference
    for _ in range(h - 1):
        noise = np.convolve(noise, difference)
    middle = len(noise) // 2
    for k in (-7, -1, 0, 3):
        assert noise[middle + k] == pytest.approx(special.ive(abs(k), variance), rel=1e-9)


def test_no_law() -> None:
    for rate in (0, -1, LARGEST_RATE + 1):
        with pytest.raises(InvalidArgument):
            Poisson(Fraction(rate))
    assert math.isclose(Poisson(Fraction(2)).log_pmf(0), -2)
