"""Regressions of many columns: what they explain of fresh rows, by the number of rows."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import default_rng

import modicum
from benchmarks.slopes import NORMAL, SHAPES, WITHIN, Array, least_squares
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

FRESH = 20_000  # rows on which a fit is judged
ENOUGH, LOSS = 20, 0.1  # from so many times d² / ε rows on, R² is so near that of least squares


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of explaining columns and of rows, kinds of data, and how many fits of each."""

    columns: tuple[int, ...]
    rows: tuple[int, ...]
    shapes: tuple[str, ...]
    fits: int


FULL = Effort(
    (10, 20, 30, 50), (3000, 10_000, 30_000, 50_000, 100_000, 150_000), ("correlated", "normal"), 5
)
QUICK = Effort((10,), (3000, 10_000), ("correlated",), 2)


@dataclass(frozen=True, slots=True)
class Cell:
    """The shares of a variance that fits explain of fresh rows, and that of least squares."""

    n: int
    shares: Array
    least_squares: float

    @property
    def mean(self) -> float:
        return float(self.shares.mean())

    @property
    def variance(self) -> float:
        """Of the mean."""
        return float(self.shares.var(ddof=1)) / len(self.shares)


def explained(coefficients: Array, fresh: Array) -> float:
    """R² of an intercept and slopes."""
    left = fresh[:, -1] - coefficients[0] - fresh[:, :-1] @ coefficients[1:]
    return float(1 - left.var() / fresh[:, -1].var() - left.mean() ** 2 / fresh[:, -1].var())


def measure(shape: str, n: int, d: int, fits: int) -> Cell:
    """Fit fresh data as often as asked, ε = 1."""
    own, best = [], []
    for k in range(fits):
        rng = default_rng([23, n, d, k])
        data, fresh = SHAPES[shape](rng, n, d), SHAPES[shape](rng, FRESH, d)
        entropy = SeededEntropy(f"{shape} {n} {d} {k}")
        curator = modicum.Curator(data, budget=modicum.pure(1), entropy=entropy)
        own.append(explained(curator.linear_regression(within=WITHIN, epsilon=1).values, fresh))
        best.append(explained(least_squares(data)[0], fresh))
    return Cell(n, np.array(own), float(np.mean(best)))


def many_columns(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    rows, targets = [], []
    for shape in effort.shapes:
        for d in effort.columns:
            cells = [measure(shape, n, d, effort.fits) for n in effort.rows]
            for cell in cells:
                share = f"{cell.mean:.3f} ± {NORMAL * cell.variance**0.5:.3f}"
                rows.append([shape, str(d), f"{cell.n:,}", share, f"{cell.least_squares:.3f}"])
                if cell.n >= ENOUGH * d**2:
                    name = f"loss of R², {shape}, d = {d}, {cell.n:,} rows"
                    margin = NORMAL * cell.variance**0.5
                    loss = cell.least_squares - cell.mean
                    targets.append(Target(name, LOSS, loss, "", margin=margin))
            for fewer, more in pairwise(cells):
                name = f"fall of R², {shape}, d = {d}, {fewer.n:,} to {more.n:,} rows"
                margin = NORMAL * (fewer.variance + more.variance) ** 0.5
                targets.append(Target(name, 0, fewer.mean - more.mean, "", margin=margin))
    text = f"""## Regressions of many columns

Share of the variance of {FRESH:,} fresh rows that a fit of d columns within ±1e6 explains (R²), ε =
1, by the number of rows that were fitted: the mean of {effort.fits} fits of fresh data each, and of
least squares on the same data.

{table(["data", "d", "rows", "R²", "least squares"], rows)}"""
    return text, targets
