"""Shares of noise: their laws, samplers and sums, and what is claimed of Skellam noise."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.protocols.shuffle.noise import (
    LARGEST_RATE,
    Poisson,
    Polya,
    _enclosed,
    _scaled_renyi,
    skellam_delta,
    skellam_variance,
)

POISSON = [Poisson(Fraction(1, 50)), Poisson(Fraction(7, 2)), Poisson(Fraction(900))]
POLYA = [Polya(Fraction(1, 3), Fraction(1, 4)), Polya(Fraction(1, 100), Fraction(1, 9))]


def masses(mechanism: Poisson | Polya, most: int = 400) -> np.ndarray:
    return np.exp([mechanism.log_pmf(k) for k in range(most)])


def p_value(drawn: np.ndarray, mechanism: Poisson | Polya) -> float:
    """Chi-squared, rare outcomes pooled at both ends."""
    chances = masses(
        mechanism, 400 if isinstance(mechanism, Polya) else 3 * int(mechanism.rate) + 40
    )
    common = np.flatnonzero(len(drawn) * chances >= 8)
    first, last = int(common[0]), int(common[-1])
    seen = np.bincount(np.clip(drawn, first - 1, last + 1) - first + 1, minlength=last - first + 3)
    inner = chances[first : last + 1]
    wanted = np.array([chances[:first].sum(), *inner, chances[last + 1 :].sum()])
    kept = wanted > 0
    return float(stats.chisquare(seen[kept], wanted[kept] / wanted.sum() * len(drawn)).pvalue)


@pytest.mark.parametrize("mechanism", POLYA, ids=str)
def test_polya_shares_follow_their_law_and_a_wrong_scale_is_noticed(mechanism) -> None:
    draws = 20_000 if mechanism.size > Fraction(1, 10) else 300_000  # most are 0
    drawn = mechanism.sample_many(draws, SeededEntropy(str(mechanism)))
    assert p_value(drawn, mechanism) > 1e-4
    for wrong in (
        Polya(mechanism.size * Fraction(13, 10), mechanism.rate),
        Polya(mechanism.size, mechanism.rate * Fraction(10, 7)),
    ):
        other = wrong.sample_many(draws, SeededEntropy(1))
        assert p_value(other, mechanism) < 1e-4


def test_differences_of_all_shares_are_exactly_discrete_laplace() -> None:
    """The convolution of the shares' exact probabilities, no sampling."""
    mechanism = POLYA[0]
    one = masses(mechanism)
    whole = np.convolve(np.convolve(one, one), one)[:400]
    difference = np.convolve(whole, whole[::-1])
    noise = LaplaceNoise(1 / mechanism.rate)
    for k in (-30, -3, 0, 1, 17):
        assert difference[399 + k] == pytest.approx(math.exp(noise.log_pmf(k)), rel=1e-9)


def test_more_digits_decide_a_polya_word_at_a_threshold() -> None:
    mechanism = POLYA[0]
    exact = sum(masses(mechanism, 3))
    for k in (0, 1, 2):
        cut = int(sum(Fraction(float(p)) for p in masses(mechanism, k + 1)) * 2**64)
        # The float's own error is about 2^11 words.
        low = mechanism._sample_slowly(cut - (1 << 14), SeededEntropy(0))
        high = mechanism._sample_slowly(cut + (1 << 14), SeededEntropy(0))
        assert (low, high) == (k, k + 1)
    assert exact < 1
    # A word is bisected until the least k changes: that word is undecided by 64 bits.
    below, above = 0, 2**64 - 1
    while above - below > 1:
        middle = (below + above) // 2
        found = mechanism._placed(middle, 64)
        below, above = (middle, above) if found == 0 else (below, middle)
    assert mechanism._placed(above, 64) is None
    assert {mechanism._sample_slowly(above, SeededEntropy(seed)) for seed in range(40)} == {0, 1}


@pytest.mark.parametrize("mechanism", POISSON, ids=str)
def test_poisson_shares_follow_their_law_and_a_wrong_scale_is_noticed(mechanism) -> None:
    drawn = mechanism.sample_many(40_000, SeededEntropy(str(mechanism)))
    assert p_value(drawn, mechanism) > 1e-4
    wrong = Poisson(mechanism.rate * Fraction(10, 13))
    assert p_value(wrong.sample_many(40_000, SeededEntropy(1)), mechanism) < 1e-4


@pytest.mark.parametrize("mechanism", [*POISSON, Poisson(Fraction(1 << 20))], ids=str)
def test_probabilities_are_enclosed(mechanism) -> None:
    """Against the incomplete gamma function, whose own error is some 1e-10."""
    first, lows, highs = _enclosed(mechanism.rate, 64)
    assert all(0 <= high - low <= 2 for low, high in zip(lows, highs, strict=True))
    exact = special.gammaincc(first + 1 + np.arange(len(lows)), float(mechanism.rate))
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


