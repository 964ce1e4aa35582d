"""Locations at ±1e9: beside the exponential mechanism that knows the data's ends, and choices.

The comparison knows the lowest and the highest record, spends all of ε on the value, and draws
from the same law, P(t) ∝ exp(-ε |length(t)| / 2), between those ends. No private method can.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.random import default_rng
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
from modicum.mechanisms.level_sets import LevelScore
from modicum.statistics.robust.inverse_sensitivity import Candidates, LengthPlan, cell_edges
from modicum.statistics.robust.monotone_statistic import (
    Score,
    expectile_score,
    huber_score,
    power_score,
)
from modicum.statistics.robust.score_lengths import ClippedCells, level_ends_of
from modicum.summaries.cells import Cells

Floats = NDArray[np.float64]
LATTICE = Lattice.within((-1e9, 1e9))
NAMES = ("N(1e6,1)", "income lognormal", "Pareto 2.5", "ages 0..120")


@dataclass(frozen=True, slots=True)
class Effort:
    """Rows, data sets, releases of each, rows of the speed part, repetitions there."""

    rows: int
    datasets: int
    releases: int
    large: int
    repeats: int


FULL = Effort(rows=20_000, datasets=4, releases=5, large=10_000_000, repeats=3)
QUICK = Effort(rows=20_000, datasets=1, releases=3, large=2_000_000, repeats=2)


def scores(width: float) -> tuple[Score, ...]:
    """Those that are compared; the width is a scale of the data."""
    return expectile_score(0.9), power_score(1.5), power_score(3), huber_score(width)


def as_bounded(score: Score) -> Score:
    """The same on the whole range, without private bounds: Algorithm 5 alone."""
    return Score(score.name, score.psi, growth=0, width=LATTICE.hi)


def as_unbounded(score: Score) -> Score:
    """The same between private bounds, which a bounded score does not need."""
    return Score(score.name, score.psi, growth=1e-9)


def crossing(x: Floats, psi: Callable[[Floats], Floats]) -> float:
    """Where the scores add up to 0."""
    lo, hi = float(x.min()), float(x.max())
    for _ in range(80):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if psi(x - middle).sum() > 0 else (lo, middle)
    return (lo + hi) / 2


def tight(x: Floats, score: Score, seed: str, releases: int) -> Floats:
    """Draws of the law between the data's own ends, with all of ε = 1."""
    q = LATTICE.quantise(x)
    lo, hi, centre = int(q.min()), int(q.max()), int(np.median(q))
    reading = Cells(centre, cell_edges(LATTICE, centre, 9)).begin(LATTICE)
    reading.update(x)
    cells = reading.finish()
    scale = hi - lo if score.width is None else round(2 * score.width / LATTICE.step)
    candidates = Candidates.of(lo, hi, centre, flat=hi - lo, spacing=max(1, scale // len(x)))
    size = LengthPlan.of(Fraction(1), candidates.log_count, whole=False)
    records = ClippedCells(cells, lo, hi, LATTICE.step)
    lengths = score.lengths(records, unit=size.unit, cap=size.cap)
    ends = level_ends_of(
        lambda z: lengths.at(candidates.between(z)),
        candidates.first,
        candidates.last,
        candidates.fine,
        size.cap,
    )
    first, last = candidates.first * candidates.fine, candidates.last * candidates.fine
    mechanism = Exponential(LevelScore(*ends, first, last), Fraction(1, size.unit))
    entropy = SeededEntropy(seed)
    places = [candidates.place(mechanism.sample(entropy)) for _ in range(releases)]
    return np.array(places) * LATTICE.step


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean absolute errors of the ways to answer, and the interval of the default one."""

    spread: float
    default: float
    no_ends: float
    other: float
    theorem: float
    tight: float
    half_width: float
    covered: float


def measure(data: DataSet, which: int, effort: Effort) -> tuple[str, Cell]:
    """Release one location of several data sets."""
    rows: list[list[float]] = []
    name = ""
    for k in range(effort.datasets):
        x = data.draw(default_rng([11, k]), effort.rows)
        width = 2 * float(np.median(np.abs(x - np.median(x))))
        score = scores(width)[which]
        name = score.name.split("(")[0] if score.bounded else score.name
        other = as_unbounded(score) if score.bounded else as_bounded(score)
        truth, reader = crossing(x, score.psi), CachedReader(x)

        def ask(
            statistic: Score,
            level: float | None,
            method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
            reader: CachedReader = reader,
            k: int = k,
        ) -> list[modicum.releases.release.ScalarEstimate]:
            question = query.monotone_statistic(
                statistic=statistic, within=(-1e9, 1e9), epsilon=1, level=level, method=method
            )
            return answers(question, reader, f"{k} {level}", effort.releases)

        found = ask(score, 0.95)
        intervals = [answer.error_model.interval(0.95, None) for answer in found]
        drawn = tight(x, score, f"tight {k}", effort.releases)
        rows.append(
            [
                float(x.std()) / len(x) ** 0.5,
                *(
                    float(np.mean([abs(float(a.value) - truth) for a in given]))
                    for given in (
                        found,
                        ask(score, None),
                        ask(other, None),
                        ask(score, None, "subset"),
                    )
                ),
                float(np.abs(drawn - truth).mean()),
                float(np.median([(b - a) / 2 for a, b in intervals])),
                float(np.mean([a <= truth <= b for a, b in intervals])),
            ]
        )
    return name, Cell(*np.mean(rows, axis=0).tolist())


def locations(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    rows = []
    for data in SHAPES:
        if data.name in NAMES:
            for which in range(4):
                name, cell = measure(data, which, effort)
                rows.append(
                    [
                        data.name,
                        name,
                        f"{cell.default / cell.spread:.2g}",
                        f"{cell.default / cell.tight:.2f}",
                        f"{cell.no_ends / cell.tight:.2f}",
                        f"{cell.other / cell.tight:.3g}",
                        f"{cell.theorem / cell.tight:.3g}",
                        f"{cell.half_width / cell.spread:.2g}",
                        f"{cell.covered:.1%}",
                    ]
                )
    text = f"""## Locations of {effort.rows:,} records within ±1e9, ε = 1

{effort.datasets} data sets, {effort.releases} releases of each. "Tight" is the same law with the
whole ε between the data's own ends, which are not public. The other choice is Algorithm 5 alone,
on the whole range, for scores that have private bounds by default, and private bounds for Huber's.
Algorithm 4 has the constants of its theorem (`method="subset"`). Neither draws an interval.
Intervals are those for the clipped data, at 95 %.

{table(_HEADER, rows)}"""
    return text, _speed(effort)


_HEADER = [
    "data",
    "location",
    "error, in sd/sqrt(n)",
    "error / tight",
    "no interval / tight",
    "other choice / tight",
    "Algorithm 4 / tight",
    "half width, in sd/sqrt(n)",
    "covered",
]


def _speed(effort: Effort) -> list[Target]:
    x = default_rng(6).lognormal(10.8, 0.9, effort.large)
    times = fastest(
        {
            "sum": lambda: np.sum(x),
            "expectile": lambda: modicum.expectile(x, tau=0.9, within=(-1e9, 1e9), epsilon=1),
            "huber": lambda: modicum.huber(x, within=(-1e9, 1e9), epsilon=1),
            "sort": lambda: np.sort(x),
        },
        effort.repeats,
    )
    note = f"of {effort.large:,} float64; numpy.sort {times['sort'] / times['sum']:.0f}x numpy.sum"
    return [
        Target(f"{name} / numpy.sort", 1, times[name] / times["sort"], note=note)
        for name in ("expectile", "huber")
    ]
