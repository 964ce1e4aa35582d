"""Quantiles: relative error, rank error beside tight bounds, width of the interval, and speed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest
from benchmarks.datasets import income
from benchmarks.methods import CachedReader
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.release import ScalarEstimate
from modicum.runtime.run import run

N = 100_000


@dataclass(frozen=True, slots=True)
class Effort:
    """Data sets, releases of each, rows of the speed part, repetitions there."""

    datasets: int
    releases: int
    rows: int
    repeats: int


FULL = Effort(datasets=20, releases=40, rows=10_000_000, repeats=10)
QUICK = Effort(datasets=4, releases=25, rows=10_000_000, repeats=3)


@dataclass(frozen=True, slots=True)
class Cell:
    """Errors of all releases of one kind."""

    relative: NDArray[np.float64]
    ranks: NDArray[np.float64]
    widths: NDArray[np.float64]
    covered: float


def answers(
    question: modicum.Query, reader: CachedReader, seed: str, releases: int
) -> list[ScalarEstimate]:
    """Release several times; summaries of the data are read once."""
    entropy = SeededEntropy(seed)
    found = []
    for _ in range(releases):
        walk = run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"]
        assert walk.answer is not None
        found.append(walk.answer)
    return found


def measure(q: float, bound: float | None, level: float | None, effort: Effort) -> Cell:
    """Release on fresh incomes within ±bound, or within the data's own ends if there is none."""
    relative, ranks, widths, covered = [], [], [], []
    for k in range(effort.datasets):
        x = np.sort(income(default_rng([5, k]), N))
        truth = float(np.quantile(x, q))
        within = (float(x[0]), float(x[-1])) if bound is None else (-bound, bound)
        question = query.quantile(q=q, within=within, epsilon=1, level=level)
        for answer in answers(question, CachedReader(x), f"{q} {k}", effort.releases):
            value = float(answer.value)
            below, upto = np.searchsorted(x, value, "left"), np.searchsorted(x, value, "right")
            ranks.append(max(0.0, below - q * N, q * N - upto))
            relative.append(abs(value / truth - 1))
            lower, upper = answer.error_model.interval(0.95, None)
            widths.append((upper - lower) / 2 / truth)
            covered.append(lower <= truth <= upper)
    return Cell(np.array(relative), np.array(ranks), np.array(widths), float(np.mean(covered)))


def quantiles(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    rows, targets = [], []
    for q in (0.5, 0.9, 0.99):
        for level in (0.95, None):
            tight = measure(q, None, level, effort)
            for bound in (1e9, 1e15):
                cell = measure(q, bound, level, effort)
                rows.append(_row(q, bound, level, cell, tight))
                if bound == 1e9 and level is not None and q < 0.95:
                    targets.append(_target(q, cell))
    text = f"""## Quantiles of 100,000 incomes, ε = 1

{effort.datasets} data sets of lognormal(10.8, 0.9), {effort.releases} releases of each. Errors are
relative to `numpy.quantile`; ranks are those by which a point misses q n; "tight" is the same
release within the data's own ends, which are not public. The interval is at 95 %; without it
(`level=None`) nearly the whole cost goes to the point.

{table(_HEADER, rows)}"""
    return text, [*targets, *_speed(effort)]


_HEADER = [
    "q",
    "within",
    "interval",
    "median error",
    "95 % below",
    "mean rank error",
    "tight",
    "half width of the interval",
    "covered",
]


def _row(q: float, bound: float, level: float | None, cell: Cell, tight: Cell) -> list[str]:
    return [
        f"{q:g}",
        f"±{bound:g}",
        "no" if level is None else "yes",
        f"{np.median(cell.relative):.2g}",
        f"{np.quantile(cell.relative, 0.95):.2g}",
        f"{cell.ranks.mean():.2f}",
        f"{tight.ranks.mean():.2f}",
        "" if level is None else f"{np.median(cell.widths):.2g}",
        "" if level is None else f"{cell.covered:.1%}",
    ]


def _target(q: float, cell: Cell) -> Target:
    limit = {0.5: 5e-5, 0.9: 1e-4}[q]
    median = float(np.median(cell.relative))
    # Standard error of a median, from the share of values below and above it.
    spread = np.quantile(cell.relative, [0.5 + z / len(cell.relative) ** 0.5 for z in (-1, 1)])
    margin = float(spread[1] - spread[0]) / 2
    note = f"{len(cell.relative)} releases"
    return Target(f"median relative error, q = {q:g}", limit, median, "", note=note, margin=margin)


def _speed(effort: Effort) -> Iterator[Target]:
    x = income(default_rng(6), effort.rows)
    times = fastest(
        {
            "sum": lambda: np.sum(x),
            "median": lambda: modicum.median(x, within=(-1e9, 1e9), epsilon=1),
            "numpy": lambda: np.median(x),
        },
        effort.repeats,
    )
    note = f"numpy.median {times['numpy'] / times['sum']:.1f}x"
    name = f"median of {effort.rows:,} float64 in memory / numpy.sum"
    yield Target(name, 10, times["median"] / times["sum"], note=note)
