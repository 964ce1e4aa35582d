"""A ledger that another process holds: those who wait say so, and end with what to do."""

import io
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import modicum as mo
from modicum.cli import main
from modicum.privacy.ledger import sqlite


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path / 'budget.db'}"
    mo.Ledger.create(found).open_account("patients", mo.pure(3))
    return found


@pytest.fixture
def holder(tmp_path: Path, url: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(
        tmp_path / "budget.db", isolation_level=None, check_same_thread=False
    )
    connection.execute("BEGIN EXCLUSIVE")
    yield connection
    connection.close()


@pytest.mark.parametrize("words", [["show"], ["grant", "patients", "--epsilon", "1"], ["verify"]])
def test_whoever_waits_in_vain_says_so(url, holder, monkeypatch, words) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.4)
    monkeypatch.setattr(sqlite, "_SILENT", 0.05)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["ledger", *words, "--ledger", url]) == 2
    told = terminal.getvalue()
    assert told.startswith("modicum: waiting for another process that holds the ledger sqlite:")
    assert "another process held it for 0.4 s: run again when that one is done" in told
    assert "nothing was written or released" in told


def test_a_ledger_that_is_left_in_time(url, holder, monkeypatch) -> None:
    monkeypatch.setattr(sqlite, "_SILENT", 0.05)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    timer = threading.Timer(0.3, holder.execute, ["ROLLBACK"])
    timer.start()
    assert main(["ledger", "grant", "patients", "--epsilon", "1", "--ledger", url]) == 0
    timer.join()
    assert terminal.getvalue().count("waiting for another process") == 1


def test_nothing_is_said_to_a_log_or_of_a_free_ledger(url, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sqlite, "_SILENT", 0.0)
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.2)
    with sqlite3.connect(tmp_path / "budget.db", isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert main(["ledger", "show", "--ledger", url]) == 2
    assert "waiting" not in capsys.readouterr().err
    monkeypatch.setattr(sqlite, "_SILENT", 60.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["ledger", "show", "--ledger", url]) == 0
    assert terminal.getvalue() == ""
    timers = [each for each in threading.enumerate() if isinstance(each, threading.Timer)]
    for each in timers:  # they end when they are cancelled, and not after a minute
        each.join(10)
    assert not any(each.is_alive() for each in timers)


def test_files_and_folders_that_are_no_ledger(tmp_path) -> None:
    path = tmp_path / "junk.db"
    path.write_bytes(b"no data base at all" * 100)
    with pytest.raises(mo.LedgerError, match="is no ledger, or damaged"):
        mo.Ledger(f"sqlite:///{path}").accounts()
    with pytest.raises(mo.InvalidArgument, match="is a folder, and a ledger is a file in one"):
        mo.Ledger(f"sqlite:///{tmp_path}").accounts()
    with pytest.raises(mo.InvalidArgument, match=r"there is no folder '.*nodir'"):
        mo.Ledger.create(f"sqlite:///{tmp_path}/nodir/budget.db")
