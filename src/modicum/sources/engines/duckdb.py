"""DuckDB relations of any connection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.sources.base import CHUNK, Floats, StreamSource, TableBatch, opener
from modicum.sources.engines.arrow import arrow_floats, arrow_labels
from modicum.sources.labels import Encoded, LabelValues, Text, texts
from modicum.sources.types import label_kind

# Cast to DOUBLE with one rounding; wider integers and decimals go by their text.
_DIRECT = re.compile("U?(TINYINT|SMALLINT|INTEGER|BIGINT)|BOOLEAN|FLOAT|DOUBLE")


@opener("duckdb.DuckDBPyRelation")
class DuckRelation(StreamSource):
    """A relation: a query that runs anew for every pass.

    ``keep`` is kept alive with it: a connection of ours (older relations do not keep theirs), or
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

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[TableBatch]:
        casts = [*map(self._cast, columns), *map(self._label_cast, labels)]
        query = self._relation.project(", ".join(f"{cast} AS c{i}" for i, cast in enumerate(casts)))
        split, kinds = len(columns), [self._types[name] for name in labels]
        if find_spec("pyarrow") is None:
            arrays = list(query.fetchnumpy().values())
            yield TableBatch(
                [_filled(array) for array in arrays[:split]],
                [_parsed(_unboxed(a, k), k) for a, k in zip(arrays[split:], kinds, strict=True)],
            )
            return
        for batch in arrow_reader(query):
            parts = batch.columns
            yield TableBatch(
                [arrow_floats(part) for part in parts[:split]],
                [_parsed(arrow_labels(p), k) for p, k in zip(parts[split:], kinds, strict=True)],
            )

    def _count(self) -> int:
        return int(self._relation.aggregate("count(*)").fetchall()[0][0])

    def _cast(self, name: str) -> str:
        column = quoted(name)
        if _DIRECT.fullmatch(self._types[name]):
            return f"CAST({column} AS DOUBLE)"
        return f"TRY_CAST(CAST({column} AS VARCHAR) AS DOUBLE)"

    def _label_cast(self, name: str) -> str:
        """Cast enums, wide integers and decimals to their text."""
        declared = self._types[name]
        plain = declared == "BLOB" or label_kind(declared) in {"date", "datetime"}
        if plain or _DIRECT.fullmatch(declared):
            return quoted(name)
        return f"CAST({quoted(name)} AS VARCHAR)"


def quoted(name: str) -> str:
    """Write a name as SQL does."""
    return '"' + name.replace('"', '""') + '"'


def _parsed(labels: LabelValues, declared: str) -> LabelValues:
    if label_kind(declared) != "number" or _DIRECT.fullmatch(declared):
        return labels
    if isinstance(labels, Text):
        return _parsed(labels.labels(), declared)
    if isinstance(labels, Encoded):
        return Encoded(labels.places, _parsed(labels.labels, declared))
    return [None if each is None else Decimal(str(each)) for each in labels]


def _unboxed(array: NDArray[Any], declared: str) -> LabelValues:
    """Convert a column that DuckDB made without Arrow."""
    if array.dtype.kind == "O":
        return texts(array.tolist())  # what is masked becomes None
    return array.astype("M8[D]") if label_kind(declared) == "date" else array


def arrow_reader(query: Any) -> Any:
    """Run a query, and read its rows as record batches."""
    if hasattr(query, "to_arrow_reader"):
        return query.to_arrow_reader(CHUNK)
    return query.fetch_record_batch(CHUNK)  # before DuckDB 1.5


def _filled(x: Any) -> Floats:
    return np.asarray(np.ma.filled(x.astype(np.float64), np.nan))
