"""Ask for the value with the least sum of powers of distances."""

from __future__ import annotations

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.request.mean import mean
from modicum.request.quantile import median
from modicum.runners.request import Query
from modicum.statistics.location import LP_LOCATION, asked
from modicum.statistics.monotone_statistic import checked_power, power_score

__all__ = ["lp_location"]


def lp_location(
    column: str | None = None,
    *,
    p: float,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the t with the least sum of ``|x - t|^p``, with no bounds to guess.

    p = 1 is the median and p = 2 the mean: those requests are made then, and ``level`` is not used
    for p = 2. Prefer a p between them for something between them; a p above 2 leans towards the
    middle of the extremes, and its answers are as noisy as those are far.

    Parameters
    ----------
    p : float
        From 1 to 8.
    column, within, epsilon, rho, budget, step, level
        As for :func:`modicum.request.expectile`.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.expectile`; p out of range.

    Notes
    -----
    Missing values, infinities and the mechanism are as for :func:`modicum.request.expectile`. For
    p >= 4 the default interval is the public range: data with tails of index 3 need not have such a
    location.

    Examples
    --------
    >>> lp_location("delay", p=1.5, within=(-1e9, 1e9), epsilon=1).statistic
    'lp_location'
    >>> lp_location("delay", p=1, within=(-1e9, 1e9), epsilon=1).statistic
    'median'
    """
    power = checked_power(p)
    price = chosen_budget(epsilon, rho, budget)
    if power == 1:
        return median(column, within=within, budget=price, step=step, level=level)
    if power == 2:
        return mean(column, within=within, budget=price, step=step)
    lattice = Lattice.within(within, step)
    return asked(LP_LOCATION, column, power_score(power), price, lattice, level)
