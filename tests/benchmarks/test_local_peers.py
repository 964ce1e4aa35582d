"""The other local means find the mean, and their error grows as their noise does."""

import numpy as np
import pytest

from benchmarks.local_peers import known_variance, shifted_clipped_mean, unknown_variance


def errors(method, budget: float) -> float:
    rng = np.random.default_rng(1)
    x = rng.normal((3, -2), 1, (20_000, 2))
    found = [method(x, 20.0, budget, rng) for _ in range(6)]
    return float(np.mean([np.linalg.norm(y - x.mean(axis=0)) for y in found]))


@pytest.mark.parametrize("method", [shifted_clipped_mean, known_variance, unknown_variance])
def test_the_error_falls_with_the_budget(method) -> None:
    small, large = errors(method, 1.0), errors(method, 64.0)
    assert large < 0.25
    assert large < small
