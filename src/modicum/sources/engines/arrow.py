"""PyArrow tables, arrays, lists of one size and data sets; what Arrow's arrays hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import SourceError, UnsupportedData
from modicum.sources import base
from modicum.sources.engines import arrays
from modicum.sources.labels import Encoded, LabelValues, Text, arrow_items, text_of_bytes
from modicum.summaries.base import Integers

_BATCH = 1 << 16
_AS_BYTES = {  # types of text, and their bytes as they are
    "string": "binary",
    "large_string": "large_binary",
    "string_view": "binary_view",
    **{each: each for each in ("binary", "large_binary", "binary_view")},
}
_GUESSED = {  # formats in which no type is declared, and what to pass
    "csv": "pass the path of a file, or modicum.csv_file(path, ...)",
    "json": "pass polars.scan_ndjson(path, schema=...)",
}


def checked(array: Any) -> Any:
    """Return an array that holds what its type says; another one is an error.

    Of a damaged file, Arrow would read beyond its memory: where a text ends is looked at, and which
    text of a dictionary is meant. Bytes that are not UTF-8 are no damage.
    """
    pa, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    array.validate()
    if pa.types.is_dictionary(array.type):
        ends, texts = compute.min_max(array.indices).as_py(), checked(array.dictionary)
        if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] < len(texts):
            raise ValueError("a dictionary is shorter than its places say")
    elif (as_bytes := _AS_BYTES.get(str(array.type))) is not None:
        array.view(getattr(pa, as_bytes)()).validate(full=True)
    return array


def arrow_floats(array: Any) -> base.Floats:
    """Convert an Arrow array; a null becomes NaN, and no value can make it fail."""
    pa, array = import_module("pyarrow"), checked(array)
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
    pa, array = import_module("pyarrow"), checked(array)
    kinds, kind = pa.types, array.type
    if kinds.is_dictionary(kind):
        return Encoded(_places(array.indices), arrow_labels(array.dictionary))
    if kinds.is_floating(kind):
        return arrow_floats(array)
    if kinds.is_temporal(kind):
        times = array.to_numpy(zero_copy_only=False)
        return np.asarray(times.astype("M8[D]") if kinds.is_date(kind) else times)
    if kinds.is_integer(kind) or kinds.is_boolean(kind):
        missing = array.is_null().to_numpy(zero_copy_only=False)
        filled = array.fill_null(pa.scalar(0).cast(kind)) if array.null_count else array
        return np.ma.array(filled.to_numpy(zero_copy_only=False), mask=missing)
    if kinds.is_decimal(kind):
        narrow = kind.bit_width < 128  # for which Arrow makes no dictionaries
        return _encoded(array.cast(pa.decimal128(kind.precision, kind.scale)) if narrow else array)
    return _text_labels(array)


def _text_labels(array: Any) -> LabelValues:
    pa = import_module("pyarrow")
    if isinstance(array.type, pa.BaseExtensionType):  # of UUIDs
        return _texts_of(array.storage, _identifier)
    if "binary" in str(array.type):
        return _texts_of(array, text_of_bytes)
    if str(array.type) == "string_view":
        try:
            array = array.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # by type, in PyArrow 16 and 17
            array = pa.array(array.to_pylist(), pa.large_string())
    whole = (lambda: array) if "string" in str(array.type) else None
    return Text(lambda: _encoded(array), lambda texts: _among(array, texts), whole)


def _texts_of(array: Any, text: Callable[[bytes], str]) -> Encoded:
    """Convert bytes to the texts that they stand for."""
    encoded = array.dictionary_encode()
    known = [None if each is None else text(each) for each in encoded.dictionary.to_pylist()]
    return Encoded(_places(encoded.indices), known)


def _identifier(data: bytes) -> str:
    """Write a UUID.

    >>> _identifier(bytes(range(16)))
    '00010203-0405-0607-0809-0a0b0c0d0e0f'
    """
    digits = data.hex()
    ends = (0, 8, 12, 16, 20, len(digits))
    return "-".join(digits[start:end] for start, end in pairwise(ends))


def _encoded(array: Any) -> Encoded:
    encoded = array.dictionary_encode()
    return Encoded(_places(encoded.indices), arrow_items(encoded.dictionary))


def _places(indices: Any) -> NDArray[Any]:
    """Return indices of a dictionary, -1 for a null: no unsigned type holds that."""
    if indices.null_count:
        indices = indices.cast(import_module("pyarrow").int64(), safe=False).fill_null(-1)
    places: NDArray[Any] = indices.to_numpy(zero_copy_only=False)
    return places


def _among(array: Any, texts: Sequence[str]) -> NDArray[np.int8]:
    """Whether text is one of some texts."""
    pa, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    is_one = compute.is_in(array, value_set=pa.array(texts, array.type))
    found: NDArray[np.int8] = is_one.to_numpy(zero_copy_only=False).astype(np.int8)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return found


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
        forms = {part.format.default_extname for part in _parts(dataset) if hasattr(part, "format")}
        for form in forms:
            if form in _GUESSED:
                raise UnsupportedData(
                    f"a data set of {form.upper()} files fails at a value that is not of the type "
                    f"of those above it: {_GUESSED[form]}"
                )
        schema = dataset.schema

        def declared(name: str) -> str:
            kind = str(schema.field(name).type)
            # A moment that nanoseconds do not hold would end the reading of its column.
            return f"{kind} in ORC" if "orc" in forms and kind.startswith("timestamp") else kind

        super().__init__("pyarrow", schema.names, declared, label=label)
        self._dataset = dataset

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        names = list(dict.fromkeys([*columns, *labels]))
        batches = dataset_batches(self._dataset, names, _BATCH, self._label)
        return arrow_batches(batches, columns, labels)

    def _count(self) -> int:
        return int(self._dataset.count_rows())


class ArrowFile(base.StreamSource):
    """A file of Arrow, read batch by batch.

    Nothing is done with a batch before it is known to hold what it says: a damaged one may say that
    it has any number of rows, and a scanner would cut it to pieces first, in threads of its own.
    """

    def __init__(self, path: str, label: str) -> None:
        self._path = path
        with self._opened() as reader:
            schema = reader.schema
        super().__init__(
            "pyarrow", schema.names, lambda name: str(schema.field(name).type), label=label
        )
        self._schema = schema

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        names = dict.fromkeys([*columns, *labels])
        whole = self._whole([self._schema.get_field_index(name) for name in names])
        pieces = (
            batch.slice(start, _BATCH)
            for batch in whole
            for start in range(0, batch.num_rows, _BATCH)
        )
        return arrow_batches(pieces, columns, labels)

    def _count(self) -> int:
        # The rows of a column without values are as many as it says.
        held = [place for place, field in enumerate(self._schema) if str(field.type) != "null"]
        return sum(batch.num_rows for batch in self._whole(held[:1]))

    def _whole(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the batches of some columns, if they are as long as they say."""
        with self._opened(places) as reader:
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                batch.validate()
                yield batch

    @contextmanager
    def _opened(self, places: Sequence[int] = ()) -> Iterator[Any]:
        pa = import_module("pyarrow")
        options = pa.ipc.IpcReadOptions(included_fields=[*places], use_threads=False)
        with pa.OSFile(self._path) as file, pa.ipc.open_file(file, options=options) as reader:
            yield reader


