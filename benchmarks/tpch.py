"""TPC-H: sums of contributions of unknown size, beside the errors that R2T's authors published.

R2T (Dong, Fang, Yi, Tao and Machanavajjhala, SIGMOD 2022) answers sums over a database of which a
customer, an order or a supplier may own any number of rows. Its errors are the third column of
``Result/TPCH/R2T_Q*.txt`` in https://github.com/hkustDB/Race-to-the-Top: means of ten runs, with a
global sensitivity of 10^6 that is given. The data are dbgen's at scale 1, made by ``tpchgen-cli``
(``pip install tpchgen-cli``), which makes the same rows.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import modicum as mo
from benchmarks.targets import Target, table
from modicum.exact.enclosure import float_nearest
from modicum.exact.entropy import SeededEntropy
from modicum.runtime.run import run
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader

TOOL = "tpchgen-cli"
EPSILONS = ("0.1", "0.2", "0.4", "0.8", "1.6", "3.2", "6.4", "12.8")
LIMIT = 0.1


@dataclass(frozen=True, slots=True)
class Question:
    """A query without self-joins: whose rows, which number x is summed if any, and R2T's errors."""

    name: str
    sql: str
    published: tuple[float, ...]


QUESTIONS = (
    Question(
        "Q3, rows of customers",
        "SELECT o_custkey AS unit FROM orders JOIN lineitem ON o_orderkey = l_orderkey WHERE "
        " o_orderdate < DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'",
        (65753.4, 32649.8, 14337.8, 7338.6, 2745.9, 1983.2, 840.6, 549.8),
    ),
    Question(
        "Q11, stock of suppliers",
        "SELECT ps_suppkey AS unit, CAST(ps_supplycost * ps_availqty AS DOUBLE) / 1e6 AS x "
        "FROM partsupp",
        (298203.2, 150764.4, 58406.1, 36438.3, 18311.1, 10917.2, 5157.7, 2416.2),
    ),
    Question(
        "Q12, lines of orders",
        "SELECT l_orderkey AS unit FROM lineitem",
        (12247.2, 5459.6, 2403.0, 1373.0, 623.9, 245.9, 182.0, 85.7),
    ),
    Question(
        "Q18, quantities of customers",
        "SELECT o_custkey AS unit, CAST(l_quantity AS DOUBLE) AS x FROM orders "
        "JOIN lineitem ON o_orderkey = l_orderkey",
        (1336230.4, 763048.0, 432793.7, 201957.5, 99594.7, 47680.7, 22290.2, 12163.5),
    ),
    Question(
        "Q20, lines of suppliers",
        "SELECT l_suppkey AS unit FROM lineitem",
        (299765.9, 139533.3, 73398.1, 34725.6, 20303.2, 8503.4, 3846.3, 2675.1),
    ),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of a cell, and the scale of the data: 1 is that of the published errors."""

    releases: int
    scale: float


FULL = Effort(200, 1.0)
QUICK = Effort(10, 0.01)


def available() -> bool:
    """Whether the generator is installed."""
    return shutil.which(TOOL) is not None


def tpch(effort: Effort) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets."""
    if not available():
        raise SystemExit(f"the part on TPC-H needs {TOOL}: pip install {TOOL}")
    with tempfile.TemporaryDirectory() as folder:
        names = "lineitem,orders,partsupp"
        make = [TOOL, "parquet", "-s", str(effort.scale), "--tables", names]
        subprocess.run([*make, "--output-dir", folder], check=True, capture_output=True)
        cells = [_cell(each, _reading(Path(folder)), effort.releases) for each in QUESTIONS]
    header = ["question", "truth", "", *(f"ε = {each}" for each in EPSILONS)]
    rows: list[list[str]] = []
    for question, (truth, ours, hindsight) in zip(QUESTIONS, cells, strict=True):
        lines = {"R2T": question.published, "`unit_of`": ours, "hindsight": hindsight}
        for place, (name, errors) in enumerate(lines.items()):
            about = ["", ""] if place else [question.name, f"{truth:,.0f}"]
            rows.append([*about, name, *(f"{each:,.4g}" for each in errors)])
    text = f"""## TPC-H, beside R2T

Mean absolute error of sums at scale {effort.scale:g} for ε-DP of a customer, an order or a
supplier with all their rows: the errors of R2T that its authors published (ten runs, told a global
sensitivity of 10^6); `sum("x")` or `count()` with `unit_of("unit")`, no range and no bound at all,
{effort.releases} releases; and the best clipping of the very data in hindsight with all of ε.

{table(header, rows)}"""
    if effort.scale != FULL.scale:
        return text, []
    targets = [
        Target(
            f"tpch, {question.name}: error over R2T's, the worst ε",
            LIMIT,
            max(mine / theirs for mine, theirs in zip(ours, question.published, strict=True)),
            note="a tenth",
        )
        for question, (_, ours, _) in zip(QUESTIONS, cells, strict=True)
    ]
    return text, targets


def _reading(folder: Path) -> Callable[[str], Any]:
    connection = import_module("duckdb").connect()
    for name in ("lineitem", "orders", "partsupp"):
        connection.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.parquet'")
    return lambda sql: connection.sql(sql).to_arrow_table()


def _cell(
    question: Question, read: Callable[[str], Any], releases: int
) -> tuple[float, list[float], list[float]]:
    """Return the true sum, our mean errors and the best ones in hindsight, for each ε."""
    rows, unit = read(question.sql), mo.unit_of("unit")
    summed = "x" in rows.column_names
    x = rows.column("x").to_numpy() if summed else np.ones(len(rows))
    owners = np.unique(rows.column("unit").to_numpy(), return_inverse=True)[1]
    totals = np.sort(np.bincount(owners, weights=x))[::-1]
    # What a person adds up to does not change from release to release: it is added up once.
    reader = TableReader(open_source(rows), unit, ["x"] if summed else [])
    ours, hindsight = [], []
    excess = np.cumsum(totals) - totals * np.arange(1, len(totals) + 1)
    for epsilon in EPSILONS:
        asked = mo.query.sum("x", epsilon=epsilon) if summed else mo.query.count(epsilon=epsilon)
        errors = []
        for i in range(releases):
            entropy = SeededEntropy(f"{question.name} {epsilon} {i}")
            done = run(
                {"it": asked.for_unit(unit)},
                reader,
                unit=unit,
                charge=lambda: None,
                entropy=entropy,
            )
            answer: Any = done["it"].answer
            errors.append(abs(float_nearest(answer.value) - float(x.sum())))
        ours.append(float(np.mean(errors)))
        hindsight.append(float((totals / float(epsilon) + excess).min()))
    return float(x.sum()), ours, hindsight


def _nothing() -> None:
    """A benchmark has no budget to charge."""
