"""The questions a plan answers: of budget, rows and error, two are given and one is found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Literal

from modicum import request as ask
from modicum.estimators.options import QuantileOption
from modicum.estimators.schedule import Clusters
from modicum.exact.lattice import Lattice
from modicum.plan.card import CountPlan, MeanPlan, QuantilePlan, SumPlan
from modicum.plan.shapes import Shape, ShapeName, shape_of
from modicum.plan.task import Task
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.unit import Unit

__all__ = ["count", "mean", "median", "quantile", "sum"]

_ANY_SHAPE = Shape("uniform", 0.0, 1.0)  # a count does not look at values
_ANY_LATTICE = Lattice.within((-2, 2))


def mean(
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
    method: Literal["adaptive", "subset"] = "adaptive",
    clusters: Clusters = "clip",
    unit: Unit | None = None,
) -> MeanPlan:
    """Plan a mean: its error, or the ε or the number of rows that an error needs.

    Give two of the price, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    sd, mean : float
        Guesses from public knowledge, not from the data. By default the mean is usual for the
        shape: 0 if that is symmetric, else about ``sd``. Another mean changes the skewness of a
        lognormal, and moves every other shape.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the price. If none is given, the pure ε is found.
    error : float, optional
        Wanted mean absolute error against the mean without privacy.
    within, step, method, clusters, unit
        As for :func:`modicum.mean` and :class:`modicum.Curator`.

    Returns
    -------
    MeanPlan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        If not two of the three are given, or no ε up to 100 or n up to 10^12 is enough.

    Examples
    --------
    >>> found = mean(within=(-1e9, 1e9), sd=5e4, n=20_000, error=500)
    >>> 0.01 < found.epsilon < 10 and found.error <= 500
    True
    """
    lattice = Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    question = partial(ask.mean, within=within, step=step, method=method, clusters=clusters)
    task = Task(question, data, lattice, unit if unit is not None else Unit())
    found = task.solve(_price(epsilon, rho, budget), n, error)
    return MeanPlan(**found.fields("mean", method, task.unit, error), shape=data, lattice=lattice)


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

    Parameters are as for :func:`mean`, but ``n`` is always needed: more rows do not make the
    noise of a sum smaller. Give the price or ``error``.

    Examples
    --------
    >>> found = sum(within=(0, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1e5 < found.error < 5e6
    True
    """
    lattice = Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    question = partial(ask.sum, within=within, step=step, clusters=clusters)
    task = Task(question, data, lattice, unit if unit is not None else Unit())
    found = task.solve(_price(epsilon, rho, budget), n, error)
    return SumPlan(**found.fields("sum", "adaptive", task.unit, error), shape=data, lattice=lattice)


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

    Parameters are as for :func:`mean`. ``n`` matters only if it is about as small as the noise,
    because a count is never negative. Give the price or ``error``.

    Examples
    --------
    >>> round(count(epsilon="0.1").error)
    10
    >>> 0.09 < count(error=10).epsilon < 0.11
    True
    """
    task = Task(ask.count, _ANY_SHAPE, _ANY_LATTICE, unit if unit is not None else Unit())
    found = task.solve(_price(epsilon, rho, budget), n, error)
    return CountPlan(**found.fields("count", "noisy", task.unit, error))


def quantile(
    *,
    q: Number,
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
) -> QuantilePlan:
    """Plan a quantile: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`mean` and :func:`modicum.quantile`. The error depends on how
    dense the records are at the quantile, so the shape and the mean matter.

    Examples
    --------
    >>> found = quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """
    question = partial(ask.quantile, q=q, within=within, step=step, level=level)
    lattice = Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    task = Task(question, data, lattice, unit if unit is not None else Unit())
    found = task.solve(_price(epsilon, rho, budget), n, error)
    fields = found.fields("quantile", "exponential", task.unit, error)
    exact = QuantileOption.of(q, level).q
    return QuantilePlan(**fields, shape=data, lattice=lattice, q=exact)


def median(
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
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> QuantilePlan:
    """Plan a median; as :func:`quantile` with q = 1/2.

    Examples
    --------
    >>> found = median(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> found.error < quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1).error
    True
    """
    found = quantile(
        q=Fraction(1, 2),
        within=within,
        sd=sd,
        n=n,
        epsilon=epsilon,
        rho=rho,
        budget=budget,
        error=error,
        shape=shape,
        mean=mean,
        step=step,
        level=level,
        unit=unit,
    )
    return replace(found, statistic="median")


def _price(epsilon: Number | None, rho: Number | None, budget: Budget | None) -> Budget | None:
    if epsilon is None and rho is None and budget is None:
        return None
    return chosen_budget(epsilon, rho, budget)
