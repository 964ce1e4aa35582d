"""Plan a sum."""

from __future__ import annotations

from functools import partial
from typing import Literal

from modicum import request as ask
from modicum.estimators.schedule import Clusters
from modicum.exact.lattice import Lattice
from modicum.plan.card import SumPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["sum"]


def sum(
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
    method: Literal["adaptive", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    unit: Unit | None = None,
) -> SumPlan:
    """Plan a sum: its error, or the ε that an error needs.

    Parameters are as for :func:`modicum.plan.mean`, but ``n`` is always needed: more rows do not
    make the noise of a sum smaller. Give the price or ``error``.

    Examples
    --------
    >>> found = sum(within=(0, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1e5 < found.error < 5e6
    True
    """
    return planned(
        SumPlan,
        partial(ask.sum, within=within, step=step, method=method, clusters=clusters),
        lambda table, size: table.total() * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )
