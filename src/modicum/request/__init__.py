"""Questions to ask of a table, checked but not yet answered.

``curator.together(income=modicum.request.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile``,
``median`` and so on, and the methods of :class:`modicum.Curator`, take the same arguments.
"""

from __future__ import annotations

from modicum.request.cdf import cdf
from modicum.request.extreme import maximum, minimum
from modicum.request.histogram import histogram
from modicum.request.iqr import iqr
from modicum.request.location import expectile, huber_location, lp_location
from modicum.request.mean_vector import clipped_mean_vector, mean_vector
from modicum.request.moments import covariance, linear_regression, pca
from modicum.request.monotone import monotone
from modicum.request.quantile import median, quantile
from modicum.request.quantiles import quantiles
from modicum.request.trimmed import trimmed_mean, winsorized_mean
from modicum.request.vector import vector
from modicum.runners.request import Query
from modicum.statistics.count import count
from modicum.statistics.mean import mean
from modicum.statistics.spread import std, variance
from modicum.statistics.sum import sum

__all__ = [
    "Query",
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
    "vector",
    "winsorized_mean",
]
