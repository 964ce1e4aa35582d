"""What people wait for after and around a release: ``python -m benchmarks waits``.

Groups that are shown and kept, text that says whose a row is, cross tables, a mean of a million
rows, and the start of the command line: each as a ratio to something that is measured in turns with
it. CPU time; the fastest round counts.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import modicum as mo
from benchmarks.clock import fastest
from benchmarks.targets import Target, table
from modicum.statistics.groups import pooled_law

WITHIN = (-1e9, 1e9)


def _seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def kept(groups: int, rounds: int) -> list[Target]:
    """A mean by very many groups: its table and its JSON beside the release."""
    rng, rows = np.random.default_rng(0), 10 * groups
    frame = pl.DataFrame({"g": rng.integers(0, groups, rows), "x": rng.lognormal(10, 1, rows)})
    times, size = {"release": np.inf, "frame": np.inf, "json": np.inf}, 0
    for _ in range(rounds):
        by_group = mo.Curator(frame, budget=mo.pure(1)).group_by("g", keys=range(groups))
        made: list[mo.GroupedRelease] = []
        asked = mo.query.mean("x", within=WITHIN, epsilon=1)
        ran = _seconds(lambda: made.append(by_group.run(asked)))  # noqa: B023 -- called at once
        times["release"] = min(times["release"], ran)
        for name, show in (("frame", made[0].frame), ("json", made[0].to_json)):
            pooled_law._excess.cache_clear()  # each is made as if it were the first
            times[name] = min(times[name], _seconds(show))
        size = len(made[0].to_json())
    name = f"mean of {groups:,} groups"
    return [
        Target(f"frame() / {name}", 0.3, times["frame"] / times["release"]),
        Target(f"to_json() / {name}", 0.6, times["json"] / times["release"]),
        Target("JSON of a group", 4.5, size / groups / 1e3, unit="kB"),
    ]


def persons(rows: int, rounds: int) -> Target:
    """A mean of persons whose names are text, beside the same with integers."""
    rng = np.random.default_rng(0)
    whole = pl.DataFrame(
        {"who": rng.integers(0, rows // 10, rows), "x": rng.lognormal(10, 1, rows)}
    )
    text = whole.with_columns(pl.format("p{}", pl.col("who")).alias("who"))
    unit = mo.unit_of("who")
    tasks = {
        name: (lambda frame=frame: mo.mean(frame, "x", epsilon=1, unit=unit))
        for name, frame in (("whole", whole), ("text", text))
    }
    seconds = fastest(tasks, rounds)
    return Target("persons by text / by integers", 3, seconds["text"] / seconds["whole"])


def tables(rows: int, rounds: int) -> Target:
    """A cross table of two columns, beside the labels of one."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.integers(0, 20, rows), "b": rng.integers(0, 30, rows)})
    keys = {"a": range(20), "b": range(30)}
    seconds = fastest(
        {
            "cells": lambda: mo.crosstab(frame, "a", "b", keys=keys, epsilon=1),
            "labels": lambda: mo.value_counts(frame, "a", keys=range(20), epsilon=1),
        },
        rounds,
    )
    return Target("crosstab / value_counts", 4, seconds["cells"] / seconds["labels"])


def mean(rows: int, rounds: int) -> Target:
    """A mean of as many rows as subsamples cost most beside."""
    x = np.random.default_rng(1).lognormal(10.5, 0.5, rows)
    seconds = fastest(
        {
            "mean": lambda: mo.mean(x, within=WITHIN, epsilon=1),
            "sums": lambda: [x.sum() for _ in range(10)],
        },
        rounds,
    )
    return Target(f"mean of {rows:,} rows / numpy.sum", 35, 10 * seconds["mean"] / seconds["sums"])


def command(rounds: int) -> Target:
    """``modicum mean`` of a small file as a process, beside Python's import of Polars."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        pl.DataFrame({"x": np.random.default_rng(0).lognormal(10, 1, 10_000)}).write_csv(path)
        ours = ["-m", "modicum", "mean", str(path), "x", "--epsilon", "1"]
        times = {"mean": np.inf, "polars": np.inf}
        for _ in range(rounds):
            for name, argv in (("mean", ours), ("polars", ["-c", "import numpy, polars"])):
                times[name] = min(times[name], _process([sys.executable, *argv]))
    return Target("modicum mean FILE / import polars", 2.5, times["mean"] / times["polars"])


def _process(argv: list[str]) -> float:
    """CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def waits(*, quick: bool) -> tuple[str, list[Target]]:
    """Return the table of the ratios, and its targets."""
    rows, rounds = (100_000, 3) if quick else (10**6, 9)
    targets = [
        *kept(1000 if quick else 10_000, 2 if quick else 3),
        persons(rows, rounds),
        tables(rows, rounds),
        mean(rows, 3 * rounds),
        command(rounds),
    ]
    lines = [[each.name, f"{each.measured:.2f}", each.unit] for each in targets]
    text = f"""## What people wait for

CPU time of what follows a release or comes before it, as a ratio to what is measured in turns.

{table(["", "measured", ""], lines)}"""
    return text, targets
