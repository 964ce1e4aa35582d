"""Plan a trimmed or a winsorized mean."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.estimators.options import TrimOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import TrimmedPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.table import Table
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit
from modicum.summaries.order_statistics import Cuts

__all__ = ["trimmed_mean", "winsorized_mean"]


def trimmed_mean(
    *,
    trim: Number,
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
) -> TrimmedPlan:
    """Plan a trimmed mean: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.trimmed_mean`.

    Examples
    --------
    >>> found = trimmed_mean(trim=0.1, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """
    share = TrimOption.of(trim, level).trim
    return planned(
        TrimmedPlan,
        partial(ask.trimmed_mean, trim=trim, within=within, step=step, level=level),
        lambda table, size: _middle(table, share) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
        trim=share,
    )


def winsorized_mean(
    *,
    trim: Number,
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
) -> TrimmedPlan:
    """Plan a winsorized mean; as :func:`trimmed_mean`.

    Examples
    --------
    >>> found = winsorized_mean(trim=0.1, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 200
    True
    """
    share = TrimOption.of(trim, level).trim
    return planned(
        TrimmedPlan,
        partial(ask.winsorized_mean, trim=trim, within=within, step=step, level=level),
        lambda table, size: _middle(table, share) * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
        trim=share,
    )


def _middle(table: Table, trim: Fraction) -> Fraction:
    """Mean of the records between the cuts; those of a table do not tell the two means apart."""
    return table.between(*Cuts(trim, 1).cuts(table.rows)).mean()
