"""Any table or array, read in chunks.

The file of each engine registers what opens its tables; none imports its engine before it is used.
"""

from modicum.frames import arrays, arrow, duckdb, files, ibis, pandas, polars
from modicum.frames.cluster import dask, spark

__all__ = ["arrays", "arrow", "dask", "duckdb", "files", "ibis", "pandas", "polars", "spark"]
