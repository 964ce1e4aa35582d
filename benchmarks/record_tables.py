"""Cells of the guard of records that need a table: persons, weights, groups, several columns."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import default_rng

import modicum as mo
from benchmarks import people, slopes
from benchmarks.kinds import Floats
from benchmarks.many_columns import explained
from benchmarks.outcomes import Seen
from benchmarks.record_cells import SHAPES, Cell, Found
from modicum.exact.entropy import SeededEntropy

GROUPS = 4  # of the tables with groups: each has a fourth of the rows
PUBLIC = {kind.name: kind for kind in people.KINDS}
Answers = Iterator[tuple[Seen, float]]


@lru_cache(2)
def _table(shape: str, n: int) -> Any:
    """One column of a shape and four others, persons with one row, weights of 1, labels."""
    rng, numbers = default_rng([11, n]), np.arange(n)
    columns = {f"x{k}": SHAPES[shape](rng, n) for k in range(1, 5)}
    labels = {"g": numbers % GROUPS, "h": numbers // GROUPS % 2}
    return pd.DataFrame({"x": SHAPES[shape](rng, n), **columns, **labels, "p": numbers, "w": 1.0})


def _asked(cell: Cell, table: Any, i: int, unit: mo.Unit | None = None) -> mo.Curator:
    unit = {} if unit is None else {"unit": unit}
    entropy = SeededEntropy(f"{cell.name} {i}")
    return mo.Curator(table, budget=mo.pure(cell.epsilon), entropy=entropy, **unit)


def _worst(values: Floats, ends: Any, truths: Floats, code: str) -> tuple[Seen, float]:
    """The number of several that is the most half-widths off."""
    flat = [np.ravel(each).astype(float) for each in (values, *ends, truths)]
    value, lower, upper, truth = flat
    with np.errstate(all="ignore"):
        off = np.abs(value - truth) / (upper / 2 - lower / 2)
    i = int(np.argmax(np.where(np.isnan(off), 0.0, off)))
    return Seen(value[i], lower[i], upper[i], code), float(truth[i])


def _mean(cell: Cell, i: int) -> Answers:
    x = _table(cell.shape, cell.n)["x"]
    yield Seen.of(_asked(cell, x.to_frame(), i).mean("x", epsilon=cell.epsilon)), float(x.mean())


def _one_row(cell: Cell, i: int) -> Answers:
    table = _table(cell.shape, cell.n)
    asked = _asked(cell, table, i, mo.unit_of("p"))
    yield Seen.of(asked.mean("x", epsilon=cell.epsilon)), float(table["x"].mean())


def _weights(cell: Cell, i: int) -> Answers:
    table = _table(cell.shape, cell.n)
    release = _asked(cell, table, i).mean("x", weights="w", epsilon=cell.epsilon)
    yield Seen.of(release), float(table["x"].mean())


def _groups(cell: Cell, i: int) -> Answers:
    table = _table(cell.shape, cell.n)
    truths = table.groupby("g")["x"].mean()
    grouped = _asked(cell, table, i).group_by("g", keys=range(GROUPS))
    for key, release in grouped.mean("x", epsilon=cell.epsilon).items():
        yield Seen.of(release), float(truths[key])


def _crosstab(cell: Cell, i: int) -> Answers:
    table = _table(cell.shape, cell.n)
    truths = table.groupby(["g", "h"])["x"].sum()
    keys = {"g": range(GROUPS), "h": range(2)}
    found = _asked(cell, table, i).crosstab("g", "h", keys=keys, values="x", epsilon=cell.epsilon)
    for key, number in found.margin("g", "h").items():
        yield Seen(number.value, number.lower, number.upper, found.code), float(truths[key])


def _covariance(cell: Cell, i: int) -> Answers:
    table = _table(cell.shape, cell.n)[["x", "x1"]]
    found = _asked(cell, table, i).covariance(["x", "x1"], epsilon=cell.epsilon)
    truths = np.cov(table.to_numpy(), rowvar=False, ddof=0)
    yield _worst(found.values, found.interval(), truths, found.code)


def _describe(cell: Cell, i: int) -> Answers:
    names = ["x", *(f"x{k}" for k in range(1, 5))]
    table = _table(cell.shape, cell.n)[names]
    numbers = _asked(cell, table, i).describe(epsilon=cell.epsilon).numbers
    for name in names:
        mean, quartiles = numbers[f"mean {name}"], numbers[f"quartiles {name}"]
        yield Seen.of(mean), float(table[name].mean())
        truths = table[name].quantile([0.25, 0.5, 0.75]).to_numpy()
        yield _worst(quartiles.values, quartiles.interval(), truths, quartiles.code)


def _described_mean(cell: Cell, i: int) -> Answers:
    table = _table(cell.shape, cell.n)[["x"]]
    found = _asked(cell, table, i).describe(epsilon=cell.epsilon).numbers["mean x"]
    yield Seen.of(found), float(table["x"].mean())


@lru_cache(1)
def _public(name: str) -> Any:
    return PUBLIC[name].read()


def _persons(cell: Cell, i: int) -> Answers:
    rows = _public(cell.shape)
    yield people.released(rows, mo.unit_of("person"), "mean", i), float(rows["x"].mean())


@lru_cache(1)
def _rows(n: int, d: int) -> tuple[Floats, float]:
    data = slopes.SHAPES["normal"](default_rng([19, n, d]), n, d)
    return data, explained(slopes.least_squares(data)[0], data)


def _regression(cell: Cell, i: int) -> Answers:
    """Errors are what is lost of R²; there is no interval of it."""
    data, best = _rows(cell.n, int(cell.shape.removeprefix("d = ")))
    found = _asked(cell, data, i).linear_regression(epsilon=cell.epsilon)
    reached = explained(found.values, data)
    yield Seen(reached, math.nan, math.nan, found.code), best


def _draws(cell: Cell, i: int) -> Answers:
    """The "error" is how many draws a mean makes; there is no interval, and so no "ok"."""
    x = _table(cell.shape, cell.n)[["x"]]
    drawn = len(_asked(cell, x, i).mean("x", epsilon=cell.epsilon).transcript)
    yield Seen(drawn, math.nan, math.nan, "unseen"), 0.0


ASKED: Mapping[str, Callable[[Cell, int], Answers]] = {
    "mean by rows": _mean,
    "mean, one row a person": _one_row,
    "mean, weights of 1": _weights,
    "mean of persons": _persons,
    "group means": _groups,
    "crosstab sums": _crosstab,
    "covariance": _covariance,
    "describe": _describe,
    "described mean": _described_mean,
    "R² of a regression": _regression,
    "draws of a mean": _draws,
}


def measured(cell: Cell, releases: int) -> Found:
    """Release a cell of a table."""
    pairs = [pair for i in range(releases) for pair in ASKED[cell.statistic](cell, i)]
    return Found.of(cell.name, [seen for seen, _ in pairs], [truth for _, truth in pairs])
