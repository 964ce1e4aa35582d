"""Ibis tables: in DuckDB through its own relation, elsewhere in Arrow batches."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.errors import SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.sources.groups import GroupReader
from modicum.sources.opening import open_source
from modicum.summaries.base import Read
from modicum.summaries.tails import Tails
from tests.seen import seen
from tests.sources.engines.makers import same, values

ibis = pytest.importorskip("ibis", reason="Ibis is not installed: make test-engines")


def test_an_expression_is_run_anew() -> None:
    table = ibis.memtable(pa.table({"x": [1.0, 2.0, None], "y": [1, 2, 3]}))
    query = table.mutate(z=table.x * 2).filter(table.y < 3)
    source = open_source(query)
    del table
    for _ in range(2):
        assert same(values(source, "z"), [2, 4])
    assert query.count().to_pyarrow().as_py() == 2  # its connection is still of use


def test_columns_that_cannot_be_null() -> None:
    schema = ibis.schema({"x": "!int64"})
    table = ibis.polars.connect({"t": pa.table({"x": [1, 2]})}).table("t").cast(schema)
    open_source(table).check("x")


@pytest.mark.parametrize("kind", ["string", "date", "timestamp", "array<float64>", "json"])
def test_types_that_are_no_numbers(kind: str) -> None:
    table = ibis.memtable(pa.table({"x": [1]})).select(x=ibis.null(kind))
    with pytest.raises(UnsupportedData, match="column 'x' is declared as") as caught:
        open_source(table).check("x")
    lines = {"string": "try_cast(", "date": "epoch_seconds()", "timestamp": "epoch_seconds()"}
    assert lines.get(kind, "pass numbers") in str(caught.value)


def test_a_failing_query_shows_nothing_and_costs_nothing() -> None:
    table = ibis.memtable(pa.table({"t": ["secret"]}))
    curator = mo.Curator(table.select(x=table.t.cast("float64")), budget=mo.pure(1))
    with pytest.raises(SourceError, match=r"^the ibis data could not be read$"):
        curator.count("x", epsilon=1)
    assert curator.spent.amount == 0


def test_a_file_of_sqlite(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    who, firm = rng.integers(0, 100, 2000).tolist(), rng.choice(["a", "b"], 2000).tolist()
    rows = list(zip(who, firm, rng.normal(40, 3, 2000).tolist(), strict=True))
    with closing(sqlite3.connect(tmp_path / "rows.db")) as database:
        database.execute("create table t (who integer, firm text, wage real)")
        database.executemany("insert into t values (?, ?, ?)", rows)
        database.commit()
    table = ibis.sqlite.connect(tmp_path / "rows.db").table("t")
    local = pa.table(dict(zip(("who", "firm", "wage"), zip(*rows, strict=True), strict=True)))
    unit = mo.unit_of("who", max_rows=7, order_by="wage")
    ask = Read("wage", Lattice.within((-1e9, 1e9)), Tails(999))
    pairs = [(group, ask) for group in (0, 1)]
    got, expected = (
        GroupReader(open_source(each), unit, "firm", ["a", "b"], ["wage"]).read(pairs, SYSTEM)
        for each in (table, local)
    )
    assert got == expected


ODD = [None, "abc", "", b"\xff\xfe", b"ab", 2**62, 1.5, float("inf"), "2024-13-45", "0000-01-01"]


@pytest.mark.parametrize("column", ["i", "x", "s", "d", "m", "b"])
def test_sqlite_holds_any_value_in_any_column_and_none_ends_the_reading(column, tmp_path) -> None:
    """A cell that is not of the declared type is missing."""

    def table(name: str, *odd: object) -> ibis.Table:
        with closing(sqlite3.connect(tmp_path / name)) as database:
            database.execute(
                "create table t (i integer, x real, s text, d date, m timestamp, b boolean)"
            )
            for k in range(1, 7):
                day = f"2024-01-0{k}"
                row = (k, k * 1.5, "ab"[k % 2], day, f"{day} 12:00:00", k % 2)
                database.execute("insert into t values (?, ?, ?, ?, ?, ?)", row)
            for value in odd:
                database.execute(f"insert into t ({column}) values (?)", (value,))
            database.commit()
        return ibis.sqlite.connect(tmp_path / name).table("t")

    def ask(data: ibis.Table) -> tuple[object, ...]:
        curator = mo.Curator(data, budget=mo.pure(1), entropy=SeededEntropy(column))
        return curator.count(column, epsilon=1), repr(curator.charges)

    def by_person(data: ibis.Table) -> tuple[object, ...]:
        unit = mo.unit_of(column, max_rows=1)
        curator = mo.Curator(data, budget=mo.pure(1), unit=unit, entropy=SeededEntropy(column))
        return curator.mean("x", epsilon=1), repr(curator.charges)

    plain = table("plain.db")
    for asked in (ask, by_person):
        known = seen(asked, plain)
        assert "error" not in known
        for number, value in enumerate(ODD):
            other = table(f"{asked.__name__} {number}.db", value)
            assert known.unlike(seen(asked, other, known.outcomes)) == "", value
