"""Ask for a trimmed or a winsorized mean."""

from __future__ import annotations

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.options import TrimOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import column_name

__all__ = ["trimmed_mean", "winsorized_mean"]


def trimmed_mean(
    column: str | None = None,
    *,
    trim: Number,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for a trimmed mean of a column, with no bounds to guess.

    Of n records the floor(trim n) lowest and as many highest are left out, and the mean of the
    others is estimated; what ``scipy.stats.trim_mean`` computes. Its noise is about as wide as
    that of a mean of data within the two cuts, whatever lies beyond. Prefer it over a mean where a
    few records are errors, or say little about the others; over a median where the middle half
    of the records should count.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    trim : int, float, Fraction, decimal string
        Share of the records left out on each side, strictly between 0 and 1/2. A float is read
        as its shortest decimal.
    within : (float, float)
        A public range that surely holds every value, as wide as you like. At ε = 1 and ±1e9 some
        110 records should be trimmed on each side; the status says if they are not.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.
    level : float or None
        Confidence level at which the radius of the interval is drawn, 0.95 or more; it takes
        28 % of the price. ``None``: no radius, the answer is more accurate, and its
        interval is the public range.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.mean`; trim or level out of range.

    Notes
    -----
    Inverse sensitivity mechanism (Asi and Duchi 2020) with a length that is exact for a share of
    a private number of records, and linear between its levels (Durfee 2025). Missing values
    (null, NaN) are dropped; infinities are clamped to the range. Errors never depend on values.

    Examples
    --------
    >>> trimmed_mean("delay", trim=0.1, within=(-1e9, 1e9), epsilon=1).statistic
    'trimmed_mean'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = TrimOption.of(trim, level)
    row = find_row("trimmed_mean", "inverse-sensitivity")
    return row.request(column_name(column), lattice, price, options)


def winsorized_mean(
    column: str | None = None,
    *,
    trim: Number,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for a winsorized mean of a column, with no bounds to guess.

    Of n records the floor(trim n) lowest are replaced by the lowest of the others, as many
    highest by the highest of the others, and the mean of all n is estimated. Prefer it over
    :func:`trimmed_mean` where the records beyond the cuts should count as low and high, though
    not by how much. Parameters, guarantee, missing values and errors are as there.

    Examples
    --------
    >>> winsorized_mean("delay", trim="0.05", within=(-1e9, 1e9), rho="0.1").statistic
    'winsorized_mean'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = TrimOption.of(trim, level)
    row = find_row("winsorized_mean", "inverse-sensitivity")
    return row.request(column_name(column), lattice, price, options)