def test_more_digits_decide_a_poisson_word_at_a_threshold() -> None:
    mechanism = POISSON[1]
    cut = _enclosed(mechanism.rate, 192)[1][2]  # P(X <= 2), 192 digits
    word, second, third = cut >> 128, (cut >> 64) % 2**64, cut % 2**64
    most = 2**64 - 1
    assert mechanism.sample_many(1, Forced(word, second - 1))[0] == 2
    assert mechanism.sample_many(1, Forced(word, second + 1))[0] == 3
    assert mechanism.sample_many(1, Forced(word, second, third - 2**20))[0] == 2
    assert mechanism.sample_many(1, Forced(word, second, min(most, third + 2**20)))[0] == 3
    # The words at both ends need more: U is 5 or 6 over 2^128, then just below 1 - 2^-64.
    low, high = POISSON[2].sample_many(2, Forced(0, most, 5, 0)).tolist()
    cdf, sf = stats.poisson(900).logcdf, stats.poisson(900).logsf
    assert cdf(low - 1) < math.log(6) - 128 * math.log(2) <= cdf(low) + 0.2
    assert sf(high - 1) > -64 * math.log(2) >= sf(high)


def test_shares_add_up_to_skellam_noise() -> None:
    """[shuffle.10], by convolution of the shares' exact probabilities."""
    h, variance = 6, 8
    mechanism = Poisson(Fraction(variance, 2 * h))
    one = np.exp([mechanism.log_pmf(k) for k in range(40)])
    difference = np.convolve(one, one[::-1])
    noise = difference
    for _ in range(h - 1):
        noise = np.convolve(noise, difference)
    middle = len(noise) // 2
    for k in (-7, -1, 0, 3):
        assert noise[middle + k] == pytest.approx(special.ive(abs(k), variance), rel=1e-9)


def test_no_law() -> None:
    for size, rate in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(InvalidArgument):
            Polya(Fraction(size), Fraction(rate))
    for rate in (0, -1, LARGEST_RATE + 1):
        with pytest.raises(InvalidArgument):
            Poisson(Fraction(rate))
    assert math.isclose(Poisson(Fraction(2)).log_pmf(0), -2)


def log_pmf(variance: float, reach: int) -> np.ndarray:
    return np.log(special.ive(np.abs(np.arange(-reach, reach + 1)), variance))


def divergence(order: float, variance: float, moved: int) -> float:
    """Rényi divergence of the noise and the noise moved by an integer, summed."""
    p = log_pmf(variance, int(14 * math.sqrt(variance)) + 3 * moved + 40)
    one, other = p[: len(p) - moved], p[moved:]
    return float(special.logsumexp(order * one + (1 - order) * other)) / (order - 1)


@pytest.mark.parametrize("variance", [3, 10, 60, 500, 4000])
def test_second_differences_of_log_probabilities(variance) -> None:
    """[shuffle.12]'s lemma: at most 1/(μ - 2), and not much less in the middle."""
    p = log_pmf(variance, int(6 * math.sqrt(variance)) + 5)
    bends = 2 * p[1:-1] - p[:-2] - p[2:]
    assert bends.max() * (variance - 2) <= 1
    if variance >= 60:
        assert bends.max() * variance > 0.95


@pytest.mark.parametrize("variance", [10, 60, 500, 4000])
def test_the_renyi_divergence_is_bounded_and_nearly_attained(variance) -> None:
    for order, moved in itertools.product((1.1, 2, 6), (1, 2, 5, 12)):
        exact = divergence(order, variance, moved)
        bound = float(_scaled_renyi(np.array(order - 1.0), variance, moved)) / (order - 1)
        assert exact <= bound
        if variance >= 500:
            assert exact > 0.97 * bound


def test_vectors_at_a_distance_have_the_claimed_guarantee() -> None:
    """All integer vectors of two coordinates within the distance: exact δ, all outcomes."""
    epsilon, delta, distance = 2.0, 1e-3, 5
    variance = skellam_variance(epsilon, delta, distance=distance)
    reach = 90
    p = np.exp(log_pmf(variance, reach))
    worst = 0.0
    for a, b in itertools.product(range(distance + 1), repeat=2):
        if 0 < a * a + b * b <= distance**2:
            one, other = np.outer(p, p), np.outer(np.roll(p, a), np.roll(p, b))
            worst = max(worst, float(np.maximum(one - math.exp(epsilon) * other, 0).sum()))
    assert worst <= delta
    assert worst > delta / 10
    # A deviation 30 % smaller breaks the promise.
    q = np.exp(log_pmf(variance / 1.3**2, reach))
    broken = float(np.maximum(q - math.exp(epsilon) * np.roll(q, distance), 0).sum())
    assert broken > delta


def test_it_costs_a_little_more_than_gaussian_noise() -> None:
    """The exact δ of Gaussian noise (Balle and Wang 2018), with 10 % less deviation."""
    for epsilon, delta in ((1.0, 1e-8), (0.1, 1e-6), (4.0, 1e-10)):
        sd = math.sqrt(skellam_variance(epsilon, delta, distance=300)) / 300
        less = sd * 0.9
        gaussian = stats.norm.cdf(1 / (2 * less) - epsilon * less) - math.exp(
            epsilon
        ) * stats.norm.cdf(-1 / (2 * less) - epsilon * less)
        assert gaussian > delta


def test_more_noise_and_more_epsilon_leave_less() -> None:
    found = [skellam_delta(1, variance=v, distance=50) for v in (3, 1e3, 1e4, 1e5)]
    assert found[0] == 1
    assert all(a > b for a, b in itertools.pairwise(found))
    assert skellam_delta(2, variance=1e4, distance=50) < found[2]
    with pytest.raises(InvalidArgument):
        skellam_variance(1e-9, 1e-300, distance=1)
