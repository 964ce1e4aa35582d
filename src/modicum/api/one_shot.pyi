"""Functions of a table; written by ``python -m tools.stubs``."""

from collections.abc import Sequence
from typing import Any, Literal

from modicum.privacy.budget import Budget, Number
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayRelease
from modicum.releases.release import Release
from modicum.research.own_statistics.vector_statistic import Sensitivities
from modicum.statistics.ranges.split import Clusters
from modicum.statistics.robust.monotone_statistic import MonotoneStatistic

def cdf(
    table: Any,
    column: str | None = None,
    *,
    points: Sequence[float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release the share of values up to each of some public points.

    The shares increase and lie in [0, 1]. Up to about sixty points they are sums of a histogram;
    for more points, counts of blocks keep the sums short.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    points : sequence of float
        Public, increasing, finite, at most 10,000; not taken from the data.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values, and the points or edges, are rounded to multiples of it. By
        default the finest that fits, some 10^-15 of the largest of them.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        points out of order, too many or not finite; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. If the noise leaves no
    records at all, every share is 1/2 and the status says so.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> modicum.cdf(np.arange(20_000.0), points=[5000, 1e4], epsilon=1).values.round(2).tolist()
    [0.25, 0.5]
    """

def clipped_mean_vector(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release the means of several columns, with noise on the scale of the rows' distances from 0.

    For rows that lie about 0, such as gradients or differences, and as the reference of the
    clipped mean of Huang, Liang and Yi (2021). For any other rows prefer :func:`mean_vector`.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    columns : list of str, optional
        Names of numeric columns of a table, at most 65,536. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
        How it is spent is as for :func:`mean_vector`.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is
        one privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If there are no names, or names that are not different or no text.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
    the range. Errors never depend on values.

    Rows are clipped to the radius beyond which about sqrt(2 d/ρ) of them lie, found by a noisy
    binary search on a grid of four radii an octave. The noise of all components together is about
    (that radius) sqrt(d/(2 ρ)) / n. In pure ε norms are L1, about d/ε rows lie beyond the radius,
    and the noise of all components together is about (that radius) sqrt(2 d) / (ε n).

    Examples
    --------
    >>> import numpy as np, modicum
    >>> x = np.random.default_rng(1).normal([3, -5], 1, size=(20_000, 2))
    >>> found = modicum.clipped_mean_vector(x, within=(-1e9, 1e9), rho="0.5")
    >>> found.shape, found.values.round(0).tolist()
    ((2,), [3.0, -5.0])
    """

def count(
    table: Any,
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the number of non-missing values of a column, or of rows.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Without it, the rows of a table (the non-missing values of an array) are counted. With
        it, the column's non-missing values, whatever their type: in a CSV file, every cell that is
        not empty.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If there is no cost, more than one, or one that is not positive.

    Notes
    -----
    One exact draw: discrete Laplace noise of scale 1/ε, or discrete Gaussian noise of variance
    1/(2ρ) (Canonne, Kamath and Steinke 2020); a negative answer is shown as 0. If all rows of a
    person count, they are a sum over persons, with a bound that is found.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.count(np.arange(20_000.0), epsilon=1)
    >>> 19900 < release.value < 20100
    True
    """

def covariance(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release the covariance matrix of several columns, with no bounds to guess.

    It divides by n, as ``numpy.cov(..., bias=True)`` does.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
        With more than about 15 columns, ρ has the smaller noise; a cost of (ε, δ) is spent as the
        better one of ε and ρ, see :func:`modicum.query.mean_vector`.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is
        one privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If names are not different or no text; if the range exceeds ±1e150, whose square is too
        large for a number.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
    the range. Errors never depend on values.

    An interval is drawn for each column, in which most of it lies; a value further than twice its
    half-width from its middle counts as that far, and further than eight times as the middle. Rows
    that are large in these units are shrunk as a whole, constant included, so that linear relations
    survive. A column whose spread is lost in the noise has covariance 0 with all.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
    >>> found = modicum.covariance(x, within=(-1e6, 1e6), epsilon=1)
    >>> found.shape, 5_000 < found[1, 1] < 12_000
    ((2, 2), True)
    """

def expectile(
    table: Any,
    column: str | None = None,
    *,
    tau: float,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the τ-expectile of a column, with no bounds to guess.

    The t at which τ sum (x - t)+ = (1 - τ) sum (t - x)+: for τ = 1/2 the mean (then prefer
    :func:`modicum.query.mean`, which is about three times more accurate), for larger τ a value
    further up. Prefer it over a quantile where it matters how far the extremes lie, and not only
    how many they are.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    tau : float
        From 0.001 to 0.999.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take up to half of the cost.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If tau or level is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The inverse sensitivity mechanism (Asi and Duchi 2020) between two private bounds, after Dick,
    Kulesza, Sun and Suresh 2023, Algorithm 4. The answer is about 2/ε' records away from the
    expectile of the clipped data, whatever the range is; a few extreme records are clipped.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.expectile(np.arange(20_000.0), tau=0.5, within=(-1e9, 1e9), epsilon=1)
    >>> 9900 < release.value < 10100
    True
    """

def geometric_mean(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the geometric mean of a column of positive values, with no bounds to guess.

    It is the exponential of the mean of the logarithms. Prefer it over a mean for values that
    differ by factors, such as incomes, concentrations or growth rates: one large value moves it
    little, and the noise follows the spread of the logarithms.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float)
        A public range with 0 < lowest, as wide as you like, such as ``(0.01, 1e12)``. Values below
        the lowest, zeros and negative values among them, count as the lowest, whatever the data
        are; so choose the lowest value that means something, such as a detection limit. It is not
        found for you: with zeros in the column the answer depends on it.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, not positive or not finite; if there is no cost, more than one,
        or one that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Logarithms are rounded to multiples of a public step, about 10^-12.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.geometric_mean(np.arange(20_000.0), within=(1, 1e9), epsilon=1)
    >>> 7000 < release.value < 7700
    True
    """

def histogram(
    table: Any,
    column: str | None = None,
    *,
    edges: Sequence[float] | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release the number of values in each bin, between public edges or between quantiles.

    A value is in one bin at most, so every count has the noise of a single count at the whole
    cost, however many bins there are.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    edges : sequence of float, optional
        Public, increasing, at most 10,000; not taken from the data. A bin holds its left edge and
        not its right one, the last bin holds both, as in ``numpy.histogram``. Values outside are in
        no bin; with ``-inf`` as the first edge, and ``inf`` as the last, there are none.
    bins : int, optional
        Instead of ``edges``: 2 to 1000 bins, with about equally many values in each. A quarter of
        the cost goes to the edges between them, which are quantiles as those of
        :func:`modicum.query.quantiles`; two that are equal are one.
    within : (float, float), optional
        With ``bins``: a public range certain to contain every value; its ends are the outer edges.
        Without one a range is found, and the outer edges are ``-inf`` and ``inf``.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values, and the points or edges, are rounded to multiples of it. By
        default the finest that fits, some 10^-15 of the largest of them.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        edges out of order, too many or not finite; not one of edges and bins; edges beside
        ``within``; bins out of range; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. Counts are cut at 0.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> found = modicum.histogram(np.arange(20_000.0), edges=[0, 5000, 20_000], epsilon=1)
    >>> found.values.round(-3).tolist()
    [5000.0, 15000.0]
    """

def huber(
    table: Any,
    column: str | None = None,
    *,
    width: float | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release Huber's location of a column: a mean in which far records count as near ones.

    The t at which the sum of x - t, clipped to ±width, is 0. Prefer it over the mean if outliers
    are errors, and over the median if the middle of the data is smooth: nothing is clipped away,
    and the noise follows the width and not the tails.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    width : float, optional
        In the unit of the data. Records further than this from the answer pull with a constant
        force. Without it, twice the median distance from the median is used, found privately to
        the next 19 % for 3 % of the cost, and shown on the release: about 1.35 standard
        deviations of normal data, the usual choice.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take up to half of the cost.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If the width is not positive, or level out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The mechanism is that of :func:`modicum.query.expectile` on the whole range: the score is
    bounded, so no private bounds are needed. The interval assumes nothing.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.huber(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 9900 < release.value < 10100
    True
    """

def iqr(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    between: tuple[Number, Number] = ("1/4", "3/4"),
    level: float | None = 0.95,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the interquartile range of a column, with no bounds to guess.

    Prefer it over a standard deviation where tails are heavy: each quartile is near in rank,
    whatever the range, and no record is clipped.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
        Each quantile has half of it.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    between : (number, number)
        Which quantiles, each strictly between 0 and 1: ``("0.1", "0.9")`` for the distance of the
        outer deciles. Each is estimated as :func:`modicum.query.quantile` says.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take 44 % of the cost, and the interval without them has the width of the range.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If ``between`` does not increase, or a number is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    If the two quantiles come out in the wrong order, as they may where nearly all records are
    equal, the answer is 0.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.iqr(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 9700 < release.value < 10300
    True
    """

def linear_regression(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    target: str | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    population: bool = False,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release a linear regression of one column on others, with no bounds to guess.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    columns : list of str, optional
        Names of the explaining columns of a table, at most 499. Leave it and ``target`` out for an
        array of shape (n, d): its last column is explained by the others.
    target : str, optional
        Name of the explained column.
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
        How it is spent is as for :func:`covariance`.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    population : bool
        Whether the rows are a random sample, and ``release.confidence_interval()`` is wanted, for
        the coefficients of least squares of the population that they come from, whatever the spread
        of the residuals depends on. It takes at most 8 % of what the last step of the fit has.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is
        one privacy unit more or less. The number of rows is private too.
        The answer is the intercept and the slopes.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If names are not different or no text, or the range exceeds ±1e150; if there are columns
        without a target or the reverse, or a target among the columns.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
    the range. Errors never depend on values.

    Singular data are no error. With rows times ε of 200 times the square of the number of
    explaining columns or more, noisy products of columns give a first fit, and noisy sums of what
    each row pulls it with, its residual times its columns, the step from there to least squares;
    columns whose spread is lost in the noise have slope 0, and ``release.status`` says so. With
    fewer rows, a fit is drawn from public lists by its squared residuals, each cut off at a public
    part of the released spread; then ``release.method`` is ``"listed fits"``, the code
    ``"unseen"``, and intervals have no ends. ``interval()`` is for least squares of these rows, and
    ``confidence_interval()``, with ``population=True``, for that of their population.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
    >>> x[:, 1] += 70 * x[:, 0]
    >>> found = modicum.linear_regression(x, within=(-1e6, 1e6), epsilon=1)
    >>> found.labels, 40 < found[1] < 100
    (('intercept', 'column 0'), True)
    """

def lp_center(
    table: Any,
    column: str | None = None,
    *,
    p: float,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the t with the least sum of ``|x - t|^p``, with no bounds to guess.

    p = 1 is the median and p = 2 the mean: those queries are made then, and ``level`` is not used
    for p = 2. Prefer a p between them for something between them; a p above 2 leans towards the
    middle of the extremes, and its answers are as noisy as those are far.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    p : float
        From 1 to 8.
    within : (float, float)
        A public range certain to contain every value, as wide as you like, such as
        ``(-1e9, 1e9)``. It is no clipping bound to guess, and a far wider one costs little.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take up to half of the cost.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If p or level is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The mechanism is that of :func:`modicum.query.expectile`. For p >= 4 the default interval is the
    public range: data with tails of index 3 need not have such a location.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.lp_center(np.arange(20_000.0), p=1.5, within=(-1e9, 1e9), epsilon=1)
    >>> 9900 < release.value < 10100
    True
    """

def max(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release a point that next to no record of a column exceeds: its maximum, nearly.

    One record decides a maximum, so no private method can tell it. What is released is about the
    least point that no more than a few records exceed, or a point not far beyond all of them. It
    is right in scale, often to a tenth of the distance from the median; for a sharper number
    ask for a high quantile.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    A tail of index a leaves about 15 / (a ε) records beyond the point. With confidence 1 - α, and
    no assumption, they are at most (15 ln(range / distance) + ln(1000 / α)) / ε, about;
    ``interval`` is for the largest record, if those beyond the point become rare as those before
    it do. Fewer than some 300/ε records have no usable answer.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.max(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 18000 < release.value < 100000
    True
    """

def mean(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "subset", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    population: bool = False,
    weights: str | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the mean of a column, with no bounds to guess.

    Prefer it over any mean that needs clipping bounds: the noise follows the spread that the
    data have, not the range.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    method : {"adaptive", "subset", "bounded"}
        ``"adaptive"`` is the accurate default; ``"subset"`` is Algorithm 3 of Dick et al. 2023,
        corrected, with its optimality theorem; ``"bounded"`` looks for nothing and scales its noise
        to the range (Kulesza, Suresh and Wang 2023, Algorithm 3), which is best if that is
        given, and known to be tight: the default is hardly worse then, and much better otherwise.
    clusters : {"clip", "keep"}
        ``"keep"`` spends more on the clipping bounds so that a smaller distant cluster of
        records is kept, at some cost in accuracy otherwise.
    population : bool
        Whether the rows are a random sample, and ``release.confidence_interval()`` is wanted,
        for the mean of the population that they come from. It takes the variance of the clipped
        data, for 8 % of ε or less, the less the more rows there are.
    weights : str, optional
        Name of a column of weights, of any scale: row i counts w_i times. A row counts if its
        weight is finite and more than 0; all other rows are dropped, as those without a value.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If weights come without a column, or with another method or ``clusters``.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.mean(np.arange(20_000.0), epsilon=1)
    >>> 9900 < release.value < 10100
    True
    """

def mean_vector(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "shifted"] = "adaptive",
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release the means of several columns, with noise on the scale of the rows' own spread.

    Prefer it over a mean for each column from a handful of columns on: a row is clipped as a
    whole, so the noise of all means together grows with the number of columns, not faster.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    columns : list of str, optional
        Names of numeric columns of a table, at most 65,536. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
        The noise follows the distances between rows.
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
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    method : {"adaptive", "shifted"}
        "shifted" is the shifted clipped mean of Huang, Liang and Yi (2021), for comparison: in
        zCDP only. A median in each rotated coordinate takes a question for each halving of the
        range down to the step, each of which is a pass over the rows and costs accuracy.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is
        one privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If there are no names, or names that are not different or no text.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
    the range. Errors never depend on values.

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
    columns are better released one by one there.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
    >>> found = modicum.mean_vector(x, within=(-1e9, 1e9), rho="0.5")
    >>> found.shape, found.values.round(-1).tolist()
    ((2,), [0.0, 500.0])
    """

def median(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the median of a column, with no bounds to guess.

    It is the :func:`quantile` with q = 1/2.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take 44 % of the cost.
    population : bool
        Whether the rows are a random sample: the ends of the interval are then drawn so far out
        that it holds the quantile of the population that they come from too, and are
        ``release.confidence_interval()``. It needs a ``level``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If level is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.median(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 9800 < release.value < 10200
    True
    """

def min(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release a point that next to no record of a column is below: its minimum, nearly.

    What is estimated is as for :func:`max`, with all signs reversed.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.min(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> -80000 < release.value < 2000
    True
    """

def monotone_statistic(
    table: Any,
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
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release a statistic supplied by you that never falls when a record is raised.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    statistic : Score or Boundaries
        Either a :class:`modicum.Score`: a function ψ, and the statistic is the t at which the sum
        of ψ(x - t) over the records is 0. Privacy does not depend on ψ: it is tabulated, and a
        table that falls somewhere is made level there. Or an instance of a subclass of
        :class:`modicum.Boundaries`: how low and how high k changed records can bring the
        statistic. Privacy depends on those being right.
    within : (float, float)
        A public range certain to contain every value, as wide as you like, such as
        ``(-1e9, 1e9)``. It is no clipping bound to guess, and a far wider one costs little.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take a fifth of the cost.
    method : {"inverse-sensitivity", "subset"}
        ``"subset"`` is Algorithm 4 of Dick, Kulesza, Sun and Suresh 2023, corrected, with the
        constants of its theorem: thousands of records are left out on each side. It is for a pure
        ε and draws no interval: give ``level=None``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.
        With boundaries supplied by you it holds if they keep their promise.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If level is out of range; if the statistic fails at public points: a ψ that is not finite,
        not 0 at 0 or falls, boundaries that break their promise for a few records;
        ``method="subset"`` with a ρ or with a level.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The mechanism is that of :func:`modicum.query.expectile`. If the statistic says ``growth=0``, no
    record is clipped; otherwise those beyond two private bounds are.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.monotone_statistic(np.arange(20_000.0), statistic=modicum.Score('cube', lambda v: v**3, growth=3), within=(-1e9, 1e9), epsilon=1)
    >>> 9500 < release.value < 10500
    True
    """

def pca(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    components: int,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release the leading principal components of several columns, with no bounds to guess.

    They are those of a released covariance matrix, see :func:`covariance`; charged in ρ, of one
    whose columns share one half-width if rows are too few for an interval in each.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    components : int
        How many; no more than there are columns are returned.
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
        How it is spent is as for :func:`covariance`.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is
        one privacy unit more or less. The number of rows is private too.
        The answer is unit vectors, shape (components, columns). Its release also has the variance
        along each, ``error_model.explained_variance``, and about the largest that noise alone would
        show, ``error_model.noise_size``.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If components is no whole number of at least 1; if names are not different or no text, or
        the range exceeds ±1e150.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
    the range. Errors never depend on values.

    Far values are as for :func:`covariance`.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
    >>> found = modicum.pca(x, components=1, within=(-1e6, 1e6), epsilon=1)
    >>> abs(found.values.round(1)).tolist()
    [[0.0, 1.0]]
    """

def quantile(
    table: Any,
    column: str | None = None,
    *,
    q: Number,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the q-quantile of a column, with no bounds to guess.

    The value is near in rank: at ε = 1 usually within three ranks of q n, whatever the range,
    so its error is that of a few neighbouring records. Prefer it over a mean where tails are
    heavy, or where few records may decide nothing.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    q : int, float, Fraction, decimal string
        Strictly between 0 and 1. A float is read as its shortest decimal. Estimated is any point
        t with ``#{x < t} <= q n <= #{x <= t}``: for q = 1/2 any point between the two middle
        records.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take 44 % of the cost.
    population : bool
        Whether the rows are a random sample: the ends of the interval are then drawn so far out
        that it holds the quantile of the population that they come from too, and are
        ``release.confidence_interval()``. It needs a ``level``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If q or level is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The rank error exceeds (2 m / ε') ln(N / β) with probability at most β, with m = max(q, 1 - q),
    ε' the share of the draw, and N the number of lattice points of the range. The level of the
    interval is measured, on many kinds of data: beside a gap between values that lie far apart, and
    of few records, it may be less.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.quantile(np.arange(20_000.0), q=0.9, within=(-1e9, 1e9), epsilon=1)
    >>> 17800 < release.value < 18200
    True
    """

def quantiles(
    table: Any,
    column: str | None = None,
    *,
    q: Sequence[Number],
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release several quantiles of a column at once, with no bounds to guess.

    They are in increasing order. Prefer it over a :func:`quantile` for each: nine cost about as
    much, for the same rank error, as three or four alone. Two to twelve are drawn all at once if a
    noisy number of records tells that there are enough, and otherwise one between others.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    q : sequence of int, float, Fraction, decimal string
        At most 1000, increasing, strictly between 0 and 1. Estimated are points t with
        ``#{x < t} <= q n <= #{x <= t}``.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the edges of the cells are placed whose counts give simultaneous
        intervals, 0.95 or more. They hold at any level. They take 25/32 of the cost and move the
        points, 3/8 and two fifths where records are fewer. ``None``: nothing is counted, points are
        nearer to their quantiles by a quarter to two fifths, and each interval is the public range.
    population : bool
        Whether the rows are a random sample: some of the edges are then placed so far out that
        ``release.confidence_interval()`` holds the quantiles of the population that they come from
        too, all at once. It takes two quantiles or more, a ``level``, and nothing of the cost.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If q is out of range or order, or level out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    At ε = 1 the mean rank error is about 1 for one, 4 for nine and 7 for 29 quantiles. Where there
    are 300 records or more between neighbours, an interval of five quantiles holds some 45
    records, and one of 29 some 80. One quantile alone has a useful interval as :func:`quantile`
    only. The mechanisms follow Gillenwater, Joseph and Kulesza 2021 (two to twelve quantiles, at
    least 14/ε records between any two) and Kaplan, Schnapp and Stemmer 2022.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> found = modicum.quantiles(
    ...     np.arange(20_000.0), q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1
    ... )
    >>> found.values.round(-3).tolist()
    [5000.0, 10000.0, 15000.0]
    """

def ratio(
    table: Any,
    column: str,
    denominator: str,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the ratio of the sums of two columns, with no bounds to guess.

    Prefer it over a quotient of two sums: the noise follows how far the rows are from the ratio,
    which goes to nothing where ``column`` is a multiple of ``denominator``.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str
        Name of the numeric column whose sum is divided.
    denominator : str
        Name of the numeric column by whose sum it is divided.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the names are equal or no text; if there is no cost, more than one, or one that is not
        positive.

    Notes
    -----
    A row without a finite number in both columns is dropped. Numbers may have any scale and both
    signs; where the sum of the denominators may be 0 for all that is known, the interval has no
    ends and ``release.status`` says so. Errors never depend on values.

    Examples
    --------
    >>> import numpy as np, pandas as pd, modicum
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame({"earned": rng.lognormal(10, 1, 20_000)})
    >>> table["spent"] = table["earned"] * rng.uniform(0.5, 0.9, 20_000)
    >>> release = modicum.ratio(table, "spent", "earned", epsilon=1)
    >>> 0.69 < release.value < 0.71
    True
    """

def skewness(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the skewness of a column, with no bounds to guess.

    It is the mean of the cubed distances from the mean, divided by the cube of the standard
    deviation, as ``scipy.stats.skew`` is; 0 if all values are equal.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Values far out are clipped, as for a variance, and may decide a skewness: the default interval
    allows for a tail of index 4; ``interval(tail=8)`` is for data that are known to be lighter,
    ``interval(tail=None)`` for the clipped data, and of a tail of index 3 there is no skewness.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.skewness(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> -0.2 < release.value < 0.2
    True
    """

def std(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the standard deviation of a column, with no bounds to guess.

    It is the root of the variance, see :func:`var`.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.std(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 5700 < release.value < 5850
    True
    """

def sum(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    weights: str | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the sum of a column, with no bounds to guess.

    A sum moves by the size of one record, so its noise follows the size of the largest values, not
    their spread.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    method : {"adaptive", "bounded"}
        ``"bounded"`` looks for nothing and scales its noise to the range, as for
        :func:`modicum.query.mean`.
    clusters : {"clip", "keep"}
        ``"keep"`` spends more on the clipping bounds so that a smaller distant cluster of
        records is kept, at some cost in accuracy otherwise.
    weights : str, optional
        Name of a column of weights, of any scale: row i counts w_i times. A row counts if its
        weight is finite and more than 0; all other rows are dropped, as those without a value.
        The sum is that of weight times value, and so are ``within`` and ``step``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If weights come without a column, or with another method or ``clusters``.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.sum(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 190000000.0 < release.value < 210000000.0
    True
    """

def trimmed_mean(
    table: Any,
    column: str | None = None,
    *,
    trim: Number,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release a trimmed mean of a column, with no bounds to guess.

    Of n records the floor(trim n) lowest and as many highest are left out, and the mean of the
    others is estimated; what ``scipy.stats.trim_mean`` computes. Its noise is about as wide as
    that of a mean of data within the two cuts, whatever lies beyond. Prefer it over a mean where a
    few records are errors, or say little about the others; over a median where the middle half
    of the records should count.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    trim : int, float, Fraction, decimal string
        Share of the records left out on each side, strictly between 0 and 1/2. A float is read
        as its shortest decimal.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
        At ε = 1 and ±1e9 some 110 records should be trimmed on each side; the status says if they
        are not.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the radius of the interval is drawn, 0.95 or more; it takes
        38 % of the cost. ``None``: no radius, the answer is more accurate, and its
        interval is the public range.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If trim or level is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    Inverse sensitivity mechanism (Asi and Duchi 2020) with a length that is exact for a share of
    a private number of records, and linear between its levels (Durfee 2025).

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.trimmed_mean(np.arange(20_000.0), trim=0.1, within=(-1e9, 1e9), epsilon=1)
    >>> 9900 < release.value < 10100
    True
    """

def var(
    table: Any,
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release the variance of a column, with no bounds to guess.

    It is the mean of the squared distances from the mean, divided by n and not by n - 1, as
    ``numpy.var`` is.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If the range exceeds ±1e150, whose square is too large for a number.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The noise follows the square of the largest distances from the mean that more than a few records
    have; what lies beyond is clipped, which makes heavy tails look lighter than they are.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.var(np.arange(20_000.0), within=(-1e9, 1e9), epsilon=1)
    >>> 32000000.0 < release.value < 35000000.0
    True
    """

def vector_statistic(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    statistic: Sensitivities,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ArrayRelease:
    """Release a vector statistic supplied by you, with noise on the scale of its local sensitivity.

    It is for statistics of which you know how far one row can move them, on the data and on data
    near them, and nothing else. Prefer :func:`modicum.query.monotone_statistic` for a monotone
    statistic of one column, and what the library has for means, covariances and components.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    columns : list of str, optional
        Names of numeric columns of a table, as many as the statistic is of. Leave it out for an
        array of shape (n, d).
    statistic : Sensitivities
        An instance of a subclass of :class:`modicum.Sensitivities`. Privacy depends on its
        sensitivities being right.
    within : (float, float)
        A public range certain to contain every value of every column. How wide it is matters as
        much as the statistic lets it.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    ArrayRelease
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.
        It holds if the sensitivities keep their promise. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If the statistic is not an instance of a subclass, is of another number of columns, or its
        sensitivities break their promise for a few rows; if names are not different or not text.

    Notes
    -----
    A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
    the range. Errors never depend on values.

    All rows are held in memory, so a table in Spark or Dask is refused: collect its columns first.
    If the statistic fails on the data, all values are drawn about the middle of the range with the
    widest noise: no error may tell of data. The mechanism is the approximate inverse sensitivity
    mechanism (Asi and Duchi 2020, M.2), without the cap of their Algorithm 1; all arithmetic that
    privacy rests on is in integers. There is no interval: how wide the noise is depends on the
    data.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> class Mean(modicum.Sensitivities):
    ...     name, labels = "mean", ("mean",)
    ...
    ...     def value(self, rows, lo, hi):
    ...         return rows.mean(axis=0) if len(rows) else np.array([(lo + hi) / 2])
    ...
    ...     def sensitivities(self, rows, lo, hi, levels):
    ...         return (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
    >>> x = np.arange(10_000.0)
    >>> found = modicum.vector_statistic(x, statistic=Mean(), within=(0, 1e4), epsilon=1)
    >>> found.labels, 4900 < found[0] < 5100
    (('mean',), True)
    """

def winsorized_mean(
    table: Any,
    column: str | None = None,
    *,
    trim: Number,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Release a winsorized mean of a column, with no bounds to guess.

    Of n records the floor(trim n) lowest are replaced by the lowest of the others, as many
    highest by the highest of the others, and the mean of all n is estimated. Prefer it over
    :func:`trimmed_mean` where the records beyond the cuts should count as low and high, though
    not by how much.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a file: what a :class:`Curator` takes.
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    trim : int, float, Fraction, decimal string
        Share of the records replaced on each side, strictly between 0 and 1/2. A float is read as
        its shortest decimal.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
        It is as for :func:`trimmed_mean`.
    epsilon, rho, budget : number, number, Budget
        Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
        Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        As for :func:`trimmed_mean`.
    where : str, optional
        Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Release
        Guarantee: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        If the range is reversed, empty or not finite; if the step is too fine or too coarse
        for it; if there is no cost, more than one, or one that is not positive.
        If trim or level is out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values.

    The mechanism is that of :func:`trimmed_mean`.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> release = modicum.winsorized_mean(np.arange(20_000.0), trim=0.1, within=(-1e9, 1e9), epsilon=1)
    >>> 9900 < release.value < 10100
    True
    """
