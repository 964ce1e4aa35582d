"""How the time of every statistic grows with the number of rows."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.random import default_rng

import modicum
from benchmarks.clock import fastest
from benchmarks.methods import WITHIN
from benchmarks.targets import Target, table
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import ThresholdScore

_REPEATS = 3
_KEPT = 2000  # records of a tail
_RANGED = {"within": WITHIN, "epsilon": 1}

STATISTICS: dict[str, Callable[[object], object]] = {
    "count": lambda x: modicum.count(x, epsilon=1),
    "mean": lambda x: modicum.mean(x, **_RANGED),
    "mean, subset": lambda x: modicum.mean(x, method="subset", **_RANGED),
    "sum": lambda x: modicum.sum(x, **_RANGED),
    "median": lambda x: modicum.median(x, **_RANGED),
    "quantile 0.99": lambda x: modicum.quantile(x, q=0.99, **_RANGED),
    "9 quantiles": lambda x: modicum.quantiles(x, q=[i / 10 for i in range(1, 10)], **_RANGED),
    "var": lambda x: modicum.var(x, **_RANGED),
    "std": lambda x: modicum.std(x, **_RANGED),
    "iqr": lambda x: modicum.iqr(x, **_RANGED),
    "max": lambda x: modicum.max(x, **_RANGED),
    "histogram, 20 edges": lambda x: modicum.histogram(x, edges=range(20), epsilon=1),
    "histogram, 20 bins": lambda x: modicum.histogram(x, bins=20, **_RANGED),
    "cdf, 20 points": lambda x: modicum.cdf(x, points=range(20), epsilon=1),
    "trimmed mean": lambda x: modicum.trimmed_mean(x, trim=0.1, **_RANGED),
    "winsorized mean": lambda x: modicum.winsorized_mean(x, trim=0.1, **_RANGED),
    "Huber location": lambda x: modicum.huber(x, **_RANGED),
    "expectile": lambda x: modicum.expectile(x, tau=0.9, **_RANGED),
    "lp location, p = 1.5": lambda x: modicum.lp_center(x, p=1.5, **_RANGED),
}


def growth(rows: int) -> tuple[str, list[Target]]:
    """Time every statistic on ``rows`` rows and on a tenth of them."""
    x = default_rng(5).lognormal(3.0, 0.9, rows)
    tenth = x[: rows // 10]
    lines, targets = [], [_threshold()]
    for name, ask in STATISTICS.items():
        times = fastest(
            {
                "sum": lambda: np.sum(x),
                "tenth": lambda ask=ask: ask(tenth),
                "whole": lambda ask=ask: ask(x),
            },
            _REPEATS,
        )
        grows = times["whole"] / times["tenth"]
        lines.append([name, f"{times['whole'] / times['sum']:.3g}x", f"{grows:.1f}"])
        targets.append(Target(f"{name}: ten times the rows take", 11, grows))
    header = ["statistic", f"{rows:,} rows / numpy.sum", "over a tenth of the rows"]
    text = f"""## Growth: every statistic of {rows:,} rows

CPU times of whole releases at ε = 1 within ±1e9, of lognormal data in memory; the fastest of
{_REPEATS} rounds. A statistic of cost linear in the rows takes at most ten times as long for ten
times as many; less if a part of its cost does not grow.

{table(header, lines)}"""
    return text, targets


def _threshold() -> Target:
    """A threshold by the records of a tail, over sorting them."""
    tail = default_rng(6).integers(0, 10**9, _KEPT)
    ordered, range_ = np.sort(tail), Lattice.within(WITHIN)
    score = ThresholdScore(ordered, range_.first, range_.last, _KEPT // 4, _KEPT)
    mechanism = Exponential(score, Fraction(1))
    times = fastest({"sort": lambda: np.sort(tail), "draw": lambda: mechanism.sample(SYSTEM)}, 200)
    return Target(
        f"a private threshold from {_KEPT:,} records of a tail / numpy.sort of them",
        40,
        times["draw"] / times["sort"],
        note=f"{1e6 * times['draw']:.0f} µs",
    )
