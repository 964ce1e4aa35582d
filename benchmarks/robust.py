"""Trimmed and winsorized means at ±1e9, beside local noise and smooth sensitivity."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest
from benchmarks.datasets import SHAPES, DataSet
from benchmarks.methods import CachedReader
from benchmarks.quantiles import answers
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.level_sets import LevelScore, LinearLevelMechanism
from modicum.privacy.event import RangeDP
from modicum.statistics.robust.trimmed import level_ends_of
from modicum.summaries.order_statistics import TrimPoints

Floats = NDArray[np.float64]
BOUND, TRIM, ROWS = 1e9, 0.1, 20_000
NAMES = ("N(1e6,1)", "income lognormal", "Pareto 1.5", "0.1 % at 1e6", "ages 0..120")


@dataclass(frozen=True, slots=True)
class Effort:
    """Data sets, releases of each, rows of the speed part, repetitions there, draws of a law."""

    datasets: int
    releases: int
    large: int
    repeats: int
    draws: int


FULL = Effort(datasets=10, releases=4, large=10_000_000, repeats=3, draws=1000)
QUICK = Effort(datasets=2, releases=5, large=2_000_000, repeats=2, draws=200)


def exact(x: Floats, *, winsorized: bool) -> float:
    """The statistic of sorted data."""
    m = int(TRIM * len(x))
    middle = x[m : len(x) - m]
    total = float(middle.sum()) + winsorized * m * float(middle[0] + middle[-1])
    return total / (len(x) if winsorized else len(middle))


def local_noise(x: Floats, rng: Generator, releases: int) -> Floats:
    """Errors of Laplace noise with ε = 1 on the scale of what one record moves. Not private."""
    m = int(TRIM * len(x))
    return rng.laplace(0, (x[-m - 1] - x[m]) / (len(x) - 2 * m), releases)


def smooth_sensitivity(x: Floats, rng: Generator, releases: int) -> Floats:
    """Errors of a trimmed mean by smooth sensitivity with t noise, ε = 1.

    Bun and Steinke 2019: T with d = 3 degrees of freedom, times S s, is private with
    ε = (d + 1) β + (d + 1) / (2 sqrt(d) s) for a β-smooth S; half of ε goes to each. n is public
    and records are exchanged: a favour to it, twice over.
    """
    n, m, beta, scale = len(x), int(TRIM * len(x)), 1 / 8, 4 / 3**0.5
    most = 400  # e^(-400/8) of the range is nothing
    low = np.concatenate([np.full(most, -BOUND), x])  # record i (from 0) at most + i
    high = np.concatenate([x, np.full(most, BOUND)])
    largest = 0.0
    for k in range(most - m if most > m else most):
        shifts = np.arange(k + 2)
        widths = high[n - m + k - shifts] - low[most + m - shifts]
        largest = max(largest, float(np.exp(-beta * k) * widths.max()))
    return rng.standard_t(3, releases) * largest / (n - 2 * m) * scale


def measure(data: DataSet, effort: Effort) -> list[str]:
    """Release both means of several data sets; one row of the table."""
    rows: list[list[float]] = []
    for k in range(effort.datasets):
        x = np.sort(data.draw(default_rng([12, k]), ROWS))
        rng, reader = default_rng([13, k]), CachedReader(x)
        errors = {"local": local_noise(x, rng, 4000), "smooth": smooth_sensitivity(x, rng, 4000)}
        covered = 0.0
        for name, ask, winsorized in (
            ("trimmed", query.trimmed_mean, False),
            ("winsorized", query.winsorized_mean, True),
        ):
            truth = exact(x, winsorized=winsorized)
            for level in (0.95, None):
                question = ask(trim=TRIM, within=(-BOUND, BOUND), epsilon=1, level=level)
                found = answers(question, reader, f"{name} {k} {level}", effort.releases)
                errors[f"{name} {level}"] = np.array([float(a.value) - truth for a in found])
                if level is not None:
                    ends = [a.error_model.interval(0.95, None) for a in found]
                    covered += float(np.mean([a <= truth <= b for a, b in ends])) / 2
        mean = {each: float(np.abs(e).mean()) for each, e in errors.items()}
        ratios = [mean[each] / mean["local"] for each in mean if each != "local"]
        rows.append([*ratios, covered])
    *ratios, covered = np.mean(rows, axis=0).tolist()
    return [data.name, *(f"{each:.2f}" for each in ratios), f"{covered:.1%}"]


def slope(effort: Effort) -> list[list[str]]:
    """Mean error of the law with steps and of the one that is linear inside rings."""
    lattice = Lattice.within((-BOUND, BOUND))
    x = np.sort(default_rng(14).normal(size=ROWS))
    reading = TrimPoints(Fraction(1, 10), 2000).begin(lattice)
    reading.update(x)
    ends = level_ends_of(reading.finish(), lattice.first, lattice.last, 2000, winsorized=False)
    truth, rows = exact(x, winsorized=False), []
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3), Fraction(7)):
        errors = []
        within = (*ends, lattice.first, lattice.last)
        for mechanism in (
            Exponential(LevelScore(*within), epsilon),
            LinearLevelMechanism(*within, epsilon, RangeDP(epsilon)),
        ):
            entropy = SeededEntropy(f"{mechanism.name} {epsilon}")
            drawn = [lattice.value(mechanism.sample(entropy)) for _ in range(effort.draws)]
            errors.append(float(np.abs(np.array(drawn) - truth).mean()))
        rows.append([f"{float(epsilon):g}", f"{1 - errors[1] / errors[0]:.0%}"])
    return rows


def robust(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the tables and the targets."""
    rows = [measure(data, effort) for data in SHAPES if data.name in NAMES]
    text = f"""## Trimmed and winsorized means of {ROWS:,} records within ±1e9, ε = 1

A tenth is trimmed on each side. {effort.datasets} data sets, {effort.releases} releases of each.
Mean errors are divided by that of Laplace noise on the scale of what one exchanged record moves the
trimmed mean, with the whole ε, which is not private. Smooth sensitivity (Bun and Steinke 2019, our
code) has t noise of 3 degrees of freedom, and a public number of records, which are exchanged and
not added.

{table(_HEADER, rows)}

What the slope inside rings gains over steps ({effort.draws:,} draws of each, normal data):

{table(["ε of the point", "error less by"], slope(effort))}"""
    return text, _targets(effort)


_HEADER = [
    "data",
    "smooth sensitivity",
    "trimmed",
    "trimmed, no interval",
    "winsorized",
    "winsorized, no interval",
    "covered",
]


def _targets(effort: Effort) -> list[Target]:
    x = default_rng(6).lognormal(10.8, 0.9, effort.large)
    within = (-BOUND, BOUND)
    times = fastest(
        {
            "trimmed": lambda: modicum.trimmed_mean(x, trim=TRIM, within=within, epsilon=1),
            "sort": lambda: np.sort(x),
        },
        effort.repeats,
    )
    name = f"trimmed mean of {effort.large:,} float64 / numpy.sort"
    return [Target(name, 1, times["trimmed"] / times["sort"])]
