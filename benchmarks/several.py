"""Several quantiles at once: rank error and time beside other mechanisms."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest
from benchmarks.datasets import SHAPES
from benchmarks.methods import CachedReader
from benchmarks.quantile_peers import app_ind_exp, aq, joint_exp
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayEstimate
from modicum.runtime.run import run

Array = NDArray[np.float64]
N = 1000
MANY = (1, 9, 29)
PAPERS, WIDE = 100.0, 1e9
PEERS = ("JointExp", "AppIndExp", "AQ")
OURS = ("modicum", "modicum, interval")
JITTER = 1e-5  # the peers need data without ties


@dataclass(frozen=True, slots=True)
class Effort:
    """Data sets of a kind in the papers' range and in a wide one, releases of each, speed part.

    For one quantile there are ``singles`` data sets of every kind: all laws are nearly the same
    then, so it takes many to tell them apart.
    """

    datasets: int
    others: int
    singles: int
    releases: int
    rows: int
    repeats: int


FULL = Effort(datasets=10, others=5, singles=200, releases=10, rows=1_000_000, repeats=5)
QUICK = Effort(datasets=4, others=2, singles=4, releases=10, rows=1_000_000, repeats=2)


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of data, a public range, and who is a neighbour.

    ``whole``: values are known to be integers; ours has a step of 1, others' answers are rounded.
    """

    name: str
    draw: Callable[[Generator, int], Array]
    bound: float
    swap: bool = False
    whole: bool = False


def _shape(name: str) -> Callable[[Generator, int], Array]:
    return next(shape.draw for shape in SHAPES if shape.name == name)


def _uniform(rng: Generator, n: int) -> Array:
    return rng.uniform(-5, 5, n)


def _normal(rng: Generator, n: int) -> Array:
    return rng.normal(0, 5, n)


CASES = (
    Case("uniform(-5, 5)", _uniform, PAPERS),
    Case("N(0, 5)", _normal, PAPERS),
    Case("uniform(-5, 5), swap", _uniform, PAPERS, swap=True),
    Case("N(0, 5), swap", _normal, PAPERS, swap=True),
    Case("N(1000, 1)", lambda rng, n: rng.normal(1000, 1, n), WIDE),
    Case("income lognormal", _shape("income lognormal"), WIDE),
    Case("Pareto 1.5", _shape("Pareto 1.5"), WIDE),
    Case("ages 0..120", _shape("ages 0..120"), WIDE, whole=True),
    Case("0, 1, ..., 9 in turns", lambda _, n: np.arange(n) % 10.0, WIDE, whole=True),
    Case("constant 5", _shape("constant 5"), WIDE, whole=True),
)


def _rank_error(x: Array, qs: Array, found: Array) -> float:
    """Mean number of ranks by which the points miss q n."""
    below, upto = np.searchsorted(x, found, "left"), np.searchsorted(x, found, "right")
    return float(np.maximum(0, np.maximum(below - qs * len(x), qs * len(x) - upto)).mean())


def _our_errors(case: Case, x: Array, qs: Array, seed: str, releases: int) -> Iterator[list[float]]:
    """Errors without and with an interval; half of ε for swap neighbours."""
    q = [f"{i}/{len(qs) + 1}" for i in range(1, len(qs) + 1)]
    for level in (None, 0.95):
        question = query.quantiles(
            q=q,
            within=(-case.bound, case.bound),
            epsilon="0.5" if case.swap else 1,
            step=1 if case.whole else None,
            level=level,
        )
        reader, entropy, errors = CachedReader(x), SeededEntropy(f"{seed} {level is not None}"), []
        for _ in range(releases):
            walk = run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)
            answer = walk["a"].answer
            assert isinstance(answer, ArrayEstimate)
            errors.append(_rank_error(x, qs, np.array(answer.values, dtype=float)))
        yield errors


