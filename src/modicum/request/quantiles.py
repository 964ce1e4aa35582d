"""Ask for several quantiles at once."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.array_release import ArrayRelease
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runtime.query import Query
from modicum.statistics.options import QuantilesOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["quantiles"]


def quantiles(
    column: str | None = None,
    *,
    q: Sequence[Number],
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[ArrayRelease]:
    """Ask for several quantiles of a column at once, with no bounds to guess.

    They are in increasing order. Prefer it over a :func:`quantile` for each: nine cost about as
    much, for the same rank error, as three or four alone. Two to twelve are drawn all at once if a
    noisy number of records tells that there are enough, and otherwise one between others.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    q : sequence of int, float, Fraction, decimal string
        At most 1000, increasing, strictly between 0 and 1. Estimated are points t with
        ``#{x < t} <= q n <= #{x <= t}``.
    within : (float, float)
        A public range that surely holds every value, as wide as you like.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.
    level : float or None
        A tenth of the price goes to counts of the records between the points, which give
        simultaneous intervals from one point to another, of this level as of any other. ``None``:
        the points are a little more accurate, and each interval is the public range.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.mean`; q out of range or order; level out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values. At ε = 1 the mean rank error is about 1 for one, 3 for nine and 8 for 29
    quantiles. The mechanisms follow Gillenwater, Joseph and Kulesza 2021 (two to twelve quantiles,
    at least 14/ε records between any two) and Kaplan, Schnapp and Stemmer 2022.

    Examples
    --------
    >>> quantiles("delay", q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1).statistic
    'quantiles'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = QuantilesOption.of(q, level)
    row = find_row("quantiles", "nested")
    return row.request(column_name(column), lattice, price, options)
