"""Plan a variance, or a standard deviation."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.exact.lattice import Lattice
from modicum.plan.card import SpreadPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

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
    return planned(
        SpreadPlan,
        partial(ask.variance, within=within, step=step),
        lambda table, size: table.variance() * size**2,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
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
    return planned(
        SpreadPlan,
        partial(ask.std, within=within, step=step),
        lambda table, size: Fraction(math.sqrt(table.variance())) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )
