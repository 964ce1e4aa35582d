"""Counts of very many keys, from a table to a file: ``python -m benchmarks bulk``.

Every way runs in a process of its own, on one core if the system can pin it; its CPU time, that of
the system included, and its peak memory are those that the system reports. The floor is the same
table read, and columns of the same number and kind written, without noise.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import modicum as mo
from benchmarks.targets import Target, table

QUICK, FULL = 1_000_000, 125_000_000
BLOCK = 1 << 20
KEYS = mo.approx(1, "1e-9")
WAYS = {
    "floor": "read, and write without noise",
    "complete": "complete table of counts, ε = 0.1",
    "gaussian": "the same, ρ = 0.015",
    "threshold": "the same, ε = 0.1, values of at least 90",
    "drawn": "table of counts, keys drawn, ε = 1 and (1, 10^-9)",
    "joined": "table of counts, a table of keys, ε = 0.1",
    "rows": "table of rows, a table of keys, ε = 0.1",
}


def batches(keys: int) -> Iterator[pa.RecordBatch]:
    """Made-up counts of pages: nearly all are small, some are millions."""
    rng = np.random.default_rng(0)
    for start in range(0, keys, BLOCK):
        size = min(BLOCK, keys - start)
        n = rng.pareto(0.6, size).clip(0, 1e9).astype(np.int64)
        yield pa.record_batch({"page": np.arange(start, start + size) * 3, "n": n})


def write(path: Path, blocks: Iterator[pa.RecordBatch]) -> None:
    first = next(blocks)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as file:
        file.write_batch(first)
        for block in blocks:
            file.write_batch(block)


def floor(path: Path) -> Iterator[pa.RecordBatch]:
    for block in pq.ParquetFile(path).iter_batches(batch_size=BLOCK):
        n = block.column("n").to_numpy()
        ends = {"lower": np.maximum(n - 30, 0), "upper": n + 30}
        yield pa.record_batch({"page": block.column("page"), "value": n, **ends})


def release(way: str, counts: Path, out: Path) -> None:
    """Count in one way."""
    source, options = counts if way == "rows" else mo.counted(counts, "n", complete=True), {}
    budget = mo.zcdp("0.015") if way == "gaussian" else mo.approx(2, "1e-9")
    cost = {"rho": "0.015"} if way == "gaussian" else {"epsilon": "0.1"}
    if way == "threshold":
        options = {"at_least": 90}
    if way == "drawn":
        source, options, cost = mo.counted(counts, "n"), {"key_budget": KEYS}, {"epsilon": 1}
    if way in {"joined", "rows"}:
        options = {"keys": counts}
        source = source if way == "rows" else mo.counted(counts, "n")
    mo.Curator(source, budget=budget).count_to(out, "page", **options, **cost)


def work(way: str, folder: Path) -> None:
    """Run one way in this process, and print what it took."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    counts, out = folder / "counts.parquet", folder / "out.parquet"
    start = time.process_time()
    if way == "floor":
        write(out, floor(counts))
    else:
        release(way, counts, out)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = pq.read_metadata(out).num_rows
    print(json.dumps({"seconds": seconds, "peak": peak, "rows": rows}))


def bulk(*, quick: bool) -> tuple[str, list[Target]]:
    """Return the table of the ways, and the targets."""
    keys = QUICK if quick else FULL
    lines, targets, reference = [], [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "counts.parquet", batches(keys))
        for way, words in WAYS.items():
            command = [sys.executable, "-m", "benchmarks.bulk", way, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout)
            (Path(folder) / "out.parquet").unlink()
            seconds, peak = found["seconds"], found["peak"]
            reference = reference or seconds
            cells = [f"{seconds:.1f}", f"{seconds / keys * 1e9:.0f}", f"{seconds / reference:.1f}"]
            lines.append([words, f"{found['rows']:,}", *cells, f"{peak:.2f}"])
            if way != "floor":
                targets += [
                    Target(f"{keys:,} keys, {words}", 300 * keys / FULL, seconds, unit="s"),
                    Target("the same, peak memory", 4, peak, unit="GB"),
                ]
    header = ["way", "rows shown", "CPU seconds", "ns a key", "/ floor", "peak GB"]
    text = f"""## Counts of {keys:,} keys

`count_to`, from Parquet to Parquet, on one core. CPU time is that of user and system together; up
to a half of it is the system's, for random numbers most of all. The floor reads the same table, and
writes columns of the same kind without noise.

{table(header, lines)}"""
    return text, targets


if __name__ == "__main__":
    work(sys.argv[1], Path(sys.argv[2]))
