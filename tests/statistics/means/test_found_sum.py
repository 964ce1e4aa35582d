"""Sums by a window, and means in a given range: near from 100 rows on, whatever the range says."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import LaplaceNoise
from modicum.releases.status import OK
from modicum.statistics.means.found_sum import FoundSumErrorModel
from modicum.statistics.tails.outside import Counted, NoisyTerm
from modicum.statistics.tails.rings import Rings
from tests.statistics.means.test_found_mean import SHAPES

TRUTHS = {"mean": np.mean, "sum": np.sum}
TIMES = 24


def released(name: str, x: np.ndarray, seed: object, **asked: Any) -> mo.Release:
    budget = mo.zcdp(1) if "rho" in asked else mo.pure(100)
    curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(f"window {seed}"))
    release: mo.Release = getattr(curator, name)(**asked)
    return release


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "most"), [(100, 9.0), (300, 7.0), (1000, 5.0)])
def test_sums_of_small_tables_are_of_use(shape: str, n: int, most: float) -> None:
    """In a large size over ε, the noise that a sum has at least; wages have the longest tails."""
    errors, usable, covered = [], 0, 0
    for seed in range(TIMES):
        x = SHAPES[shape](np.random.default_rng(seed), n)
        found = released("sum", x, (shape, n, seed), epsilon=1)
        lower, upper = found.interval()
        usable += found.usable
        covered += found.usable and lower <= x.sum() <= upper
        errors.append(abs(found.value - x.sum()) / np.quantile(np.abs(x), 0.99))
    assert usable >= 0.8 * TIMES
    assert covered >= usable - 4
    assert np.median(errors) < most


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_sums_cover_and_are_short(shape: str, cost: dict[str, Any]) -> None:
    x = SHAPES[shape](np.random.default_rng(8), 20_000)
    errors, widths, covered = [], [], 0
    for seed in range(TIMES):
        found = released("sum", x, seed, **cost)
        lower, upper = found.interval()
        covered += lower <= x.sum() <= upper
        errors.append(abs(found.value - x.sum()))
        widths.append((upper - lower) / 2)
    assert covered >= TIMES - 3
    assert np.median(widths) < (40 if "rho" in cost else 25) * np.median(errors)


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize(("n", "most"), [(60, 1.6), (200, 0.7), (2000, 0.4)])
def test_a_range_too_wide_is_no_worse_than_its_bounds(name: str, n: int, most: float) -> None:
    """Beside all noise for a range ten times too wide; as ever, rows below 80/ε have that noise."""
    ratios, usable = [], 0
    for seed in range(3 * TIMES):
        x = np.random.default_rng(seed).normal(60, 15, n)
        known = released(name, x, seed, within=(0, 1000), method="bounded", epsilon=1)
        found = released(name, x, seed, within=(0, 1000), epsilon=1)
        truth = TRUTHS[name](x)
        usable += found.usable
        ratios.append((abs(found.value - truth), abs(known.value - truth)))
    assert usable >= 3 * TIMES - 3
    errors, bounded = np.median(ratios, axis=0)
    assert errors < most * bounded


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("n", [60, 200, 2000, 20_000])
def test_a_range_that_is_right_is_used(name: str, n: int) -> None:
    """The noise is at most three times that of its bounds, and little more than that of many."""
    errors, bounded, said = [], [], 0
    for seed in range(TIMES):
        x = np.random.default_rng(seed).integers(0, 101, n).astype(float)
        known = released(name, x, seed, within=(0, 100), method="bounded", epsilon=1)
        found = released(name, x, seed, within=(0, 100), epsilon=1)
        lower, upper = found.interval()
        said += found.usable and 0 <= lower <= TRUTHS[name](x) <= upper
        errors.append(abs(found.value - TRUTHS[name](x)))
        bounded.append(abs(known.value - TRUTHS[name](x)))
    assert said >= TIMES - 4
    assert np.mean(errors) < (3.0 if n < 2000 else 1.7) * np.mean(bounded)


def test_nothing_is_clipped_at_an_end_that_was_given() -> None:
    """An end of a range has no allowance; one of a lattice about a window says that it ended."""
    x = np.r_[np.zeros(5000), np.full(5000, 10.0)]
    for name in TRUTHS:
        found = released(name, x, 0, within=(0, 10), epsilon=1)
        assert found.interval() == found.interval(tail=1.2)
        assert found.code == "ok"


@pytest.mark.parametrize("x", [np.empty(0), np.zeros(20_000), np.ones(1)], ids=["no", "0", "1"])
def test_nothing_has_no_sum(x: np.ndarray) -> None:
    for seed in range(8):
        assert not released("sum", x, seed, epsilon=1).usable
        wide = released("sum", x, seed, within=(-1e9, 1e9), epsilon=1)
        lower, upper = wide.interval(level=0.9999)
        assert lower <= x.sum() <= upper
        assert not wide.usable or wide.code == "wide_noise"


def test_values_that_the_step_hides_are_found_in_a_finer_range() -> None:
    x = np.random.default_rng(4).lognormal(-18, 0.5, 20_000)
    for name, truth in TRUTHS.items():
        found = released(name, x, 1, within=(-1e9, 1e9), epsilon=1)
        assert found.usable
        assert found.value == pytest.approx(truth(x), rel=0.05)
        assert math.isfinite(found.interval().upper)


def test_the_draws_of_a_sum_are_few() -> None:
    labels = [each.label for each in released("sum", np.arange(9000.0), 0, epsilon=1).transcript]
    assert labels == [
        "zeros and other values",
        "window",
        "shape",
        "radius",
        "records near the bounds",
        "clipped sum",
    ]


def test_a_bound_at_the_end_of_a_range_that_was_found_says_so() -> None:
    """At 0, and at an end that was given, there is nothing beyond."""
    lattice, noise = Lattice(0.0, 1000.0, 1.0), NoisyTerm(LaplaceNoise(Fraction(1)), 1.0)
    many = Counted(Fraction(10**6), (noise,))
    rings = Rings(((0.0, 0.0, 0.0), (9e4, 9e4, 0.0)), 1e6, 1.0)
    for hi, given, code in ((10, False, "ok"), (1000, False, "clipped"), (1000, True, "ok")):
        model = FoundSumErrorModel(
            lattice, 0, hi, 5, noise, 10**6, noise, None, every=many, rings=rings, given=given
        )
        assert model.status_of(OK).code == code
