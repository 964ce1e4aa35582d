"""Spread and extremes: standard deviation, interquartile range, high quantiles, maximum."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.datasets import income
from benchmarks.methods import CachedReader
from benchmarks.peers import spread_peers
from benchmarks.quantiles import answers
from benchmarks.targets import Target, table
from modicum import query

N = 100_000
Data = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effort:
    """Data sets, and releases of each."""

    datasets: int
    releases: int
    quick: bool


FULL = Effort(datasets=20, releases=20, quick=False)
QUICK = Effort(datasets=4, releases=10, quick=True)

SHAPES: dict[str, Callable[[Generator, int], Data]] = {
    "income": income,
    "N(1000, 1)": lambda rng, n: rng.normal(1000, 1, n),
    "ages": lambda rng, n: np.round(np.clip(rng.normal(40, 20, n), 0, 110)),
    "Pareto 1.5": lambda rng, n: rng.pareto(1.5, n) + 1,
    "uniform": lambda rng, n: rng.random(n),
    "constant": lambda _, n: np.full(n, 5.0),
}


def spread(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the tables and the targets."""
    deviation, first = _deviations(effort)
    quartiles = _quartiles(effort)
    high, second = _high(effort)
    extremes = _maxima(effort)
    text = "\n\n".join([deviation, spread_peers(quick=effort.quick), quartiles, high, extremes])
    return text, [*first, *second]


def _data(shape: str, effort: Effort, n: int) -> list[Data]:
    return [SHAPES[shape](default_rng([41, k]), n) for k in range(effort.datasets)]


def best_clip(x: Data, releases: int, rng: Generator) -> Data:
    """Relative errors with the best clipping in hindsight: mean and n known, all of ε = 1.

    Squared distances from the mean are clipped at one of the largest, the one with the least sum
    of expected noise and bias. Not private.
    """
    squares = np.sort((x - x.mean()) ** 2)[::-1]
    bounds = squares[:60]
    losses = np.array([np.maximum(bounds - bound, 0).sum() for bound in bounds])
    best = int(np.argmin(bounds + losses))
    noise = rng.laplace(0, bounds[best], releases)
    clipped = squares.sum() - losses[best] + noise
    return np.abs(np.sqrt(np.maximum(clipped, 0) / squares.sum()) - 1)


def _deviations(effort: Effort) -> tuple[str, list[Target]]:
    rows, targets = [], []
    for shape in list(SHAPES)[:-1]:
        ours, best, held = [], [], []
        for k, x in enumerate(_data(shape, effort, N)):
            question, truth = query.std(within=(-1e9, 1e9), epsilon=1), float(x.std())
            for answer in answers(question, CachedReader(x), f"{shape} {k}", effort.releases):
                ours.append(abs(float(answer.value) / truth - 1))
                lower, upper = answer.interval()
                held.append(lower <= truth <= upper)
            best += list(best_clip(x, effort.releases, default_rng([42, k])))
        median, reference = float(np.median(ours)), float(np.median(best))
        rows.append(
            [
                shape,
                f"{median:.2g}",
                f"{np.quantile(ours, 0.95):.2g}",
                f"{reference:.2g}",
                f"{median / reference:.2f}x",
                f"{np.mean(held):.1%}",
            ]
        )
        if shape == "income":
            note = f"{len(ours)} releases; PyDP with automatic bounds below"
            targets.append(
                Target("median relative error of std, incomes", 0.015, median, "", note=note)
            )
    header = ["data", "median error", "95 % below", "best clip", "ratio", "covered"]
    return (
        f"""## Standard deviation of {N:,} rows within ±1e9, ε = 1

{effort.datasets} data sets of each kind, {effort.releases} releases of each. Errors are relative to
`numpy.std`; "best clip" knows the mean, n and the best clipping bound. The interval is the default
one, at 95 %, for tails of index 3 or lighter; Pareto 1.5 has a heavier one, and no variance.

{table(header, rows)}""",
        targets,
    )


def _quartiles(effort: Effort) -> str:
    rows = []
    for shape in SHAPES:
        errors, held, widths = [], [], []
        for k, x in enumerate(_data(shape, effort, N)):
            question = query.iqr(within=(-1e9, 1e9), epsilon=1)
            truth = float(np.subtract(*np.quantile(x, [0.75, 0.25])))
            for answer in answers(question, CachedReader(x), f"{shape} {k}", effort.releases):
                errors.append(abs(float(answer.value) - truth) / max(truth, 1e-12))
                lower, upper = answer.interval()
                held.append(lower <= truth <= upper)
                widths.append((upper - lower) / 2 / max(truth, 1e-12))
        constant = shape == "constant"
        rows.append(
            [
                shape,
                "0" if constant and max(errors) == 0 else f"{np.median(errors):.2g}",
                "" if constant else f"{np.median(widths):.2g}",
                f"{np.mean(held):.1%}",
            ]
        )
    header = ["data", "median error", "half width of the interval", "covered"]
    return f"""## Interquartile range of {N:,} rows within ±1e9, ε = 1

The same data sets. Errors are relative to the distance of NumPy's quartiles.

{table(header, rows)}"""


