"""Ask for the means of several columns together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from modicum.array_release import ArrayRelease
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runtime.query import Query
from modicum.statistics.options import NoOption
from modicum.statistics.registry import find_row
from modicum.summaries.base import Columns
from modicum.summaries.vectors import MOST_COLUMNS

__all__ = ["clipped_mean_vector", "column_names", "mean_vector"]


def mean_vector(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "shifted"] = "adaptive",
) -> Query[ArrayRelease]:
    """Ask for the means of several columns, with noise on the scale of the rows' own spread.

    Prefer it over a mean for each column from a handful of columns on: a row is clipped as a
    whole, so the noise of all means together grows with the number of columns, not faster.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 65,536. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    within : (float, float)
        A public range that surely holds every value of every column, such as ``(-1e9, 1e9)``. It
        need not be tight: the noise follows the distances between rows.
    epsilon : number
        Pure ε; a float counts as its shortest decimal. For more than a handful of columns rho
        goes much further.
    rho : number
        ρ of zero-concentrated differential privacy, instead of epsilon.
    budget : Budget
        Instead of epsilon and rho: ``modicum.approx(1, "1e-6")`` is spent as the largest ρ that
        implies this (ε, δ) and charged as (ε, δ), if that is better for so many columns (here 13
        and more), and otherwise as (ε, 0).
    step : float, optional
        Values are rounded to multiples of this power of two; by default the finest that fits.
    method : {"adaptive", "shifted"}
        "shifted" is the shifted clipped mean of Huang, Liang and Yi (2021), for comparison: in
        zCDP only. A median in each rotated coordinate takes a question for each halving of the
        range down to the step, each of which is a pass over the rows and costs accuracy.

    Returns
    -------
    Query
        Guarantee when answered: ρ-zCDP, pure ε or (ε, δ) for add-remove neighbours, that is one
        privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        A bad range, step, budget or method; no names, names that are not different or no text.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped. Errors never depend on values.
    The answer is the mean of the rows after rounding, of which a few far ones are drawn nearer,
    however many rows there are: some 10/sqrt(ρ) of bell-shaped rows, fewer of others. Rows far
    from all others that are fewer than some 40/sqrt(ρ), in pure ε 230/ε, may be lost; if the
    others are one point, the code tells. The L2 error of all components together is about
    S sqrt(1/(2 ρ)) / n for the sum S of the columns' spreads; a column of spread s has noise of
    about sqrt(s S) sqrt(1/(2 ρ)) / n. Rows may lie anywhere: each factor of five between their
    distance from 0 and their spread costs about 1 % of the budget. Methods after Huang, Liang and
    Yi (2021) and Biswas, Dong, Kamath and Ullman (2020), with the weights of Aumüller, Lebeda,
    Nelson and Pagh (2024).

    In pure ε the same steps are made in L1 norms with Laplace noise. For the spreads s of the
    columns the L2 error is at best about (sum of s^(2/3))^(3/2) / (ε n), and two or three times
    that for tens of columns: for columns of one spread it grows like d^(3/2), in zCDP like d. Two
    columns are better asked for one by one there.

    Examples
    --------
    >>> mean_vector(["height", "weight"], within=(-1e9, 1e9), rho="0.5").place.names
    ('height', 'weight')
    """
    return find_row("mean_vector", method).request(
        column_names(columns),
        Lattice.within(within, step),
        chosen_budget(epsilon, rho, budget),
        NoOption(),
    )


def clipped_mean_vector(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the means of several columns, with noise on the scale of the rows' distances from 0.

    For rows that lie about 0, such as gradients or differences, and as the reference of the
    clipped mean of Huang, Liang and Yi (2021). For any other rows prefer :func:`mean_vector`.

    Parameters
    ----------
    columns, within, epsilon, rho, budget, step
        As for :func:`mean_vector`.

    Returns
    -------
    Query
        Guarantee when answered: ρ-zCDP, pure ε or (ε, δ) for add-remove neighbours, that is one
        privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        As for :func:`mean_vector`.

    Notes
    -----
    Rows are clipped to the radius beyond which about sqrt(2 d/ρ) of them lie, found by a noisy
    binary search on a grid of four radii an octave. The noise of all components together is about
    (that radius) sqrt(d/(2 ρ)) / n. In pure ε norms are L1, about d/ε rows lie beyond the radius,
    and the noise of all components together is about (that radius) sqrt(2 d) / (ε n).

    Examples
    --------
    >>> clipped_mean_vector(within=(-1e9, 1e9), rho="0.5").method
    'search'
    """
    return find_row("clipped_mean_vector", "search").request(
        column_names(columns),
        Lattice.within(within, step),
        chosen_budget(epsilon, rho, budget),
        NoOption(),
    )


def column_names(columns: object) -> Columns:
    """Check names of columns; ``None`` stands for all components of an array.

    Raises
    ------
    InvalidArgument
        If they are no different texts.
    """
    if columns is None:
        return Columns()
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise InvalidArgument(f"columns must be a list of names, got {type(columns).__name__}")
    names = tuple(columns)
    if not all(isinstance(name, str) for name in names):
        raise InvalidArgument("columns must be a list of names, each a text")
    if not 0 < len(set(names)) == len(names) <= MOST_COLUMNS:
        raise InvalidArgument(
            f"columns must be 1 to {MOST_COLUMNS:,} different names, got {len(names)} names, "
            f"{len(set(names))} of them different"
        )
    return Columns(names)
