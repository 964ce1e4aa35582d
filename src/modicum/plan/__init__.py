"""Predict the error of a release, or the ε or the number of rows it needs, without any data.

A plan runs the estimator itself on synthetic tables of a stated shape and size. It reads no data
and costs nothing; it is the same for the same arguments.

>>> from modicum import plan
>>> found = plan.mean(within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
>>> found.error < found.sampling_error
True
"""

from __future__ import annotations

from modicum.plan.card import (
    BinsPlan,
    CountPlan,
    CutsPlan,
    MeanPlan,
    Plan,
    QuantilePlan,
    QuantilesPlan,
    SpreadPlan,
    SumPlan,
    TrimmedPlan,
)
from modicum.plan.columns_plan import ColumnsPlan
from modicum.plan.count import count
from modicum.plan.cuts import cdf
from modicum.plan.extreme import maximum, minimum
from modicum.plan.histogram import histogram
from modicum.plan.iqr import iqr
from modicum.plan.location import expectile, huber_location, lp_location
from modicum.plan.mean import mean
from modicum.plan.mean_vector import clipped_mean_vector, mean_vector
from modicum.plan.moments import covariance, linear_regression, pca
from modicum.plan.monotone import monotone
from modicum.plan.quantile import median, quantile
from modicum.plan.quantiles import quantiles
from modicum.plan.sum import sum
from modicum.plan.trimmed import trimmed_mean, winsorized_mean
from modicum.plan.variance import std, variance

__all__ = [
    "BinsPlan",
    "ColumnsPlan",
    "CountPlan",
    "CutsPlan",
    "MeanPlan",
    "Plan",
    "QuantilePlan",
    "QuantilesPlan",
    "SpreadPlan",
    "SumPlan",
    "TrimmedPlan",
    "cdf",
    "clipped_mean_vector",
    "count",
    "covariance",
    "expectile",
    "histogram",
    "huber_location",
    "iqr",
    "linear_regression",
    "lp_location",
    "maximum",
    "mean",
    "mean_vector",
    "median",
    "minimum",
    "monotone",
    "pca",
    "quantile",
    "quantiles",
    "std",
    "sum",
    "trimmed_mean",
    "variance",
    "winsorized_mean",
]
