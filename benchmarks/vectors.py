"""Mean vectors: errors beside COINPRESS, PLAN and the shifted clipped mean, and speed.

Errors are L2 distances from the mean of the rows, averaged over releases of fresh data. The others
know the number of rows and protect a changed row with ρ; ours hides the number of rows, and
protects a row more or less: with ρ, and with ρ/4, which protects a changed row with ρ.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest
from benchmarks.targets import Target, table
from benchmarks.vector_baselines import BASELINES
from modicum import request
from modicum.exact.entropy import SeededEntropy
from modicum.frames.people import TableReader
from modicum.frames.source import open_source
from modicum.privacy.unit import Unit
from modicum.runners.live import run

__all__ = ["FULL", "QUICK", "Effort", "vectors"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of each method, the widest rows, shape and repetitions of the speed part."""

    releases: int
    widest: int
    shape: tuple[int, int]
    repeats: int


FULL = Effort(releases=100, widest=1024, shape=(70_000, 1024), repeats=3)
QUICK = Effort(releases=5, widest=256, shape=(20_000, 256), repeats=2)


@dataclass(frozen=True, slots=True)
class Setting:
    """Normal rows with some standard deviations about a mean."""

    name: str
    n: int
    d: int
    rho: float
    mean: float
    sd: Callable[[int, Generator], Floats]

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


def ours(x: Floats, rho: float, seed: str) -> Floats:
    """One release with randomness from a seed; the range is ±1e9 for every component."""
    question = request.mean_vector(within=(-1e9, 1e9), rho=rho)
    reader = TableReader(open_source(x))
    walk = run(
        {"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=SeededEntropy(seed)
    )["a"]
    assert walk.answer is not None
    return np.array([float(value) for value in walk.answer.values])  # type: ignore[attr-defined]


def errors(setting: Setting, releases: int) -> dict[str, float]:
    """Mean L2 error of every method."""
    found: dict[str, list[float]] = {}
    for k in range(releases):
        rng = default_rng([11, setting.d, k])
        x, sd = setting.rows(rng)
        truth = x.mean(axis=0)
        radius = 50 * math.sqrt(setting.d)

        def note(name: str, value: Floats, truth: Floats = truth) -> None:
            found.setdefault(name, []).append(float(np.linalg.norm(value - truth)))

        note("modicum", ours(x, setting.rho, f"{setting} {k}"))
        note("modicum, ρ/4", ours(x, setting.rho / 4, f"{setting} {k}, a quarter"))
        for name, method in BASELINES.items():
            note(name, method(x, setting.rho, radius, sd, rng))
    return {name: float(np.mean(each)) for name, each in found.items()}


def vectors(effort: Effort) -> tuple[str, list[Target]]:
    """Tables of errors and of speed, and what was promised."""
    names = ["modicum", "modicum, ρ/4", *BASELINES]
    rows, worst, worst_quarter = [], 0.0, 0.0
    for setting in SETTINGS:
        if setting.d > effort.widest:
            continue
        found = errors(setting, effort.releases)
        best = min(found[name] for name in BASELINES)
        worst = max(worst, found["modicum"] / best)
        worst_quarter = max(worst_quarter, found["modicum, ρ/4"] / best)
        cells = [f"{found[name]:.3g}" for name in names]
        rows.append([setting.name, str(setting.n), str(setting.d), str(setting.rho), *cells])
    header = ["rows", "n", "d", "ρ", *names]
    ratio, text = speed(effort)
    targets = [
        Target("mean vector, same ρ, worst ratio to the best of the others", 1.05, worst),
        Target("mean vector, ρ/4, worst ratio to the best of the others", 1.05, worst_quarter),
        Target("mean vector, CPU time to X.mean(axis=0)", 120, ratio),
    ]
    return "\n\n".join(["## Mean vectors", __doc__ or "", table(header, rows), text]), targets


def speed(effort: Effort) -> tuple[float, str]:
    """CPU time of a release as a ratio to the mean without privacy."""
    n, d = effort.shape
    x = default_rng(3).normal(10, 1, (n, d))
    times = fastest(
        {
            "mean": lambda: x.mean(axis=0),
            "release": lambda: modicum.mean_vector(x, within=(-1e9, 1e9), rho=0.5),
        },
        effort.repeats,
    )
    ratio = times["release"] / times["mean"]
    return ratio, f"A release of {n:,} x {d} takes {ratio:.0f} times as long as `x.mean(axis=0)`."
