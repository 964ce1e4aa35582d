"""The shuffler's permutation, and what shuffling is worth."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum import approx, local, shuffle
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy


def test_every_order_is_equally_likely() -> None:
    entropy = SeededEntropy(5)
    seen: Counter = Counter()
    for _ in range(2400):
        shuffler = shuffle.Shuffler(size=1, least=1, entropy=entropy)
        shuffler.add(b"abcd")
        seen[shuffler.release()] += 1
    assert len(seen) == 24
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


def test_too_few_people_are_not_released_and_stay() -> None:
    shuffler = shuffle.Shuffler(size=2, each=2, least=2)
    assert shuffler.add(b"abcd")
    assert not shuffler.add(b"ab")
    with pytest.raises(InvalidArgument):
        shuffler.release()
    assert shuffler.add(b"efgh")
    assert len(shuffler.release()) == 8
    assert shuffler.people == 0
    with pytest.raises(InvalidArgument):
        shuffle.Shuffler(size=0, least=1)


def test_local_messages_survive_a_shuffler() -> None:
    protocol = local.histogram(within=(0, 16), step=1, epsilon=4)
    batch, server = local.Batch(protocol, 2000), local.Server(protocol)
    shuffler = shuffle.Shuffler(size=22, least=1000)
    assert shuffler.add(batch.respond(np.arange(2000) % 16, server.announcement))
    assert server.aggregate([shuffler.release()]).accepted == 2000


def exact_delta(epsilon0: float, n: int, epsilon: float) -> float:
    """The shuffled binary response, 0 against 1 for one of n who all have 0: all outcomes."""
    keep = 1 / (1 + math.exp(-epsilon0))
    rest = stats.binom.pmf(np.arange(n + 1), n - 1, 1 - keep)
    moved = np.append(0.0, rest[:-1])
    one, other = keep * rest + (1 - keep) * moved, (1 - keep) * rest + keep * moved
    return max(
        float(np.maximum(a - math.exp(epsilon) * b, 0).sum())
        for a, b in itertools.permutations((one, other))
    )


@pytest.mark.parametrize(("epsilon0", "n"), [("0.5", 50), ("1", 500), ("3", 2000)])
def test_the_bound_holds_for_a_law_that_is_known_and_is_not_far_from_it(epsilon0, n) -> None:
    bound = shuffle.amplified(epsilon0, clients=n, delta="1e-6")
    needed = exact_delta(float(epsilon0), n, float(bound.amount))
    assert needed <= 1e-6
    assert exact_delta(float(epsilon0), n, float(bound.amount) / 2) > 1e-6


def test_more_people_hide_more_and_never_less_than_nothing() -> None:
    found = [shuffle.amplified(1, clients=n, delta="1e-8").amount for n in (2, 100, 10_000)]
    assert found[0] == 1
    assert found[0] >= found[1] > found[2] > 0


def test_the_local_epsilon_is_within_the_budget() -> None:
    budget = approx("0.5", "1e-8")
    size = shuffle.local_epsilon(budget, clients=20_000)
    assert shuffle.amplified(size, clients=20_000, delta="1e-8").amount <= Fraction(1, 2)
    assert shuffle.amplified(size * 2, clients=20_000, delta="1e-8").amount > Fraction(1, 2)


@pytest.mark.parametrize(("epsilon", "clients", "delta"), [(0, 9, 0.1), (1, 1, 0.1), (1, 9, 1)])
def test_arguments_that_cannot_be_used(epsilon, clients, delta) -> None:
    with pytest.raises(InvalidArgument):
        shuffle.amplified(epsilon, clients=clients, delta=delta)
