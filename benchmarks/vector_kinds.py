"""Mean vectors of rows that are not bell-shaped: errors, coverage, and what is said of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayEstimate
from modicum.runtime.run import run
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader

Floats = NDArray[np.float64]
Rows = Callable[[Generator, int, int], Floats]

WITHIN = (-1e6, 1e6)
COSTS: dict[str, dict[str, float]] = {"ρ = 0.5": {"rho": 0.5}, "ε = 1": {"epsilon": 1}}
FAR = 10  # half-widths


def _lognormal(sigma: float) -> Rows:
    return lambda rng, n, d: rng.lognormal(0, sigma, (n, d))


def _pareto(index: float) -> Rows:
    return lambda rng, n, d: 1 + rng.pareto(index, (n, d))


def _yes(share: float) -> Rows:
    return lambda rng, n, d: (rng.random((n, d)) < share) * 1.0


def _zeros(rng: Generator, n: int, d: int) -> Floats:
    return np.where(rng.random((n, 1)) < 0.9, 0.0, rng.lognormal(3, 1, (n, d)))


def _correlated(rng: Generator, n: int, d: int) -> Floats:
    return 10 + rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, d))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows."""

    name: str
    rows: Rows


KINDS = (
    Kind("normal", lambda rng, n, d: rng.normal(10, 1, (n, d))),
    Kind("correlated, 0.92", _correlated),
    Kind("lognormal(0, 1.5)", _lognormal(1.5)),
    Kind("lognormal(0, 1)", _lognormal(1)),
    Kind("Pareto, index 2.5", _pareto(2.5)),
    Kind("Pareto, index 3.5", _pareto(3.5)),
    Kind("0/1, 2 %", _yes(0.02)),
    Kind("0/1, 10 %", _yes(0.1)),
    Kind("0/1, 30 %", _yes(0.3)),
    Kind("90 % rows of zeros", _zeros),
)


def released(question: query.Query, x: Floats, seed: str) -> ArrayEstimate:
    """One answer with randomness from a seed."""
    reader, entropy = TableReader(open_source(x)), SeededEntropy(seed)
    walk = run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"]
    assert isinstance(walk.answer, ArrayEstimate)
    return walk.answer


@dataclass(frozen=True, slots=True)
class Found:
    """What some releases of one kind of rows gave.

    Attributes
    ----------
    errors, relative : list of float
        L2 distances from the mean of the rows, and in norms of it.
    held, fine, silent, far : int
        Releases whose intervals hold at once; with code "ok"; of these, ones that miss; ones that
        miss by more than ten half-widths.
    """

    errors: list[float]
    relative: list[float]
    held: int
    fine: int
    silent: int
    far: int


def study(kind: Kind, n: int, d: int, cost: str, releases: int) -> Found:
    """Release means of fresh rows."""
    errors, relative, held, fine, silent, far = [], [], 0, 0, 0, 0
    for k in range(releases):
        x = np.clip(kind.rows(default_rng([13, n, d, k]), n, d), *WITHIN)
        question = query.mean_vector(within=WITHIN, **COSTS[cost])
        answer = released(question, x, f"{kind.name} {n} {d} {cost} {k}")
        truth, values = x.mean(axis=0), np.array([float(value) for value in answer.values])
        lower, upper = answer.error_model.intervals(0.95, 3)
        holds = bool(((lower <= truth) & (truth <= upper)).all())
        misses = np.abs(values - truth) > FAR * (upper - lower) / 2
        errors.append(float(np.linalg.norm(values - truth)))
        relative.append(errors[-1] / float(np.linalg.norm(truth)))
        held, fine = held + holds, fine + answer.status.ok
        silent += answer.status.ok and not holds
        far += answer.status.ok and bool(misses.any())
    return Found(errors, relative, held, fine, silent, far)


def kinds(sizes: tuple[int, ...], releases: int, most: int) -> tuple[str, list[Target]]:
    """Table of all kinds for tables of some sizes, and what was promised of them.

    Tables have at most ``most`` values, but for those that a promise names.
    """
    rows: list[list[str]] = []
    targets: list[Target] = []
    far, silent = 0, {kind.name: [0, 0] for kind in KINDS}
    for kind, n, d, cost in product(KINDS, sizes, (1, 2, 8), COSTS):
        promise = _promise(kind, n, d, cost)
        if promise is None and n * d > most:
            continue
        found = study(kind, n, d, cost, releases)
        far += found.far
        silent[kind.name][0] += found.silent
        silent[kind.name][1] += releases
        if promise is not None:
            measured = found.relative if kind.name.startswith("0/1") else found.errors
            targets.append(Target(*promise, float(np.mean(measured)), ""))
        rows.append([kind.name, f"{n:,}", str(d), cost, *_cells(found, releases)])
    worst, each = max(silent.values(), key=lambda pair: pair[0] / max(pair[1], 1))
    margin = 2 * math.sqrt(0.05 * 0.95 / max(each, 1))
    share = worst / max(each, 1)
    targets += [
        Target("mean vector, misses by ten half-widths with code ok", 0, far, ""),
        Target("mean vector, worst kind, misses with code ok", 0.07, share, "", margin=margin),
    ]
    header = ["rows", "n", "d", "cost", "error", "median relative error", "covered", 'code "ok"']
    words = (
        f"Kinds of rows, values within ±1e6, {releases} releases each; the intervals are the "
        "default ones, of all components at once:"
    )
    return words + "\n\n" + table(header, rows), targets


def _cells(found: Found, releases: int) -> list[str]:
    error, spread = float(np.mean(found.errors)), float(np.std(found.errors))
    return [
        f"{error:.3g} ± {spread / math.sqrt(releases):.1g}",
        f"{np.median(found.relative):.2g}",
        f"{found.held / releases:.2f}",
        f"{found.fine / releases:.2f}",
    ]


def _promise(kind: Kind, n: int, d: int, cost: str) -> tuple[str, float] | None:
    """What was promised of one row of the table, and its limit."""
    limits = {400_000: 0.03, 2_000_000: 0.01}
    if kind.name == "lognormal(0, 1.5)" and d == 2 and cost == "ρ = 0.5" and n in limits:
        return f"mean vector, {kind.name}, d = 2, n = {n:,}, error", limits[n]
    if kind.name == "0/1, 2 %" and d == 1 and n == 400_000:
        return f"mean vector, {kind.name}, n = {n:,}, {cost}, relative error", 0.05
    return None
