"""DuckDB relations of any connection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from modicum.frames.arrow import arrow_floats
from modicum.frames.base import CHUNK, Floats, StreamSource

__all__ = ["DuckRelation"]

# Cast to DOUBLE with one rounding; wider integers and decimals go by their text.
_DIRECT = re.compile("U?(TINYINT|SMALLINT|INTEGER|BIGINT)|BOOLEAN|FLOAT|DOUBLE")


class DuckRelation(StreamSource):
    """A relation: a query that runs anew for every pass.

    Parameters
    ----------
    relation : DuckDBPyRelation
    engine, label
        See :class:`~modicum.frames.base.Source`.
    keep : object, optional
        Kept alive with the relation: a connection of ours (older relations do not keep theirs), or
        what holds its tables.
    """

    def __init__(
        self,
        relation: Any,
        engine: str = "duckdb",
        *,
        label: str | None = None,
        keep: object = None,
    ) -> None:
        types = dict(zip(relation.columns, map(str, relation.dtypes), strict=True))
        super().__init__(engine, relation.columns, types.__getitem__, label=label)
        self._relation = relation
        self._types = types
        self._keep = keep

    def _batches(self, columns: Sequence[str]) -> Iterator[Sequence[Floats]]:
        fields = (f"{self._cast(name)} AS c{i}" for i, name in enumerate(columns))
        query = self._relation.project(", ".join(fields))
        if find_spec("pyarrow") is None:
            arrays = query.fetchnumpy()
            yield [_filled(arrays[f"c{i}"]) for i in range(len(columns))]
            return
        for batch in _reader(query):
            yield [arrow_floats(column) for column in batch.columns]

    def _count(self) -> int:
        return int(self._relation.aggregate("count(*)").fetchall()[0][0])

    def _cast(self, name: str) -> str:
        quoted = '"' + name.replace('"', '""') + '"'
        if _DIRECT.fullmatch(self._types[name]):
            return f"CAST({quoted} AS DOUBLE)"
        return f"TRY_CAST(CAST({quoted} AS VARCHAR) AS DOUBLE)"


def _reader(query: Any) -> Any:
    if hasattr(query, "to_arrow_reader"):
        return query.to_arrow_reader(CHUNK)
    return query.fetch_record_batch(CHUNK)  # before DuckDB 1.5


def _filled(x: Any) -> Floats:
    return np.asarray(np.ma.filled(x.astype(np.float64), np.nan))
