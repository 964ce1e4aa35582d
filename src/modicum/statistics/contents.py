"""The chapter of each statistic, and those with a plan; written by ``python -m tools.stubs``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modicum.statistics.spec import Declaration

CHAPTERS = {
    "cdf": "histogram",
    "clipped_mean_vector": "mean_vector",
    "count": "count",
    "covariance": "covariance",
    "expectile": "location",
    "geometric_mean": "geometric_mean",
    "histogram": "histogram",
    "huber": "location",
    "iqr": "iqr",
    "linear_regression": "regression",
    "lp_center": "location",
    "max": "extreme",
    "mean": "mean",
    "mean_vector": "mean_vector",
    "median": "quantile",
    "min": "extreme",
    "monotone_statistic": "monotone",
    "pca": "covariance",
    "quantile": "quantile",
    "quantiles": "quantiles",
    "ratio": "ratio",
    "skewness": "skewness",
    "std": "spread",
    "sum": "sum",
    "trimmed_mean": "trimmed",
    "var": "spread",
    "vector_statistic": "vector_statistic",
    "winsorized_mean": "trimmed",
}
_UNPLANNED = ("ratio", "vector_statistic")
PLANNED = tuple(name for name in CHAPTERS if name not in _UNPLANNED)


def find_statistic(name: str) -> Declaration:
    """Import the chapter of a statistic, and return what it declares of it."""
    declared: tuple[Declaration, ...]
    declared = import_module(f"modicum.statistics.{CHAPTERS[name]}").STATISTICS
    return next(each for each in declared if each.name == name)
