"""One level of a tree: hashes, unbiasedness and variance over the whole output law."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.protocols.local.frequency import Oracle, oracle
from modicum.protocols.local.mean_vector import signs
from modicum.protocols.local.protocol import digits, pick, words

ONE = Fraction(1)


def every_vector(q: int, length: int) -> np.ndarray:
    """Public words whose digits are all vectors over the field, by their leading digits."""
    found = []
    for vector in itertools.product(range(q), repeat=length):
        # A word is a fraction in base q; half a unit keeps it off the edge.
        value = sum(Fraction(d, q ** (i + 1)) for i, d in enumerate(vector))
        value += Fraction(1, 2 * q**length)
        found.append([0] * 3 + [int(value * 2**64)] * 5)
    return np.array(found, np.uint64)


@pytest.mark.parametrize(("q", "nodes"), [(2, 8), (3, 9), (5, 20)])
def test_two_nodes_collide_for_exactly_one_vector_in_q(q, nodes) -> None:
    asked = Oracle(nodes, q, True, ONE)
    found = every_vector(q, asked._length)
    symbols = np.array([asked.encoded(np.full(len(found), v), found) for v in range(nodes)])
    for one, other in itertools.combinations(symbols, 2):
        assert (one == other).mean() == pytest.approx(1 / q, abs=1e-12)


@pytest.mark.parametrize("asked", [Oracle(9, 3, True, ONE), Oracle(4, 4, False, ONE)], ids=str)
def test_shares_are_unbiased_over_the_whole_law(asked) -> None:
    """All vectors and all answers, weighted by their probabilities: nothing is drawn."""
    found = every_vector(asked.symbols, asked._length) if asked.hashed else words(b"", ids(1))
    nodes = np.arange(asked.nodes)
    for truth in nodes:
        total, square = np.zeros(asked.nodes), np.zeros(asked.nodes)
        symbols = asked.encoded(np.full(len(found), truth), found)
        for word, symbol in zip(found, symbols, strict=True):
            for answer in range(asked.symbols):
                hit = asked.hit if answer == symbol else (1 - asked.hit) / (asked.symbols - 1)
                share = asked.estimated(np.array([answer]), word[None], nodes)
                total += hit / len(found) * share
                square += hit / len(found) * share**2
        assert total == pytest.approx(np.eye(asked.nodes)[truth], abs=1e-9)
        other = (truth + 1) % asked.nodes
        assert square[other] == pytest.approx(asked.variance, rel=1e-9)


def ids(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.uint64)


def test_the_best_oracle_is_plain_for_few_nodes_and_nearly_optimal_for_many() -> None:
    assert not oracle(4, ONE).hashed
    assert [oracle(k, ONE).symbols for k in (4, 16, 1 << 40)] == [4, 3, 3]
    for epsilon in ("0.1", "0.5", "1", "2", "4"):
        exact = Fraction(epsilon)
        many = oracle(1 << 40, exact)
        assert many.hashed
        unary = 4 * math.exp(exact) / math.expm1(exact) ** 2  # optimised unary encoding
        assert many.variance <= 1.18 * unary
        assert oracle(8, exact).variance <= many.variance


def test_digits_and_picks_are_uniform() -> None:
    found = words(b"seed", ids(20_000))
    for base, count in ((2, 40), (3, 20), (1021, 4)):
        drawn = digits(found, base, count)
        assert drawn.min() >= 0
        assert drawn.max() < base
        # 5 standard deviations of the mean of each digit.
        limit = 5 * base / np.sqrt(12 * len(found))
        assert np.abs(drawn.mean(axis=0) - (base - 1) / 2).max() < limit
        assert np.abs(np.corrcoef(drawn.T) - np.eye(count)).max() < 5 / np.sqrt(len(found))
    counts = np.bincount(pick(found[:, 0], 7), minlength=7)
    assert np.abs(counts - len(found) / 7).max() < 5 * np.sqrt(len(found) / 7)


def test_public_words_are_the_same_for_everybody_and_differ_between_sessions() -> None:
    one, again, other = (words(seed, ids(3)) for seed in (b"a", b"a", b"b"))
    assert (one == again).all()
    assert not (one == other).any()
    assert set(signs(b"a", 64).tolist()) == {-1, 1}


def test_one_answer_varies_as_it_says() -> None:
    """[local.6], [local.7]: the covariance of a level's estimates by all outcomes, held by f."""
    for each in (Oracle(4, 4, False, Fraction(1)), Oracle(25, 5, True, Fraction(1))):
        f = np.random.default_rng(each.nodes).dirichlet(np.ones(each.nodes))
        spread = each.free_spread(f)
        if each.hashed:
            keys = np.stack(np.divmod(np.arange(25), 5))
            symbol = (keys.T @ np.stack([np.arange(25) % 5, np.arange(25) // 5])) % 5
        else:
            symbol = np.arange(4)[None]
        # A key, a client's node and an answer, with their joint probability.
        lie = (1 - each.hit) / (each.symbols - 1)
        cover = np.zeros((each.nodes, each.nodes))
        for key in symbol:
            for node, share in enumerate(f):
                for answer in range(each.symbols):
                    chance = each.hit if answer == key[node] else lie
                    hits = (key == answer) - each.false_hit
                    found = hits / (each.hit - each.false_hit) - f
                    cover += share * chance / len(symbol) * np.outer(found, found)
        assert np.diag(cover) == pytest.approx(each.spread(f))
        if not each.hashed:
            # What is left of independent estimates once they add up to 1.
            assert np.diag(spread) - np.outer(spread, spread) / spread.sum() == pytest.approx(cover)
