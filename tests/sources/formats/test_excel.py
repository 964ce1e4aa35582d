"""Sheets of workbooks: every row is read, whatever the file says of its own size."""

import re
import zipfile
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest

import modicum as mo
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy
from modicum.sources.opening import open_source
from tests.seen import seen
from tests.sources.engines.makers import values

ROWS = [[i, f"word {i % 7}"] for i in range(300)]


def workbook(path: Path, **sheets: list) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def with_dimension(path: Path, reference: str | None) -> None:
    """Write what a sheet says of its size, as careless programs do."""
    element = b"" if reference is None else f'<dimension ref="{reference}"/>'.encode()
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name], times = re.subn(rb"<dimension[^>]*>", element, parts[name], count=1)
    assert times == 1
    with zipfile.ZipFile(path, "w") as file:
        for part, content in parts.items():
            file.writestr(part, content)


@pytest.mark.parametrize(
    "reference",
    [None, "A1", "A1:A11", "A1:B301", "A1:Z9999", "A1:A301", "B2:C9", "C5", "A:A", "1:9", "", "x"],
)
def test_no_row_is_lost_whatever_a_sheet_says_of_its_size(reference, tmp_path) -> None:
    path = workbook(tmp_path / "t.xlsx", data=[["x", "word"], *ROWS])
    with_dimension(path, reference)
    source = open_source(path)
    assert source.names == ("x", "word")
    assert values(source, "x").tolist() == list(range(300))
    assert len(values(source, None)) == 300


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'<row r="9"', b'<row r="8"'),
        (b'<row r="9"', b'<row r="3"'),
        (b'<row r="9"', b'<row r="0"'),
        (b'<row r="9"', b'<row r="-4"'),
        (b'<row r="301"', b'<row r="99999999999"'),
        (b'<c r="B9"', b'<c r="A9"'),
    ],
)
def test_a_sheet_whose_rows_or_cells_share_a_place_is_refused(old, new, tmp_path, capsys) -> None:
    """A reader that keeps one of them would lose the other in silence."""
    path = workbook(tmp_path / "t.xlsx", data=[["x", "word"], *ROWS])
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = "xl/worksheets/sheet1.xml"
    assert parts[name].count(old) == 1
    parts[name] = parts[name].replace(old, new)
    with zipfile.ZipFile(path, "w") as file:
        for part, content in parts.items():
            file.writestr(part, content)
    with pytest.raises(mo.SourceError, match=r"^the sheet 'data' is damaged: its rows"):
        mo.Curator(path, budget=mo.pure(1))
    assert main(["count", str(path), "--epsilon", "1"]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_hidden_and_merged_and_blank_rows_are_rows(tmp_path) -> None:
    path = workbook(tmp_path / "t.xlsx", data=[["x", "y"], [1, 2], [], [3, 4], [5, 6]])
    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet.row_dimensions[2].hidden = sheet.column_dimensions["B"].hidden = True
    sheet.merge_cells("A4:A5")
    book.save(path)
    assert values(open_source(path), "x").tolist() == pytest.approx(
        [1, float("nan"), 3, float("nan")], nan_ok=True
    )
    assert len(values(open_source(path), "y")) == 4


def test_a_sheet_is_named_or_numbered(tmp_path, capsys) -> None:
    path = workbook(
        tmp_path / "t.xlsx",
        readme=[["Only words"]],
        data=[["x"], *ROWS],
        **{"2": [["Table 2"], [], ["of 2026"], ["y"], [5.0], [7.0]]},
    )
    assert values(mo.excel_file(path, sheet="data"), "x").tolist() == list(range(300))
    assert values(mo.excel_file(path, sheet=2), "x").tolist() == list(range(300))
    assert values(mo.excel_file(path, sheet="2", skip=3), "y").tolist() == [5, 7]
    assert values(mo.excel_file(path, sheet=3, skip=4, columns=["z"]), "z").tolist() == [5, 7]
    counted = ["count", str(path), "--epsilon", "9", "--sheet"]
    for sheet, skip in (("data", []), ("2", ["--skip", "3"]), ("3", ["--skip", "3"])):
        assert main([*counted, sheet, *skip]) in {0, 3}
    assert "of rows" in capsys.readouterr().out
    for sheet in ("dta", "DATA ", 0, 4, -1, "x" * 500):
        with pytest.raises(mo.InvalidArgument, match="'readme', 'data', '2'"):
            mo.excel_file(path, sheet=sheet)
        assert main([*counted, str(sheet)]) == 2
    for wrong in ({"sheet": True}, {"sheet": None}, {"skip": -1}, {"skip": "1"}, {"skip": True}):
        with pytest.raises(mo.InvalidArgument, match="must be"):
            mo.excel_file(path, **wrong)
    with pytest.raises(
        mo.MissingColumn, match=r"skip=1.*'readme', and sheet=.* another: 'data', '2'"
    ):
        mo.mean(path, "x", epsilon=1)
    with pytest.raises(mo.InvalidArgument, match="must end in"):
        mo.excel_file(__file__)


def test_options_of_another_kind_of_file(tmp_path, capsys) -> None:
    path = workbook(tmp_path / "t.xlsx", data=[["x"], [1]])
    (tmp_path / "t.csv").write_text("x\n1\n")
    assert main(["count", str(path), "--epsilon", "9", "--separator", ";"]) == 2
    assert "no option of a workbook, which takes --sheet" in capsys.readouterr().err
    assert main(["count", str(tmp_path / "t.csv"), "--epsilon", "9", "--sheet", "a"]) == 2
    assert "no option of a CSV file" in capsys.readouterr().err


DATE = 's="{style}" t="n"'
ODD_CELLS = {
    "date beyond 9999": ("B3", f"<c r='B3' {DATE}><v>1e10</v></c>"),
    "date before 1900": ("B3", f"<c r='B3' {DATE}><v>-1e12</v></c>"),
    "date that is none": ("B3", f"<c r='B3' {DATE}><v>nan</v></c>"),
    "text of a date": ("B3", "<c r='B3' t='d'><v>hello</v></c>"),
    "date of no month": ("B3", "<c r='B3' t='d'><v>2024-13-45T00:00:00</v></c>"),
    "400 digits": ("A3", f"<c r='A3' t='n'><v>{'9' * 400}</v></c>"),
    "5,000 digits": ("A3", f"<c r='A3' t='n'><v>{'9' * 5000}</v></c>"),
    "infinite": ("A3", "<c r='A3' t='n'><v>1e400</v></c>"),
    "words": ("A3", "<c r='A3' t='n'><v>abc</v></c>"),
    "truth": ("A3", "<c r='A3' t='b'><v>yes</v></c>"),
    "error": ("A3", "<c r='A3' t='e'><v>#N/A</v></c>"),
    "no such text": ("C3", "<c r='C3' t='s'><v>999</v></c>"),
    "other type": ("A3", "<c r='A3' t='zz'><v>1</v></c>"),
    "nothing": ("A3", "<c r='A3'/>"),
}


@pytest.mark.parametrize("name", ODD_CELLS)
def test_no_cell_of_a_sheet_keeps_others_from_being_read(name, tmp_path) -> None:
    """An error or a warning of the package would say that somebody has such a cell."""
    rows = [["x", "when", "word"], *([1.5, datetime(2024, 1, 1 + i), "a"] for i in range(5))]  # noqa: DTZ001
    (tmp_path / "odd").mkdir()
    plain = workbook(tmp_path / "t.xlsx", data=rows)
    odd = tmp_path / "odd" / "t.xlsx"
    cell, text = ODD_CELLS[name]
    with zipfile.ZipFile(plain) as file, zipfile.ZipFile(odd, "w") as other:
        for part in file.namelist():
            content = file.read(part)
            if part.endswith("sheet1.xml"):
                style = re.search(rb'<c r="B3" s="(\d+)"', content)[1].decode()
                new = text.replace("{style}", style).encode()
                content, times = re.subn(b'<c r="%s".*?</c>' % cell.encode(), new, content)
                assert times == 1
            other.writestr(part, content)

    def ask(column):
        def asked(path):
            curator = mo.Curator(path, budget=mo.pure(1), entropy=SeededEntropy(name))
            return curator.count(column, epsilon=1), repr(curator.charges)

        return asked

    for column in rows[0]:
        known = seen(ask(column), plain)
        assert "error" not in known
        assert known.unlike(seen(ask(column), odd, known.outcomes)) == ""
    assert len(values(open_source(odd), None)) == 5
