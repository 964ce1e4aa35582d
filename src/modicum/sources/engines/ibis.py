"""Ibis tables of any backend, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from modicum.sources.base import CHUNK, Source, StreamSource, TableBatch, guarded, opener
from modicum.sources.engines.arrow import arrow_batches
from modicum.sources.engines.duckdb import DuckRelation

_LABEL = "the ibis data"


class IbisTable(StreamSource):
    """An expression: a query that its backend runs anew for every pass."""

    def __init__(self, table: Any) -> None:
        # "!int64" is an int64 that cannot be null.
        types = {name: str(kind).lstrip("!") for name, kind in table.schema().items()}
        super().__init__("ibis", list(types), types.__getitem__, label=_LABEL)
        self._table = table
        self._is_sqlite = table.get_backend().name == "sqlite"

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[TableBatch]:
        read = [self._table[name] for name in (*columns, *labels)]
        if self._is_sqlite:
            read = [
                _as_declared(each, whole=place >= len(columns)) for place, each in enumerate(read)
            ]
        query = self._table.select(**{f"c{place}": each for place, each in enumerate(read)})
        batches = query.to_pyarrow_batches(chunk_size=CHUNK)
        places = range(len(read))
        return arrow_batches(batches, places[: len(columns)], places[len(columns) :])

    def _count(self) -> int:
        return int(self._table.count().to_pyarrow().as_py())


def _as_declared(column: Any, *, whole: bool) -> Any:
    """Return a column of SQLite without the cells that are not of its declared type.

    SQLite holds any value in any column, and Ibis would fail at it. Integers are read as floats,
    unless they have to be ``whole``, as labels are. Days have years of 1 to 9999.
    """
    make, kind = import_module("ibis"), column.type()
    held, there = column, None
    if kind.is_date() or kind.is_timestamp():
        held = column.cast("string").cast("date" if kind.is_date() else "timestamp")
        there = held.cast("string") >= "0001"
    elif kind.is_string():
        there = column.typeof().isin(["integer", "real", "text"])
    elif kind.is_numeric() or kind.is_boolean():
        exact = whole and not (kind.is_floating() or kind.is_decimal())
        held = column if exact else column.cast("float64")
        there = column.typeof().isin(["integer"] if exact else ["integer", "real"])
    return column if there is None else make.cases((there, held), else_=make.null(held.type()))


@opener("ibis.expr.types.Table")
def _open_ibis(table: Any) -> Source:
    return guarded(_LABEL, lambda: _opened(table))


def _opened(table: Any) -> Source:
    backend = table.get_backend()
    if backend.name != "duckdb":
        return IbisTable(table)
    # DuckDB 2 lacks the method that Ibis 12 gets batches from, so its own relation is read.
    table.limit(0).to_pyarrow()  # makes the tables in memory known to the connection
    relation = backend.con.sql(str(backend.compile(table)))
    return DuckRelation(relation, "ibis", label=_LABEL, keep=table)
