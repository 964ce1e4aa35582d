"""Optimal partition selection: its probabilities, its sampler, its (ε, δ) in both directions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from modicum import audit
from modicum.exact.entropy import SYSTEM, Entropy, SeededEntropy
from modicum.mechanisms.partition_selection import KeepCurve, KeySelection
from modicum.privacy.event import ApproxDP
from modicum.privacy.unit import Unit

COSTS = [
    (Fraction(1), Fraction(1, 100)),
    (Fraction(1, 10), Fraction(1, 1000)),
    (Fraction(3), Fraction(1, 2)),
    (Fraction(5), Fraction(99, 100)),
    (Fraction(1, 3), Fraction(1, 10**9)),
    (Fraction(64), Fraction(1, 10**300)),
]
every_cost = pytest.mark.parametrize(("epsilon", "delta"), COSTS)


def recursion(epsilon: Fraction, delta: Fraction, rows: int) -> list[mpf]:
    """The definition, in 60 digits."""
    with mp.workdps(60):
        e, d = mp.exp(mpf(epsilon.numerator) / epsilon.denominator), mpf(delta.numerator)
        d /= delta.denominator
        chances = [mpf(0)]
        for _ in range(rows):
            p = chances[-1]
            chances.append(min(e * p + d, 1 - (1 - p - d) / e, mpf(1)))
        return chances


@every_cost
def test_the_closed_form_is_the_recursion(epsilon, delta) -> None:
    curve = KeepCurve(epsilon, delta)
    for n, exact in enumerate(recursion(epsilon, delta, 400)):
        low, high = curve.bounds(n, 40)
        with mp.workdps(60):
            assert mpf(low.numerator) / low.denominator <= exact + mpf(10) ** -50
            assert exact - mpf(10) ** -50 <= mpf(high.numerator) / high.denominator
        assert 0 <= low <= high <= 1
        assert high - low <= Fraction(1, 10**30)


@every_cost
def test_no_larger_chance_would_keep_the_guarantee(epsilon, delta) -> None:
    """Optimal: from one n to the next, one of the two inequalities is an equality, or π is 1."""
    e, d = math.exp(epsilon), float(delta)
    chances = [KeepCurve(epsilon, delta).probability(n) for n in range(200)]
    for p, after in itertools.pairwise(chances):
        slack = min(e * p + d - after, e**-1 * (1 - p - d) * -1 + 1 - after)
        assert after == 1 or abs(slack) <= 1e-12


def needed(one: dict, other: dict, claimed: Fraction, *cost: Fraction) -> float:
    return audit.needed_delta(*(KeySelection(counts, *cost) for counts in (one, other)), claimed)


def grown(counts: dict, key: str) -> dict:
    return counts | {key: counts.get(key, 0) + 1}


TABLES = [{}, {"a": 1}, {"a": 2, "b": 1}, {"a": 4, "b": 5, "c": 1}, {"a": 9, "b": 3}]


@pytest.mark.parametrize(("epsilon", "delta"), COSTS[:4])
def test_one_row_costs_epsilon_and_delta_in_both_directions(epsilon, delta) -> None:
    """All keys together; ``needed_delta`` takes the larger of adding and removing the row."""
    used = [
        needed(counts, grown(counts, key), epsilon, epsilon, delta)
        for counts in TABLES
        for key in "abd"
    ]
    assert max(used) == pytest.approx(float(delta), rel=1e-9)


def test_every_count_up_to_certainty() -> None:
    epsilon, delta = Fraction(1, 2), Fraction(1, 50)
    used = [needed({"a": n} if n else {}, {"a": n + 1}, epsilon, epsilon, delta) for n in range(30)]
    assert max(used) <= float(delta) * (1 + 1e-9)
    assert used[0] == pytest.approx(float(delta))


@pytest.mark.parametrize("wrong", ["epsilon", "delta"])
def test_a_threshold_30_percent_too_low_is_caught(wrong) -> None:
    """The control: a curve for 1/0.7 of the ε or of the δ that is claimed."""
    epsilon, delta = Fraction(1), Fraction(1, 100)
    cost = {"epsilon": epsilon, "delta": delta}
    cost[wrong] = cost[wrong] * Fraction(10, 7)
    used = max(
        needed({"a": n} if n else {}, {"a": n + 1}, epsilon, *cost.values()) for n in range(12)
    )
    assert used > 1.4 * float(delta)


@pytest.mark.parametrize("rows", [2, 3])
def test_a_unit_of_several_rows_costs_what_it_claims(rows) -> None:
    """Wherever its rows fall: all in one key, each in its own, or some of both."""
    whole = ApproxDP(Fraction(1), Fraction(1, 20))
    row = Unit(rows).per_row(whole)
    assert isinstance(row, ApproxDP)
    moves = ["a" * rows, "abc"[:rows], "a" * (rows - 1) + "d", "d" * rows]
    worst = 0.0
    for counts in TABLES:
        for move in moves:
            more = counts
            for key in move:
                more = grown(more, key)
            worst = max(worst, needed(counts, more, whole.epsilon, row.epsilon, row.delta))
    assert 0.9 * float(whole.delta) < worst <= float(whole.delta) * (1 + 1e-9)


@pytest.mark.parametrize("counts", TABLES[1:])
@pytest.mark.one_in(2)
def test_the_sampler_follows_the_law_and_a_wrong_one_does_not(counts) -> None:
    mechanism = KeySelection(counts, Fraction(1), Fraction(1, 10))
    assert audit.fit(mechanism, 2000, SeededEntropy(repr(counts))) > 1e-3


def test_the_test_of_the_sampler_has_power() -> None:
    mechanism, wrong = (
        KeySelection({"a": 3, "b": 5}, epsilon, Fraction(1, 50))
        for epsilon in (Fraction(7, 10), Fraction(1))
    )
    assert audit.power(mechanism, wrong, draws=4000, entropy=SeededEntropy(1), trials=1) == 1


class Scripted(Entropy):
    """Gives out given words."""

    secret = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def word(self) -> int:
        return self._words.pop(0)

    def words(self, count: int):
        return np.array([self._words.pop(0) for _ in range(count)], np.uint64)


def test_an_undecided_coin_draws_more_of_the_same_number() -> None:
    mechanism = KeySelection({"a": 3}, Fraction(1), Fraction(1, 100))
    low, _ = mechanism.curve.bounds(3, 100)
    first, rest = divmod(math.floor(low * 2**128), 2**64)
    assert mechanism.sample(Scripted(first - 1)) == ("a",)
    assert mechanism.sample(Scripted(first + 1)) == ()
    assert mechanism.sample(Scripted(first, rest - 1)) == ("a",)
    assert mechanism.sample(Scripted(first, rest + 1)) == ()
    assert mechanism.curve.coin(3).toss(Scripted(first, rest - 1))


def test_what_is_sure_and_what_cannot_be() -> None:
    mechanism = KeySelection({"a": 10**9, "b": 1}, Fraction(1, 10), Fraction(1, 10**6))
    assert mechanism.log_density(("a",)) == pytest.approx(math.log1p(-1e-6))
    assert mechanism.log_density(("a", "z")) == -math.inf
    assert mechanism.log_density(("b",)) == -math.inf
    assert all("a" in mechanism.sample(SYSTEM) for _ in range(5))


def test_the_kept_keys_come_in_their_own_order() -> None:
    mechanism = KeySelection({"b": 10**6, "a": 10**6}, Fraction(1), Fraction(1, 10))
    assert mechanism.sample(SYSTEM) == ("a", "b")


def test_many_coins_follow_the_curve_and_one_with_30_percent_more_delta_does_not() -> None:
    curve = KeepCurve(Fraction(1), Fraction(1, 100))
    counts = np.tile(np.array([0, 1, 2, 3, 5, 9, 10, 2**53]), 20_000)
    kept = curve.toss_each(counts, SeededEntropy("many"))
    more = KeepCurve(Fraction(1), Fraction(10, 700))
    far = 0.0
    for n in np.unique(counts).tolist():
        share, p = kept[counts == n].mean(), curve.probability(n)
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / 20_000)
        far = max(far, abs(share - more.probability(n)) / math.sqrt(p * (1 - p) / 20_000 + 1e-12))
    assert far > 9


def test_the_thresholds_of_many_coins_are_exact() -> None:
    curve = KeepCurve(Fraction(1), Fraction(1, 100))
    low, _ = curve.bounds(3, 100)
    first, rest = divmod(math.floor(low * 2**128), 2**64)
    words = [first - 1, first + 1, first, first, 0, 2**64 - 1, 2**64 - 1]
    counts = np.array([3, 3, 3, 3, 0, 0, 10**6])
    more = [rest - 1, rest + 1, 2**63, 2**63, 2**63]
    kept = curve.toss_each(counts, Scripted(*words, *more))
    assert kept.tolist() == [True, False, True, False, False, False, True]
