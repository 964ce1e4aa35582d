"""Ranks from two counts: the law of their noise, and how surely an edge is beyond a quantile."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise, Noise
from modicum.statistics.order.quantile_ranks import OWN, SIDE, CombinedNoise, PlaceCounts

LAPLACE = LaplaceNoise(Fraction(5, 2)), LaplaceNoise(Fraction(2))
GAUSSIAN = GaussianNoise(Fraction(9)), GaussianNoise(Fraction(7))
NARROW = LaplaceNoise(Fraction(1, 3)), LaplaceNoise(Fraction(1, 3))
DRAWS = 40_000


def drawn(noise: Noise, cells: int, rng) -> np.ndarray:
    if isinstance(noise, LaplaceNoise):
        a = 1 - math.exp(-1 / float(noise.scale))
        return rng.geometric(a, (DRAWS, cells)) - rng.geometric(a, (DRAWS, cells))
    return np.round(rng.normal(0, float(noise.sigma2) ** 0.5, (DRAWS, cells)))


def noises(law: CombinedNoise, rng) -> tuple[np.ndarray, np.ndarray]:
    """Noise of both counts at the edges around a place, as in the estimate, without the law."""
    one = drawn(law.first, law.places + 1, rng)
    two = drawn(law.second, OWN * law.places + 1, rng)
    q, middle = float(law.q), OWN * law.place + SIDE
    upto = np.cumsum(two, axis=1)
    own = (1 - law.weight) * (upto[:, middle] - q * upto[:, -1])
    local = upto[:, middle - SIDE : middle + SIDE + 1] - upto[:, [middle]]
    first = one[:, : law.place + 1].sum(axis=1) - q * one.sum(axis=1)
    return law.weight * first, own[:, None] + local


@pytest.mark.one_in(2)
@pytest.mark.parametrize("pair", [LAPLACE, GAUSSIAN, NARROW], ids=str)
@pytest.mark.parametrize(("q", "place", "places"), [("1/6", 0, 5), ("1/2", 1, 3), ("0.9", 8, 9)])
def test_an_edge_is_sure_once_in_alpha_at_worst(pair, q, place, places) -> None:
    """Edges at the quantile's own rank, whichever the first counts choose for the worst.

    With ranks that are 30 % too small it fails.
    """
    law, alpha = CombinedNoise(*pair, Fraction(q), place, places), 0.01
    first, second = noises(law, np.random.default_rng([place, places]))
    sums = first[:, None] + second
    for side in (-1, 1):
        sure = np.array(law.sure(side, alpha))
        edges = side * sums[:, SIDE + side :: side] if side > 0 else -sums[:, SIDE - 1 :: -1]
        assert edges.shape == (DRAWS, SIDE)
        missed = edges >= sure
        margin = 3 * math.sqrt(alpha / DRAWS)
        assert (missed.mean(axis=0) < alpha + margin).all()
        # For each tenth of the first counts' noise, the edge that is missed most often.
        tenths = np.array_split(np.argsort(first), 10)
        worst = np.mean([missed[each].mean(axis=0).max() for each in tenths])
        assert worst < alpha + 2 * margin
        assert (edges[:, 0] >= 0.7 * sure[0]).mean() > 2 * alpha
        if pair is not NARROW:
            assert missed[:, 0].mean() > 0.6 * alpha
    for k in range(-SIDE, SIDE + 1):
        assert sums[:, SIDE + k].std() == pytest.approx(law.variance(k) ** 0.5, rel=0.03)


def test_the_weight_is_the_best_and_both_sides_are_alike() -> None:
    law = CombinedNoise(*LAPLACE, Fraction(1, 3), 1, 5)
    first, second = noises(law, np.random.default_rng(1))
    one, two = first / law.weight, second[:, SIDE] / (1 - law.weight)
    best = min(np.linspace(0, 1, 101), key=lambda w: (w * one + (1 - w) * two).std())
    assert law.weight == pytest.approx(best, abs=0.05)
    mirrored = CombinedNoise(*LAPLACE, Fraction(2, 3), 3, 5)
    assert mirrored.sure(1, 0.01) == law.sure(-1, 0.01)
    assert mirrored.variance(2) == pytest.approx(law.variance(-2))


def test_ranks_grow_with_the_level_and_noise_that_is_too_wide_tells_nothing() -> None:
    law = CombinedNoise(*LAPLACE, Fraction(1, 2), 2, 5)
    ranks = [law.sure(1, alpha)[0] for alpha in (0.3, 0.1, 0.01, 1e-4, 1e-6)]
    assert ranks == sorted(ranks)
    assert all(a < b for a, b in zip(law.sure(1, 0.01), law.sure(1, 0.01)[1:], strict=False))
    wide = LaplaceNoise(Fraction(10**9))
    assert CombinedNoise(wide, wide, Fraction(1, 2), 2, 5).sure(1, 0.01) == (math.inf,) * SIDE
    silent = LaplaceNoise(Fraction(1, 64))
    assert CombinedNoise(silent, silent, Fraction(1, 2), 2, 5).sure(1, 0.01)[-1] < 1e-6


def test_the_first_counts_tell_ranks() -> None:
    counts = PlaceCounts((30, 50, 20), LAPLACE[0], (0, 1))
    assert counts.excess(Fraction(1, 2), 0) == -20
    assert counts.excess(Fraction(1, 2), 1) == 30
    assert counts.variance(Fraction(1, 4), 0) == pytest.approx(
        LAPLACE[0].variance * (9 / 16 + 2 / 16)
    )
