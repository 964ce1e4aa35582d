"""The radius grid and both selections of the radius draw."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.selection import RadiusDraw, quadrature
from modicum.privacy.event import PureDP, RangeDP

GRID = RadiusGrid.between(1, 10)
COUNTS = (9, 5, 4, 2, 1, 1, 0, 0)


def draw_of(selection, counts=COUNTS) -> RadiusDraw:
    return RadiusDraw((counts,), GRID, Fraction(1, 2), Fraction(1, 3), selection)


def test_radii_are_the_distinct_rounded_half_octaves() -> None:
    grid = RadiusGrid.between(1, 2**51)
    assert (
        list(grid.radii[1:])
        == sorted({round(math.sqrt(2) ** j) for j in range(60)} | set(grid.radii[1:]))[
            : len(grid.radii) - 1
        ]
    )
    for radius, j in zip(grid.radii[1:], grid.indices[1:], strict=True):
        assert abs(radius - math.sqrt(2) ** j) <= max(0.5, radius * 1e-12)
    assert grid.radii[-1] >= 2**51 > grid.radii[-2]
    assert grid.indices[0] == grid.indices[1] - 1


@pytest.mark.parametrize("smallest", [1, 2, 3, 5, 1000, 2**30 + 1])
def test_a_grid_starts_at_the_smallest_radius_asked_for(smallest: int) -> None:
    grid = RadiusGrid.between(smallest, 4 * smallest)
    assert grid.radii[0] == 0
    assert smallest <= grid.radii[1] < 1.5 * smallest + 1


def test_the_flip_law_by_enumeration_of_arrival_orders() -> None:
    grid = RadiusGrid.between(1, 4)
    counts = (3, 2, 1, 0, 0)
    mechanism = RadiusDraw((counts,), grid, Fraction(1, 2), Fraction(1, 3), "flip")
    costs = [0.5 * f + j / 3 for f, j in zip(counts, grid.indices, strict=True)]
    weights = [math.exp(min(costs) - c) for c in costs]
    exact = Counter()
    orders = list(itertools.permutations(range(len(counts))))
    for order in orders:
        alive = 1.0
        for i in order:
            exact[i] += alive * weights[i] / len(orders)
            alive *= 1 - weights[i]
    for i in range(len(counts)):
        assert math.exp(mechanism.log_density((i,))) == pytest.approx(exact[i], rel=1e-12)


@pytest.mark.parametrize("selection", ["flip", "exponential"])
def test_the_law_sums_to_one_and_the_sampler_follows_it(selection) -> None:
    mechanism = draw_of(selection)
    probabilities = [math.exp(mechanism.log_density((i,))) for i in range(len(GRID.radii))]
    assert sum(probabilities) == pytest.approx(1, abs=1e-12)
    entropy = SeededEntropy(selection.encode())
    draws = Counter(mechanism.sample(entropy)[0] for _ in range(4000))
    observed = [draws[i] for i in range(len(probabilities))]
    expected = [4000 * p for p in probabilities]
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    tighter = RadiusDraw((COUNTS,), GRID, Fraction(5, 7), Fraction(10, 21), selection)
    wrong = [4000 * math.exp(tighter.log_density((i,))) for i in range(len(probabilities))]
    assert stats.chisquare(observed, wrong).pvalue < 1e-6  # a scale 30 % too small is noticed


def test_events() -> None:
    assert draw_of("flip").event == PureDP(Fraction(1, 2))
    assert draw_of("exponential").event == RangeDP(Fraction(1, 2))


def test_far_tails_keep_their_precision() -> None:
    mechanism = draw_of("exponential", counts=(10**6, *COUNTS[1:]))
    assert mechanism.log_density((0,)) < -4e5
    flip = draw_of("flip", counts=(10**6, *COUNTS[1:]))
    assert flip.log_density((0,)) == pytest.approx(-5e5, rel=1e-3)


def test_many_draws_keep_the_order_of_their_laws() -> None:
    """Laws of different grids and costs, some whose scores are too large for int64."""
    mechanisms = []
    for i in range(40):
        grid = RadiusGrid.between(1 + i, 1000 * (1 + i))
        sure = tuple(0 if place >= i % 5 else 10**6 for place in range(len(grid.radii)))
        mechanisms.append(RadiusDraw((sure, sure), grid, Fraction(7, 3 + i), Fraction(30), "flip"))
    expected = [(i % 5, i % 5) for i in range(40)]
    assert RadiusDraw.sample_many(mechanisms, SeededEntropy("many")) == expected
    fine = [
        RadiusDraw(
            mechanism.outside,
            mechanism.grid,
            Fraction(7 * 2**60, 2**62 + 1),
            mechanism.tilt,
            "flip",
        )
        for mechanism in mechanisms
    ]
    assert RadiusDraw.sample_many(fine, SeededEntropy("many")) == expected


def test_the_nodes_of_the_table_are_those_that_numpy_computes() -> None:
    for listed, computed in zip(quadrature(24), np.polynomial.legendre.leggauss(24), strict=True):
        assert listed == pytest.approx(computed, rel=1e-13)
