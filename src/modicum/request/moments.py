"""Ask for covariances, principal components or a linear regression."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.array_release import ArrayRelease
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.runners.request import Query
from modicum.statistics.covariance import ComponentsOption
from modicum.statistics.options import NoOption
from modicum.statistics.registry import find_row
from modicum.statistics.spec import Options, column_names
from modicum.summaries.base import Columns
from modicum.summaries.cells import MOST_COLUMNS

__all__ = ["covariance", "linear_regression", "pca"]

_MOST = 1e150


def covariance(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the covariance matrix of several columns, with no bounds to guess.

    It divides by n, as ``numpy.cov(..., bias=True)`` does.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    within : (float, float)
        A public range that surely holds every value of every column, such as ``(-1e6, 1e6)``. It
        need not be tight, and columns may differ in scale and in place.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.request.mean`. With more than about 15 columns, ρ has
        the smaller noise; a price of (ε, δ) is spent as the better one of ε and ρ, see
        :func:`modicum.request.mean_vector`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.request.mean`.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is one
        privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.request.mean`; names that are not different or no text; a range
        beyond ±1e150, whose square is too large for a number.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped. Errors never depend on values.
    An interval is drawn for each column, in which most of it lies; a value further than twice its
    half-width from its middle counts as that far, and further than eight times as the middle. Rows
    that are large in these units are shrunk as a whole, constant included, so that linear relations
    survive. A column whose spread is lost in the noise has covariance 0 with all.

    Examples
    --------
    >>> covariance(["height", "weight"], within=(-1e6, 1e6), epsilon=1).statistic
    'covariance'
    """
    price = chosen_budget(epsilon, rho, budget)
    return _asked("covariance", column_names(columns), _squared(within, step), price, NoOption())


def pca(
    columns: Sequence[str] | None = None,
    *,
    components: int,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the leading principal components of several columns, with no bounds to guess.

    They are those of a released covariance matrix, see :func:`covariance`; priced in ρ, of one
    whose columns share one half-width if rows are too few for an interval in each.

    Parameters
    ----------
    columns : list of str, optional
    components : int
        How many; no more than there are columns are returned.
    within, epsilon, rho, budget, step
        As for :func:`covariance`.

    Returns
    -------
    Query
        Of unit vectors, shape (components, columns). The evidence of the release has the variance
        along each, ``evidence.explained_variance``, and about the largest that noise alone would
        show, ``evidence.noise_size``. Guarantee as for :func:`covariance`.

    Raises
    ------
    InvalidArgument
        As for :func:`covariance`; components that are no whole number of at least 1.

    Notes
    -----
    Missing and far values as for :func:`covariance`; errors never depend on values.

    Examples
    --------
    >>> pca(["height", "weight"], components=1, within=(-1e6, 1e6), epsilon=1).statistic
    'pca'
    """
    price = chosen_budget(epsilon, rho, budget)
    options = ComponentsOption.of(components)
    return _asked("pca", column_names(columns), _squared(within, step), price, options)


def linear_regression(
    columns: Sequence[str] | None = None,
    *,
    target: str | None = None,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for a linear regression of one column on others, with no bounds to guess.

    Parameters
    ----------
    columns : list of str, optional
        Names of the explaining columns of a table, at most 499. Leave it and ``target`` out for an
        array of shape (n, d): its last column is explained by the others.
    target : str, optional
        Name of the explained column.
    within : (float, float)
        A public range that surely holds every value of every column, such as ``(-1e6, 1e6)``.
    epsilon, rho, budget, step
        As for :func:`covariance`.

    Returns
    -------
    Query
        Of the intercept and the slopes. Guarantee as for :func:`covariance`.

    Raises
    ------
    InvalidArgument
        As for :func:`covariance`; columns without a target or the reverse, a target among the
        columns.

    Notes
    -----
    Missing and far values as for :func:`covariance`; errors never depend on values, singular data
    included. With rows times ε of 200 times the square of the number of explaining columns or more,
    the slopes solve normal equations with noise and a penalty that follows from it, as those of
    Wang (2018) do; columns whose spread is lost in the noise have slope 0, and ``release.status``
    says so. With fewer rows, a fit is drawn from public lists by its squared residuals, each cut
    off at a public part of the released spread; then ``release.method`` is ``"listed fits"``, and
    intervals have no bounds.

    Examples
    --------
    >>> linear_regression(["age", "bmi"], target="cost", within=(-1e6, 1e6), epsilon=1).statistic
    'linear_regression'
    """
    price = chosen_budget(epsilon, rho, budget)
    if (columns is None) != (target is None):
        raise InvalidArgument("columns and target go together; leave both out for an array")
    names = column_names(columns)
    if names.names is not None:
        if target in names.names:
            raise InvalidArgument(f"the target {target!r} is among the columns: leave it out there")
        names = column_names((*names.names, target))
    lattice = Lattice.within(within, step)
    return _asked("linear_regression", names, lattice, price, NoOption())


def _squared(within: tuple[float, float], step: float | None) -> Lattice:
    lattice = Lattice.within(within, step)
    if max(-lattice.lo, lattice.hi) > _MOST:
        raise InvalidArgument(
            f"within must lie inside ±{_MOST:g} for a covariance, which is in squared units, "
            f"got {within!r}"
        )
    return lattice


def _asked(
    statistic: str, columns: Columns, lattice: Lattice, price: Budget, options: Options
) -> Query[ArrayRelease]:
    if columns.names is not None and len(columns.names) > MOST_COLUMNS:
        raise InvalidArgument(f"at most {MOST_COLUMNS} columns together, got {len(columns.names)}")
    row = find_row(statistic, "moments")
    return row.request(columns, lattice, price, options)
