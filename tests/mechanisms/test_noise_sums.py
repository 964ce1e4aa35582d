"""Tails of weighted sums of noises: upper bounds, near the exact ones."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise, Noise
from modicum.mechanisms.noise_sums import grid_masses, sum_tail


def exact(noise: Noise, parts, t: float, reach: int = 120) -> float:
    """Convolve masses one by one, in exact order of the sums."""
    masses = np.exp([noise.log_pmf(k) for k in range(-reach, reach + 1)])
    one, two = (reduce(np.convolve, [masses] * times) for _, times in parts)
    (a, times), (b, others) = parts
    x = a * (np.arange(len(one)) - reach * times)[:, None]
    y = b * (np.arange(len(two)) - reach * others)[None, :]
    return float((one[:, None] * two[None, :])[x + y >= t - 1e-9].sum())


NOISES = [LaplaceNoise(Fraction(1, 2)), LaplaceNoise(Fraction(3)), GaussianNoise(Fraction(5))]
PARTS = [((0.5, 1), (0.5, 1)), ((0.75, 2), (0.25, 3)), ((0.9, 1), (0.1, 4))]


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_narrow_noise_has_its_exact_tail(noise, parts) -> None:
    for t in (0.0, 0.3, 2.0, 2.1, 7.7):
        assert sum_tail(noise, parts, t) == pytest.approx(
            exact(noise, parts, t), rel=1e-6, abs=2e-12
        )


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_wide_noise_is_rounded_up_a_little(kind) -> None:
    """Against the same sum at a 20th of the scale, where nothing is rounded."""
    narrow, wide = (
        LaplaceNoise(Fraction(80 * k))
        if kind == "laplace"
        else GaussianNoise(Fraction(80 * k) ** 2)
        for k in (1, 20)
    )
    parts = ((0.75, 5), (0.25, 16))
    for deviations in (1, 2, 3, 4):
        t = deviations * (narrow.variance * 3.8125) ** 0.5
        one, other = sum_tail(narrow, parts, t), sum_tail(wide, parts, 20 * t)
        assert one < other < 1.12 * one


def test_it_is_below_the_bound_and_bounded() -> None:
    parts = ((0.5, 8), (0.5, 8))
    for noise in (*NOISES, LaplaceNoise(Fraction(1000))):
        for alpha in (0.2, 0.01, 1e-4):
            assert sum_tail(noise, parts, noise.sum_bound(parts, alpha)) < alpha
    assert sum_tail(LaplaceNoise(Fraction(10**7)), parts, 1e9) == 1.0
    assert sum_tail(NOISES[1], parts, 1e6) < 1e-9
    assert sum_tail(NOISES[1], parts, -1e6) == pytest.approx(1)


def test_sums_on_a_grid_are_reached_a_little_too_often() -> None:
    """Two noises with weights that have no common unit, beside the sum of all pairs."""
    one, two = LaplaceNoise(Fraction(3)), GaussianNoise(Fraction(5))
    reach = 150
    first, second = (
        np.exp([noise.log_pmf(k) for k in range(-reach, reach + 1)]) for noise in (one, two)
    )
    sums = 0.7 * np.arange(-reach, reach + 1)[:, None] + math.sqrt(0.3) * np.arange(
        -reach, reach + 1
    )
    pairs = first[:, None] * second
    for step in (0.01, 0.1):
        found = grid_masses([(one, 0.7, 1), (two, math.sqrt(0.3), 1), (one, 0.0, 3)], step)
        assert found.lost < 1e-4
        for t in (-3.0, 0.0, 2.0, 8.0):
            exact = float(pairs[sums >= t - 1e-9].sum())
            reached = float(found.tail(np.array([math.ceil(t / step - 1e-9)]))[0])
            assert (
                exact - 1e-9
                < reached + found.lost
                < float(pairs[sums >= t - 2 * step].sum()) + 1e-4
            )


def test_noise_above_the_grid_is_told_as_lost() -> None:
    found = grid_masses([(LaplaceNoise(Fraction(3)), 1.0, 1)], 0.001)
    beyond = float(LaplaceNoise(Fraction(3)).above(np.array([2.0]))[0])
    assert found.lost == pytest.approx(beyond, rel=0.5)
    assert grid_masses([(LaplaceNoise(Fraction(10**9)), 1.0, 1)], 1.0).lost == 1.0
