"""What is said of files that are no CSV or Parquet files, and of CSV files written otherwise."""

import os

import pytest

import modicum as mo
from modicum.errors import (
    InvalidArgument,
    MissingColumn,
    ModicumError,
    SourceError,
    UnsupportedData,
)
from modicum.frames.source import open_source

ADVICE = {
    "a.xlsx": "pandas.read_excel",
    "a.XLS": "pandas.read_excel",
    "a.dta": "pandas.read_stata",
    "a.sas7bdat": "pandas.read_sas",
    "a.sav": "pandas.read_spss",
    "a.feather": "pyarrow.dataset",
    "a.orc": "pyarrow.dataset",
    "a.json": "pandas.read_json",
    "a.ndjson": "polars.scan_ndjson",
    "a.csv.gz": "unpack it first",
    "a.parquet.zip": "unpack it first",
    "a.db": "ibis.sqlite.connect",
    "a.duckdb": "duckdb.connect",
    "a.txt": "modicum.csv_file",
    "a.rds": "arrow::write_parquet",
    "a.what": "must name one .csv or .tsv file",
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
