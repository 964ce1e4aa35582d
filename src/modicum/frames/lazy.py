"""Polars queries: LazyFrames, and scans of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw

from modicum.frames.base import Declared, Floats, StreamSource

__all__ = ["PolarsQuery", "open_lazy", "polars_floats"]


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
    frame : polars.LazyFrame
    convert : callable
        Column name to the expression of its floats.
    """

    def __init__(
        self,
        engine: str,
        frame: Any,
        names: Sequence[str],
        declared: Declared | None,
        convert: Callable[[str], Any],
        *,
        label: str | None = None,
    ) -> None:
        super().__init__(engine, names, declared, label=label)
        self._frame = frame
        self._convert = convert

    def _batches(self, columns: Sequence[str]) -> Iterator[Mapping[str, Floats]]:
        query = self._frame.select(**{f"c{i}": self._convert(c) for i, c in enumerate(columns)})
        for batch in _collect(query):
            yield {c: batch.get_column(f"c{i}").to_numpy() for i, c in enumerate(columns)}

    def _count(self) -> int:
        pl = import_module("polars")
        return int(self._frame.select(pl.len()).collect().item())


def open_lazy(frame: Any, engine: str = "polars", *, label: str | None = None) -> PolarsQuery:
    """Open a LazyFrame whose columns are typed."""
    pl = import_module("polars")
    types = frame.collect_schema()
    schema = nw.from_native(frame).collect_schema()
    return PolarsQuery(
        engine,
        frame,
        list(types),
        schema.__getitem__,
        lambda name: polars_floats(pl.col(name), types[name]),
        label=label,
    )


def _collect(query: Any) -> Iterator[Any]:
    """Batches of the streaming engine where Polars offers them, else the whole result."""
    if hasattr(query, "collect_batches"):
        return iter(query.collect_batches(maintain_order=False, engine="streaming"))
    return iter([query.collect()])
