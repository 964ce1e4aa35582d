"""Questions to ask of a table, checked but not yet answered.

``curator.together(income=modicum.request.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile`` and
``median`` and the methods of :class:`modicum.Curator` take the same arguments.
"""

from __future__ import annotations

from typing import Literal

from modicum.errors import InvalidArgument
from modicum.estimators.options import ClusterOption, NoOption, QuantileOption
from modicum.estimators.registry import find_row
from modicum.estimators.schedule import Clusters
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runners.request import Request

__all__ = ["Request", "count", "mean", "median", "quantile", "sum"]


def mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "subset"] = "adaptive",
    clusters: Clusters = "clip",
) -> Request:
    """Ask for the mean of a column, with no bounds to guess.

    Prefer it over any mean that needs clipping bounds: the noise follows the spread that the
    data have, not the range.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float)
        A public range that surely holds every value, as wide as you like, such as
        ``(-1e9, 1e9)``. It is no clipping bound to guess: a thousand times wider costs little
        (a few more records are needed), and no accuracy for large data.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total price as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9).
    method : {"adaptive", "subset"}
        ``"adaptive"`` is the accurate default; ``"subset"`` is Algorithm 3 of Dick et al. 2023,
        corrected, with its optimality theorem.
    clusters : {"clip", "keep"}
        ``"keep"`` spends more on the clipping bounds so that a smaller distant cluster of
        records is kept, at some cost in accuracy otherwise.

    Returns
    -------
    Request
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        Reversed, empty or non-finite range, a step too fine for it, no or several budgets, a
        budget that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> mean("income", within=(-1e9, 1e9), epsilon=1).budget
    pure('1')
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = ClusterOption(clusters)
    return find_row("mean", method).request(_name(column), lattice, price, options)


def sum(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    clusters: Clusters = "clip",
) -> Request:
    """Ask for the sum of a column, with no bounds to guess.

    Parameters, missing values and errors are as for :func:`mean`. A sum moves by the size of
    one record, so its noise follows the size of the largest values, not their spread.

    Examples
    --------
    >>> sum("income", within=(0, 1e9), rho="0.1").statistic
    'sum'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = ClusterOption(clusters)
    return find_row("sum", "adaptive").request(_name(column), lattice, price, options)


def count(
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
) -> Request:
    """Ask for the number of non-missing values of a column, or of rows.

    Parameters
    ----------
    column : str, optional
        Without it, the rows of a table (the non-missing values of an array) are counted. With
        it, the column's non-missing values, whatever their type (in a CSV file, numbers).
    epsilon, rho, budget : number, number, Budget
        Exactly one.

    Examples
    --------
    >>> count(epsilon=1).lattice is None
    True
    """
    price = chosen_budget(epsilon, rho, budget)
    return find_row("count", "noisy").request(_name(column), None, price, NoOption())


def quantile(
    column: str | None = None,
    *,
    q: Number,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Request:
    """Ask for the q-quantile of a column, with no bounds to guess.

    The value is near in rank: at ε = 1 usually within three ranks of q n, whatever the range,
    so its error is that of a few neighbouring records. Prefer it over a mean where tails are
    heavy, or where few records may decide nothing.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    q : int, float, Fraction, decimal string
        Strictly between 0 and 1. A float is read as its shortest decimal. Estimated is any point
        t with ``#{x < t} <= q n <= #{x <= t}``: for q = 1/2 any point between the two middle
        records.
    within : (float, float)
        A public range that surely holds every value, as wide as you like.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`mean`.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more; they take a
        third of the price. ``None``: no ends, the answer is more accurate, and its interval is the
        public range.

    Returns
    -------
    Request
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`mean`; q or level out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values. The rank error exceeds (2 m / ε') ln(N / β) with probability at most β, with
    m = max(q, 1 - q), ε' the share of the draw, and N the number of lattice points of the range.

    Examples
    --------
    >>> quantile("delay", q=0.9, within=(-1e9, 1e9), epsilon=1).statistic
    'quantile'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = QuantileOption.of(q, level)
    return find_row("quantile", "exponential").request(_name(column), lattice, price, options)


def median(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Request:
    """Ask for the median of a column, with no bounds to guess.

    Parameters, guarantee, missing values and errors are as for :func:`quantile` with q = 1/2.

    Examples
    --------
    >>> median("delay", within=(-1e9, 1e9), rho="0.1").statistic
    'median'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = QuantileOption.of("1/2", level)
    return find_row("median", "exponential").request(_name(column), lattice, price, options)


def _name(column: str | None) -> str | None:
    if column is not None and not isinstance(column, str):
        raise InvalidArgument(f"column must be a column name, got {type(column).__name__}")
    return column
