"""Mean vectors of rows that are not bell-shaped: right, or said to be lost."""

from dataclasses import replace

import numpy as np
import pytest

from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayEstimate
from modicum.runtime.run import run
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.statistics.vectors import vector_rounds

RHO, EPSILON = {"rho": "0.5"}, {"epsilon": 1}
COSTS = [RHO, EPSILON]


def answer(x, cost, seed, within=(-1e6, 1e6), question=ask.mean_vector) -> ArrayEstimate:
    asked = question(within=within, **cost)
    reader, entropy = TableReader(open_source(x)), SeededEntropy(f"kinds {seed}")
    found = run({"a": asked}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"].answer
    assert isinstance(found, ArrayEstimate)
    return found


def distance(found: ArrayEstimate, x: np.ndarray) -> float:
    return float(np.linalg.norm(np.array(found.values, dtype=float) - x.mean(axis=0)))


def misses(found: ArrayEstimate, x: np.ndarray) -> float:
    """Largest error in half-widths of the default interval."""
    lower, upper = found.error_model.intervals(0.95, 3)
    error = np.abs(np.array(found.values, dtype=float) - x.mean(axis=0))
    return float((error / np.maximum((upper - lower) / 2, 1e-300)).max())


def yes(share: float):
    return lambda rng, n, d: (rng.random((n, d)) < share) * 1.0


def zeros(rng, n, d):
    return np.where(rng.random((n, 1)) < 0.95, 0.0, rng.lognormal(3, 1, (n, d)))


def two_points(rng, n, d):
    return np.where(rng.random((n, 1)) < 0.1, 1e5, 3.0) + np.zeros((n, d))


def correlated(rng, n, d):
    return 10 + rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, d))


def lognormal(sigma: float):
    return lambda rng, n, d: rng.lognormal(0, sigma, (n, d))


def pareto(index: float):
    return lambda rng, n, d: 1 + rng.pareto(index, (n, d))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("rows", "cost", "limit"),
    [
        (lognormal(1.5), RHO, 0.08),
        (lognormal(1.5), EPSILON, 0.2),
        (lognormal(1.0), RHO, 0.01),
        (pareto(2.5), RHO, 0.01),
        (pareto(3.5), EPSILON, 0.01),
        (correlated, RHO, 0.001),
        (zeros, RHO, 0.3),
    ],
)
def test_errors_on_skewed_rows_fall_with_their_number(rows, cost, limit) -> None:
    """A share of the rows that stays outside for every number of them would be the whole error."""
    errors = []
    for seed in range(4):
        x = rows(np.random.default_rng(seed), 40_000, 2)
        errors.append(distance(answer(x, cost, seed), x))
    assert np.median(errors) < limit


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize(("share", "d"), [(0.02, 1), (0.1, 1), (0.3, 2)])
@pytest.mark.parametrize("within", [(-1e6, 1e6), (0, 1)], ids=str)
def test_columns_of_zeros_and_ones_are_not_lost(cost, share, d, within) -> None:
    for seed in range(3):
        x = yes(share)(np.random.default_rng(seed), 40_000, d)
        found = answer(x, cost, seed, within)
        assert found.status.ok
        assert distance(found, x) < 0.05 * np.linalg.norm(x.mean(axis=0))
        assert misses(found, x) <= 1


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [(0, 1e5), (-1e6, 1e6), (-1e9, 1e9)], ids=str)
@pytest.mark.parametrize(
    "rows", [yes(0.02), yes(0.1), yes(0.5), zeros, two_points], ids=["2", "10", "50", "0", "two"]
)
@pytest.mark.one_in(4)
def test_what_is_lost_is_said_to_be(rows, cost, within) -> None:
    """With few rows it often is lost: then the code says so, and the interval holds."""
    for n, d in ((300, 2), (1000, 1), (1000, 2), (4000, 8)):
        x = np.clip(rows(np.random.default_rng(n + d), n, d), *within)
        for seed in range(2):
            found = answer(x, cost, seed, within)
            assert misses(found, x) <= 10, (n, d, found.status)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("rows", [lognormal(1.0), pareto(3.5)], ids=["lognormal", "pareto"])
def test_default_intervals_hold_for_skewed_rows(rows, cost) -> None:
    held = 0
    for seed in range(30):
        x = rows(np.random.default_rng(seed), 4000, 1)
        found = answer(x, cost, seed)
        held += misses(found, x) <= 1 or not found.status.ok
    assert held >= 28


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_equal_rows_are_a_point(cost) -> None:
    """What a few others may hold is not known, and the interval leaves room for it."""
    x = np.full((20_000, 2), 5.0)
    found = answer(x, cost, 0)
    assert found.status == vector_rounds.POINT
    assert distance(found, x) < 1e-9
    lower, upper = found.error_model.intervals(0.95, 3)
    assert (upper - lower > 100).all()
    lower, upper = found.error_model.intervals(0.95, None)
    assert (upper - lower < 1e-6).all()


def test_a_clipped_mean_of_one_point_is_no_answer() -> None:
    x = (np.arange(2000) < 10)[:, None] * 1.0
    found = answer(x, RHO, 0, question=ask.clipped_mean_vector)
    assert misses(found, x) <= 1
    assert found.status.code == "coarse_step"


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_more_rows_outside_than_a_tail_has_are_told(cost) -> None:
    """The intervals then allow for rows anywhere in the range."""
    x = np.random.default_rng(1).normal(10, 1, (4000, 2))
    found = answer(x, cost, 0).error_model
    assert found.status.ok
    lost = replace(found, outside=found.most_outside + 1)
    unseen = replace(found, seen=False)
    assert lost.status == vector_rounds.CLIPPED
    assert unseen.status == vector_rounds.UNSEEN
    for worse in (lost, unseen):
        lower, upper = worse.intervals(0.95, 3)
        assert (upper - lower > 2e6 * max(worse.outside, 1) / 4100).all()


def test_few_rows_of_a_wide_range_are_said_to_be_too_few() -> None:
    """Rounds that do not end leave a radius of the centre's noise."""
    for seed in range(6):
        x = np.random.default_rng(seed).normal(10, 1, (300, 8))
        found = answer(x, EPSILON, seed, (-1e9, 1e9))
        assert not found.status.ok
