"""Differences of groups: what they cover, and when they are refused."""

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy


def grouped(rng, n=3000, **options):
    """Means of two groups, the truths of the data and of the populations being 2 and 5."""
    key = rng.choice(["a", "b", "c"], n, p=[0.4, 0.4, 0.2])
    x = rng.normal(np.where(key == "a", 5.0, 2.0), 2)
    table = pd.DataFrame({"key": key, "x": x})
    curator = mo.Curator(table, budget=mo.pure(2), entropy=SeededEntropy(str(rng.integers(2**40))))
    found = curator.group_by("key", keys=["a", "b"]).mean("x", epsilon=2, **options)
    return found, x[key == "a"].mean() - x[key == "b"].mean()


@pytest.mark.parametrize(
    ("releases", "least"), [(30, 0.89), pytest.param(80, 0.92, marks=pytest.mark.slow)]
)
def test_intervals_of_data_and_of_populations_cover(releases, least) -> None:
    data, population, narrow = [], [], []
    for k in range(releases):
        found, truth = grouped(np.random.default_rng([9, k]), population=True)
        between = found.difference("a", "b")
        lower, upper = between.interval()
        data.append(lower <= truth <= upper)
        lower, upper = between.confidence_interval()
        population.append(lower <= 3 <= upper)
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        narrow.append(abs(middle - 3) <= 0.6 * half)
    assert np.mean(data) > least
    assert np.mean(population) > least
    assert np.mean(narrow) < 0.92


def test_a_difference_and_its_reverse_mirror_each_other() -> None:
    found, _ = grouped(np.random.default_rng(1), population=True)
    one, other = found.difference("a", "b"), found.difference("b", "a")
    assert one.value == -other.value == float(one) == found["a"].value - found["b"].value
    for method in ("interval", "confidence_interval"):
        (low, high), (lower, upper) = getattr(one, method)(), getattr(other, method)()
        assert (low, high) == pytest.approx((-upper, -lower))
    assert one.usable
    assert "x, key a less b: " in str(one)
    assert "population     [" in str(one)


def test_it_is_narrower_than_two_intervals_and_wider_than_each() -> None:
    found, _ = grouped(np.random.default_rng(2))
    between = found.difference("a", "b")
    widths = [each.upper - each.lower for each in (r.interval() for r in found.values())]
    lower, upper = between.interval()
    # An interval of one divides its chance among its noises; that of two adds up their laws, and
    # may be a sixth narrower than the wider one.
    assert 0.8 * max(widths) < upper - lower < 0.95 * sum(widths)
    assert "population" not in str(between)
    with pytest.raises(InvalidArgument, match="population=True"):
        between.confidence_interval()


@pytest.mark.parametrize("statistic", ["count", "sum", "median", "std"])
def test_answers_without_a_law_take_both_intervals(statistic) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"key": ["a", "b"] * 2000, "x": rng.normal(4, 1, 4000)})
    groups = mo.Curator(table, budget=mo.pure(1)).group_by("key", keys=["a", "b"])
    found = getattr(groups, statistic)("x", epsilon=1)
    between = found.difference("a", "b")
    (a, b), level = found.values(), 0.9**0.5
    one, other = a.interval(level), b.interval(level)
    assert between.interval(0.9) == (one.lower - other.upper, one.upper - other.lower)
    with pytest.raises(InvalidArgument, match="no confidence interval"):
        between.confidence_interval()


def test_what_is_refused() -> None:
    found, _ = grouped(np.random.default_rng(4), population=True)
    with pytest.raises(InvalidArgument, match="no group 'd'"):
        found.difference("a", "d")
    with pytest.raises(InvalidArgument, match="two different"):
        found.difference("a", "a")
    with pytest.raises(InvalidArgument, match="level"):
        found.difference("a", "b").interval(2)


def test_persons_in_several_groups_are_no_independent_samples() -> None:
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"who": np.arange(6000) // 2, "key": ["a", "b"] * 3000})
    table["x"] = rng.normal(size=6000)
    unit = mo.unit_of("who", combine="mean")
    curator = mo.Curator(table, unit=unit, budget=mo.pure(4))
    groups = curator.group_by("key", keys=["a", "b"], max_groups=2)
    between = groups.mean("x", epsilon=4, population=True).difference("a", "b")
    assert between.interval().lower < 0.1
    assert "population" not in str(between)
    with pytest.raises(InvalidArgument, match="several groups"):
        between.confidence_interval()


def test_groups_by_several_columns_are_told_apart_by_their_tuples() -> None:
    rng = np.random.default_rng(6)
    table = pd.DataFrame({"a": ["x", "y"] * 3000, "b": [1, 1, 2, 2] * 1500})
    table["v"] = rng.normal(10, 1, 6000)
    groups = mo.Curator(table, budget=mo.pure(2)).group_by(
        "a", "b", keys=[("x", 1), ("y", 1), ("x", 2), ("y", 2)]
    )
    between = groups.mean("v", epsilon=2, population=True).difference(("x", 1), ("y", 2))
    lower, upper = between.confidence_interval()
    assert lower < between.value < upper
    assert "a, b " in str(between)
