"""Ibis tables of any backend, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from modicum.sources.arrow import arrow_batches
from modicum.sources.base import CHUNK, Source, StreamSource, TableBatch, guarded, opener
from modicum.sources.duckdb import DuckRelation

_LABEL = "the ibis data"


class IbisTable(StreamSource):
    """An expression: a query that its backend runs anew for every pass."""

    def __init__(self, table: Any) -> None:
        # "!int64" is an int64 that cannot be null.
        types = {name: str(kind).lstrip("!") for name, kind in table.schema().items()}
        super().__init__("ibis", list(types), types.__getitem__, label=_LABEL)
        self._table = table

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[TableBatch]:
        query = self._table.select(*dict.fromkeys([*columns, *labels]))
        return arrow_batches(query.to_pyarrow_batches(chunk_size=CHUNK), columns, labels)

    def _count(self) -> int:
        return int(self._table.count().to_pyarrow().as_py())


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
