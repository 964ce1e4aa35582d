"""The ranks of a synthetic table, as quantiles ask for them."""

from __future__ import annotations

import numpy as np

from modicum.plan.table import Table
from modicum.summaries.order_statistics import RankWindows
from modicum.summaries.sifting import Ranked

__all__ = ["SyntheticRanks"]


class SyntheticRanks:
    """Records around several ranks of a table; between them ranks are interpolated."""

    def __init__(self, table: Table, asked: RankWindows) -> None:
        self.count = table.rows
        self._table = table
        spans: list[tuple[int, int]] = []
        for start, stop in asked.ranks(table.rows):  # they overlap, or follow each other
            if spans and start <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(spans[-1][1], stop)
            else:
                spans.append((start, stop))
        parts = []
        for start, stop in spans:
            values, first, ties = np.unique(
                table.at(start, stop, None), return_index=True, return_counts=True
            )
            parts.append(Ranked(values, first + start, ties))
        self._known = Ranked.joined(parts)

    def place(self, value: int) -> tuple[int, int]:
        """Return about how many records lie below a value, and how many have it."""
        fewest, most, ties = self._known.around(value, self.count)
        below = int(self._table.weights[: np.searchsorted(self._table.q, value)].sum())
        return min(max(below, fewest), most), ties

    def below(self, value: int) -> int:
        """Return about how many records lie below a value."""
        return self.place(value)[0]

    def between(self, start: int, stop: int) -> Ranked:
        """Return the known values at positions from start to stop (exclusive)."""
        return self._known.between(start, stop)
