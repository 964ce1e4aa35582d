"""Seeded releases of every statistic, in numbers: what no change of the house may move."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.research.papers.registry import PAPERS
from modicum.statistics.registry import REGISTRY

CORPUS = Path(__file__).with_name("corpus.jsonl")
FLOATS = ("value", "interval", "values", "lower", "upper")
COSTS = {"pure": mo.pure(1), "zcdp": mo.zcdp("0.05")}
_WRITTEN_AS = {
    "huber": "huber_location",
    "lp_center": "lp_location",
    "max": "maximum",
    "min": "minimum",
    "monotone_statistic": "monotone",
    "var": "variance",
    "vector_statistic": "vector",
}
ONE_COLUMN = {"radial", "gradient"}  # of rows that are as wide as their option says
PERSONS = ("count", "sum", "mean", "median", "var")  # of persons with all their rows too
ON_A_RANGE = {"cdf", "geometric_mean", "histogram"}  # with edges or a lowest value of their own
WITHIN = {"skewed": (-1e9, 1e9), "mostly zeros": (0, 168), "few": (-1000, 5000)}


def tables() -> dict[str, NDArray[np.float64]]:
    """Skewed amounts, hours that are mostly 0, and a dozen rows; three columns each."""
    rng = np.random.default_rng(20)
    hours = np.where(rng.random((2100, 3)) < 0.7, 0.0, np.round(rng.normal(38, 9, (2100, 3))))
    return {
        "skewed": rng.lognormal(3, 1, (2400, 3)),
        "mostly zeros": hours.clip(0, 168),
        "few": rng.normal(40, 8, (12, 3)),
    }


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the registry with one of its options, a cost and a table.

    Its range is given, or ``found``.
    """

    row: Any
    option: int
    cost: str
    table: str
    persons: bool = False
    found: bool = False

    @property
    def name(self) -> str:
        """Unique and stable, with the names that statistics had when the corpus was written."""
        row = self.row
        statistic = _WRITTEN_AS.get(row.statistic, row.statistic)
        table = self.table + ", persons" * self.persons + ", no range" * self.found
        return f"{statistic}, {row.method}, option {self.option}, {self.cost}, {table}"

    def released(self, data: NDArray[np.float64]) -> mo.Release | mo.ArrayRelease:
        """Release it with seeded draws."""
        row, budget = self.row, COSTS[self.cost]
        given = row.needs_range and not self.found
        lattice = Lattice.within(WITHIN[self.table]) if given else None
        query = row.query(None, lattice, budget, row.options[self.option])
        if self.persons:
            return self._of_persons(query, data[:, 0])
        several = row.of_rows and row.method not in ONE_COLUMN
        curator = mo.Curator(
            data if several else data[:, 0].copy(),
            budget=budget,
            entropy=SeededEntropy(self.name),
        )
        return curator.run(query)

    def _of_persons(self, query: Any, x: NDArray[np.float64]) -> mo.Release:
        """Release it for persons who own a few rows each, all of which count."""
        query = self.row.query("x", query.lattice, query.budget, query.options)
        who = np.minimum(np.arange(len(x)) // 4, 1000)  # the last one owns what is left
        curator = mo.Curator(
            pa.table({"who": who, "x": x}),
            unit=mo.unit_of("who"),
            budget=query.budget,
            entropy=SeededEntropy(self.name),
        )
        return curator.run(query)


def cases() -> Iterator[Case]:
    """All of them, in a fixed order."""
    for name in PERSONS:
        row = next(row for row in REGISTRY if row.statistic == name and not row.of_rows)
        for cost in COSTS:
            yield Case(row, 0, cost, "skewed", persons=True)
    for row in (*REGISTRY, *PAPERS):
        for option in range(len(row.options)):
            for cost in COSTS:
                if cost in row.kinds:
                    for table in WITHIN:
                        yield Case(row, option, cost, table)
    for row in REGISTRY:
        if row.needs_range and row.finds_range and row.statistic not in ON_A_RANGE:
            for cost in COSTS:
                if cost in row.kinds:
                    yield Case(row, 0, cost, "skewed", found=True)


def observed(case: Case, release: mo.Release | mo.ArrayRelease) -> dict[str, Any]:
    """Return what is compared: every draw, its cost, and the answer."""
    found = json.loads(release.to_json())
    answer = {key: found[key] for key in (*FLOATS, "code", "usable") if key in found}
    return {
        "case": case.name,
        **answer,
        "draws": [[step["label"], step["outcome"], _cost(step)] for step in found["transcript"]],
    }


def _cost(step: dict[str, Any]) -> str:
    return next((str(value) for key, value in step.items() if key.endswith("_exact")), "")
