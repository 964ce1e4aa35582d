"""Median centre and rank threshold agree with their definitions, candidate by candidate."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import FloatGrid
from modicum.mechanisms.scores import ThresholdScore
from modicum.privacy.event import RangeDP
from tests.audit.cases import median_template

DATA = st.lists(st.integers(-20, 20), max_size=8)


def brute(losses: dict[int, int], rate: float) -> dict[int, float]:
    """Log probabilities from the definition."""
    norm = math.log(math.fsum(math.exp(-rate * loss) for loss in losses.values()))
    return {z: -rate * loss - norm for z, loss in losses.items()}


@given(DATA)
def test_median_centre(data: list[int]) -> None:
    grid = FloatGrid(2)
    mechanism = median_template(grid, -20, 20, Fraction(3, 2)).over(np.array(data, dtype=np.int64))
    numbers = [grid.number(x) for x in data]
    losses = {}
    for z in range(grid.number(-20), grid.number(20) + 1):
        above, below = sum(x > z for x in numbers), sum(x < z for x in numbers)
        losses[z] = max(0, abs(above - below) - numbers.count(z))
    for z, expected in brute(losses, 0.75).items():
        assert mechanism.log_density(z) == pytest.approx(expected, abs=1e-12)
    assert mechanism.event == RangeDP(Fraction(3, 2))
    assert mechanism.log_density(grid.number(20) + 1) == -math.inf


@given(DATA, st.integers(0, 4))
def test_rank_threshold(data: list[int], target: int) -> None:
    cap, lowest = 6, np.sort(np.array(data, dtype=np.int64))[: 6 + target]
    mechanism = Exponential(ThresholdScore(lowest, -20, 20, target, cap), Fraction(1))
    losses = {
        z: min(
            cap,
            max(0, sum(x < z for x in data) - target, target - sum(x <= z for x in data)),
        )
        for z in range(-20, 21)
    }
    for z, expected in brute(losses, 0.5).items():
        assert mechanism.log_density(z) == pytest.approx(expected, abs=1e-12)


def test_samples_lie_in_the_range_and_near_the_median() -> None:
    entropy = SeededEntropy(b"centre")
    q = np.full(1001, 1 << 45, dtype=np.int64)
    mechanism = median_template(FloatGrid(24), -(2**51), 2**51, Fraction(1)).over(q)
    points = {mechanism.score.grid.point(mechanism.sample(entropy)) for _ in range(20)}
    assert points == {1 << 45}
    empty = median_template(FloatGrid(4), -100, 200, Fraction(1))
    first, last = (empty.score.grid.number(end) for end in (-100, 200))
    assert all(first <= empty.sample(entropy) <= last for _ in range(200))
