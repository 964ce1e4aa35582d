"""Means of groups move towards that of all, the more the larger their noise is."""

import numpy as np
import pytest

from modicum.statistics.groups.shrinkage import toward_all

RNG = np.random.default_rng(0)
GROUPS = 4000


def drawn(between: float, noise: float, scatter: float = 0.0):
    """True means and what is released of them."""
    means = RNG.normal(10, np.sqrt(between + scatter), GROUPS)
    return means, means + RNG.laplace(0, np.sqrt(noise / 2), GROUPS)


@pytest.mark.parametrize(("between", "noise"), [(4.0, 1.0), (1.0, 4.0), (1.0, 1.0)])
def test_weights_are_those_of_the_variances(between: float, noise: float) -> None:
    means, values = drawn(between, noise)
    towards, weights = toward_all(values, np.full(GROUPS, noise**0.5), np.zeros(GROUPS))
    assert towards == pytest.approx(10, abs=0.2)
    assert weights == pytest.approx(between / (between + noise), abs=0.06)
    shrunk = towards + weights * (values - towards)
    errors = [np.mean((each - means) ** 2) for each in (shrunk, values, np.full(GROUPS, towards))]
    assert errors[0] < min(errors[1:])


def test_groups_that_differ_by_nothing_but_noise_are_all_alike() -> None:
    _, values = drawn(0.0, 1.0)
    towards, weights = toward_all(values, np.full(GROUPS, 1.1), np.zeros(GROUPS))
    assert weights.max() == 0
    assert towards == pytest.approx(10, abs=0.1)


def test_what_a_sample_scatters_is_not_noise() -> None:
    """Means of few records differ by more: their own value has more weight for the same noise."""
    noise, scatter = np.ones(2), np.array([0.0, 3.0])
    _, weights = toward_all(np.array([9.0, 11.0]), noise, scatter)
    assert weights[1] > weights[0]


def test_a_group_with_little_noise_stays() -> None:
    noise = np.array([1e-3, 1.0, 10.0])
    towards, weights = toward_all(np.array([3.0, 5.0, 9.0]), noise, np.zeros(3))
    assert weights[0] > 0.999
    assert weights[0] > weights[1] > weights[2]
    assert 3 < towards < 9


def test_one_value_and_no_noise() -> None:
    towards, weights = toward_all(np.full(5, 7.0), np.zeros(5), np.zeros(5))
    assert towards == 7
    assert np.isfinite(weights).all()


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_the_unit_of_the_data_does_not_matter(unit: float) -> None:
    values, noise, scatter = np.array([1.0, 2, 4, 9]), np.ones(4), np.full(4, 0.5)
    towards, weights = toward_all(values, noise, scatter)
    other, same = toward_all(values * unit, noise * unit, scatter * unit)
    assert other / unit == pytest.approx(towards)
    assert same == pytest.approx(weights)


def test_noise_that_is_wider_than_the_floats_leaves_numbers() -> None:
    values, noise = np.array([-1e307, 2e307, 1e307, 0.0]), np.array([1e300, 1e300, 1e308, np.inf])
    with np.errstate(all="raise", under="ignore"):
        towards, weights = toward_all(values, noise, np.zeros(4))
    assert np.isfinite([towards, *weights]).all()
    assert weights[0] > 0.99 > 0.5 > weights[3]
