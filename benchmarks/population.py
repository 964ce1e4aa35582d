"""Confidence intervals for the mean of a population: do they cover, and how wide are they?

Sample and draws are new every time. Widths are beside those of the interval of the sample without
privacy, whose coverage is there too: few rows of a skewed population have a low one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.methods import CachedReader
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.status import USABLE
from modicum.runtime.run import run

Array = NDArray[np.float64]
LEVEL = 0.95
BETWEEN = (0.93, 0.99)
LEAST_USABLE = 0.5


def _clusters(rng: Generator, n: int) -> Array:
    return rng.normal(np.where(rng.random(n) < 0.3, 3.0, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Population:
    """How to draw a sample, the mean, and a range that may be known beforehand."""

    sample: Callable[[Generator, int], Array]
    mean: float
    within: tuple[float, float]


SHAPES = {
    "N(0, 1)": Population(lambda rng, n: rng.normal(size=n), 0.0, (-10, 10)),
    "uniform": Population(lambda rng, n: rng.random(n), 0.5, (0, 1)),
    "exponential": Population(lambda rng, n: rng.exponential(size=n), 1.0, (0, 30)),
    "lognormal(0, 1)": Population(
        lambda rng, n: rng.lognormal(0, 1, n), float(np.exp(0.5)), (0, 1000)
    ),
    "gamma(0.5)": Population(lambda rng, n: rng.gamma(0.5, size=n), 0.5, (0, 30)),
    "Bernoulli 2 %": Population(lambda rng, n: (rng.random(n) < 0.02) * 1.0, 0.02, (0, 1)),
    "Bernoulli 30 %": Population(lambda rng, n: (rng.random(n) < 0.3) * 1.0, 0.3, (0, 1)),
    "90 % zeros": Population(
        lambda rng, n: (rng.random(n) < 0.1) * rng.exponential(size=n), 0.1, (0, 30)
    ),
    "t, 5 degrees": Population(lambda rng, n: rng.standard_t(5, n), 0.0, (-100, 100)),
    "beta(2, 5)": Population(lambda rng, n: rng.beta(2, 5, n), 2 / 7, (0, 1)),
    "two clusters, 3 sd": Population(_clusters, 0.9, (-10, 10)),
    "Poisson(4)": Population(lambda rng, n: rng.poisson(4, n) * 1.0, 4.0, (0, 100)),
}


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of rows, each with whether the range is known; budgets, and releases of each."""

    rows: tuple[tuple[int, bool], ...]
    budgets: tuple[str, ...]
    releases: int


FULL = Effort(
    rows=((300, True), (3000, False), (20_000, False)), budgets=("0.5", "1", "3"), releases=250
)
QUICK = Effort(rows=((3000, False),), budgets=("1",), releases=40)


@dataclass(frozen=True, slots=True)
class Cell:
    """What the releases of one case were like; those that are not usable say nothing else."""

    shape: str
    n: int
    epsilon: str
    usable: float
    covered: float
    plain: float  # coverage of the sample's interval without privacy
    width: float  # times that of the sample

    @property
    def row(self) -> list[str]:
        if self.usable < LEAST_USABLE:  # the releases say so, and the width is that of the range
            usable = f"{self.usable:.0%}"
            return [self.shape, f"{self.n:,}", self.epsilon, usable, "-", f"{self.plain:.1%}", "-"]
        shares = (f"{each:.1%}" for each in (self.covered, self.plain))
        return [
            self.shape,
            f"{self.n:,}",
            self.epsilon,
            f"{self.usable:.0%}",
            *shares,
            f"{self.width:.2f}x",
        ]


def measure(shape: str, n: int, epsilon: str, releases: int, *, known: bool) -> Cell:
    """Release the mean of a fresh sample each time."""
    drawn_from = SHAPES[shape]
    truth, within = drawn_from.mean, drawn_from.within if known else None
    question = query.mean(within=within, epsilon=epsilon, population=True)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    usable, covered, plain, widths = [], [], [], []
    for k in range(releases):
        x = drawn_from.sample(default_rng([17, n, k]), n)
        half = z * x.std(ddof=1) / np.sqrt(n)
        plain.append(abs(x.mean() - truth) <= half)
        entropy = SeededEntropy(f"{shape} {n} {epsilon} {k}")
        walk = run(
            {"a": question}, CachedReader(x), unit=Unit(), charge=lambda: None, entropy=entropy
        )
        answer = walk["a"].answer
        usable.append(answer.status.code in USABLE)
        if usable[-1]:
            law = answer.error_model.error_law(1 - LEVEL, 3, population=True)
            lower, upper = law.interval(1 - LEVEL)
            covered.append(lower <= truth <= upper)
            widths.append((upper - lower) / (2 * half) if half else np.inf)
    return Cell(
        shape,
        n,
        epsilon,
        float(np.mean(usable)),
        float(np.mean(covered)) if covered else np.nan,
        float(np.mean(plain)),
        float(np.median(widths)) if widths else np.nan,
    )


def population(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [
        measure(shape, n, epsilon, effort.releases, known=known)
        for n, known in effort.rows
        for epsilon in effort.budgets
        for shape in SHAPES
    ]
    header = ["population", "n", "ε", "usable", "covered", "without privacy", "width"]
    counted = [cell for cell in cells if cell.usable >= LEAST_USABLE]
    low, high = (cell.covered for cell in (min(counted, key=_cover), max(counted, key=_cover)))
    margins = [2 * float(np.sqrt(p * (1 - p) / effort.releases)) for p in BETWEEN]
    title = f"### Mean of a population: {effort.releases:,} samples each, with a release of each\n"
    note = f"of {len(counted)} cases in which half of the releases are usable"
    targets = [
        Target(
            "population: least coverage of a 95 % interval, missed",
            1 - BETWEEN[0],
            1 - low,
            "",
            margin=margins[0],
            note=note,
        ),
        Target("population: largest coverage", BETWEEN[1], high, "", margin=margins[1], note=note),
    ]
    return "\n".join([title, table(header, [cell.row for cell in cells])]), targets


def _cover(cell: Cell) -> float:
    return cell.covered
