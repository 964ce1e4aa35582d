"""DuckDB relations of any connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from modicum.frames.arrow import arrow_floats
from modicum.frames.base import Floats, StreamSource

__all__ = ["DuckRelation", "open_duckdb"]

_BATCH = 1 << 17
# These types are cast to DOUBLE by one rounding; wider ones and decimals go by their text.
_EXACTLY_CAST = (nw.Boolean, nw.Float32, nw.Float64, nw.Int8, nw.Int16, nw.Int32, nw.Int64)
_UNSIGNED = (nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)


class DuckRelation(StreamSource):
    """A relation: a query that runs anew for every pass."""

    def __init__(self, relation: Any, engine: str, *, label: str | None = None) -> None:
        # Narwhals would refuse doubled names with an error of its own.
        names = list(relation.columns)
        super().__init__(engine, names, self._type, label=label)
        self._relation = relation
        self._types = dict(nw.from_native(relation).collect_schema())

    def _type(self, name: str) -> nw.dtypes.DType:
        return self._types[name]

    def _batches(self, columns: Sequence[str]) -> Iterator[Mapping[str, Floats]]:
        fields = (f"{self._cast(name)} AS c{i}" for i, name in enumerate(columns))
        query = self._relation.project(", ".join(fields))
        if find_spec("pyarrow") is None:
            arrays = query.fetchnumpy()
            yield {name: _filled(arrays[f"c{i}"]) for i, name in enumerate(columns)}
            return
        for batch in _reader(query):
            yield {name: arrow_floats(batch.column(i)) for i, name in enumerate(columns)}

    def _count(self) -> int:
        return int(self._relation.aggregate("count(*)").fetchall()[0][0])

    def _cast(self, name: str) -> str:
        quoted = '"' + name.replace('"', '""') + '"'
        if isinstance(self._types[name], _EXACTLY_CAST + _UNSIGNED):
            return f"CAST({quoted} AS DOUBLE)"
        return f"TRY_CAST(CAST({quoted} AS VARCHAR) AS DOUBLE)"


def open_duckdb(relation: Any) -> DuckRelation:
    """Open a relation."""
    return DuckRelation(relation, "duckdb")


def _reader(query: Any) -> Any:
    if hasattr(query, "to_arrow_reader"):
        return query.to_arrow_reader(_BATCH)
    return query.fetch_record_batch(_BATCH)  # before DuckDB 1.5


def _filled(x: Any) -> Floats:
    return np.asarray(np.ma.filled(x.astype(np.float64), np.nan))
