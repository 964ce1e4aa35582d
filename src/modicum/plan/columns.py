"""Synthetic rows of several columns, and the errors of releases from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayEstimate
from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.plan.column import is_number
from modicum.plan.trial import Trial, trial
from modicum.privacy.unit import Unit
from modicum.runtime.query import Query
from modicum.sources.base import open_source
from modicum.sources.persons import TableReader
from modicum.summaries.base import Read
from modicum.summaries.synthetic import uniform

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TableShape:
    """Normal columns, each with a standard deviation and all with one mean.

    Any two have the same correlation. For a regression these are the explaining columns.
    """

    sd: tuple[float, ...]
    correlation: float
    mean: float

    def rows(self, n: int, entropy: SeededEntropy) -> Floats:
        """Draw rows."""
        z = _normal(n, len(self.sd) + 1, entropy)
        common, own = math.sqrt(self.correlation), math.sqrt(1 - self.correlation)
        found: Floats = self.mean + np.array(self.sd) * (own * z[:, 1:] + common * z[:, :1])
        return found

    def words(self, _lattice: Lattice) -> str:
        """Describe it, after the number of rows."""
        low, high = min(self.sd), max(self.sd)
        spread = f"sd {low:g}" if low == high else f"sd {low:g} to {high:g}"
        return f" of {len(self.sd)} normal columns with {spread}, correlation {self.correlation:g}"

    def to_dict(self, lattice: Lattice) -> dict[str, object]:
        """It and the range as JSON types."""
        guess = {"sd": list(self.sd), "correlation": self.correlation, "mean": self.mean}
        return {**guess, "within": [lattice.lo, lattice.hi]}


@dataclass(frozen=True, slots=True)
class Regression(TableShape):
    """Columns that explain another one, all alike.

    ``r2`` is the share of its variance that they explain, and ``target_sd`` its standard deviation.
    """

    r2: float
    target_sd: float

    def rows(self, n: int, entropy: SeededEntropy) -> Floats:
        """Draw rows, the explained column last."""
        x = super(Regression, self).rows(n, entropy)
        standard = ((x - self.mean) / np.array(self.sd)).sum(axis=1)
        size = math.sqrt(len(self.sd) * (1 + (len(self.sd) - 1) * self.correlation))
        noise = _normal(n, 1, entropy)[:, 0]
        y = math.sqrt(self.r2) * standard / size + math.sqrt(1 - self.r2) * noise
        return np.column_stack([x, self.target_sd * y])


def _normal(rows: int, width: int, entropy: SeededEntropy) -> Floats:
    """Independent standard normal numbers, by Box and Muller."""
    half = (rows * width + 1) // 2
    u = uniform(2 * half, entropy)
    radius, angle = np.sqrt(-2 * np.log(u[:half])), 2 * np.pi * u[half:]
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[: rows * width].reshape(rows, width)


def columns_of(
    _lattice: Lattice, *, sd: Sequence[float], correlation: float = 0.0, mean: float = 0.0
) -> TableShape:
    """Check a guess of several columns.

    Parameters
    ----------
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost accuracy.

    Raises
    ------
    InvalidArgument
        If an argument is not as stated.
    """
    spreads = _listed(sd)
    if not spreads or not all(is_number(each) and each > 0 for each in spreads):
        raise InvalidArgument(f"sd must be a list of positive numbers, one a column, got {sd!r}")
    if not (is_number(correlation) and 0 <= correlation < 1):
        raise InvalidArgument(f"correlation must lie in [0, 1), got {correlation!r}")
    if not is_number(mean):
        raise InvalidArgument(f"mean must be a finite number, got {mean!r}")
    return TableShape(tuple(float(each) for each in spreads), float(correlation), float(mean))


def _listed(x: object) -> tuple[Any, ...]:
    """Members of a list or an array; empty for anything else."""
    return tuple(x) if isinstance(x, Sequence | np.ndarray) and not isinstance(x, str) else ()


def regression_of(
    lattice: Lattice,
    *,
    sd: Sequence[float],
    r2: float,
    correlation: float = 0.0,
    mean: float = 0.0,
    target_sd: float = 1.0,
) -> Regression:
    """Check a guess of columns and of one that they explain; errors as :func:`columns_of`.

    Parameters
    ----------
    sd, correlation, mean
        As for :func:`modicum.plan.covariance`, of the explaining columns. The explained one depends
        on all of them alike.
    r2 : float
        A guess of the share of the explained column's variance that they explain, in (0, 1).
    target_sd : float
        A guess of the explained column's standard deviation.
    """
    made = columns_of(lattice, sd=sd, correlation=correlation, mean=mean)
    if not (is_number(r2) and 0 < r2 < 1):
        raise InvalidArgument(f"r2 must lie strictly between 0 and 1, got {r2!r}")
    if not (is_number(target_sd) and target_sd > 0):
        raise InvalidArgument(f"target_sd must be a positive number, got {target_sd!r}")
    return Regression(made.sd, made.correlation, made.mean, r2, target_sd)


class _CountingReader(TableReader):
    """Reads synthetic rows, and counts the passes."""

    __slots__ = ("passes",)

    def __init__(self, x: Floats) -> None:
        super().__init__(open_source(x))
        self.passes = 0

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        self.passes += 1
        return super().read(reads, entropy)


class ReleasedRows(NamedTuple):
    """A release of synthetic rows, whose error is to be computed."""

    columns: TableShape
    x: Floats
    answer: ArrayEstimate

    @property
    def values(self) -> Floats:
        """The answer as an array."""
        values = np.array([float(value) for value in self.answer.values])
        return values.reshape([len(axis) for axis in self.answer.axes])


def columns_trials(
    columns: TableShape, error: Callable[[ReleasedRows], float], unit: Unit
) -> Callable[[Query[Any], int, int], list[Trial]]:
    """A function that answers queries from rows of these columns."""

    def one(asked: Query[Any], rows: int, number: int) -> Trial:
        assert asked.lattice is not None
        x = columns.rows(rows, SeededEntropy(f"rows {number}"))
        x = np.clip(x, asked.lattice.lo, asked.lattice.hi)

        def error_of(answer: ArrayEstimate) -> float:
            return error(ReleasedRows(columns, x, answer))

        return trial(asked, _CountingReader(x), error_of, unit=unit, seed=f"plan {number}")

    return lambda asked, rows, runs: [one(asked, rows, number) for number in range(runs)]
