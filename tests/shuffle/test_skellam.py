"""What is claimed of Skellam noise, against its exact probabilities."""

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from modicum.errors import InvalidArgument
from modicum.shuffle.noise import skellam_delta, skellam_renyi, skellam_variance


def log_pmf(variance: float, reach: int) -> np.ndarray:
    return np.log(special.ive(np.abs(np.arange(-reach, reach + 1)), variance))


def divergence(order: float, variance: float, moved: int) -> float:
    """Rényi divergence of the noise and the noise moved by an integer, summed."""
    p = log_pmf(variance, int(14 * math.sqrt(variance)) + 3 * moved + 40)
    one, other = p[: len(p) - moved], p[moved:]
    return float(special.logsumexp(order * one + (1 - order) * other)) / (order - 1)


@pytest.mark.parametrize("variance", [3, 10, 60, 500, 4000])
def test_second_differences_of_log_probabilities(variance) -> None:
    """[K3]'s lemma: at most 1/(μ - 2), and not much less in the middle."""
    p = log_pmf(variance, int(6 * math.sqrt(variance)) + 5)
    bends = 2 * p[1:-1] - p[:-2] - p[2:]
    assert bends.max() * (variance - 2) <= 1
    if variance >= 60:
        assert bends.max() * variance > 0.95


@pytest.mark.parametrize("variance", [10, 60, 500, 4000])
def test_the_renyi_divergence_is_bounded_and_nearly_attained(variance) -> None:
    for order, moved in itertools.product((1.1, 2, 6), (1, 2, 5, 12)):
        exact = divergence(order, variance, moved)
        bound = skellam_renyi(order, variance=variance, distance=moved)
        assert exact <= bound
        if variance >= 500:
            assert exact > 0.97 * bound


def test_vectors_at_a_distance_have_the_claimed_guarantee() -> None:
    """All integer vectors of two coordinates within the distance: exact δ, all outcomes."""
    epsilon, delta, distance = 2.0, 1e-3, 5
    variance = skellam_variance(epsilon, delta, distance=distance)
    reach = 90
    p = np.exp(log_pmf(variance, reach))
    worst = 0.0
    for a, b in itertools.product(range(distance + 1), repeat=2):
        if 0 < a * a + b * b <= distance**2:
            one, other = np.outer(p, p), np.outer(np.roll(p, a), np.roll(p, b))
            worst = max(worst, float(np.maximum(one - math.exp(epsilon) * other, 0).sum()))
    assert worst <= delta
    assert worst > delta / 10
    # A deviation 30 % smaller breaks the promise.
    q = np.exp(log_pmf(variance / 1.3**2, reach))
    broken = float(np.maximum(q - math.exp(epsilon) * np.roll(q, distance), 0).sum())
    assert broken > delta


def test_it_costs_a_little_more_than_gaussian_noise() -> None:
    """The exact δ of Gaussian noise (Balle and Wang 2018), with 10 % less deviation."""
    for epsilon, delta in ((1.0, 1e-8), (0.1, 1e-6), (4.0, 1e-10)):
        sd = math.sqrt(skellam_variance(epsilon, delta, distance=300)) / 300
        less = sd * 0.9
        gaussian = stats.norm.cdf(1 / (2 * less) - epsilon * less) - math.exp(
            epsilon
        ) * stats.norm.cdf(-1 / (2 * less) - epsilon * less)
        assert gaussian > delta


def test_more_noise_and_more_epsilon_leave_less() -> None:
    found = [skellam_delta(1, variance=v, distance=50) for v in (3, 1e3, 1e4, 1e5)]
    assert found[0] == 1
    assert all(a > b for a, b in itertools.pairwise(found))
    assert skellam_delta(2, variance=1e4, distance=50) < found[2]
    with pytest.raises(InvalidArgument):
        skellam_variance(1e-9, 1e-300, distance=1)
