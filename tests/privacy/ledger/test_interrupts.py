"""Ctrl-C at any step: nothing stays locked or is lost, and every charge is known."""

import random
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest

import modicum as mo
from modicum.privacy.budget import Budget
from tests.privacy import interrupts

# Where Ctrl-C comes while an object is freed, Python says so and goes on: the next one is heard.
# The driver of a server warns of a connection that was freed while it was made.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)
ROWS = list(range(100))
COST = "0.001"


def curator_of(store: str, request, tmp_path) -> mo.Curator:
    if store == "memory":
        return mo.Curator(ROWS, budget=mo.pure(1000))
    url = f"sqlite:///{tmp_path}/budget.db"
    if store == "postgresql":
        url = request.getfixturevalue("database")
    mo.Ledger.create(url).open_account("p", mo.pure(1000))
    return mo.Curator(ROWS, ledger=url, account="p")


def check_free(store: str, path: Path) -> None:
    """Another process could charge now."""
    if store == "sqlite":
        other = sqlite3.connect(path, timeout=0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.close()


def charged(curator: mo.Curator) -> Budget:
    return sum((each.cost for each in curator.charges), start=mo.pure(1) - mo.pure(1))


def check_after(curator: mo.Curator, store: str, path: Path, error: BaseException | None) -> None:
    """What an interrupt must leave, while all frames that it went through are still there."""
    assert error is None or type(error) is KeyboardInterrupt
    check_free(store, path)
    if store == "memory":
        assert len(curator.charges) * mo.pure(COST).amount == curator.spent.amount


def at_steps(curator: mo.Curator, store: str, path: Path, steps: range) -> None:
    ask = lambda: curator.count(epsilon=COST)  # noqa: E731
    heard = 0
    with interrupts.heard():
        for step in steps:
            error = interrupts.Interrupt(step).during(ask)
            check_after(curator, store, path, error)
            heard += error is not None
    assert heard > 0.95 * len(steps)  # the last step may be followed by no place to hear it
    spent = curator.spent
    curator.count(epsilon=COST)
    assert curator.spent == spent + mo.pure(COST) == charged(curator)


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_ctrl_c_at_some_steps(store, request, tmp_path) -> None:
    """Some forty steps, others in every version of the code."""
    curator = curator_of(store, request, tmp_path)
    curator.count(epsilon=COST)
    number = interrupts.steps_of(lambda: curator.count(epsilon=COST))
    first = random.Random(number).randrange(1, number // 40)
    at_steps(curator, store, tmp_path / "budget.db", range(first, number, number // 40))


@pytest.mark.slow
@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_ctrl_c_at_every_step(store, request, tmp_path) -> None:
    curator = curator_of(store, request, tmp_path)
    curator.count(epsilon=COST)
    number = interrupts.steps_of(lambda: curator.count(epsilon=COST))
    at_steps(curator, store, tmp_path / "budget.db", range(1, number + 1))


def test_ctrl_c_while_a_file_is_opened(request, tmp_path) -> None:
    """A connection that was not made ready to its end is not used."""
    curator = curator_of("sqlite", request, tmp_path)
    ledger = curator._guard.accountant._ledger

    def ask() -> None:
        ledger.close()
        ledger.account("p")

    number = interrupts.steps_of(ask)
    with interrupts.heard():
        for step in range(1, number, number // 40):
            error = interrupts.Interrupt(step).during(ask)
            check_after(curator, "sqlite", tmp_path / "budget.db", error)
            ways = ledger._store.transaction(lambda db: db.rows("PRAGMA synchronous"), write=True)
            assert ways == [(3,)]


def random_moments(curator: mo.Curator, store: str, path: Path, number: int) -> Counter[str]:
    """Interrupt questions at random moments until that many were interrupted."""
    ask = lambda: curator.count(epsilon=COST)  # noqa: E731
    ask()
    begun = time.perf_counter()
    for _ in range(5):
        ask()
    longest = (time.perf_counter() - begun) / 5
    draws, seen = random.Random(f"{store} {number}"), Counter[str]()
    kept: list[BaseException] = []  # as a notebook keeps the last one
    while seen["interrupted"] < number:
        error = interrupts.at_random(ask, draws.uniform(1e-6, 1.2 * longest))
        check_after(curator, store, path, error)
        seen["interrupted" if error else "answered"] += 1
        kept[:] = [error] if error else kept
        if error and draws.random() < 0.2:
            ask()
            seen["asked again"] += 1
    assert charged(curator) == curator.spent
    return seen


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql"])
def test_ctrl_c_at_random_moments(store, request, tmp_path) -> None:
    curator = curator_of(store, request, tmp_path)
    random_moments(curator, store, tmp_path / "budget.db", 25)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql"])
def test_ten_thousand_interrupts(store, request, tmp_path, record_property) -> None:
    curator = curator_of(store, request, tmp_path)
    seen = random_moments(curator, store, tmp_path / "budget.db", 10_000)
    record_property("counted", f"{store}: {dict(seen)}, none locked, none lost")
