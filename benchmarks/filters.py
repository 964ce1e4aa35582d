"""Rows that are chosen, and a column that is made, beside what the engine itself does."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import default_rng

import modicum as mo
from benchmarks.clock import fastest_both
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

WITHIN = (-1e9, 1e9)
WHERE, MADE = "age >= 18 and region == 'North'", "income / 12 + age"
REGIONS = ("North", "South", "East", "West")


@dataclass(frozen=True, slots=True)
class Effort:
    """Rows of the table, and rounds in which everything is timed once."""

    rows: int
    rounds: int


FULL = Effort(10_000_000, 5)
QUICK = Effort(200_000, 2)


@dataclass(frozen=True, slots=True)
class Engine:
    """A table, and how its own engine chooses the rows and makes the column."""

    name: str
    table: Any
    chosen: Callable[[], Any]
    made: Callable[[], Any]


def engines(rows: int, folder: Path) -> Iterator[Engine]:
    """The same table in every engine; a file is read by Polars."""
    rng = default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 95, rows),
            "income": rng.lognormal(10, 1, rows),
            "region": rng.choice(REGIONS, rows),
        }
    )
    chosen, made = "age >= 18 and region = 'North'", "income / 12 + age"
    polars, path = pl.from_pandas(frame), folder / "people.parquet"
    polars.write_parquet(path)
    arrow, connection = polars.to_arrow(), duckdb.connect()
    connection.execute(f"create table people as select * from '{path}'")
    is_chosen = (pl.col("age") >= 18) & (pl.col("region") == "North")
    is_made = (pl.col("income") / 12 + pl.col("age")).alias("made")

    def kept(column: str) -> pa.Table:
        mask = pc.and_(
            pc.greater_equal(arrow["age"], 18), pc.equal(arrow["region"], pa.scalar("North"))
        )
        return arrow.select([column]).filter(mask)

    yield Engine(
        "pandas",
        frame,
        lambda: frame.loc[(frame["age"] >= 18) & (frame["region"] == "North"), "income"],
        lambda: frame["income"] / 12 + frame["age"],
    )
    yield Engine(
        "Polars",
        polars,
        lambda: polars.filter(is_chosen)["income"],
        lambda: polars.select(is_made)["made"],
    )
    yield Engine(
        "Arrow",
        arrow,
        lambda: kept("income"),
        lambda: pc.add(pc.divide(arrow["income"], 12.0), arrow["age"]),
    )
    yield Engine(
        "DuckDB",
        connection.table("people"),
        lambda: connection.sql(f"select income from people where {chosen}").fetchnumpy(),
        lambda: connection.sql(f"select {made} as made from people").fetchnumpy(),
    )
    yield Engine(
        "Parquet file",
        path,
        lambda: pl.scan_parquet(path).filter(is_chosen).select("income").collect(),
        lambda: pl.scan_parquet(path).select(is_made).collect(),
    )


def views(table: Any) -> tuple[mo.Curator, mo.Curator]:
    """A curator of the chosen rows, and one of the table with the made column; seeded alike."""
    curator = mo.Curator(table, budget=mo.pure(1000), entropy=SeededEntropy("filters"))
    return curator.where(WHERE), curator.with_columns(made=MADE)


def ours(engine: Engine, made: bool) -> float:
    """The mean of the chosen rows, or of the made column."""
    chosen, with_made = views(engine.table)
    asked = (with_made, "made") if made else (chosen, "income")
    return asked[0].mean(asked[1], within=WITHIN, epsilon=1).value


def theirs(engine: Engine, made: bool) -> float:
    """The same of what the engine chose or made itself."""
    found = engine.made() if made else engine.chosen()
    if isinstance(found, dict):
        (found,) = found.values()
    if isinstance(found, pl.DataFrame):
        found = found.to_series()
    if isinstance(found, pa.Table):
        found = found.column(0)
    return mo.mean(found, within=WITHIN, epsilon=1).value


def sums(engine: Engine) -> tuple[float, float]:
    """Sums of both, exact on the lattice, with the same noise whatever the engine."""
    chosen, with_made = views(engine.table)
    one = chosen.sum("income", within=(0, 1e7), method="bounded", epsilon=1)
    return one.value, with_made.sum("made", within=(0, 1e7), method="bounded", epsilon=1).value


STATED, FEW, RELEASES = "age >= 0 and age < 120", 500, 40


def stated() -> tuple[str, list[Target]]:
    """Means of few rows within the range that their condition states, and within it if given."""
    rng = default_rng(8)
    ages = np.where(rng.random(FEW) < 0.03, 999.0, rng.integers(18, 95, FEW))
    curator = mo.Curator(
        pd.DataFrame({"age": ages}), budget=mo.pure(1000), entropy=SeededEntropy("stated")
    ).where(STATED)
    asked = (
        (lambda: curator.mean("age", epsilon=1)),
        (lambda: curator.mean("age", within=(0, 120), epsilon=1)),
    )
    found, given = ([ask() for _ in range(RELEASES)] for ask in asked)
    lost = sum(not each.usable for each in found)
    widths = [
        float(np.median([each.interval().half_width for each in some])) for some in (found, given)
    ]
    usable = f"usable {RELEASES - lost} times of {RELEASES}"
    text = f"""A mean of {FEW} rows, 3 % of them with the code 999, of `where("{STATED}")` at ε = 1:
{usable}, ±{widths[0]:.2f}; with `within=(0, 120)` besides ±{widths[1]:.2f}."""
    return text, [
        Target("stated range, releases that are not usable", 0, lost, unit=f"of {RELEASES}"),
        Target("stated range, half-width / that of a given range", 1.2, widths[0] / widths[1]),
    ]


def filters(effort: Effort) -> tuple[str, list[Target]]:
    """Return the table of ratios, and the targets."""
    rows, targets, answers = [], [], set[tuple[float, float]]()
    with tempfile.TemporaryDirectory() as folder:
        for engine in engines(effort.rows, Path(folder)):
            tasks: dict[str, Callable[[], object]] = {
                f"{who.__name__} {made}": partial(who, engine, made)
                for who in (ours, theirs)
                for made in (False, True)
            }
            times = fastest_both(tasks, effort.rounds)
            row = [engine.name]
            for made, what in ((False, "where"), (True, "with_columns")):
                cpu, elapsed = (each[f"ours {made}"] / each[f"theirs {made}"] for each in times)
                row += [f"{cpu:.2f}x", f"{elapsed:.2f}x"]
                note = f"elapsed {elapsed:.2f}x"
                targets.append(Target(f"{what}, {engine.name}", 1.3, cpu, note=note))
            rows.append(row)
            answers.add(sums(engine))
    targets.append(Target("engines whose sums differ", 0, float(len(answers) - 1), unit="of 5"))
    few, more = stated()
    targets += more
    header = ["engine", "where, CPU", "elapsed", "with_columns, CPU", "elapsed"]
    text = f"""## Chosen rows and made columns

A mean of {effort.rows:,} rows within ±1e9, of `where("{WHERE}")` and of
`with_columns(made="{MADE}")`, over the engine's own filter or expression and the same release of
what that gave: the fastest of {effort.rounds} rounds, all tasks in turns in one process. DuckDB and
Polars push a filter into their own scan; ours reads the columns that it names, and computes with
missing values by one rule for all engines. Their sums are equal to the last bit.

{table(header, rows)}

{few}"""
    return text, targets
