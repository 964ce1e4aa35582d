"""Progress appears on a terminal only, late, rounded, and leaves nothing behind."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import modicum
from modicum.frames import reader
from modicum.frames.reader import watched


class Terminal(io.StringIO):
    def __init__(self, *, tty: bool = True) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]

    def monotonic() -> float:
        now[0] += 0.05
        return now[0]

    monkeypatch.setattr(reader.time, "monotonic", monotonic)
    return now


def shown(monkeypatch: pytest.MonkeyPatch, terminal: Terminal, items: int) -> str:
    monkeypatch.setattr("sys.stderr", terminal)
    assert list(watched(((1234, i) for i in range(items)), "reading", "rows")) == [*range(items)]
    return terminal.getvalue()


@pytest.mark.usefixtures("clock")
def test_a_line_that_is_rewritten_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Terminal(), 200)
    lines = [part.strip() for part in text.split("\r")]
    assert len(lines) > 10
    assert lines[1] == "modicum: reading, 49,000 rows so far"
    assert all(part.split()[2].rstrip(",").endswith("000") for part in lines[1:-2])
    assert lines[-2:] == ["", ""]
    assert "\n" not in text
    assert len(text.split("\r")[-2]) == len(text.split("\r")[-3].rstrip())  # covers what was there


@pytest.mark.usefixtures("clock")
def test_silence_for_short_work_without_a_terminal_and_when_turned_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shown(monkeypatch, Terminal(), 10) == ""
    assert shown(monkeypatch, Terminal(tty=False), 200) == ""
    monkeypatch.setenv("MODICUM_PROGRESS", "off")
    assert shown(monkeypatch, Terminal(), 200) == ""
    monkeypatch.setattr("sys.stderr", None)
    assert list(watched([(1, "a")], "reading", "rows")) == ["a"]


@pytest.mark.usefixtures("clock")
def test_the_line_is_erased_when_reading_stops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    items = watched(((1, i) for i in range(1000)), "reading", "rows")
    for _ in range(100):
        next(items)
    items.close()  # type: ignore[attr-defined]
    assert terminal.getvalue().endswith("\r")


@pytest.mark.usefixtures("clock")
def test_a_release_shows_its_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(reader, "_QUIET_SECONDS", 0.0)
    modicum.mean(np.arange(200_000.0), within=(-1e9, 1e9), epsilon=1)
    assert "modicum: reading, 65,000 rows so far" in terminal.getvalue()


@pytest.mark.usefixtures("clock")
def test_groups_are_drawn_under_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("modicum.runners.groups._BLOCK", 2)
    table = pd.DataFrame({"g": range(100), "x": 1.0})
    curator = modicum.Curator(table, budget=modicum.pure(1))
    curator.group_by("g", keys=list(range(100))).count(epsilon=1)
    assert "modicum: drawing, 80 groups so far" in terminal.getvalue()
    assert terminal.getvalue().split("\r")[-1] == ""


@pytest.mark.usefixtures("clock")
def test_silence_in_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(shown, monkeypatch, Terminal(), 200).result() == ""
