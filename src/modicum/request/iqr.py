"""Ask for the distance between two quantiles."""

from __future__ import annotations

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.options import RangeOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["iqr"]


def iqr(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    between: tuple[Number, Number] = ("1/4", "3/4"),
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the interquartile range of a column, with no bounds to guess.

    Prefer it over a standard deviation where tails are heavy: each quartile is near in rank,
    whatever the range, and no record is clipped.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float)
        A public range that surely holds every value, as wide as you like.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`; each quantile has half of it.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.
    between : (number, number)
        Which quantiles, each strictly between 0 and 1: ``("0.1", "0.9")`` for the distance of the
        outer deciles. Each is estimated as :func:`modicum.request.quantile` says.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more; they take 28 %
        of the price. ``None``: no ends, the answer is more accurate, and its interval is the
        width of the public range.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.quantile`; if ``between`` does not increase.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values. If the two quantiles come out in the wrong order, as they may where nearly
    all records are equal, the answer is 0.

    Examples
    --------
    >>> iqr("delay", within=(-1e9, 1e9), epsilon=1).statistic
    'iqr'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = RangeOption.of(between, level)
    return find_row("iqr", "exponential").request(column_name(column), lattice, price, options)
