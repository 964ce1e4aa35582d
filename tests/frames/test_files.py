"""Parquet files, folders and patterns."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modicum.errors import InvalidArgument, SourceError
from modicum.frames.source import open_source
from tests.frames.engines import file_of, folder_of, same, table_of, values, without

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


def test_folder_names_make_no_columns(opened, tmp_path) -> None:
    (tmp_path / "year=2024").mkdir()
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "year=2024" / "a.parquet")
    with pytest.raises(KeyError, match="columns: 'x'"):
        opened(tmp_path).check("year")


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
    (tmp_path / "rows.xlsx").write_text("")
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("x\n1\n")
    for path in (tmp_path / "rows.xlsx", tmp_path / "*.csv", "", tmp_path / "*"):
        with pytest.raises(InvalidArgument):
            open_source(path)


def test_files_that_do_not_go_together(opened, tmp_path) -> None:
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    for other in ({"x": ["2.0"]}, {"x": ["secret"]}, {"y": [2.0]}):
        pq.write_table(pa.table(other), tmp_path / "b.parquet")
        with pytest.raises(SourceError) as caught:
            values(opened(tmp_path))
        assert "secret" not in str(caught.value)


def test_no_engine_at_all(tmp_path) -> None:
    path = file_of(table_of(pa.array([1.0])), tmp_path)
    with (
        without("pyarrow", "polars", "duckdb"),
        pytest.raises(SourceError, match=r"pip install 'modicum\[arrow\]'"),
    ):
        open_source(path)


def test_path_objects(tmp_path) -> None:
    pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / "UPPER.PARQUET")

    class Named(os.PathLike):
        def __fspath__(self) -> str:
            return str(tmp_path / "UPPER.PARQUET")

    assert same(values(Named()), [1])
    assert same(values(Path(Named())), [1])
