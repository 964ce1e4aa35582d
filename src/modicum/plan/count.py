"""Plan a count."""

from __future__ import annotations

from fractions import Fraction

from modicum import request as ask
from modicum.exact.lattice import Lattice
from modicum.plan.card import CountPlan
from modicum.plan.shapes import Shape
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit

__all__ = ["count"]

_ANY_SHAPE = Shape("uniform", 0.0, 1.0)  # a count does not look at values
_ANY_LATTICE = Lattice.within((-2, 2))


def count(
    *,
    n: int = 10_000,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    unit: Unit | None = None,
) -> CountPlan:
    """Plan a count: its error, or the ε that an error needs.

    Parameters are as for :func:`modicum.plan.mean`. ``n`` matters only if it is about as small as
    the noise, because a count is never negative. Give the price or ``error``.

    Examples
    --------
    >>> round(count(epsilon="0.1").error)
    10
    >>> 0.09 < count(error=10).epsilon < 0.11
    True
    """
    task = Task(
        ask.count, lambda table: Fraction(table.rows), _ANY_SHAPE, _ANY_LATTICE, checked_unit(unit)
    )
    found = task.solve(open_price(epsilon, rho, budget), n, error)
    return CountPlan(**found.fields("count", "noisy", task.unit, error))
