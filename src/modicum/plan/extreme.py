"""Plan a minimum, or a maximum."""

from __future__ import annotations

from functools import partial

from modicum import request as ask
from modicum.exact.lattice import Lattice
from modicum.plan.card import SumPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

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
    >>> found = maximum(within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1, shape="normal")
    >>> 1e3 < found.error < 1e5
    True
    """
    return planned(
        SumPlan,
        partial(ask.maximum, within=within, step=step),
        lambda table, size: int(table.q[-1]) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
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
    >>> found = minimum(within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1, shape="normal")
    >>> 1e3 < found.error < 1e5
    True
    """
    return planned(
        SumPlan,
        partial(ask.minimum, within=within, step=step),
        lambda table, size: int(table.q[0]) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )
