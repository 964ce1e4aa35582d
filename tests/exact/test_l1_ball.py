"""L1 balls: numbers of points against a list of them, and the sampler against uniformity."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.exact.l1_ball import l1_points, point_of_l1_ball
from tests.exact.goodness import ACCEPT


def listed(dimension: int, radius: int) -> list[tuple[int, ...]]:
    cube = itertools.product(range(-radius, radius + 1), repeat=dimension)
    return [z for z in cube if sum(map(abs, z)) <= radius]


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_numbers_of_points(dimension) -> None:
    for radius in range(6):
        assert l1_points(dimension, radius) == len(listed(dimension, radius))


@pytest.mark.parametrize(("dimension", "radius"), [(1, 0), (1, 7), (2, 3), (3, 2), (4, 1), (4, 2)])
def test_points_are_uniform(dimension, radius) -> None:
    entropy, points = SeededEntropy(f"{dimension} {radius}"), listed(dimension, radius)
    drawn = Counter(point_of_l1_ball(dimension, radius, entropy) for _ in range(40 * len(points)))
    assert set(drawn) == set(points)
    if len(points) > 1:
        assert stats.chisquare([drawn[z] for z in points]).pvalue > ACCEPT


def test_wide_balls_are_uniform() -> None:
    """The share of the volume within a point's norm is uniform, and so is its first share."""
    entropy, radius = SeededEntropy("wide"), 1 << 60
    points = np.array([point_of_l1_ball(5, radius, entropy) for _ in range(3000)], dtype=float)
    norms = np.abs(points).sum(axis=1)
    assert stats.kstest((norms / radius) ** 5, "uniform").pvalue > ACCEPT
    assert stats.kstest(1 - (1 - np.abs(points[:, 0]) / norms) ** 4, "uniform").pvalue > ACCEPT
    assert stats.kstest((norms / radius) ** 4, "uniform").pvalue < 1e-9
