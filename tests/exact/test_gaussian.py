"""Discrete Gaussian: the law of both samplers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.gaussian import discrete_gaussian, discrete_gaussian_many
from tests.exact.goodness import ACCEPT, REJECT, normalised, p_value

DRAWS = 20_000
VARIANCES = [Fraction(1, 10), Fraction(1), Fraction(50, 7), Fraction(400)]


def mechanism(sigma2: float) -> dict[int, float]:
    reach = int(12 * math.sqrt(sigma2)) + 12
    return normalised({k: math.exp(-k * k / (2 * sigma2)) for k in range(-reach, reach + 1)})


@pytest.mark.parametrize("sigma2", VARIANCES)
def test_one_at_a_time(sigma2) -> None:
    entropy = SeededEntropy("gaussian")
    draws = [discrete_gaussian(sigma2, entropy) for _ in range(DRAWS // 2)]
    assert p_value(draws, mechanism(float(sigma2))) > ACCEPT
    assert p_value(draws, mechanism(1.3**2 * float(sigma2))) < REJECT


@pytest.mark.parametrize("sigma2", VARIANCES)
def test_many_at_a_time(sigma2) -> None:
    draws = discrete_gaussian_many(sigma2, DRAWS, SeededEntropy("gaussians"))
    assert draws.dtype == np.int64
    assert p_value(draws.tolist(), mechanism(float(sigma2))) > ACCEPT
    assert p_value(draws.tolist(), mechanism(0.7**2 * float(sigma2))) < REJECT


@pytest.mark.parametrize("sigma2", [Fraction(2**80 + 1, 3), Fraction(2**112), Fraction(10**40, 7)])
def test_large_variances(sigma2) -> None:
    one = SeededEntropy("large")
    many = discrete_gaussian_many(sigma2, 2000, SeededEntropy("largest")).tolist()
    for draws in ([discrete_gaussian(sigma2, one) for _ in range(2000)], many):
        z = np.array([float(k / sigma2**0.5) for k in draws])
        assert stats.kstest(z, "norm").pvalue > ACCEPT
        assert stats.kstest(z / 1.3, "norm").pvalue < 1e-6
        assert p_value([k & 7 for k in draws], dict.fromkeys(range(8), 1 / 8)) > ACCEPT


def test_tiny_variances() -> None:
    for sigma2 in (Fraction(1, 10**6), Fraction(1, 10**30)):
        assert discrete_gaussian(sigma2, SeededEntropy(0)) == 0
        assert not discrete_gaussian_many(sigma2, 100, SeededEntropy(0)).any()


def test_nothing_to_draw() -> None:
    assert discrete_gaussian_many(Fraction(3), 0, SeededEntropy(0)).tolist() == []


@pytest.mark.parametrize("sigma2", [Fraction(0), Fraction(-1, 3)])
def test_refuses_variances_that_are_not_positive(sigma2) -> None:
    for draw in (
        lambda: discrete_gaussian(sigma2, SeededEntropy(0)),
        lambda: discrete_gaussian_many(sigma2, 3, SeededEntropy(0)),
    ):
        with pytest.raises(InvalidArgument, match="sigma2 must be positive"):
            draw()
