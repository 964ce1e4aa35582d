"""Windows by their definition, and what a draw finds."""

from fractions import Fraction

import numpy as np
import pytest

from modicum.exact.entropy import SeededEntropy
from modicum.exact.float_keys import KEYS
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.windows import MOST_BITS, DataWindow, WindowGrid, WindowScore

SIZED = 3
GRID = WindowGrid(-4, 5, bits=5)
VALUES = np.array([0.0, 0.25, 0.3, -1.0, 1.0, 2.0, 7.5, -9.0, 31.0, 3e5, 1e-9, 5e-324, 1e300])
RNG = np.random.default_rng(8)


def score_of(
    x: np.ndarray, spare: int, least: int, grid: WindowGrid = GRID, sized: int = SIZED
) -> WindowScore:
    return WindowScore(np.empty(0), grid, spare, sized, least).over(KEYS.quantise(x))


def by_definition(x: np.ndarray, window: DataWindow, spare: int, least: int) -> int:
    part, low = window.radius / 4, window.middle - window.radius
    places = [Fraction(float(each)) for each in x]
    parts = [
        sum(low + k * part <= each < low + (k + 1) * part for each in places) for k in range(8)
    ]
    spread = sum(parts) - max(parts[k] + parts[k + 1] for k in range(7))
    if low <= 0 < low + 2 * window.radius:
        half = window.radius / 2
        inside = [each for each in places if low <= each < low + 2 * window.radius]
        spread = max(spread, min(sum(not -half <= each < half for each in inside), SIZED))
    return max(least, min(sum(parts), spread + spare))


def test_windows_have_numbers() -> None:
    for number in range(GRID.size):
        assert GRID.number(GRID.window(number)) == number
    wide = WindowGrid.of_floats(99)
    assert wide.bits == MOST_BITS
    assert wide.size < 1 << 62
    for window in (
        DataWindow(-900, -3),
        DataWindow(900, 3),
        DataWindow(17, 1 - (1 << 45)),
        DataWindow(3, 12345),
    ):
        assert wide.window(wide.number(window)) == window


def test_floats_are_numbered_in_order() -> None:
    x = np.array([-np.inf, -1e308, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1.5, np.inf])
    keys = KEYS.quantise(x)
    assert (np.diff(keys) >= 0).all()
    assert keys[4] == keys[5] == 0
    assert (KEYS.numbers_of(keys)[1:-1] == x[1:-1]).all()
    assert len(KEYS.quantise(np.array([np.nan, 1.0]))) == 1


@pytest.mark.parametrize("trial", range(40))
def test_the_law_is_that_of_the_definition(trial) -> None:
    rng = np.random.default_rng(trial)
    x, spare, least = rng.choice(VALUES, rng.integers(0, 12)), *rng.integers(0, 5, 2).tolist()
    law = Exponential(score_of(x, spare, least), Fraction(1))
    bands = [0] * 6 + [1] * 12
    logs = []
    for number in range(GRID.size):
        window = GRID.window(number)
        band = bands[abs(window.octave + abs(window.place).bit_length())]
        logs.append(by_definition(x, window, spare, least) - 2 * band * 0.6934)
    expected = np.array(logs) - np.logaddexp.reduce(logs)
    assert law.log_densities(list(range(GRID.size))) == pytest.approx(expected, abs=0.01)


def test_a_record_more_adds_nothing_or_one() -> None:
    for _ in range(100):
        x = RNG.choice(VALUES, 7)
        change = {
            by_definition(x, GRID.window(number), 2, 1)
            - by_definition(x[:-1], GRID.window(number), 2, 1)
            for number in range(0, GRID.size, 3)
        }
        assert change <= {0, 1}


@pytest.mark.parametrize(
    ("place", "spread"), [(0, 1e-9), (0, 1e9), (1000, 1), (-3e5, 2e4), (1e6, 1), (1.7e9, 3e7)]
)
def test_a_draw_finds_place_and_scale(place, spread) -> None:
    x = RNG.normal(place, spread, 2000)
    grid = WindowGrid.of_floats(30)
    law = Exponential(score_of(x, 1000, 100, grid, 500), Fraction(1, 20))
    entropy = SeededEntropy("find")
    for _ in range(20):
        window = grid.window(law.sample(entropy))
        assert abs(float(window.middle) - place) < 2 * float(window.radius)
        assert 0.7 < float(window.radius) / spread < 12


@pytest.mark.parametrize("value", [0.0, 1.0, 30.0])
def test_a_window_is_not_drawn_round_a_value_of_most(value) -> None:
    """Nine in ten records are equal; the window holds the others, which are wide apart."""
    x = np.where(np.arange(2000) % 10 > 0, value, RNG.gamma(2, 10, 2000))
    grid = WindowGrid.of_floats(30)
    law = Exponential(score_of(x, 1800, 10, grid, 100), Fraction(1, 5))
    entropy = SeededEntropy("atom")
    for _ in range(20):
        window = grid.window(law.sample(entropy))
        assert 5 < float(window.radius) < 200
