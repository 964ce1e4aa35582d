"""What people write who know other libraries: each error says what was wrong and what to do.

Nothing is charged for any of them. Python's own messages are left where they are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

TABLE = pd.DataFrame(
    {
        "income": np.arange(60.0),
        "age": np.arange(60.0),
        "g": ["a", "b"] * 30,
        "day": pd.date_range("2026-01-01", periods=60),
    }
)
ENTROPY = SeededEntropy("wrong calls")


def curator() -> mo.Curator:
    return mo.Curator(TABLE, budget=mo.pure(5), entropy=ENTROPY)


MEAN = curator().mean("age", epsilon=1)
POINTS = curator().quantiles("age", q=[0.5], epsilon=1)
GROUPS = curator().group_by("g", keys=["a", "b"]).mean("age", epsilon=1)
TABLES = curator().crosstab("g", keys=["a"], epsilon=1)
PAIR = curator().release(n=mo.query.count(epsilon=1), m=mo.query.mean("age", epsilon=1))

WRONG: list[tuple[Callable[[], object], str, str]] = [
    # names of an answer
    (lambda: MEAN.val, "no 'val'", "did you mean 'value'?"),
    (lambda: MEAN.values, "no 'values'", "did you mean 'value'?"),
    (lambda: MEAN.ci, "no 'ci'", "interval()"),
    (lambda: MEAN.lower, "no 'lower'", "interval() has both ends"),
    (lambda: MEAN.std, "no 'std'", "half_width"),
    (lambda: MEAN.epsilon, "no 'epsilon'", "event is what it cost"),
    (lambda: MEAN.cost, "no 'cost'", "event is what it cost"),
    (lambda: PAIR.epsilon, "no 'epsilon'", "cost is what all of it cost"),
    (lambda: MEAN.n, "no 'n'", "count()"),
    (lambda: MEAN.noise, "no 'noise'", "explain()"),
    (lambda: MEAN.standard_error, "no 'standard_error'", "half_width"),
    (lambda: MEAN.to_dict, "no 'to_dict'", "to_json()"),
    (lambda: MEAN.to_csv, "no 'to_csv'", "publish().to_csv(path)"),
    (lambda: MEAN + 1, "no number to calculate with", "float(release)"),
    (lambda: 1 - MEAN, "no number to calculate with", "modicum.ratio()"),
    (lambda: MEAN > 3, "no number to calculate with", "float(release)"),
    (lambda: abs(MEAN), "no number to calculate with", "float(release)"),
    (lambda: int(MEAN), "no number to calculate with", "float(release)"),
    (lambda: POINTS * 2, "an ArrayRelease is no number", "values is the array"),
    (lambda: GROUPS.difference("a", "b") + 1, "a Difference is no number", "float(difference)"),
    (lambda: MEAN.to_json("x.json"), "got 'x.json'", "publish().to_csv(path)"),
    (lambda: mo.Release.from_json("x.json"), "no release in JSON", "the text of the file"),
    (
        lambda: mo.Release.from_json(GROUPS.to_json()),
        "a GroupedRelease, not a Release",
        "GroupedRelease.from_json reads it",
    ),
    (lambda: MEAN.to_pandas, "no 'to_pandas'", "did you mean 'frame'?"),
    (lambda: MEAN.round(2), "no 'round'", "round(release, 2), or publish(digits=2)"),
    (lambda: MEAN.hist, "no 'hist'", "plot()"),
    (lambda: POINTS.value, "no 'value'", "frame()"),
    (lambda: float(POINTS), "1 numbers were released", "release[0]"),
    (lambda: GROUPS.value, "no 'value'", "frame()"),
    (lambda: GROUPS["c"], "no 'c'", "the keys are 'a', 'b'"),
    (lambda: TABLES["A"], "no 'A'", "did you mean 'a'?"),
    (lambda: PAIR["mean"], "no 'mean'", "the keys are 'n', 'm'"),
    (lambda: GROUPS.difference("a", "zz"), "no group 'zz'", "among 2 groups"),
    # arguments of its methods
    (lambda: MEAN.interval(95), "strictly between 0 and 1, got 95", "that is 0.95"),
    (lambda: MEAN.interval(confidence=0.9), "no argument 'confidence'", "level=0.9"),
    (lambda: POINTS.interval(alpha=0.05), "no argument 'alpha'", "level=0.95"),
    (lambda: MEAN.interval(0.9, tail=0), "got 0", "a number above 1"),
    (lambda: MEAN.publish(round=2), "no argument 'round'", "digits=2"),
    (lambda: MEAN.publish(digits=1.5), "got 1.5", "such as 2 or -3 for thousands"),
    (lambda: MEAN.plot("bar"), "got str", "pyplot.subplots()"),
    (lambda: GROUPS.plot(kind="bar"), "no argument 'kind'", "says how it is drawn"),
    # names of the library
    (lambda: mo.average, "no attribute 'average'", "did you mean 'mean'?"),
    (lambda: mo.Mean, "no attribute 'Mean'", "did you mean 'mean'?"),
    (lambda: mo.percentile, "no attribute 'percentile'", "did you mean 'quantile'?"),
    (lambda: mo.variance, "no attribute 'variance'", "did you mean 'var'?"),
    (lambda: mo.read_csv, "no attribute 'read_csv'", "did you mean 'csv_file'?"),
    (lambda: mo.corr, "no attribute 'corr'", "did you mean 'covariance'?"),
    (lambda: mo.check, "no attribute 'check'", "`modicum check FILE`"),
    (lambda: mo.from_json, "no attribute 'from_json'", "modicum.Release.from_json(text)"),
    (lambda: mo.mean(data=TABLE.age, epsilon=1), "needs the table first", "mean(table, 'income'"),
    (lambda: mo.value_counts(TABLE.g, epsilon=1), "needs column=", "value_counts(table, 'region'"),
    (lambda: mo.crosstab(TABLE.g, TABLE.g, epsilon=1), "got a Series", "pass the table, and then"),
    (lambda: mo.csv_file(TABLE), "got a DataFrame", "pass a table as it is"),
    (lambda: mo.query.meen, "no attribute 'meen'", "did you mean 'mean'?"),
    (lambda: mo.plan.meen, "no 'meen'", "did you mean 'mean'?"),
    # budgets
    (lambda: mo.approx(1), "needs delta=", "approx(1, '1e-6')"),
    (lambda: mo.pure(0), "must be positive", "got 0"),
    (lambda: mo.pure("one"), "got 'one'", "a finite number"),
    (lambda: mo.approx(1, 2), "got 2", "below 1"),
    (lambda: curator().budget.epsilon, "no 'epsilon'", "amount"),
    (lambda: curator().budget - 1, "got 1", "modicum.pure(1)"),
    # curators
    (lambda: mo.Curator(TABLE), "a budget is needed", "budget=modicum.pure(...)"),
    (lambda: mo.Curator(TABLE, epsilon=1), "no argument 'epsilon'", "budget=modicum.pure(1)"),
    (lambda: mo.Curator(TABLE, mo.pure(1)), "all but table by name", "budget=modicum.pure(1)"),
    (lambda: mo.Curator(TABLE, budget=1), "got int", "modicum.pure, zcdp or approx"),
    (mo.Curator, "needs table=", "Curator(table, budget=modicum.pure(1))"),
    (
        lambda: mo.Curator(TABLE, budget=mo.pure(1), unit="g"),
        "got 'g'",
        "unit_of('person_id', max_rows=5)",
    ),
    (lambda: mo.Curator("none.csv", budget=mo.pure(1)), "there is no", "file 'none.csv'"),
    (lambda: mo.Curator("none", budget=mo.pure(1)), "no file 'none'", "Parquet"),
    (lambda: mo.Curator(TABLE, ledger="sqlite:///x.db"), "holds several accounts", "account="),
    (lambda: curator().groupby("g"), "no 'groupby'", "did you mean 'group_by'?"),
    (lambda: curator().average("age"), "no 'average'", "did you mean 'mean'?"),
    (lambda: curator().income, "statistic of the column", "mean('income', epsilon=1)"),
    (lambda: curator()["income"], "statistic of the column", "mean('income', epsilon=1)"),
    (lambda: curator().head(), "no 'head'", "no row is ever shown"),
    (lambda: curator().columns, "no 'columns'", "describe()"),
    (lambda: curator().shape, "no 'shape'", "count(epsilon=1)"),
    (lambda: curator().group_by("g", keys=["a"]).where("age > 1"), "no 'where'", "before they are"),
    (lambda: curator().mean("age", epsilon=1, where="age > 1"), "no argument 'where'", "where('"),
    (lambda: curator().mean("age", with_columns="a"), "'with_columns'", "with_columns(bmi="),
    (lambda: curator().value_counts("g", where="age > 1"), "no argument 'where'", "of the curator"),
    (lambda: curator()[TABLE.age > 3], "got a Series", "where('age >= 18')"),
    (lambda: curator().mean(0, epsilon=1), "got the number 0", "name the columns of the table"),
    (lambda: curator().query("age > 1"), "no 'query'", "where('age >= 18')"),
    (lambda: curator().idempotent("a"), "needs a ledger", "Curator(..., ledger=, account=)"),
    # questions
    (lambda: curator().mean("income", 1), "all but column by name", "mean('income', epsilon=1)"),
    (lambda: mo.mean(TABLE, "income", eps=1), "no argument 'eps'", "did you mean 'epsilon'?"),
    (lambda: mo.mean(TABLE, "income", delta=1e-6), "no argument 'delta'", "modicum.approx(1, "),
    (lambda: mo.mean(TABLE, "income", lower=0), "no argument 'lower'", "within=(lower, upper)"),
    (lambda: mo.mean(TABLE, "income", seed=0), "no argument 'seed'", "entropy="),
    (lambda: mo.mean(TABLE, "income", confidence=0.9), "'confidence'", "interval(level=0.9)"),
    (lambda: curator().mean("income"), "exactly one of epsilon=", "modicum.approx(1, '1e-6')"),
    (lambda: curator().mean("income", epsilon=1, rho=1), "exactly one of", "epsilon= (pure)"),
    (lambda: curator().mean("income", rho=1), "of kind 'pure'", "use epsilon="),
    (lambda: curator().mean("income", epsilon=9), "costs ε = 9", "only ε = 5 of ε = 5 is left"),
    (lambda: curator().mean(epsilon=1), "column is missing", "columns: 'income', 'age'"),
    (lambda: curator().mean(["income", "age"], epsilon=1), "got list", "in one release()"),
    (lambda: curator().mean("g", epsilon=1), "declared as", "pandas.to_numeric(t['g']"),
    (lambda: curator().mean("day", epsilon=1), "declared as datetime", "pandas.Timedelta(days=1)"),
    (lambda: curator().mean("age", epsilon=1, within=5), "got 5", "(lowest, highest)"),
    (lambda: curator().mean("age", epsilon=1, within=(5, 1)), "got (5.0, 1.0)", "lowest < highest"),
    (lambda: curator().quantile("age", epsilon=1), "needs q=", "quantile('age', q=0.9"),
    (lambda: curator().cdf("age", epsilon=1), "needs points=", "points=[10, 100]"),
    (lambda: curator().histogram("age", bins=[0, 9], epsilon=1), "got [0, 9]", "from 2 to 1000"),
    (lambda: mo.mean_vector(TABLE, "age", epsilon=1), "got 'age'", "['age', 'income']"),
    (lambda: mo.mean({"income": [1]}, "income", epsilon=1), "a dict", "pandas.DataFrame(...)"),
    (lambda: mo.mean(5, epsilon=1), "an int", "pass a one-dimensional NumPy array"),
    # groups, rows, several answers, plans
    (lambda: curator().group_by("g"), "give either keys=", "key_budget=modicum.approx(...)"),
    (lambda: curator().group_by("g", keys="a"), "got 'a'", "a list such as ['a', 'b']"),
    (lambda: curator().group_by(["g"], keys=["a"]), "got list", "group_by('region', 'sex'"),
    (lambda: curator().group_by("gg", keys=["a"]), "no column 'gg'", "did you mean 'g'?"),
    (lambda: curator().where(TABLE["age"] > 3), "got Series", '"age >= 18"'),
    (lambda: curator().where("age = 3"), "'age = 3' is not an expression", "equal is =="),
    (lambda: curator().where("agee > 3"), "no column 'agee'", "did you mean 'age'?"),
    (lambda: curator().with_columns("age"), "all by name", "with_columns(bmi='weight / h"),
    (lambda: curator().release(mo.query.count(epsilon=1)), "all by name", "release(income=modi"),
    (lambda: curator().release(), "at least one query", "release()"),
    (lambda: curator().release(a=MEAN), "got Release", "modicum.query.mean(...)"),
    (lambda: mo.plan.mean(epsilon=1), "needs sd=", "your guess"),
    (lambda: mo.plan.mean(n=9, std=1, epsilon=1), "no argument 'std'", "did you mean 'sd'?"),
    (lambda: mo.plan.mean(n=9, sd=1), "give exactly two", "the third is found"),
    (lambda: mo.plan.count(epsilon=1).curve(epsilon=1), "got 1", "a list, such as [1]"),
    (lambda: mo.plan.count(epsilon=1).curve(), "got 0", "such as epsilon=[0.1, 0.3, 1]"),
]

PYTHONS_OWN: list[Callable[[], Any]] = [
    lambda: MEAN[0],
    lambda: [*MEAN],
    lambda: MEAN.interval.width,
    lambda: POINTS["0.5"],
    lambda: len(curator()),
    lambda: mo.pure(1, 1e-6),
    lambda: mo.query.mean(TABLE, "income", epsilon=1),
]


@pytest.mark.parametrize(("call", "wrong", "instead"), WRONG)
def test_it_says_what_was_wrong_and_what_to_do(call, wrong, instead) -> None:
    with pytest.raises((mo.ModicumError, AttributeError, TypeError, KeyError)) as refused:
        call()
    assert wrong in str(refused.value)
    assert instead in str(refused.value)
    assert "\n" not in str(refused.value)


def test_nine_of_ten_wrong_calls_are_told_what_to_do() -> None:
    for call in PYTHONS_OWN:
        with pytest.raises((TypeError, IndexError, AttributeError)):
            call()
    assert len(WRONG) >= 9 * len(PYTHONS_OWN)


def test_nothing_is_charged_for_a_wrong_call() -> None:
    one = curator()
    for call in (
        lambda: one.mean("income", 1),
        lambda: one.release(mo.query.count(epsilon=1)),
        lambda: one.where("agee > 3"),
        lambda: one.group_by(["g"], keys=["a"]),
        lambda: one["income"],
    ):
        with pytest.raises((mo.ModicumError, TypeError)):
            call()
    assert one.spent.amount == 0
    assert one.charges == ()


def test_a_mistake_inside_is_raised_as_it_is() -> None:
    class Odd:
        def __init__(self) -> None:
            raise TypeError("odd")

    with pytest.raises(TypeError, match=r"^odd$"):
        MEAN.publish(title=Odd())


def test_names_that_a_user_needs_are_completed() -> None:
    needed = {"value", "interval", "usable", "code", "summary", "publish", "plot", "frame"}
    assert needed | {"explain", "status", "to_json", "confidence_interval"} <= {*dir(MEAN)}
    assert {"lattice", "ranged", "event", "engine", "transcript"}.isdisjoint(dir(MEAN))
    assert MEAN.event == MEAN.transcript[0].event or MEAN.engine == "pandas"
    assert {"values", "labels", "shape", "plot", "frame"} <= {*dir(POINTS)}
    assert {"numbers", "axes", "columns", "answers"}.isdisjoint(dir(POINTS))
    assert {"keys", "items", "difference", "frame", "plot"} <= {*dir(GROUPS)}
    assert {"numbers", "margin", "total", "plot"} <= {*dir(TABLES)}
    for release in (MEAN, POINTS, GROUPS, TABLES, PAIR):
        assert all(hasattr(release, name) for name in dir(release))


@pytest.mark.parametrize(
    ("owner", "name"),
    [(MEAN, "ne"), (MEAN, "noisy"), (GROUPS, "sort_values"), (PAIR, "x"), (MEAN, "lat")],
)
def test_no_name_is_suggested_that_a_user_does_not_need(owner, name) -> None:
    with pytest.raises(AttributeError) as refused:
        getattr(owner, name)
    assert "mean" not in str(refused.value).replace("did you mean", "mean")
    assert "noise_ends" not in str(refused.value)


def test_releases_are_hashed_as_they_are_compared() -> None:
    for release in (MEAN, POINTS, GROUPS, TABLES, GROUPS.difference("a", "b")):
        assert hash(release) == hash(release)
    assert hash(mo.Release.from_json(MEAN.to_json())) == hash(MEAN)
    assert hash(mo.Crosstab.from_json(TABLES.to_json())) == hash(TABLES)
    assert len({MEAN, MEAN, POINTS}) == 2


def test_an_interval_holds_what_is_between_its_ends() -> None:
    interval = mo.Interval(1.0, 3.0)
    assert 2 in interval
    assert np.float64(3.0) in interval
    assert 3.5 not in interval
    assert "2" not in interval
    assert MEAN.value in MEAN.interval()


def test_names_of_the_library_that_are_completed() -> None:
    shown = dir(mo)
    assert len(shown) == 61
    assert {"Curator", "Ledger", "LinearRegression", "PCA", "StandardScaler"} <= {*shown}
    assert {"mean", "quantiles", "crosstab", "plan", "pure", "unit_of"} <= {*shown}
    assert all(
        name in {*mo.__all__} or name in mo._EXTRAS["modicum.interop.sklearn"] for name in shown
    )
