"""Paths of files, Parquet read ahead, and what is said of files of other kinds."""

import os
import threading
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.errors import (
    InvalidArgument,
    MissingColumn,
    ModicumError,
    SourceError,
    UnsupportedData,
)
from modicum.sources.files import prefetch
from modicum.sources.opening import open_source
from tests.sources.engines.makers import file_of, folder_of, same, table_of, values, without

ENGINES = {"pyarrow": (), "polars": ("pyarrow",), "duckdb": ("pyarrow", "polars")}


@pytest.fixture(params=ENGINES)
def opened(request):
    def open_with(path):
        with without(*ENGINES[request.param]):
            return open_source(path)

    return open_with


def test_paths_of_all_kinds(opened, tmp_path, monkeypatch) -> None:
    folder = folder_of(table_of(pa.array([1.0, 2.0, 3.0, 4.0])), tmp_path)
    for path in (folder, str(folder), f"{folder}/", f"{folder}/**/*.parquet"):
        assert same(values(opened(path)), [1, 2, 3, 4])
    assert same(values(opened(folder / "a.parquet")), [1, 2])
    assert same(values(opened(f"{folder}/*.parquet")), [1, 2])
    monkeypatch.chdir(folder / "b")
    for path in ("c.parquet", "*.parquet", ".", "../b"):
        assert same(values(opened(path)), [3, 4])
    (folder / "a.parquet").rename(folder / "A.PARQUET")
    assert same(values(opened(folder)), [1, 2, 3, 4])
    assert opened("c.parquet").engine == "parquet"


def test_names_with_wildcards_are_taken_as_they_are(opened, tmp_path) -> None:
    path = file_of(table_of(pa.array([1.0])), tmp_path)
    for name in ("a[1].parquet", "a*.parquet"):
        path = path.rename(tmp_path / name)
        assert same(values(opened(path)), [1])


def test_files_that_other_programs_left_there(opened, tmp_path) -> None:
    folder = folder_of(table_of(pa.array([1.0, 2.0])), tmp_path)
    for name in ("_temporary/x.parquet", ".hidden.parquet", "_metadata.parquet", "notes.txt"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("nothing")
    assert same(values(opened(folder)), [1, 2])


def test_only_the_columns_asked_for_are_read(opened, tmp_path) -> None:
    x, other = np.arange(5000.0), np.random.default_rng(1).random(5000)
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.table({"x": x, "other": other}), path, compression="zstd", use_dictionary=False
    )
    start = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[start : start + 2000] = b"\xff" * 2000
    path.write_bytes(damaged)
    source = opened(path)
    source.check("other")
    assert same(values(source), x)
    with pytest.raises(SourceError, match=r"^'rows.parquet' could not be read$") as caught:
        values(source, "other")
    assert caught.value.__context__ is None


def test_files_without_rows(opened, tmp_path) -> None:
    pq.write_table(table_of(pa.array([], pa.float64())), tmp_path / "a.parquet")
    assert same(values(opened(tmp_path)), [])
    assert same(values(opened(tmp_path), None), [])


def test_missing_files(opened, tmp_path) -> None:
    for path in (tmp_path / "gone.parquet", tmp_path, tmp_path / "*.parquet", tmp_path / "a**b"):
        with pytest.raises(SourceError) as caught:
            opened(path)
        assert repr(path.name) in str(caught.value)
        assert str(tmp_path) not in str(caught.value)
        assert caught.value.__context__ is None
    (tmp_path / "bad.parquet").write_text("secret")
    with pytest.raises(SourceError, match=r"^'bad.parquet' could not be read$"):
        values(opened(tmp_path / "bad.parquet"))


def test_a_file_that_vanishes(opened, tmp_path) -> None:
    path = file_of(table_of(pa.array([1.0])), tmp_path)
    source = opened(path)
    path.unlink()
    for column in ("x", None):
        with pytest.raises(SourceError, match=r"^'rows.parquet' could not be read$"):
            values(source, column)


