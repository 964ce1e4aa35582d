"""The law of the records outside a drawn radius, and the tail index that released radii show."""

import math
from fractions import Fraction

import numpy as np
import pytest

import modicum
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.selection import RadiusDraw
from modicum.statistics.tails.outside import NoisyTerm, Outside
from modicum.statistics.tails.tail_index import law_of_outside


def outside(**given) -> Outside:
    usual = {"radii": (8, 64), "widest": 2**40, "candidates": 82, "eta": 0.01, "power": 4.0}
    return Outside(**usual | given)


@pytest.mark.parametrize("per_octave", [2, 4])
@pytest.mark.parametrize("selection", ["flip", "exponential"])
@pytest.mark.parametrize("tail", [2, 3])
def test_the_law_is_that_of_the_radius_draw_on_such_a_tail(selection, tail, per_octave) -> None:
    """Many records, so that their numbers are as good as real; averaged over a grid's positions."""
    eta, power, grid = Fraction(1, 100), Fraction(4), RadiusGrid.between(1, 2**30, per_octave)
    tilt = power * Fraction(math.log(2) / per_octave).limit_denominator(10**6)
    numbers, probabilities = law_of_outside(float(power), tail, selection, per_octave)
    mean = float(numbers @ probabilities)
    large = float(probabilities[numbers > 2.5 * power / tail].sum())
    means, larges = [], []
    for phase in range(8):
        shift = 10**8 * math.exp(tail * math.log(2) / per_octave * phase / 8)
        counts = tuple(round(min(shift / max(r, 0.5) ** tail, 1e9)) for r in grid.radii)
        mechanism = RadiusDraw((counts,), grid, eta, tilt, selection)
        masses = np.array([math.exp(mechanism.log_density((i,))) for i in range(len(grid.radii))])
        means.append(float(masses @ np.array(counts)) * float(eta))
        larges.append(float(masses[np.array(counts) * float(eta) > 2.5 * power / tail].sum()))
    assert mean == pytest.approx(np.mean(means), rel=0.02)
    assert large == pytest.approx(np.mean(larges), abs=0.012)
    if selection == "exponential":  # the Gamma law of the proof page
        assert mean == pytest.approx(power / tail, rel=0.02)


def test_the_index_between_two_radii() -> None:
    assert outside().index() is None
    # 1e6 records beyond 8, and power / (eta a) = 400 / a beyond 64: a = ln(1e6 a / 400) / ln 8
    index = outside(seen=(1e6, 8)).index()
    assert index == pytest.approx(math.log(1e6 * index / 400) / math.log(8))
    assert outside(seen=(1e6, 64)).index() > 1e6  # nothing is between
    assert outside(seen=(450.0, 1), radii=(0, 2**30)).index() is None  # no mean would exist


def test_a_light_tail_that_shows_leaves_fewer_records() -> None:
    def mean(**given) -> float:
        numbers, probabilities = outside(**given).distribution(3)
        return float(numbers @ probabilities)

    light, heavy = (1e6, 40), (1e6, 2)
    assert outside(seen=light).index() > 9 > 4.5 > outside(seen=heavy).index()
    assert mean(seen=light) < 0.6 * mean()
    assert mean(seen=heavy) == mean()


@pytest.mark.parametrize(
    ("noise", "slack"), [(LaplaceNoise(Fraction(7, 2)), 1.4), (GaussianNoise(Fraction(3000)), 3)]
)
def test_what_lies_beyond_is_bounded(noise, slack) -> None:
    t = np.array([-3.0, 0.0, 0.5, 1.0, 4.0, 9.0, 20.0])
    sizes = np.arange(-900, 901)
    masses = np.exp([noise.log_pmf(int(k)) for k in sizes])
    exact = np.array([masses[sizes > each].sum() for each in t])
    bound = noise.beyond(t)
    assert np.all(bound >= exact * (1 - 1e-9))
    assert np.all(bound[3:] <= slack * exact[3:])


def test_few_records_are_beyond_a_distance() -> None:
    found = outside(radii=(10,))
    numbers, probabilities = found.beyond(3, 20, 0)
    assert float(numbers @ probabilities) == pytest.approx(4 / 3 / 0.01 / 8, rel=0.03)
    for alpha in (0.3, 0.05, 1e-3):
        most = found.quantile(alpha, 3, 20, 0)
        assert probabilities[numbers > most].sum() <= alpha < probabilities[numbers >= most].sum()
    everything, _ = outside(radii=(0,)).beyond(3, 20, 0)
    assert float(everything @ probabilities) == pytest.approx(4 / 3 / 0.01, rel=0.03)


@pytest.mark.parametrize("noise", [LaplaceNoise(Fraction(7, 2)), LaplaceNoise(Fraction(4000))])
def test_the_reach_covers_noise_and_excess_together(noise) -> None:
    found, rng = outside(radii=(10,)), np.random.default_rng(3)
    numbers, probabilities = found.beyond(2, 30, 0)
    probabilities = probabilities / probabilities.sum()
    excess = rng.choice(numbers, 100_000, p=probabilities) * 30  # d / (a - 1)
    sizes = rng.geometric(-math.expm1(-1 / float(noise.scale)), (2, len(excess)))
    total = excess - 0.5 * (sizes[0] - sizes[1])
    reach = found.reach(0.05, 2, 30, 0, NoisyTerm(noise, 0.5))
    assert 0.03 < (total > reach).mean() < 0.055
    assert (total > reach / 1.3).mean() > 0.055


@pytest.mark.parametrize("tail", [1.001, 3, 60, 1e6])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "1000"])
def test_any_tail_and_cost_give_an_interval(tail, epsilon) -> None:
    """Noise of a thousandth of a step, or a tail that falls at once, included."""
    for x in (np.arange(3000.0) % 100, np.full(3000, 5.0), np.empty(0)):
        found = modicum.mean(x, within=(0, 128), step=1, epsilon=epsilon)
        lower, upper = found.interval(tail=tail)
        assert 0 <= lower <= upper <= 128
