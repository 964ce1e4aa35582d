"""PyArrow tables, arrays, lists of one size and data sets; what Arrow's arrays hold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.sources import arrays, base
from modicum.sources.labels import Encoded, LabelValues, Text
from modicum.summaries.base import Integers

_BATCH = 1 << 16


def arrow_floats(array: Any) -> base.Floats:
    """Convert an Arrow array; a null becomes NaN, and no value can make it fail."""
    pa = import_module("pyarrow")
    if pa.types.is_decimal(array.type):
        # By their text, which is rounded once; the direct cast divides rounded numbers.
        array = array.cast(pa.string())
    if array.type != pa.float64():
        array = array.cast(pa.float64(), safe=False)
    if array.null_count:
        array = array.fill_null(np.nan)
    floats: base.Floats = array.to_numpy(zero_copy_only=False)
    return floats


def arrow_labels(array: Any) -> LabelValues:
    """Convert an Arrow array of labels."""
    pa = import_module("pyarrow")
    kinds, kind = pa.types, array.type
    if kinds.is_dictionary(kind):
        places = array.indices.fill_null(-1) if array.indices.null_count else array.indices
        return Encoded(places.to_numpy(zero_copy_only=False), arrow_labels(array.dictionary))
    if kinds.is_floating(kind):
        return arrow_floats(array)
    if kinds.is_temporal(kind):
        times = array.to_numpy(zero_copy_only=False)
        return np.asarray(times.astype("M8[D]") if kinds.is_date(kind) else times)
    if kinds.is_integer(kind) or kinds.is_boolean(kind):
        missing = array.is_null().to_numpy(zero_copy_only=False)
        filled = array.fill_null(pa.scalar(0).cast(kind)) if array.null_count else array
        return np.ma.array(filled.to_numpy(zero_copy_only=False), mask=missing)
    if str(kind) == "string_view":
        array = array.cast(pa.large_string())
    if kinds.is_decimal(kind):
        return _encoded(array)
    return Text(lambda: _encoded(array), lambda texts: _among(array, texts))


def _encoded(array: Any) -> Encoded:
    encoded = array.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Encoded(places, _items(encoded.dictionary))


def _among(array: Any, texts: Sequence[str]) -> NDArray[np.int8]:
    """Whether text is one of some texts."""
    pa, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    is_one = compute.is_in(array, value_set=pa.array(texts, array.type))
    found: NDArray[np.int8] = is_one.to_numpy(zero_copy_only=False).astype(np.int8)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return found


def _items(array: Any) -> Sequence[Hashable]:
    """Return texts or decimals; bytes that are not UTF-8 become U+FFFD, as in a CSV file."""
    try:
        items: list[Hashable] = array.to_pylist()
    except UnicodeDecodeError:
        data = array.cast(import_module("pyarrow").large_binary()).to_pylist()
        items = [None if each is None else str(each, "utf-8", "replace") for each in data]
    return items


def arrow_batches(
    batches: Iterable[Any], columns: Sequence[str | int], labels: Sequence[str | int]
) -> Iterator[base.TableBatch]:
    """Convert columns of RecordBatches, by their names or places."""
    for batch in batches:
        yield base.TableBatch(
            [arrow_floats(batch.column(name)) for name in columns],
            [arrow_labels(batch.column(name)) for name in labels],
        )


def arrow_column(chunked: Any) -> base.MemoryColumn:
    """Open a ChunkedArray; its floats are not copied if they are in one piece without nulls."""
    parts = chunked.chunks
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)

    def fetch(positions: Integers) -> Iterator[Any]:
        # ChunkedArray.take may join all parts first, so rows are taken from each part alone.
        cuts = np.searchsorted(positions, starts).tolist()
        array = import_module("pyarrow").array
        for part, at, (first, last) in zip(parts, starts, pairwise(cuts), strict=False):
            if first < last:
                yield part.take(array(positions[first:last] - at))

    return base.MemoryColumn(
        lambda start, stop: chunked.slice(start, stop - start).chunks,
        fetch,
        arrow_floats,
        arrow_labels,
    )


@base.opener("pyarrow.Table", "pyarrow.RecordBatch")
def _open_table(table: Any) -> base.Source:
    return base.MemorySource(
        "pyarrow",
        table.num_rows,
        lambda name: arrow_column(_chunked(table.column(name))),
        table.schema.names,
        lambda name: str(table.schema.field(name).type),
    )


@base.opener("pyarrow.ChunkedArray", "pyarrow.Array")
def _open_array(array: Any) -> base.Source:
    chunked = _chunked(array)
    if import_module("pyarrow").types.is_fixed_size_list(chunked.type):
        return _open_lists(chunked)
    declared = str(chunked.type)
    return base.MemorySource.of_column("pyarrow", len(chunked), arrow_column(chunked), declared)


def _chunked(array: Any) -> Any:
    pa = import_module("pyarrow")
    return pa.chunked_array([array]) if isinstance(array, pa.Array) else array


def _open_lists(chunked: Any) -> base.Source:
    """Open lists of one size as rows of vectors; a missing list has missing values."""
    kind = chunked.type
    width = kind.list_size

    def read(start: int, stop: int) -> base.Floats:
        parts = chunked.slice(start, stop - start).chunks
        return np.concatenate([np.empty((0, width)), *map(rows, parts)])

    def rows(part: Any) -> base.Floats:
        values = part.values[part.offset * width : (part.offset + len(part)) * width]
        found = arrow_floats(values).reshape(-1, width)
        if part.null_count:
            missing = part.is_null().to_numpy(zero_copy_only=False)
            found = np.where(missing[:, None], np.nan, found)
        return found

    return arrays.MatrixSource("pyarrow", len(chunked), width, str(kind.value_type), read)


@base.opener("pyarrow.dataset.Dataset")
class ArrowDataset(base.StreamSource):
    """A data set of PyArrow, of files that it opens."""

    def __init__(self, dataset: Any, label: str | None = None) -> None:
        schema = dataset.schema
        super().__init__(
            "pyarrow", schema.names, lambda name: str(schema.field(name).type), label=label
        )
        self._dataset = dataset

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        names = list(dict.fromkeys([*columns, *labels]))
        batches = self._dataset.to_batches(columns=names, batch_size=_BATCH)
        return arrow_batches(batches, columns, labels)

    def _count(self) -> int:
        return int(self._dataset.count_rows())
