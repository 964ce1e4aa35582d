"""Records of many groups as ratios to numpy.sum: ``python -m benchmarks groups``.

The k lowest and highest records of every group, its count and its exact sum on the lattice, from
packed and sorted integers; beside them the same extremes, a count and a float sum by one query of
DuckDB and of Polars. Keys are numbers 0, 1, ... already. CPU time, that of all threads together;
all tasks run in turns in one process, and the fastest round counts.

The releases are counted apart, once: all of them, the reading included, and one alone from an
array of as many records as a group has.
"""

import time
from collections.abc import Callable

import duckdb
import numpy as np
import polars as pl

from benchmarks.clock import fastest
from benchmarks.targets import Target, table
from modicum import Curator, pure, query
from modicum.exact.lattice import Lattice
from modicum.summaries.base import CHUNK
from modicum.summaries.grouped import PackedGroups
from modicum.summaries.tails import Tails, TailSummary

WITHIN = (-1e9, 1e9)


def packed(
    groups: int, keys: np.ndarray, x: np.ndarray, k: int, step: float | None
) -> Callable[[int], TailSummary] | None:
    """The pass of the reader, and the count, ends and exact sums of every group."""
    collected = PackedGroups(groups, Lattice.within(WITHIN, step))
    for start in range(0, len(x), CHUNK):
        collected.update(keys[start : start + CHUNK], x[start : start + CHUNK])
    return collected.finish().summaries(Tails(k))


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


def seconds_of(task: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    start = time.process_time()
    task()
    return time.process_time() - start


def releases(rows: int, groups: int) -> tuple[str, list[Target]]:
    """All releases of many groups of a Polars table, and one of a group alone."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"g": rng.integers(0, groups, rows), "x": rng.lognormal(10, 1, rows)})
    alone = frame["x"].to_numpy()[: rows // groups]
    reference = min(seconds_of(frame["x"].to_numpy().sum) for _ in range(5))
    lines, targets = [], []
    for name, limit in (("count", 60), ("sum", 120), ("mean", 300), ("median", 300)):
        bounds = {} if name == "count" else {"within": WITHIN}
        asked = getattr(query, name)("x", epsilon=1, **bounds)
        single = getattr(query, name)(epsilon=1, **bounds)
        by_group = Curator(frame, budget=pure(1)).group_by("g", keys=range(groups))
        all_of_them = seconds_of(lambda: by_group.run(asked))  # noqa: B023 -- called at once
        one = seconds_of(
            lambda: [Curator(alone, budget=pure(1)).run(single) for _ in range(200)]  # noqa: B023
        )
        each = all_of_them / groups
        cells = [f"{all_of_them:.1f}", f"{each * 1e3:.2f}", f"{all_of_them / reference:,.0f}"]
        lines.append([name, *cells, f"{each / (one / 200):.2f}"])
        targets.append(Target(f"{name} of {groups:,} groups", limit, all_of_them, unit="s"))
    header = ["releases", "seconds", "ms each", "/ numpy.sum", "/ one alone"]
    text = f"""### The releases: {groups:,} groups of {rows:,} rows

CPU time of `group_by(...)` with ε = 1, all draws, transcripts and the reading of the table
included, as a ratio to numpy.sum of the column, and of each to one release of as many records
alone.

{table(header, lines)}"""
    return text, targets


def groups(*, quick: bool) -> tuple[str, list[Target]]:
    """Return the table of the comparison and its targets."""
    rows = 100_000 if quick else 10_000_000
    lines, targets, header = [], [], [""]
    for number, k in ((1000, 100), (100_000, 10)):
        seconds = fastest(tasks_of(rows, number, k), 1 if quick else 5)
        reference = seconds.pop("numpy.sum")
        header = ["groups", "k", *seconds]
        lines.append([f"{number:,}", str(k), *(f"{s / reference:.1f}" for s in seconds.values())])
        if number == 100_000:
            ours = seconds["packed, finest step"]
            others = min(seconds["DuckDB"], seconds["Polars"])
            note = "DuckDB's or Polars' extremes, the faster one"
            targets = [
                Target(f"{rows:.0e} rows, {number:,} groups / numpy.sum", 50, ours / reference),
                Target("the same / DuckDB or Polars", 0.25, ours / others, note=note),
            ]
    text = f"""## Many groups: {rows:,} rows, as ratios to numpy.sum

The k lowest and k highest records, the count and the exact sum of every group, CPU time.

{table(header, lines)}"""
    more, others = releases(rows, 1000 if quick else 100_000)
    return f"{text}\n\n{more}", targets + others
