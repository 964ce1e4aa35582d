"""Plans by synthetic columns: what is missing of the price, the rows and the error is found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayAnswer
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.plan.card import Plan
from modicum.plan.rows import CountingReader, is_number, normal, released
from modicum.plan.search import least_enough, round_up
from modicum.privacy.budget import Budget, pure
from modicum.privacy.unit import Unit, checked_unit
from modicum.release import Entry
from modicum.runners.request import ArrayRequest
from modicum.status import resolved

__all__ = ["MOST_VALUES", "ColumnsPlan", "Floats", "Given", "Made", "made_of", "planned"]

Floats = NDArray[np.float64]
Given = tuple[Budget | None, int | None, float | None, Unit | None]  # price, n, error, unit
_RUNS, _SEARCH_RUNS = 8, 4
_CORRECTIONS = 4
MOST_VALUES = 1 << 21
"""Of the synthetic rows, where each is multiplied with all others of its row."""

_LEAST_EPSILON, _LARGEST_EPSILON = 1e-3, 100.0


@dataclass(frozen=True, slots=True)
class ColumnsPlan(Plan):
    """Plan for a statistic of several columns together.

    Attributes
    ----------
    sd : tuple of float
        Standard deviation of each column; of the explaining ones for a regression.
    correlation : float
        Of any two of them.
    mean : float
        Of every column.
    within : (float, float)
    meaning : str
        What the error is: each statistic has its own, in no unit.
    """

    sd: tuple[float, ...]
    correlation: float
    mean: float
    within: tuple[float, float]
    meaning: str

    def _data(self) -> dict[str, object]:
        return {
            "sd": list(self.sd),
            "correlation": self.correlation,
            "mean": self.mean,
            "within": list(self.within),
            "error_is": self.meaning,
        }

    def _data_words(self) -> str:
        low, high = min(self.sd), max(self.sd)
        spread = f"sd {low:g}" if low == high else f"sd {low:g} to {high:g}"
        return f" of {len(self.sd)} normal columns with {spread}, correlation {self.correlation:g}"

    def _comparison(self) -> str:
        return f"  the error is    {self.meaning}"


@dataclass(frozen=True, slots=True)
class Made:
    """Columns to make up."""

    sd: tuple[float, ...]
    correlation: float
    mean: float

    def rows(self, n: int, entropy: SeededEntropy) -> Floats:
        """Normal rows, any two columns with this correlation."""
        z = normal(n, len(self.sd) + 1, entropy)
        common, own = math.sqrt(self.correlation), math.sqrt(1 - self.correlation)
        found: Floats = self.mean + np.array(self.sd) * (own * z[:, 1:] + common * z[:, :1])
        return found


def made_of(sd: object, correlation: object, mean: object) -> Made:
    """Read what says how columns are made up."""
    spreads = tuple(sd) if isinstance(sd, Sequence | np.ndarray) and not isinstance(sd, str) else ()
    if not spreads or not all(is_number(each) and each > 0 for each in spreads):
        raise InvalidArgument(f"sd must be a list of positive numbers, one a column, got {sd!r}")
    if not (is_number(correlation) and 0 <= correlation < 1):  # type: ignore[operator]
        raise InvalidArgument(f"correlation must lie in [0, 1), got {correlation!r}")
    if not is_number(mean):
        raise InvalidArgument(f"mean must be a finite number, got {mean!r}")
    return Made(tuple(float(each) for each in spreads), float(correlation), float(mean))  # type: ignore[arg-type]


def planned(
    question: Callable[..., ArrayRequest],
    rows: Callable[[int, SeededEntropy], Floats],
    error_of: Callable[[Floats, ArrayAnswer], float],
    meaning: str,
    made: Made,
    given: Given,
    *,
    most: int = MOST_VALUES,
) -> ColumnsPlan:
    """Find what is missing of the price, the rows and the error, and describe it."""
    price, n, error, unit = given
    if [price, n, error].count(None) != 1:
        raise InvalidArgument(
            "of the price (epsilon=, rho= or budget=), n= and error= give exactly two; "
            "the third is found"
        )
    asked = question(budget=pure(1) if price is None else price)
    lattice, person, most = asked.lattice, checked_unit(unit), most // len(made.sd)
    assert lattice is not None
    size = most if n is None else _checked_rows(n, most)

    def simulated(price: Budget, size: int, runs: int) -> list[_Run]:
        asked = question(budget=price).of_width(len(made.sd), price.kind)
        found = []
        for number in range(runs):
            x = np.clip(rows(size, SeededEntropy(f"rows {number}")), lattice.lo, lattice.hi)
            reader = CountingReader(x)
            answer, journal = released(asked, reader, person, number)
            lower, upper = answer.evidence.intervals(0.95, 3)
            width = float(np.mean(upper - lower))
            found.append(
                _Run(
                    error_of(x, answer),
                    width,
                    reader.passes,
                    journal,
                    resolved(answer.status, answer.evidence).words,
                )
            )
        return found

    if error is not None:
        if not (is_number(error) and error > 0):
            raise InvalidArgument(f"error must be a positive number, got {error!r}")
        price, size = _searched(simulated, price, size, error)
    assert price is not None
    runs = simulated(price, size, _RUNS)
    statuses = [each.status for each in runs]
    width = median(each.width for each in runs)
    return ColumnsPlan(
        statistic=asked.statistic,
        method=asked.method,
        budget=price,
        unit=person,
        n=size,
        error=fmean(each.error for each in runs),
        wanted=error,
        interval_width=width,
        passes=max(each.passes for each in runs),
        events=tuple((entry.label, entry.event) for entry in runs[0].journal),
        status=max(statuses, key=statuses.count),
        sd=made.sd,
        correlation=made.correlation,
        mean=made.mean,
        within=(lattice.lo, lattice.hi),
        meaning=meaning,
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """What one synthetic release gave."""

    error: float
    width: float
    passes: int
    journal: tuple[Entry, ...]
    status: str


def _searched(
    simulated: Callable[[Budget, int, int], list[_Run]],
    price: Budget | None,
    size: int,
    wanted: float,
) -> tuple[Budget, int]:
    """Return the least price for a size, or the least size up to that one for a price."""
    low, high = (_LEAST_EPSILON, _LARGEST_EPSILON) if price is None else (1.0, float(size))

    def at(x: float) -> tuple[Budget, int]:
        if price is None:
            return pure(round_up(x)), size
        return price, min(math.ceil(round_up(x)), size)

    def error_at(x: float, runs: int = _SEARCH_RUNS) -> float:
        return fmean(each.error for each in simulated(*at(x), runs))

    start = 1.0 if price is None else min(1e3, high)
    x = least_enough(error_at, wanted, start=start, low=low, high=high)
    for _ in range(_CORRECTIONS):
        if x is None or x > high:
            break
        if error_at(x, _RUNS) <= wanted:
            return at(x)
        x *= 1.1
    where = "ε up to 100" if price is None else f"n up to {size:,}, where these plans end"
    raise InvalidArgument(f"error={wanted:g} cannot be reached by any {where}")


def _checked_rows(n: Any, most: int) -> int:
    if not (is_number(n) and n == n // 1 and 1 <= n <= most):
        raise InvalidArgument(
            f"n must be a whole number from 1 to {most:,} for so many columns, got {n!r}: beyond, "
            "the error falls like 1/n"
        )
    return int(n)
