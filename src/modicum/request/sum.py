"""Ask for a sum."""

from __future__ import annotations

from typing import Literal

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.options import ClusterOption
from modicum.statistics.registry import find_row
from modicum.statistics.schedule import Clusters
from modicum.statistics.spec import column_name

__all__ = ["sum"]


def sum(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
) -> Query[Release]:
    """Ask for the sum of a column, with no bounds to guess.

    Parameters, missing values and errors are as for :func:`modicum.request.mean`. A sum moves by
    the size of one record, so its noise follows the size of the largest values, not their spread.

    Examples
    --------
    >>> sum("income", within=(0, 1e9), rho="0.1").statistic
    'sum'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = ClusterOption(clusters)
    return find_row("sum", method).request(column_name(column), lattice, price, options)
