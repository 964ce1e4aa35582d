"""The named data sets. Each takes a size and a seed; the same seed gives the same data."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DataSet:
    """A shape of data.

    ``fixed``: every draw is the same, so its errors are shown but not averaged with others.
    """

    name: str
    draw: Callable[[Generator, int], Floats]
    fixed: bool = False

    def sample(self, n: int, seed: int) -> Floats:
        """Draw n records."""
        return self.draw(default_rng([seed, n]), n)


def income(rng: Generator, n: int) -> Floats:
    """Incomes: median 49 thousand, mean 73 thousand, largest of 1e5 about 2.5 million."""
    return rng.lognormal(10.8, 0.9, n)


def _ages(rng: Generator, n: int) -> Floats:
    return np.clip(np.round(rng.normal(40, 22, n)), 0, 120)


def _outliers(rng: Generator, n: int) -> Floats:
    x = rng.normal(size=n)
    x[rng.permutation(n)[: n // 1000]] = 1e6
    return x


def _two_points(rng: Generator, n: int) -> Floats:
    x = np.zeros(n)
    x[rng.integers(n)] = 1e6
    return x


NINE = (
    DataSet("N(0,1)", lambda rng, n: rng.normal(size=n)),
    DataSet("N(1e6,1)", lambda rng, n: rng.normal(1e6, 1, n)),
    DataSet("income lognormal", income),
    DataSet("Pareto 1.5", lambda rng, n: 1 + rng.pareto(1.5, n)),
    DataSet("Pareto 2.5", lambda rng, n: 1 + rng.pareto(2.5, n)),
    DataSet("uniform", lambda rng, n: rng.random(n)),
    DataSet("exponential", lambda rng, n: rng.exponential(size=n)),
    DataSet("Bernoulli 0.3", lambda rng, n: (rng.random(n) < 0.3).astype(float)),
    DataSet("ages 0..120", _ages),
)

SHAPES = (
    *NINE,
    DataSet("0.1 % at 1e6", _outliers),
    DataSet("one at 1e6", _two_points, fixed=True),
    DataSet("constant 5", lambda rng, n: np.full(n, 5.0), fixed=True),
)
