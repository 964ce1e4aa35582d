"""Ask for a distribution function."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.array_release import ArrayRelease
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runtime.query import Query
from modicum.statistics.options import CutsOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["cdf"]


def cdf(
    column: str | None = None,
    *,
    points: Sequence[float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the share of values up to each of some public points.

    The shares increase and lie in [0, 1]. Up to about sixty points they are sums of a histogram;
    for more points, counts of blocks keep the sums short.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    points : sequence of float
        Public, increasing, finite, at most 10,000; not taken from the data.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Values and points are rounded to multiples of this power of two; by default the finest
        that fits, some 10^-15 of the largest of them.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        points out of order, too many or not finite; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. If the noise leaves no
    records at all, every share is 1/2 and the status says so.

    Examples
    --------
    >>> cdf("age", points=[18, 30, 65], epsilon=1).statistic
    'cdf'
    """
    price = chosen_budget(epsilon, rho, budget)
    options = CutsOption.of(points, "points", least=1, infinite=False)
    row = find_row("cdf", "noisy")
    return row.request(column_name(column), options.lattice("points", step), price, options)
