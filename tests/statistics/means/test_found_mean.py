"""Means of columns of which nothing is known: near from 100 rows on, and honest about it."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.statistics.tails.rings import NOT_COUNTED, RINGS, Rings

RNG = np.random.default_rng(4)
SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "ages": lambda rng, n: rng.integers(18, 95, n).astype(float),
    "wages": lambda rng, n: rng.lognormal(5, 1, n),
    "heights": lambda rng, n: rng.normal(170, 8, n),
    "counts": lambda rng, n: rng.poisson(3, n).astype(float),
    "tiny": lambda rng, n: 1e-7 * rng.standard_t(3, n),
    "years": lambda rng, n: rng.integers(1950, 2010, n).astype(float),
    "negative": lambda rng, n: -rng.lognormal(11, 0.6, n),
    "refunds": lambda rng, n: rng.choice([-1, 1], n, p=[0.15, 0.85]) * rng.lognormal(3.5, 1, n),
}


def released(x: np.ndarray, seed: object, **cost: object) -> mo.Release:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(100)
    curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(f"found {seed}"))
    return curator.mean(**(cost or {"epsilon": 1}))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "most"), [(100, 2.2), (300, 2.2), (1000, 1.2)])
def test_small_tables_have_an_answer_of_use(shape, n, most) -> None:
    """In standard errors of the mean; wages and negative wages are the hardest."""
    errors, usable, covered = [], 0, 0
    for seed in range(24):
        x = SHAPES[shape](np.random.default_rng(seed), n)
        found = released(x, (shape, n, seed))
        lower, upper = found.interval()
        usable += found.usable
        covered += found.usable and lower <= x.mean() <= upper
        errors.append(abs(found.value - x.mean()) / (x.std() / math.sqrt(n)))
        assert found.code in {"unseen", "few_records"}
    assert usable >= 20
    assert covered >= usable - 3
    assert np.median(errors) < most


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_many_cover_and_are_short(shape, cost) -> None:
    x = SHAPES[shape](RNG, 20_000)
    errors, widths, covered, codes = [], [], 0, Counter[str]()
    for seed in range(24):
        found = released(x, seed, **cost)
        lower, upper = found.interval()
        covered += lower <= x.mean() <= upper
        errors.append(abs(found.value - x.mean()))
        widths.append((upper - lower) / 2)
        codes[found.code] += 1
    assert covered >= 21
    assert np.median(widths) < (70 if "rho" in cost else 25) * np.median(errors)
    assert codes["ok"] + codes["heavy_tail"] == 24


@pytest.mark.parametrize(
    "x",
    [np.empty(0), np.array([3.0]), np.zeros(20_000), np.full(20_000, math.nan), np.full(9, 1e308)],
    ids=["no rows", "one row", "zeros", "missing", "nine"],
)
def test_nothing_is_said_to_be_nothing(x) -> None:
    for seed in range(8):
        found = released(x, seed)
        assert (found.usable, found.code) == (False, "few_records")
        assert "give `within`" in found.status
        assert found.to_json()


@pytest.mark.parametrize("value", [7.0, -1e-9, 1e12])
@pytest.mark.parametrize("n", [1000, 20_000])
def test_a_column_of_one_value_has_its_mean(value, n) -> None:
    for seed in range(12):
        found = released(np.full(n, value), seed)
        lower, upper = found.interval()
        assert found.usable
        assert lower <= value <= upper
        assert abs(found.value - value) < 0.01 * abs(value)


def test_values_beyond_every_lattice_are_said_to_be() -> None:
    assert released(np.full(20_000, math.inf), 0).code == "clipped"


def test_allowances_are_those_of_the_page() -> None:
    """docs/research/proofs/window.md has the table."""
    assert NOT_COUNTED.excess(0, 3) == RINGS.allowances[0].unseen == 30
    every = 10_000.0
    for counts, allowed in [
        ((10, 20, 0), 1.5),
        ((100, 299, 0), 32),
        ((100, 300, 0), 1.5),
        ((100, 200, 11), 32),
        ((100, 200, 22), 62),
        ((900, 700, -50), 1.5),
        ((900, 700, 22), 31.5),
    ]:
        rings = Rings((counts, counts), every, 0.5)
        assert rings.excess(1, 3) == allowed / 0.5
        assert rings.excess(1, 2) == 2 * allowed / 0.5
    assert Rings(((40, 60, 0),) * 2, 1000.0, 1.0).excess(0, 3) == 1.5  # the bulk of few


def test_a_few_beyond_a_bulk_are_allowed_for() -> None:
    """As of prices: 28 of 50,000 lie beyond all others."""
    x, covered = RNG.uniform(9.75, 20.75, 50_000), 0
    x[:28] = 27
    for seed in range(24):
        lower, upper = released(x, seed).interval()
        covered += lower <= x.mean() <= upper
    assert covered >= 15


def test_the_draws_are_few() -> None:
    labels = [each.label for each in released(RNG.normal(50, 9, 20_000), 0).transcript]
    assert labels == [
        "zeros and other values",
        "window",
        "centre",
        "shape",
        "radii",
        "rough mean",
        "records near the bounds",
        "deviations from the rough mean",
    ]
