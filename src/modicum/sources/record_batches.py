"""Tables as Arrow's record batches, in the order of their rows, in blocks of one size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources.base import guarded
from modicum.sources.duckdb import arrow_reader, quoted
from modicum.sources.files import found_files

BLOCK = 1 << 20
"""Rows of a block; the last one may have fewer."""


def need_arrow() -> None:
    """Refuse to go on without PyArrow."""
    if find_spec("pyarrow") is None:
        raise InvalidArgument("this needs PyArrow: pip install 'modicum[arrow]'")


def blocks_of(table: Any, columns: Sequence[str], label: str) -> Iterator[Any]:
    """Yield RecordBatches of :data:`BLOCK` rows of some columns, anew at every call.

    The columns are there. Dictionaries are spelt out, so that all blocks have one schema; where the
    engine's own batches end does not show. Any failure becomes one error, which calls the data
    ``label``.
    """
    pa = import_module("pyarrow")
    batches = guarded(label, lambda: iter(_batches(table, list(columns))))
    waiting: list[Any] = []
    rows = 0
    while (batch := guarded(label, lambda: _plain(next(batches, None)))) is not None:
        waiting.append(batch)
        rows += len(batch)
        while rows >= BLOCK:
            joined = pa.Table.from_batches(waiting)
            yield _one(joined.slice(0, BLOCK))
            waiting, rows = joined.slice(BLOCK).to_batches(), rows - BLOCK
    if rows:
        yield _one(pa.Table.from_batches(waiting))


def _one(table: Any) -> Any:
    return table.combine_chunks().to_batches()[0]


def _plain(batch: Any) -> Any:
    """Spell out dictionaries, and write all text alike."""
    if batch is None:
        return None
    pa = import_module("pyarrow")
    columns = []
    for column in batch.columns:
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        text = str(plain.type) in {"large_string", "string_view"}
        columns.append(plain.cast(pa.string()) if text else plain)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _batches(table: Any, names: list[str]) -> Iterable[Any]:
    pa = import_module("pyarrow")
    table = table.to_native() if type(table).__module__.startswith("narwhals") else table
    engine = type(table).__module__.partition(".")[0]
    found: Iterable[Any]
    if isinstance(table, str | os.PathLike):
        found = _of_files(table, names)
    elif isinstance(table, pa.RecordBatch):
        found = [table.select(names)]
    elif isinstance(table, pa.Table):
        found = table.select(names).to_batches()
    elif engine == "pyarrow" and hasattr(table, "to_batches"):  # a data set
        found = table.to_batches(columns=names, batch_size=BLOCK)
    elif engine in {"duckdb", "_duckdb"}:
        found = arrow_reader(table.project(", ".join(map(quoted, names))))
    elif engine == "pandas":
        parts = (table[names].iloc[at : at + BLOCK] for at in range(0, len(table), BLOCK))
        found = (pa.RecordBatch.from_pandas(part, preserve_index=False) for part in parts)
    elif engine == "polars" and hasattr(table, "to_arrow"):
        found = table.select(names).to_arrow().to_batches()
    else:
        raise _refusal(type(table).__name__)
    return found


def _of_files(path: str | os.PathLike[str], names: list[str]) -> Iterator[Any]:
    _, files = found_files(path)
    if {Path(file).suffix.lower() for file in files} != {".parquet"}:
        raise _refusal("file of another kind")
    opened = import_module("pyarrow.parquet").ParquetFile
    for each in files:
        with opened(each, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=BLOCK, columns=names)


def _refusal(kind: str) -> UnsupportedData:
    return UnsupportedData(
        "keys, and counts beside their keys, are read from Parquet, a DuckDB relation, or a "
        f"PyArrow, pandas or Polars table in memory, and not from a {kind}"
    )
