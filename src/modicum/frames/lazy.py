"""Polars queries: LazyFrames, and scans of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from modicum.frames.base import Floats, StreamSource

__all__ = ["PolarsQuery", "open_lazy", "polars_floats", "query_batches", "query_count", "streams"]


def polars_floats(values: Any, dtype: Any) -> Any:
    """Cast a Series or expression of a known numeric type to Float64."""
    pl = import_module("polars")
    if dtype == pl.Float64:
        return values
    if dtype.is_decimal():
        # By their text, which is rounded once; the direct cast divides rounded numbers.
        values = values.cast(pl.String)
    return values.cast(pl.Float64, strict=False)


class PolarsQuery(StreamSource):
    """A LazyFrame, run anew for every pass.

    Parameters
    ----------
    engine, names, declared, label
        See :class:`~modicum.frames.base.Source`.
    frame : polars.LazyFrame
    convert : callable
        Column name to the expression of its floats.
    """

    def __init__(
        self,
        engine: str,
        frame: Any,
        names: Sequence[str],
        declared: Callable[[str], str] | None,
        convert: Callable[[str], Any],
        *,
        label: str | None = None,
    ) -> None:
        super().__init__(engine, names, declared, label=label)
        self._frame = frame
        self._convert = convert

    def _batches(self, columns: Sequence[str]) -> Iterator[Sequence[Floats]]:
        return query_batches(self._frame, [self._convert(name) for name in columns])

    def _count(self) -> int:
        return query_count(self._frame)


def open_lazy(frame: Any, engine: str = "polars", *, label: str | None = None) -> PolarsQuery:
    """Open a LazyFrame whose columns are typed."""
    pl = import_module("polars")
    types = dict(frame.collect_schema())
    return PolarsQuery(
        engine,
        frame,
        list(types),
        lambda name: str(types[name]),
        lambda name: polars_floats(pl.col(name), types[name]),
        label=label,
    )


def streams() -> bool:
    """Whether the installed Polars gives out the result of a query in batches."""
    return hasattr(import_module("polars").LazyFrame, "collect_batches")


def query_batches(frame: Any, expressions: Sequence[Any]) -> Iterator[list[Floats]]:
    """Run a query for some expressions of floats."""
    query = frame.select(**{f"c{i}": each for i, each in enumerate(expressions)})
    if streams():
        batches = query.collect_batches(maintain_order=False, engine="streaming")
    else:
        batches = [query.collect()]
    for batch in batches:
        yield [column.to_numpy() for column in batch.get_columns()]


def query_count(frame: Any) -> int:
    """Count the rows of a query."""
    return int(frame.select(import_module("polars").len()).collect().item())
