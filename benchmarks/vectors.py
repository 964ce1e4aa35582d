"""Mean vectors: errors beside COINPRESS, PLAN and the shifted clipped mean, and speed.

Errors are L2 distances from the mean of the rows, averaged over releases of fresh data, ± the
standard error of that average. The others know the number of rows and protect a changed row with
ρ; ours hides the number of rows, and protects a row more or less: with ρ, and with ρ/4, which
protects a changed row with ρ. COINPRESS is told the largest standard deviation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest
from benchmarks.targets import Target, table
from benchmarks.vector_baselines import BASELINES
from benchmarks.vector_kinds import kinds
from benchmarks.vector_kinds import released as answered
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayRelease
from modicum.releases.release import Release
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of each method, and the widest rows; shape and repetitions of the speed part.

    There are as many releases as have ``values`` values together, within some bounds. Rows of all
    kinds come in tables of some sizes, of ``largest`` values at most, and ``kinds`` releases each.
    """

    values: int
    fewest: int
    most: int
    widest: int
    shape: tuple[int, int]
    repeats: int
    sizes: tuple[int, ...]
    kinds: int
    largest: int

    def releases(self, n: int, d: int) -> int:
        """Releases of tables of n rows and d columns."""
        return min(max(self.values // (n * d), self.fewest), self.most)


FULL = Effort(
    12_000_000,
    fewest=10,
    most=100,
    widest=1024,
    shape=(70_000, 1024),
    repeats=2,
    sizes=(1_000, 4_000, 40_000, 400_000, 2_000_000),
    kinds=40,
    largest=800_000,
)
QUICK = Effort(
    1,
    fewest=3,
    most=3,
    widest=256,
    shape=(20_000, 256),
    repeats=2,
    sizes=(1_000, 4_000),
    kinds=3,
    largest=40_000,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Normal rows with some standard deviations about a mean."""

    name: str
    n: int
    d: int
    rho: float
    mean: float
    sd: Callable[[int, Generator], Floats]

    @property
    def seed(self) -> str:
        """A text that tells settings apart."""
        return f"{self.name}, n = {self.n}, d = {self.d}, ρ = {self.rho}"

    def rows(self, rng: Generator) -> tuple[Floats, float]:
        """Fresh rows, and the largest standard deviation."""
        sd = self.sd(self.d, rng)
        return self.mean + rng.normal(size=(self.n, self.d)) * sd, float(sd.max())


def _one(d: int, _rng: Generator) -> Floats:
    return np.ones(d)


def _uniform(d: int, rng: Generator) -> Floats:
    return np.sqrt(rng.uniform(0, 10, d))


def _zipf(d: int, _rng: Generator) -> Floats:
    return d / np.arange(1.0, d + 1)


SETTINGS = (
    *(Setting("isotropic", 4000, d, 0.5, 10, _one) for d in (16, 64, 256, 1024)),
    *(Setting("variances in [0, 10]", 4000, d, 0.5, 10, _uniform) for d in (16, 64, 256, 1024)),
    *(Setting("variances (d/i)²", 10_000, d, 0.125, 10, _zipf) for d in (64, 256, 1024)),
)


def released(question: Query[ArrayRelease], x: Floats, seed: str) -> Floats:
    """One release with randomness from a seed."""
    return np.array([float(value) for value in answered(question, x, seed).values])


def ours(x: Floats, rho: float, seed: str) -> Floats:
    """A mean vector in zCDP; the range is ±1e9 for every component."""
    return released(query.mean_vector(within=(-1e9, 1e9), rho=rho), x, seed)


Average = tuple[float, float]
"""A mean and its standard error."""


def averages(found: dict[str, list[float]]) -> dict[str, Average]:
    """Average every method's errors."""
    return {
        name: (float(np.mean(each)), float(np.std(each, ddof=1) / math.sqrt(len(each))))
        for name, each in found.items()
    }


def errors(setting: Setting, releases: int) -> dict[str, Average]:
    """Mean L2 error of every method."""
    found: dict[str, list[float]] = {}
    for k in range(releases):
        rng = default_rng([11, setting.d, k])
        x, sd = setting.rows(rng)
        truth = x.mean(axis=0)
        radius = 50 * math.sqrt(setting.d)

        def note(name: str, value: Floats, truth: Floats = truth) -> None:
            found.setdefault(name, []).append(float(np.linalg.norm(value - truth)))

        note("modicum", ours(x, setting.rho, f"{setting.seed} {k}"))
        note("modicum, ρ/4", ours(x, setting.rho / 4, f"{setting.seed} {k}, a quarter"))
        for name, method in BASELINES.items():
            note(name, method(x, setting.rho, radius, sd, rng))
    return averages(found)


def cell(average: Average) -> str:
    """A mean ± its standard error."""
    return f"{average[0]:.3g} ± {average[1]:.1g}"


def vectors(effort: Effort) -> tuple[str, list[Target]]:
    """Tables of errors and of speed, and what was promised."""
    names = ["modicum", "modicum, ρ/4", *BASELINES]
    rows, worst, worst_quarter = [], 0.0, 0.0
    for setting in SETTINGS:
        if setting.d > effort.widest:
            continue
        releases = effort.releases(setting.n, setting.d)
        found = errors(setting, releases)
        best = min(found[name][0] for name in BASELINES)
        worst = max(worst, found["modicum"][0] / best)
        worst_quarter = max(worst_quarter, found["modicum, ρ/4"][0] / best)
        cells = [cell(found[name]) for name in names]
        shape = [f"{setting.n:,}", str(setting.d), str(setting.rho), str(releases)]
        rows.append([setting.name, *shape, *cells])
    header = ["rows", "n", "d", "ρ", "releases", *names]
    slower, text = speed(effort)
    pure_text, pure_worst = pure(effort)
    kinds_text, promised = kinds(effort.sizes, effort.kinds, effort.largest)
    targets = [
        Target("mean vector, same ρ, worst ratio to the best of the others", 1.05, worst),
        Target("mean vector, ρ/4, worst ratio to the best of the others", 1.05, worst_quarter),
        Target("mean vector, pure ε, d > 2, worst ratio to means one by one", 1.05, pure_worst),
        *promised,
        Target("mean vector, CPU time to X.mean(axis=0)", 50, slower["mean_vector"]),
        Target(
            "clipped mean vector, CPU time to X.mean(axis=0)", 12, slower["clipped_mean_vector"]
        ),
    ]
    parts = ["## Mean vectors", __doc__ or "", table(header, rows), pure_text, kinds_text, text]
    return "\n\n".join(parts), targets


PURE = (
    *(Setting("isotropic", 4000, d, 1, 10, _one) for d in (2, 8, 32)),
    Setting("variances (d/i)²", 4000, 8, 1, 10, _zipf),
    Setting("isotropic", 20_000, 32, 1, 10, _one),
    Setting("variances (d/i)²", 20_000, 32, 1, 10, _zipf),
)
"""In pure ε, which takes the place of ρ."""


def pure(effort: Effort) -> tuple[str, float]:
    """Errors in pure ε, beside means that are asked for one by one."""
    rows, worst = [], 0.0
    for setting in PURE:
        releases = effort.releases(8 * setting.n, setting.d)  # means one by one take their time
        found: dict[str, list[float]] = {"release": [], "one by one": []}
        for k in range(releases):
            x, _ = setting.rows(default_rng([12, setting.d, k]))
            truth, seed = x.mean(axis=0), f"{setting.seed} {k}"
            whole = query.mean_vector(within=(-1e9, 1e9), epsilon=1)
            single = query.mean(within=(-1e9, 1e9), epsilon=Fraction(1, setting.d))
            together = released(whole, x, seed)
            alone = [number(single, x[:, j].copy(), f"{seed} {j}") for j in range(setting.d)]
            found["release"].append(float(np.linalg.norm(together - truth)))
            found["one by one"].append(float(np.linalg.norm(alone - truth)))
        average = averages(found)
        if setting.d > 2:
            worst = max(worst, average["release"][0] / average["one by one"][0])
        cells = [cell(each) for each in average.values()]
        rows.append([setting.name, f"{setting.n:,}", str(setting.d), str(releases), *cells])
    header = ["rows", "n", "d", "releases", "mean_vector, ε = 1", "mean of each, ε = 1/d"]
    return "In pure ε, values within ±1e9:\n\n" + table(header, rows), worst


def number(question: Query[Release], x: Floats, seed: str) -> float:
    """One release of one number."""
    entropy = SeededEntropy(seed)
    reader = TableReader(open_source(x))
    walk = run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"]
    assert walk.answer is not None
    return float(walk.answer.value)  # type: ignore[attr-defined]


def speed(effort: Effort) -> tuple[dict[str, float], str]:
    """CPU time of releases as ratios to the mean without privacy."""
    n, d = effort.shape
    x = default_rng(3).normal(10, 1, (n, d))
    options = {"within": (-1e9, 1e9), "rho": 0.5}
    times = fastest(
        {
            "mean": lambda: x.mean(axis=0),
            "mean_vector": lambda: modicum.mean_vector(x, **options),
            "clipped_mean_vector": lambda: modicum.clipped_mean_vector(x, **options),
        },
        effort.repeats,
    )
    ratios = {name: times[name] / times["mean"] for name in times}
    return ratios, (
        f"A release of {n:,} x {d} takes {ratios['mean_vector']:.0f} times as long as "
        f"`x.mean(axis=0)`, a clipped mean {ratios['clipped_mean_vector']:.0f} times."
    )
