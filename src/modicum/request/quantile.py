"""Ask for a quantile, or the median."""

from __future__ import annotations

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.options import QuantileOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["median", "quantile"]


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
) -> Query[Release]:
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
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more; they take a
        third of the price. ``None``: no ends, the answer is more accurate, and its interval is the
        public range.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.mean`; q or level out of range.

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
    return find_row("quantile", "exponential").request(column_name(column), lattice, price, options)


def median(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
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
    return find_row("median", "exponential").request(column_name(column), lattice, price, options)
