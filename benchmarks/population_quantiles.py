"""Confidence intervals for several quantiles of a population: do they cover, and how wide are they?

Sample and draws are new every time. Widths are in ranks of the sample, beside those of its own
binomial intervals without privacy, all at once by Bonferroni's bound.
"""

import math
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
WITHIN = (-1e6, 1e6)
LEVEL = 0.95
LEAST_COVERED = 0.93
LEAST_USABLE = 0.5
WIDEST = 1.5  # of the binomial intervals, with many rows


def _normal(q: float) -> float:
    return NormalDist().inv_cdf(q)


def _poisson(q: float) -> float:
    total, k = math.exp(-4), 0
    while total < q:
        k += 1
        total += math.exp(k * math.log(4) - 4 - math.lgamma(k + 1))
    return float(k)


SHAPES: dict[str, tuple[Callable[[Generator, int], Array], Callable[[float], float]]] = {
    "N(0, 1)": (lambda rng, n: rng.normal(size=n), _normal),
    "lognormal(0, 1.5)": (
        lambda rng, n: rng.lognormal(0, 1.5, n),
        lambda q: math.exp(1.5 * _normal(q)),
    ),
    "Poisson(4)": (lambda rng, n: rng.poisson(4, n) * 1.0, _poisson),
    "85 % zeros": (
        lambda rng, n: (rng.random(n) < 0.15) * rng.exponential(size=n),
        lambda q: -math.log((1 - q) / 0.15) if q > 0.85 else 0.0,
    ),
}
NUMBERS = {
    5: (0.1, 0.25, 0.5, 0.75, 0.9),
    9: tuple(k / 10 for k in range(1, 10)),
    29: tuple(round(k / 30, 9) for k in range(1, 30)),
}


@dataclass(frozen=True, slots=True)
class Case:
    """Rows, how many quantiles, and a budget."""

    n: int
    several: int
    budget: str


@dataclass(frozen=True, slots=True)
class Effort:
    """Cases of all shapes, and how many releases of each."""

    cases: tuple[Case, ...]
    releases: int


MAIN = Case(50_000, 5, "ε = 1")
FULL = Effort(
    (
        MAIN,
        Case(5000, 5, "ε = 1"),
        Case(1000, 5, "ε = 3"),
        Case(50_000, 9, "ρ = 0.5"),
        Case(50_000, 9, "ε = 1"),
    ),
    200,
)
QUICK = Effort((Case(20_000, 5, "ε = 1"),), 4)


@dataclass(frozen=True, slots=True)
class Cell:
    """What the releases of one case were like; those that are not usable say nothing else."""

    shape: str
    case: Case
    usable: float
    covered: float
    width: float  # times that of the sample

    @property
    def row(self) -> list[str]:
        known = self.usable >= LEAST_USABLE
        found = [f"{self.covered:.1%}", f"{self.width:.2f}x"] if known else ["-", "-"]
        case = [f"{self.case.n:,}", str(self.case.several), self.case.budget]
        return [self.shape, *case, f"{self.usable:.0%}", *found]


def _ranks(ordered: Array, lower: Array, upper: Array) -> NDArray[np.int64]:
    """How many rows are within each interval."""
    return ordered.searchsorted(upper, side="right") - ordered.searchsorted(lower)


def measure(shape: str, case: Case, releases: int) -> Cell:
    """Release the quantiles of a fresh sample each time."""
    (sample, quantile), qs = SHAPES[shape], NUMBERS[case.several]
    truth = np.array([quantile(q) for q in qs])
    kind, amount = case.budget.split(" = ")
    cost = {{"ε": "epsilon", "ρ": "rho"}[kind]: amount}
    total = modicum.pure(9) if kind == "ε" else modicum.zcdp(9)
    q = np.array(qs)
    half = -NormalDist().inv_cdf((1 - LEVEL) / (2 * len(qs))) * np.sqrt(case.n * q * (1 - q))
    own = np.clip(np.rint([case.n * q - half, case.n * q + half]).astype(int), 0, case.n - 1)
    usable, covered, widths = [], [], []
    for k in range(releases):
        x = sample(default_rng([23, case.n, k]), case.n)
        entropy = SeededEntropy(f"{shape} {case} {k}")
        asked = modicum.Curator(x, budget=total, entropy=entropy)
        found = asked.quantiles(q=list(qs), within=WITHIN, population=True, **cost)
        usable.append(found.code in USABLE)
        if usable[-1]:
            lower, upper = found.confidence_interval(LEVEL)
            covered.append(bool(((lower <= truth) & (truth <= upper)).all()))
            ordered = np.sort(x)
            widths.append(np.median(_ranks(ordered, lower, upper) / _ranks(ordered, *ordered[own])))
    shares = (float(np.mean(each)) if each else np.nan for each in (usable, covered))
    return Cell(shape, case, *shares, float(np.median(widths)) if widths else np.nan)


def population_quantiles(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [measure(each, case, effort.releases) for case in effort.cases for each in SHAPES]
    header = ["population", "n", "quantiles", "budget", "usable", "covered", "width"]
    text = f"""### Quantiles of a population: {effort.releases:,} samples, with a release of each

Confidence intervals at {100 * LEVEL:g} % for all quantiles at once. Widths are in ranks, beside
those of binomial intervals without privacy, all at once by Bonferroni's bound: medians over
quantiles and usable releases. Of equal values an interval holds all or none.

{table(header, [cell.row for cell in cells])}"""
    counted = [cell for cell in cells if cell.usable >= LEAST_USABLE]
    low = min((cell.covered for cell in counted), default=np.nan)
    margin = 2 * float(np.sqrt(LEAST_COVERED * (1 - LEAST_COVERED) / effort.releases))
    note = f"of {len(counted)} cases in which half of the releases are usable"
    name = "quantiles of a population: least coverage of 95 % intervals, missed"
    return text, [
        Target(name, 1 - LEAST_COVERED, 1 - low, "", margin=margin, note=note),
        *(
            Target(f"width over binomial intervals, {cell.shape}", WIDEST, cell.width)
            for cell in counted
            if cell.case == MAIN and cell.shape in {"N(0, 1)", "lognormal(0, 1.5)"}
        ),
    ]
