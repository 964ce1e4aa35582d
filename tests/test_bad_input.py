"""Bad input is refused by name, before any budget is charged."""

import datetime as dt
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo

WITHIN = (-1e9, 1e9)
MEAN: dict[str, Any] = {"within": WITHIN, "epsilon": 1}


@pytest.fixture
def table() -> pd.DataFrame:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(50)]
    return pd.DataFrame(
        {
            "income": np.arange(50.0),
            "name": [f"person {i}" for i in range(50)],
            "day": pd.to_datetime(days),
            "anything": pd.Series([1, "two", None, *range(47)], dtype=object),
        }
    )


ARGUMENTS = [
    ({"within": (1e9, -1e9)}, "within"),
    ({"within": (1, 1)}, "within"),
    ({"within": (0, math.inf)}, "within"),
    ({"within": (math.nan, 1)}, "within"),
    ({"within": (0, 1e308)}, "within"),
    ({"within": 1e9}, "within"),
    ({"within": (0, 1, 2)}, "within"),
    ({"within": ("0", "1")}, "within"),
    ({"within": (False, True)}, "within"),
    ({"step": 2.0**-40}, "step"),
    ({"step": 2.0**40}, "step"),
    ({"step": 0.3}, "step"),
    ({"step": 0}, "step"),
    ({"step": -1}, "step"),
    ({"step": math.nan}, "step"),
    ({"epsilon": 0}, "epsilon"),
    ({"epsilon": -1}, "epsilon"),
    ({"epsilon": "-0.5"}, "epsilon"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": math.inf}, "epsilon"),
    ({"epsilon": "a lot"}, "epsilon"),
    ({"epsilon": True}, "epsilon"),
    ({"epsilon": [1]}, "epsilon"),
    ({"epsilon": None, "rho": 0}, "rho"),
    ({"epsilon": None, "rho": math.nan}, "rho"),
    ({"epsilon": None, "budget": 1}, "budget"),
    ({"epsilon": None}, "exactly one of epsilon"),
    ({"rho": 1}, "exactly one of epsilon"),
    ({"budget": mo.pure(1)}, "exactly one of epsilon"),
    ({"method": "average"}, "method"),
    ({"clusters": "lose"}, "clusters"),
    ({"epsilon": None, "rho": 1, "method": "subset"}, "method='subset'"),
]


@pytest.mark.parametrize(("wrong", "word"), ARGUMENTS, ids=repr)
def test_bad_arguments(table: pd.DataFrame, wrong: dict[str, Any], word: str) -> None:
    curator = mo.Curator(table, budget=mo.zcdp(9) if "rho" in wrong else mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match=word) as refused:
        curator.mean("income", **(MEAN | wrong))
    assert isinstance(refused.value, ValueError)
    assert curator.spent.amount == 0
    with pytest.raises(mo.InvalidArgument, match=word):
        mo.mean(table, "income", **(MEAN | wrong))
    with pytest.raises(mo.InvalidArgument, match=word):
        mo.query.mean("income", **(MEAN | wrong))


@pytest.mark.parametrize("statistic", ["sum", "count"])
@pytest.mark.parametrize("epsilon", [0, math.inf, True, None])
def test_bad_budgets_of_other_statistics(
    table: pd.DataFrame, statistic: str, epsilon: float | None
) -> None:
    arguments = {"epsilon": epsilon} | ({"within": WITHIN} if statistic == "sum" else {})
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match="epsilon"):
        getattr(curator, statistic)("income", **arguments)
    assert curator.spent.amount == 0
    with pytest.raises(mo.InvalidArgument, match="epsilon"):
        getattr(mo, statistic)(table, "income", **arguments)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"q": 0}, "q must lie"),
        ({"q": 1}, "q must lie"),
        ({"q": 1.5}, "q must lie"),
        ({"q": -0.5}, "q must lie"),
        ({"q": 1e-12}, "q must lie"),
        ({"q": math.nan}, "q must be"),
        ({"q": "half"}, "q must be"),
        ({"q": True}, "q must be"),
        ({"q": None}, "q must be"),
        ({"q": [0.5]}, "q must be"),
        ({"level": 0.5}, "level"),
        ({"level": 1}, "level"),
        ({"level": math.nan}, "level"),
        ({"level": "0.95"}, "level"),
        ({"level": True}, "level"),
        ({"within": (1, 0)}, "within"),
        ({"step": 0.3}, "step"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": None}, "exactly one of epsilon"),
        ({"epsilon": "1e-8"}, "larger budget"),
        ({"bounds": (0, 1)}, "within="),
    ],
    ids=repr,
)
def test_bad_arguments_of_a_quantile(table: pd.DataFrame, wrong: dict[str, Any], word: str) -> None:
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match=word):
        curator.quantile("income", **({"q": 0.5} | MEAN | wrong))
    assert curator.spent.amount == 0
    if "q" not in wrong:
        with pytest.raises(mo.InvalidArgument, match=word):
            mo.median(table, "income", **(MEAN | wrong))


@pytest.mark.parametrize("statistic", ["var", "std", "iqr", "min", "max"])
@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"within": (1, 0)}, "within"),
        ({"within": (0, math.nan)}, "within"),
        ({"step": 0.3}, "step"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": None}, "exactly one of epsilon"),
        ({"bounds": (0, 1)}, "within="),
    ],
    ids=repr,
)
def test_bad_arguments_of_a_spread(
    table: pd.DataFrame, statistic: str, wrong: dict[str, Any], word: str
) -> None:
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match=word):
        getattr(curator, statistic)("income", **(MEAN | wrong))
    assert curator.spent.amount == 0
    with pytest.raises(mo.InvalidArgument, match=word):
        getattr(mo, statistic)(table, "income", **(MEAN | wrong))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"trim": 0}, "trim is the share"),
        ({"trim": 0.5}, "trim is the share"),
        ({"trim": -0.1}, "trim is the share"),
        ({"trim": 5}, "trim is the share"),
        ({"trim": 1e-12}, "trim is the share"),
        ({"trim": math.nan}, "trim must be"),
        ({"trim": "a tenth"}, "trim must be"),
        ({"trim": (0.1, 0.2)}, "trim must be"),
        ({"trim": True}, "trim must be"),
        ({"level": 0.5}, "level"),
        ({"level": math.nan}, "level"),
        ({"within": (1, 0)}, "within"),
        ({"epsilon": "1e-8"}, "larger budget"),
        ({"bounds": (0, 1)}, "within="),
    ],
    ids=repr,
)
@pytest.mark.parametrize("statistic", ["trimmed_mean", "winsorized_mean"])
def test_bad_arguments_of_a_trimmed_mean(
    table: pd.DataFrame, statistic: str, wrong: dict[str, Any], word: str
) -> None:
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match=word):
        getattr(curator, statistic)("income", **({"trim": 0.1} | MEAN | wrong))
    assert curator.spent.amount == 0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("statistic", ["mean", "sum", "median", "std", "iqr", "max"])
@pytest.mark.parametrize(
    ("column", "kind", "word"),
    [
        ("nope", mo.MissingColumn, "nope"),
        ("name", mo.UnsupportedData, "name"),
        ("day", mo.UnsupportedData, "day"),
        (5, mo.InvalidArgument, "column"),
        (b"income", mo.InvalidArgument, "column"),
        (None, mo.ModicumError, "column"),
    ],
)
def test_bad_columns(
    table: pd.DataFrame,
    make: Callable[[Any], Any],
    statistic: str,
    column: Any,
    kind: type[mo.ModicumError],
    word: str,
) -> None:
    columns = {name: table[name].to_list() for name in ("income", "name", "day")}
    curator = mo.Curator(make(columns), budget=mo.pure(9))
    with pytest.raises(kind, match=word):
        getattr(curator, statistic)(column, **MEAN)
    assert curator.spent.amount == 0
    with pytest.raises(kind, match=word):
        getattr(mo, statistic)(make(columns), column, **MEAN)


def test_object_columns_are_refused_by_their_type(table: pd.DataFrame) -> None:
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.UnsupportedData, match="anything"):
        curator.mean("anything", **MEAN)
    assert curator.spent.amount == 0


def test_a_missing_column_is_a_key_error_with_a_plain_message(table: pd.DataFrame) -> None:
    with pytest.raises(KeyError) as refused:
        mo.mean(table, "incme", **MEAN)
    assert str(refused.value).startswith("there is no column 'incme'")