def dataset_batches(dataset: Any, names: Sequence[str], rows: int, label: str) -> Iterator[Any]:
    """Read columns of a data set, so many rows at a time.

    Its files are cast to the types that it declares. SourceError by the types alone if that can
    fail on a value: at 2^40 in an int64 file where the first one declares int32.
    """
    for schema in _schemas(dataset):
        for name in names:
            declared = dataset.schema.field(name).type
            if name in schema.names and not _widens(schema.field(name).type, declared):
                raise SourceError(
                    f"not all files of {label} declare {name!r} as {declared}, and what they "
                    "declare cannot be made that whatever its values are: pass the path of the "
                    "folder, or write the files with one schema"
                )
    batches: Iterator[Any] = dataset.to_batches(columns=list(names), batch_size=rows)
    return batches


def _parts(dataset: Any) -> Iterator[Any]:
    """Yield the data sets that a union is of, or the one that it is."""
    for child in getattr(dataset, "children", ()):
        yield from _parts(child)
    if not hasattr(dataset, "children"):
        yield dataset


def _schemas(dataset: Any) -> Iterator[Any]:
    """Yield what each file of a data set declares; data in memory are never cast."""
    for part in _parts(dataset):
        for file in getattr(part, "files", ()):
            yield part.format.inspect(file, part.filesystem)


def _widens(kind: Any, declared: Any) -> bool:
    """Whether Arrow casts every value of a type to another one.

    An integer of 64 bits is none of float64: Arrow fails beyond 2^53.
    """
    kinds = import_module("pyarrow").types
    if kind == declared or kinds.is_null(kind):
        return True
    if kinds.is_integer(kind) and kinds.is_integer(declared):
        return bool(np.can_cast(kind.to_pandas_dtype(), declared.to_pandas_dtype()))
    if kinds.is_floating(declared) and (kinds.is_integer(kind) or kinds.is_floating(kind)):
        digits = np.finfo(declared.to_pandas_dtype()).nmant + 1
        return bool(kind.bit_width <= (digits if kinds.is_integer(kind) else declared.bit_width))
    texts = {"string", "large_string", "string_view"}
    return str(kind) in texts and str(declared) in texts
