"""Files of other programs and compressed text: copied into a CSV file, and read as one."""

import bz2
import gc
import gzip
import io
import lzma
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main
from modicum.errors import SourceError
from modicum.sources.base import Source
from modicum.sources.formats import copied
from modicum.sources.formats.copied import Copy
from modicum.sources.opening import open_source
from tests.sources.engines.makers import labels_of, values, without

ROWS = [(34, 41000.5, "North"), (51, None, "South"), (18, -3.0, None), (77, 1e300, "a,\nb")]
NAMES = ["age", "income", "region"]
CSV = 'age,income,region\n34,41000.5,North\n51,,South\n18,-3,\n77,1e+300,"a,\nb"\n'


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def texts(source: Source, column: str) -> list[str | None]:
    codes, labels = labels_of(source, column)
    return [None if code < 0 else labels[code] for code in codes]


def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=NAMES)


def workbook(path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([], NAMES, *ROWS):
        book.active.append(row)
    book.create_sheet("more").append(["other"])
    book.save(path)


def statistics(path: Path) -> None:
    spss = pytest.importorskip("pyreadstat")
    writer = {".dta": spss.write_dta, ".xpt": spss.write_xport}.get(path.suffix, spss.write_sav)
    table = frame()
    if path.suffix == ".xpt":  # whose numbers end at 7e75
        table.loc[3, "income"] = 1e70
    writer(table, path)


def packed(path: Path) -> None:
    pack = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}[path.suffix]
    with pack(path, "wt", newline="") as file:
        file.write(
            CSV.replace(",", "\t").replace("a\t\nb", "a,\nb") if ".tsv" in path.name else CSV
        )


def arrow(path: Path) -> None:
    if path.suffix == ".orc":
        frame().to_orc(path)
    else:
        frame().to_feather(path)


