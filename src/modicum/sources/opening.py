"""Open whatever the user has: the roof of the engines, each of which says what it opens."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from modicum import errors
from modicum.sources.base import OPENERS, Source, opener

_PACKAGES = (
    *("numpy", "builtins", "pathlib", "pandas", "polars", "pyarrow", "duckdb", "_duckdb"),
    *("pyspark", "dask", "ibis"),
)


@cache
def _imported(package: str) -> ModuleType:
    """The file in which what opens the tables of a package registers itself.

    The file of the package in which a table's class was made is imported first; others only if it
    opens none of that class.
    """
    engine: ModuleType
    match package:
        case "numpy" | "builtins":
            from modicum.sources.engines import arrays

            engine = arrays
        case "pathlib":
            from modicum.sources import files

            engine = files
        case "pandas":
            from modicum.sources.engines import pandas

            engine = pandas
        case "polars":
            from modicum.sources.engines import polars

            engine = polars
        case "pyarrow":
            from modicum.sources.engines import arrow

            engine = arrow
        case "duckdb" | "_duckdb":
            from modicum.sources.engines import duckdb

            engine = duckdb
        case "pyspark":
            from modicum.sources.cluster import spark

            engine = spark
        case "dask":
            from modicum.sources.cluster import dask

            engine = dask
        case _:
            from modicum.sources.engines import ibis

            engine = ibis
    return engine


def open_source(table: Any) -> Source:
    """Open a table, array or file for reading, without looking at a value.

    Accepted are

    - a NumPy array of bool, int or float, of one dimension or of shape (n, d), or a list, tuple or
      range of numbers;
    - a pandas or Polars Series or DataFrame, a Polars LazyFrame, or a Narwhals wrapper of one;
    - a PyArrow Array, ChunkedArray, RecordBatch, Table or Dataset; an array may hold lists of one
      size;
    - a DuckDB relation of any connection;
    - a Spark or Dask DataFrame, whose rows stay on the cluster, or an Ibis table;
    - the path of a .parquet, .csv or .tsv file, a folder of Parquet files, a pattern, or a list of
      paths.

    UnsupportedData for anything else, with what to pass instead; SourceError if a file is missing,
    or no installed engine reads it.
    """
    if isinstance(table, Source):
        return table
    made = type(table)
    opened = OPENERS.get(f"{made.__module__}.{made.__qualname__}")
    if opened and getattr(sys.modules.get(made.__module__), made.__name__, None) is made:
        return opened(table)
    roots = {each.__module__.partition(".")[0] for each in made.__mro__[:-1]}
    for package in (*(each for each in _PACKAGES if each in roots), *_PACKAGES):
        _imported(package)
        for kind, opened in OPENERS.items():
            module, _, name = kind.rpartition(".")
            known = getattr(sys.modules.get(module), name, None)
            if isinstance(known, type) and isinstance(table, known):
                return opened(table)
    kind = made.__name__
    article = "an" if kind[0] in "AEIOUaeio" else "a"
    raise errors.UnsupportedData(f"cannot read {article} {kind}: {_advice(table)}")


@opener("narwhals.DataFrame", "narwhals.LazyFrame", "narwhals.Series")
def _open_wrapped(wrapper: Any) -> Source:
    return open_source(wrapper.to_native())


@opener("builtins.list", "builtins.tuple", "builtins.range")
def _open_list(items: Sequence[Any]) -> Source:
    """Open paths of files as one table, and whatever else a list holds as numbers."""
    if items and isinstance(items[0], str | os.PathLike | Source):
        from modicum.sources import files

        named = any(isinstance(item, os.PathLike | Source) for item in items)
        if named or all(map(files.names_a_file, items)):
            return files.open_list(items)
    from modicum.sources.engines import arrays

    return arrays.open_numbers(items)


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
