"""All statistics and every way to answer them.

The tests and those who audit a mechanism read it. A statistic is a chapter with rows of its own, a
page in docs/research/proofs and a changelog fragment; a missing part fails a test.
"""

from __future__ import annotations

from typing import Any

from modicum.statistics import contents
from modicum.statistics.contents import find_statistic
from modicum.statistics.spec import Declaration, Row, method_of

STATISTICS: tuple[Declaration, ...] = tuple(find_statistic(name) for name in contents.CHAPTERS)
REGISTRY: tuple[Row[Any, Any], ...] = tuple(row for each in STATISTICS for row in each.rows)


def find_row(statistic: str, method: str) -> Row[Any, Any]:
    """Look up a method of a statistic, and refuse one that does not exist."""
    return method_of([row for row in REGISTRY if row.statistic == statistic], method)
