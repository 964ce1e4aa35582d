"""Tables that cannot be read: a clear error, nothing charged, and no value in the message."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.sources import files

WITHIN = (-1e9, 1e9)
READERS = ["pyarrow", "polars", "duckdb"]
SECRET = "Bartholomew"  # in the data of every table here, and in no message


@pytest.fixture(params=READERS)
def reader(request, monkeypatch) -> str:
    """Parquet read by each engine, as if it were the only one installed."""
    others = {each for each in READERS if each != request.param}
    monkeypatch.setattr(
        files, "find_spec", lambda name: None if name in others else find_spec(name)
    )
    return request.param


def written(folder: Path, *tables: pa.Table) -> Path:
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def people(**columns) -> pa.Table:
    return pa.table({"name": [SECRET] * 50, "pay": np.arange(50.0), "who": range(50)} | columns)


def refused(table, ask, kinds, *texts: str, **more) -> None:
    """Either opening or asking fails, without a charge and without a value."""
    curators = []

    def opened_and_asked() -> None:
        curators.append(mo.Curator(table, budget=mo.approx(9, "1e-6"), **more))
        ask(curators[0])

    with pytest.raises(kinds) as caught:
        opened_and_asked()
    assert all(curator.spent.amount == 0 for curator in curators)
    message = str(caught.value)
    assert any(text in message for text in texts), message
    assert SECRET not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def mean_of_pay(curator: mo.Curator) -> None:
    curator.mean("pay", within=WITHIN, epsilon=1)


def mean_by_name(curator: mo.Curator) -> None:
    curator.group_by("name", keys=["a"]).mean("pay", within=WITHIN, epsilon=1)


def drawn_keys(curator: mo.Curator) -> None:
    curator.group_by("name", key_budget=mo.approx(1, "1e-6"))


ASKS = [mean_of_pay, mean_by_name]


@pytest.mark.parametrize("ask", ASKS)
def test_a_column_of_other_types_in_one_file(reader, ask, tmp_path) -> None:
    folder = written(tmp_path, people(), people(pay=[SECRET] * 50))
    refused(folder, ask, (mo.SourceError, mo.UnsupportedData), "not all files", "could not be read")


@pytest.mark.parametrize("kept", [0, 3, 100, -200, -9])
@pytest.mark.parametrize("ask", [*ASKS, drawn_keys])
def test_a_truncated_file(reader, ask, kept, tmp_path) -> None:
    folder = written(tmp_path, people(), people())
    path = folder / "1.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    refused(folder, ask, mo.SourceError, repr(folder.name))


@pytest.mark.parametrize("ask", [*ASKS, drawn_keys])
def test_a_file_with_damaged_pages(reader, ask, tmp_path) -> None:
    """The schema is sound, so it is found out while it is read."""
    folder = written(tmp_path, people())
    path = folder / "0.parquet"
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 3] = bytes(len(content) // 3 - 4)
    path.write_bytes(bytes(content))
    refused(folder, ask, mo.SourceError, repr(folder.name))


def shared_names(folder: Path, *twice: str) -> list:
    """Tables of every kind that can have several columns of one name, and ``pay`` among them."""
    names = [*twice, "pay", *twice]
    columns = [pa.array([f"{SECRET} {i}"] * 900) for i in range(len(twice))]
    columns = [*columns, pa.array(np.arange(900.0)), *columns]
    table = pa.Table.from_arrays(columns, names)
    pq.write_table(table, folder / "t.parquet")
    frame = table.to_pandas()
    (folder / "t.csv").write_text(frame.to_csv(index=False))
    frame.to_excel(folder / "t.xlsx", index=False)
    files = [folder / name for name in ("t.parquet", "t.csv", "t.xlsx")]
    return [table, frame, table.to_batches()[0], *files]


@pytest.mark.parametrize("twice", [["remark"], ["", "a"], [" "], ["Pay"], ["größe"], ["pay "]])
def test_columns_that_share_a_name_do_not_keep_the_others_from_being_read(twice, tmp_path) -> None:
    for table in shared_names(tmp_path, *twice):
        mean = mo.mean(table, "pay", within=(0, 900), epsilon=100)
        assert mean.value == pytest.approx(449.5, abs=1)
        refused(table, lambda c: c.count(twice[0], epsilon=1), mo.MissingColumn, "several columns")


def test_two_columns_of_one_name(tmp_path) -> None:
    twice = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], ["pay", "pay"])
    refused(twice, mean_of_pay, mo.MissingColumn, "several columns 'pay'")
    refused(twice.to_pandas(), mean_of_pay, mo.MissingColumn, "several columns 'pay'")
    pq.write_table(twice, tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", mean_of_pay, mo.MissingColumn, "several columns 'pay'")
    (tmp_path / "t.csv").write_text("pay,pay\n1,2\n")
    refused(tmp_path / "t.csv", mean_of_pay, mo.MissingColumn, "several columns 'pay'")


HOSTILE = [
    'x"; drop table t; --',
    "'; select 1 --",
    "*",
    "a.b",
    "a\nb",
    "{0}",
    "%s",
    "$1",
    " ",
    "é\u202e",
    "__x",
    "count(*)",
    "Label",
    "^x.*$",
]
TABLES = {
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "lazy": lambda table, folder: pl.from_arrow(table).lazy(),
    "arrow": lambda table, folder: table,
    "duckdb": lambda table, folder: duckdb.from_arrow(table),
    "parquet": lambda table, folder: written(folder, table),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_look_like_commands_are_names(name, kind, tmp_path) -> None:
    """As the column, the person and the key, and as one that is not there."""
    n = 4000
    table = pa.table(
        {name: np.arange(n) % 2, "x": np.arange(n) % 10 * 1.0, "who": np.arange(n), "ok": [0] * n}
    )
    opened = TABLES[kind](table, tmp_path)

    def curator(unit: mo.Unit | None = None) -> mo.Curator:
        return mo.Curator(opened, unit=unit, budget=mo.pure(99), entropy=SeededEntropy("names"))

    counts = curator().group_by(name, keys=[0, 1]).count("x", epsilon=2)
    assert [round(each.value, -2) for each in counts.values()] == [2000, 2000]
    two = curator(mo.unit_of(name, combine="sum")).count("x", epsilon=9)
    assert abs(two.value - 2) < 5
    kept = curator(mo.unit_of("who", max_rows=1, order_by=name)).mean(
        name, within=(0, 9), epsilon=9
    )
    assert abs(kept.value - 0.5) < 0.1
    missing = table.rename_columns(["y", "x", "who", "ok"])
    refused(
        TABLES[kind](missing, tmp_path),
        lambda guarded: guarded.mean(name, within=WITHIN, epsilon=1),
        mo.MissingColumn,
        repr(name),
    )


def test_rows_whose_person_is_null_are_dropped_and_cost_nothing() -> None:
    who = [None if i % 2 else i for i in range(2000)]
    table = pa.table({"who": who, "g": ["a"] * 2000, "x": np.ones(2000)})
    for kind in ("pandas", "polars", "arrow", "duckdb"):
        for unit in (mo.unit_of("who", max_rows=3), mo.unit_of("who", combine="mean")):
            guarded = mo.Curator(
                TABLES[kind](table, None),
                unit=unit,
                budget=mo.pure(99),
                entropy=SeededEntropy("null"),
            )
            assert guarded.count(epsilon=9).value == pytest.approx(1000, abs=5)
            most = {"max_groups": 1} if unit.combine else {}
            counts = guarded.group_by("g", keys=["a"], **most).count(epsilon=9)
            assert counts["a"].value == pytest.approx(1000, abs=5)
    nobody = pa.table({"who": pa.array([None, None], pa.int64()), "x": [1.0, 2.0]})
    guarded = mo.Curator(nobody, unit=mo.unit_of("who", max_rows=1), budget=mo.pure(9))
    assert abs(guarded.count(epsilon=9).value) < 9


@pytest.mark.parametrize(
    ("column", "key"),
    [("pay", "a"), ("who", "5"), ("day", 5), ("day", "2024-01-01"), ("flag", "yes")],
)
def test_keys_of_the_wrong_type(column, key) -> None:
    table = people(
        day=pd.date_range("2024-01-01", periods=50).to_pydatetime(), flag=[True, False] * 25
    )
    for kind in ("pandas", "polars", "arrow", "duckdb"):
        refused(
            TABLES[kind](table, None),
            lambda guarded: guarded.group_by(column, keys=[key]),
            mo.InvalidArgument,
            f"the column {column!r} holds",
        )


def test_columns_that_hold_no_keys() -> None:
    table = people(parts=[[1.0]] * 50)
    for kind in ("polars", "arrow", "duckdb"):
        refused(
            TABLES[kind](table, None),
            lambda guarded: guarded.group_by("parts", keys=[1]),
            mo.UnsupportedData,
            "'parts'",
        )


def test_no_engine_reads_the_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    folder = written(tmp_path, people())
    refused(folder, mean_of_pay, mo.SourceError, "pip install pyarrow")


def test_an_engine_that_is_broken(tmp_path, monkeypatch) -> None:
    """It is found, and cannot be imported."""
    folder = written(tmp_path, people())

    def broken(name: str):
        if name.startswith("pyarrow"):
            raise ImportError(SECRET)
        return import_module(name)

    monkeypatch.setattr(files, "import_module", broken)
    refused(folder, mean_of_pay, mo.SourceError, "could not be read", repr(folder.name))