def test_paths_that_name_no_known_format(tmp_path) -> None:
    (tmp_path / "rows.ods").write_text("")
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("x\n1\n")
    for path in (tmp_path / "rows.ods", "", tmp_path / "*"):
        with pytest.raises(InvalidArgument):
            open_source(path)


def test_files_that_do_not_go_together(opened, tmp_path) -> None:
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    for other in (["2.0"], ["secret"], pa.array([0], pa.date32()), [[1.0]]):
        pq.write_table(pa.table({"x": other}), tmp_path / "b.parquet")
        for ask in (lambda: opened(tmp_path).check("x"), lambda: values(opened(tmp_path))):
            with pytest.raises(
                SourceError, match=r"in 'a.parquet' and .* in 'b.parquet'"
            ) as caught:
                ask()
            assert "secret" not in str(caught.value)


def test_no_engine_at_all(tmp_path) -> None:
    path = file_of(table_of(pa.array([1.0])), tmp_path)
    with (
        without("pyarrow", "polars", "duckdb"),
        pytest.raises(SourceError, match=r"pip install pyarrow"),
    ):
        open_source(path)


def test_path_objects(tmp_path) -> None:
    pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / "UPPER.PARQUET")

    class Named(os.PathLike):
        def __fspath__(self) -> str:
            return str(tmp_path / "UPPER.PARQUET")

    assert same(values(Named()), [1])
    assert same(values(Path(Named())), [1])


ADVICE = {
    "a.ods": "save it as .xlsx",
    "a.XLS": "pandas.read_excel",
    "a.json": "pandas.read_json",
    "a.ndjson": "polars.scan_ndjson",
    "a.csv.zst": "unpack it first",
    "a.parquet.zip": "unpack it first",
    "a.db": "ibis.sqlite.connect",
    "a.duckdb": "duckdb.connect",
    "a.txt": "modicum.csv_file",
    "a.rds": "arrow::write_parquet",
    "a.what": "must name one file whose end is known",
}


@pytest.mark.parametrize("name", ADVICE)
def test_files_of_other_programs(tmp_path, name) -> None:
    path = tmp_path / name
    path.write_bytes(b"secret")
    with pytest.raises(InvalidArgument) as caught:
        open_source(path)
    assert ADVICE[name] in str(caught.value)
    assert repr(name) in str(caught.value)
    assert "\n" not in str(caught.value)


