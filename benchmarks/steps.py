"""Public steps that are not fine: errors of locations beside those with the finest step.

``python -m benchmarks steps``. A step of s moves every record by s/2 at most and rounds the answer
by as much: the error should be s and that of the finest step at most, at any number of records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.methods import CachedReader
from benchmarks.quantiles import answers
from benchmarks.targets import Target, table
from modicum import query
from modicum.releases.status import USABLE
from modicum.research.papers import asi2020, dick2023
from modicum.statistics.robust.monotone_statistic import expectile_score, huber_score, power_score

Floats = NDArray[np.float64]
STEPS = (1.0, 1 / 4, 1 / 64)
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
FAR = 10.0  # so many allowed errors off is noise
ALLOWED = 1.1


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of records, and releases of each cell; of a law that is slow to make, ``few``."""

    sizes: tuple[int, ...]
    releases: int
    few: int


FULL = Effort(SIZES, releases=40, few=16)
QUICK = Effort((100, 1000, 100_000), releases=8, few=6)

SHAPES: dict[str, tuple[Callable[[Generator, int], Floats], float]] = {
    "ages": (lambda rng, n: rng.normal(38, 17, n).clip(0, 110).round(), 128),
    "ratings": (
        lambda rng, n: rng.choice([1.0, 2, 3, 4, 5], n, p=[0.1, 0.15, 0.25, 0.35, 0.15]),
        10,
    ),
    "ties of 0 and 1": (lambda rng, n: (rng.random(n) < 0.3) * 1.0, 8),
    "lognormal": (lambda rng, n: rng.lognormal(3, 0.7, n).clip(0, 500), 512),
    "far clusters": (
        lambda rng, n: np.where(rng.random(n) < 0.35, 400.0, 60.0) + rng.normal(0, 4, n),
        512,
    ),
}


def _zero_of(psi: Callable[[Floats], Floats]) -> Callable[[Floats], float]:
    def located(x: Floats) -> float:
        values, counts = np.unique(x, return_counts=True)
        lo, hi = float(values[0]), float(values[-1])
        for _ in range(50):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if psi(values - middle) @ counts > 0 else (lo, middle)
        return (lo + hi) / 2

    return located


def _trimmed(x: Floats) -> Floats:
    cut = int(0.1 * len(x))
    return np.sort(x)[cut : len(x) - cut]


def _winsorized(x: Floats) -> float:
    middle = _trimmed(x)
    return float(x.clip(middle[0], middle[-1]).mean())


MEAN, HUBER = expectile_score(0.5), huber_score(16.0)
Asked = Callable[..., modicum.Query[Any]]
STATISTICS: dict[str, tuple[Asked, Callable[[Floats], float]]] = {
    "mean": (query.mean, lambda x: float(x.mean())),
    "median": (query.median, lambda x: float(np.median(x))),
    "quantile 0.9": (
        lambda **more: query.quantile(q=0.9, **more),
        lambda x: float(np.quantile(x, 0.9, method="inverted_cdf")),
    ),
    "trimmed mean": (
        lambda **more: query.trimmed_mean(trim=0.1, **more),
        lambda x: float(_trimmed(x).mean()),
    ),
    "winsorized mean": (lambda **more: query.winsorized_mean(trim=0.1, **more), _winsorized),
    "iqr": (
        query.iqr,
        lambda x: float(np.subtract(*np.quantile(x, [0.75, 0.25], method="inverted_cdf"))),
    ),
    "std": (query.std, lambda x: float(x.std())),
    "huber": (lambda **more: query.huber(width=16, **more), _zero_of(HUBER.psi)),
    "expectile 0.9": (
        lambda **more: query.expectile(tau=0.9, **more),
        _zero_of(expectile_score(0.9).psi),
    ),
    "lp 1.5": (lambda **more: query.lp_center(p=1.5, **more), _zero_of(power_score(1.5).psi)),
    "lp 3": (lambda **more: query.lp_center(p=3, **more), _zero_of(power_score(3).psi)),
    "monotone": (
        lambda **more: query.monotone_statistic(
            statistic=modicum.Score("tanh", lambda v: np.tanh(v / 8), growth=0, width=16), **more
        ),
        _zero_of(lambda v: np.tanh(v / 8)),
    ),
    "(M.1) of a mean": (
        lambda **more: asi2020.inverse_sensitivity(statistic=MEAN, **more),
        lambda x: float(x.mean()),
    ),
    "(M.1) of Huber's": (
        lambda **more: asi2020.inverse_sensitivity(statistic=HUBER, **more),
        _zero_of(HUBER.psi),
    ),
    "gradient of a mean": (
        lambda **more: asi2020.gradient(statistic=MEAN, **more),
        lambda x: float(x.mean()),
    ),
    "subset of a mean": (
        lambda **more: dick2023.subset_monotone(statistic=MEAN, **more),
        lambda x: float(x.mean()),
    ),
}
_SLOW = ("(M.1)", "gradient")  # whose law is made anew for all lattice points of each release


@dataclass(frozen=True, slots=True)
class Cell:
    """Absolute errors of some releases, and their codes."""

    errors: Floats
    ok: NDArray[np.bool_]
    usable: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, shape: str, n: int, step: float | None, releases: int) -> "Cell":
        draw, hi = SHAPES[shape]
        x = draw(default_rng([n, len(shape)]), n)
        asked, truth = STATISTICS[name]
        question = asked(within=(0, hi), epsilon=1, step=step)
        found = answers(question, CachedReader(x), f"{name} {shape} {n} {step}", releases)
        true = truth(x)
        return cls(
            np.array([abs(float(each.value) - true) for each in found]),
            np.array([each.status.code == "ok" for each in found]),
            np.array([each.status.code in USABLE for each in found]),
        )


def _ratio(cell: Cell, fine: Cell, step: float) -> tuple[float, float]:
    """Mean error over what is allowed, and four standard errors: of a thousand, the worst shows."""
    allowed = step + ALLOWED * float(fine.errors.mean())
    spread = sum(
        each.errors.var(ddof=1) / len(each.errors) * weight**2
        for each, weight in ((cell, 1.0), (fine, ALLOWED))
    )
    return float(cell.errors.mean()) / allowed, 4 * float(spread) ** 0.5 / allowed


def steps(effort: Effort) -> tuple[str, list[Target]]:
    """Release every statistic at every step; return a table and the targets."""
    rows, targets = [], []
    for name in STATISTICS:
        releases = effort.few if name.startswith(_SLOW) else effort.releases
        worst = dict.fromkeys(STEPS, (0.0, 0.0, ""))
        noise = wrong = 0
        for shape in SHAPES:
            for n in effort.sizes:
                fine = Cell.of(name, shape, n, None, releases)
                for step in STEPS:
                    cell = Cell.of(name, shape, n, step, releases)
                    ratio, margin = _ratio(cell, fine, step)
                    worst[step] = max(worst[step], (ratio - margin, ratio, f"{shape}, {n:,}"))
                    limit = FAR * (step + ALLOWED * float(fine.errors.mean()))
                    noise += int((cell.ok & (cell.errors > limit)).sum())
                    near = cell.errors.max() <= step + ALLOWED * float(fine.errors.max())
                    wrong += int(fine.usable.all() and near and not cell.usable.all())
        rows.append(
            [name, *(f"{worst[step][1]:.2f} ({worst[step][2]})" for step in STEPS), str(noise)]
        )
        for step in STEPS:
            low, ratio, place = worst[step]
            targets.append(
                Target(f"{name}, step {step:g}", 1, ratio, note=place, margin=ratio - low)
            )
        targets.append(Target(f"{name}: ok, but noise", 0, noise, unit="releases"))
        targets.append(Target(f"{name}: right, but not usable", 0, wrong, unit="cells"))
    sizes = ", ".join(f"{n:,}" for n in effort.sizes)
    text = f"""## Steps that are not fine

Mean error at a public step, over the step and {ALLOWED} times the error with the finest step: the
worst of {len(SHAPES)} shapes ({", ".join(SHAPES)}) and {sizes} records, at ε = 1, {effort.releases}
releases a cell ({effort.few} of the mechanisms of Asi and Duchi). A cell is the worst by the lower
end of its error, four standard ones. `noise` counts releases with the code ok that are {FAR:g}
times that off.

{table(["statistic", *(f"step {step:g}" for step in STEPS), "noise"], rows)}"""
    return text, targets
