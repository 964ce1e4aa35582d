"""The same column in Spark, Dask and Ibis, where they are installed."""

import os
import shutil
import sys
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sources.engines.makers import NULLABLE, TABLES, Maker

PARTS = 3

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # Small tables would come into one partition, where no shuffle can go wrong.
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}


def need_java() -> None:
    """Skip the test if Spark could not start, with what to install."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer: apt-get install openjdk-17-jre-headless")


@cache
def _session(*, connect: bool) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable  # the executors' Python is the tests'
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if connect else builder.master("local[2]")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    if not connect:
        session.sparkContext.setLogLevel("OFF")
    return session


def spark(*, connect: bool = False) -> Any:
    """The Spark session of the tests."""
    need_java()
    return _session(connect=connect)


def spark_frame(table: pa.Table, folder: Path) -> Any:
    """A DataFrame of several partitions, some of them empty if the table is short."""
    if any(pa.types.is_unsigned_integer(kind) for kind in table.schema.types):
        pytest.skip("Spark has no unsigned integers")
    return spark().createDataFrame(table).repartition(PARTS)


def spark_file(table: pa.Table, folder: Path) -> Any:
    """A DataFrame over a Parquet file."""
    if any(pa.types.is_uint64(kind) for kind in table.schema.types):
        pytest.skip("Spark reads no unsigned integers of 64 bits")
    path = folder / "spark.parquet"
    pq.write_table(table, path)
    return spark().read.parquet(str(path))


def dask_frame(types_mapper: Any = None) -> Maker:
    """Make DataFrames of several partitions, with pandas's or Arrow's types."""

    def made(table: pa.Table, _: Path) -> Any:
        import dask.dataframe as dd  # noqa: PLC0415

        numbers = table["x"] if "x" in table.column_names else table[table.num_columns - 1]
        plain = types_mapper is None or types_mapper(numbers.type) is None
        if plain and (numbers.null_count and numbers.type != pa.float64()):
            pytest.skip("NumPy has no missing values but NaN")
        if plain and pa.types.is_decimal(numbers.type):
            pytest.skip("pandas makes objects of decimals, but for Arrow's")
        return dd.from_pandas(table.to_pandas(types_mapper=types_mapper), npartitions=PARTS)

    return made


def dask_arrow(table: pa.Table, folder: Path) -> Any:
    """A Dask DataFrame with Arrow's types."""
    import pandas as pd  # noqa: PLC0415

    return dask_frame(pd.ArrowDtype)(table, folder)


def ibis_duckdb(table: pa.Table, _: Path) -> Any:
    """A table of Ibis in DuckDB."""
    import ibis  # noqa: PLC0415

    backend = ibis.duckdb.connect()
    backend.con.register("rows", table)
    with warnings.catch_warnings():  # of DuckDB, to Ibis
        warnings.simplefilter("ignore", DeprecationWarning)
        return backend.table("rows")


def ibis_memory(table: pa.Table, _: Path) -> Any:
    """A table of Ibis in memory, through an expression."""
    import ibis  # noqa: PLC0415

    return ibis.memtable(table).mutate(one=1)


def ibis_polars(table: pa.Table, _: Path) -> Any:
    """A table of Ibis in another engine, which gives Arrow batches."""
    import ibis  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    return ibis.polars.connect({"rows": pl.from_arrow(table)}).table("rows")


_ALL: dict[str, dict[str, Maker]] = {
    "pyspark": {"spark": spark_frame, "spark file": spark_file},
    "dask": {
        "dask": dask_frame(),
        "dask nullable": dask_frame(NULLABLE.get),
        "dask arrow": dask_arrow,
    },
    "ibis": {"ibis": ibis_duckdb, "ibis memory": ibis_memory, "ibis polars": ibis_polars},
}
REMOTE = {
    name: maker
    for engine, makers in _ALL.items()
    if find_spec(engine) is not None  # the test modules of the engines say what is missing
    for name, maker in makers.items()
}
EVERYWHERE: dict[str, Maker] = TABLES | REMOTE
