"""Plan a variance, or a standard deviation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.exact.lattice import Lattice
from modicum.plan.card import SpreadPlan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.table import Table
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit
from modicum.runners.request import Request

__all__ = ["std", "variance"]


def variance(
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
    unit: Unit | None = None,
) -> SpreadPlan:
    """Plan a variance: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean`. The largest records decide, so the shape
    matters more than for a mean.

    Examples
    --------
    >>> found = variance(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> found.error < 0.01 * 5e4**2
    True
    """
    return _spread(
        "variance",
        ask.variance,
        lambda table, step: table.variance() * step**2,
        within=within,
        sd=sd,
        n=n,
        price=open_price(epsilon, rho, budget),
        error=error,
        shape=shape,
        mean=mean,
        step=step,
        unit=unit,
    )


def std(
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
    unit: Unit | None = None,
) -> SpreadPlan:
    """Plan a standard deviation; as :func:`variance`.

    Examples
    --------
    >>> found = std(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> found.error < 0.005 * 5e4
    True
    """
    return _spread(
        "std",
        ask.std,
        lambda table, step: Fraction(math.sqrt(table.variance())) * step,
        within=within,
        sd=sd,
        n=n,
        price=open_price(epsilon, rho, budget),
        error=error,
        shape=shape,
        mean=mean,
        step=step,
        unit=unit,
    )


def _spread(
    statistic: str,
    question: Callable[..., Request],
    truth: Callable[[Table, Fraction], Fraction],
    *,
    within: tuple[float, float],
    sd: float,
    n: int | None,
    price: Budget | None,
    error: float | None,
    shape: ShapeName,
    mean: float | None,
    step: float | None,
    unit: Unit | None,
) -> SpreadPlan:
    lattice = Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    task = Task(
        partial(question, within=within, step=step),
        lambda table: truth(table, Fraction(lattice.step)),
        data,
        lattice,
        checked_unit(unit),
    )
    fields = task.solve(price, n, error).fields(statistic, "adaptive", task.unit, error)
    return SpreadPlan(**fields, shape=data, lattice=lattice)
