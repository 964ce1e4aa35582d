"""What a terminal gives and gets: standard input, help by task and completion."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from modicum.cli import main
from modicum.cli.tasks import TASKS
from tests.sources.engines.makers import without

TEXT = "income,age\n" + "10,20\n" * 500


@pytest.fixture
def modicum(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command on bytes that are piped into it: the status, and what it says."""

    def run(*words: str, piped: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
        return main(words), *capsys.readouterr()

    return run


def test_a_process_reads_what_is_piped_into_it() -> None:
    words = [sys.executable, "-m", "modicum", "mean", "-", "income", "--epsilon", "100"]
    told = subprocess.run(words, input=TEXT.encode(), capture_output=True, check=True)
    assert told.stdout.startswith(b"mean of income: 10\n")


def test_standard_input_is_read_as_often_as_a_release_needs(modicum, tmp_path: Path) -> None:
    _, told, _ = modicum("mean", "-", "income", "--epsilon", "100", piped=TEXT.encode())
    assert told.startswith("mean of income: 10\n")
    table = tmp_path / "a.parquet"
    pd.read_csv(pd.io.common.StringIO(TEXT)).to_parquet(table)
    _, told, _ = modicum("count", "-", "--epsilon", "100", piped=table.read_bytes())
    assert told.startswith("count of rows: 500\n")
    semicolons = TEXT.replace(",", ";").encode()
    _, told, _ = modicum("mean", "-", "income", "--separator=;", "--epsilon=100", piped=semicolons)
    assert told.startswith("mean of income: 10\n")
    _, told, _ = modicum("check", "-", piped=semicolons)
    assert "standard input: CSV" in told
    assert "--separator ';'" in told


def test_standard_input_that_cannot_be_read(modicum) -> None:
    assert "its first line must name the columns" in modicum("check", "-")[2]
    status, _, told = modicum("count", "-", "--epsilon", "1", piped=b"PAR1secret")
    assert status == 2
    assert "could not be read" in told
    assert "secret" not in told


def test_nothing_piped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert main(["count", "-", "--epsilon", "1"]) == 2
    assert "nothing is piped into it" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["help"], ["--help"]])
def test_help_lists_every_verb_once_by_task(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    told = capsys.readouterr().out
    listed = [line.split()[0] for line in told.splitlines() if line.startswith("  ")]
    assert main(["nonsense"]) == 2
    verbs = capsys.readouterr().err.partition("choose from ")[2].partition(")")[0].split(", ")
    assert sorted(verb for tasks in TASKS.values() for verb in tasks) == sorted(verbs)
    assert all(listed.count(verb) == 1 for verb in verbs)
    assert max(map(len, told.splitlines())) <= 100


@pytest.mark.parametrize(("words", "verb"), [(["help", "mean"], "mean"), (["plan"], "plan")])
def test_help_of_a_verb(words: list[str], verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith(f"usage: modicum {verb} ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "trimmed-mean" in script
    assert "epsilon" in script


def test_completion_in_bash(modicum) -> None:
    pytest.importorskip("shtab")
    _, script, _ = modicum("completion", "bash")
    asked = """
COMP_WORDS=(modicum trim); COMP_CWORD=1; COMP_LINE="modicum trim"; COMP_POINT=12
_shtab_modicum modicum trim modicum; echo "${COMPREPLY[@]}"
"""
    words = ["bash", "-c", script + asked]
    told = subprocess.run(words, capture_output=True, check=True)
    assert told.stdout.split() == [b"trimmed-mean"]


def test_completion_needs_a_package(capsys: pytest.CaptureFixture[str]) -> None:
    with without("shtab"):
        assert main(["completion", "bash"]) == 2
    assert "pip install shtab" in capsys.readouterr().err
