"""Predict the error of a release, or the ε or the number of rows it needs, without any data.

A plan runs the estimator itself on synthetic tables of a stated shape and size. It reads no data
and costs nothing; it is the same for the same arguments. There is a plan for each statistic;
:func:`release` takes the query function as an argument.

>>> from modicum import plan, query
>>> found = plan.mean(within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
>>> found.error < found.sampling_error
True
>>> found == plan.release(query.mean, within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
True
"""

from collections.abc import Sequence
from typing import Literal

from modicum.plan.shapes import ShapeName
from modicum.plan.statistics import release as release
from modicum.plan.summary import Plan as Plan
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit
from modicum.statistics.ranges.split import Clusters
from modicum.statistics.robust.monotone_statistic import MonotoneStatistic

__all__ = [
    "Plan",
    "cdf",
    "clipped_mean_vector",
    "count",
    "covariance",
    "expectile",
    "geometric_mean",
    "histogram",
    "huber",
    "iqr",
    "linear_regression",
    "lp_center",
    "max",
    "mean",
    "mean_vector",
    "median",
    "min",
    "monotone_statistic",
    "pca",
    "quantile",
    "quantiles",
    "release",
    "skewness",
    "std",
    "sum",
    "trimmed_mean",
    "var",
    "winsorized_mean",
]

