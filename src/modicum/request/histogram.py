"""Ask for a histogram."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.array_release import ArrayRelease
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runtime.query import Query
from modicum.statistics.options import BinsOption, CutsOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["histogram"]


def histogram(
    column: str | None = None,
    *,
    edges: Sequence[float] | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the number of values in each bin, between public edges or between quantiles.

    A value is in one bin at most, so every count has the noise of a single count at the whole
    price, however many bins there are.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    edges : sequence of float, optional
        Public, increasing, at most 10,000; not taken from the data. A bin holds its left edge and
        not its right one, the last bin holds both, as in ``numpy.histogram``. Values outside are in
        no bin; with ``-inf`` as the first edge, and ``inf`` as the last, there are none.
    bins : int, optional
        Instead of ``edges``: 2 to 1000 bins, with about equally many values in each. A quarter of
        the price goes to the edges between them, which are quantiles as those of
        :func:`modicum.request.quantiles`; two that are equal are one.
    within : (float, float), optional
        With ``bins``: a public range that surely holds every value; its ends are the outer edges.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Values and edges are rounded to multiples of this power of two; by default the finest
        that fits, some 10^-15 of the largest of them.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        edges out of order, too many or not finite; not one of edges and bins; bins out of range
        or without ``within``; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. Counts are cut at 0.

    Examples
    --------
    >>> histogram("age", edges=[0, 18, 65, float("inf")], epsilon=1).statistic
    'histogram'
    >>> histogram("income", bins=10, within=(0, 1e9), epsilon=1).method
    'drawn'
    """
    price, name = chosen_budget(epsilon, rho, budget), column_name(column)
    if (edges is None) == (bins is None):
        raise InvalidArgument(
            "give either edges, or bins and within; categories are counted for each key, by "
            "group_by(...).count or `modicum count FILE --by COLUMN --keys A,B`"
        )
    if (bins is None) != (within is None):
        raise InvalidArgument("bins and within go together; edges need no range")
    if edges is not None:
        cuts = CutsOption.of(edges, "edges", least=2, infinite=True)
        public = find_row("histogram", "noisy")
        return public.request(name, cuts.lattice("edges", step), price, cuts)
    assert within is not None
    options = BinsOption.of(bins)
    return find_row("histogram", "drawn").request(
        name, Lattice.within(within, step), price, options
    )
