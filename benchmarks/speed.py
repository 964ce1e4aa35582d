"""Speed as ratios to a reference that runs in turns with the candidate, and extra memory."""

import os
import resource
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest, fastest_both
from benchmarks.methods import WITHIN, CachedReader
from benchmarks.targets import Target, table
from modicum.exact.entropy import SYSTEM
from modicum.exact.laplace import discrete_laplace
from modicum.privacy.event import PureDP
from modicum.privacy.unit import Unit
from modicum.runtime.run import run
from modicum.runtime.steps import Reads
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.summaries.subsample import Records


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows in memory, for the row orders, in a file and of persons; repetitions."""

    rows: int
    orders: int
    file: int
    of_persons: int
    repeats: int


FULL = Sizes(100_000_000, orders=30_000_000, file=100_000_000, of_persons=10_000_000, repeats=5)
QUICK = Sizes(10_000_000, orders=10_000_000, file=10_000_000, of_persons=1_000_000, repeats=3)


def release(table: object, column: str | None = None) -> float:
    """One release, as a user makes it."""
    return modicum.mean(table, column, within=WITHIN, epsilon=1).value


def speed(sizes: Sizes) -> tuple[str, list[Target]]:
    """Run all parts."""
    targets = [
        *_in_memory(sizes),
        *_orders(sizes),
        *_parquet(sizes),
        *_without_a_range(sizes),
        *_persons(sizes),
        *_memory(sizes),
        *_small(sizes),
        *_imports(sizes),
    ]
    header = ["what", "measured", "note"]
    rows = [[t.name, t.row()[2], t.note] for t in targets]
    text = f"""## Speed: ratios of CPU times (of elapsed times for the file)

The fastest of {sizes.repeats} rounds or more, candidate and reference in turns in one process. A
release is `modicum.mean(x, within=(-1e9, 1e9), epsilon=1)`, everything included.

