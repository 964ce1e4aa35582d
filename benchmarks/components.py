"""Intervals of components and covariances: how wide they are, how often they hold."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

Array = NDArray[np.float64]
WITHIN = (-1e6, 1e6)
LEVEL, NORMAL = 0.95, 1.96
ROWS = 20_000
COMPONENTS = 2
WIDEST, SHARE = 0.3, 0.95  # width of intervals of the first component, where it has such a share


def _normal(values: Array) -> Callable[[Generator], Array]:
    """Normal rows whose covariance has these eigenvalues, in directions at random."""

    def rows(rng: Generator) -> Array:
        turn = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
        return 5 + rng.normal(size=(ROWS, len(values))) * np.sqrt(values) @ turn.T

    return rows


def _correlated(rng: Generator) -> Array:
    """Correlations of a half among five columns of different scales."""
    common = rng.normal(size=(ROWS, 1))
    return (common + rng.normal(size=(ROWS, 5))) * np.geomspace(1, 100, 5)


def _dummies(rng: Generator) -> Array:
    kinds = rng.integers(0, 4, ROWS)
    incomes = np.exp(10 + 0.6 * rng.normal(size=ROWS) + 0.3 * kinds)
    return np.column_stack([kinds[:, None] == np.arange(4), incomes, rng.normal(40, 10, ROWS)])


def _lognormal(sigma: float) -> Callable[[Generator], Array]:
    return lambda rng: np.exp(sigma * rng.normal(size=(ROWS, 3)) + rng.normal(size=(ROWS, 1)) / 2)


def _zeros(rng: Generator) -> Array:
    return np.where(rng.random((ROWS, 3)) < 0.1, rng.lognormal(0, 1, (ROWS, 3)), 0.0)


def _zipf(rng: Generator) -> Array:
    return np.column_stack([rng.zipf(2.2, ROWS), rng.normal(size=(ROWS, 2))])


SHAPES: dict[str, Callable[[Generator], Array]] = {
    "normal, d = 5, one direction": _normal(np.array([1, *[0.01] * 4])),
    "normal, d = 10, one direction": _normal(np.array([1, *[0.005] * 9])),
    "normal, d = 10, two directions": _normal(np.array([1, 0.2, *[0.005] * 8])),
    "normal, d = 5, i^-1.5": _normal(np.arange(1, 6) ** -1.5),
    "normal, d = 10, i^-1.5": _normal(np.arange(1, 11) ** -1.5),
    "correlated, d = 5": _correlated,
    "t(3.5), d = 3": lambda rng: rng.standard_t(3.5, size=(ROWS, 3)) * [1, 10, 100],
    "t(2.5), d = 3": lambda rng: rng.standard_t(2.5, size=(ROWS, 3)) * [1, 10, 100],
    "exponential, d = 4": lambda rng: rng.exponential(size=(ROWS, 4)) * [1, 3, 9, 27],
    "dummies, income, age": _dummies,
    "lognormal(0, 0.5), d = 3": _lognormal(0.5),
    "lognormal(0, 1.5), d = 3": _lognormal(1.5),
    "90 % zeros, d = 3": _zeros,
    "Zipf(2.2) beside normal": _zipf,
}


@dataclass(frozen=True, slots=True)
class Effort:
    """Budgets, and how many releases of each case."""

    budgets: tuple[str, ...]
    releases: int


FULL = Effort(("ε = 1", "ρ = 0.5"), 10)
QUICK = Effort(("ε = 1",), 3)


@dataclass(frozen=True, slots=True)
class Cell:
    """What the releases of one case were like: medians, and how many held."""

    shape: str
    budget: str
    share: float
    widths: Array  # the widest and the median entry of the first component, then of the second
    noise: Array  # the widest entries by noise alone
    covariance: float  # in standard deviations of two columns
    held: tuple[int, int]  # components, covariances
    releases: int
    codes: str

    @property
    def row(self) -> list[str]:
        first, second = (f"{a:.2f} ({b:.2f})" for a, b in self.widths.reshape(2, 2))
        noise = " / ".join(f"{each:.2f}" for each in self.noise)
        covariance = "∞" if self.covariance > 1e9 else f"{self.covariance:.2f}"
        held = [f"{each} of {self.releases}" for each in self.held]
        numbers = [f"{self.share:.2f}", first, second, noise, held[0], covariance, held[1]]
        return [self.shape, self.budget, *numbers, self.codes]


def _between(lower: Array, true: Array, upper: Array) -> bool:
    return bool(((lower <= true) & (true <= upper)).all())


def measure(shape: str, budget: str, releases: int) -> Cell:
    """Release components and covariances of fresh data."""
    kind, amount = budget.split(" = ")
    cost: Any = {{"ε": "epsilon", "ρ": "rho"}[kind]: amount}
    total = modicum.pure(9) if kind == "ε" else modicum.zcdp(9)
    shares, widths, noises, covariances, held, codes = [], [], [], [], np.zeros(2, int), set()
    for k in range(releases):
        data = np.asarray(SHAPES[shape](default_rng([23, k])), dtype=np.float64)
        true = np.cov(data.T, bias=True)
        values, vectors = np.linalg.eigh(true)
        shares.append(values[-1] / values.sum())
        asked = modicum.Curator(data, budget=total, entropy=SeededEntropy(f"{shape} {budget} {k}"))
        found = asked.pca(components=COMPONENTS, within=WITHIN, **cost)
        lower, upper = found.interval(LEVEL)
        each = upper - lower
        widths.append(np.column_stack([each.max(axis=1), np.median(each, axis=1)]).ravel())
        noises.append(2 * found.noise(LEVEL).max(axis=1))
        held[0] += all(
            any(_between(lower[i], way, upper[i]) for way in (vector, -vector))
            for i, vector in enumerate(vectors.T[::-1][:COMPONENTS])
        )
        matrix = asked.covariance(within=WITHIN, **cost)
        low, high = matrix.interval(LEVEL)
        deviations = np.sqrt(np.diag(true))
        with np.errstate(over="ignore"):
            wide = (high - low) / np.outer(deviations, deviations)
        covariances.append(np.median(wide))
        held[1] += _between(low, true, high)
        codes |= {found.code, matrix.code}
    return Cell(
        shape,
        budget,
        float(np.mean(shares)),
        np.median(widths, axis=0),
        np.median(noises, axis=0),
        float(np.median(covariances)),
        (int(held[0]), int(held[1])),
        releases,
        ", ".join(sorted(codes)),
    )


def components(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [
        measure(shape, budget, effort.releases) for budget in effort.budgets for shape in SHAPES
    ]
    head = ["data", "budget", "share of first", "first", "second", "noise", "held"]
    text = f"""## Intervals of components and covariances

{ROWS:,} rows within ±1e6, {effort.releases} releases, each of fresh data; intervals at 95 %, of
all entries at once. Of the first two components: the width of the widest entry's interval, of the
median entry in brackets, and of the widest by noise alone; [-1, 1] has width 2. Of covariances: the
median width in standard deviations of the two columns. All are medians over releases. "Held" is in
how many releases all numbers of all rows were within. The codes are those of both.

{table([*head, "covariances", "held", "codes"], [cell.row for cell in cells])}"""
    return text, [target for cell in cells for target in _targets(cell)]


def _targets(cell: Cell) -> list[Target]:
    name = f"{cell.shape}, {cell.budget}"
    margin = NORMAL * np.sqrt(LEVEL * (1 - LEVEL) / cell.releases)
    found = [
        Target(f"{what} miss, {name}", 1 - LEVEL, 1 - held / cell.releases, margin=margin)
        for what, held in zip(("components", "covariances"), cell.held, strict=True)
    ]
    if cell.share > SHARE:
        found.append(Target(f"width of the first component, {name}", WIDEST, cell.widths[0]))
    return found
