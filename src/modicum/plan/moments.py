"""Plan a covariance matrix, principal components, or a linear regression."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum import request as ask
from modicum.array_release import ArrayAnswer
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.plan.card import Plan
from modicum.plan.rows import CountingReader, is_number, normal, released
from modicum.plan.search import least_enough, round_up
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number, pure
from modicum.privacy.unit import Unit, checked_unit
from modicum.release import Entry
from modicum.runners.request import ArrayRequest

__all__ = ["MomentsPlan", "covariance", "linear_regression", "pca"]

Floats = NDArray[np.float64]
_RUNS, _SEARCH_RUNS = 8, 4
_CORRECTIONS = 4
_MOST_VALUES = 1 << 21  # of the synthetic rows
_LEAST_EPSILON, _LARGEST_EPSILON = 1e-3, 100.0


@dataclass(frozen=True, slots=True)
class MomentsPlan(Plan):
    """Plan for what follows from second moments of several columns.

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
class _Made:
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


def covariance(
    *,
    within: tuple[float, float],
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> MomentsPlan:
    """Plan a covariance matrix: its error, or the ε or the number of rows that an error needs.

    Parameters
    ----------
    within, epsilon, rho, budget, step
        As for :func:`modicum.covariance`.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    n : int, optional
        Number of rows; n times the number of columns is at most 2^21. Beyond, the error falls
        like 1/n.
    error : float, optional
        The wanted mean error of an entry, in standard deviations of its two columns. Of it, the
        price and n exactly two are given, and the third is found.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost rows.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Raises
    ------
    InvalidArgument
        For bad arguments, as of the question; too many values; an error that cannot be reached.

    Examples
    --------
    >>> found = covariance(within=(-1e6, 1e6), sd=[1.0, 50.0], n=20_000, epsilon=1)
    >>> found.error < 0.1
    True
    """
    made = _checked(sd, correlation, mean)
    scales = np.outer(made.sd, made.sd)

    def error_of(x: Floats, answer: ArrayAnswer) -> float:
        apart = np.abs(_values(answer) - np.cov(x.T, bias=True))
        return float((apart / scales).mean())

    return _planned(
        partial(ask.covariance, within=within, step=step),
        made.rows,
        error_of,
        "the mean error of an entry, in standard deviations of its two columns",
        made,
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def pca(
    *,
    components: int,
    within: tuple[float, float],
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> MomentsPlan:
    """Plan principal components; as :func:`covariance`.

    Parameters
    ----------
    components
        As for :func:`modicum.pca`.
    within, sd, n, epsilon, rho, budget, correlation, mean, step, unit
        As for :func:`covariance`.
    error : float, optional
        The wanted share of the variance along the best components that these lack.

    Raises
    ------
    InvalidArgument
        As for :func:`covariance`.

    Examples
    --------
    >>> found = pca(components=1, within=(-1e6, 1e6), sd=[9.0, 1.0, 1.0], n=5000, epsilon=1)
    >>> found.error < 0.1
    True
    """
    made = _checked(sd, correlation, mean)

    def error_of(x: Floats, answer: ArrayAnswer) -> float:
        matrix, directions = np.atleast_2d(np.cov(x.T)), _values(answer)
        best = np.linalg.eigvalsh(matrix)[::-1][: len(directions)].sum()
        return float(1 - np.trace(directions @ matrix @ directions.T) / best)

    return _planned(
        partial(ask.pca, components=components, within=within, step=step),
        made.rows,
        error_of,
        "the share of the variance along the best components that these lack",
        made,
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def linear_regression(
    *,
    within: tuple[float, float],
    sd: Sequence[float],
    r2: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    target_sd: float = 1.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> MomentsPlan:
    """Plan a linear regression; as :func:`covariance`.

    Parameters
    ----------
    within, n, epsilon, rho, budget, step, unit
        As for :func:`covariance`.
    sd, correlation, mean
        Guesses for the explaining columns, as for :func:`covariance`. The explained one depends on
        all of them alike.
    r2 : float
        A guess of the share of the explained column's variance that they explain, in (0, 1).
    error : float, optional
        The wanted loss of that share.
    target_sd : float
        A guess of the explained column's standard deviation.

    Raises
    ------
    InvalidArgument
        As for :func:`covariance`.

    Examples
    --------
    >>> found = linear_regression(within=(-1e6, 1e6), sd=[1.0, 9.0], r2=0.5, n=5000, epsilon=1)
    >>> found.error < 0.1
    True
    """
    made = _checked(sd, correlation, mean)
    if not (is_number(r2) and 0 < r2 < 1):
        raise InvalidArgument(f"r2 must lie strictly between 0 and 1, got {r2!r}")
    if not (is_number(target_sd) and target_sd > 0):
        raise InvalidArgument(f"target_sd must be a positive number, got {target_sd!r}")

    def rows(n: int, entropy: SeededEntropy) -> Floats:
        x = made.rows(n, entropy)
        standard = ((x - made.mean) / np.array(made.sd)).sum(axis=1)
        size = math.sqrt(len(made.sd) * (1 + (len(made.sd) - 1) * made.correlation))
        noise = normal(n, 1, entropy)[:, 0]
        y = math.sqrt(r2) * standard / size + math.sqrt(1 - r2) * noise
        return np.column_stack([x, target_sd * y])

    def error_of(x: Floats, answer: ArrayAnswer) -> float:
        y, values = x[:, -1], _values(answer)
        table = np.column_stack([np.ones(len(x)), x[:, :-1]])
        best = np.linalg.lstsq(table, y, rcond=None)[0]
        squares = [float(np.mean((y - table @ each) ** 2)) for each in (values, best)]
        return (squares[0] - squares[1]) / max(float(np.var(y)), math.ulp(0.0))

    return _planned(
        partial(ask.linear_regression, within=within, step=step),
        rows,
        error_of,
        "the share of the explained variance, R², that is lost",
        made,
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def _planned(
    question: Callable[..., ArrayRequest],
    rows: Callable[[int, SeededEntropy], Floats],
    error_of: Callable[[Floats, ArrayAnswer], float],
    meaning: str,
    made: _Made,
    given: tuple[Budget | None, int | None, float | None, Unit | None],
) -> MomentsPlan:
    """Find what is missing of the price, the rows and the error, and describe it."""
    price, n, error, unit = given
    if [price, n, error].count(None) != 1:
        raise InvalidArgument(
            "of the price (epsilon=, rho= or budget=), n= and error= give exactly two; "
            "the third is found"
        )
    asked = question(budget=pure(1) if price is None else price)
    lattice, person, most = asked.lattice, checked_unit(unit), _MOST_VALUES // len(made.sd)
    assert lattice is not None
    size = most if n is None else _checked_rows(n, most)

    def simulated(price: Budget, size: int, runs: int) -> list[_Run]:
        asked = question(budget=price)
        found = []
        for number in range(runs):
            x = np.clip(rows(size, SeededEntropy(f"rows {number}")), lattice.lo, lattice.hi)
            reader = CountingReader(x)
            answer, journal = released(asked, reader, person, number)
            lower, upper = answer.evidence.intervals(0.95, 3)
            width = float(np.mean(upper - lower))
            found.append(_Run(error_of(x, answer), width, reader.passes, journal, answer.status))
        return found

    if error is not None:
        if not (is_number(error) and error > 0):
            raise InvalidArgument(f"error must be a positive number, got {error!r}")
        price, size = _searched(simulated, price, size, error)
    assert price is not None
    runs = simulated(price, size, _RUNS)
    statuses = [each.status for each in runs]
    width = median(each.width for each in runs)
    return MomentsPlan(
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


def _values(answer: ArrayAnswer) -> Floats:
    values = np.array([float(value) for value in answer.values])
    return values.reshape([len(axis) for axis in answer.axes])


def _checked(sd: object, correlation: object, mean: object) -> _Made:
    spreads = tuple(sd) if isinstance(sd, Sequence | np.ndarray) and not isinstance(sd, str) else ()
    if not spreads or not all(is_number(each) and each > 0 for each in spreads):
        raise InvalidArgument(f"sd must be a list of positive numbers, one a column, got {sd!r}")
    if not (is_number(correlation) and 0 <= correlation < 1):  # type: ignore[operator]
        raise InvalidArgument(f"correlation must lie in [0, 1), got {correlation!r}")
    if not is_number(mean):
        raise InvalidArgument(f"mean must be a finite number, got {mean!r}")
    return _Made(tuple(float(each) for each in spreads), float(correlation), float(mean))  # type: ignore[arg-type]


def _checked_rows(n: Any, most: int) -> int:
    if not (is_number(n) and n == n // 1 and 1 <= n <= most):
        raise InvalidArgument(
            f"n must be a whole number from 1 to {most:,} for so many columns, got {n!r}: beyond, "
            "the error falls like 1/n"
        )
    return int(n)
