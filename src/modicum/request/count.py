"""Ask for a count."""

from __future__ import annotations

from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.request.column import column_name
from modicum.runners.request import Query
from modicum.statistics.options import NoOption
from modicum.statistics.registry import find_row

__all__ = ["count"]


def count(
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
) -> Query[Release]:
    """Ask for the number of non-missing values of a column, or of rows.

    Parameters
    ----------
    column : str, optional
        Without it, the rows of a table (the non-missing values of an array) are counted. With
        it, the column's non-missing values, whatever their type: in a CSV file, every cell that is
        not empty.
    epsilon, rho, budget : number, number, Budget
        Exactly one.

    Examples
    --------
    >>> count(epsilon=1).lattice is None
    True
    """
    price = chosen_budget(epsilon, rho, budget)
    return find_row("count", "noisy").request(column_name(column), None, price, NoOption())
