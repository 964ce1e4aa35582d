"""The other mechanisms that quantiles are compared with are what their papers say."""

import math
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest

from benchmarks.quantile_peers import app_ind_exp, aq, joint_exp

X = np.array([-3.0, -1.0, 0.5, 2.0])
LOW, HIGH = -5.0, 6.0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    "qs",
    [[0.5], [0.25, 0.75], pytest.param([0.2, 0.5, 0.6], marks=pytest.mark.slow)],
    ids=len,
)
def test_joint_exp_draws_gaps_by_their_weights(qs, swap) -> None:
    """Compared with the weights of all non-decreasing tuples of gaps, listed."""
    shares = np.diff([0, *qs, 1])
    rate = 1.5 / (2 * (2 if swap else 2 * (1 - shares.min())))
    edges = np.array([LOW, *X, HIGH])
    weights = {}
    for gaps in combinations_with_replacement(range(len(X) + 1), len(qs)):
        between = np.diff([0, *gaps, len(X)])
        repeats = math.prod(math.factorial(n) for n in Counter(gaps).values())
        size = math.prod(edges[i + 1] - edges[i] for i in gaps)
        cost = rate * np.abs(between - shares * len(X)).sum()
        weights[gaps] = math.exp(-cost) * size / repeats
    mechanism = joint_exp(X, np.array(qs), LOW, HIGH, 1.5, swap=swap)
    rng, draws = np.random.default_rng(1), 20_000
    seen = Counter(tuple(np.searchsorted(X, mechanism.draw(rng)).tolist()) for _ in range(draws))
    total = sum(weights.values())
    assert seen.keys() <= weights.keys()
    for gaps, weight in weights.items():
        share = weight / total
        assert abs(seen[gaps] / draws - share) < 5 * math.sqrt(share * (1 - share) / draws) + 1e-4


@pytest.mark.parametrize("method", [aq, app_ind_exp])
def test_much_budget_gives_the_quantiles(method) -> None:
    x, qs = np.sort(np.random.default_rng(2).normal(size=999)), np.arange(1, 10) / 10
    found = method(x, qs, -10, 10, 200.0, np.random.default_rng(3))
    assert (np.diff(found) >= 0).all()
    assert np.abs(np.searchsorted(x, found) - qs * 999).max() <= 3
