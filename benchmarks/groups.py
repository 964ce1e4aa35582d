"""Records of many groups as ratios to numpy.sum: ``python -m benchmarks.groups [rows]``.

The k lowest and highest records of every group, its count and its exact sum on the lattice, from
packed and sorted integers; beside them the same extremes, a count and a float sum by one query of
DuckDB and of Polars. Keys are numbers 0, 1, ... already. One thread each; all tasks run in turns in one process, and the fastest round counts.
"""

import os
import sys
from collections.abc import Callable

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import numpy as np
import polars as pl

from benchmarks.clock import fastest
from benchmarks.targets import table
from modicum.exact.lattice import Lattice
from modicum.summaries.group_tails import GroupTails
from modicum.summaries.kernel import CHUNK
from modicum.summaries.packed import PackedGroups

WITHIN = (-1e9, 1e9)


def packed(
    groups: int, keys: np.ndarray, x: np.ndarray, k: int, step: float | None
) -> GroupTails | None:
    """The pass of the reader, and the count, ends and exact sums of every group."""
    collected = PackedGroups(groups, Lattice.within(WITHIN, step))
    for start in range(0, len(x), CHUNK):
        collected.update(keys[start : start + CHUNK], x[start : start + CHUNK])
    return collected.finish().tails(k)


def tasks_of(rows: int, groups: int, k: int) -> dict[str, Callable[[], object]]:
    """The same reduction in several ways."""
    rng = np.random.default_rng(0)
    x, keys = rng.lognormal(10, 1, rows), rng.integers(0, groups, rows)
    frame = pl.DataFrame({"g": keys, "x": x})
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.register("t", frame.to_arrow())
    query = f"select g, sum(x), count(*), min(x, {k}) lo, max(x, {k}) hi from t group by g"
    ends = [pl.col("x").bottom_k(k).alias("lo"), pl.col("x").top_k(k).alias("hi")]
    return {
        "numpy.sum": x.sum,
        "packed, finest step": lambda: packed(groups, keys, x, k, None),
        "packed, step 2^-10": lambda: packed(groups, keys, x, k, 2.0**-10),
        "DuckDB": lambda: connection.sql(query).to_arrow_table(),
        "Polars": lambda: frame.group_by("g").agg(*ends, pl.col("x").sum().alias("s"), pl.len()),
    }


def main(rows: int, rounds: int) -> None:
    """Print the table."""
    lines = []
    for groups, k in ((1000, 100), (100_000, 10)):
        seconds = fastest(tasks_of(rows, groups, k), rounds)
        reference = seconds.pop("numpy.sum")
        lines.append([f"{groups:,}", str(k), *(f"{s / reference:.1f}" for s in seconds.values())])
        header = ["groups", "k", *seconds]
    print(table(header, lines))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000, rounds=3)
