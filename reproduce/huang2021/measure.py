"""Errors of every method over the settings of one figure: a table, a picture and a page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.targets import table
from benchmarks.vector_baselines import clipped_mean, coinpress, plan, shifted
from benchmarks.vectors import ours
from benchmarks.vectors import released as answered
from modicum.research.papers.huang2021 import exchange_mean_vector
from reproduce.verdict import STYLE, Verdict, write_csv, write_readme

Floats = NDArray[np.float64]
OUT = Path(__file__).parent / "out"

STEPS = (1, 2, 3, 4, 10)
COINPRESS = tuple(f"COINPRESS t={t}" for t in STEPS)
TOLD = tuple(f"{name}, told σ" for name in COINPRESS)
QUARTER = "modicum, ρ/4"
EXACT = "Shifted-CM, exact"
STEP = 2.0**-6

FEWEST, MOST = 4, 25
WORK = 1024  # trials times dimension, as far as these allow

NOTES = f"""
Huang, Liang and Yi (2021), *Instance-optimal mean estimation under differential privacy*. Made by
`python -m reproduce huang2021/{{name}}`; all randomness is seeded.

{{about}}

L2 errors, the mean over trials without the largest and the smallest tenth, as in the paper. It made
100 trials at each point; here there are {{work:,}}/d of them, from {FEWEST} to {MOST},
and the CSV file has their number and the standard error of each mean. The other methods are in
`benchmarks/vector_baselines.py`, from their papers and the constants of their released programs:
COINPRESS takes the covariance for the identity ("told σ": it knows the largest standard deviation
instead), PLAN and Shifted-CM are as written. All of them know the number of rows and the radius R,
and ρ protects a *changed* row; their noise is floating-point noise. `modicum.mean_vector` gets the
range ±1e9 for every component, does not know the number of rows, and ρ protects a row *more or
less*; with ρ/4 a changed row is protected with ρ, as by the others.
"""

EXACT_NOTES = f"""
"{EXACT}" is the paper's mechanism as `modicum.research.papers.huang2021.exchange_mean_vector` has
it, in integers and with exact noise: it knows the number of rows, and ±2R/sqrt(d) for every
component with a step of {STEP:g}.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One setting: ``rows(rng)`` are rows, the mean to be found, and the largest deviation."""

    at: float
    d: int
    rho: float
    radius: float
    rows: Callable[[Generator], tuple[Floats, Floats, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    """Some settings with a title."""

    title: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Trimmed means of errors: ``errors[panel][method]``, one number for each point."""

    panels: tuple[Panel, ...]
    work: int
    errors: list[dict[str, Floats]]
    spreads: list[dict[str, Floats]] = field(repr=False)
    trials: list[list[int]] = field(repr=False)

    def best(self, panel: int, names: Sequence[str]) -> Floats:
        """The smallest error of some methods, at each point."""
        found: Floats = np.min([self.errors[panel][name] for name in names], axis=0)
        return found

    def ratio(self, name: str, names: Sequence[str]) -> Floats:
        """Errors of one method over the smallest of some others, at every point of every panel."""
        each = [e[name] / self.best(i, names) for i, e in enumerate(self.errors)]
        return np.concatenate(each)


def released(point: Point, names: Sequence[str], seed: list[int]) -> dict[str, float]:
    """Error of one release of each method on the same rows."""
    rng = default_rng(seed)
    x, truth, sd = point.rows(rng)
    rho, radius = point.rho, point.radius
    wide = radius / np.sqrt(point.d)
    methods: dict[str, Callable[[], Floats]] = {
        "non-private": lambda: x.mean(axis=0),
        "CM": lambda: clipped_mean(x, rho, 2 * radius, rng),
        "Shifted-CM": lambda: shifted(x, rho, 2 * radius, rng),
        "PLAN": lambda: plan(x, rho, wide, rng),
        EXACT: lambda: exchanged(x, rho, 2 * wide, f"{seed}"),
        "modicum": lambda: ours(x, rho, f"{seed}"),
        QUARTER: lambda: ours(x, rho / 4, f"{seed}, a quarter"),
    }
    for t, plain, told in zip(STEPS, COINPRESS, TOLD, strict=True):
        methods[plain] = lambda t=t: coinpress(x, rho, radius, 1.0, t, rng)  # type: ignore[misc]
        methods[told] = lambda t=t: coinpress(x, rho, radius, sd, t, rng)  # type: ignore[misc]
    return {name: float(np.linalg.norm(methods[name]() - truth)) for name in names}


def exchanged(x: Floats, rho: float, wide: float, seed: str) -> Floats:
    """Return the paper's means for exchanged rows, every component within ``wide``."""
    within = -float(wide), float(wide)
    return answered(exchange_mean_vector(rows=len(x), within=within, step=STEP, rho=rho), x, seed)


def trimmed(errors: Sequence[float]) -> tuple[float, float]:
    """Mean without a tenth at either end, and about its standard error."""
    cut = len(errors) // 10
    kept = np.sort(errors)[cut : len(errors) - cut]
    return float(kept.mean()), float(np.std(errors) / np.sqrt(len(errors)))


