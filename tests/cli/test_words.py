"""Words of a command that are not what was meant: what should be typed, and nothing is written."""

from pathlib import Path

import pytest

from modicum.cli import main

ROWS = "age,ward\n" + "40,ICU\n50,ER\n" * 300


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], command: str) -> str:
    assert main(command.split()) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("mean a.csv age epsilon=1", "'epsilon=1' is written '--epsilon 1'"),
        ("mean a.csv age within=0,120 --epsilon 1", "'within=0,120' is written '--within 0,120'"),
        ("crosstab a.csv ward epsilon=1", "'epsilon=1' is written '--epsilon 1'"),
        ("mean-vector a.csv age key=x --rho 1", "'key=x' is written '--key x'"),
        ("count a.csv unit_column=age --epsilon 1", "is written '--unit-column age'"),
        ("quantile a.csv age q=0.5 --epsilon 1", "'q=0.5' is written '--q 0.5'"),
        ("mean a.csv b.csv age --epsilon 1", "as a pattern in quotes, such as 'data/*.csv'"),
    ],
)
def test_what_should_be_typed(folder, capsys, command: str, word: str) -> None:
    assert word in told(capsys, command)


def test_a_value_with_an_equals_sign_is_one(folder, capsys) -> None:
    command = ["mean", "a.csv", "icu", "--epsilon", "9", "--within", "0,1", "--with"]
    assert main([*command, "icu=ward == 'ICU'"]) == 0
    assert main([*command[:1], "a.csv", "key", *command[3:], "key=ward == 'ICU'"]) == 0
    assert "mean of key" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["x.xlsx", "x.html", "x.json", "x.parquet", "X.XLSX", "x.pdf"])
def test_a_table_is_written_as_csv(folder, capsys, name: str) -> None:
    error = told(capsys, f"mean a.csv age --epsilon 9 --publish {name}")
    assert "write x.csv" in error.lower()
    assert not (folder / name).exists()
    name = name.replace("html", "csv")
    error = told(capsys, f"mean a.csv age --epsilon 9 --report {name}")
    assert "write x.html" in error.lower()
    assert main(f"mean a.csv age --epsilon 9 --publish {folder / 'numbers'}".split()) == 0
