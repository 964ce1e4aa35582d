"""Opening tables, arrays and files of any kind; engines are never imported for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from modicum.errors import UnsupportedData
from modicum.frames import arrow, native
from modicum.frames.arrays import open_array, open_list
from modicum.frames.base import Source
from modicum.frames.duck import DuckRelation
from modicum.frames.lazy import LazyQuery
from modicum.frames.matrix import open_lists, open_matrix

__all__ = ["Source", "open_source"]

_WRAPPED = ("dataframe", "lazyframe", "series")


def open_source(table: Any) -> Source:
    """Open a table, array or file for reading. No value is looked at.

    Parameters
    ----------
    table : array, table or path
        - a NumPy array of bool, int or float, of one dimension or of shape (n, d), or a list,
          tuple or range of numbers;
        - a pandas or Polars Series or DataFrame, a Polars LazyFrame, or a Narwhals wrapper of one;
        - a PyArrow Array, ChunkedArray, RecordBatch, Table or Dataset; an array may hold lists of
          one size;
        - a DuckDB relation of any connection;
        - a Spark or Dask DataFrame, whose rows stay on the cluster, or an Ibis table;
        - the path of a .parquet, .csv or .tsv file, or a folder or pattern of Parquet files.

    Returns
    -------
    Source

    Raises
    ------
    UnsupportedData
        For anything else, with what to pass instead.
    SourceError
        If a file is missing, or no installed engine reads it.

    Examples
    --------
    >>> open_source(np.arange(3.0))
    Source(engine='numpy')
    """
    if isinstance(table, Source):
        return table
    if isinstance(table, str | os.PathLike):
        source: Source = _module("files").open_path(table)
        return source
    if isinstance(table, np.ndarray):
        return open_matrix(table) if _is_matrix(table) else open_array(table)
    if isinstance(table, list | tuple | range):
        return open_list(table)
    known = _open_known(table) or _open_arrow(table)
    if known is not None:
        return known
    kind = type(table).__name__
    article = "an" if kind[0] in "AEIOUaeio" else "a"
    raise UnsupportedData(f"cannot read {article} {kind}: {_advice(table)}")


def _is_matrix(array: Any) -> bool:
    return array.ndim == 2 and not isinstance(array, np.ma.MaskedArray)


def _open_arrow_array(chunked: Any) -> Source:
    pa = import_module("pyarrow")
    if pa.types.is_fixed_size_list(chunked.type):
        return open_lists(chunked)
    return arrow.open_arrow_array(chunked)


def _open_known(table: Any) -> Source | None:
    known = import_module("narwhals.stable.v2.dependencies")  # looks at modules already imported
    if any(getattr(known, f"is_narwhals_{kind}")(table) for kind in _WRAPPED):
        return open_source(table.to_native())
    openers = (
        (known.is_pandas_dataframe, native.open_pandas),
        (known.is_pandas_series, native.open_pandas_series),
        (known.is_polars_dataframe, native.open_polars),
        (known.is_polars_series, native.open_polars_series),
        (known.is_polars_lazyframe, LazyQuery),
        (known.is_pyarrow_table, arrow.open_arrow_table),
        (known.is_pyarrow_chunked_array, _open_arrow_array),
        (known.is_duckdb_relation, DuckRelation),
        (known.is_pyspark_dataframe, lambda each: _module("spark").open_spark(each)),
        (known.is_pyspark_connect_dataframe, lambda each: _module("spark").open_spark(each)),
        (known.is_dask_dataframe, lambda each: _module("dask").DaskTable(each)),
        (known.is_ibis_table, lambda each: _module("ibis").open_ibis(each)),
    )
    return next((opener(table) for matches, opener in openers if matches(table)), None)


def _module(name: str) -> Any:
    """Load what only a few kinds of tables need."""
    return import_module(f"modicum.frames.{name}")


def _open_arrow(table: Any) -> Source | None:
    pa, datasets = sys.modules.get("pyarrow"), sys.modules.get("pyarrow.dataset")
    if pa is not None and isinstance(table, pa.Array):
        return _open_arrow_array(pa.chunked_array([table]))
    if pa is not None and isinstance(table, pa.RecordBatch):
        return arrow.open_arrow_table(pa.Table.from_batches([table]))
    if datasets is not None and isinstance(table, datasets.Dataset):
        return arrow.ArrowDataset(table)
    return None


def _advice(table: object) -> str:
    if isinstance(table, Mapping):
        return "pass pandas.DataFrame(...) or polars.DataFrame(...) of it, or one of its arrays"
    if "GroupBy" in type(table).__name__:
        return (
            "pass the table that is grouped, to Curator(table, budget=...).group_by('column', "
            "keys=[...])"
        )
    advice = (
        ("read_all", "it can be read only once; pass its read_all()"),
        ("__arrow_c_stream__", "pass pyarrow.table(...) of it"),
        ("compute", "pass its compute(), or write it to Parquet and pass the path"),
        ("__array__", "pass numpy.asarray(...) of it"),
        ("__iter__", "pass a list or a NumPy array"),
        (
            "__class__",
            "pass a one-dimensional NumPy array, a pandas, Polars, PyArrow, DuckDB, Spark, Dask or "
            "Ibis table, or the path of a Parquet or CSV file",
        ),
    )
    return next(line for attribute, line in advice if hasattr(table, attribute))
