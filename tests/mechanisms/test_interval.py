"""Scores of intervals by their definition, and what a draw finds."""

from fractions import Fraction

import numpy as np
import pytest

from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import IntervalGrid
from modicum.mechanisms.scores import IntervalScore
from modicum.summaries.cells import SpreadCounts, cell_numbers

WIDE = Lattice.within((-1e6, 1e6))
RNG = np.random.default_rng(8)


def scores(lattice: Lattice, x: np.ndarray, clear: bool = False) -> np.ndarray:
    accumulator = SpreadCounts().begin(lattice)
    accumulator.update(x[:, None])
    grid = IntervalGrid.of(lattice, clear=clear)
    counts = np.diff(accumulator.finish().below(0, cell_numbers(grid.ends())), axis=1)
    assert (counts == grid.counts(*np.unique(lattice.quantise(x), return_counts=True))).all()
    return grid.scores(counts)


def by_definition(q: np.ndarray, low: int, width: int, core: int) -> int:
    part = width // 16
    counts = [int(((q >= low + k * part) & (q < low + (k + 1) * part)).sum()) for k in range(16)]
    return sum(counts) - max(sum(counts[k : k + core]) for k in range(17 - core))


@pytest.mark.parametrize("clear", [False, True])
@pytest.mark.parametrize("place", [0, 3e-5, 152, -999_999])
def test_scores_are_those_of_the_definition(place, clear) -> None:
    x = np.concatenate([RNG.normal(place, 0.3, 40), RNG.normal(0, 1e5, 10), [1e6, -1e6, 0]])
    grid, q = IntervalGrid.of(WIDE, clear=clear), WIDE.quantise(x)
    found = scores(WIDE, x, clear)
    assert found.shape == (grid.size,)
    for index in [*RNG.integers(0, grid.size, 300).tolist(), *np.argsort(found)[-50:].tolist()]:
        assert found[index] == by_definition(q, *grid.interval(index), core=3 if clear else 2)


@pytest.mark.parametrize("clear", [False, True])
def test_a_record_more_adds_nothing_or_one(clear) -> None:
    lattice = Lattice(-8.0, 8.0, 1.0)
    for _ in range(100):
        x = RNG.integers(-8, 9, 6).astype(float)
        change = scores(lattice, x, clear) - scores(lattice, x[:-1], clear)
        assert set(change.tolist()) <= {0, 1}


def test_the_widest_interval_about_zero_holds_the_range() -> None:
    for lattice in (WIDE, Lattice.within((4, 12), 1.0), Lattice(-1.0, 1.0, 1.0)):
        grid = IntervalGrid.of(lattice)
        low, width = grid.interval(grid.size - 256)
        assert low == -width // 2
        assert low <= lattice.first
        assert lattice.last < -low


@pytest.mark.parametrize(("place", "spread"), [(0, 1e-4), (1000, 1), (-3e5, 2e4)])
def test_a_draw_finds_place_and_scale(place, spread) -> None:
    """Nothing is told but a range of ±1e6."""
    x = RNG.normal(place, spread, 2000)
    grid = IntervalGrid.of(WIDE)
    epsilon = Fraction(1, 50)
    mechanism = Exponential(IntervalScore(scores(WIDE, x), grid, 4), epsilon)
    entropy = SeededEntropy("find")
    for _ in range(20):
        low, width = (each * WIDE.step for each in grid.interval(mechanism.sample(entropy)))
        assert low < place < low + width
        assert 1 < width / spread < 40


@pytest.mark.parametrize("doubt", [0, 4, 10])
def test_of_a_column_of_which_nothing_is_heard_there_is_none(doubt) -> None:
    """A rare 0/1 column, at a cost that hears nothing of its ones; a common one is found."""
    grid, epsilon = IntervalGrid.of(WIDE), Fraction(1, 50)
    rare = (np.arange(2000) < 20).astype(float)
    mechanism = Exponential(IntervalScore(scores(WIDE, rare), grid, doubt), epsilon)
    assert np.exp(mechanism.log_density(grid.size)) == pytest.approx(
        1 - 1 / (1 + 2**doubt), abs=0.02
    )
    both = scores(WIDE, rare * 0 + np.arange(2000) % 2)
    common = Exponential(IntervalScore(both, grid, 4), epsilon)
    low, width = (each * WIDE.step for each in grid.interval(common.sample(SeededEntropy("found"))))
    assert low <= 0 < 1 < low + width <= 8
    assert grid.words(WIDE, grid.size) == "none"


def test_two_values_are_a_quarter_of_a_clear_interval_apart() -> None:
    """Widths of 8 and 4 hold 0 and 1 alike for a coarse score, and 8 hides them in noise."""
    x = np.arange(2000) % 2 * 1.0
    for clear, wide in ((False, 8), (True, 4)):
        grid = IntervalGrid.of(WIDE, clear=clear)
        found = scores(WIDE, x, clear)
        best = [grid.interval(int(each))[1] * WIDE.step for each in np.flatnonzero(found == 1000)]
        assert max(best) == wide
