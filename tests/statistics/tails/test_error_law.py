"""Sums of independent errors, against formulas and simulations."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.staircase import StaircaseNoise
from modicum.statistics.tails.error_law import DiscretePart, ErrorLaw, NoisePart, NormalPart, Reach

LAPLACE = NoisePart(LaplaceNoise(Fraction(1000)), 0.01)  # of scale 10
NORMAL = NormalPart(np.array([10.0]), np.ones(1))
LEVELS = (0.2, 0.025, 0.005, 1e-4)


def above(x):
    return math.erfc(x / math.sqrt(2)) / 2


def laplace_and_normal(z, b, s):
    """P(X + G > z) for X Laplace of scale b and G normal with deviation s, in closed form."""
    shift = math.exp(s**2 / (2 * b**2)) / 2
    left = math.exp(-z / b) * (1 - above(z / s - s / b))
    right = math.exp(z / b) * above(z / s + s / b)
    return above(z / s) + shift * (left - right)


@pytest.mark.parametrize("alpha", LEVELS)
def test_the_bound_of_one_part_is_its_quantile(alpha) -> None:
    assert Reach((LAPLACE,)).bound(alpha) == pytest.approx(10 * math.log(1 / (2 * alpha)), rel=0.01)
    assert math.erfc(Reach((NORMAL,)).bound(alpha) / 10 / math.sqrt(2)) / 2 == pytest.approx(
        alpha, rel=0.03
    )


@pytest.mark.parametrize("deviation", [0.3, 10.0, 300.0])
@pytest.mark.parametrize("alpha", LEVELS)
def test_a_sum_has_the_level_of_its_formula_or_hardly_less(alpha, deviation) -> None:
    """Errors of 30 % in either of two equal parts would change it by a third and more."""
    normal = NormalPart(np.array([deviation]), np.ones(1))
    bound = Reach((LAPLACE, normal)).bound(alpha)
    exceeded = laplace_and_normal(bound, 10.0, deviation)
    assert 0.9 * alpha < exceeded < 1.0001 * alpha


@pytest.mark.parametrize(
    "noise", [GaussianNoise(Fraction(10**6)), StaircaseNoise.of(999, Fraction(2))]
)
def test_any_noise_adds_up_as_in_a_simulation(noise) -> None:
    rng = np.random.default_rng(3)
    reach = int(noise.tail_bound(1e-9))
    masses = noise.masses(reach)
    drawn = rng.choice(np.arange(-reach, reach + 1), 10**6, p=masses / masses.sum())
    sizes = np.array([0.0, 500.0, 2500.0])
    parts = (NoisePart(noise, 1.0), DiscretePart(sizes, np.array([0.7, 0.2, 0.1])))
    total = drawn + rng.choice(sizes, 10**6, p=[0.7, 0.2, 0.1]) + rng.normal(0, 400, 10**6)
    bound = Reach((*parts, NormalPart(np.array([400.0]), np.ones(1)))).bound(0.02)
    assert bound == pytest.approx(np.quantile(total, 0.98), rel=0.02)


def test_a_difference_adds_each_side_to_the_other() -> None:
    clipped = DiscretePart(np.array([50.0]), np.ones(1))
    first = ErrorLaw(
        100.0, 100.0, Reach((LAPLACE,)), Reach((LAPLACE, clipped)), (0.0, 1000.0), 0.01
    )
    second = ErrorLaw(40.0, 40.0, Reach((LAPLACE,)), Reach((LAPLACE,), 5.0), (0.0, 1000.0), 0.01)
    lower, upper = first.minus(second).interval(0.07)
    half = Reach((LAPLACE, LAPLACE)).bound(0.025)
    assert lower == pytest.approx(60 - half - 5, abs=0.2)
    assert upper == pytest.approx(60 + half + 50, abs=0.2)
    assert 2 * Reach((LAPLACE,)).bound(0.0125) > 1.7 * half  # what a union bound takes
    # A square root of squared widths falls short.
    assert math.sqrt(2) * Reach((LAPLACE,)).bound(0.2) < 0.92 * Reach((LAPLACE, LAPLACE)).bound(0.2)


def test_the_rarest_errors_have_a_bound_too() -> None:
    bounds = [Reach((LAPLACE, NORMAL)).bound(10.0**-k) for k in range(1, 17)]
    assert bounds == sorted(bounds)
    assert laplace_and_normal(bounds[7], 10.0, 10.0) < 1e-8
    assert bounds[15] > 10 * math.log(1e16)


def test_an_interval_holds_the_value_though_the_law_is_about_another() -> None:
    law = ErrorLaw(0.0, 100.0, Reach((LAPLACE,)), Reach((LAPLACE,)), (0.0, 1000.0), 0.0)
    lower, upper = law.interval(0.05)
    assert lower == 0.0
    assert upper == pytest.approx(100 + 10 * math.log(20), abs=0.2)


def test_nothing_to_add_is_no_error() -> None:
    assert Reach((), 3.0).bound(0.05) == 3.0
    assert Reach((DiscretePart(np.zeros(2), np.array([0.5, 0.5])),), 3.0).bound(0.05) == 3.0
