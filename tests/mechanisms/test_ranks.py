"""Radii near given ranks: the law is its definition, and the sampler follows it."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.selection import RadiusRanks
from modicum.privacy.event import PureDP

GRID = RadiusGrid.between(1, 20, per_octave=4)


def law_of(data, targets=(3, 1), epsilon=Fraction(1)) -> RadiusRanks:
    empty = np.empty(0, dtype=np.int64)
    tilts = (Fraction(1, 9), Fraction(1, 4))[: len(targets)]
    mechanism = RadiusRanks(empty, 2, GRID, targets, tilts, epsilon)
    return mechanism.over(np.array(data, dtype=np.int64))


@given(st.lists(st.integers(-20, 20), max_size=8))
def test_the_density_is_the_definition(data) -> None:
    mechanism = law_of(data)
    for target, tilt, which in ((3, 1 / 9, 0), (1, 1 / 4, 1)):
        scores = [
            -0.5 * abs(sum(abs(x - 2) > r for x in data) - target) - tilt * j
            for r, j in zip(GRID.radii, GRID.indices, strict=True)
        ]
        norm = math.log(math.fsum(map(math.exp, scores)))
        single = law_of(data, targets=(target,))
        single = RadiusRanks(
            single.distances, 2, GRID, (target,), (mechanism.tilts[which],), Fraction(1)
        )
        for i, score in enumerate(scores):
            assert single.log_density((i,)) == pytest.approx(score - norm, abs=1e-12)


def test_targets_are_independent_and_their_costs_add() -> None:
    mechanism = law_of([1, 5, 9, 20])
    assert mechanism.event == PureDP(Fraction(2))
    total = sum(math.exp(mechanism.log_density(outcome)) for outcome in mechanism.probes())
    assert total == pytest.approx(1, abs=1e-12)


def test_the_sampler_follows_the_law_and_a_tighter_one_is_noticed() -> None:
    data = list(range(-20, 20, 2))
    mechanism, tighter = law_of(data, (8,)), law_of(data, (8,), Fraction(10, 7))
    entropy = SeededEntropy("ranks")
    draws = Counter(mechanism.sample(entropy)[0] for _ in range(4000))
    observed = [draws[i] for i in range(len(GRID.radii))]

    def fit(other: RadiusRanks) -> float:
        expected = [4000 * math.exp(other.log_density((i,))) for i in range(len(GRID.radii))]
        return float(stats.chisquare(observed, expected).pvalue)

    assert fit(mechanism) > 1e-4
    assert fit(tighter) < 1e-6


def test_quarter_octaves() -> None:
    grid = RadiusGrid.between(1, 2**40, per_octave=4)
    for radius, j in zip(grid.radii[1:], grid.indices[1:], strict=True):
        assert abs(radius - 2 ** (j / 4)) <= max(0.5, radius * 1e-12)
