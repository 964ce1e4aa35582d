"""The hindsight oracle of the benchmarks, against its definition evaluated on a fine grid."""

import numpy as np
import pytest

from benchmarks.datasets import NINE, SHAPES
from benchmarks.oracle import hindsight


def cost(x, lo, hi, epsilon) -> float:
    """The definition, term by term."""
    n, width = len(x), hi - lo
    clipped = np.clip(x, lo, hi)
    p = (clipped.mean() - lo) / width if width > 0 else 0.0
    noise = width * (1 - p * (1 - p)) / (n * epsilon)
    return noise + float(np.maximum(lo - x, 0).sum() + np.maximum(x - hi, 0).sum()) / n


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", NINE, ids=lambda s: s.name)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_no_bounds_on_a_grid_are_better(shape, epsilon) -> None:
    x = np.sort(shape.sample(200, seed=1))
    best = hindsight(x, epsilon)
    assert best.cost == pytest.approx(cost(x, best.lo, best.hi, epsilon), rel=1e-6)
    grid = np.unique(np.concatenate([x, (x[1:] + x[:-1]) / 2]))
    stride = max(1, len(grid) // 60)
    ends = np.unique(np.concatenate([grid[:12], grid[-12:], grid[::stride]]))
    least = min(cost(x, lo, hi, epsilon) for lo in ends for hi in ends if lo <= hi)
    assert best.cost <= least * (1 + 1e-6)
    assert best.cost >= 0.97 * least


def test_at_epsilon_one_the_oracle_clips_nothing() -> None:
    for shape in NINE:
        x = np.sort(shape.sample(1000, seed=2))
        best = hindsight(x, 1.0)
        assert (best.lo, best.hi) == (x[0], x[-1])


def test_the_noise_formula_is_the_mean_absolute_value() -> None:
    rng = np.random.default_rng(0)
    z1, z2 = rng.laplace(size=(2, 400_000))
    for p in (0, 0.2, 0.5):
        assert np.abs((1 - p) * z1 - p * z2).mean() == pytest.approx(1 - p * (1 - p), rel=0.01)


def test_data_sets_are_reproducible_and_have_their_size() -> None:
    for shape in SHAPES:
        for n in (1, 30, 5000):
            x = shape.sample(n, seed=3)
            assert x.shape == (n,)
            assert np.array_equal(x, shape.sample(n, seed=3))


def test_a_constant_costs_nothing_and_one_outlier_is_paid_once() -> None:
    assert hindsight(np.full(100, 5.0), 1.0).cost == 0
    x = np.sort(SHAPES[-2].sample(100, seed=0))
    assert hindsight(x, 0.1).cost == pytest.approx(1e4)
    assert hindsight(x, 4.0).cost <= 1e4 / 4
