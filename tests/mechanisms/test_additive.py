"""The discrete Gaussian vector: its law, its sampler, and its zCDP to the last digit."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from modicum import audit
from modicum.exact.entropy import SeededEntropy
from modicum.exact.laplace import as_integers
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise, VectorNoise, laplace
from modicum.mechanisms.base import ALPHAS
from modicum.mechanisms.staircase import StaircaseNoise
from modicum.privacy.event import ZCDP
from modicum.summaries.vectors import BOUND
from tests.exact.goodness import ACCEPT, REJECT, normalised, p_value

LAW = VectorNoise((3, -4), 5, Fraction(2))


def test_its_noise_and_event() -> None:
    assert LAW.event == ZCDP(Fraction(2))
    assert LAW.noise[0].sigma2 == Fraction(25, 4)


def test_densities_add_up_to_one() -> None:
    side = range(-25, 26)
    mass = sum(math.exp(LAW.log_density((3 + a, -4 + b))) for a, b in product(side, side))
    assert mass == pytest.approx(1, abs=1e-12)


def enumerated(shift: tuple[int, int], alpha: float) -> float:
    """D_α of the laws about a shift and about 0, summed over every outcome that matters."""
    one, other = (replace(LAW, values=values) for values in (shift, (0, 0)))
    reach = 12 + int(alpha) * 6
    total = -math.inf
    for outcome in product(range(-reach, reach + 1), repeat=2):
        p, q = one.log_density(outcome), other.log_density(outcome)
        total = np.logaddexp(total, alpha * p + (1 - alpha) * q)
    return float(total) / (alpha - 1)


@pytest.mark.parametrize(
    ("shift", "alpha"), [((3, 4), 1.01), ((3, 4), 2.0), ((5, 0), 2.0), ((0, -5), 3.0)]
)
def test_a_shift_of_the_bound_costs_rho_for_every_order(shift, alpha) -> None:
    assert enumerated(shift, alpha) / alpha == pytest.approx(2, rel=1e-3)
    assert enumerated(shift, alpha) / alpha <= 2 + 1e-9


def test_a_longer_shift_breaks_the_claim() -> None:
    assert enumerated((5, 1), 2.0) / 2 > 2.07
    # A swap moves a sum of clipped rows by up to twice the bound: four times the cost.
    assert enumerated((10, 0), 2.0) / 2 == pytest.approx(8, rel=0.01)


def test_no_order_finds_more_than_rho_at_full_size() -> None:
    mechanism = VectorNoise((BOUND // 5 * 3, BOUND // 5 * 4, 0), BOUND, Fraction(1, 2))
    parts = zip(mechanism.factors(), replace(mechanism, values=(0, 0, 0)).factors(), strict=True)
    found = sum(one.renyi(other) for one, other in parts)
    assert found.shape == (2, len(ALPHAS))
    assert 0.4999999 < found.min() <= found.max() <= 0.5


@pytest.mark.parametrize("mechanism", [LAW, VectorNoise((7, 0, -(2**40)), BOUND, Fraction(1, 3))])
def test_the_sampler_follows_the_law_and_a_wrong_scale_is_noticed(mechanism) -> None:
    assert audit.fit(mechanism, 4000, SeededEntropy("vector")) > 1e-3
    for factor in (Fraction(10, 7), Fraction(7, 13)):
        wrong = replace(mechanism, rho=mechanism.rho * factor**2)
        assert audit.power(mechanism, wrong, draws=4000, entropy=SeededEntropy(2), trials=1) == 1


def test_dependent_noise_is_noticed() -> None:
    class Same(VectorNoise):
        def sample(self, entropy):
            first = self.noise[0].sample(entropy)
            return tuple(v + first for v in self.values)

    wrong = Same(LAW.values, LAW.bound, LAW.rho)
    assert audit.power(LAW, wrong, draws=4000, entropy=SeededEntropy(3), trials=3) == 1


def test_many_components_are_drawn_at_once() -> None:
    mechanism = VectorNoise(tuple(range(1000)), BOUND, Fraction(1, 2))
    noise = np.array(mechanism.sample(SeededEntropy(1))) - np.arange(1000)
    assert 0.9 < noise.std() / BOUND < 1.1
    at, beside = (
        mechanism.log_density(mechanism.values),
        mechanism.log_density((BOUND, *mechanism.values[1:])),
    )
    assert at - beside == pytest.approx(0.5, rel=1e-6)


def test_probes_move_every_component() -> None:
    probes = list(LAW.probes())
    assert len(probes) == 5
    assert all(len(probe) == 2 for probe in probes)


@pytest.mark.parametrize("scale", [1 << 21, 1 << 40])
def test_wide_laplace_noise_follows_its_law(scale) -> None:
    """Drawn one by one, and many at once, at the scales that sums of vectors have."""
    one, many = (laplace([5] * count, l1=scale, epsilon=Fraction(1)) for count in (1, 1000))
    noise = np.array(many.sample(SeededEntropy("wide"))) - 5
    # The absolute values have the mean of the scale, and a deviation of a 30th of it.
    assert np.abs(noise).mean() / scale == pytest.approx(1, abs=0.15)
    assert audit.fit(one, 1000, SeededEntropy("wide")) > 1e-3
    wrong = laplace([5], l1=scale, epsilon=Fraction(10, 7))
    assert audit.power(one, wrong, draws=1000, entropy=SeededEntropy(3), trials=1) == 1


NOISES = [
    *(LaplaceNoise(Fraction(scale)) for scale in ("1/3", "2", "50")),
    *(GaussianNoise(Fraction(sigma2)) for sigma2 in ("1/2", "4", "2500")),
    *(StaircaseNoise.of(l1, Fraction(e)) for l1, e in ((1, 2), (2, 3), (9, 2), (60, 3), (40, 9))),
]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_noise_has_the_stated_variance_and_seldom_exceeds_its_bounds(noise) -> None:
    """By its probabilities, summed; P(noise > t) is half of P(|noise| > t)."""
    chances = np.exp([noise.log_pmf(k) for k in range(2500)])
    exceeded = chances.sum() - np.cumsum(chances)  # P(noise > t) for t = 0, 1, ...
    for alpha in (0.5, 0.05, 1e-6):
        t = noise.tail_bound(alpha)
        assert 2 * exceeded[int(t)] <= alpha * (1 + 1e-6)
    if isinstance(noise, LaplaceNoise | StaircaseNoise):  # that of an integer less is too small
        assert t == 0 or 2 * exceeded[int(t) - 1] > 1e-6
    bounds = noise.beyond(np.arange(2500.0))
    assert (exceeded <= bounds + 1e-12).all()
    variance = 2 * (chances * np.arange(2500) ** 2).sum()
    assert variance <= noise.variance * (1 + 1e-9)
    assert noise.variance < 1.1 * variance + 0.1 * isinstance(noise, GaussianNoise)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_masses_are_the_chances_of_integers(noise) -> None:
    expected = [math.exp(noise.log_pmf(k)) for k in range(-25, 26)]
    np.testing.assert_allclose(noise.masses(25), expected, rtol=1e-9)


class FixedNoise(LaplaceNoise):
    """Gives out given integers, however large."""

    def vector(self, count, entropy):
        return as_integers(GIVEN[:count])


FAR = 1 << 62
GIVEN = [0, 5, -FAR - 7, FAR - 3, FAR + 2**53, -(2**63), 2**63 - 1, 2**80, -(2**70)]


@pytest.mark.parametrize("count", [5, len(GIVEN)])  # as int64, and as Python integers
@pytest.mark.parametrize("value", [0, 7, 2**53, -(2**53)])
def test_a_sum_is_cut_and_not_its_noise(count, value) -> None:
    found = FixedNoise(Fraction(1)).added_to(np.full(count, value), SeededEntropy(0))
    assert found.tolist() == [min(max(value + z, -FAR), FAR) for z in GIVEN[:count]]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "noise",
    [
        # Of the staircases, which are drawn one by one, the narrowest and the widest.
        pytest.param(noise, marks=[pytest.mark.slow] * (noise in NOISES[7:9] + NOISES[10:]))
        for noise in NOISES
    ],
    ids=str,
)
def test_noise_of_many_values_follows_its_law_and_one_30_percent_narrower_does_not(noise) -> None:
    values = np.arange(20_000) * 1000
    drawn = (noise.added_to(values, SeededEntropy("many")) - values).tolist()
    law = normalised({k: math.exp(noise.log_pmf(k)) for k in range(-2500, 2500)})
    assert p_value(drawn, law) > ACCEPT
    if isinstance(noise, LaplaceNoise):
        wrong = LaplaceNoise(noise.scale * Fraction(7, 10))
        law = normalised({k: math.exp(wrong.log_pmf(k)) for k in range(-2500, 2500)})
        assert p_value(drawn, law) < REJECT
