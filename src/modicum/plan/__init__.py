"""Predict the error of a release, or the ε or the number of rows it needs, without any data.

A plan runs the estimator itself on synthetic tables of a stated shape and size. It reads no data
and costs nothing; it is the same for the same arguments. There is a plan for each statistic;
:func:`release` takes the question as an argument.

>>> from modicum import plan, query
>>> found = plan.mean(within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
>>> found.error < found.sampling_error
True
>>> found == plan.release(query.mean, within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
True
"""

from __future__ import annotations

from modicum.plan.statistics import (
    cdf,
    clipped_mean_vector,
    count,
    covariance,
    expectile,
    histogram,
    huber,
    iqr,
    linear_regression,
    lp_center,
    max,
    mean,
    mean_vector,
    median,
    min,
    monotone_statistic,
    pca,
    quantile,
    quantiles,
    release,
    std,
    sum,
    trimmed_mean,
    var,
    winsorized_mean,
)
from modicum.plan.summary import Plan

__all__ = [
    "Plan",
    "cdf",
    "clipped_mean_vector",
    "count",
    "covariance",
    "expectile",
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
    "std",
    "sum",
    "trimmed_mean",
    "var",
    "winsorized_mean",
]
