"""The table of estimators. The audit, the command line, the docs and the benchmarks read it.

Adding an estimator means one file, one row in a family of rows, one page in docs/proofs and one
changelog fragment; a missing part fails a test.
"""

from __future__ import annotations

from typing import Any

from modicum.statistics.count import COUNT
from modicum.statistics.mean import MEANS
from modicum.statistics.rows.distributions import DISTRIBUTIONS
from modicum.statistics.rows.locations import LOCATIONS
from modicum.statistics.rows.moments import MOMENTS
from modicum.statistics.rows.ranks import RANKS
from modicum.statistics.rows.spreads import SPREADS
from modicum.statistics.rows.vectors import VECTORS
from modicum.statistics.spec import Row, method_of
from modicum.statistics.spread import STD, VARIANCE
from modicum.statistics.sum import SUMS

__all__ = ["REGISTRY", "find_row"]

REGISTRY: tuple[Row[Any, Any], ...] = (
    *MEANS,
    *SUMS,
    COUNT,
    *RANKS,
    VARIANCE,
    STD,
    *SPREADS,
    *DISTRIBUTIONS,
    *LOCATIONS,
    *VECTORS,
    *MOMENTS,
)


def find_row(statistic: str, method: str) -> Row[Any, Any]:
    """Look up a method of a statistic.

    Raises
    ------
    InvalidArgument
        If there is no such method.
    """
    return method_of([row for row in REGISTRY if row.statistic == statistic], method)
