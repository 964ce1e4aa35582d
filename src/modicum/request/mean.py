"""Ask for a mean."""

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

__all__ = ["mean"]


def mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "subset", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
) -> Query[Release]:
    """Ask for the mean of a column, with no bounds to guess.

    Prefer it over any mean that needs clipping bounds: the noise follows the spread that the
    data have, not the range.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float)
        A public range that surely holds every value, as wide as you like, such as
        ``(-1e9, 1e9)``. It is no clipping bound to guess: a thousand times wider costs little
        (a few more records are needed), and no accuracy for large data.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total price as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9).
    method : {"adaptive", "subset", "bounded"}
        ``"adaptive"`` is the accurate default; ``"subset"`` is Algorithm 3 of Dick et al. 2023,
        corrected, with its optimality theorem; ``"bounded"`` looks for nothing and scales its noise
        to the range (Kulesza, Suresh and Wang 2023, Algorithm 3), which is best if that is
        known to be tight: the default is hardly worse then, and much better otherwise.
    clusters : {"clip", "keep"}
        ``"keep"`` spends more on the clipping bounds so that a smaller distant cluster of
        records is kept, at some cost in accuracy otherwise.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        Reversed, empty or non-finite range, a step too fine for it, no or several budgets, a
        budget that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> mean("income", within=(-1e9, 1e9), epsilon=1).budget
    pure('1')
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = ClusterOption(clusters)
    return find_row("mean", method).request(column_name(column), lattice, price, options)
