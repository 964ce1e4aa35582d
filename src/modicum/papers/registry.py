"""What the papers' chapters declare: the queries and the ways to answer that only they have."""

from __future__ import annotations

from typing import Any

from modicum.papers import asi2020, dick2023, huang2021, kulesza2023
from modicum.statistics.spec import Declaration, Row

STATISTICS: tuple[Declaration, ...] = (
    *dick2023.STATISTICS,
    *kulesza2023.STATISTICS,
    *huang2021.STATISTICS,
    *asi2020.STATISTICS,
)
PAPERS: tuple[Row[Any, Any], ...] = tuple(row for each in STATISTICS for row in each.rows)
