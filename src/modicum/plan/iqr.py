"""Plan the distance between two quantiles."""

from __future__ import annotations

from functools import partial

from modicum import request as ask
from modicum.estimators.options import RangeOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import SpreadPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["iqr"]


def iqr(
    *,
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
    between: tuple[Number, Number] = ("1/4", "3/4"),
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> SpreadPlan:
    """Plan an interquartile range: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.iqr`.

    Examples
    --------
    >>> found = iqr(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """
    low, high = RangeOption.of(between, level).between
    return planned(
        SpreadPlan,
        partial(ask.iqr, within=within, step=step, between=between, level=level),
        lambda table, size: (table.quantile(high) - table.quantile(low)) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )
