"""Permute-and-flip: its law from the definition, by enumerating the orders."""

import itertools
import math

import numpy as np
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.flip import flip_many, permute_and_flip
from tests.exact.goodness import ACCEPT, REJECT, p_value


def mechanism(gaps: list[int], denominator: int, factor: float = 1.0) -> dict[int, float]:
    """Average over all orders of the chance to be the first success."""
    success = [math.exp(-factor * gap / denominator) for gap in gaps]
    total = dict.fromkeys(range(len(gaps)), 0.0)
    orders = list(itertools.permutations(range(len(gaps))))
    for order in orders:
        reached = 1.0 / len(orders)
        for i in order:
            total[i] += reached * success[i]
            reached *= 1 - success[i]
    return total


@pytest.mark.parametrize(
    ("gaps", "denominator"),
    [([0, 1], 1), ([5, 0, 3, 12], 7), ([0, 0, 2, 10**9], 3), ([4, 2, 0, 1, 3, 2], 2)],
)
def test_law(gaps, denominator) -> None:
    entropy = SeededEntropy("flip")
    draws = [permute_and_flip(gaps, denominator, entropy) for _ in range(30_000)]
    assert p_value(draws, mechanism(gaps, denominator)) > ACCEPT
    assert p_value(draws, mechanism(gaps, denominator, 1.3)) < REJECT


def test_hopeless_candidates_are_never_chosen() -> None:
    gaps = [10**15 + i for i in range(210)]
    gaps[77] = 0
    assert {permute_and_flip(gaps, 10**6, SeededEntropy(seed)) for seed in range(50)} == {77}


def test_ties_are_uniform_and_one_candidate_is_certain() -> None:
    entropy = SeededEntropy("ties")
    draws = [permute_and_flip([0] * 5, 1, entropy) for _ in range(5000)]
    assert p_value(draws, dict.fromkeys(range(5), 0.2)) > ACCEPT
    assert permute_and_flip([0], 10, entropy) == 0
    assert permute_and_flip(np.array([0, 10**12]), 3, entropy) == 0


@pytest.mark.parametrize(
    ("gaps", "denominator"), [([], 1), ([1, 2], 1), ([0, -1], 1), ([0, 1], 0), ([0, 1], -2)]
)
def test_refuses(gaps, denominator) -> None:
    with pytest.raises(InvalidArgument, match=r"gaps must|denominator must"):
        permute_and_flip(gaps, denominator, SeededEntropy(0))


def test_many_lists_at_once_are_independent_draws_of_each() -> None:
    lists = [([0, 1, 3], 2), ([5, 0], 7), ([0], 1), ([4, 0, 0, 10**15], 3)]
    gaps = np.array([gap for each, _ in lists for gap in each] * 30_000)
    sizes, units = [len(each) for each, _ in lists] * 30_000, [unit for _, unit in lists] * 30_000
    drawn = np.array(flip_many(gaps, sizes, units, SeededEntropy("many"))).reshape(30_000, -1)
    for place, (each, unit) in enumerate(lists):
        assert p_value(drawn[:, place].tolist(), mechanism(each, unit)) > ACCEPT
    assert p_value(drawn[:, 0].tolist(), mechanism(*lists[0], 1.3)) < REJECT
    agree = np.mean((drawn[:, 0] == 0) & (drawn[:, 1] == 1))
    apart = np.mean(drawn[:, 0] == 0) * np.mean(drawn[:, 1] == 1)
    assert abs(agree - apart) < 0.03
