"""Plan a mean."""

from __future__ import annotations

from functools import partial
from typing import Literal

from modicum import request as ask
from modicum.estimators.schedule import Clusters
from modicum.exact.lattice import Lattice
from modicum.plan.card import MeanPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["mean"]


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
    method: Literal["adaptive", "subset", "bounded"] = "adaptive",
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
    return planned(
        MeanPlan,
        partial(ask.mean, within=within, step=step, method=method, clusters=clusters),
        lambda table, size: table.mean() * size,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )
