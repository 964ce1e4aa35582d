"""Divergences against closed forms, and their roundings."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.errors import InvalidArgument
from modicum.mechanisms.additive import Additive, GaussianNoise, gaussian, laplace
from modicum.mechanisms.base import ALPHAS, log_ratio, needed_rho
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import ThresholdScore
from modicum.privacy.event import ZCDP


@pytest.mark.parametrize("rho", ["1e-10", "0.001", "0.5", "8"])
@pytest.mark.parametrize("shift", [1, 7, 10**12])
def test_the_discrete_gaussian_needs_its_rho(rho, shift) -> None:
    """Canonne, Kamath and Steinke 2020, Theorem 4: at most rho, for integer α shift exactly."""
    one, other = (gaussian([v], l2=shift, rho=Fraction(rho)) for v in (5 + shift, 5))
    needed = one.renyi(other)
    assert needed.max() <= float(rho) * (1 + 1e-12)
    assert needed[:, ALPHAS >= 2] == pytest.approx(float(rho), rel=1e-6, abs=3e-12)


def test_a_stride_does_not_change_the_divergence() -> None:
    sigma2, shift = Fraction(40**2), 30
    noise = GaussianNoise(sigma2)
    p, q = (np.array([noise.log_pmf(k - v) for k in range(-9000, 9001)]) for v in (shift, 0))
    one, other = (Additive((v,), (noise,), ZCDP(Fraction(1))) for v in (shift, 0))
    assert one.renyi(other) == pytest.approx(
        np.array([needed_rho(p, q, 1.0), needed_rho(q, p, 1.0)]), rel=1e-9
    )


def test_the_laplace_law_by_direct_summation() -> None:
    one, other = (laplace([v], l1=1, epsilon=Fraction(1)) for v in (1, 0))
    a = math.exp(-1)
    for k, alpha in enumerate(ALPHAS):
        # sum_k P(k)^α Q(k)^(1-α): all k >= 1 give e^(α-1) Q... and all k <= 0 give e^-α P...
        moment = (math.exp(alpha - 1) + math.exp(-alpha)) / (1 + a)
        assert one.renyi(other)[0][k] == pytest.approx(
            math.log(moment) / (alpha - 1) / alpha, rel=1e-9
        )


def test_a_bounded_range_costs_an_eighth_of_its_square() -> None:
    one, other = [
        Exponential(ThresholdScore(np.array(data, dtype=int), -100, 100, 1, 4), Fraction(1))
        for data in ([50], [-50, 50])
    ]
    assert 0.5 < one.renyi(other).max() * 8 <= 1


def test_an_impossible_outcome_costs_everything() -> None:
    p, q = np.log([0.5, 0.5]), np.array([0.0, -np.inf])
    assert np.isposinf(needed_rho(p, q, 1.0)).all()
    assert np.isfinite(needed_rho(q, p, 1.0)).all()


def test_log_ratios_never_exceed_the_truth() -> None:
    rng = np.random.default_rng(1)
    exact = [Fraction(int(x), 10**15) for x in rng.integers(-(10**18), 0, 200)]
    a, b = (np.array([float(x) for x in half]) for half in (exact[:100], exact[100:]))
    for found, x, y in zip(log_ratio(a, b), exact[:100], exact[100:], strict=True):
        assert abs(Fraction(float(found))) <= abs(x - y)
        assert found == pytest.approx(float(x - y), rel=1e-9)


def test_too_wide_noise_that_cannot_be_summed_is_refused() -> None:
    one, other = (laplace([v], l1=10**9, epsilon=Fraction(1)) for v in (0, 10**9))
    with pytest.raises(InvalidArgument, match="smaller noise scale"):
        one.renyi(other)
