"""Plan a quantile, or the median."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.estimators.options import QuantileOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import QuantilePlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["median", "quantile"]


def quantile(
    *,
    q: Number,
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
    unit: Unit | None = None,
) -> QuantilePlan:
    """Plan a quantile: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.quantile`. The error depends
    on how dense the records are at the quantile, so the shape and the mean matter.

    Examples
    --------
    >>> found = quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """
    exact = QuantileOption.of(q, level).q
    return planned(
        QuantilePlan,
        partial(ask.quantile, q=q, within=within, step=step, level=level),
        lambda table, size: table.quantile(exact) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
        q=exact,
    )


def median(
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
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> QuantilePlan:
    """Plan a median; as :func:`quantile` with q = 1/2.

    Examples
    --------
    >>> found = median(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> found.error < quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1).error
    True
    """
    found = quantile(
        q=Fraction(1, 2),
        within=within,
        sd=sd,
        n=n,
        epsilon=epsilon,
        rho=rho,
        budget=budget,
        error=error,
        shape=shape,
        mean=mean,
        step=step,
        level=level,
        unit=unit,
    )
    return replace(found, statistic="median")
