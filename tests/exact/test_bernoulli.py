"""Coins: their laws, their power, and the undecided cases decided exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.exact.bernoulli import (
    KnownCoin,
    exp_coin,
    exp_coins,
    geometric,
    guessed_below,
    point_below,
    ratio_coin,
    small_exp_bounds,
    unit_geometric,
    unit_geometrics,
)
from modicum.exact.enclosure import exp_below
from modicum.exact.entropy import SeededEntropy
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.exact.stub import Listed

DRAWS = 20_000


def coin_law(p: float) -> dict[int, float]:
    return {0: 1 - p, 1: p}


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(99, 100), Fraction(2**80 + 1, 3**51)])
def test_ratio_coin(p) -> None:
    entropy = SeededEntropy("bernoulli")
    tosses = [ratio_coin(p.numerator, p.denominator, entropy) for _ in range(DRAWS)]
    assert p_value(tosses, coin_law(float(p))) > ACCEPT
    assert p_value(tosses, coin_law(float(p) * 0.7)) < REJECT


@pytest.mark.parametrize("theta", [Fraction(1, 3), Fraction(1), Fraction(1, 10**30)], ids=str)
@pytest.mark.parametrize("error", [2.0**-40, 0.3])
def test_a_guess_changes_no_outcome(theta, error) -> None:
    """And where it is good, it is nearly always enough."""
    asked, log = [], math.log(theta) + 0.9 * error

    def bounds(digits: int) -> tuple[Fraction, Fraction]:
        asked.append(digits)
        return theta, theta

    for seed in range(400):
        entropy = SeededEntropy(seed)
        exact = point_below(entropy.word(), 64, lambda _: (theta, theta), entropy)
        assert guessed_below(log, error, bounds, SeededEntropy(seed)) == exact
    undecided = {2.0**-40: 0, 0.3: 400 * float(theta) * 0.6}[error]
    assert len(asked) <= 2 * undecided
    assert theta != Fraction(1, 3) or len(asked) >= undecided / 3


@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(5, 3), Fraction(4)])
def test_geometric(rate) -> None:
    entropy = SeededEntropy(f"geometric {rate}")
    draws = [geometric(rate, entropy) for _ in range(DRAWS)]

    def mechanism(x: float) -> dict[int, float]:
        return {k: math.exp(-x * k) * -math.expm1(-x) for k in range(math.ceil(40 / x))}

    assert p_value(draws, mechanism(float(rate))) > ACCEPT
    assert p_value(draws, mechanism(float(rate) * 0.7)) < REJECT


@pytest.mark.parametrize("theta", [Fraction(0), Fraction(1, 3), Fraction(1)], ids=str)
def test_a_known_coin_is_the_comparison_with_its_probability(theta) -> None:
    """One by one and many at once, also where one word does not decide."""
    cut = math.floor(theta * 2**64)
    near = [w for w in (cut - 1, cut, cut + 1, 0, 2**64 - 1) if 0 <= w < 2**64]
    coin = KnownCoin(lambda digits: (theta - theta / 10**digits, theta))
    for word in near:
        expected = point_below(word, 64, lambda _: (theta, theta), SeededEntropy("rest"))
        rest = SeededEntropy("rest").word()
        assert coin.toss(Listed(word, rest)) == expected
        assert coin.toss_many(1, Words(word, rest)).tolist() == [expected]


def test_a_known_coin_of_next_to_nothing_tosses_many() -> None:
    """The lower end of an enclosure may be below zero."""
    coin = KnownCoin(lambda digits: (Fraction(-1, 10**digits), Fraction(1, 10**digits)))
    assert not coin.toss_many(100, SeededEntropy(1)).any()


class Words(Listed):
    """The first word is that of a vector."""

    def words(self, count: int) -> np.ndarray:
        return np.array([self.word() for _ in range(count)], np.uint64)


def test_ratio_coin_compares_digit_by_digit() -> None:
    third = (2**64 - 1) // 3  # every base-2^64 digit of 1/3
    for words, outcome in [
        ([third - 1], True),
        ([third + 1], False),
        ([third, third, third - 1], True),
        ([third, third, third + 1], False),
    ]:
        entropy = Listed(*words)
        assert ratio_coin(1, 3, entropy) is outcome
        assert entropy.left == []
    assert ratio_coin(1, 1, Listed(2**64 - 1))
    assert not ratio_coin(0, 1, Listed(0, 1))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(5, 2)])
def test_exp_coin(x) -> None:
    entropy = SeededEntropy("exp")
    tosses = [exp_coin(x.numerator, x.denominator, entropy) for _ in range(DRAWS)]
    assert p_value(tosses, coin_law(math.exp(-x))) > ACCEPT
    if x:
        assert p_value(tosses, coin_law(math.exp(-1.3 * x))) < REJECT


def test_a_large_exponent_costs_no_more_than_a_small_one() -> None:
    # Enough words for one look at the table; the whole part decides.
    assert not exp_coin(10**30, 7, Listed(2**63))
    assert exp_coin(0, 1, Listed(0))


def geometric_law(rate: float) -> dict[int, float]:
    return {v: math.exp(-v * rate) * -math.expm1(-rate) for v in range(60)}


@pytest.mark.parametrize("vectorised", [False, True])
def test_unit_geometric(vectorised) -> None:
    entropy = SeededEntropy("geometric")
    if vectorised:
        draws = unit_geometrics(10 * DRAWS, entropy).tolist()
    else:
        draws = [unit_geometric(entropy) for _ in range(DRAWS)]
    assert p_value(draws, geometric_law(1)) > ACCEPT
    assert p_value(draws, geometric_law(1.3)) < REJECT


def word_of(v: int) -> int:
    """The word that holds exp(-v)."""
    return math.floor(exp_below(Fraction(-v), 60) * 2**64)


@pytest.mark.parametrize("v", [1, 2, 17, 39])
def test_unit_geometric_at_a_threshold(v) -> None:
    # U agrees with exp(-v) to 128 bits and then lies just below or above it.
    digits = math.floor(exp_below(Fraction(-v), 120) * 2**192)
    words = [digits >> 128, digits >> 64 & (2**64 - 1), digits & (2**64 - 1)]
    assert words[0] == word_of(v)
    for last, expected in [(words[2] - 1, v), (words[2] + 1, v - 1)]:
        for draw in (unit_geometric, lambda entropy: int(unit_geometrics(1, entropy)[0])):
            entropy = Listed(*words[:2], last)
            assert draw(entropy) == expected
            assert entropy.left == []


def test_unit_geometric_beyond_its_table_starts_afresh() -> None:
    low = word_of(41)
    assert unit_geometric(Listed(low, 2**64 - 1)) == 40
    assert unit_geometric(Listed(low, low, word_of(2) - 1)) == 82
    assert unit_geometrics(2, Listed(2**64 - 1, 0, 2**62)).tolist() == [0, 41]
    # Just below the last threshold, undecided at first.
    assert unit_geometric(Listed(word_of(40), 0, 2**64 - 1)) == 40
    assert unit_geometric(Listed(word_of(40), 2**64 - 1)) == 39


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 10**6), Fraction(1, 3), Fraction(7, 2)])
def test_exp_coins(x) -> None:
    tosses = exp_coins(np.full(DRAWS, float(x)), lambda _: x, SeededEntropy("many")).tolist()
    assert p_value(tosses, coin_law(math.exp(-x))) > ACCEPT
    if x > 1e-3:
        assert p_value(tosses, coin_law(math.exp(-1.3 * x))) < REJECT


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(20), Fraction(0)])
def test_exp_coins_near_their_threshold_are_decided_exactly(x) -> None:
    true = min(exp_below(-x, 60), Fraction(1))
    digits = math.floor(true * 2**128)
    first, second = digits >> 64, digits & (2**64 - 1)
    offsets = [-(2**20), -1, 1, 2**20]
    cases = [(first + k, [], k < 0) for k in offsets if first + k < 2**64]
    cases += [(first, [second - 1], True), (first, [second + 1], False)] if x else []
    asked: list[int] = []

    def exact(i: int) -> Fraction:
        asked.append(i)
        return x

    for word, more, expected in cases:
        entropy = Listed(word, *more)
        # The approximation is as wrong as it may be.
        for wrong in (2.0**-43, -(2.0**-43)):
            entropy.left = [word, *more]
            approximation = np.array([max(0.0, float(x) + wrong)])
            assert exp_coins(approximation, exact, entropy).tolist() == [expected]
            assert entropy.left == []
    assert len(asked) == 2 * len(cases)


def test_exp_coins_of_huge_exponents() -> None:
    x = np.array([1e7, 1e300, np.inf])
    assert not exp_coins(x, lambda _: Fraction(10**7), Listed(0, 1, 2, *[2**63] * 9)).any()


def test_small_exp_bounds_enclose_without_underflow() -> None:
    lower, upper = small_exp_bounds(Fraction(10**7), 40)
    assert lower == 0 < upper < Fraction(1, 10**40)
    lower, upper = small_exp_bounds(Fraction(100), 40)
    assert 0 < lower < upper


def test_point_below_refines_both_sides() -> None:
    asked: list[int] = []

    def bounds(digits: int) -> tuple[Fraction, Fraction]:
        asked.append(digits)
        return Fraction(1, 2) - Fraction(1, 10**digits), Fraction(1, 2) + Fraction(1, 10**digits)

    half = 2**63
    assert point_below(half - 1, 64, bounds, Listed(2**64 - 1, 2**64 - 1, 2**64 - 2**20))
    assert asked == [40, 60, 80, 100]
    assert not point_below(half, 64, bounds, Listed(0, 0, 2**20))
