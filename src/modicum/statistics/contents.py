"""The chapter of each statistic, and those with a plan; written by ``python -m tools.stubs``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modicum.statistics.spec import Declaration

CHAPTERS = {
    "cdf": "statistics.order.histogram",
    "clipped_mean_vector": "research.papers.huang2021",
    "count": "statistics.means.count",
    "covariance": "statistics.vectors.covariance",
    "expectile": "statistics.robust.location",
    "geometric_mean": "statistics.means.geometric_mean",
    "histogram": "statistics.order.histogram",
    "huber": "statistics.robust.location",
    "iqr": "statistics.order.iqr",
    "linear_regression": "statistics.vectors.regression",
    "lp_center": "statistics.robust.location",
    "max": "statistics.order.extreme",
    "mean": "statistics.means.mean",
    "mean_vector": "statistics.vectors.mean_vector",
    "median": "statistics.order.quantile",
    "min": "statistics.order.extreme",
    "monotone_statistic": "research.own_statistics.monotone",
    "pca": "statistics.vectors.covariance",
    "quantile": "statistics.order.quantile",
    "quantiles": "statistics.order.quantiles",
    "ratio": "statistics.means.ratio",
    "skewness": "statistics.means.skewness",
    "std": "statistics.means.spread",
    "sum": "statistics.means.sum",
    "trimmed_mean": "statistics.robust.trimmed",
    "var": "statistics.means.spread",
    "vector_statistic": "research.own_statistics.vector_statistic",
    "winsorized_mean": "statistics.robust.trimmed",
}
_UNPLANNED = ("ratio", "vector_statistic")
PLANNED = tuple(name for name in CHAPTERS if name not in _UNPLANNED)


def find_statistic(name: str) -> Declaration:
    """Import the chapter of a statistic, and return what it declares of it."""
    declared: tuple[Declaration, ...]
    declared = import_module(f"modicum.{CHAPTERS[name]}").STATISTICS
    return next(each for each in declared if each.name == name)
