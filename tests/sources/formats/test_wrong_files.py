"""A file of another kind, or without a header: no error, log or traceback has a cell of it."""

import logging
import traceback
import warnings
from pathlib import Path

import pytest

import modicum as mo
from modicum.cli import main
from modicum.sources.formats.file_kinds import other_kind
from tests.sources.formats.wrong_files import KINDS, wrong_file

NAMES = ("x", "income", "age", "town")
TOLD = {
    "parquet": "Parquet",
    "arrow": "Arrow",
    "orc": "ORC",
    "workbook": "workbook of Excel",
    "sqlite": "SQLite",
    "json": "JSON",
    "sixteen bits": "UTF-",
}


def _texts(path: Path, seed: int) -> list[str]:
    """Everything that is said when questions are asked of a file."""
    name = NAMES[seed % len(NAMES)]
    calls = [
        lambda: mo.mean(path, name, within=(0, 9), epsilon=1),
        lambda: mo.Curator(path, budget=mo.pure(9)).where(f"{name} > 1").count(epsilon=1),
        lambda: mo.Curator(path, budget=mo.pure(9)).group_by(name, keys=["a"]).count(epsilon=1),
        lambda: mo.mean(mo.csv_file(path, skip=seed % 2), name, epsilon=1),
        lambda: mo.linear_regression(path, [name], target="zzz", within=None, epsilon=1),
        lambda: mo.mean(path, epsilon=1),
    ]
    said = []
    for call in calls:
        try:
            call()
        except mo.ModicumError as error:
            said += [str(error), repr(error), "".join(traceback.format_exception(error))]
    return said


def check_file(seed: int, folder: Path, capsys, caplog) -> str:
    """Ask, and look for cells; return what was said first."""
    path, kind, cells = wrong_file(seed, folder)
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        said = _texts(path, seed)
        assert main(["mean", str(path), NAMES[seed % len(NAMES)], "--epsilon", "1"]) == 2
        if TOLD.get(kind):
            assert main(["check", str(path)]) == 2
    out = capsys.readouterr()
    whole = "\n".join([*said, out.out, out.err, caplog.text, *map(str, caught)])
    seen = [each for each in cells if len(each) > 3 and each in whole]
    assert not seen, (seed, kind, seen[:3], said[0])
    assert TOLD.get(kind, "") in said[0], (seed, kind, said[0])
    path.unlink()
    return said[0]


@pytest.mark.parametrize("seed", range(3 * len(KINDS)))
def test_no_cell_of_a_wrong_file_is_shown(seed, tmp_path, capsys, caplog) -> None:
    check_file(seed, tmp_path, capsys, caplog)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_no_cell_of_two_thousand_wrong_files_is_shown(first, tmp_path, capsys, caplog) -> None:
    for seed in range(first, first + 100):
        check_file(seed, tmp_path, capsys, caplog)


@pytest.mark.parametrize(
    "header",
    [
        "id,income",
        "ORCID,name",
        "PAR1,PAR2",
        "<TICKER>,<PER>,<DATE>",
        "[id],[name]",
        "{id},x",
        "Object,x",
        "X",
        "\ufeffid;größe",
        "# id,x",
        "%change,x",
        "sep=;",
        "SQLite,x",
        "-----,x",
        "a\tb",
    ],
)
def test_headers_are_no_other_kind(header) -> None:
    assert other_kind(f"{header}\n1,2\n".encode()) is None


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("ORC", "\x01"),
        ("ORC", "1"),
        ("X", "\0\0\0\2"),
        ("income", "\nDUCKX" + "\0" * 7),
        ("a", "\0b\0c\0d\0"),
        ("PK", "[Content_Types].xml"),
        ("RDX2", "1"),
    ],
)
def test_no_row_decides(header, row) -> None:
    assert other_kind(f"{header}\n{row}\n".encode()) == other_kind(f"{header}\n".encode())


@pytest.mark.parametrize("header", ["a\x1fb", "a\x01b"])
def test_control_characters_may_be_separators(header) -> None:
    data = f"{header}\n1{header[1]}2\n".encode()
    assert other_kind(data, header[1]) is None
    assert "control characters" in str(other_kind(data))


def test_names_of_a_header_are_shown_and_others_counted(tmp_path) -> None:
    path = tmp_path / "people.csv"

    def said(header: str, name: str) -> str:
        path.write_text(f"{header}\n{'a,' * header.count(',')}b\n")
        with pytest.raises(mo.ModicumError) as caught:
            mo.mean(path, name, epsilon=1)
        return str(caught.value)

    assert "columns: 'id', 'income', 'region'" in said("id,income,region", "zzz")
    assert "did you mean 'income'?" in said("id,income,region", "incom")
    assert "did you mean 'kvwxyz'?" in said("abc,kvwxyz", "kvwxy")
    assert "did you mean 'Kv'?" in said("abc,Kv", "kv")
    unsure = said("Anna,Bern,A41", "income")
    assert "has 3 columns, which `modicum check` lists" in unsure
    assert "--columns NAME,NAME,..." in unsure
    assert "Anna" not in unsure
    for row, kind in {
        "Anna,1985-03-02": "dates",
        "Anna,12:30": "times",
        "Anna,ann@example.org": "addresses",
        "Anna,5 kg": "numbers",
        "Anna,<5": "numbers",
        "Anna,0041 79 123": "numbers",
    }.items():
        text = said(row, "Ann")
        assert f"holds {kind}: if it is not a header" in text
        assert "Anna" not in text
    assert "say comment='#'" in said("#Anna,Bern", "income")
    path.write_bytes("straße9,größe9\n".encode("cp1252"))
    with pytest.raises(mo.MissingColumn, match="encoding='cp1252'"):
        mo.mean(path, "x", epsilon=1)


def test_a_first_line_of_data_is_not_described_as_names(tmp_path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Anna,1985-03-02\nBert,1985-03-03\n" * 50)
    with pytest.raises(mo.InvalidArgument, match=r"holds dates.*or name those to describe"):
        mo.describe(path, epsilon=1)
    shown = mo.Curator(path, budget=mo.pure(1))._repr_html_()
    assert "Anna" not in shown
    assert "2, not shown" in shown
