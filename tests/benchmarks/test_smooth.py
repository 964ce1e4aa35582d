"""The comparators of inverse sensitivity: their noises are private as stated, and as large."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from benchmarks import smooth
from benchmarks.datasets import SHAPES
from modicum import theory
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.level_sets import LevelScore
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.privacy.event import RangeDP

ONE = Fraction(1)
PLACES = np.concatenate(
    [-np.geomspace(1e-3, 1e6, 4000)[::-1], [0.0], np.geomspace(1e-3, 1e6, 4000)]
)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_t_noise_is_private_for_a_smooth_bound(share) -> None:
    """Scale grows by exp(β), the place moves by S: ε at most, and more for a larger β."""

    def worst(beta: float) -> float:
        size, nu = (1 - share) * 2 * math.sqrt(3) / 4, 3
        one = stats.t.logpdf(PLACES, nu, scale=1 / size)
        there = stats.t.logpdf(PLACES, nu, loc=1, scale=math.exp(beta) / size)
        back = stats.t.logpdf(PLACES, nu, loc=math.exp(beta), scale=math.exp(beta) / size)
        return max(np.abs(one - there).max(), np.abs(one - back).max())

    assert worst(share / 3) <= 1
    assert worst(share / 3 * 1.7) > 1 or share < 0.5


def test_laplace_noise_is_not_pure() -> None:
    """However small the difference of scale is, the ratio grows without bound."""
    one, other = (-np.abs(PLACES) / s - math.log(2 * s) for s in (1, math.exp(0.01)))
    assert np.abs(one - other).max() > 1000


def test_mean_sizes_of_the_noises() -> None:
    t3 = 2 * integrate.quad(lambda t: t * stats.t.pdf(t, 3), 0, math.inf)[0]
    assert t3 == pytest.approx(2 * math.sqrt(3) / math.pi)
    # One distance with a sensitivity of 1, all others 0: only the splits matter.
    assert smooth.student(np.array([1.0]), 1, 1.0) == pytest.approx(t3 / (0.95 * math.sqrt(3) / 2))
    assert smooth.laplace(np.array([1.0]), 0.5, 1.0) == pytest.approx(4)
    assert smooth.log_normal(np.array([1.0]), 0.5, 1.0) == pytest.approx(1 / 0.95, rel=0.01)


@pytest.mark.parametrize("name", ["N(0,1)", "ages 0..120", "constant 5"])
def test_the_exact_error_is_that_of_the_law(name) -> None:
    lattice, epsilon = Lattice.within((-16, 128), 2.0**-4), Fraction(1, 2)
    data = next(shape for shape in SHAPES if shape.name == name)
    x, median = np.sort(data.draw(np.random.default_rng(1), 400)), theory.Quantile(0.5)
    x = np.round(x * 16) / 16
    steps = np.arange(len(x) // 2)
    ends = (
        (median.lowered(x, steps, steps, -16.0) * 16).astype(int),
        (median.raised(x, steps, steps, 128.0) * 16).astype(int),
    )
    mechanism = Exponential(LevelScore(*ends, lattice.first, lattice.last), epsilon)
    masses = {t: math.exp(mechanism.log_density(t)) for t in range(lattice.first, lattice.last + 1)}
    error = sum(m * abs(t / 16 - median.value(x)) for t, m in masses.items())
    assert smooth.exact(x, median, epsilon, lattice) == pytest.approx(error, rel=1e-9)


def test_the_approximate_error_is_that_of_the_sampler() -> None:
    x, unit = np.sort(np.random.default_rng(2).normal(size=1000)), 1 << 20
    each = theory.local_sensitivities(x, "median", 300, within=(-8, 8))
    radii = tuple(math.ceil(r * unit) for r in each)
    mechanism = RadialMechanism((0,), radii, 16 * unit, 1, ONE, RangeDP(ONE))
    entropy = SeededEntropy("median")
    drawn = np.abs([mechanism.sample(entropy)[0] for _ in range(600)]) / unit
    error = theory.radial_error(each, 1, largest=16.0)
    assert drawn.mean() == pytest.approx(error, abs=5 * drawn.std() / 600**0.5)


def test_a_direction_in_the_limit_of_a_large_gap() -> None:
    """All radii are 1/(2 G): the norm is 1/G times a Gamma variable of mean d, nearly."""
    near, _ = smooth.direction(1e5, 4)
    assert near * math.sqrt(2) * 1e5 == pytest.approx(math.sqrt(4 * 5), rel=0.25)


def test_the_part_reaches_its_target() -> None:
    text, (target,) = smooth.smooth(smooth.Effort(datasets=1, rows=400, releases=1, sizes=(300,)))
    assert target.state == "reached"
    assert text.count("| N(0,1)") == 2
