"""Plan a sum."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.estimators.schedule import Clusters
from modicum.exact.lattice import Lattice
from modicum.plan.card import SumPlan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit

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
    lattice = Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    question = partial(ask.sum, within=within, step=step, clusters=clusters)
    task = Task(
        question,
        lambda table: table.total() * Fraction(lattice.step),
        data,
        lattice,
        checked_unit(unit),
    )
    found = task.solve(open_price(epsilon, rho, budget), n, error)
    return SumPlan(**found.fields("sum", "adaptive", task.unit, error), shape=data, lattice=lattice)
