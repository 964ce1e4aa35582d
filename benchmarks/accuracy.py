"""Mean absolute error over that of the best clipping in hindsight, for every shape and method."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray
from scipy import stats

from benchmarks.datasets import NINE, SHAPES, DataSet, income
from benchmarks.methods import METHODS
from benchmarks.oracle import hindsight
from benchmarks.targets import Target, table

SERIOUS = 10_000  # n ε from which the target of 1.5 is meant


@dataclass(frozen=True, slots=True)
class Effort:
    """How many data sets a cell, how many releases each, and which (ε, n)."""

    datasets: int
    releases: int
    cells: tuple[tuple[str, int], ...]
    income_releases: int
    workers: int = 2


FULL = Effort(
    datasets=20,
    releases=20,
    cells=(
        ("1", 10_000),
        ("1", 100_000),
        ("1", 1_000_000),
        ("0.5", 100_000),
        ("0.5", 1_000_000),
        ("0.1", 100_000),
        ("0.1", 1_000_000),
        ("3", 10_000),
        ("3", 100_000),
        ("1", 1000),
        ("1", 100),
        ("1", 30),
    ),
    income_releases=1000,
)
QUICK = Effort(
    datasets=4,
    releases=10,
    cells=(("1", 10_000), ("1", 100_000), ("0.1", 100_000), ("3", 10_000), ("1", 1000), ("1", 30)),
    income_releases=60,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """Errors of one method, shape, ε and n: one row a data set, over the oracle's cost."""

    shape: str
    method: str
    epsilon: str
    n: int
    ratios: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean of |error| / oracle."""
        return float(self.ratios.mean())

    @property
    def margin(self) -> float:
        """Half of the 95 % interval: Student's t over the data sets' own means.

        It holds the spread between data sets as well as that between releases.
        """
        means = self.ratios.mean(axis=1)
        quantile = stats.t.ppf(0.975, len(means) - 1)
        return float(quantile * means.std(ddof=1) / len(means) ** 0.5)


def measure(shape: DataSet, epsilon: str, n: int, effort: Effort) -> list[Cell]:
    """Run every method on the same data sets."""
    exact, errors = Fraction(epsilon), {name: [] for name in METHODS}
    for k in range(effort.datasets):
        x = np.sort(shape.sample(n, seed=k))
        truth, scale = float(x.mean()), hindsight(x, float(exact)).cost or 1.0
        seed = f"{shape.name} {epsilon} {n} {k}"
        for name, prepare in METHODS.items():
            answer = prepare(x, exact, seed)
            errors[name].append([abs(answer(i) - truth) / scale for i in range(effort.releases)])
    return [Cell(shape.name, m, epsilon, n, np.array(e)) for m, e in errors.items()]


def _measure(task: tuple[int, str, int, Effort]) -> list[Cell]:
    index, epsilon, n, effort = task
    return measure(SHAPES[index], epsilon, n, effort)


def measure_all(effort: Effort) -> list[Cell]:
    """Every shape at every (ε, n), the longest first."""
    tasks = [(i, e, n, effort) for e, n in effort.cells for i in range(len(SHAPES))]
    tasks.sort(key=lambda task: -task[2])
    with ProcessPoolExecutor(effort.workers) as pool:
        return [cell for cells in pool.map(_measure, tasks) for cell in cells]


def income_errors(n: int, releases: int) -> NDArray[np.float64]:
    """|estimate/truth - 1| at ε = 1 on the incomes that the libraries are compared on."""
    x = np.sort(income(default_rng(0), n))
    answer = METHODS["modicum"](x, Fraction(1), f"income {n}")
    return np.array([abs(answer(i) / x.mean() - 1) for i in range(releases)])


def accuracy(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the tables and the targets."""
    cells = measure_all(effort)
    sections = [_header(effort)]
    for epsilon, n in effort.cells:
        here = [c for c in cells if (c.epsilon, c.n) == (epsilon, n)]
        sections.append(f"### ε = {epsilon}, n = {n:,}\n\n{_cell_table(here)}")
    return "\n\n".join(sections), [*_targets(cells, effort), *_income_targets(effort)]


def _header(effort: Effort) -> str:
    count = effort.datasets * effort.releases
    return f"""## Accuracy: mean |error| over the best clipping in hindsight

Public range ±1e9, {count} releases a cell ({effort.releases} on each of {effort.datasets} data
sets), ± half of a 95 % interval. Divided by the cost of the oracle, which knows the best clipping
bounds of the very data set and spends the whole ε on noise (`benchmarks/oracle.py` has the
definition). *modicum* is `mean(method="adaptive")`, the default; *subset* is `method="subset"`,
Algorithm 3 of Dick, Kulesza, Sun and Suresh 2023, corrected; *Durfee* is Durfee's 2023 unbounded
quantile search for the bounds, then clipping (our code, with the size taken as public); *best clip*
draws at the oracle's bounds and is not private (its biases may cancel, the oracle's cost takes no
credit for that). For the constant, absolute error. Medians in brackets: rare very wide bounds show
in means only."""


def _cell_table(cells: list[Cell]) -> str:
    by_name = {(c.shape, c.method): c for c in cells}
    rows = []
    for shape in SHAPES:
        row = [shape.name]
        for method in METHODS:
            cell = by_name[shape.name, method]
            row.append(f"{cell.mean:.3g} ± {cell.margin:.2g} ({float(np.median(cell.ratios)):.2g})")
        rows.append(row)
    geometric = [
        f"{np.exp(np.mean([np.log(by_name[s.name, m].mean) for s in NINE])):.3g}" for m in METHODS
    ]
    return table(["data", *METHODS], [*rows, ["geometric mean of nine", *geometric]])


def _targets(cells: list[Cell], effort: Effort) -> Iterator[Target]:
    """For each shape the worst ε, over all sizes with n ε >= 10,000; then the nine together."""
    serious = [(e, n) for e, n in effort.cells if float(e) <= 1 and n * float(e) >= SERIOUS]
    ours = {(c.shape, c.epsilon, c.n): c for c in cells if c.method == "modicum"}
    for shape in NINE:
        pooled = {
            epsilon: np.hstack([ours[shape.name, e, n].ratios for e, n in serious if e == epsilon])
            for epsilon in dict.fromkeys(e for e, _ in serious)
        }
        each = {e: Cell(shape.name, "modicum", e, 0, ratios) for e, ratios in pooled.items()}
        worst = max(each.values(), key=lambda c: c.mean)
        listed = ", ".join(f"{c.mean:.2f} ± {c.margin:.2f} at ε = {e}" for e, c in each.items())
        yield Target(
            f"mean error over hindsight, {shape.name}",
            1.5,
            worst.mean,
            note=listed,
            margin=worst.margin,
        )
    for epsilon, n in serious:
        logs = [np.log(ours[shape.name, epsilon, n].mean) for shape in NINE]
        name = f"geometric mean of nine, ε = {epsilon}, n = {n:,}"
        yield Target(name, 1.5, float(np.exp(np.mean(logs))))


def _income_targets(effort: Effort) -> Iterator[Target]:
    for n, limit in ((100_000, 0.05), (1000, 2.0)):
        errors = income_errors(n, effort.income_releases)
        yield Target(
            f"median relative error of income, n = {n:,}, ε = 1",
            limit,
            100 * float(np.median(errors)),
            unit="%",
            note=f"{effort.income_releases} releases, 95 % of them below "
            f"{100 * float(np.quantile(errors, 0.95)):.2g} %",
        )
