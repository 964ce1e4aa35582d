"""Spreads of columns of which nothing is known: near from 100 rows on, and honest about it."""

from collections import Counter

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.statistics.tails.rings import RINGS, Rings
from tests.statistics.means.test_found_mean import SHAPES


def released(name: str, x: np.ndarray, seed: object, **cost: object) -> mo.Release:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(100)
    curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(f"spread {seed}"))
    found: mo.Release = getattr(curator, name)(**(cost or {"epsilon": 1}))
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "most"), [(100, 1.2), (300, 0.6), (1000, 0.3)])
def test_small_tables_have_an_answer_of_use(shape, n, most) -> None:
    """Errors are parts of the standard deviation; wages are the hardest."""
    errors, usable, covered = [], 0, 0
    for seed in range(24):
        x = SHAPES[shape](np.random.default_rng(seed), n)
        found = released("std", x, (shape, n, seed))
        lower, upper = found.interval()
        usable += found.usable
        covered += found.usable and lower <= x.std() <= upper
        errors.append(abs(found.value / x.std() - 1))
        assert found.code in {"unseen", "few_records"}
    assert usable >= 20
    assert covered >= (0.6 if shape in {"wages", "negative", "refunds"} else 0.85) * usable
    assert np.median(errors) < most


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_many_cover_and_are_short(shape, cost) -> None:
    x = SHAPES[shape](np.random.default_rng(4), 20_000)
    errors, widths, covered, codes = [], [], 0, Counter[str]()
    for seed in range(24):
        found = released("std", x, seed, **cost)
        lower, upper = found.interval()
        covered += lower <= x.std() <= upper
        errors.append(abs(found.value - x.std()))
        widths.append((upper - lower) / 2)
        codes[found.code] += 1
    assert covered >= 20
    assert np.median(widths) < (40 if "rho" in cost else 25) * np.median(errors)
    assert codes["ok"] + codes["heavy_tail"] >= 22


def test_a_variance_is_the_square_of_its_deviation() -> None:
    x = SHAPES["ages"](np.random.default_rng(4), 5000)
    one, other = (released(name, x, "same", epsilon=1) for name in ("var", "std"))
    assert other.value**2 == pytest.approx(one.value, rel=1e-12)
    assert [end**2 for end in other.interval()] == pytest.approx(list(one.interval()))


@pytest.mark.parametrize("value", [7.0, -1e-9, 1e12])
@pytest.mark.parametrize("n", [1000, 20_000])
def test_a_column_of_one_value_has_no_spread_to_speak_of(value, n) -> None:
    for seed in range(12):
        found = released("std", np.full(n, value), seed)
        assert found.usable
        assert found.interval().lower == 0
        assert found.interval().upper < (0.4 if n == 1000 else 0.01) * abs(value)
        assert found.value < (0.1 if n == 1000 else 0.005) * abs(value)


@pytest.mark.parametrize(
    "x",
    [np.empty(0), np.array([3.0]), np.zeros(20_000), np.full(20_000, np.nan), np.full(9, 1e308)],
    ids=["no rows", "one row", "zeros", "missing", "nine"],
)
@pytest.mark.parametrize("name", ["var", "std"])
def test_nothing_is_said_to_be_nothing(name, x) -> None:
    for seed in range(8):
        found = released(name, x, seed)
        assert (found.usable, found.code) == (False, "few_records")
        assert found.to_json()


@pytest.mark.parametrize("value", [1e200, -1e200, np.inf])
def test_values_whose_squares_are_no_floats_are_said_to_be_clipped(value) -> None:
    found = released("var", np.full(20_000, value), 0)
    assert found.code == "clipped"
    assert not found.usable


def test_allowances_are_those_of_the_page() -> None:
    """docs/research/proofs/window.md has the table."""
    assert RINGS.allowances[1].unseen == 80
    for counts, allowed in [
        ((10, 20, 0), 6),
        ((100, 399, 0), 48),
        ((100, 200, 22), 108),
        ((900, 700, 0), 6),
        ((900, 700, 22), 66),
    ]:
        rings = Rings((counts, counts), 10_000.0, 0.5)
        assert rings.excess(1, 3, 2) == allowed / 0.5
        assert rings.excess(1, 2.5, 2) == 2 * allowed / 0.5
        assert rings.excess(1, 2, 2) == np.inf
        assert rings.thin(2) == (counts[0] == 100)


def test_no_finite_spread_is_promised_of_a_tail_that_has_none() -> None:
    found = released("std", SHAPES["heights"](np.random.default_rng(4), 5000), 0)
    assert found.interval(tail=3).upper < 10 < 1e6 < found.interval(tail=2).upper


def test_the_draws_are_few() -> None:
    x = np.random.default_rng(4).normal(50, 9, 20_000)
    assert [each.label for each in released("std", x, 0).transcript] == [
        "zeros and other values",
        "window",
        "centre",
        "radii",
        "rough mean",
        "records near the bounds",
        "squares about the rough mean",
    ]
