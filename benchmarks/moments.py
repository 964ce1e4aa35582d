"""Regression and principal components: ours, other mechanisms on the same rows, other libraries."""

import json
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.adassp import DELTA, QUANTILES, adassp, scaled
from benchmarks.directions import angular, bingham
from benchmarks.listed import FITS, by_gradients, by_squares
from benchmarks.mixed_columns import mixed_columns
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

HERE = Path(__file__).parent
WITHIN = (-1e6, 1e6)
RHO = "0.0175"  # of which (1, 1e-6)-DP follows: ρ + 2 sqrt(ρ ln(1/δ)) = 1
COMPONENTS = 2
LISTED = 3  # tables of few columns
CAPS = (0.7, 1.0, 1.5)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Settings:
    """Fits of the diabetes data, of other rows, of other libraries, and at each of the least sizes.

    And the sizes for components.
    """

    most: int
    fits: int
    peer_fits: int
    ladder_fits: int
    sizes: tuple[tuple[int, int], ...]


SPIKED = ((300, 5), (1000, 5), (300, 10), (1000, 10))  # OpenDP takes minutes for more rows
WIDTHS = (3, 5, 10, 20)
LADDER = tuple(50 << k for k in range(10))
FULL = Settings(100, 40, 10, 20, SPIKED)
QUICK = Settings(10, 10, 3, 5, SPIKED[:3])


def moments(settings: Settings) -> tuple[str, list[Target]]:
    """Run all and return a section of text and its targets."""
    with tempfile.TemporaryDirectory() as folder:
        text, targets = _regressions(settings, Path(folder))
        lists = _scores_of_lists(settings, Path(folder))
        components = _components(settings, Path(folder))
    mixed, others = mixed_columns(settings.fits)
    parts = (text, mixed, lists, components, _least_sizes(settings))
    return "\n\n".join(parts), [*targets, *others]


def _tables(folder: Path) -> Iterator[tuple[str, Floats]]:
    """Rows with the explained column last."""
    path = folder / "diabetes.npy"
    if "missing" not in _worker("diabetes", str(path)):
        yield "diabetes", np.load(path)
    rng = default_rng(1)
    for n, d in ((1000, 1), (1000, 5), (2000, 20), (10_000, 50)):
        mixed = np.eye(d) + 0.7 * rng.normal(size=(d, d)) / math.sqrt(d)
        x = (rng.normal(size=(n, d)) @ mixed + 3 * rng.normal(size=d)) * np.exp(
            2 * rng.normal(size=d)
        )
        slopes = rng.normal(size=d) / math.sqrt(d)
        y = (x - x.mean(axis=0)) / x.std(axis=0) @ slopes + 0.5 * rng.normal(size=n) + 3
        yield f"made, {n:,} x {d}", np.column_stack([x, y])


def _regression(name: str, data: Floats, folder: Path, settings: Settings) -> list[str]:
    """One row of the table."""
    x, y = data[:, :-1], data[:, -1]
    path = folder / "rows.npy"
    np.save(path, data)
    rng, ours = default_rng(2), _Ours(data, name)
    fits = settings.most if name == "diabetes" else settings.fits
    return [
        f"{name}, {len(x):,} rows",
        f"{_score(x, y, _least_squares(x, y)):.3f}",
        _scores(lambda: _score(x, y, ours.ask("linear_regression", {"epsilon": 1})), fits),
        _scores(lambda: _score(x, y, ours.ask("linear_regression", {"rho": RHO})), fits),
        max(_scores(lambda q=q: _score(x, y, scaled(x, y, q, rng)), fits) for q in QUANTILES),
        _scores(lambda: _score(x, y, adassp(x, y, 1, rng)), fits),
        _scores(lambda: _score(x, y, adassp(x, y, 1000, rng)), fits),
        *(_peer("diffprivlib_regression", path, f, settings) for f in (1, 10)),
        *(
            _peer("opendp_regression", path, f, settings) if x.shape[1] == 1 else "-"
            for f in (1, 10)
        ),
    ]


