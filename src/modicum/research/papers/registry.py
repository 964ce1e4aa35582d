"""What the papers' chapters declare: the queries and the ways to answer that only they have."""

from __future__ import annotations

from typing import Any

from modicum.research.papers import asi2020, dick2023, huang2021, kulesza2023
from modicum.statistics.spec import Declaration, Row

STATISTICS: tuple[Declaration, ...] = tuple(
    each
    for paper in (dick2023, kulesza2023, huang2021, asi2020)
    for each in paper.STATISTICS
    if not each.example  # those with one are functions of a table, of statistics/registry.py
)
PAPERS: tuple[Row[Any, Any], ...] = tuple(row for each in STATISTICS for row in each.rows)
