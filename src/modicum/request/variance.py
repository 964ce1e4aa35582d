"""Ask for a variance, or a standard deviation."""

from __future__ import annotations

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.options import NoOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["std", "variance"]

_MOST = 1e150


def variance(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for the variance of a column, with no bounds to guess.

    It is the mean of the squared distances from the mean, divided by n and not by n - 1, as
    ``numpy.var`` is.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float)
        A public range that surely holds every value, as wide as you like.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.mean`; if the range exceeds ±1e150, whose square is too
        large for a number.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values. The noise follows the square of the largest distances from the mean that
    more than a few records have; what lies beyond is clipped, which makes heavy tails look
    lighter than they are.

    Examples
    --------
    >>> variance("income", within=(-1e9, 1e9), epsilon=1).statistic
    'variance'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    if max(-lattice.lo, lattice.hi) > _MOST:
        raise InvalidArgument(
            f"within must lie inside ±{_MOST:g} for a variance, which is in squared units, "
            f"got {within!r}; ask for std"
        )
    row = find_row("variance", "adaptive")
    return row.request(column_name(column), lattice, price, NoOption())


def std(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for the standard deviation of a column, with no bounds to guess.

    The root of the variance: parameters, guarantee, missing values and errors are as for
    :func:`variance`.

    Examples
    --------
    >>> std("income", within=(-1e9, 1e9), rho="0.1").statistic
    'std'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    row = find_row("std", "adaptive")
    return row.request(column_name(column), lattice, price, NoOption())
