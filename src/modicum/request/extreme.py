"""Ask for a minimum, or a maximum, as far as they can be private."""

from __future__ import annotations

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.options import NoOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["maximum", "minimum"]


def maximum(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a point that next to no record of a column exceeds: its maximum, nearly.

    One record decides a maximum, so no private method can tell it. What is released is about the
    least point that no more than a few records exceed, or a point not far beyond all of them. It
    is right in scale, often to a tenth of the distance from the median; for a sharper number
    ask for a high quantile.

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
        As for :func:`modicum.request.mean`; a budget so small that more than four million records
        would have to be kept.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values. A tail of index a leaves about 15 / (a ε) records beyond the point. With
    confidence 1 - α, and no assumption, they are at most
    (15 ln(range / distance) + ln(1000 / α)) / ε, about; ``interval`` is for the largest record.

    Examples
    --------
    >>> maximum("delay", within=(-1e9, 1e9), epsilon=1).statistic
    'maximum'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    row = find_row("maximum", "exponential")
    return row.request(column_name(column), lattice, price, NoOption())


def minimum(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a point that next to no record of a column is below: its minimum, nearly.

    What is estimated, parameters, guarantee, missing values and errors are as for
    :func:`maximum`, with all signs reversed.

    Examples
    --------
    >>> minimum("delay", within=(-1e9, 1e9), rho="0.1").statistic
    'minimum'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    row = find_row("minimum", "exponential")
    return row.request(column_name(column), lattice, price, NoOption())
