"""Shares of noise: their law, their sum, their sampler."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.shuffle.polya import Polya

LAWS = [Polya(Fraction(1, 3), Fraction(1, 4)), Polya(Fraction(1, 100), Fraction(1, 9))]


def masses(law: Polya, most: int = 400) -> np.ndarray:
    return np.exp([law.log_pmf(k) for k in range(most)])


def p_value(drawn: np.ndarray, law: Polya) -> float:
    """Chi-squared, rare outcomes pooled."""
    expected = len(drawn) * masses(law)
    last = int(np.flatnonzero(expected >= 8)[-1])
    seen = np.bincount(np.minimum(drawn, last + 1), minlength=last + 2)
    wanted = np.append(expected[: last + 1], len(drawn) - expected[: last + 1].sum())
    return float(stats.chisquare(seen, wanted).pvalue)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_sampler_follows_the_law_and_a_wrong_scale_is_noticed(law) -> None:
    draws = 20_000 if law.size > Fraction(1, 10) else 300_000  # most are 0
    drawn = law.sample_many(draws, SeededEntropy(str(law)))
    assert p_value(drawn, law) > 1e-4
    for wrong in (
        Polya(law.size * Fraction(13, 10), law.rate),
        Polya(law.size, law.rate * Fraction(10, 7)),
    ):
        other = wrong.sample_many(draws, SeededEntropy(1))
        assert p_value(other, law) < 1e-4


def test_differences_of_all_shares_are_exactly_discrete_laplace() -> None:
    """The convolution of the shares' exact probabilities, no sampling."""
    law = LAWS[0]
    one = masses(law)
    whole = np.convolve(np.convolve(one, one), one)[:400]
    difference = np.convolve(whole, whole[::-1])
    noise = LaplaceNoise(1 / law.rate)
    for k in (-30, -3, 0, 1, 17):
        assert difference[399 + k] == pytest.approx(math.exp(noise.log_pmf(k)), rel=1e-9)


def test_more_digits_decide_a_word_at_a_threshold() -> None:
    law = LAWS[0]
    exact = sum(masses(law, 3))
    for k in (0, 1, 2):
        cut = int(sum(Fraction(float(p)) for p in masses(law, k + 1)) * 2**64)
        # The float's own error is about 2^11 words.
        low = law._inverted(cut - (1 << 14), SeededEntropy(0))
        high = law._inverted(cut + (1 << 14), SeededEntropy(0))
        assert (low, high) == (k, k + 1)
    assert exact < 1
    # A word is bisected until the least k changes: that word is undecided by 64 bits.
    below, above = 0, 2**64 - 1
    while above - below > 1:
        middle = (below + above) // 2
        found = law._placed(middle, 64, 192)
        below, above = (middle, above) if found == 0 else (below, middle)
    assert law._placed(above, 64, 192) is None
    assert {law._inverted(above, SeededEntropy(seed)) for seed in range(40)} == {0, 1}


def test_no_law() -> None:
    for size, rate in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(InvalidArgument):
            Polya(Fraction(size), Fraction(rate))
