"""Ask for a vector statistic of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.array_release import ArrayRelease
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runners.request import Query
from modicum.statistics.own_vector import OwnVectorOption
from modicum.statistics.registry import find_row
from modicum.statistics.sensitivities import Sensitivities
from modicum.statistics.spec import column_names

__all__ = ["vector"]


def vector(
    columns: Sequence[str] | None = None,
    *,
    statistic: Sensitivities,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for a vector statistic of your own, with noise on the scale of its local sensitivity.

    It is for statistics of which you know how far one row can move them, on the data and on data
    near them, and nothing else. Prefer :func:`modicum.request.monotone` for a monotone statistic of
    one column, and what the library has for means, covariances and components.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, as many as the statistic is of. Leave it out for an
        array of shape (n, d).
    statistic : Sensitivities
        An instance of a subclass of :class:`modicum.Sensitivities`. Privacy hangs on its
        sensitivities being right.
    within : (float, float)
        A public range that surely holds every value of every column. How wide it is matters as
        much as the statistic lets it.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one privacy
        unit more or less, if the sensitivities keep their promise. The number of rows is private
        too.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.mean`; a statistic that is none, of another number of columns,
        or whose sensitivities break their promise for a few rows; names that are not different or
        no text.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped, infinities are moved into the
    range. All rows are held in memory, so a table in Spark or Dask is refused: collect its columns
    first. If the statistic fails on the data, all values are drawn
    about the middle of the range with the widest noise: no error may tell of data. The mechanism is
    the approximate inverse sensitivity mechanism (Asi and Duchi 2020, M.2), without the cap of
    their Algorithm 1; all arithmetic that privacy rests on is in integers. There is no interval:
    how wide the noise is depends on the data.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Sensitivities
    >>> class Means(Sensitivities):
    ...     name, labels, columns = "means", ("x", "y"), 2
    ...
    ...     def value(self, rows, lo, hi):
    ...         return rows.mean(axis=0) if len(rows) else np.full(2, (lo + hi) / 2)
    ...
    ...     def sensitivities(self, rows, lo, hi, levels):
    ...         return 2 * (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
    >>> vector(["x", "y"], statistic=Means(), within=(0, 100), epsilon=1).statistic
    'vector'
    """
    price = chosen_budget(epsilon, rho, budget)
    names, lattice = column_names(columns), Lattice.within(within, step)
    options = OwnVectorOption.of(statistic, names, lattice)
    return find_row("vector", "radial").request(names, lattice, price, options)