{table(header, rows)}"""
    return text, targets


def _in_memory(sizes: Sizes) -> Iterator[Target]:
    x = default_rng(1).normal(size=sizes.rows)
    source, question = open_source(x), modicum.query.mean(within=WITHIN, epsilon=1)
    first_step = next(question.begin(PureDP(Fraction(1))))
    assert isinstance(first_step, Reads)
    reads = [ask for ask in first_step.reads if not isinstance(ask.reduction, Records)]
    cached = CachedReader(x)

    def draws() -> None:
        run({"mean": question}, cached, unit=Unit(), charge=lambda: None, entropy=SYSTEM)

    draws()
    times = fastest(
        {
            "sum": lambda: np.sum(x),
            "release": lambda: release(x),
            "pass": lambda: read(source, reads, SYSTEM),
            "draws": draws,
        },
        sizes.repeats,
    )
    parts = f"the pass {times['pass'] / times['sum']:.2f}x, centre and draws "
    parts += f"{times['draws'] / times['sum']:.2f}x"
    yield Target(
        f"release of {sizes.rows:,} float64 in memory / numpy.sum",
        5,
        times["release"] / times["sum"],
        goal=4,
        note=parts,
    )


def _orders(sizes: Sizes) -> Iterator[Target]:
    x = default_rng(2).normal(size=sizes.orders)
    ordered = np.sort(x)
    orders: dict[str, NDArray[np.float64]] = {
        "random": x,
        "ascending": ordered,
        "descending": ordered[::-1].copy(),
        # Every record is a new extreme when it comes: by increasing size.
        "outward": x[np.argsort(np.abs(x))],
        "constant": np.full(sizes.orders, 5.0),
    }
    tasks = {name: lambda a=a: release(a) for name, a in orders.items()}
    times = fastest({"sum": lambda: np.sum(x), **tasks}, 4 * sizes.repeats)
    ratios = {name: times[name] / times["sum"] for name in orders}
    yield Target(
        f"slowest / fastest of five row orders, {sizes.orders:,} rows",
        1.4,
        max(ratios.values()) / min(ratios.values()),
        note="over numpy.sum: " + ", ".join(f"{k} {v:.2f}x" for k, v in ratios.items()),
    )


def _write_file(path: Path, rows: int) -> None:
    schema = pa.schema([("x", pa.float64())])
    rng = default_rng(3)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 1_000_000):
            part = rng.normal(size=min(1_000_000, rows - start))
            writer.write_table(pa.table({"x": part}, schema=schema), row_group_size=1_000_000)


def _parquet(sizes: Sizes) -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        _write_file(path, sizes.file)

        def scan() -> None:
            for _ in open_source(path).chunks(["x"]):
                pass

        def batches() -> None:
            for _ in pq.ParquetFile(path).iter_batches():
                pass

        cpu, elapsed = fastest_both(
            {"scan": scan, "arrow": batches, "release": lambda: release(path, "x")}, sizes.repeats
        )
        yield Target(
            f"release of a Parquet file of {sizes.file:,} rows / the reader's bare scan",
            1.6,
            elapsed["release"] / elapsed["scan"],
            note="elapsed time: batches are read ahead in a second thread; "
            f"{elapsed['release'] / elapsed['arrow']:.2f}x PyArrow's own batches as they come by "
            f"default; CPU time {cpu['release'] / cpu['scan']:.2f}x and "
            f"{cpu['release'] / cpu['arrow']:.2f}x",
        )
        small = path.with_name("small.parquet")  # read first, so that imports are not counted
        _write_file(small, 1000)
        tenth = path.with_name("tenth.parquet")
        _write_file(tenth, sizes.file // 10)
        for file, rows in ((tenth, sizes.file // 10), (path, sizes.file)):
            yield _peak("Parquet file", f"t, small = {str(file)!r}, {str(small)!r}", "'x'", rows)


def _without_a_range(sizes: Sizes) -> Iterator[Target]:
    """A range that is found takes a pass more."""
    rows = sizes.orders
    x = default_rng(5).exponential(size=rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        _write_file(path, rows)
        cpu, elapsed = fastest_both(
            {
                "given": lambda: release(x),
                "found": lambda: modicum.mean(x, epsilon=1),
                "file, given": lambda: release(path, "x"),
                "file, found": lambda: modicum.mean(path, "x", epsilon=1),
            },
            sizes.repeats,
        )
    name = f"mean without a range / with one, {rows:,} rows"
    yield Target(f"{name} in memory", 1.6, cpu["found"] / cpu["given"])
    ratio = elapsed["file, found"] / elapsed["file, given"]
    note = f"elapsed time; CPU time {cpu['file, found'] / cpu['file, given']:.2f}x"
    yield Target(f"{name}, Parquet", 1.6, ratio, note=note)


def _persons(sizes: Sizes) -> Iterator[Target]:
    """The mean of all rows of persons, ten a person, beside DuckDB's totals of each person."""
    rows, rng = sizes.of_persons, default_rng(6)
    people = rng.integers(0, rows // 10, rows)
    held = pa.table({"person": people, "x": rng.exponential(size=rows)})  # noqa: F841
    connection = import_module("duckdb").connect()
    connection.execute("create table held_rows as select * from held")
    relation = connection.table("held_rows")
    totals = "select person, sum(x), count(*) from held_rows group by person"
    unit = modicum.unit_of("person")
    times = fastest(
        {
            "totals": lambda: connection.execute(totals).fetchnumpy(),
            "mean": lambda: modicum.mean(relation, "x", unit=unit, epsilon=1),
        },
        sizes.repeats,
    )
    name = f"mean of {rows:,} rows of {rows // 10:,} persons / DuckDB's GROUP BY person"
    yield Target(name, 3, times["mean"] / times["totals"], note="of a table of DuckDB, no range")


_PEAK = """
import numpy as np, modicum
from benchmarks.speed import high_water
def mean(t, c=None): return modicum.mean(t, c, within=(-1e9, 1e9), epsilon=1)
{make}
mean(small, {column})
before = high_water()
mean(t, {column})
print(high_water() - before)
"""


def high_water() -> float:
    """Largest resident size of this process so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the parent of a forked process too
        (line,) = [text for text in status.read_text().splitlines() if text.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _peak(what: str, make: str, column: str, rows: int) -> Target:
    """Growth of the largest resident size during one release in a fresh process."""
    measured = float(_python(_PEAK.format(make=make, column=column)))
    return Target(f"extra memory, {what} of {rows:,} rows", 64, measured, unit="MB")


def _python(script: str, **variables: str) -> str:
    command = [sys.executable, "-c", script]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


def _memory(sizes: Sizes) -> Iterator[Target]:
    make = f"t, small = np.empty({sizes.rows}), np.arange(1000.0); "
    make += "np.random.default_rng(1).standard_normal(out=t)"
    yield _peak("array", make, "None", sizes.rows)


def _small(sizes: Sizes) -> Iterator[Target]:
    x = default_rng(4).normal(size=100_000)
    times = fastest({"sort": lambda: np.sort(x), "release": lambda: release(x)}, 40)
    yield Target("release of 100,000 rows / numpy.sort", 25, times["release"] / times["sort"])
    scale = Fraction(12_345)
    times = fastest(
        {
            "bits": lambda: [secrets.randbits(64) for _ in range(2000)],
            "laplace": lambda: [discrete_laplace(scale, SYSTEM) for _ in range(2000)],
        },
        20,
    )
    yield Target(
        "one exact discrete Laplace draw / secrets.randbits(64)",
        10,
        times["laplace"] / times["bits"],
    )


def _imports(sizes: Sizes) -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as bytecode:  # both as installed: compiled once, then cached

        def seconds(statement: str) -> float:
            script = f"import time; t = time.process_time(); {statement}; "
            script += "print(time.process_time() - t)"
            cached = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
            return float(_python(script, **cached))

        statements = ("import numpy", "import modicum", "from modicum import mean")
        rounds = [[seconds(text) for text in statements] for _ in range(4 * sizes.repeats)]
    numpy, package, first_use = (min(column) for column in zip(*rounds, strict=True))
    note = f"public names are imported when first asked for: {first_use / numpy:.2f}x with mean"
    yield Target("import modicum / import numpy", 1.5, package / numpy, note=note)
