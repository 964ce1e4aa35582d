"""Plan an expectile, Huber's location, or a location by powers of distances."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from modicum import request as ask
from modicum.estimators.location_evidence import LocationEvidence
from modicum.estimators.score import (
    checked_power,
    checked_tau,
    expectile_score,
    huber_score,
    power_score,
)
from modicum.estimators.score_table import Reals
from modicum.exact.lattice import Lattice
from modicum.plan.card import MeanPlan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.table import Table
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit
from modicum.release import Answer
from modicum.runners.request import Request

__all__ = ["expectile", "huber_location", "lp_location"]

_HALVINGS = 64


def expectile(
    *,
    tau: float,
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
) -> MeanPlan:
    """Plan an expectile: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.expectile`.

    Examples
    --------
    >>> found = expectile(tau=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 50 < found.error < 5000
    True
    """
    psi = expectile_score(checked_tau(tau)).psi
    lattice = Lattice.within(within, step)
    question = partial(ask.expectile, tau=tau, within=within, step=step, level=level)
    task = _task(question, psi, lattice, shape, sd, mean, unit)
    return _solved(task, open_price(epsilon, rho, budget), n, error)


def lp_location(
    *,
    p: float,
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
) -> MeanPlan:
    """Plan a location by p-th powers, for 1 < p <= 8; for p = 2 better plan a mean.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.lp_location`.

    Examples
    --------
    >>> found = lp_location(p=1.5, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """
    psi = power_score(checked_power(p)).psi
    lattice = Lattice.within(within, step)
    question = partial(ask.lp_location, p=p, within=within, step=step, level=level)
    task = _task(question, psi, lattice, shape, sd, mean, unit)
    return _solved(task, open_price(epsilon, rho, budget), n, error)


def huber_location(
    *,
    width: float | None = None,
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
) -> MeanPlan:
    """Plan Huber's location.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.huber_location`. Without a
    width the error is that against the location with the width that was released.

    Examples
    --------
    >>> found = huber_location(width=5e4, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """
    lattice = Lattice.within(within, step)
    question = partial(ask.huber_location, width=width, within=within, step=step, level=level)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)

    def truth(table: Table) -> Callable[[Answer], Fraction]:
        def released(answer: Answer) -> Fraction:
            assert isinstance(answer.evidence, LocationEvidence)
            assert answer.evidence.width is not None
            return _crossing(table, huber_score(answer.evidence.width).psi, lattice.step)

        return released

    task = Task(question, truth, data, lattice, checked_unit(unit))
    return _solved(task, open_price(epsilon, rho, budget), n, error)


def _task(
    question: Callable[..., Request],
    psi: Callable[[Reals], Reals],
    lattice: Lattice,
    shape: ShapeName,
    sd: float,
    mean: float | None,
    unit: Unit | None,
) -> Task:
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)

    def truth(table: Table) -> Fraction:
        return _crossing(table, psi, lattice.step)

    return Task(question, truth, data, lattice, checked_unit(unit))


def _solved(task: Task, price: Budget | None, n: int | None, error: float | None) -> MeanPlan:
    found = task.solve(price, n, error)
    request = task.question(budget=found.price)
    fields = found.fields(request.statistic, request.method, task.unit, error)
    return MeanPlan(**fields, shape=task.shape, lattice=task.lattice)


def _crossing(table: Table, psi: Callable[[Reals], Reals], step: float) -> Fraction:
    """Where the scores of a table add up to 0, in the unit of the data."""
    x: Reals = table.q.astype(np.float64) * step
    lo, hi = float(x[0]), float(x[-1])
    for _ in range(_HALVINGS):
        middle = (lo + hi) / 2
        above = float(psi(x - middle) @ table.weights) > 0
        lo, hi = (middle, hi) if above else (lo, middle)
    return Fraction((lo + hi) / 2)