def cdf(
    *,
    points: Sequence[float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a distribution function: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    points : sequence of float
        Public, increasing, finite, at most 10,000; not taken from the data.
    step : float, optional
        A power of two: values, and the points or edges, are rounded to multiples of it. By
        default the finest that fits, some 10^-15 of the largest of them.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = cdf(points=[5, 10, 20], sd=10, n=20_000, epsilon=1)
    >>> 0 < found.error < 0.001
    True
    """

def clipped_mean_vector(
    *,
    within: tuple[float, float] | None = None,
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a mean vector clipped about 0: the error, or the ε or the number of rows that an error needs.

    The noise grows with the distance of the rows from 0, so with ``mean``.

    The error is the L2 distance of all means together, in the unit of the data.

    At most 2^24 numbers are made up; with more rows the error falls like 1/n.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost accuracy.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> guess = dict(within=(-1e9, 1e9), sd=[1.0] * 4, n=2000, rho="0.5")
    >>> clipped_mean_vector(**guess).error < clipped_mean_vector(**guess, mean=100).error
    True
    """

def count(
    *,
    n: int = 10000,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a count: the error, or the ε that an error needs.

    ``n`` matters only if it is as small as the noise: a count is never negative.

    Give the cost or ``error``: the other is found.

    Parameters
    ----------
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> round(count(epsilon="0.1").error)
    10
    >>> 0.09 < count(error=10).epsilon < 0.11
    True
    """

def covariance(
    *,
    within: tuple[float, float] | None = None,
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a covariance matrix: the error, or the ε or the number of rows that an error needs.

    The error is the mean error of an entry, in standard deviations of its two columns.

    At most 2^21 numbers are made up; with more rows the error falls like 1/n.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost accuracy.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = covariance(within=(-1e6, 1e6), sd=[1.0, 50.0], n=20_000, epsilon=1)
    >>> 0 < found.error < 0.1
    True
    """

def expectile(
    *,
    tau: float,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan an expectile: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    tau : float
        From 0.001 to 0.999.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take up to half of the cost.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = expectile(tau=0.9, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 50 < found.error < 5000
    True
    """

def geometric_mean(
    *,
    within: tuple[float, float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a geometric mean: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float)
        A public range with 0 < lowest, as wide as you like, such as ``(0.01, 1e12)``. Values below
        the lowest, zeros and negative values among them, count as the lowest, whatever the data
        are; so choose the lowest value that means something, such as a detection limit. It is not
        found for you: with zeros in the column the answer depends on it.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = geometric_mean(within=(1, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 1e3
    True
    """

def histogram(
    *,
    edges: Sequence[float] | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a histogram: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
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
    step : float, optional
        A power of two: values, and the points or edges, are rounded to multiples of it. By
        default the finest that fits, some 10^-15 of the largest of them.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> round(histogram(edges=[0, 10, 20, 30], sd=10, n=2_000, epsilon="0.1").error)
    10
    >>> round(histogram(bins=10, within=(0, 1e6), sd=10, n=2_000, epsilon="0.1").error)
    13
    """

def huber(
    *,
    width: float | None = None,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan Huber's location: the error, or the ε or the number of rows that an error needs.

    Without a width it is against the location with the width that was released.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
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
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take up to half of the cost.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = huber(width=5e4, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """

def iqr(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    between: tuple[Number, Number] = ("1/4", "3/4"),
    level: float | None = 0.95,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan an interquartile range: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
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
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = iqr(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """

def linear_regression(
    *,
    within: tuple[float, float] | None = None,
    sd: Sequence[float],
    r2: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    target_sd: float = 1.0,
    step: float | None = None,
    population: bool = False,
    unit: Unit | None = None,
) -> Plan:
    """Plan a linear regression: the error, or the ε or the number of rows that an error needs.

    The error is the share of the explained variance, R², that is lost.

    At most 2^21 numbers are made up; with more rows the error falls like 1/n.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    population : bool
        Whether the rows are a random sample, and ``release.confidence_interval()`` is wanted, for
        the coefficients of least squares of the population that they come from, whatever the spread
        of the residuals depends on. It takes at most 8 % of what the last step of the fit has.
    sd, correlation, mean
        As for :func:`modicum.plan.covariance`, of the explaining columns. The explained one depends
        on all of them alike.
    r2 : float
        A guess of the share of the explained column's variance that they explain, in (0, 1).
    target_sd : float
        A guess of the explained column's standard deviation.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = linear_regression(within=(-1e6, 1e6), sd=[1, 9], r2=0.5, n=5000, epsilon=1)
    >>> 0 < found.error < 0.1
    True
    """

def lp_center(
    *,
    p: float,
    within: tuple[float, float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a location by p-th powers: the error, or the ε or the number of rows that an error needs.

    For p = 2 better plan a mean.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    p : float
        From 1 to 8.
    within : (float, float)
        A public range certain to contain every value, as wide as you like, such as
        ``(-1e9, 1e9)``. It is no clipping bound to guess, and a far wider one costs little.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
        no ends, the answer is more accurate, and its interval is the public range.
        The ends take up to half of the cost.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = lp_center(p=1.5, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """

def max(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a maximum: the error, or the ε that an error needs.

    More rows do not make it smaller.

    Give ``n``, and the cost or ``error``: the other is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = max(within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1, shape="normal")
    >>> 1e3 < found.error < 1e5
    True
    """

def mean(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    method: Literal["adaptive", "subset", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    population: bool = False,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a mean: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
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
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = mean(sd=5e4, n=20_000, error=500)
    >>> 0.01 < found.epsilon < 10 and found.error <= 500
    True
    """

def mean_vector(
    *,
    within: tuple[float, float] | None = None,
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan the means of several columns: the error, or the ε or the number of rows that an error needs.

    The error is the L2 distance of all means together, in the unit of the data.

    At most 2^24 numbers are made up; with more rows the error falls like 1/n.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
        The noise follows the distances between rows.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost accuracy.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = mean_vector(within=(-1e9, 1e9), sd=[1.0] * 16, n=4000, rho="0.5")
    >>> 0.004 < found.error < 0.02
    True
    """

def median(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
    unit: Unit | None = None,
) -> Plan:
    """Plan a median: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
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
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = median(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> found.error < quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1).error
    True
    """

def min(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a minimum: the error, or the ε that an error needs.

    More rows do not make it smaller.

    Give ``n``, and the cost or ``error``: the other is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = min(within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1, shape="normal")
    >>> 1e3 < found.error < 1e5
    True
    """

def monotone_statistic(
    *,
    statistic: MonotoneStatistic,
    within: tuple[float, float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan your own statistic: the error, or the ε or the number of rows that an error needs.

    The synthetic data have it where the sum of a score is 0, or in the middle of level 0 of
    boundaries, which are asked for tables as large as planned.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    statistic : Score or Boundaries
        Either a :class:`modicum.Score`: a function ψ, and the statistic is the t at which the sum
        of ψ(x - t) over the records is 0. Privacy does not depend on ψ: it is tabulated, and a
        table that falls somewhere is made level there. Or an instance of a subclass of
        :class:`modicum.Boundaries`: how low and how high k changed records can bring the
        statistic. Privacy depends on those being right.
    within : (float, float)
        A public range certain to contain every value, as wide as you like, such as
        ``(-1e9, 1e9)``. It is no clipping bound to guess, and a far wider one costs little.
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
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Score
    >>> smooth = Score("smooth median", lambda v: np.tanh(v / 1e4), growth=0, width=3e4)
    >>> found = monotone_statistic(statistic=smooth, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """

def pca(
    *,
    components: int,
    within: tuple[float, float] | None = None,
    sd: Sequence[float],
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    correlation: float = 0.0,
    mean: float = 0.0,
    step: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan principal components: the error, or the ε or the number of rows that an error needs.

    The error is the share of the variance along the best components that these lack.

    At most 2^21 numbers are made up; with more rows the error falls like 1/n.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    components : int
        How many; no more than there are columns are returned.
    within : (float, float), optional
        A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
        It need not be tight, and columns may differ in scale and in place. By default one that
        holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
        its step follows the column with the largest values.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost accuracy.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = pca(components=1, within=(-1e6, 1e6), sd=[9, 1, 1], n=5000, epsilon=1)
    >>> 0 < found.error < 0.1
    True
    """

def quantile(
    *,
    q: Number,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
    unit: Unit | None = None,
) -> Plan:
    """Plan a quantile: the error, or the ε or the number of rows that an error needs.

    It depends on how dense the records are there, so the shape and the mean matter.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    q : int, float, Fraction, decimal string
        Strictly between 0 and 1. A float is read as its shortest decimal. Estimated is any point
        t with ``#{x < t} <= q n <= #{x <= t}``: for q = 1/2 any point between the two middle
        records.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
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
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """

def quantiles(
    *,
    q: Sequence[Number],
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan several quantiles: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    q : sequence of int, float, Fraction, decimal string
        At most 1000, increasing, strictly between 0 and 1. Estimated are points t with
        ``#{x < t} <= q n <= #{x <= t}``.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
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
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = quantiles(q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """

def skewness(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a skewness: the error, or the ε or the number of rows that an error needs.

    The largest records decide, so the shape matters even more than for a variance.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = skewness(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> 0 < found.error < 0.1
    True
    """

def std(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a standard deviation: the error, or the ε or the number of rows that an error needs.

    The largest records decide, so the shape matters more than for a mean.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = std(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> 0 < found.error < 0.005 * 5e4
    True
    """

def sum(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    method: Literal["adaptive", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a sum: the error, or the ε that an error needs.

    More rows do not make it smaller.

    Give ``n``, and the cost or ``error``: the other is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    method : {"adaptive", "bounded"}
        ``"bounded"`` looks for nothing and scales its noise to the range, as for
        :func:`modicum.query.mean`.
    clusters : {"clip", "keep"}
        ``"keep"`` spends more on the clipping bounds so that a smaller distant cluster of
        records is kept, at some cost in accuracy otherwise.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = sum(within=(0, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1e5 < found.error < 5e6
    True
    """

def trimmed_mean(
    *,
    trim: Number,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> Plan:
    """Plan a trimmed mean: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
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
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        Confidence level at which the radius of the interval is drawn, 0.95 or more; it takes
        38 % of the cost. ``None``: no radius, the answer is more accurate, and its
        interval is the public range.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = trimmed_mean(trim=0.1, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """

def var(
    *,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    rows_each: float | None = None,
    unit: Unit | None = None,
) -> Plan:
    """Plan a variance: the error, or the ε or the number of rows that an error needs.

    The largest records decide, so the shape matters more than for a mean.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = var(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    >>> 0 < found.error < 0.01 * 5e4**2
    True
    """

def winsorized_mean(
    *,
    trim: Number,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> Plan:
    """Plan a winsorized mean: the error, or the ε or the number of rows that an error needs.

    Give two of the cost, ``n`` and ``error``: the third is found.

    Parameters
    ----------
    trim : int, float, Fraction, decimal string
        Share of the records replaced on each side, strictly between 0 and 1/2. A float is read as
        its shortest decimal.
    within : (float, float), optional
        A public range certain to contain every value. By default it is found privately, for
        about 5 % of the cost, more in small tables, and one pass more: a power of two, far
        beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
        that, and helps if there are few records.
        It is as for :func:`trimmed_mean`.
    step : float, optional
        A power of two: values are rounded to multiples of it. By default the finest for the
        range (2^-21 for ±1e9). It needs ``within``.
    level : float or None
        As for :func:`trimmed_mean`.
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.

    Examples
    --------
    >>> found = winsorized_mean(trim=0.1, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 200
    True
    """
