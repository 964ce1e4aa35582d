"""Wrong calls in Python, and what the error proposes; nothing is charged for one."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import modicum as mo
from modicum.errors import did_you_mean, nearest

TABLE = pd.DataFrame({"income": np.arange(60.0), "age": np.arange(60.0), "g": ["a", "b"] * 30})
MEAN: dict[str, Any] = {"within": (-1e9, 1e9), "epsilon": 1}
FULL = "epsilon=1)"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: mo.mean(TABLE, "income", 1), f"such as mean(table, 'income', {FULL}"),
        (
            lambda: mo.geometric_mean(TABLE, "age", epsilon=1),
            "needs within=, such as geometric_mean(table, 'age', within=(0.01, 1e9), ",
        ),
        (lambda: mo.quantile(TABLE["income"], 90), f"quantile(table, 'income', q=0.9, {FULL}"),
        (lambda: mo.quantiles(TABLE, "age", [0.5]), "quantiles(table, 'age', q=[0.25, 0.5, 0.75],"),
        (
            lambda: mo.linear_regression(TABLE, "age", ["income"]),
            "linear_regression(table, ['age', 'height'], target='weight', eps",
        ),
        (lambda: mo.pca(TABLE, ["age", "income"], 1), "['age', 'income'], components=2, eps"),
        (lambda: mo.histogram(TABLE, "age", [0, 9]), "'age', edges=[0, 10, 100], epsilon=1)"),
        (lambda: mo.count(TABLE, "age", 1), "count(table, 'age', epsilon=1)"),
        (
            lambda: mo.mean(TABLE, "income", delta=1e-6, **MEAN),
            "budget=modicum.approx(1, '1e-6')",
        ),
        (lambda: mo.mean(TABLE, "income", epsilom=1), "did you mean 'epsilon'?"),
        (
            lambda: mo.mean(TABLE, "income", bounds=(0, 1), epsilon=1),
            "is within=, such as (0, 120)",
        ),
        (lambda: _curator().mean("income", 1), f"such as mean('income', {FULL}"),
        (lambda: _curator().mean("income", unit=1, **MEAN), "it is one of the Curator"),
        (
            lambda: _curator().group_by("g", keys=["a"]).mean("income", 1),
            f"such as mean('income', {FULL}",
        ),
    ],
)
def test_how_a_question_is_asked(call: Callable[[], object], told: str) -> None:
    with pytest.raises(mo.InvalidArgument) as refused:
        call()
    assert told in str(refused.value)
    assert isinstance(refused.value, TypeError)
    assert refused.value.__context__ is None


def test_every_example_of_a_call_fits_its_function() -> None:
    """The calls that messages propose are made, but for what only a person can fill in."""
    names = [name for name in mo.query.__all__ if name[0].islower()]
    assert len(names) > 20
    for name in names:
        with pytest.raises(mo.InvalidArgument) as refused:
            getattr(mo, name)(TABLE, "income", 1, 2)
        call = str(refused.value).partition(", such as ")[2]
        if "statistic=" not in call:
            eval(call.replace("(table, ", "("), {name: getattr(mo.query, name)})


def test_a_mistake_inside_a_question_is_not_taken_for_a_wrong_call() -> None:
    class Bad(mo.Sensitivities):
        name, labels = "bad", ("bad",)

        def value(self, rows: Any, lo: float, hi: float) -> Any:
            raise TypeError("own mistake")

        def sensitivities(self, rows: Any, lo: float, hi: float, levels: int) -> Any:
            return np.zeros(levels)

    with pytest.raises(Exception, match=r".") as failed:
        mo.vector_statistic(TABLE[["age"]].to_numpy(), statistic=Bad(), **MEAN)
    assert "by name" not in str(failed.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: mo.mean(TABLE.groupby("g"), "income", **MEAN), "group_by('column', keys=[...])"),
        (lambda: mo.mean(TABLE.groupby("g")["age"], **MEAN), "group_by('column', keys=[...])"),
        (lambda: mo.mean(pl.DataFrame(TABLE).group_by("g"), "age", **MEAN), "group_by('column'"),
        (lambda: mo.mean(TABLE, "incom", **MEAN), "did you mean 'income'? columns: 'income'"),
        (lambda: mo.mean(TABLE, "Income", **MEAN), "did you mean 'income'?"),
        (lambda: mo.quantile(TABLE, "age", q=90, **MEAN), "in percent that is q = 0.9"),
        (lambda: mo.quantile(TABLE, "age", q=[0.5, 0.9], **MEAN), "`quantiles` takes several"),
        (lambda: mo.quantiles(TABLE, "age", q=[25, 75], **MEAN), "that is q = 0.25, 0.75"),
        (lambda: mo.histogram(TABLE, "g", epsilon=1), "categories are counted for each key"),
        (
            lambda: mo.linear_regression(TABLE, ["age", "income"], target="age", **MEAN),
            "the target 'age' is among the columns: leave it out",
        ),
        (lambda: _curator().groupby("g"), "did you mean 'group_by'?"),
        (lambda: _curator().meen("income"), "did you mean 'mean'?"),
        (lambda: _curator().income, "mean('income', epsilon=1)"),
        (lambda: _curator().group_by("g", keys=["a"]).medan, "did you mean 'median'?"),
        (lambda: mo.meen, "did you mean 'mean'?"),
    ],
)
def test_what_was_meant(call: Callable[[], object], told: str) -> None:
    with pytest.raises((mo.ModicumError, AttributeError)) as refused:
        call()
    assert told in str(refused.value)


def test_other_names_are_still_unknown() -> None:
    curator = _curator()
    for name in ("histogramm_of", "_repr_svg_", "__array__"):
        assert not hasattr(curator, name)
    with pytest.raises(AttributeError, match=r"a Curator has no 'zzz'$"):
        curator.zzz  # noqa: B018
    assert curator.spent.amount == 0


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("incom", ["age", "income"], "income"),
        ("INCOME", ["age", "Income"], "Income"),
        ("inc", ["incubation", "income"], "income"),
        ("eps", ["steps", "epsilon"], "epsilon"),
        ("zzz", ["age", "income"], None),
        ("", ["age"], None),
        ("age", [], None),
    ],
)
def test_the_nearest_name(word: str, known: list[str], found: str | None) -> None:
    assert nearest(word, known) == found
    assert did_you_mean(word, known) == ("" if found is None else f", did you mean {found!r}?")


def test_a_note_does_not_promise_what_a_narrower_range_does_not_do() -> None:
    """Without a centre, the range is not what is short: it enters by a logarithm."""
    x = np.random.default_rng(1).lognormal(0, 1, 300)
    for within in ((-1e9, 1e9), (-1e3, 1e3)):
        found = mo.lp_center(x, p=1.5, within=within, epsilon="0.1")
        assert not found.error_model.has_centre
        assert "or a narrower" not in found.status


def _curator() -> mo.Curator:
    return mo.Curator(TABLE, budget=mo.pure(5))


MEAN_RELEASE = mo.mean(TABLE, "age", **MEAN)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: mo.unit_of("home", "person"), "by one column, into which several are put"),
        (lambda: mo.unit_of(["home", "person"]), "several are put together into one"),
        (lambda: mo.unit_of(("home", "person"), max_rows=5), "several are put together into one"),
        (lambda: _curator().group_by("g", keys=["a"], other=True), 'with_columns(other="where('),
        (lambda: _curator().group_by("g", key=["a"]), "did you mean 'keys'?"),
        (lambda: mo.mean(TABLE, "age", level=0.9, **MEAN), "interval(level=0.9)"),
        (lambda: mo.mean(TABLE, "age", alpha=0.1, **MEAN), "interval(level=0.9)"),
        (lambda: mo.mean(TABLE, "age", random_state=5, **MEAN), "have no seed"),
        (lambda: mo.Curator(TABLE, budget=mo.pure(1), random_state=5), "have no seed"),
        (lambda: mo.mean("t.xlsx", "age", sheet="2026", **MEAN), "modicum.excel_file(path, sheet="),
        (lambda: mo.Curator("t.xlsx", budget=mo.pure(1), sheet=2), "modicum.excel_file(path, sh"),
        (lambda: MEAN_RELEASE["value"], "write release.value"),
        (lambda: MEAN_RELEASE["statistic"], "write release.statistic"),
        (lambda: MEAN_RELEASE[0], "write release.value"),
    ],
)
def test_what_other_libraries_have(call: Callable[[], object], told: str) -> None:
    with pytest.raises(mo.InvalidArgument) as refused:
        call()
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("get", "told"),
    [
        (lambda: MEAN_RELEASE.mean, "value is what was released"),
        (lambda: MEAN_RELEASE.result, "value is what was released"),
        (lambda: MEAN_RELEASE.estimate, "value is what was released"),
        (lambda: _curator().sql, "pass what duckdb.sql"),
        (lambda: mo.read_excel, "excel_file(path, sheet="),
        (lambda: mo.sql, "pass what duckdb.sql"),
    ],
)
def test_names_of_other_libraries(get: Callable[[], object], told: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(told)):
        get()


def test_a_release_is_no_list() -> None:
    with pytest.raises(TypeError):
        list(MEAN_RELEASE)
