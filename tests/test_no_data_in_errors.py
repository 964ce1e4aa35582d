"""An argument may be data by mistake: no message of an error shows what it holds."""

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import modicum as mo
from modicum.errors import as_given
from modicum.exact.entropy import SeededEntropy

NUMBER, WORD = 31337.25, "secretmark"
MARKS = ("31337", WORD)
NUMBERS, WORDS = [NUMBER, 31337.5, 1.0] * 4, [WORD, "b", WORD] * 4
DATA: dict[str, Any] = {
    "pandas frame": pd.DataFrame({"age": NUMBERS, "region": WORDS}),
    "pandas series": pd.Series(NUMBERS),
    "pandas words": pd.Series(WORDS),
    "pandas index": pd.Index(WORDS),
    "pandas mask": pd.Series([True, False] * 6, index=WORDS),
    "polars frame": pl.DataFrame({"age": NUMBERS, "region": WORDS}),
    "polars series": pl.Series(NUMBERS),
    "polars words": pl.Series(WORDS),
    "array": np.array(NUMBERS),
    "array of words": np.array(WORDS),
    "array of objects": np.array(WORDS, dtype=object),
    "one element": np.array([[NUMBER]]),
    "list": NUMBERS,
    "words": WORDS,
    "set": {*WORDS},
    "dict": dict.fromkeys(map(str, range(99)), WORD),
    "nested": [pd.Series(WORDS)],
    "pair": (pd.Series(NUMBERS), np.array(NUMBERS)),
}
TABLE = pd.DataFrame(
    {"age": np.arange(60.0), "income": np.arange(60.0), "region": ["a", "b"] * 30, "p": range(60)}
)


def curator() -> mo.Curator:
    return mo.Curator(TABLE, budget=mo.pure(100), entropy=SeededEntropy("no data in errors"))


GUARD = curator()
MEAN = GUARD.mean("age", epsilon=1)
POINTS = GUARD.quantiles("age", q=[0.5], epsilon=1)
GROUPS = GUARD.group_by("region", keys=["a", "b"])
MEANS = GROUPS.mean("age", epsilon=1)
CROSS = GUARD.crosstab("region", keys=["a", "b"], epsilon=1)
COST: dict[str, Any] = {"epsilon": 0.01, "rho": None, "budget": None}
PLAN: dict[str, Any] = {"n": 1000, "sd": 1, "epsilon": 1, "within": None, "unit": None}

