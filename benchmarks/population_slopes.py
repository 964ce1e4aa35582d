"""Confidence intervals for the slopes of a population: do they cover, and how wide are they?

Sample and draws are new every time. Beside them are the intervals of the sample without privacy,
by the sandwich of White (HC0), all at once by Bonferroni's bound as those of a release.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy
from modicum.releases.status import USABLE

Array = NDArray[np.float64]
Sample = tuple[Array, Array, Array]
"""Explaining columns, the explained one, and the population's coefficients, the intercept first."""
WITHIN = (-1e6, 1e6)
LEVEL = 0.95
BETWEEN = (0.93, 0.99)
LEAST_USABLE = 0.5
WIDEST = 1.5  # of the interval without privacy, with many rows


def _line(x: Array, left: Array, intercept: float = 0.0) -> Sample:
    return x, x.sum(axis=1) + left, np.append(intercept, np.ones(x.shape[1]))


def _normal(rng: Generator, n: int, d: int) -> Sample:
    return _line(rng.normal(5, 1, (n, d)), rng.normal(size=n))


def _unequal(rng: Generator, n: int, d: int) -> Sample:
    x = rng.normal(size=(n, d))
    return _line(x, rng.normal(size=n) * (0.3 + np.abs(x[:, 0])))


def _skewed(rng: Generator, n: int, d: int) -> Sample:
    x = rng.exponential(size=(n, d))
    return _line(x, rng.normal(size=n) * (0.3 + x[:, 0]))


def _skewed_errors(rng: Generator, n: int, d: int) -> Sample:
    return _line(rng.normal(size=(n, d)), rng.exponential(size=n) - 1)


def _curved(rng: Generator, n: int, d: int) -> Sample:
    """A parabola of an exponential column: least squares has the slope 3 and starts at -1."""
    x = rng.exponential(size=(n, d))
    y = x.sum(axis=1) + x[:, 0] ** 2 / 2 + rng.normal(size=n)
    return x, y, np.array([-1.0, 3.0, *np.ones(d - 1)])


def _heavy(degrees: float) -> Callable[[Generator, int, int], Sample]:
    def sample(rng: Generator, n: int, d: int) -> Sample:
        return _line(rng.normal(size=(n, d)), rng.standard_t(degrees, n))

    return sample


