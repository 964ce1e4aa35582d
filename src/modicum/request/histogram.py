"""Ask for a histogram."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.estimators.options import CutsOption
from modicum.estimators.registry import find_array_row
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.request.column import column_name
from modicum.runners.request import ArrayRequest

__all__ = ["histogram"]


def histogram(
    column: str | None = None,
    *,
    edges: Sequence[float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> ArrayRequest:
    """Ask for the number of values in each bin between public edges.

    A value is in one bin at most, so every count has the noise of a single count at the whole
    price, however many bins there are.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    edges : sequence of float
        Public, increasing, at most 10,000; not taken from the data. A bin holds its left edge and
        not its right one, the last bin holds both, as in ``numpy.histogram``. Values outside are in
        no bin; with ``-inf`` as the first edge, and ``inf`` as the last, there are none.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Values and edges are rounded to multiples of this power of two; by default the finest
        that fits, some 10^-15 of the largest of them.

    Returns
    -------
    ArrayRequest
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        edges out of order, too many or not finite; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. Counts are cut at 0.

    Examples
    --------
    >>> histogram("age", edges=[0, 18, 65, float("inf")], epsilon=1).statistic
    'histogram'
    """
    price = chosen_budget(epsilon, rho, budget)
    options = CutsOption.of(edges, "edges", least=2, infinite=True)
    row = find_array_row("histogram", "noisy")
    return row.request(column_name(column), options.lattice("edges", step), price, options)
