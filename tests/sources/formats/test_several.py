"""Several files as one table: whatever one of them lacks is missing there."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.cli import main
from modicum.sources.opening import open_source
from tests.sources.engines.makers import labels_of, same, values, without

ENGINES = {"pyarrow": (), "polars": ("pyarrow",), "duckdb": ("pyarrow", "polars")}
NAN, DAY, MOMENT = float("nan"), dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12)  # noqa: DTZ001
X = pa.array([1.0, 2.0])
COLUMNS = {
    "text": pa.array(["a", "b"]),
    "large": pa.array(["a", "b"], pa.large_string()),
    "category": pa.array(["a", "b"]).dictionary_encode(),
    "whole": pa.array([5, 7]),
    "truth": pa.array([True, False]),
    "day": pa.array([DAY, dt.date(1066, 10, 14)]),
    "moment": pa.array([MOMENT, dt.datetime(1970, 1, 1)]),  # noqa: DTZ001
    "single": pa.array([0.5, 2.5], pa.float32()),
}


@pytest.fixture(params=ENGINES)
def opened(request):
    def open_with(path):
        with without(*ENGINES[request.param]):
            return open_source(path)

    open_with.engine = request.param
    return open_with


def folder_of(folder: Path, **tables: pa.Table) -> Path:
    for name, table in tables.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    return folder


def labels(source, column: str) -> list:
    codes, known = labels_of(source, column)
    return [None if code < 0 else known[code] for code in codes]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("lacking", ["null", "column", "no rows", "nulls"])
def test_what_one_file_lacks_is_missing_there(opened, lacking, order, tmp_path) -> None:
    if lacking in {"null", "no rows"} and opened.engine == "duckdb" and duckdb.__version__ < "2":
        pytest.skip("this DuckDB says that what has no type holds integers")
    whole = pa.table({"x": X, **COLUMNS})
    lacks = {
        "null": pa.table({"x": X, **{name: pa.nulls(2) for name in COLUMNS}}),
        "column": pa.table({"x": X}),
        "no rows": pa.table({name: pa.nulls(0) for name in ("x", *COLUMNS)}),
        "nulls": pa.table({"x": X, **{name: pa.nulls(2, c.type) for name, c in COLUMNS.items()}}),
    }[lacking]
    first, second = (whole, lacks)[::order]
    source = opened(folder_of(tmp_path, a=first, b=second))
    nothing = [None] * len(lacks)

    def rows(found: list) -> list:
        return [*found, *nothing] if order == 1 else [*nothing, *found]

    assert {*source.names} == {"x", *COLUMNS}
    assert len(values(source, None)) == 2 + len(lacks)
    for name, column in COLUMNS.items():
        source.check_label(name)
        assert labels(source, name) == rows(column.to_pylist()), name
        if name in {"whole", "truth", "single"}:
            source.check_values(name)
            expected = [NAN if each is None else float(each) for each in rows(column.to_pylist())]
            assert values(source, name).tolist() == pytest.approx(expected, nan_ok=True)
    for name, where in {"text": "text == 'a'", "day": "day >= '2026-01-31'"}.items():
        kept = mo.Curator(source, budget=mo.pure(999)).where(where).count(epsilon=200)
        assert kept.value == 1, name
    count = mo.Curator(source, budget=mo.pure(999)).count("text", epsilon=200)
    assert count.value == 2


def test_numbers_of_several_types_are_one_column(opened, tmp_path) -> None:
    tables = {
        "a": pa.table({"x": pa.array([5], pa.int8())}),
        "b": pa.table({"x": pa.array([300], pa.int64())}),
        "c": pa.table({"x": pa.array([2**64 - 1], pa.uint64())}),
    }
    source = opened(folder_of(tmp_path, **tables))
    assert labels(source, "x") == [5, 300, 2**64 - 1]
    curator = mo.Curator(source, budget=mo.pure(999))
    for key in (5, 300, 2**64 - 1):
        assert curator.value_counts("x", keys=[key], epsilon=200).total.value == 1
    source = opened(folder_of(tmp_path, d=pa.table({"x": [0.5]})))
    assert same(values(source), [5, 300, 2**64 - 1, 0.5])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array(["5"]), pa.array([5])),
        (pa.array([DAY]), pa.array([MOMENT])),
        (pa.array([MOMENT]), pa.array([MOMENT], pa.timestamp("us", "UTC"))),
        (pa.array([True]), pa.array(["True"])),
        (pa.array([[1.0]]), pa.array([1.0])),
    ],
    ids=str,
)
def test_a_file_of_another_type_is_named(opened, one, other, tmp_path) -> None:
    folder = folder_of(tmp_path, a=pa.table({"g": one}), **{"b/c": pa.table({"g": other})})
    curator = mo.Curator(opened(folder), budget=mo.pure(1))
    for ask in (
        lambda: curator.mean("g", epsilon=1),
        lambda: curator.count("g", epsilon=1),
        lambda: curator.where("missing(g)"),
        lambda: curator.group_by("g", keys=["5"]),
        lambda: curator.n_distinct("g", epsilon=1),
    ):
        with pytest.raises(mo.SourceError, match=r"'g' alike: .* in 'a.parquet' .* 'b/c.parquet'"):
            ask()
    assert curator.spent.amount == 0
    assert curator.count(epsilon=1).value is not None


def test_decimals_of_several_precisions_are_labels_of_one_column(opened, tmp_path) -> None:
    amounts = [Decimal("0.10"), Decimal("2.00"), None]
    for name, kind in (("a", pa.decimal128(9, 2)), ("b", pa.decimal128(12, 3))):
        pq.write_table(pa.table({"x": pa.array(amounts, kind)}), tmp_path / f"{name}.parquet")
    wholes = pa.table({"x": pa.array([2, 5])})
    source = opened(folder_of(tmp_path, c=wholes))
    assert labels(source, "x") == [0.1, 2, None, 0.1, 2, None, 2, 5]
    curator = mo.Curator(source, budget=mo.pure(999))
    for key in (0.1, Decimal("0.10")):
        assert curator.value_counts("x", keys=[key], epsilon=200).total.value == 2


def test_folders_of_text_are_read_as_cells(tmp_path) -> None:
    for name in ("dose=1.5", "dose=007", "dose=high"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("x\n1\n")
    source = open_source(tmp_path / "*" / "*.csv")
    assert same(values(source, "dose"), [7.0, 1.5, NAN])
    assert labels(source, source.counted("dose")) == ["007", "1.5", "high"]


def test_folders_make_columns(opened, tmp_path) -> None:
    table = pa.table({"x": [1.0] * 50})
    names = ["year=2025/region=New%20York/0", "year=2026/region=South/0", "year=2026/0"]
    folder = folder_of(tmp_path / "data", **dict.fromkeys(names, table))
    folder_of(folder, **{"year=2026/region=__HIVE_DEFAULT_PARTITION__/0": table})
    for path in (folder, f"{folder}/year=*/**/*.parquet", [*map(str, folder.rglob("*.parquet"))]):
        source = opened(path)
        assert source.names == ("x", "year", "region")
        assert (source.declared("year"), source.declared("region")) == ("int64", "string")
        assert sorted(values(source, "year")) == [2025] * 50 + [2026] * 150
        curator = mo.Curator(source, budget=mo.pure(10**4))
        years = curator.group_by("year", keys=[2025, 2026]).count(epsilon=200)
        assert [each.value for each in years.values()] == [50, 150]
        regions = curator.group_by("region", keys=["New York", "South"]).mean(
            "x", within=(0, 2), epsilon=200
        )
        assert regions["South"].value == pytest.approx(1, abs=0.1)
        assert curator.where("year == 2026 and missing(region)").count(epsilon=200).value == 100
        assert curator.where("region in ['South']").count(epsilon=200).value == 50
        with pytest.raises(mo.InvalidArgument, match="no row has the key"):
            curator.group_by("year", keys=["2025"])
    assert opened(folder / "year=2026" / "0.parquet").names == ("x",)
    assert opened(folder / "year=2026").names == ("x", "region")


def test_a_column_of_the_file_comes_before_its_folder(opened, tmp_path) -> None:
    folder = folder_of(tmp_path, **{"x=9/a": pa.table({"x": [1.0]}), "x=9/b": pa.table({"y": [1]})})
    assert same(values(opened(folder)), [1, NAN])


def test_lists_and_patterns_of_text(tmp_path, capsys) -> None:
    one, two, more = (tmp_path / name for name in ("a.csv", "b.csv", "c.tsv"))
    one.write_text("id,x\n" + "1,2\n" * 60)
    two.write_text("x,note\n" + "4,\n" * 40 + "seven,late\n" * 20)
    more.write_text("x\tid\n" + "4\t9\n" * 40)
    for files in ([str(one), str(two), more], (one, f"{tmp_path}/b.*", mo.csv_file(more))):
        curator = mo.Curator(list(files), budget=mo.pure(10**4))
        assert curator.count(epsilon=200).value == 160
        assert curator.count("x", epsilon=200).value == 160
        assert curator.count("id", epsilon=200).value == 100
        assert curator.mean("x", within=(0, 9), epsilon=200).value == pytest.approx(440 / 140, 0.01)
        notes = curator.group_by("note", keys=["late", "early"]).count(epsilon=200)
        assert [each.value for each in notes.values()] == [20, 0]
        assert curator.where("x == 'seven' or id == 9").count(epsilon=200).value == 60
        with pytest.raises(mo.MissingColumn, match="there is no column 'y'"):
            curator.mean("y", epsilon=1)
    assert main(["mean", f"{tmp_path}/?.csv", "x", "--within=0,9", "--epsilon", "9"]) == 0
    assert main(["mean", f"{tmp_path}/?.?sv", "x", "--within=0,9", "--epsilon", "9"]) == 0
    assert "mean of x" in capsys.readouterr().out
    one.write_text("x;id\n" + "1,5;2\n" * 90)
    two.write_text("x;id\n" + "2,5;2\n" * 90)
    options = ["--separator", ";", "--decimal", ","]
    assert main(["mean", f"{tmp_path}/?.csv", "x", *options, "--epsilon", "9"]) == 0


def test_files_of_other_kinds(tmp_path) -> None:
    frame = pd.DataFrame({"x": np.arange(30.0), "g": ["a", "b", None] * 10})
    for name in "ab":
        frame.to_excel(tmp_path / f"{name}.xlsx", index=False)
        feather.write_feather(frame, tmp_path / f"{name}.feather")
    sheets = [mo.excel_file(tmp_path / "a.xlsx", sheet=1), tmp_path / "b.xlsx"]
    for table in (sheets, f"{tmp_path}/*.xlsx", f"{tmp_path}/*.feather"):
        source = open_source(table)
        assert same(values(source), np.tile(np.arange(30.0), 2))
        assert labels(source, "g") == ["a", "b", None] * 20
    with pytest.raises(mo.InvalidArgument, match="several kinds"):
        open_source([tmp_path / "a.xlsx", tmp_path / "a.feather"])
    with pytest.raises(mo.InvalidArgument, match=r"twice: 'a.xlsx'"):
        open_source([tmp_path / "a.xlsx", f"{tmp_path}/*.xlsx"])
    with pytest.raises(mo.SourceError, match=r"no file 'c.xlsx'"):
        open_source([str(tmp_path / "a.xlsx"), "c.xlsx"])


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([{"x": 1}, {"x": 2}], "DataFrame"),
        ([[1, 2], [3, 4]], "columns="),
        ([(1, 2)], "DataFrame"),
        (["Anna", "Bob"], "list of numbers"),
        ([b"Anna"], "DataFrame"),
        ([np.str_("Anna")], "paths of files"),
    ],
)
def test_a_list_of_something_else_is_refused(items, told) -> None:
    with pytest.raises(mo.UnsupportedData, match=told) as caught:
        mo.mean(items, epsilon=1)
    assert "Anna" not in str(caught.value)
    assert same(values(open_source([*items, 1.0]), None), [NAN] * len(items) + [1.0])


def test_a_file_that_is_written_anew_with_another_type(tmp_path) -> None:
    folder = folder_of(tmp_path, a=pa.table({"x": [1.0]}), b=pa.table({"x": [1.0]}))
    source = open_source(folder)
    folder_of(tmp_path, b=pa.table({"x": ["secret"]}))
    with pytest.raises(mo.SourceError, match=r"'b.parquet' of .* was written anew"):
        values(source)