WRITERS = {
    "a.xlsx": workbook,
    "A.XLSM": workbook,
    "a.dta": statistics,
    "a.xpt": statistics,
    "a.sav": statistics,
    "a.csv.gz": packed,
    "a.csv.bz2": packed,
    "a.tsv.xz": packed,
    "a.feather": arrow,
    "a.arrow": arrow,
    "a.orc": arrow,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_reads_as_its_table(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    source = open_source(path)
    assert list(source.names) == NAMES
    most = 1e70 if name == "a.xpt" else 1e300
    np.testing.assert_array_equal(values(source, "age"), [34, 51, 18, 77])
    np.testing.assert_allclose(values(source, "income"), [41000.5, np.nan, -3, most], rtol=1e-14)
    assert texts(source, "region") == ["North", "South", None, "a,\nb"]
    assert mo.count(path, "income", epsilon=1).engine in {"csv", "pyarrow"}


def test_a_copy_is_its_owners_and_is_deleted(tmp_path: Path, temporary: Path) -> None:
    path = tmp_path / "a.csv.gz"
    packed(path)
    source = open_source(path)
    (copy,) = temporary.iterdir()
    assert copy.stat().st_mode & 0o077 == 0
    del source
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_a_copy_is_deleted_when_the_process_ends(tmp_path: Path, temporary: Path) -> None:
    path = tmp_path / "a.csv.gz"
    packed(path)
    code = f"""
import os, tempfile
from modicum.sources.opening import open_source
tempfile.tempdir = {str(temporary)!r}
kept = open_source({str(path)!r})
assert len(os.listdir(tempfile.tempdir)) == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in WRITERS if name.lower() != "a.arrow"])
def test_a_broken_file_is_named_and_nothing_of_it(
    name: str, tmp_path: Path, temporary: Path
) -> None:
    whole = tmp_path / name
    WRITERS[name](whole)
    path = tmp_path / f"broken{''.join(whole.suffixes)}"
    for content in (b"secret", whole.read_bytes()[: whole.stat().st_size // 2]):
        path.write_bytes(content)
        with pytest.raises(SourceError) as caught:
            values(open_source(path), "age")
        assert str(caught.value) == f"{path.name!r} could not be read"
        assert caught.value.__context__ is None
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("name", "package"), [("a.xlsx", "openpyxl"), ("a.sav", "pyreadstat")])
def test_what_is_missing_is_named(name: str, package: str, tmp_path: Path, temporary: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    with without(package), pytest.raises(SourceError) as caught:
        open_source(tmp_path / name)
    assert str(caught.value) == f"reading {name!r} needs {package}: pip install {package}"
    (tmp_path / "a.feather").write_bytes(b"")
    with without("pyarrow"), pytest.raises(SourceError, match=r"needs PyArrow: pip install"):
        open_source(tmp_path / "a.feather")
    assert list(temporary.iterdir()) == []


def test_a_full_disk_is_named(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    packed(tmp_path / "a.csv.gz")
    monkeypatch.setattr(copied.shutil, "copyfileobj", full)
    with pytest.raises(SourceError, match=r"no room for a copy of 'a.csv.gz' .* TMPDIR"):
        open_source(tmp_path / "a.csv.gz")
    assert list(temporary.iterdir()) == []


def test_no_date_and_no_neighbour_changes_how_a_cell_is_read(tmp_path: Path) -> None:
    spss = pytest.importorskip("pyreadstat")
    day = 86_400.0 * (date(2024, 5, 1) - date(1582, 10, 14)).days
    days = [day, day + 3600.0, np.nan, 1e300, -1e300]
    whole = [3.0, np.nan, 4.0, 5.5, 6.0]
    formats = {"day": "DATE11", "when": "DATETIME20"}
    table = pd.DataFrame({"day": days, "when": days, "code": whole})
    spss.write_sav(table, tmp_path / "a.sav", variable_format=formats)
    source = open_source(tmp_path / "a.sav")
    told = ["2024-05-01", "2024-05-01T01:00:00", None, None, None]
    assert texts(source, "day") == told
    assert texts(source, "when") == told
    assert texts(source, "code") == ["3", None, "4", "5.5", "6"]


@pytest.mark.parametrize("name", ["e.sav", "e.dta", "e.xlsx", "e.csv.gz"])
def test_no_rows(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        book.active.append(["x", "y"])
        book.save(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(b"x,y\n"))
    else:
        spss = pytest.importorskip("pyreadstat")
        writer = spss.write_sav if path.suffix == ".sav" else spss.write_dta
        writer(pd.DataFrame({"x": np.array([], float), "y": np.array([], float)}), path)
    assert mo.mean(path, "x", epsilon=1).code == "no_values"


def test_a_stream_is_copied(temporary: Path) -> None:
    copy = Copy.of_stream(io.BytesIO(b"x\n1\n"), "standard input")
    assert Path(copy.path).read_bytes() == b"x\n1\n"
    assert Path(copy.path).parent == temporary


def test_a_workbook_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workbook(tmp_path / "a.xlsx")
    assert main(["count", str(tmp_path / "a.xlsx"), "--epsilon", "100"]) == 0
    assert capsys.readouterr().out.startswith("count of rows: 4\n")
    assert main(["check", str(tmp_path / "a.xlsx")]) == 0
    assert "region" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a.dta", "old.dta", "a.sav", "a.xpt"])
@pytest.mark.parametrize("odd", [b"ab\xe9f", b"a\xff\xfef", b"\xf0\x9f\x98f", b"a\x81\x8ff"])
def test_text_in_another_encoding_does_not_keep_a_file_from_being_read(name, odd, tmp_path) -> None:
    """The package stops at it, which would say that somebody has such text."""
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pd.DataFrame({"x": [1.5, 2.5, 3.5], "t": ["abcd", "abce", "abcf"]})
    path = tmp_path / name
    kind = "xport" if path.suffix == ".xpt" else path.suffix[1:]
    options = {"version": 10 if name == "old.dta" else 15} if kind == "dta" else {}
    getattr(pyreadstat, f"write_{kind}")(table, str(path), **options)
    content = path.read_bytes()
    assert content.count(b"abcf") == 1
    path.write_bytes(content.replace(b"abcf", odd))
    source = open_source(path)
    assert values(source, "x").tolist() == [1.5, 2.5, 3.5]
    encoding = "cp1252" if name == "old.dta" else "utf-8"
    assert texts(source, "t") == ["abcd", "abce", odd.decode(encoding, "replace")]


def test_a_whole_number_beyond_float64_is_written_as_infinite() -> None:
    assert [copied._cell(each) for each in (10**400, -(10**400), 2**60)] == [
        "inf",
        "-inf",
        "1.152921504606847e+18",
    ]