@pytest.mark.parametrize(
    "thing",
    [object(), {"income": [1.0]}, 5, None, np.zeros((3, 3, 3)), np.array(["a"]), lambda: 0],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_table(thing: object) -> None:
    with pytest.raises(mo.UnsupportedData):
        mo.mean(thing, **MEAN)
    with pytest.raises(mo.UnsupportedData):
        mo.Curator(thing, budget=mo.pure(1))


def test_bad_paths(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "broken.parquet").write_bytes(b"this is no Parquet file")
    for name in ("nowhere.parquet", "nowhere.csv", "empty", "note.txt", "broken.parquet"):
        with pytest.raises((mo.SourceError, mo.InvalidArgument)) as refused:
            mo.mean(tmp_path / name, "income", **MEAN)
        assert name in str(refused.value)
        assert str(tmp_path) not in str(refused.value)


def test_a_vanished_file_charges_nothing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("income\n1\n2\n")
    curator = mo.Curator(path, budget=mo.pure(1))
    path.unlink()
    with pytest.raises(mo.SourceError, match=r"people\.csv"):
        curator.mean("income", **MEAN)
    assert curator.spent.amount == 0


def test_an_exceeded_budget_charges_nothing(table: pd.DataFrame) -> None:
    curator = mo.Curator(table, budget=mo.pure("1.5"))
    curator.count(epsilon=1)
    with pytest.raises(mo.BudgetExceeded, match=r"ε = 0\.5 of ε = 1\.5 is left"):
        curator.mean("income", **MEAN)
    queries = {str(i): mo.query.count(epsilon="0.2") for i in range(3)}
    with pytest.raises(mo.BudgetExceeded, match=r"costs ε = 0\.6"):
        curator.release(**queries)
    assert curator.remaining == mo.pure("0.5")
    curator.count(epsilon="0.5")
    assert curator.remaining.amount == 0


def test_the_wrong_currency_charges_nothing(table: pd.DataFrame) -> None:
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match="zCDP"):
        curator.mean("income", within=WITHIN, rho="0.1")
    assert curator.spent.amount == 0


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "3", None])
def test_bad_units(rows: Any) -> None:
    with pytest.raises(mo.InvalidArgument, match="rows"):
        mo.unit_of(rows=rows)


def test_a_unit_is_made_by_unit_of(table: pd.DataFrame) -> None:
    with pytest.raises(mo.InvalidArgument, match="unit"):
        mo.Curator(table, unit=3, budget=mo.pure(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [None, 1, "1", True])
def test_a_budget_is_made_by_its_functions(table: pd.DataFrame, budget: Any) -> None:
    with pytest.raises(mo.InvalidArgument, match="budget"):
        mo.Curator(table, budget=budget)


def test_an_amount_beyond_all_laws(table: pd.DataFrame) -> None:
    for amount in (10**400, "1e300", "1e30", 10**12 + 1):
        with pytest.raises(mo.InvalidArgument, match="at most 10"):
            mo.count(table, epsilon=amount)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_text_is_counted_where_there_is_some(kind: str) -> None:
    names = ["a", None, "b", ""] * 25
    column = {"name": pd.Series(names, dtype="object")}
    table: Any = pd.DataFrame(column)
    if kind == "polars":
        table = pl.DataFrame({"name": names})
    elif kind == "pyarrow":
        table = pa.table({"name": names})
    assert mo.count(table, "name", epsilon=100).value == 75


@pytest.mark.parametrize("delta", [0, 1, -1, math.nan, True])
def test_bad_deltas(delta: float) -> None:
    with pytest.raises(mo.InvalidArgument, match="delta"):
        mo.approx(1, delta)


@pytest.mark.parametrize("request_", [None, "mean", 5])
def test_only_requests_are_answered_together(table: pd.DataFrame, request_: Any) -> None:
    curator = mo.Curator(table, budget=mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match="query"):
        curator.release(a=mo.query.count(epsilon=1), b=request_)
    with pytest.raises(mo.InvalidArgument, match="query"):
        curator.release()
    assert curator.spent.amount == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"level": 0}, "level"),
        ({"level": 1}, "level"),
        ({"level": math.nan}, "level"),
        ({"tail": 1}, "tail"),
        ({"tail": math.inf}, "tail"),
    ],
)
def test_bad_intervals(table: pd.DataFrame, arguments: dict[str, Any], word: str) -> None:
    release = mo.count(table, epsilon=1)
    with pytest.raises(mo.InvalidArgument, match=word):
        release.interval(**arguments)