CALLS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "Curator": (mo.Curator, {"table": TABLE, "budget": mo.pure(1), "unit": None}),
    "Curator ledger": (mo.Curator, {"table": TABLE, "ledger": "sqlite:///no.db", "account": "a"}),
    "unit_of": (mo.unit_of, {"column": "p", "max_rows": 1, "order_by": None}),
    "unit_of rows": (mo.unit_of, {"column": None, "rows": 1, "combine": None}),
    "pure": (mo.pure, {"epsilon": 1}),
    "approx": (mo.approx, {"epsilon": 1, "delta": "1e-6"}),
    "item": (GUARD.__getitem__, {"name": "age"}),
    "where": (GUARD.where, {"condition": "age > 3"}),
    "with_columns": (GUARD.with_columns, {"a": "age * 2"}),
    "idempotent": (GUARD.idempotent, {"key": "a"}),
    "run": (GUARD.run, {"query": None}),
    "release": (GUARD.release, {"query": None}),
    "count": (GUARD.count, {"column": "age", **COST}),
    "mean": (
        GUARD.mean,
        {"column": "age", "within": (0, 9), "step": None, "population": False, "method": "adaptive"}
        | {"clusters": "kept", **COST},
    ),
    "sum": (GUARD.sum, {"column": "age", "within": (0, 9), "step": None, **COST}),
    "std": (GUARD.std, {"column": "age", "within": (0, 9), **COST}),
    "trimmed_mean": (GUARD.trimmed_mean, {"column": "age", "trim": 0.1, **COST}),
    "iqr": (GUARD.iqr, {"column": "age", "between": (0.25, 0.75), **COST}),
    "quantile": (GUARD.quantile, {"column": "age", "q": 0.5, "within": (0, 9), **COST}),
    "quantiles": (GUARD.quantiles, {"column": "age", "q": [0.5], "population": False, **COST}),
    "histogram": (GUARD.histogram, {"column": "age", "edges": [0, 9], **COST}),
    "histogram bins": (GUARD.histogram, {"column": "age", "bins": 4, **COST}),
    "cdf": (GUARD.cdf, {"column": "age", "points": [0, 9], **COST}),
    "covariance": (GUARD.covariance, {"columns": ["age", "income"], "within": None, **COST}),
    "pca": (GUARD.pca, {"columns": ["age", "income"], "components": 1, **COST}),
    "mean_vector": (GUARD.mean_vector, {"columns": ["age", "income"], "within": None, **COST}),
    "linear_regression": (
        GUARD.linear_regression,
        {"columns": ["age"], "target": "income", "within": None, **COST},
    ),
    "describe": (GUARD.describe, {"columns": ["age"], **COST}),
    "group_by": (GUARD.group_by, {"by": "region", "keys": ["a"], "max_groups": None, "pooled": 0}),
    "group_by keys": (GUARD.group_by, {"by": "region", "key_budget": None}),
    "crosstab": (
        GUARD.crosstab,
        {"by": "region", "keys": ["a"], "values": None, "within": None, "margins": True, **COST},
    ),
    "value_counts": (GUARD.value_counts, {"column": "region", "keys": ["a"], **COST}),
    "n_distinct": (GUARD.n_distinct, {"column": "region", "max_groups": None, **COST}),
    "count_to": (
        GUARD.count_to,
        {"path": "nowhere/x.parquet", "by": "region", "keys": TABLE, "at_least": None}
        | {"level": 0.9, **COST},
    ),
    "one mean": (
        mo.mean,
        {"table": TABLE, "column": "age", "within": (0, 9), "unit": None, **COST},
    ),
    "one describe": (mo.describe, {"table": TABLE, "columns": None, "where": None, **COST}),
    "one crosstab": (mo.crosstab, {"table": TABLE, "by": "region", "keys": ["a"], **COST}),
    "query": (mo.query.mean, {"column": "age", "within": (0, 9), **COST}),
    "groups' mean": (GROUPS.mean, {"column": "age", "within": (0, 9), **COST}),
    "groups' run": (GROUPS.run, {"query": None}),
    "interval": (MEAN.interval, {"level": 0.9, "tail": "auto"}),
    "publish": (
        MEAN.publish,
        {"digits": 2, "base": None, "title": "a", "suppress": None, "flag": None, "level": 0.9},
    ),
    "to_json": (MEAN.to_json, {"indent": None}),
    "from_json": (mo.Release.from_json, {"text": "{}"}),
    "points' interval": (POINTS.interval, {"level": 0.9, "tail": "auto"}),
    "points' item": (POINTS.__getitem__, {"index": 0}),
    "difference": (MEANS.difference, {"first": "a", "second": "b"}),
    "group": (MEANS.__getitem__, {"key": "a"}),
    "cell": (CROSS.__getitem__, {"key": "a"}),
    "margin": (CROSS.margin, {"column": "region"}),
    "plan": (mo.plan.mean, PLAN),
    "plan's shape": (mo.plan.mean, {"n": 1000, "sd": 1, "epsilon": 1, "shape": "normal"}),
    "plan's error": (mo.plan.mean, {"n": 1000, "sd": 1, "error": 1}),
    "csv_file": (mo.csv_file, {"path": "nowhere.csv", "separator": ",", "columns": None}),
    "excel_file": (mo.excel_file, {"path": "nowhere.xlsx", "sheet": 1, "skip": 0}),
    "counted": (mo.counted, {"table": TABLE, "counts": "age"}),
}
NAMES = {"columns": {"words", "pandas index"}}  # names of columns in a list are shown as typed
POSITIONAL = {"item", "points' item", "group", "cell", "margin", "difference", "interval", "run"}


@pytest.mark.parametrize("name", CALLS)
def test_no_message_shows_data(name: str) -> None:
    call, arguments = CALLS[name]
    for argument in arguments:
        for kind, data in DATA.items():
            if kind in NAMES.get(argument, ()):
                continue
            given = {**arguments, argument: data}
            try:
                call(*given.values()) if name in POSITIONAL else call(**given)
            except (mo.ModicumError, IndexError) as error:  # IndexError: of an array's places
                told = "".join(traceback.format_exception(error))
                assert not any(mark in told for mark in MARKS), (argument, kind, told)
            except Exception as error:  # noqa: BLE001 -- any other is a defect
                pytest.fail(f"{name}({argument}={kind}): {error!r}")


def test_no_hint_shows_data() -> None:
    ages = [31.25, 37.5, 62.5] * 4
    for data in (ages, tuple(ages), np.array(ages), pd.Series(ages[:3])):
        with pytest.raises(mo.InvalidArgument) as refused:
            GUARD.quantiles("age", q=data, epsilon=1)
        assert not any(mark in str(refused.value) for mark in ("31", "37", "62"))
    with pytest.raises(mo.InvalidArgument, match=r"got \[25, 75\]: in percent that is q = 0.25"):
        GUARD.quantiles("age", q=[25, 75], epsilon=1)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("a" * 300, repr("a" * 200) + "..."),
        ([1, "b", None], "[1, 'b', None]"),
        ((1.5,), "(1.5,)"),
        ({"below": 3}, "{'below': 3}"),
        (mo.pure(1), "pure('1')"),
        (pd.DataFrame(), "a DataFrame"),
        (np.zeros(2), "an ndarray"),
        ([pd.Series(["x"])], "[a Series]"),
        (list(range(9)), "a long list"),
        (b"abc", "a bytes"),
    ],
)
def test_what_is_shown_of_an_argument(given: object, text: str) -> None:
    assert as_given(given) == text