def _dummies(rng: Generator, n: int, d: int) -> Sample:
    half = max(d // 2, 1)
    ones, incomes = rng.random((n, half)) < 0.1, rng.lognormal(10, 0.5, (n, d - half))
    x = np.column_stack([ones, incomes])
    slopes = np.array([5000.0] * half + [0.2] * (d - half))
    return x, x @ slopes + 8000 * rng.normal(size=n) * (1 + ones[:, 0]), np.append(0.0, slopes)


def _zeros(rng: Generator, n: int, d: int) -> Sample:
    x = np.where(rng.random((n, d)) < 0.1, rng.lognormal(0, 0.7, (n, d)), 0.0)
    return _line(x, rng.normal(size=n))


SHAPES: dict[str, Callable[[Generator, int, int], Sample]] = {
    "normal": _normal,
    "unequal variances": _unequal,
    "skewed x, unequal": _skewed,
    "skewed errors": _skewed_errors,
    "not a line": _curved,
    "t(3) errors": _heavy(3),
    "t(2.2) errors": _heavy(2.2),
    "dummies, incomes": _dummies,
    "90 % zeros": _zeros,
}


@dataclass(frozen=True, slots=True)
class Case:
    """Rows, explaining columns and a budget."""

    n: int
    d: int
    budget: str


@dataclass(frozen=True, slots=True)
class Effort:
    """Cases of all shapes, and of the first two, and how many releases of each of both."""

    everywhere: tuple[Case, ...]
    some: tuple[Case, ...]
    releases: int
    fewer: int = 0


MAIN = Case(50_000, 2, "ε = 1")
FULL = Effort(
    everywhere=(MAIN, Case(5000, 2, "ε = 3")),
    some=(
        Case(50_000, 2, "ρ = 0.1"),
        Case(5000, 2, "ε = 1"),
        Case(1000, 1, "ε = 3"),
        Case(50_000, 1, "ε = 1"),
        Case(50_000, 5, "ε = 1"),
        Case(50_000, 2, "ε = 0.5"),
        Case(50_000, 2, "ε = 3"),
        Case(50_000, 10, "ρ = 0.5"),
    ),
    releases=160,
    fewer=40,
)
QUICK = Effort(everywhere=(Case(20_000, 1, "ρ = 0.5"),), some=(), releases=4)
_SOME = ("normal", "unequal variances")


@dataclass(frozen=True, slots=True)
class Cell:
    """What the releases of one case were like; those that are not usable say nothing else."""

    shape: str
    case: Case
    usable: float
    covered: float
    plain: float  # coverage of the sample's intervals without privacy
    width: float  # times that of the sample

    @property
    def row(self) -> list[str]:
        known = self.usable >= LEAST_USABLE
        found = [f"{self.covered:.1%}" if known else "-", f"{self.plain:.1%}"]
        width = f"{self.width:.2f}x" if known else "-"
        case = [f"{self.case.n:,}", str(self.case.d), self.case.budget]
        return [self.shape, *case, f"{self.usable:.0%}", *found, width]


def sandwich(x: Array, y: Array) -> tuple[Array, Array]:
    """Coefficients of least squares, and their standard errors by White (1980)."""
    rows = np.column_stack([np.ones(len(x)), x])
    inverse = np.linalg.pinv(rows.T @ rows)
    found = inverse @ (rows.T @ y)
    left = y - rows @ found
    return found, np.sqrt((((rows * left[:, None]) @ inverse) ** 2).sum(axis=0))


def measure(shape: str, case: Case, releases: int) -> Cell:
    """Release the coefficients of a fresh sample each time."""
    kind, amount = case.budget.split(" = ")
    cost = {{"ε": "epsilon", "ρ": "rho"}[kind]: amount}
    total = modicum.pure(9) if kind == "ε" else modicum.zcdp(9)
    times = -NormalDist().inv_cdf((1 - LEVEL) / (2 * (case.d + 1)))
    usable, covered, plain, widths = [], [], [], []
    for k in range(releases):
        x, y, truth = SHAPES[shape](default_rng([19, case.n, case.d, k]), case.n, case.d)
        found, errors = sandwich(x, y)
        plain.append(bool((np.abs(found - truth) <= times * errors).all()))
        entropy = SeededEntropy(f"{shape} {case} {k}")
        asked = modicum.Curator(np.column_stack([x, y]), budget=total, entropy=entropy)
        fit = asked.linear_regression(within=WITHIN, population=True, **cost)
        lower, upper = fit.confidence_interval(LEVEL)
        bounded = max(upper.max(), -lower.min()) < 1e300
        usable.append(fit.code in USABLE and bounded)
        if usable[-1]:
            covered.append(bool(((lower <= truth) & (truth <= upper)).all()))
            widths.append(np.median(((upper - lower) / (2 * times * errors))[1:]))
    shares = (float(np.mean(each)) if each else np.nan for each in (usable, covered, plain))
    return Cell(shape, case, *shares, float(np.median(widths)) if widths else np.nan)


def population_slopes(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [measure(each, case, effort.releases) for case in effort.everywhere for each in SHAPES]
    cells += [measure(each, case, effort.fewer) for case in effort.some for each in _SOME]
    header = ["population", "n", "d", "budget", "usable", "covered", "without privacy", "width"]
    text = f"""### Slopes of a population: {effort.releases:,} samples, with a release of each

Confidence intervals at {100 * LEVEL:g} % for all d + 1 coefficients at once, beside those of the
sample without privacy (the sandwich of White, all at once by Bonferroni's bound). Releases are
usable if their code says so and all intervals have ends; the rest is of these, and widths are
medians over slopes and releases. The cases of two populations alone have {effort.fewer} samples.

{table(header, [cell.row for cell in cells])}"""
    counted = [cell for cell in cells if cell.usable >= LEAST_USABLE]
    return text, _targets(counted, effort.fewer or effort.releases)


def _targets(counted: list[Cell], releases: int) -> list[Target]:
    found = []
    if counted:
        low, high = (pick(cell.covered for cell in counted) for pick in (min, max))
        margins = [2 * float(np.sqrt(p * (1 - p) / releases)) for p in BETWEEN]
        note = f"of {len(counted)} cases in which half of the releases are usable"
        missed, name = 1 - low, "slopes of a population: least coverage of 95 % intervals, missed"
        found.append(Target(name, 1 - BETWEEN[0], missed, "", margin=margins[0], note=note))
        name = "slopes of a population: largest coverage"
        found.append(Target(name, BETWEEN[1], high, "", margin=margins[1], note=note))
    return found + [
        Target(f"width over the sandwich's, {cell.shape}, {MAIN.n:,} rows", WIDEST, cell.width)
        for cell in counted
        if cell.case == MAIN
    ]
