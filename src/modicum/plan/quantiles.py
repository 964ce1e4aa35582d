"""Plan several quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.estimators.options import QuantilesOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import QuantilesPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.table import Table
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["quantiles"]


def quantiles(
    *,
    q: Sequence[Number],
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
) -> QuantilesPlan:
    """Plan several quantiles: their mean error, or the ε or the number of rows that it needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.quantiles`.

    Examples
    --------
    >>> found = quantiles(q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """
    exact = QuantilesOption.of(q, level).qs
    return planned(
        QuantilesPlan,
        partial(ask.quantiles, q=q, within=within, step=step, level=level),
        lambda table, size: tuple(_middle(table, each) * size for each in exact),
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
        q=exact,
    )


def _middle(table: Table, q: Fraction) -> Fraction:
    """Middle of the lowest and the highest q-quantile, of records that are evenly spread."""
    rank = q * table.rows
    start, stop = math.ceil(rank) - 1, min(math.floor(rank) + 1, table.rows)
    records = table.at(max(start, 0), stop, None)
    return Fraction(int(records[0]) + int(records[-1]), 2)