def durfee(x: Data, q: float, rng: Generator) -> float:
    """Durfee 2023: geometric grid of base 1.001 from a public lower bound 0, ε = 1/2 + 1/2."""
    grid = 1.001 ** np.arange(1, math.ceil(math.log(1e9) / math.log(1.001)) + 2) - 1
    noisy = np.searchsorted(x, grid) + rng.exponential(2, len(grid))
    found = np.flatnonzero(noisy > q * len(x) + rng.exponential(2))
    return float(grid[found[0]] if len(found) else grid[-1])


def tight(x: Data, q: float, rng: Generator) -> float:
    """The exponential mechanism between the data's own ends, which are not public, at ε = 1."""
    gaps = np.diff(np.concatenate([x[:1], x, x[-1:]]))
    with np.errstate(divide="ignore"):
        scores = np.log(gaps) - np.abs(np.arange(len(x) + 1) - q * len(x)) / (2 * max(q, 1 - q))
    if not np.isfinite(scores).any():
        return float(x[0])
    i = int(np.argmax(scores + rng.gumbel(size=len(scores))))
    return float(x[max(i - 1, 0)] + gaps[i] * rng.random())


CELLS = ((1000, 0.99), (10_000, 0.99), (10_000, 0.999), (100_000, 0.99), (100_000, 0.999))


def _high(effort: Effort) -> tuple[str, list[Target]]:
    rows, targets = [], []
    for shape in SHAPES:
        for n, q in CELLS:
            rows += _high_rows(shape, n, q, effort, targets)
    header = ["data", "rows", "q", "within", "ours", "no interval", "Durfee", "tight", "ratio"]
    return (
        f"""## High quantiles, ε = 1

Mean rank error, of {effort.datasets * effort.releases} releases a cell. The quantile is of data
rounded to the step of the range, and so are all answers (1/2 at ±1e15). "Durfee" is unbounded
quantile estimation from 0 upwards; "tight" is the exponential mechanism within the data's ends.
Neither has an interval, so the ratio is that of `level=None` to the better of the two, (a + 0.1) /
(b + 0.1). On constant data "tight" has one candidate and cannot miss. Uniform data end at once,
which a prior for tails does not expect.

{table(header, rows)}""",
        targets,
    )


def _high_rows(
    shape: str, n: int, q: float, effort: Effort, targets: list[Target]
) -> list[list[str]]:
    rows = []
    for bound in (1e9, 1e15):
        step = 0.5 if bound == 1e15 else 2.0**-21
        errors: dict[str, list[float]] = {name: [] for name in ("ours", "no", "durfee", "tight")}
        for k, raw in enumerate(_data(shape, effort, n)):
            x = np.sort(np.rint(raw / step) * step)
            rng, reader = default_rng([43, k]), CachedReader(x)
            for name, level in (("ours", 0.95), ("no", None)):
                question = query.quantile(q=q, within=(-bound, bound), epsilon=1, level=level)
                found = answers(question, reader, f"{q} {k}", effort.releases)
                errors[name] += [_rank_error(x, float(a.value), q) for a in found]
            for name, method in (("durfee", durfee), ("tight", tight)):
                values = [round(method(x, q, rng) / step) * step for _ in range(effort.releases)]
                errors[name] += [_rank_error(x, value, q) for value in values]
        means = {name: float(np.mean(each)) for name, each in errors.items()}
        ratio = (means["no"] + 0.1) / (min(means["durfee"], means["tight"]) + 0.1)
        rows.append(
            [shape, f"{n:,}", f"{q:g}", f"±{bound:g}"]
            + [f"{means[name]:.2f}" for name in ("ours", "no", "durfee", "tight")]
            + [f"{ratio:.2f}x"]
        )
        if shape != "uniform":
            name = f"rank error, {shape}, n = {n:,}, q = {q:g}, ±{bound:g} / best of two"
            targets.append(Target(name, 1.5, ratio, note=f"{len(errors['no'])} releases"))
    return rows


def _rank_error(x: Data, value: float, q: float) -> float:
    below, upto = np.searchsorted(x, value, "left"), np.searchsorted(x, value, "right")
    return float(max(0.0, below - q * len(x), q * len(x) - upto))


def _maxima(effort: Effort) -> str:
    rows = []
    for shape in SHAPES:
        ours, beyond, others, held = [], [], [], []
        for k, raw in enumerate(_data(shape, effort, N)):
            x, rng = np.sort(raw), default_rng([44, k])
            question = query.max(within=(-1e9, 1e9), epsilon=1)
            for answer in answers(question, CachedReader(x), f"{shape} {k}", effort.releases):
                value = float(answer.value)
                ours.append(abs(value / x[-1] - 1))
                beyond.append(int((x > value).sum()))
                lower, upper = answer.interval()
                held.append(lower <= x[-1] <= upper)
                others.append(abs(durfee(x, 1 - 5 / N, rng) / x[-1] - 1))
        rows.append(
            [
                shape,
                f"{np.median(ours):.2g}",
                f"{np.median(others):.2g}",
                f"{np.mean(beyond):.1f}",
                f"{np.mean(held):.1%}",
            ]
        )
    header = ["data", "median error", "Durfee, 5 records beyond", "records beyond", "covered"]
    return f"""## Maximum of {N:,} rows within ±1e9, ε = 1

Errors are relative to the largest record, which no private method can tell. "Records beyond" is
the mean number above the answer. The interval is the default.
"Durfee" is good on ages and uniform data, which end at a point that its fine grid from 0 meets.

{table(header, rows)}"""
