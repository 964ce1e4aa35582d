"""Plan the means of several columns together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from modicum import request as ask
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.plan.card import Plan
from modicum.plan.rows import CountingReader, is_number, normal, released
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit
from modicum.release import Entry

__all__ = ["VectorPlan", "mean_vector"]

Floats = NDArray[np.float64]
_RUNS = 8
_MOST_VALUES = 1 << 24  # of the synthetic rows: 128 MB


@dataclass(frozen=True, slots=True)
class VectorPlan(Plan):
    """Plan for means of several columns; the error is the L2 distance, the width an average.

    Attributes
    ----------
    sd : tuple of float
        Standard deviation of each column.
    mean : float
        Of every column.
    within : (float, float)
    """

    sd: tuple[float, ...]
    mean: float
    within: tuple[float, float]

    def _data(self) -> dict[str, object]:
        return {"sd": list(self.sd), "mean": self.mean, "within": list(self.within)}

    def _data_words(self) -> str:
        low, high = min(self.sd), max(self.sd)
        spread = f"sd {low:g}" if low == high else f"sd {low:g} to {high:g}"
        return f" of {len(self.sd)} normal columns with {spread}"


def mean_vector(
    *,
    within: tuple[float, float],
    sd: Sequence[float],
    n: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> VectorPlan:
    """Plan the means of several columns: their error, draws and passes, from made-up normal rows.

    Parameters
    ----------
    within, epsilon, rho, budget, step
        As for :func:`modicum.mean_vector`.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    n : int
        Number of rows; n times the number of columns is at most 2^24. Beyond, the error falls
        like 1/n.
    mean : float
        A guess of the columns' mean: far means cost rounds.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Raises
    ------
    InvalidArgument
        For bad arguments, as of the question; too many values.

    Examples
    --------
    >>> found = mean_vector(within=(-1e9, 1e9), sd=[1.0] * 16, n=4000, rho="0.5")
    >>> 0.004 < found.error < 0.02
    True
    """
    spreads, rows = _checked(sd, n, mean)
    question = ask.mean_vector(within=within, epsilon=epsilon, rho=rho, budget=budget, step=step)
    person = checked_unit(unit)
    assert question.lattice is not None
    errors, widths, statuses, passes = [], [], [], 0
    journal: tuple[Entry, ...] = ()
    for number in range(_RUNS):
        x = mean + np.array(spreads) * normal(rows, len(spreads), SeededEntropy(f"rows {number}"))
        x = np.clip(x, question.lattice.lo, question.lattice.hi)
        reader = CountingReader(x)
        answer, journal = released(question, reader, person, number)
        values = np.array([float(value) for value in answer.values])
        errors.append(float(np.linalg.norm(values - x.mean(axis=0))))
        lower, upper = answer.evidence.intervals(0.95, 3)
        widths.append(float((upper - lower).mean()))
        passes = max(passes, reader.passes)
        statuses.append(answer.status)
    return VectorPlan(
        statistic="mean_vector",
        method=question.method,
        budget=question.budget,
        unit=person,
        n=rows,
        error=fmean(errors),
        wanted=None,
        interval_width=median(widths),
        passes=passes,
        events=tuple((entry.label, entry.event) for entry in journal),
        status=max(statuses, key=statuses.count),
        sd=spreads,
        mean=float(mean),
        within=(question.lattice.lo, question.lattice.hi),
    )


def _checked(sd: object, n: object, mean: object) -> tuple[tuple[float, ...], int]:
    spreads = tuple(sd) if isinstance(sd, Sequence | np.ndarray) and not isinstance(sd, str) else ()
    if not spreads or not all(is_number(each) and each > 0 for each in spreads):
        raise InvalidArgument(f"sd must be a list of positive numbers, one a column, got {sd!r}")
    if not is_number(mean):
        raise InvalidArgument(f"mean must be a finite number, got {mean!r}")
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n * len(spreads) <= _MOST_VALUES:
        raise InvalidArgument(
            f"n must be a positive integer with n * columns <= 2^24, got n={n!r} and "
            f"{len(spreads)} columns: the error falls like 1/n beyond"
        )
    return tuple(float(each) for each in spreads), n
