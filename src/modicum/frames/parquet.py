"""Parquet files, by whichever engine is installed."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from modicum.errors import SourceError
from modicum.frames.ahead import read_ahead
from modicum.frames.arrow import arrow_batch
from modicum.frames.base import Batch, Source, StreamSource
from modicum.frames.duck import DuckRelation
from modicum.frames.lazy import LazyQuery
from modicum.frames.types import is_number, label_kind

__all__ = ["ParquetFiles", "open_parquet"]

_BATCH = 1 << 17


class ParquetFiles(StreamSource):
    """Files of one schema, read by PyArrow one row group after the other.

    Polars is half as fast again, but holds many row groups at a time: three times the memory.
    """

    def __init__(self, files: Sequence[str], label: str) -> None:
        parquet = import_module("pyarrow.parquet")
        schema = parquet.read_schema(files[0])
        super().__init__(
            "parquet", schema.names, lambda name: str(schema.field(name).type), label=label
        )
        self._schema = schema
        self._files = files
        self._open = parquet.ParquetFile

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Batch]:
        return read_ahead(self._decoded(columns, labels))

    def _decoded(
        self, columns: Sequence[str], labels: Sequence[str]
    ) -> Generator[Batch, None, None]:
        names = list(dict.fromkeys([*columns, *labels]))
        for path in self._files:
            with self._open(path, pre_buffer=False) as file:
                self._check_file(columns, labels, file.schema_arrow)
                for batch in file.iter_batches(batch_size=_BATCH, columns=names):
                    yield arrow_batch(batch, columns, labels)

    def _check_file(self, columns: Sequence[str], labels: Sequence[str], schema: Any) -> None:
        """Refuse by its schema a file that does not go with the first one."""
        for name in (*columns, *labels):
            if schema.names.count(name) != 1:
                raise SourceError(f"not all files of {self._label} declare {name!r} once")
        for name in columns:
            if not is_number(str(schema.field(name).type)):
                raise SourceError(f"not all files of {self._label} declare {name!r} as numbers")
        for name in labels:
            first = self._schema.field(name).type
            if label_kind(str(schema.field(name).type)) != label_kind(str(first)):
                raise SourceError(f"not all files of {self._label} declare {name!r} alike")

    def _count(self) -> int:
        total = 0
        for path in self._files:
            with self._open(path, pre_buffer=False) as file:
                total += file.metadata.num_rows
        return total


def open_parquet(files: Sequence[str], label: str) -> Source:
    """Open files with an engine that is installed."""
    if find_spec("pyarrow") is not None:
        return ParquetFiles(files, label)
    if find_spec("polars") is not None:
        frame = import_module("polars").scan_parquet(files, glob=False, hive_partitioning=False)
        return LazyQuery(frame, "parquet", label=label)
    if find_spec("duckdb") is not None:
        return _open_with_duckdb(list(files), label)
    raise SourceError(
        f"reading {label} needs PyArrow, Polars or DuckDB: pip install 'modicum[arrow]'"
    )


def _open_with_duckdb(files: list[str], label: str) -> Source:
    connection = import_module("duckdb").connect()
    # DuckDB would cast text in one file to the numbers of another, and fail by its values.
    singles = [connection.read_parquet([path], hive_partitioning=False) for path in files]
    schemas = {(*each.columns, *map(str, each.dtypes)) for each in singles}
    if len(schemas) > 1:
        raise SourceError(f"not all files of {label} declare the same columns")
    relation = connection.read_parquet(files, hive_partitioning=False)
    return DuckRelation(relation, "parquet", label=label, keep=connection)
