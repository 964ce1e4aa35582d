"""The same column in every kind of table."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from modicum.cli import completion
from modicum.sources import files
from modicum.sources.base import Source
from modicum.sources.engines import duckdb as duck
from modicum.sources.formats import copied, csv
from modicum.sources.labels import Dictionary, Label
from modicum.sources.opening import open_source

NULLABLE = {
    pa.float64(): pd.Float64Dtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def table_of(*parts: pa.Array) -> pa.Table:
    """A table with the column ``x``, in these parts, and a text column."""
    tables = [
        pa.table({"label": pa.array(["secret"] * len(part), pa.string()), "x": part})
        for part in parts
    ]
    return pa.concat_tables(tables)


@contextmanager
def without(*engines: str) -> Iterator[None]:
    """As if these engines were not installed."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (completion, copied, csv, duck, files):
            find = module.find_spec
            patch.setattr(files, "_say_once", lambda words: None)
            patch.setattr(
                module, "find_spec", lambda name, find=find: None if name in engines else find(name)
            )
        yield


CONNECTIONS = deque[duckdb.DuckDBPyConnection](maxlen=20)
"""Of the last relations, which do not keep them open; each has threads of its own."""


def relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    CONNECTIONS.append(connection)
    connection.register("t", table)
    return connection.sql("select * from t")


def file_of(table: pa.Table, folder: Path) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(table, path, row_group_size=max(1, len(table) // 3))
    return path


def folder_of(table: pa.Table, folder: Path) -> Path:
    cut = len(table) // 2
    for name, part in {"a": table[:cut], "b/c": table[cut:]}.items():
        path = folder / "rows" / f"{name}.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(part, path)
    return folder / "rows"


def file_without(table: pa.Table, folder: Path, *engines: str) -> Source:
    with without(*engines):
        return open_source(file_of(table, folder))


Maker = Callable[[pa.Table, Path], Any]

RANDOM_ACCESS: dict[str, Maker] = {
    "pandas": lambda t, _: t.to_pandas(),
    "pandas nullable": lambda t, _: t.to_pandas(types_mapper=NULLABLE.get),
    "pandas arrow": lambda t, _: t.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda t, _: pl.from_arrow(t),
    "pyarrow": lambda t, _: t,
    "record batch": lambda t, _: t.combine_chunks().to_batches()[0],
}
STREAMS: dict[str, Maker] = {
    "lazy": lambda t, _: pl.from_arrow(t).lazy(),
    "dataset": lambda t, _: ds.dataset(t),
    "duckdb": lambda t, _: relation(t),
    "parquet": file_of,
    "parquet polars": lambda t, f: file_without(t, f, "pyarrow"),
    "parquet duckdb": lambda t, f: file_without(t, f, "pyarrow", "polars"),
    "scan": lambda t, f: pl.scan_parquet(file_of(t, f)),
    "folder": folder_of,
    "pattern": lambda t, f: f"{folder_of(t, f)}/**/*.parquet",
}
TABLES = RANDOM_ACCESS | STREAMS


def values(source: Any, column: str | None = "x") -> np.ndarray:
    """All values of a column, in the order of the chunks."""
    chunks = [chunk[column].copy() for chunk in open_source(source).chunks([column])]
    return np.concatenate([np.empty(0), *chunks])


def same(got: np.ndarray, expected: Any) -> bool:
    """Whether two columns have the same bits in any order; one NaN is like another."""
    expected = np.asarray(expected, dtype=np.float64)
    return _sorted_bits(got) == _sorted_bits(expected)


def _sorted_bits(x: np.ndarray) -> list[int]:
    return sorted(np.where(np.isnan(x), np.nan, x).view(np.int64).tolist())


def labels_of(source: Source, column: str) -> tuple[list[int], list[Any]]:
    """The codes of a column's labels, and the labels."""
    dictionary = Dictionary()
    parts = [chunk[Label(column)].tolist() for chunk in source.chunks([], {column: dictionary})]
    return [code for part in parts for code in part], dictionary.keys()
