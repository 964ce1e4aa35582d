"""Every way to answer every statistic. The audit, the command line, the docs and the tests read it.

A statistic is a chapter with rows of its own, a page in docs/proofs and a changelog fragment; a
missing part fails a test.
"""

from __future__ import annotations

from typing import Any

from modicum.statistics.cdf import CDF
from modicum.statistics.clipped_mean_vector import CLIPPED_MEAN_VECTOR
from modicum.statistics.count import COUNT
from modicum.statistics.covariance import COVARIANCE, PCA
from modicum.statistics.extreme import MAXIMUM, MINIMUM
from modicum.statistics.histogram import DRAWN_HISTOGRAM, HISTOGRAM
from modicum.statistics.iqr import IQR
from modicum.statistics.location import EXPECTILE, HUBER, LP_CENTER
from modicum.statistics.mean import MEANS
from modicum.statistics.mean_vector import MEAN_VECTORS
from modicum.statistics.monotone import MONOTONE, SUBSET
from modicum.statistics.own_vector import VECTOR
from modicum.statistics.quantile import MEDIAN, QUANTILE
from modicum.statistics.quantiles import QUANTILES
from modicum.statistics.regression import LINEAR_REGRESSION
from modicum.statistics.spec import Row, method_of
from modicum.statistics.spread import STD, VARIANCE
from modicum.statistics.sum import SUMS
from modicum.statistics.trimmed import TRIMMED_MEAN, WINSORIZED_MEAN

__all__ = ["REGISTRY", "find_row"]

REGISTRY: tuple[Row[Any, Any], ...] = (
    *MEANS,
    *SUMS,
    COUNT,
    QUANTILE,
    MEDIAN,
    QUANTILES,
    MAXIMUM,
    MINIMUM,
    VARIANCE,
    STD,
    IQR,
    HISTOGRAM,
    DRAWN_HISTOGRAM,
    CDF,
    EXPECTILE,
    LP_CENTER,
    HUBER,
    MONOTONE,
    SUBSET,
    TRIMMED_MEAN,
    WINSORIZED_MEAN,
    *MEAN_VECTORS,
    CLIPPED_MEAN_VECTOR,
    VECTOR,
    COVARIANCE,
    PCA,
    LINEAR_REGRESSION,
)


def find_row(statistic: str, method: str) -> Row[Any, Any]:
    """Look up a method of a statistic.

    Raises
    ------
    InvalidArgument
        If there is no such method.
    """
    return method_of([row for row in REGISTRY if row.statistic == statistic], method)
