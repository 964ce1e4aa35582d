"""Ask for any statistic that follows the order of the data."""

from __future__ import annotations

from typing import Literal

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.request.location import location
from modicum.runners.request import Query
from modicum.statistics.monotone_statistic import MonotoneStatistic

__all__ = ["monotone"]


def monotone(
    column: str | None = None,
    *,
    statistic: MonotoneStatistic,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
) -> Query[Release]:
    """Ask for a statistic of your own that never falls when a record is raised.

    Parameters
    ----------
    statistic : Score or Boundaries
        Either a :class:`modicum.Score`: a function ψ, and the statistic is the t at which the sum
        of ψ(x - t) over the records is 0. Privacy does not hang on ψ: it is tabulated, and a table
        that falls somewhere is made level there. Or an instance of a subclass of
        :class:`modicum.Boundaries`: how low and how high k changed records can bring the
        statistic. Privacy hangs on those being right.
    column, within, epsilon, rho, budget, step, level
        As for :func:`modicum.request.expectile`.
    method : {"inverse-sensitivity", "subset"}
        ``"subset"`` is Algorithm 4 of Dick, Kulesza, Sun and Suresh 2023, corrected, with the
        constants of its theorem: thousands of records are left out on each side. It is for a pure
        ε and draws no interval: give ``level=None``.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less; with own boundaries, if they keep their promise.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.expectile`; if the statistic fails at public points: a ψ that
        is not finite, not 0 at 0 or falls, boundaries that break their promise for a few records;
        ``method="subset"`` with a ρ or with a level.

    Notes
    -----
    Missing values, infinities and the mechanism are as for :func:`modicum.request.expectile`. If
    the statistic says ``growth=0``, no record is clipped; otherwise those beyond two private bounds
    are.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Score
    >>> smooth = Score("smooth median", np.tanh, growth=0, width=3)
    >>> monotone("delay", statistic=smooth, within=(-1e9, 1e9), epsilon=1).statistic
    'monotone'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    if statistic is None:
        raise InvalidArgument("statistic must be a modicum.Score or a modicum.Boundaries, got None")
    if method == "subset" and level is not None:
        raise InvalidArgument("method='subset' draws no interval: give level=None")
    return location("monotone", column, statistic, price, lattice, level, method)
