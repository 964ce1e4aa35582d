"""One question at a time, and none from within another."""

import _thread
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import polars as pl
import pytest

import modicum as mo
from modicum.exact.entropy import SystemEntropy
from modicum.privacy import turn as one_at_a_time
from modicum.privacy.turn import Turn

WITHIN = "cannot be used from within its own question"
WRAPS = pl.__version__ < "2"  # older ones make an error of their own of what a function raises


def test_a_thread_that_has_the_turn_is_refused_and_another_one_waits() -> None:
    turn, order = Turn("a budget"), []

    def other() -> None:
        with turn.taken():
            order.append("other")

    with turn.taken():
        assert turn.mine
        with pytest.raises(mo.InvalidArgument, match=f"a budget {WITHIN}"):
            turn.taken()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
    assert not turn.mine


@pytest.mark.parametrize("held", [True, False])
def test_a_thread_that_python_did_not_start_does_not_wait(held) -> None:
    """It may run a function of the table that is read."""
    turn, said = Turn("a budget"), []

    def other() -> None:
        try:
            with turn.taken():
                said.append("its turn")
        except mo.InvalidArgument as error:
            said.append(str(error))

    if held:
        with turn.taken():
            _thread.start_new_thread(other, ())
            wait_for(said)
    else:
        _thread.start_new_thread(other, ())
        wait_for(said)
    assert ("within its own question" in said[0]) == held


def wait_for(said: list[str]) -> None:
    for _ in range(1000):
        if said:
            return
        time.sleep(0.01)


class Asking(SystemEntropy):
    """Calls a function at the first draw, as a handler of a signal may be called there."""

    __slots__ = ("ask",)

    def __init__(self) -> None:
        self.ask: Callable[[], object] | None = None

    def word(self) -> int:
        if self.ask is not None:
            signal.raise_signal(signal.SIGTERM)
        return super().word()


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_the_handler_of_a_signal_that_asks(store, tmp_path) -> None:
    entropy, said = Asking(), []
    if store == "memory":
        curator = mo.Curator(
            pl.DataFrame({"value": [1.0] * 99}), budget=mo.pure(5), entropy=entropy
        )
    else:
        url = f"sqlite:///{tmp_path}/budget.db"
        mo.Ledger.create(url).open_account("p", mo.pure(5))
        curator = mo.Curator(
            pl.DataFrame({"value": [1.0] * 99}), ledger=url, account="p", entropy=entropy
        )

    def handler(*_: object) -> None:
        entropy.ask = None
        for ask in (
            lambda: curator.count(epsilon=1),
            lambda: curator.where("value > 0").count(epsilon=1),
            lambda: curator.group_by("value", keys=[1.0]).count(epsilon=1),
            lambda: curator.n_distinct("value", epsilon=1),
        ):
            with pytest.raises(mo.InvalidArgument, match=WITHIN):
                ask()
            said.append("refused")

    before = signal.signal(signal.SIGTERM, handler)
    try:
        entropy.ask = handler
        curator.count(epsilon=1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert said == ["refused"] * 4
    assert curator.spent == mo.pure(1)
    curator.count(epsilon=1)


@pytest.mark.parametrize("of", ["table", "column"])
def test_a_function_of_a_lazy_table_that_asks(of) -> None:
    """Some are run by threads of the engine, others by the one that asks."""
    curators, said = [], []

    def function(part):
        for curator in curators:
            with pytest.raises(mo.InvalidArgument, match=WITHIN):
                curator.count(epsilon=1)
            said.append("refused")
        return part

    table = pl.LazyFrame({"x": np.arange(100.0)})
    if of == "table":
        table = table.map_batches(function)
    else:
        table = table.with_columns(pl.col("x").map_batches(function, return_dtype=pl.Float64))
    curators.append(mo.Curator(table, budget=mo.pure(5)))
    curators[0].count(epsilon=1)
    curators[0].mean("x", within=(0, 100), epsilon=1)
    assert "refused" in said
    assert curators[0].spent == mo.pure(2)


def test_a_function_of_a_query_in_sql_that_asks() -> None:
    curators, said = [], []

    def function(x: float) -> float:
        for curator in curators:
            with pytest.raises(mo.InvalidArgument, match=WITHIN):
                curator.count(epsilon=1)
            said.append("refused")
        return x

    connection = duckdb.connect()
    connection.create_function("asking", function, ["DOUBLE"], "DOUBLE")
    table = connection.sql("SELECT asking(i::DOUBLE) AS x FROM range(100) t(i)")
    curators.append(mo.Curator(table, budget=mo.pure(5)))
    curators[0].mean("x", within=(0, 100), epsilon=1)
    assert "refused" in said
    assert curators[0].spent == mo.pure(1)


def test_a_pool_of_a_function_of_a_lazy_table_that_asks(monkeypatch) -> None:
    """Nobody can tell that the table waits for it, so it waits for a time, and not for ever."""
    monkeypatch.setattr(one_at_a_time, "_PATIENCE", 0.05)
    curators, said = [], []

    def ask(curator: mo.Curator) -> None:
        with pytest.raises(mo.InvalidArgument, match=r"was busy for 0\.05 seconds"):
            curator.count(epsilon=1)
        said.append("refused")

    def function(part):
        with ThreadPoolExecutor(2) as pool:
            [*pool.map(ask, curators * 2)]
        return part

    table = pl.LazyFrame({"x": np.arange(100.0)}).map_batches(function)
    curators.append(mo.Curator(table, budget=mo.pure(5)))
    curators[0].mean("x", within=(0, 100), epsilon=1)
    assert len(said) >= 2
    assert curators[0].spent == mo.pure(1)
    with ThreadPoolExecutor(1) as pool:
        curator = mo.Curator([1.0] * 99, budget=mo.pure(5))
        assert pool.submit(curator.count, epsilon=1).result().usable


def stops(*_: object) -> object:
    raise StopIteration


def says(*_: object) -> object:
    raise StopIteration("a row of 12")


@pytest.mark.parametrize("function", [stops, says, lambda *_: next(iter(()))])
@pytest.mark.parametrize("of", ["table", "column", "value"])
def test_a_function_of_a_lazy_table_that_says_it_is_done(of, function) -> None:
    """It is a failure, and not the end of the table."""
    table = pl.LazyFrame({"x": np.arange(100.0), "g": ["a", "b"] * 50})
    of_column = pl.col("x").map_batches(function, return_dtype=pl.Float64)
    if of == "value":
        of_column = pl.col("x").map_elements(function, return_dtype=pl.Float64)
    table = table.map_batches(function) if of == "table" else table.with_columns(of_column)
    curator = mo.Curator(table, budget=mo.pure(5))
    for ask in (
        lambda: curator.mean("x", within=(0, 100), epsilon=1),
        lambda: curator.group_by("g", keys=["a"]).mean("x", within=(0, 100), epsilon=1),
        lambda: curator.where("x > 3").count(epsilon=1),
    ):
        with pytest.raises(mo.SourceError, match=r"^the polars data could not be read$"):
            ask()
    assert curator.spent.amount == 0


@pytest.mark.parametrize(
    ("raised", "why"),
    [
        (KeyError("a row of 12"), ""),
        (GeneratorExit("a row of 12"), ""),
        (StopAsyncIteration("a row of 12"), ""),
        (MemoryError("a row of 12"), ": there is too little memory"),
    ],
)
def test_whatever_a_function_of_a_lazy_table_raises_is_one_error(raised, why) -> None:
    def function(*_: object) -> object:
        raise raised

    connection = duckdb.connect()
    connection.create_function("failing", function, ["DOUBLE"], "DOUBLE")
    query = "SELECT failing(i::DOUBLE) AS x, 'a' AS g FROM range(100) t(i)"
    table = pl.LazyFrame({"x": np.arange(100.0), "g": ["a", "b"] * 50})
    for lazy, said in (
        (table.map_batches(function), f"^the polars data could not be read{'' if WRAPS else why}$"),
        (connection.sql(query), "^the duckdb data could not be read$"),
    ):
        curator = mo.Curator(lazy, budget=mo.pure(5))
        for ask in (
            lambda curator: curator.mean("x", within=(0, 100), epsilon=1),
            lambda curator: curator.group_by("g", keys=["a"]).mean("x", within=(0, 9), epsilon=1),
        ):
            with pytest.raises(mo.SourceError, match=said) as caught:
                ask(curator)
            assert caught.value.__context__ is None
        assert curator.spent.amount == 0


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_who_ends_the_program_within_a_question_leaves_the_ledger_free(kind, tmp_path) -> None:
    raised: list[BaseException] = [kind()]

    def function(part):
        if raised:
            raise raised.pop()
        return part

    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("p", mo.pure(5))
    table = pl.LazyFrame({"x": np.arange(100.0)}).map_batches(function)
    curator = mo.Curator(table, ledger=url, account="p")
    with pytest.raises(mo.SourceError if WRAPS else kind):
        curator.mean("x", within=(0, 100), epsilon=1)
    curator.count(epsilon=1)
    mo.Curator([1.0], ledger=url, account="p").count(epsilon=1)
    assert mo.Ledger(url).account("p").spent == mo.pure(2)
