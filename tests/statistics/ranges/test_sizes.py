"""Radii of sizes: of sums, of persons' deviations and of weighted rows."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace
from modicum.privacy.event import PureDP
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Draw
from modicum.statistics.means.person_mean import _more_than_noise
from modicum.statistics.ranges.bounds import Setting, find_radius
from modicum.statistics.ranges.split import Schedule
from modicum.statistics.tails.outside import NoisyTerm, Outside
from modicum.summaries.cells import Cells

LATTICE = Lattice.within((-1024, 1024), step=1)
SEEN = Outside((1000,), 2**20, 80, eta=0.16, power=5.0, per_octave=4)


def drawn(seen: tuple[float, int] | None, radius: int) -> tuple[Outside, int]:
    """The result of :func:`find_radius` of 1, ..., 1000 if it draws a radius."""
    here = Setting(None, LATTICE, BudgetSplit(PureDP(Fraction(1))))
    schedule = Schedule(*map(Fraction, (0, 0, "4/25", 0)), 0, Fraction(5), per_octave=4)
    grid, _ = schedule.candidates(1, 1024)
    cells = Cells(0, grid.radii).begin(LATTICE)
    cells.update(np.arange(1.0, 1001.0))
    steps = find_radius(here, cells.finish(), schedule, 1024, seen)
    assert isinstance(next(steps), Draw)
    with pytest.raises(StopIteration) as ended:
        steps.send((grid.radii.index(radius),))
    return ended.value.value


def test_a_heavy_tail_widens_the_radius_and_the_count_follows() -> None:
    heavy, beyond = drawn((4000.0, 2), 256)  # 4000 beyond 2 and few beyond 256: an index of 1
    assert heavy.radii == (256,)
    assert heavy.reach_of(0) == 362
    assert beyond == 1000 - 362
    light, beyond = drawn((400.0, 200), 256)
    assert (light.reach_of(0), beyond) == (256, 1000 - 256)
    unseen, _ = drawn(None, 256)
    assert unseen.reach_of(0) == 256
    nothing, beyond = drawn((4000.0, 2), 0)
    assert (nothing.reach_of(0), beyond) == (0, 1000)
    widest, beyond = drawn((4000.0, 8), 1024)
    assert (widest.reach_of(0), beyond) == (1024, 0)


def test_the_widening_falls_with_the_index_and_the_power() -> None:
    steps = [replace(SEEN, seen=(4000.0, inside)) for inside in (5, 20, 100, 200, 500)]
    octaves = [each.wider() for each in steps]
    assert octaves == sorted(octaves, reverse=True)
    assert (octaves[0], octaves[-1]) == (0.5, 0.0)
    assert replace(steps[0], power=3.5).wider() == 0.25
    assert replace(steps[0], power=2.0).wider() == 0.0
    assert SEEN.wider() == 0.0


def test_a_centre_moves_by_what_is_more_than_noise() -> None:
    noise = NoisyTerm(laplace((0,), l1=10, epsilon=Fraction(1)).noise[0], 1.0)
    assert noise.variance == pytest.approx(200, rel=0.01)
    assert _more_than_noise(0, noise) == 0
    assert _more_than_noise(14, noise) == 0
    assert float(_more_than_noise(100, noise)) == pytest.approx(0.98, abs=0.001)


def mean_error(answers, truth: float) -> float:
    return float(np.mean([abs(each.value - truth) for each in answers]))


def test_a_sum_of_many_heavy_values_is_close_to_the_best_clipping() -> None:
    """1.3 times; with half octaves, a prior r^-4 and no shape it was 2 times."""
    x = np.random.default_rng(11).lognormal(0, 1.5, 100_000)
    size = np.sort(x)[::-1]
    best = (np.cumsum(size) + size * (1 - np.arange(1, len(size) + 1))).min()
    answers = [
        mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy(f"sizes {i}")).sum(epsilon=1)
        for i in range(30)
    ]
    assert mean_error(answers, float(x.sum())) < 1.7 * best
    assert "shape" in answers[0].explain()
