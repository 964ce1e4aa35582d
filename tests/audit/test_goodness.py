"""The fit test accepts every sampler, and notices noise 30 % too small or too large."""

from fractions import Fraction

import numpy as np
import pytest

from modicum import audit
from modicum.audit import goodness
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import gaussian, laplace
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import FloatGrid, RadiusGrid
from modicum.mechanisms.scores import LossScore, ReachScore, TargetScore, ThresholdScore
from modicum.mechanisms.selection import RadiusDraw, RadiusRanks
from modicum.mechanisms.staircase import staircase
from modicum.mechanisms.subsampled import Subsampled
from modicum.privacy.event import PureDP
from tests.audit.cases import LAWS, Members, median_template

DATA = np.array([-8, -7, -3, 0, 1, 1, 2, 5, 8])
DRAWS = 4000
GRID = RadiusGrid.between(1, 100)
OUTSIDE = tuple(max(0, 12 - 2 * i) for i in range(len(GRID.radii)))


def radii(e: Fraction, selection: str) -> RadiusDraw:
    return RadiusDraw((OUTSIDE, (*OUTSIDE[1:], 0)), GRID, e, e / 4, selection)


# The cost at which the outcomes are spread enough to show a change of scale.
SPREAD = {
    "laplace": lambda e: laplace((3,), l1=4, epsilon=e),
    "laplace, wide": lambda e: laplace((3,), l1=1 << 12, epsilon=e),
    "laplace, beyond 2^20": lambda e: laplace((3,), l1=(1 << 26) + 7, epsilon=e / 3),
    "laplace, beyond 2^64": lambda e: laplace((-(10**30),), l1=10**25, epsilon=e),
    "gaussian": lambda e: LAWS["gaussian"](DATA, e),
    "gaussian, wide": lambda e: gaussian((3,), l2=1 << 26, rho=e**2),
    "transformed": lambda e: LAWS["transformed"](DATA, 2 * e),
    "staircase": lambda e: staircase((3,), l1=5, epsilon=e),
    "staircase of a pair": lambda e: staircase((3, -4), l1=2, epsilon=e),
    "centre": lambda e: LAWS["centre"](DATA, e),
    "threshold": lambda e: Exponential(ThresholdScore(np.arange(0, 90, 9), -100, 100, 5, 9), e),
    "interval": lambda e: LAWS["interval"](DATA, e),
    "beyond": lambda e: Exponential(TargetScore((9, 7, 4, 2, 1, 0), 2), e),
    "reach": lambda e: Exponential(ReachScore((0, 1, 2, 4, 7, 9), 3, e / 8, 1 << 10), e),
    "least loss": lambda e: Exponential(LossScore(np.array([9, 7, 4, 2, 1, 0, 5, 12]), 2, 3), e),
    "weighted": lambda e: laplace((3, 0), l1=20, epsilon=e, weights=(1, 5)),
    "radii by flip": lambda e: radii(e, "flip"),
    "radii by exponential": lambda e: radii(e, "exponential"),
    "ranks": lambda e: RadiusRanks(
        np.arange(0, 100, 5), 0, RadiusGrid.between(1, 100, 4), (3, 12), (e / 8, e / 8), 2 * e
    ),
    "subsampled centre": lambda e: Subsampled(
        Members(np.full(6, 3)),
        median_template(FloatGrid(4), -100, 100, 2 * e),
        1,
        PureDP(2 * e),
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SPREAD)
def test_a_sampler_follows_its_law(name) -> None:
    assert audit.fit(SPREAD[name](Fraction(1)), DRAWS, SeededEntropy(name)) > 1e-3


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SPREAD)
@pytest.mark.parametrize("scale", ["0.7", pytest.param("1.3", marks=pytest.mark.slow)])
def test_a_scale_30_percent_wrong_is_noticed(name, scale) -> None:
    right, wrong = (SPREAD[name](1 / Fraction(s)) for s in ("1", scale))
    entropy = SeededEntropy(name + scale)
    assert audit.power(right, wrong, draws=DRAWS, entropy=entropy, trials=1) == 1


MANY = [
    "laplace",
    "laplace, beyond 2^20",
    "gaussian",
    "gaussian, wide",
    "transformed",
    "radii by flip",
    "radii by exponential",
    "centre",
]


def many(mechanism, name: str):
    return type(mechanism).sample_many([mechanism] * DRAWS, SeededEntropy(f"many {name}"))


@pytest.mark.parametrize("name", MANY)
def test_many_draws_at_once_follow_the_law(name) -> None:
    assert (
        goodness._p_value(SPREAD[name](Fraction(1)), many(SPREAD[name](Fraction(1)), name)) > 1e-3
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("scale", ["0.7", "1.3"])
def test_many_draws_of_a_wrong_scale_are_noticed(name, scale) -> None:
    wrong = SPREAD[name](1 / Fraction(scale))
    assert goodness._p_value(SPREAD[name](Fraction(1)), many(wrong, name)) < 1e-6


def test_dependent_coordinates_are_noticed() -> None:
    mechanism = laplace((0, 0), l1=4, epsilon=Fraction(1))
    entropy = SeededEntropy("pairs")
    sample = [mechanism.sample(entropy) for _ in range(2000)]
    assert goodness._p_value(mechanism, sample) > 1e-3
    assert goodness._p_value(mechanism, [(x, x) for x, _ in sample]) < 1e-12


def test_an_uneven_choice_inside_a_stretch_is_noticed() -> None:
    mechanism = Exponential(ThresholdScore(np.array([500]), 0, 1000, 1, 1), Fraction(1))
    entropy = SeededEntropy("stretch")
    sample = [mechanism.sample(entropy) for _ in range(2000)]
    assert goodness._p_value(mechanism, sample) > 1e-3
    assert goodness._p_value(mechanism, [x - x % 250 if x < 500 else x for x in sample]) < 1e-12


def test_wide_noise_of_another_sign_or_value_is_noticed() -> None:
    """Noise of one sign only, and a value that is a third of the scale away."""
    mechanism = SPREAD["laplace, beyond 2^20"](Fraction(1))
    entropy = SeededEntropy("sides")
    sample = [mechanism.sample(entropy) for _ in range(2000)]
    assert goodness._p_value(mechanism, sample) > 1e-3
    assert goodness._p_value(mechanism, [(abs(x),) for (x,) in sample]) < 1e-12
    away = int(mechanism.noise[0].scale) // 3
    assert goodness._p_value(mechanism, [(x + away,) for (x,) in sample]) < 1e-6


def test_an_impossible_outcome_is_certain_proof() -> None:
    mechanism = LAWS["centre"](DATA, Fraction(1))
    assert goodness._p_value(mechanism, [mechanism.sample(SeededEntropy(1)), 10**6]) == 0


def test_the_p_value_is_one_at_least_that_often() -> None:
    mechanism = laplace((0,), l1=1, epsilon=Fraction(1))
    entropy = SeededEntropy("level")
    small = sum(audit.fit(mechanism, 50, entropy) < 0.1 for _ in range(200))
    assert small <= 20


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument, match="draws"):
        audit.fit(LAWS["laplace"](DATA, Fraction(1)), 0, SeededEntropy(1))
    with pytest.raises(InvalidArgument, match="smaller noise scale"):
        audit.fit(staircase((0,), l1=10**9, epsilon=Fraction(1)), 10, SeededEntropy(1))
