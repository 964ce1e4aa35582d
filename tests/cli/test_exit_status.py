"""Exit status 3: an answer was released, and cannot be used."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from modicum import __main__ as command
from modicum.cli import main

RANGE = "--within=-1e9,1e9"
COST = ["--epsilon", "1"]


@pytest.fixture
def people(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    rows = [f"{x:.2f},{'many' if i > 3 else 'few'},x" for i, x in enumerate(rng.normal(5, 1, 9000))]
    path.write_text("\n".join(["income,group,name", *rows]) + "\n")
    return str(path)


def status_and_text(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    status = main(argv)
    out, err = capsys.readouterr()
    assert err == ""
    return status, out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["median", "income", RANGE], 0),
        (["median", "name", RANGE], 3),
        (["mean", "name", RANGE], 3),
        (["trimmed-mean", "name", RANGE, "--trim", "0.1"], 3),
        (["quantiles", "income", RANGE, "--q", "0.2,0.5"], 0),
        (["quantiles", "name", RANGE, "--q", "0.2,0.5"], 3),
        (["cdf", "name", "--points", "1,2"], 3),
        (["covariance", "income,name", RANGE], 3),
        (["count", "name"], 0),
        (["median", "income", RANGE, "--by", "group", "--keys", "few,many"], 0),
        (["median", "income", RANGE, "--by", "group", "--keys", "few,none"], 3),
    ],
)
def test_the_status_says_whether_an_answer_can_be_used(
    words: list[str], status: int, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, column, *options = words
    argv = [verb, people, column, *options, *COST]
    found, text = status_and_text(capsys, *argv)
    assert found == status
    assert ("usable answer" in text) == (status == 3 or "few,many" in words)
    found, text = status_and_text(capsys, *argv, "--json")
    assert found == status
    assert json.loads(text)["usable"] == (status == 0)


def test_groups_in_json_say_it_one_by_one(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["median", people, "income", RANGE, "--by", "group", "--keys", "few,many", *COST]
    groups = json.loads(status_and_text(capsys, *argv, "--json")[1])["groups"]
    assert [group["release"]["usable"] for group in groups] == [False, True]
    assert groups[1]["release"]["code"] == "ok" != groups[0]["release"]["code"]


def test_a_column_of_text_names_the_reason(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = [status_and_text(capsys, "median", people, "name", RANGE, *COST) for _ in range(6)]
    assert {status for status, _ in found} == {3}
    assert any("no usable answer (no_values)" in text for _, text in found)


def test_a_recorded_answer_has_the_same_status(
    people: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = ["--ledger", f"sqlite:///{tmp_path}/b.db", "--account", "p"]
    assert status_and_text(capsys, "ledger", "create", *ledger, "--epsilon", "9")[0] == 0
    argv = ["median", people, "name", RANGE, *COST, *ledger, "--key", "today"]
    first, again = (status_and_text(capsys, *argv) for _ in range(2))
    assert first == again
    assert first[0] == 3


def test_a_plan_has_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["plan", "median", RANGE, "--sd", "1", "--n", "20", *COST]
    status, text = status_and_text(capsys, *argv)
    assert status == 0
    assert "too little data" in text.replace("\n", " ")
    assert "modicum check" not in text


def test_help_tells_the_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = status_and_text(capsys, "--help")
    assert status == 0
    assert "  3  released and charged, but the answer cannot be used" in text


def test_an_interrupt_while_importing_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr("builtins.__import__", interrupted)
        status = command.main()
    assert status == 130


def test_the_command_imports_nothing_before_it_heeds_an_interrupt() -> None:
    """The entry point is this module, and it costs none of the imports that take time."""
    script = "import sys, modicum.__main__; print('numpy' in sys.modules)"
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupted_process_says_nothing(tmp_path: Path) -> None:
    """A module that waits stands for slow imports; the signal comes while it does."""
    (tmp_path / "numpy.py").write_text(
        "import time\nprint('importing', flush=True)\ntime.sleep(60)"
    )
    # A shell starts what runs in the background with this signal ignored, and so its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [sys.executable, "-m", "modicum", "plan", "count", *COST],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:{Path(command.__file__).parents[1]}"},
    ) as done:
        signal.signal(signal.SIGINT, before)
        assert done.stdout is not None
        assert done.stdout.readline() == "importing\n"
        done.send_signal(signal.SIGINT)
        assert done.communicate(timeout=30) == ("", "")
    assert done.returncode == 130


@pytest.mark.parametrize("given", [None, "2"])
def test_a_command_starts_no_threads_for_products_unless_it_is_told(tmp_path, given) -> None:
    (tmp_path / "numpy.py").write_text(
        "import os\nprint(os.environ['OPENBLAS_NUM_THREADS'])\n1 / 0"
    )
    path = {"PYTHONPATH": f"{tmp_path}:{Path(command.__file__).parents[1]}"}
    told = {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    words = [sys.executable, "-m", "modicum", "plan", "count", *COST]
    done = subprocess.run(words, capture_output=True, text=True, env=path | told, check=False)
    assert done.stdout == f"{given or 1}\n"
