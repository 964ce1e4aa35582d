"""The table of estimators. The audit, the command line, the docs and the benchmarks read it.

Adding an estimator means one file, one row in a family of rows, one page in docs/proofs and one
changelog fragment; a missing part fails a test.
"""

from __future__ import annotations

from typing import Any

from modicum.statistics.clipped_mean_vector import CLIPPED_MEAN_VECTOR
from modicum.statistics.covariance import COVARIANCE, PCA
from modicum.statistics.mean_vector import MEAN_VECTORS
from modicum.statistics.own_vector import VECTOR
from modicum.statistics.regression import LINEAR_REGRESSION
from modicum.statistics.rows.distributions import DISTRIBUTIONS
from modicum.statistics.rows.locations import LOCATIONS
from modicum.statistics.rows.means import MEANS
from modicum.statistics.rows.ranks import RANKS
from modicum.statistics.rows.spreads import SPREADS
from modicum.statistics.spec import Row, method_of

__all__ = ["REGISTRY", "find_row"]

REGISTRY: tuple[Row[Any, Any], ...] = (
    *MEANS,
    *RANKS,
    *SPREADS,
    *DISTRIBUTIONS,
    *LOCATIONS,
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
