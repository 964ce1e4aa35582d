"""Questions to ask of a table, checked but not yet answered.

``curator.release(income=modicum.query.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile``,
``median`` and so on, and the methods of :class:`modicum.Curator`, take the same arguments.

A question is a part of the chapter of its statistic, which is imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from modicum.runtime.query import Query

if TYPE_CHECKING:
    from modicum.statistics.cdf import cdf
    from modicum.statistics.clipped_mean_vector import clipped_mean_vector
    from modicum.statistics.count import count
    from modicum.statistics.covariance import covariance, pca
    from modicum.statistics.extreme import max, min
    from modicum.statistics.histogram import histogram
    from modicum.statistics.iqr import iqr
    from modicum.statistics.location import expectile, huber, lp_center
    from modicum.statistics.mean import mean
    from modicum.statistics.mean_vector import mean_vector
    from modicum.statistics.monotone import monotone_statistic
    from modicum.statistics.own_vector import vector_statistic
    from modicum.statistics.quantile import median, quantile
    from modicum.statistics.quantiles import quantiles
    from modicum.statistics.regression import linear_regression
    from modicum.statistics.spread import std, var
    from modicum.statistics.sum import sum
    from modicum.statistics.trimmed import trimmed_mean, winsorized_mean

__all__ = [
    "Query",
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
    "std",
    "sum",
    "trimmed_mean",
    "var",
    "vector_statistic",
    "winsorized_mean",
]

_HOMES = {
    "modicum.statistics.cdf": {"cdf"},
    "modicum.statistics.clipped_mean_vector": {"clipped_mean_vector"},
    "modicum.statistics.count": {"count"},
    "modicum.statistics.covariance": {"covariance", "pca"},
    "modicum.statistics.extreme": {"max", "min"},
    "modicum.statistics.histogram": {"histogram"},
    "modicum.statistics.iqr": {"iqr"},
    "modicum.statistics.location": {"expectile", "huber", "lp_center"},
    "modicum.statistics.mean": {"mean"},
    "modicum.statistics.mean_vector": {"mean_vector"},
    "modicum.statistics.monotone": {"monotone_statistic"},
    "modicum.statistics.own_vector": {"vector_statistic"},
    "modicum.statistics.quantile": {"median", "quantile"},
    "modicum.statistics.quantiles": {"quantiles"},
    "modicum.statistics.regression": {"linear_regression"},
    "modicum.statistics.spread": {"std", "var"},
    "modicum.statistics.sum": {"sum"},
    "modicum.statistics.trimmed": {"trimmed_mean", "winsorized_mean"},
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            question = globals()[name] = getattr(import_module(module), name)
            return question
    raise AttributeError(f"module 'modicum.query' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
