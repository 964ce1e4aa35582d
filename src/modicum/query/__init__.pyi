"""Queries of a table: checked, not yet answered.

``curator.release(income=modicum.query.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile``,
``median`` and so on, and the methods of :class:`modicum.Curator`, take the same arguments.

A query function is part of the chapter of its statistic, which is imported when it is first used.
"""

from modicum.papers.huang2021 import clipped_mean_vector as clipped_mean_vector
from modicum.runtime.query import Query as Query
from modicum.statistics.count import count as count
from modicum.statistics.covariance import covariance as covariance
from modicum.statistics.covariance import pca as pca
from modicum.statistics.extreme import max as max
from modicum.statistics.extreme import min as min
from modicum.statistics.geometric_mean import geometric_mean as geometric_mean
from modicum.statistics.histogram import cdf as cdf
from modicum.statistics.histogram import histogram as histogram
from modicum.statistics.iqr import iqr as iqr
from modicum.statistics.location import expectile as expectile
from modicum.statistics.location import huber as huber
from modicum.statistics.location import lp_center as lp_center
from modicum.statistics.mean import mean as mean
from modicum.statistics.mean_vector import mean_vector as mean_vector
from modicum.statistics.monotone import monotone_statistic as monotone_statistic
from modicum.statistics.quantile import median as median
from modicum.statistics.quantile import quantile as quantile
from modicum.statistics.quantiles import quantiles as quantiles
from modicum.statistics.regression import linear_regression as linear_regression
from modicum.statistics.skewness import skewness as skewness
from modicum.statistics.spread import std as std
from modicum.statistics.spread import var as var
from modicum.statistics.sum import sum as sum
from modicum.statistics.trimmed import trimmed_mean as trimmed_mean
from modicum.statistics.trimmed import winsorized_mean as winsorized_mean
from modicum.statistics.vector_statistic import vector_statistic as vector_statistic

__all__ = [
    "Query",
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
    "skewness",
    "std",
    "sum",
    "trimmed_mean",
    "var",
    "vector_statistic",
    "winsorized_mean",
]