def _peer_errors(
    case: Case, x: Array, qs: Array, rng: Generator, releases: int
) -> Iterator[list[float]]:
    jittered = np.sort(x + rng.normal(0, JITTER, len(x))) if case.whole else x
    low, high, epsilon = -case.bound, case.bound, 0.5 if case.swap else 1.0
    joint = joint_exp(jittered, qs, low, high, 1.0, swap=case.swap)
    for draw in (
        lambda: joint.draw(rng),
        lambda: app_ind_exp(jittered, qs, low, high, epsilon, rng),
        lambda: aq(jittered, qs, low, high, epsilon, rng),
    ):
        drawn = [draw() for _ in range(releases)]
        yield [_rank_error(x, qs, np.round(each) if case.whole else each) for each in drawn]


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean errors of all methods, and their standard errors over data sets."""

    case: Case
    m: int
    errors: dict[str, float]
    spread: dict[str, float]

    @property
    def best(self) -> str:
        """The best of the others."""
        return min(PEERS, key=lambda name: self.errors[name])

    def ratio(self, ours: str) -> float:
        """Our error to that of the best of the others; equal where both are below a tenth."""
        return max(self.errors[ours], 0.1) / max(self.errors[self.best], 0.1)

    def margin(self, ours: str) -> float:
        """Half of the 95 % interval of the ratio."""
        parts = [self.spread[name] / max(self.errors[name], 0.1) for name in (ours, self.best)]
        return 2 * self.ratio(ours) * float(np.hypot(*parts))


def measure(case: Case, m: int, effort: Effort) -> Cell:
    """Release on fresh data sets."""
    qs = np.arange(1, m + 1) / (m + 1)
    names = (*PEERS, *OURS)
    errors: dict[str, list[float]] = {name: [] for name in names}
    sets = effort.datasets if case.bound == PAPERS else effort.others
    for k in range(effort.singles if m == 1 else sets):
        rng = default_rng([7, m, k])
        x = np.sort(case.draw(rng, N))
        seed = f"{case.name} {m} {k}"
        found = [
            *_peer_errors(case, x, qs, rng, effort.releases),
            *_our_errors(case, x, qs, seed, effort.releases),
        ]
        for name, each in zip(names, found, strict=True):
            errors[name].append(float(np.mean(each)))
    means = {name: float(np.mean(each)) for name, each in errors.items()}
    spread = {name: float(np.std(e) / max(1, len(e) - 1) ** 0.5) for name, e in errors.items()}
    return Cell(case, m, means, spread)


def several(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [measure(case, m, effort) for case in CASES for m in MANY]
    rows = [
        [
            cell.case.name,
            f"±{cell.case.bound:g}",
            str(cell.m),
            *(f"{cell.errors[name]:.2f}" for name in PEERS),
            *(f"{cell.errors[name]:.2f} ({cell.ratio(name):.2f}x)" for name in OURS),
        ]
        for cell in cells
    ]
    times, slower = _times(effort)
    text = f"""## Several quantiles at once, ε = 1

{N:,} records, m equally spaced quantiles, {effort.releases} releases of each of {effort.datasets}
data sets ({effort.others} in the range of ±1e9; {effort.singles} for m = 1, where all laws are
alike). Shown is the mean number of ranks by which a point misses q n, and the ratio to the best of
the others (errors below a tenth of a rank count as a
tenth). JointExp is that of Gillenwater, Joseph and Kulesza 2021, AQ of Kaplan, Schnapp and Stemmer
2022, AppIndExp one exponential mechanism a quantile at (1, 1e-6); all three are our floating-point
code from the papers. Of integers they get data with noise of {JITTER:g}, and their answers are
rounded; modicum has step=1. Neighbours are add-remove; under "swap" every method has what makes it
ε = 1 for those, which is half of ε for all but JointExp.

{table(["data", "range", "m", *PEERS, *OURS], rows)}

Times over that of `numpy.sort` of the same data, reading included, without intervals:

{table(["rows", "m", *PEERS, "modicum"], times)}"""
    return text, [_target(cell) for cell in cells] + slower


def _target(cell: Cell) -> Target:
    name = f"rank error over the best other, m = {cell.m}, {cell.case.name}"
    note = f"best: {cell.best}"
    return Target(name, 1.0, cell.ratio("modicum"), note=note, margin=cell.margin("modicum"))


def _times(effort: Effort) -> tuple[list[list[str]], list[Target]]:
    rows, targets = [], []
    for n in (N, effort.rows):
        x = _normal(default_rng(8), n)
        for m in MANY:
            found = fastest(_tasks(x, np.arange(1, m + 1) / (m + 1)), effort.repeats)
            ratios = {name: each / found["sort"] for name, each in found.items()}
            shown = [f"{ratios[name]:.3g}x" if name in ratios else "-" for name in PEERS]
            rows.append([f"{n:,}", str(m), *shown, f"{ratios['modicum']:.3g}x"])
            other = min((name for name in PEERS if name in ratios), key=ratios.__getitem__)
            name = f"time over the fastest other, m = {m}, {n:,} rows"
            ratio = ratios["modicum"] / ratios[other]
            targets.append(Target(name, 1.0, ratio, note=f"fastest: {other}"))
    return rows, targets


def _tasks(x: Array, qs: Array) -> dict[str, Callable[[], object]]:
    rng, within = default_rng(9), (-PAPERS, PAPERS)
    tasks: dict[str, Callable[[], object]] = {
        "sort": lambda: np.sort(x),
        "AppIndExp": lambda: app_ind_exp(np.sort(x), qs, *within, 1.0, rng),
        "AQ": lambda: aq(np.sort(x), qs, *within, 1.0, rng),
        "modicum": lambda: modicum.quantiles(
            x, q=qs.tolist(), within=within, epsilon=1, level=None
        ),
    }
    if len(x) == N:  # its sums take memory like n²
        tasks["JointExp"] = lambda: joint_exp(np.sort(x), qs, *within, 1.0).draw(rng)
    return tasks
