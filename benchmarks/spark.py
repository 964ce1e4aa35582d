"""A release of a Spark DataFrame as a ratio to Spark's own average of the same column."""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import default_rng

from benchmarks.clock import fastest_both
from benchmarks.speed import release
from benchmarks.targets import Target, table

FULL, QUICK = 20_000_000, 2_000_000
FILES = 4


def spark(*, quick: bool) -> tuple[str, list[Target]]:
    """Time both in a local session of two threads, over Parquet files in the page cache."""
    rows = QUICK if quick else FULL
    session = _session()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            x = default_rng(number).normal(size=rows // FILES)
            pq.write_table(pa.table({"x": x}), Path(folder) / f"{number}.parquet")
        frame = session.read.parquet(folder)
        nothing = frame.mapInArrow(_only_counted, "rows bigint")
        tasks = {
            "avg": lambda: frame.selectExpr("avg(x)").collect(),
            "empty": lambda: session.range(1).mapInArrow(_only_counted, "rows bigint").collect(),
            "arrow": nothing.collect,
            "release": lambda: release(frame, "x"),
        }
        for task in tasks.values():
            task()  # the first one starts Java's compiler and the workers
        _, elapsed = fastest_both(tasks, 3 if quick else 5)
    session.stop()
    ratios = {name: seconds / elapsed["avg"] for name, seconds in elapsed.items()}
    target = Target(
        f"release of {rows:,} rows / Spark's avg",
        15,
        ratios["release"],
        note=f"handing the rows to Python and counting them {ratios['arrow']:.1f}x, a job of one "
        f"row through Python {ratios['empty']:.1f}x, avg {elapsed['avg']:.2f} s",
    )
    header = ["what", "measured", "note"]
    return (
        "## Spark: ratios of elapsed times\n\nLocal mode, two threads, the fastest of several "
        f"rounds in turns.\n\n{table(header, [[target.name, target.row()[2], target.note]])}",
        [target],
    )


def _session() -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2]")
    return builder.config("spark.ui.enabled", "false").getOrCreate()


def _only_counted(batches: Any) -> Any:
    arrow = import_module("pyarrow")
    count = np.sum([batch.num_rows for batch in batches], dtype=np.int64)
    yield arrow.RecordBatch.from_arrays([arrow.array([count])], names=["rows"])
