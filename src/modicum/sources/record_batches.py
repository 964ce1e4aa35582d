"""Tables as Arrow's record batches, in the order of their rows, in blocks of one size."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources import base, files
from modicum.sources.engines import arrow
from modicum.sources.engines.duckdb import arrow_reader, quoted

BLOCK = 1 << 20
"""Rows of a block; the last one may have fewer."""


def need_arrow() -> None:
    """Refuse to go on without PyArrow."""
    if find_spec("pyarrow") is None:
        raise InvalidArgument("this needs PyArrow: pip install pyarrow")


def blocks_of(table: Any, columns: Sequence[str], label: str) -> Iterator[Any]:
    """Yield RecordBatches of :data:`BLOCK` rows of some columns, anew at every call.

    The columns are there. Dictionaries are spelt out, so that all blocks have one schema; where the
    engine's own batches end does not show. Any failure becomes one error, which calls the data
    ``label``.
    """
    pa = import_module("pyarrow")
    batches = base.guarded(label, lambda: iter(reader_of(table)(list(columns))))
    waiting: list[Any] = []
    rows = 0
    while (batch := base.guarded(label, lambda: _plain(next(batches, None)))) is not None:
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
    for column in map(arrow.checked, batch.columns):
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        text = str(plain.type) in {"large_string", "string_view"}
        columns.append(plain.cast(pa.string()) if text else plain)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _of_arrow(table: Any, names: list[str]) -> Iterable[Any]:
    found: Iterable[Any] = table.select(names).to_batches()
    return found


def _of_batch(batch: Any, names: list[str]) -> Iterable[Any]:
    return [batch.select(names)]


def _of_dataset(dataset: Any, names: list[str]) -> Iterable[Any]:
    return arrow.dataset_batches(dataset, names, BLOCK, "the pyarrow data")


def _of_duckdb(relation: Any, names: list[str]) -> Iterable[Any]:
    found: Iterable[Any] = arrow_reader(relation.project(", ".join(map(quoted, names))))
    return found


def _of_pandas(frame: Any, names: list[str]) -> Iterable[Any]:
    make = import_module("pyarrow").RecordBatch.from_pandas
    for start in range(0, len(frame), BLOCK):
        yield make(frame[names].iloc[start : start + BLOCK], preserve_index=False)


def _of_polars(frame: Any, names: list[str]) -> Iterable[Any]:
    return _of_arrow(frame.select(names).to_arrow(), names)


def _of_files(path: str | os.PathLike[str], names: list[str]) -> Iterable[Any]:
    opened = import_module("pyarrow.parquet").ParquetFile
    for each in files.found_files(path)[1]:
        with opened(each, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=BLOCK, columns=names)


_READERS: Mapping[str, Callable[[Any, list[str]], Iterable[Any]]] = {
    "pyarrow.Table": _of_arrow,
    "pyarrow.RecordBatch": _of_batch,
    "pyarrow.dataset.Dataset": _of_dataset,
    "duckdb.DuckDBPyRelation": _of_duckdb,
    "pandas.DataFrame": _of_pandas,
    "polars.DataFrame": _of_polars,
}


def reader_of(table: Any) -> Callable[[list[str]], Iterable[Any]]:
    """Return what reads columns of a table as record batches, if it can be so read.

    UnsupportedData for other tables; nothing is read.
    """
    native = table.to_native() if type(table).__module__.startswith("narwhals") else table
    if isinstance(native, str | os.PathLike):
        suffixes = {Path(file).suffix.lower() for file in files.found_files(native)[1]}
        if suffixes == {".parquet"}:
            return partial(_of_files, native)
    for kind, read in _READERS.items():
        module, _, name = kind.rpartition(".")
        known = getattr(sys.modules.get(module), name, None)
        if isinstance(known, type) and isinstance(native, known):
            return partial(read, native)
    raise UnsupportedData(
        "keys, and counts beside their keys, are read from Parquet, a DuckDB relation, or a "
        f"PyArrow, pandas or Polars table in memory, and not from a {type(native).__name__} of "
        "another kind"
    )
