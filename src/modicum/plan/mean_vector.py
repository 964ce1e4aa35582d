"""Plan the means of several columns together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from modicum import request as ask
from modicum.array_release import ArrayAnswer
from modicum.plan.columns_plan import ColumnsPlan, Floats, Given, Made, made_of, planned
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit
from modicum.runners.request import ArrayRequest

__all__ = ["clipped_mean_vector", "mean_vector"]

_MOST_VALUES = 1 << 24  # of the synthetic rows: 128 MB
_MEANING = "the L2 distance of all means together, in the unit of the data"


def mean_vector(
    *,
    within: tuple[float, float],
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> ColumnsPlan:
    """Plan the means of several columns: their error, or the ε or the number of rows it needs.

    Parameters
    ----------
    within, epsilon, rho, budget, step
        As for :func:`modicum.mean_vector`.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    n : int, optional
        Number of rows; n times the number of columns is at most 2^24. Beyond, the error falls
        like 1/n.
    error : float, optional
        The wanted mean L2 distance from the means of the rows. Of it, the price and ``n``, give
        two: the third is found.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost rounds.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Raises
    ------
    InvalidArgument
        For bad arguments, as of the question; too many values; an error that no price or size
        reaches.

    Examples
    --------
    >>> found = mean_vector(within=(-1e9, 1e9), sd=[1.0] * 16, n=4000, rho="0.5")
    >>> 0.004 < found.error < 0.02
    True
    """
    return _means(
        partial(ask.mean_vector, within=within, step=step),
        made_of(sd, correlation, mean),
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def clipped_mean_vector(
    *,
    within: tuple[float, float],
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> ColumnsPlan:
    """Plan the means of several columns, clipped about 0; as :func:`mean_vector`.

    Parameters
    ----------
    within, sd, n, epsilon, rho, budget, error, correlation, mean, step, unit
        As for :func:`mean_vector`. The noise grows with the distance of the rows from 0, so with
        the size of ``mean``.

    Raises
    ------
    InvalidArgument
        As for :func:`mean_vector`.

    Examples
    --------
    >>> near, far = (
    ...     clipped_mean_vector(within=(-1e9, 1e9), sd=[1.0] * 4, n=2000, rho="0.5", mean=mean)
    ...     for mean in (0, 100)
    ... )
    >>> near.error < far.error
    True
    """
    return _means(
        partial(ask.clipped_mean_vector, within=within, step=step),
        made_of(sd, correlation, mean),
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def _means(question: Callable[..., ArrayRequest], made: Made, given: Given) -> ColumnsPlan:
    return planned(question, made.rows, _distance, _MEANING, made, given, most=_MOST_VALUES)


def _distance(x: Floats, answer: ArrayAnswer) -> float:
    values = np.array([float(value) for value in answer.values])
    return float(np.linalg.norm(values - x.mean(axis=0)))
