"""Intervals of several quantiles: how wide they are beside the error, and whether they cover."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.methods import CachedReader
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayEstimate
from modicum.runtime.run import run

Array = NDArray[np.float64]
WITHIN = (-1e10, 1e10)
LEVEL = 0.95
WIDEST = {5: 15.0, 29: 25.0}  # times the median error, by the number of quantiles
MOST_ERROR = 1.3  # times that of a release without intervals


def _clusters(rng: Generator, n: int) -> Array:
    return rng.normal(np.where(rng.random(n) < 0.5, 0.0, 1e6), 1.0)


SHAPES: dict[str, Callable[[Generator, int], Array]] = {
    "N(0, 1)": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "lognormal(0, 1.5)": lambda rng, n: rng.lognormal(0, 1.5, n),
    "integers 0..100": lambda rng, n: rng.integers(0, 101, n).astype(float),
    "90 % zeros": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(3, 1, n)),
    "two far clusters": _clusters,
    "Zipf": lambda rng, n: np.minimum(rng.zipf(1.5, n), 10**9).astype(float),
    "N(0, 1) × 1e-9": lambda rng, n: rng.normal(size=n) * 1e-9,
    "N(0, 1) × 1e9": lambda rng, n: rng.normal(size=n) * 1e9,
}
TIES = {"integers 0..100", "90 % zeros", "Zipf"}


@dataclass(frozen=True, slots=True)
class Effort:
    """Cases for all shapes, further ones for N(0, 1), and how many releases of each."""

    cases: tuple[tuple[int, int, str], ...]  # records, quantiles, budget
    further: tuple[tuple[int, int, str], ...]
    releases: int


FULL = Effort(
    cases=((3000, 5, "ε = 1"), (20_000, 5, "ε = 1"), (20_000, 29, "ε = 1")),
    further=(
        (600, 5, "ε = 1"),
        (1000, 2, "ε = 1"),
        (1000, 9, "ε = 3"),
        (10_000, 5, "ε = 0.3"),
        (20_000, 5, "ρ = 0.1"),
        (20_000, 9, "ε = 1"),
        (100_000, 29, "ε = 0.3"),
        (100_000, 100, "ε = 1"),
        (1_000_000, 5, "ε = 1"),
    ),
    releases=100,
)
QUICK = Effort(cases=((3000, 5, "ε = 1"),), further=(), releases=10)


@dataclass(frozen=True, slots=True)
class Cell:
    """What the releases of one case were like; errors and widths are numbers of records."""

    shape: str
    n: int
    m: int
    budget: str
    median_error: float
    width: float
    coverage: float
    errors: float  # mean error over that without intervals

    @property
    def ratio(self) -> float:
        return self.width / self.median_error if self.median_error > 0 else np.inf

    @property
    def row(self) -> list[str]:
        ratio = f"{self.ratio:.1f}" if np.isfinite(self.ratio) else "-"
        numbers = (f"{self.median_error:.2f}", f"{self.width:.0f}", ratio)
        errors = f"{self.errors:.2f}x"
        name = f"{self.n:,}"
        return [
            self.shape,
            name,
            str(self.m),
            self.budget,
            *numbers,
            f"{self.coverage:.0%}",
            errors,
        ]


def _between(x: Array, low: Array, high: Array) -> NDArray[np.int64]:
    """How many of the sorted records lie strictly between."""
    return np.searchsorted(x, high, "left") - np.searchsorted(x, low, "right")


def measure(shape: str, n: int, m: int, budget: str, releases: int) -> Cell:
    """Release on fresh data; half of the releases have no intervals."""
    kind, amount = budget.split(" = ")
    cost = {"ε": "epsilon", "ρ": "rho"}[kind]
    qs = [Fraction(i, m + 1) for i in range(1, m + 1)]
    wanted = np.array([float(q * n) for q in qs])
    places = np.array([[int(np.ceil(q * n)) - 1, int(np.floor(q * n))] for q in qs]).T
    widths, covered, missed = [], [], ([], [])  # type: ignore[var-annotated]
    for k in range(releases):
        rng = default_rng([11, n, m, k])
        x = np.sort(SHAPES[shape](rng, n))
        low, high = x[places[0]], x[np.minimum(places[1], n - 1)]
        for j, level in enumerate((LEVEL, None)):
            within = None if "×" in shape else WITHIN
            asked = query.quantiles(q=qs, within=within, level=level, **{cost: amount})
            entropy = SeededEntropy(f"{shape} {n} {m} {budget} {k} {level}")
            walk = run(
                {"a": asked}, CachedReader(x), unit=Unit(), charge=lambda: None, entropy=entropy
            )
            answer = walk["a"].answer
            assert isinstance(answer, ArrayEstimate)
            found = np.array(answer.values, dtype=float)
            under, upto = np.searchsorted(x, found, "left"), np.searchsorted(x, found, "right")
            missed[j].append(np.maximum(0, np.maximum(under - wanted, wanted - upto)))
            if level is not None:
                lower, upper = answer.error_model.intervals(LEVEL, None)
                covered.append(bool((lower <= low).all() and (high <= upper).all()))
                # The quantile itself may be many equal records.
                ends = [(np.maximum(lower, high), upper), (lower, np.minimum(low, upper))]
                widths.append(sum(np.maximum(_between(x, a, b), 0) for a, b in ends))
    ours, without = (np.array(each) for each in missed)
    return Cell(
        shape,
        n,
        m,
        budget,
        float(np.median(ours)),
        float(np.mean(widths)),
        float(np.mean(covered)),
        float(max(ours.mean(), 0.1) / max(without.mean(), 0.1)),
    )


def intervals(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [
        measure(shape, *case, effort.releases)
        for shape in SHAPES
        for case in (*effort.cases, *(effort.further if shape == "N(0, 1)" else ()))
    ]
    head = ["data", "rows", "m", "budget", "median error", "mean width", "width / error"]
    head += ["all covered", "error"]
    text = f"""## Intervals of several quantiles

m equally spaced quantiles within ±1e10 (a range that is found at the scales 1e-9 and 1e9),
{effort.releases} releases, each of fresh data. Errors and widths are numbers of records: by how
many ranks a point misses q n, and how many records are inside of an interval, but for those that
are the quantile. Covered means that all intervals of a release hold their quantiles. The last
column is the mean error over that of a release without intervals (errors below a tenth of a rank
count as a tenth).

{table(head, [cell.row for cell in cells])}"""
    return text, [target for cell in cells for target in _targets(cell)]


def _targets(cell: Cell) -> list[Target]:
    name = f"{cell.shape}, {cell.n:,} rows, m = {cell.m}, {cell.budget}"
    found = [Target(f"intervals miss, {name}", 1 - LEVEL, 1 - cell.coverage)]
    kind, amount = cell.budget.split(" = ")
    enough = kind == "ε" and cell.n / (cell.m + 1) >= 100 / float(amount)
    if cell.shape not in TIES and enough:
        found.append(
            Target(f"error with intervals over that without, {name}", MOST_ERROR, cell.errors)
        )
        if cell.m in WIDEST:
            found.append(Target(f"width over median error, {name}", WIDEST[cell.m], cell.ratio))
    return found
