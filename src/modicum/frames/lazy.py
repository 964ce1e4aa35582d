"""Polars queries: LazyFrames, and scans of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from modicum.frames.base import Floats, StreamSource

__all__ = ["LazyQuery", "polars_floats", "query_batches", "query_count"]

_BATCH = 1 << 18


def polars_floats(values: Any, dtype: Any) -> Any:
    """Cast a Series or expression of a known numeric type to Float64."""
    pl = import_module("polars")
    if dtype == pl.Float64:
        return values
    if dtype.is_decimal():
        # By their text, which is rounded once; the direct cast divides rounded numbers.
        values = values.cast(pl.String)
    return values.cast(pl.Float64, strict=False)


class LazyQuery(StreamSource):
    """A LazyFrame, run anew for every pass."""

    def __init__(self, frame: Any, engine: str = "polars", *, label: str | None = None) -> None:
        types = dict(frame.collect_schema())
        super().__init__(engine, list(types), lambda name: str(types[name]), label=label)
        self._frame = frame
        self._types = types

    def _batches(self, columns: Sequence[str]) -> Iterator[Sequence[Floats]]:
        column = import_module("polars.selectors").by_name  # col("*") would be all of them
        floats = [polars_floats(column(name), self._types[name]) for name in columns]
        return query_batches(self._frame, floats)

    def _count(self) -> int:
        return query_count(self._frame)


def query_batches(frame: Any, expressions: Sequence[Any]) -> Iterator[list[Floats]]:
    """Run a query for some expressions of floats."""
    query = frame.select(**{f"c{i}": each for i, each in enumerate(expressions)})
    if hasattr(query, "collect_batches"):
        batches = query.collect_batches(chunk_size=_BATCH, maintain_order=True, engine="streaming")
    else:
        batches = [query.collect()]
    for batch in batches:
        yield [column.to_numpy() for column in batch.get_columns()]


def query_count(frame: Any) -> int:
    """Count the rows of a query."""
    return int(frame.select(import_module("polars").len()).collect().item())
