"""Errors on the command line speak of options, and not of arguments in Python."""

from pathlib import Path

import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main
from modicum.cli.wording import on_the_command_line

LEDGER = "--ledger=sqlite:///budget.db"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("people.csv")
    path.write_text("age\n" + "41\n" * 2000)
    pd.DataFrame({"age": [41.0] * 2000, "region": "North"}).to_parquet("typed.parquet")
    Path("a.html").write_text("x")
    assert main(["ledger", "create", "p", "--epsilon", "9", LEDGER]) == 0
    return path


@pytest.mark.parametrize(
    ("words", "said", "unsaid"),
    [
        (["histogram", "people.csv", "age", "--epsilon", "1"], "--edges, or --bins", "bins="),
        (
            [*("mean", "people.csv", "age"), *("--rho", "1"), "--account", "p", LEDGER],
            "use --epsilon, or charge an account that was made with --rho",
            "curator",
        ),
        (["plan", "mean", "--sd", "1"], "or --rho), --n and --error give exactly two", "n="),
        (
            ["mean", "people.csv", "age", "--epsilon", "1", "--report", "a.html"],
            "--overwrite replaces it",
            "True",
        ),
    ],
)
def test_errors_name_options(people: Path, capsys, words, said, unsaid) -> None:
    capsys.readouterr()
    assert main(words) == 2
    told = capsys.readouterr().err
    assert said in told
    assert unsaid not in told


def test_a_guess_stands_alone(capsys) -> None:
    assert main(["average", "people.csv", "age", "--epsilon", "1"]) == 2
    told = capsys.readouterr().err
    assert "did you mean 'mean'?" in told
    assert "choose from" not in told
    assert main(["qqq", "people.csv"]) == 2
    assert "choose from mean, sum" in capsys.readouterr().err


def test_a_description_names_options(people: Path, capsys) -> None:
    assert main(["describe", "people.csv", "--epsilon", "9"]) == 0
    told = capsys.readouterr().out
    assert "--json has the 95 % interval of every number" in told
    assert "frame()" not in told
    assert main(["describe", "typed.parquet", "--epsilon", "9"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "not described: region. Columns of labels need an (ε, δ) budget, such as" in told
    assert "such as --epsilon 2 --delta 1e-6" in told
    assert "budget=" not in told
    typed = mo.Curator("typed.parquet", budget=mo.pure(9)).describe(epsilon=9)
    assert "such as budget=modicum.approx(2, '1e-6')" in " ".join(str(typed).split())


def test_a_file_of_questions_has_fields(people: Path, capsys) -> None:
    question = '[[question]]\nname = "a"\nstatistic = "mean"\ncolumn = "age"\nepsilon = 1\n'
    Path("a.toml").write_text(f'{question}method = "bounded"\n')
    assert main(["run", "a.toml", "--plan"]) == 2
    assert "needs within=" in capsys.readouterr().err


def test_texts_of_the_user_stay() -> None:
    options = {"--n", "--age"}
    for text in ("'age=3' is no name", "`n=5`", "x>=3", "f(n=3)", "2n=3", "age == 3"):
        assert on_the_command_line(text, options) == text
    assert on_the_command_line("columns=['a'] (--columns A)", options) == "--columns A"