def measure(
    number: int,
    panels: tuple[Panel, ...],
    names: Sequence[str],
    *,
    quick: bool,
    work: int = WORK,
) -> Found:
    """Run every method at every point; if quick, once, and in the first and last panel.

    ``work`` is trials times dimension, as far as bounds of the number of trials allow.
    """
    panels = (panels[0], panels[-1]) if quick else panels
    found = Found(panels, work, [], [], [])
    for i, panel in enumerate(panels):
        means: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        trials = []
        for j, point in enumerate(panel.points):
            many = 1 if quick else min(max(work // point.d, FEWEST), MOST)
            runs = [released(point, names, [number, i, j, k]) for k in range(many)]
            for name in names:
                means[name].append(trimmed([run[name] for run in runs]))
            trials.append(many)
        found.errors.append({name: np.array(each)[:, 0] for name, each in means.items()})
        found.spreads.append({name: np.array(each)[:, 1] for name, each in means.items()})
        found.trials.append(trials)
    return found


def show(found: Found, across: str) -> None:
    """Print the errors of every panel."""
    for panel, errors in zip(found.panels, found.errors, strict=True):
        header = [panel.title, *(f"{across} = {point.at:g}" for point in panel.points)]
        rows = [[name, *(f"{x:.3g}" for x in each)] for name, each in errors.items()]
        print(f"\n{table(header, rows)}\n")


def write(number: int, found: Found, across: str, about: str, verdicts: list[Verdict]) -> None:
    """Write the errors, the picture and the page."""
    folder = OUT / f"figure{number}"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        (panel.title, point.at, name, float(errors[name][j]), float(spreads[name][j]), trials[j])
        for panel, errors, spreads, trials in zip(
            found.panels, found.errors, found.spreads, found.trials, strict=True
        )
        for j, point in enumerate(panel.points)
        for name in errors
    ]
    header = ["panel", across, "method", "error", "stderr", "trials"]
    write_csv(folder / "errors.csv", header, rows)
    picture(found, across, folder / f"figure{number}.png")
    notes = NOTES.format(name=folder.name, about=about.strip(), work=found.work)
    if EXACT in found.errors[0]:
        notes += EXACT_NOTES
    title = f"Huang, Liang and Yi 2021, Figure {number}"
    write_readme(folder / "README.md", title, notes, verdicts)


def picture(found: Found, across: str, path: Path) -> None:
    """Draw the panels side by side."""
    with plt.rc_context(STYLE | {"figure.figsize": (11.5, 4.6), "lines.markersize": 3}):
        fig, axes = plt.subplots(1, len(found.panels), layout="constrained", sharey=True)
        for axis, panel, errors in zip(axes, found.panels, found.errors, strict=True):
            at = [point.at for point in panel.points]
            for name, each in errors.items():
                axis.plot(at, each, label=name, **_style(name))
            axis.set(xscale="log", yscale="log", xlabel=across)
            axis.set_xticks(at, [f"{x:g}" for x in at])
            axis.minorticks_off()
            axis.set_title(panel.title, loc="left")
        axes[0].set_ylabel("L2 error")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        fig.savefig(path, metadata={"Software": None})
        plt.close(fig)


def _style(name: str) -> dict[str, object]:
    greens = dict(zip(COINPRESS, plt.get_cmap("viridis")(np.linspace(0.35, 0.95, 5)), strict=True))
    if name in greens:
        return {"color": greens[name], "lw": 1.1, "marker": "o"}
    if name in TOLD:
        return {"color": greens[COINPRESS[TOLD.index(name)]], "lw": 0.9, "ls": ":"}
    return {
        "non-private": {"color": "grey", "ls": "--"},
        "CM": {"color": "tab:brown", "lw": 1.1, "marker": "v"},
        "Shifted-CM": {"color": "tab:red", "marker": "s"},
        "PLAN": {"color": "tab:orange", "marker": "^"},
        EXACT: {"color": "tab:red", "ls": ":", "marker": "x"},
        "modicum": {"color": "tab:blue", "marker": "D", "lw": 2},
        QUARTER: {"color": "tab:blue", "ls": "-.", "marker": "d"},
    }[name]


def against_the_best(number: int, found: Found, others: Sequence[str]) -> Verdict:
    """The library beside the best of all others, chosen in hindsight at every point."""
    same, quarter = (found.ratio(name, others) for name in ("modicum", QUARTER))
    return Verdict(
        f"Figure {number}",
        "(not the paper's) mean_vector errs no more than the best of COINPRESS, PLAN and "
        "Shifted-CM, chosen in hindsight, at the same ρ",
        f"at most {same.max():.2f} times the error of the best, {np.exp(np.log(same).mean()):.2f} "
        f"in the geometric mean; with ρ/4, at most {quarter.max():.2f} and "
        f"{np.exp(np.log(quarter).mean()):.2f}",
        "no ratio at the same ρ above 1.05",
        bool(same.max() <= 1.05),
    )
