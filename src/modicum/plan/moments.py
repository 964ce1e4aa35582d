"""Plan a covariance matrix, principal components, or a linear regression."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from modicum import request as ask
from modicum.array_release import ArrayAnswer
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.plan.columns_plan import ColumnsPlan, Floats, made_of, planned
from modicum.plan.rows import is_number, normal
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["covariance", "linear_regression", "pca"]


def covariance(
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
    """Plan a covariance matrix: its error, or the ε or the number of rows that an error needs.

    Parameters
    ----------
    within, epsilon, rho, budget, step
        As for :func:`modicum.covariance`.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    n : int, optional
        Number of rows; n times the number of columns is at most 2^21. Beyond, the error falls
        like 1/n.
    error : float, optional
        The wanted mean error of an entry, in standard deviations of its two columns. Of it, the
        price and n exactly two are given, and the third is found.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost rows.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Raises
    ------
    InvalidArgument
        For bad arguments, as of the question; too many values; an error that cannot be reached.

    Examples
    --------
    >>> found = covariance(within=(-1e6, 1e6), sd=[1.0, 50.0], n=20_000, epsilon=1)
    >>> found.error < 0.1
    True
    """
    made = made_of(sd, correlation, mean)
    scales = np.outer(made.sd, made.sd)

    def error_of(x: Floats, answer: ArrayAnswer) -> float:
        apart = np.abs(_values(answer) - np.cov(x.T, bias=True))
        return float((apart / scales).mean())

    return planned(
        partial(ask.covariance, within=within, step=step),
        made.rows,
        error_of,
        "the mean error of an entry, in standard deviations of its two columns",
        made,
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def pca(
    *,
    components: int,
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
    """Plan principal components; as :func:`covariance`.

    Parameters
    ----------
    components
        As for :func:`modicum.pca`.
    within, sd, n, epsilon, rho, budget, correlation, mean, step, unit
        As for :func:`covariance`.
    error : float, optional
        The wanted share of the variance along the best components that these lack.

    Raises
    ------
    InvalidArgument
        As for :func:`covariance`.

    Examples
    --------
    >>> found = pca(components=1, within=(-1e6, 1e6), sd=[9.0, 1.0, 1.0], n=5000, epsilon=1)
    >>> found.error < 0.1
    True
    """
    made = made_of(sd, correlation, mean)

    def error_of(x: Floats, answer: ArrayAnswer) -> float:
        matrix, directions = np.atleast_2d(np.cov(x.T)), _values(answer)
        best = np.linalg.eigvalsh(matrix)[::-1][: len(directions)].sum()
        return float(1 - np.trace(directions @ matrix @ directions.T) / best)

    return planned(
        partial(ask.pca, components=components, within=within, step=step),
        made.rows,
        error_of,
        "the share of the variance along the best components that these lack",
        made,
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def linear_regression(
    *,
    within: tuple[float, float],
    sd: Sequence[float],
    r2: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    target_sd: float = 1.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> ColumnsPlan:
    """Plan a linear regression; as :func:`covariance`.

    Parameters
    ----------
    within, n, epsilon, rho, budget, step, unit
        As for :func:`covariance`.
    sd, correlation, mean
        Guesses for the explaining columns, as for :func:`covariance`. The explained one depends on
        all of them alike.
    r2 : float
        A guess of the share of the explained column's variance that they explain, in (0, 1).
    error : float, optional
        The wanted loss of that share.
    target_sd : float
        A guess of the explained column's standard deviation.

    Raises
    ------
    InvalidArgument
        As for :func:`covariance`.

    Examples
    --------
    >>> found = linear_regression(within=(-1e6, 1e6), sd=[1.0, 9.0], r2=0.5, n=5000, epsilon=1)
    >>> found.error < 0.1
    True
    """
    made = made_of(sd, correlation, mean)
    if not (is_number(r2) and 0 < r2 < 1):
        raise InvalidArgument(f"r2 must lie strictly between 0 and 1, got {r2!r}")
    if not (is_number(target_sd) and target_sd > 0):
        raise InvalidArgument(f"target_sd must be a positive number, got {target_sd!r}")

    def rows(n: int, entropy: SeededEntropy) -> Floats:
        x = made.rows(n, entropy)
        standard = ((x - made.mean) / np.array(made.sd)).sum(axis=1)
        size = math.sqrt(len(made.sd) * (1 + (len(made.sd) - 1) * made.correlation))
        noise = normal(n, 1, entropy)[:, 0]
        y = math.sqrt(r2) * standard / size + math.sqrt(1 - r2) * noise
        return np.column_stack([x, target_sd * y])

    def error_of(x: Floats, answer: ArrayAnswer) -> float:
        y, values = x[:, -1], _values(answer)
        table = np.column_stack([np.ones(len(x)), x[:, :-1]])
        best = np.linalg.lstsq(table, y, rcond=None)[0]
        squares = [float(np.mean((y - table @ each) ** 2)) for each in (values, best)]
        return (squares[0] - squares[1]) / max(float(np.var(y)), math.ulp(0.0))

    return planned(
        partial(ask.linear_regression, within=within, step=step),
        rows,
        error_of,
        "the share of the explained variance, R², that is lost",
        made,
        (open_price(epsilon, rho, budget), n, error, unit),
    )


def _values(answer: ArrayAnswer) -> Floats:
    values = np.array([float(value) for value in answer.values])
    return values.reshape([len(axis) for axis in answer.axes])
