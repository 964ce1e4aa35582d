"""Polars: frames and series in memory, lazy frames, and queries of files for other modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from traceback import walk_tb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.sources.base import MemoryColumn, MemorySource, StreamSource, TableBatch, opener
from modicum.sources.labels import LabelValues, Text, texts

_BATCH = 1 << 18


def _floats(values: Any, dtype: Any) -> Any:
    pl = import_module("polars")
    if dtype == pl.Float64:
        return values
    if dtype.is_decimal():
        # By their text, which is rounded once; the direct cast divides rounded numbers.
        values = values.cast(pl.String)
    return values.cast(pl.Float64, strict=False)


def _is_integer(kind: Any) -> bool:
    """Whether a type is of integers that NumPy has."""
    return kind.is_integer() and "128" not in str(kind)


def labels_of(series: Any) -> LabelValues:
    """Return the labels that a series holds."""
    kind = series.dtype
    if kind.is_temporal() or kind.is_float():
        return np.asarray(series.to_numpy())
    pl = import_module("polars")
    if kind == pl.Boolean or _is_integer(kind):
        missing = series.is_null().to_numpy()
        return np.ma.array(series.fill_null(strategy="zero").to_numpy(), mask=missing)
    if any(kind == each for each in (pl.String, pl.Categorical, pl.Enum)):  # hashes differ
        plain = series.cast(pl.String)
        arrow = plain.to_arrow if find_spec("pyarrow") else None
        return Text(lambda: _texts(plain), lambda texts: _among(plain, texts), arrow)
    items: list[Any] = series.to_list()
    return texts(items) if kind == pl.Binary else items  # decimals and wide integers


def _texts(series: Any) -> list[str | None]:
    """Return text; bytes that are not UTF-8, which Arrow hands over, become U+FFFD.

    Polars takes all text for UTF-8, and panics where it makes Python's of it; this cast looks.
    """
    pl = import_module("polars")
    data = series.cast(pl.Binary)
    try:
        data.cast(pl.String)
    except pl.exceptions.PolarsError:
        return [None if each is None else str(each, "utf-8", "replace") for each in data.to_list()]
    found: list[str | None] = series.to_list()
    return found


def _among(series: Any, texts: Sequence[str]) -> NDArray[np.int8]:
    """Whether text is one of some texts."""
    is_one = series == texts[0] if len(texts) == 1 else series.is_in(list(texts))
    if not series.null_count():
        whole: NDArray[np.int8] = is_one.to_numpy().astype(np.int8)
        return whole
    found: NDArray[np.int8] = is_one.fill_null(value=False).to_numpy().astype(np.int8)
    found[series.is_null().to_numpy()] = -1
    return found


def _numbers(series: Any) -> Any:
    """Convert a series in memory; NumPy casts integers as Polars does, and with no query."""
    kind = series.dtype
    if _is_integer(kind) and not series.null_count():
        return series.to_numpy().astype(np.float64)
    return np.asarray(_floats(series, kind).to_numpy())


def _column(series: Any) -> MemoryColumn:
    # Polars takes a name such as "^x.*$" for a pattern, even in methods of a series.
    series = series.alias("")
    return MemoryColumn(
        lambda start, stop: [series.slice(start, stop - start)],
        lambda at: [series.gather(at)],
        _numbers,
        labels_of,
    )


@opener("polars.DataFrame")
def _open_frame(frame: Any) -> MemorySource:
    types = dict(frame.schema)
    return MemorySource(
        "polars",
        frame.height,
        lambda name: _column(frame.get_column(name)),
        list(types),
        lambda name: str(types[name]),
    )


@opener("polars.Series")
def _open_series(series: Any) -> MemorySource:
    return MemorySource.of_column(
        "polars", len(series), _column(series), str(series.dtype), series.name
    )


@opener("polars.LazyFrame")
class LazyQuery(StreamSource):
    """A LazyFrame, run anew for every pass."""

    def __init__(self, frame: Any, engine: str = "polars", *, label: str | None = None) -> None:
        types = dict(frame.collect_schema())
        super().__init__(engine, list(types), lambda name: str(types[name]), label=label)
        self._frame = frame
        self._types = types

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[TableBatch]:
        col = import_module("polars").col
        # "*" and "^x.*$" would be patterns of names, in Polars 1.20 for nth as well.
        plain = {name: f"c{place}" for place, name in enumerate(self._types)}
        floats = [_floats(col(plain[name]), self._types[name]) for name in columns]
        return query_batches(self._frame.rename(plain), floats, [col(plain[n]) for n in labels])

    def _count(self) -> int:
        return query_count(self._frame)


def streams() -> bool:
    """Whether Polars returns results in batches, and failures too.

    Before 1.37 a query that failed on the way ended like one that was done; before 1.39 its error,
    which may quote data, went to the terminal.
    """
    major, minor = import_module("polars").__version__.split(".")[:2]
    return (int(major), int(minor)) >= (1, 39)


def query_batches(frame: Any, floats: Sequence[Any], labels: Sequence[Any]) -> Iterator[TableBatch]:
    """Run a query for some expressions of floats and of labels."""
    for batch in query_frames(frame, [*floats, *labels]):
        columns = batch.get_columns()
        yield TableBatch(
            [column.to_numpy() for column in columns[: len(floats)]],
            [labels_of(column) for column in columns[len(floats) :]],
        )


def query_frames(frame: Any, expressions: Sequence[Any]) -> Iterable[Any]:
    """Run a query for some expressions; frames of them, in batches where Polars can."""
    query = frame.select(**{f"c{i}": each for i, each in enumerate(expressions)})
    if not streams():
        return [query.collect()]
    return _to_their_end(
        query.collect_batches(chunk_size=_BATCH, maintain_order=True, engine="streaming")
    )


def _to_their_end(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches; a function in the query that raises StopIteration is no end, and fails.

    Polars passes what such a function raises on, and it would look as if the query were done. The
    end that Polars itself tells of comes from its own code, and says nothing.
    """
    found = iter(batches)
    while True:
        try:
            batch = next(found)
        except StopIteration as end:
            *_, (last, _line) = walk_tb(end.__traceback__)
            told_by = last.f_globals.get("__name__", "").partition(".")[0]
            if end.args or told_by not in {"modicum", "polars"}:
                raise RuntimeError("a function in the query raised StopIteration") from None
            return
        yield batch


def query_count(frame: Any) -> int:
    """Count the rows of a query."""
    return int(frame.select(import_module("polars").len()).collect().item())
