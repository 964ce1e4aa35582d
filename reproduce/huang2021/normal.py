"""Figures 1 to 5: normal rows with independent components."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.vector_baselines import STEPS
from reproduce.huang2021.measure import (
    COINPRESS,
    EXACT,
    QUARTER,
    TOLD,
    Floats,
    Found,
    Panel,
    Point,
)
from reproduce.verdict import Verdict

N, RHO, D = 4000, 0.5, 128
DIMENSIONS = (16, 32, 64, 128, 256, 512, 1024)
RHOS = tuple(epsilon**2 / 2 for epsilon in (0.1, 0.3, 0.5, 0.7, 1.0))
MEANS = (0.0, 5.0, 10.0)
OURS = ("modicum", QUARTER)
FEW = "the noise moves a median's rank by a tenth of the rows or more"
OTHERS = (*COINPRESS, "PLAN", "Shifted-CM")
PLAIN = ("non-private", *COINPRESS, "CM", "Shifted-CM", EXACT, "PLAN", *OURS)
UNEVEN = ("non-private", *COINPRESS, *TOLD, "Shifted-CM", EXACT, "PLAN", *OURS)

Variances = Callable[[int, Generator], Floats]


def even(variance: float) -> Variances:
    """The same variance for every component."""
    return lambda d, _rng: np.full(d, variance)


def spread(d: int, rng: Generator) -> Floats:
    """Variances uniform in [0, 10]."""
    return rng.uniform(0, 10, d)


def point(at: float, d: int, rho: float, mean: float, variances: Variances, r: float = 50) -> Point:
    """Normal rows about (mean, ..., mean), within a radius of r sqrt(d)."""

    def rows(rng: Generator) -> tuple[Floats, Floats, float]:
        sd = np.sqrt(variances(d, rng))
        return mean + rng.normal(size=(N, d)) * sd, np.full(d, mean), float(sd.max())

    return Point(at, d, rho, r * np.sqrt(d), rows)


def by_dimension(title: str, mean: float, variances: Variances) -> Panel:
    """ρ = 1/2 and growing dimension."""
    return Panel(title, tuple(point(d, d, RHO, mean, variances) for d in DIMENSIONS))


def by_rho(title: str, mean: float, variances: Variances) -> Panel:
    """128 components and growing ρ."""
    return Panel(title, tuple(point(rho, D, rho, mean, variances) for rho in RHOS))


def across_means(found: Found, name: str) -> Floats:
    """Largest ratio between panels of a method's errors, at each point."""
    errors = np.array([each[name] for each in found.errors])
    ratio: Floats = errors.max(axis=0) / errors.min(axis=0)
    return ratio


def enough_rows(found: Found) -> NDArray[np.bool_]:
    """At which points the noise of a median's rank is below a tenth of the rows."""
    points = [point for panel in found.panels for point in panel.points]
    noise = np.array([np.sqrt(STEPS * 4 * p.d / (2 * p.rho)) for p in points])
    return noise < N / 10


def extremes(ratios: Floats) -> str:
    """The smallest and the largest ratio, in words."""
    return f"{ratios.min():.2f} to {ratios.max():.2f}"


def in_integers(number: int, found: Found) -> Verdict:
    """The paper's mechanism in integers beside the same in floating-point numbers."""
    ratio, enough = found.ratio(EXACT, ["Shifted-CM"]), enough_rows(found)
    mean = float(np.exp(np.log(ratio[enough]).mean()))
    seen = f"{extremes(ratio[enough])} times the error, {mean:.2f} in the geometric mean"
    if not enough.all():
        seen += f"; up to {ratio[~enough].max():.3g} times where {FEW}"
    return Verdict(
        f"Figure {number}",
        "(not the paper's) in integers, with exact noise, more questions and radii in quarters of "
        "an octave, Shifted-CM errs as in floating-point numbers",
        seen,
        f"no ratio above 1.25, but where {FEW}",
        bool(ratio[enough].max() <= 1.25),
    )
