"""PyArrow tables, arrays and data sets, and everything that exports an Arrow stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from modicum.errors import UnsupportedData
from modicum.frames.base import Floats, MemorySource, Source, StreamSource
from modicum.frames.types import refusal

__all__ = [
    "ArrowColumn",
    "ArrowStream",
    "open_arrow_array",
    "open_arrow_stream",
    "open_arrow_table",
    "open_dataset",
]

_BATCH = 1 << 17


class ArrowColumn:
    """A ChunkedArray."""

    def __init__(self, chunked: Any) -> None:
        self._chunked = chunked
        lengths = [len(chunk) for chunk in chunked.chunks]
        self._starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    def __len__(self) -> int:
        return len(self._chunked)

    def floats(self, start: int, stop: int) -> Floats:
        """Rows [start, stop); no copy if they are float64 in one piece and none is null."""
        return _joined(map(arrow_floats, self._chunked.slice(start, stop - start).chunks))

    def take(self, positions: NDArray[np.int64]) -> Floats:
        """Rows at increasing positions."""
        # ChunkedArray.take may join all chunks first, so each one is asked for its own rows.
        ends = np.searchsorted(positions, self._starts)
        return _joined(
            arrow_floats(chunk.take(_arrow().array(positions[a:b] - start)))
            for chunk, start, a, b in zip(
                self._chunked.chunks, self._starts, ends, ends[1:], strict=False
            )
            if a < b
        )


def arrow_floats(array: Any) -> Floats:
    """Convert an Arrow array; a null becomes NaN, and no value can make it fail."""
    pa = _arrow()
    if pa.types.is_decimal(array.type):
        # By their text, which is rounded once; the direct cast divides rounded numbers.
        array = array.cast(pa.string())
    if array.type != pa.float64():
        array = array.cast(pa.float64(), safe=False)
    if array.null_count:
        array = array.fill_null(np.nan)
    floats: Floats = array.to_numpy(zero_copy_only=False)
    return floats


def open_arrow_table(table: Any) -> MemorySource:
    """Open a Table."""
    declared = _declared(table.schema)
    return MemorySource(
        "pyarrow",
        table.num_rows,
        lambda name: ArrowColumn(table.column(name)),
        table.column_names,
        declared,
    )


def open_arrow_array(chunked: Any) -> MemorySource:
    """Open a ChunkedArray."""
    field = _arrow().schema([("values", chunked.type)])
    problem = refusal("values", _declared(field)("values"))
    if problem is not None:
        raise UnsupportedData(problem)
    return MemorySource("pyarrow", len(chunked), lambda _: ArrowColumn(chunked))


class ArrowStream(StreamSource):
    """Record batches, made anew for every pass by ``open_batches(columns)``."""

    def __init__(
        self,
        engine: str,
        schema: Any,
        open_batches: Callable[[Sequence[str]], Iterable[Any]],
        count: Callable[[], int],
        *,
        label: str | None = None,
    ) -> None:
        super().__init__(engine, schema.names, _declared(schema), label=label)
        self._open_batches = open_batches
        self._rows = count

    def _batches(self, columns: Sequence[str]) -> Iterator[Mapping[str, Floats]]:
        for batch in self._open_batches(columns):
            yield {name: arrow_floats(batch.column(name)) for name in columns}

    def _count(self) -> int:
        return self._rows()


def open_dataset(dataset: Any, engine: str = "pyarrow", *, label: str | None = None) -> Source:
    """Open a pyarrow.dataset.Dataset."""
    return ArrowStream(
        engine,
        dataset.schema,
        lambda columns: dataset.to_batches(columns=list(columns), batch_size=_BATCH),
        dataset.count_rows,
        label=label,
    )


def open_arrow_stream(table: Any) -> Source:
    """Open any object with ``__arrow_c_stream__``, each call of which starts a new stream."""
    engine = type(table).__module__.partition(".")[0]
    try:
        pa = _arrow()
    except ImportError:
        raise UnsupportedData(
            f"reading {engine} tables needs PyArrow: pip install 'modicum[arrow]'"
        ) from None

    def stream() -> Any:
        return pa.RecordBatchReader.from_stream(table)

    return ArrowStream(
        engine, stream().schema, lambda _: stream(), lambda: sum(len(batch) for batch in stream())
    )


def _declared(schema: Any) -> Callable[[str], nw.dtypes.DType]:
    def declared(name: str) -> nw.dtypes.DType:
        field = schema.field(name)
        if _arrow().types.is_decimal(field.type):  # of any width; Narwhals knows one
            return nw.Decimal()
        empty = _arrow().schema([field]).empty_table()
        return nw.from_native(empty, eager_only=True).schema[name]

    return declared


def _joined(parts: Iterable[Floats]) -> Floats:
    arrays = list(parts)
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate([np.empty(0), *arrays])


def _arrow() -> Any:
    return import_module("pyarrow")
