"""Plan a statistic of one's own."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np

from modicum import request as ask
from modicum.errors import InvalidArgument
from modicum.estimators.boundaries import Boundaries
from modicum.estimators.score import Score
from modicum.estimators.statistic import MonotoneStatistic
from modicum.exact.lattice import Lattice
from modicum.plan.card import MeanPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.location import crossing
from modicum.plan.shapes import ShapeName
from modicum.plan.table import Table
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["monotone"]


def monotone(
    *,
    statistic: MonotoneStatistic,
    within: tuple[float, float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
    unit: Unit | None = None,
) -> MeanPlan:
    """Plan a statistic of your own: its error, or the ε or the number of rows that it needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.monotone`. What the synthetic
    data have without privacy is where the sum of a score is 0, or the middle of level 0 of
    boundaries, which are asked for tables as large as planned.

    Raises
    ------
    InvalidArgument
        As for both; if boundaries fail on a synthetic table.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Score
    >>> smooth = Score("smooth median", lambda v: np.tanh(v / 1e4), growth=0, width=3e4)
    >>> found = monotone(statistic=smooth, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """
    lattice = Lattice.within(within, step)
    question = partial(
        ask.monotone, statistic=statistic, within=within, step=step, level=level, method=method
    )
    question(epsilon=1)  # checks the statistic
    return planned(
        MeanPlan,
        question,
        _truth(statistic, lattice),
        lattice,
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )


def _truth(statistic: MonotoneStatistic, lattice: Lattice) -> Callable[[Table, Fraction], Fraction]:
    if isinstance(statistic, Score):
        return crossing(statistic.psi)
    assert isinstance(statistic, Boundaries)

    def middle(table: Table, size: Fraction) -> Fraction:
        places, inverse = np.unique(table.q, return_inverse=True)
        counts = np.zeros(len(places), dtype=np.int64)
        np.add.at(counts, inverse, table.weights)
        there, values = counts > 0, np.asarray(places * float(size), dtype=np.float64)
        try:
            lows, highs = statistic.ends(values[there], counts[there], lattice.lo, lattice.hi, 1)
            return (Fraction(float(lows[0])) + Fraction(float(highs[0]))) / 2
        except Exception as error:
            raise InvalidArgument(
                f"{statistic.name} failed on {table.rows:,} synthetic records: {error}"
            ) from error

    return middle