ADDRESSES = {
    "https://user:secret@host/x.csv": "https:// addresses are not opened",
    "s3://bucket/secret.parquet": "duckdb.read_parquet",
    "S3://bucket/secret.parquet": "s3:// addresses",
    "sqlite:///secret.db": "ibis.connect",
    "postgresql://user:secret@host/db": "names a database",
    "-": "standard input can be read only once",
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_addresses(text) -> None:
    with pytest.raises(InvalidArgument) as caught:
        mo.mean(text, "x", within=(0, 1), epsilon=1)
    assert ADDRESSES[text] in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes(tmp_path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(SourceError, match="can be read only once"):
        open_source(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("mark", "word"), [(";", "2 semicolons"), ("\t", "2 tabs"), ("|", "2 vertical bars")]
)
def test_another_separator_is_named(tmp_path, mark, word) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"id{mark}income{mark}name\n1{mark}secret{mark}b\n")
    with pytest.raises(MissingColumn, match=word) as caught:
        mo.mean(path, "income", within=(0, 9), epsilon=1)
    assert f"separator={mark!r}" in str(caught.value)
    assert "secret" not in str(caught.value)
    source = mo.csv_file(path, separator=mark)
    assert source.names == ("id", "income", "name")
    with pytest.raises(MissingColumn, match=r"did you mean 'income'\? columns: 'id', "):
        source.check("Income")


@pytest.mark.parametrize("line", ["6492,North,f", "a,North,5.5", "7,7,7", "1e3,x"])
def test_a_row_in_place_of_the_header_is_not_shown(tmp_path, line) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{line}\n1,South,m\n")
    with pytest.raises(ModicumError, match=r"first line of 'people.csv' holds numbers") as caught:
        mo.mean(path, "income", within=(0, 9), epsilon=1)
    assert isinstance(caught.value, MissingColumn | UnsupportedData)
    assert "--columns" in str(caught.value)
    assert not any(cell in str(caught.value) for cell in line.split(",") if len(cell) > 1)
    named = mo.csv_file(path, columns=["id", "region", "sex"])
    assert round(mo.count(named, epsilon=1000).value) == 2
    assert round(mo.count(named, "region", epsilon=1000).value) == 2
    with pytest.raises(MissingColumn, match="columns: 'id', 'region', 'sex'"):
        named.check("income")


@pytest.mark.parametrize("name", ["rows.tsv", "rows.TAB", "rows.txt"])
def test_tabs(tmp_path, name) -> None:
    path = tmp_path / name
    path.write_text("g\tx\n" + "a,b\t2\n" * 100)
    source = mo.csv_file(path, separator="\t") if name.endswith("txt") else open_source(path)
    assert round(mo.sum(source, "x", within=(0, 9), epsilon=1000).value) == 200


def test_sixteen_bits(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n", encoding="utf-16")
    with pytest.raises(SourceError, match="UTF-16: save it as UTF-8"):
        open_source(path)


def test_arguments_that_are_refused(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n")
    for options, message in (
        ({"decimal": ";"}, "decimal must be"),
        ({"thousands": "x"}, "thousands must be None or one of"),
        ({"thousands": "."}, "thousands and decimal are both"),
        ({"columns": "x"}, "columns must be a list of names"),
        ({"columns": []}, "columns must be a list of names"),
        ({"columns": [1]}, "columns must be a list of names"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            mo.csv_file(path, **options)
    with pytest.raises(SourceError, match=r"there is no file 'no.csv'"):
        mo.csv_file(tmp_path / "no.csv")
    (tmp_path / "more.csv").write_text("x\n")
    with pytest.raises(InvalidArgument, match="must name one file"):
        mo.csv_file(tmp_path / "*.csv")


class Numbers:
    """Counts from 0, and notes what was asked of it."""

    def __init__(self, count: int, *, failing: bool = False) -> None:
        self.count = count
        self.failing = failing
        self.made = 0
        self.closed = False
        self.threads: set[int] = set()

    def __iter__(self) -> Generator[int, None, None]:
        try:
            for number in range(self.count):
                self.threads.add(threading.get_ident())
                self.made += 1
                yield number
            if self.failing:
                raise OSError("the disk is gone")
        finally:
            self.closed = True


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_all_items_come_in_order_from_one_other_thread(count: int) -> None:
    numbers = Numbers(count)
    assert list(prefetch(iter(numbers))) == list(range(count))
    assert numbers.closed
    assert len(numbers.threads) == min(count, 1)
    assert threading.get_ident() not in numbers.threads


def test_one_item_is_held_at_most() -> None:
    numbers = Numbers(10)
    for item in prefetch(iter(numbers)):
        assert numbers.made <= item + 2


def test_a_failure_comes_after_the_items_before_it() -> None:
    numbers = Numbers(3, failing=True)
    with pytest.raises(OSError, match="the disk is gone"):
        list(prefetch(iter(numbers)))
    items = prefetch(iter(Numbers(3, failing=True)))
    assert [next(items), next(items), next(items)] == [0, 1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)
    assert numbers.closed


def test_an_early_end_closes_the_generator_and_its_thread() -> None:
    before = threading.active_count()
    numbers = Numbers(10)
    items = prefetch(iter(numbers))
    assert next(items) == 0
    items.close()  # type: ignore[attr-defined]
    assert numbers.closed
    assert threading.active_count() == before
