"""Plan a minimum, or a maximum."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.exact.lattice import Lattice
from modicum.plan.card import SumPlan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit
from modicum.runners.request import Request

__all__ = ["maximum", "minimum"]


def maximum(
    *,
    within: tuple[float, float],
    sd: float,
    n: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    unit: Unit | None = None,
) -> SumPlan:
    """Plan a maximum: its error, or the ε that an error needs.

    Parameters are as for :func:`modicum.plan.sum`; the error is that against the largest record.
    More rows do not make it smaller.

    Examples
    --------
    >>> found = maximum(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> 1e3 < found.error < 1e5
    True
    """
    price = open_price(epsilon, rho, budget)
    return _extreme(
        "maximum",
        ask.maximum,
        -1,
        within=within,
        sd=sd,
        n=n,
        price=price,
        error=error,
        shape=shape,
        mean=mean,
        step=step,
        unit=unit,
    )


def minimum(
    *,
    within: tuple[float, float],
    sd: float,
    n: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    unit: Unit | None = None,
) -> SumPlan:
    """Plan a minimum; as :func:`maximum`.

    Examples
    --------
    >>> found = minimum(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> 1e3 < found.error < 1e5
    True
    """
    price = open_price(epsilon, rho, budget)
    return _extreme(
        "minimum",
        ask.minimum,
        0,
        within=within,
        sd=sd,
        n=n,
        price=price,
        error=error,
        shape=shape,
        mean=mean,
        step=step,
        unit=unit,
    )


def _extreme(
    statistic: str,
    question: Callable[..., Request],
    place: int,
    *,
    within: tuple[float, float],
    sd: float,
    n: int,
    price: Budget | None,
    error: float | None,
    shape: ShapeName,
    mean: float | None,
    step: float | None,
    unit: Unit | None,
) -> SumPlan:
    lattice = Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    task = Task(
        partial(question, within=within, step=step),
        lambda table: int(table.q[place]) * Fraction(lattice.step),
        data,
        lattice,
        checked_unit(unit),
    )
    fields = task.solve(price, n, error).fields(statistic, "exponential", task.unit, error)
    return SumPlan(**fields, shape=data, lattice=lattice)