def _regressions(settings: Settings, folder: Path) -> tuple[str, list[Target]]:
    rows = [_regression(name, data, folder, settings) for name, data in _tables(folder)]
    targets = [
        Target(
            "diabetes, ε = 1, ±1e6: 1 - R², median",
            1.0,
            1 - float(row[2].split()[0]),
            "",
            note="R² above 0",
        )
        for row in rows
        if row[0].startswith("diabetes")
    ]
    header = [
        "data", "least squares", "ours, ε = 1", f"ours, ρ = {RHO}", "AdaSSP, scaled in hindsight",
        "AdaSSP, bounds of the data", "AdaSSP, 1000 times as wide",
        "diffprivlib, bounds of the data", "10 times as wide",
        "OpenDP, bounds of the data", "10 times as wide",
    ]  # fmt: skip
    return (
        f"""## Regression of tables within ±1e6

R² on the rows of the fit, median and 5 % quantile over {settings.fits} fits (diabetes:
{settings.most}, other libraries: {settings.peer_fits}). Ours knows no bounds.
AdaSSP (Wang 2018) is written from its paper, at (1, {DELTA:g})-DP with public n; it and
diffprivlib (ε = 1, swap) are given bounds that no user has: those of the data, or wider ones.
Scaled in hindsight: columns are centred and divided by their true deviations, and norms clipped at
the best of the quantiles {", ".join(map(str, QUANTILES))}.
OpenDP's regression is that of Theil and Sen, for one explaining column.

{table(header, rows)}""",
        targets,
    )


def _best_of_caps(way: Callable[..., Floats], data: Floats, settings: Settings) -> str:
    z = (data - data.mean(axis=0)) / data.std(axis=0)
    x, y, rng = z[:, :-1], z[:, -1], default_rng(5)
    return max(
        _scores(lambda cap=cap: _score(x, y, way(x, y, 0.5, cap, rng)), settings.fits)
        for cap in CAPS
    )


def _scores_of_lists(settings: Settings, folder: Path) -> str:
    """Another score on the same lists of fits, for standardised columns."""
    rows = [
        [name, *(_best_of_caps(way, data, settings) for way in (by_squares, by_gradients))]
        for name, data in list(_tables(folder))[:LISTED]
    ]
    return f"""## The score of gradients

A fit out of {FITS} normal ones about zero at ε = 0.5, in real numbers and true scales: once with
the capped squared residuals that modicum uses, once with Asi and Duchi's (2020) norm of the sum of
gradients. Each with the best of the caps {", ".join(map(str, CAPS))} (standard deviations of the
explained column); median R² and 5 % quantile over {settings.fits} fits.

{table(["data", "capped squares", "gradients"], rows)}"""


def _directions(n: int, d: int, folder: Path, settings: Settings) -> list[str]:
    """One row of the table."""
    x = _spiked(n, d)
    path = folder / "spiked.npy"
    np.save(path, x)
    rng, ours = default_rng(3), _Ours(x, f"{n} x {d}")
    best = np.linalg.eigvalsh(np.cov(x.T))[::-1]
    norm = float(np.linalg.norm(x, axis=1).max())
    ways: list[Callable[[], Floats]] = [
        lambda: ours.components({"epsilon": 1}),
        lambda: ours.components({"rho": RHO}),
        lambda: bingham(x / norm, 1.0, COMPONENTS, rng),
        lambda: angular(x / norm, 1.0, COMPONENTS, rng),
        lambda: _analyze_gauss(x, norm, rng),
        lambda: _analyze_gauss(x, 10 * norm, rng),
    ]
    return [
        f"{n:,} x {d}",
        f"{best[:COMPONENTS].sum() / best.sum():.3f}",
        f"{COMPONENTS / d:.3f}",
        *(_scores(lambda way=way: _captured(x, way()), settings.fits) for way in ways),
        *(
            _peer(name, path, factor, settings)
            for name in ("diffprivlib_pca", "opendp_pca")
            for factor in (1, 10)
        ),
    ]


def _components(settings: Settings, folder: Path) -> str:
    rows = [_directions(n, d, folder, settings) for n, d in settings.sizes]
    header = [
        "rows", "best", "random plane", "ours, ε = 1", f"ours, ρ = {RHO}",
        "Bingham, norm of the data", "Asi and Duchi, norm of the data",
        "Analyze Gauss, norm of the data", "10 times", "diffprivlib, norm of the data", "10 times",
        "OpenDP, norm of the data", "10 times",
    ]  # fmt: skip
    return f"""## Share of variance of {COMPONENTS} components, rows within ±1e6

Normal rows with variances 10, 5, 1, 1, ... in random directions; median and 5 % quantile over
{settings.fits} fits (other libraries: {settings.peer_fits}). Ours knows no norm. The exponential
mechanism on directions (Chaudhuri et al. 2013, add-remove, exact Bingham law) and that of Asi and
Duchi (2020) with the sharp radii of the page on proofs are idealised: real numbers, half of ε for
each component. They, Analyze Gauss (Dwork et al. 2014, (1, {DELTA:g})-DP) and the other libraries
are given a norm that no user has. A library that is missing, or lacks what it needs, has a dash.

{table(header, rows)}"""


def _least_row(d: int, settings: Settings) -> list[str]:
    """The fewest rows, of those of the ladder, at which components of d columns are found."""
    found = [
        next((n for n in LADDER if _clear(n, d, cost, settings)), None)
        for cost in ({"epsilon": 1}, {"rho": RHO})
    ]
    return [str(d), *(f"more than {LADDER[-1]:,}" if n is None else f"{n:,}" for n in found)]


def _least_sizes(settings: Settings) -> str:
    rows = [_least_row(d, settings) for d in WIDTHS]
    return f"""## The size below which components are not found

The same rows, of so many columns. Components are called found from the number of rows on (of
{LADDER[0]}, {LADDER[1]}, {LADDER[2]}, ...) at which nine in ten fits (of {settings.ladder_fits})
capture more than half of what the best plane captures beyond a random one. Below, they may be no
better than a random plane.

{table(["columns", "ours, ε = 1", f"ours, ρ = {RHO}"], rows)}"""


def _clear(n: int, d: int, cost: dict, settings: Settings) -> bool:
    x = _spiked(n, d)
    best = np.linalg.eigvalsh(np.cov(x.T))[::-1]
    middle = (best[:COMPONENTS].sum() / best.sum() + COMPONENTS / d) / 2
    ours = _Ours(x, f"least {n} x {d}")
    shares = [_captured(x, ours.components(cost)) for _ in range(settings.ladder_fits)]
    return float(np.quantile(shares, 0.1)) > middle


def _spiked(n: int, d: int) -> Floats:
    rng = default_rng(d)
    scales = np.ones(d)
    scales[:COMPONENTS] = np.sqrt([10, 5])
    return rng.normal(size=(n, d)) * scales @ np.linalg.qr(rng.normal(size=(d, d)))[0]


class _Ours:
    """Our releases of some data, each with a seed of its own."""

    def __init__(self, data: Floats, label: str) -> None:
        self._data, self._label, self._asked = data, label, 0

    def ask(self, name: str, cost: dict, **more: object) -> Floats:
        self._asked += 1
        budget = modicum.zcdp(1) if "rho" in cost else modicum.pure(1)
        entropy = SeededEntropy(f"moments {self._label} {self._asked}")
        curator = modicum.Curator(self._data, budget=budget, entropy=entropy)
        return getattr(curator, name)(within=WITHIN, **cost, **more).values

    def components(self, cost: dict) -> Floats:
        return self.ask("pca", cost, components=COMPONENTS)


def _least_squares(x: Floats, y: Floats) -> Floats:
    return np.linalg.lstsq(np.column_stack([np.ones(len(y)), x]), y, rcond=None)[0]


def _score(x: Floats, y: Floats, coefficients: Floats) -> float:
    return float(1 - np.mean((y - coefficients[0] - x @ coefficients[1:]) ** 2) / np.var(y))


def _captured(x: Floats, components: Floats) -> float:
    matrix = np.cov(x.T)
    return float(np.trace(components @ matrix @ components.T) / np.trace(matrix))


def _scores(fit: Callable[[], float], fits: int) -> str:
    return _summary([fit() for _ in range(fits)])


def _summary(scores: list[float]) -> str:
    return " ".join(
        f"{value:.3f}" if abs(value) < 100 else f"{value:.1e}"
        for value in (statistics.median(scores), float(np.quantile(scores, 0.05)))
    )


def _analyze_gauss(x: Floats, norm: float, rng: Generator) -> Floats:
    """Leading eigenvectors of X'X with Gaussian noise of sd sqrt(2 ln(1.25/δ)) norm²."""
    d = x.shape[1]
    noise = np.triu(rng.normal(size=(d, d))) * math.sqrt(2 * math.log(1.25 / DELTA)) * norm**2
    _, vectors = np.linalg.eigh(x.T @ x + noise + np.triu(noise, 1).T)
    return vectors.T[::-1][:COMPONENTS]


def _peer(name: str, path: Path, factor: float, settings: Settings) -> str:
    reply = _worker(name, str(path), str(factor), str(settings.peer_fits))
    return "-" if "missing" in reply else _summary(reply["scores"])


def _worker(*arguments: str) -> dict:
    python = os.environ.get("MODICUM_PEERS", str(HERE.parent / ".venv-peers" / "bin" / "python"))
    command = [python, str(HERE / "moments_worker.py"), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    except (FileNotFoundError, subprocess.SubprocessError) as error:
        return {"missing": type(error).__name__}
    return json.loads(done.stdout.splitlines()[-1])
