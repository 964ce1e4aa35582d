"""A reader of synthetic tables, for the estimators that read data elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modicum.exact.entropy import Entropy
from modicum.summaries.base import Read
from modicum.summaries.synthetic import SyntheticTable


class SyntheticReader:
    """Answers reductions from a synthetic table, and counts the passes.

    It keeps the summaries in the order of the reads: the records around a rank are spread at
    random, so the table itself does not know where they are.
    """

    def __init__(self, table: SyntheticTable) -> None:
        self._table = table
        self.passes = 0
        self.summaries: list[Any] = []

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads."""
        self.passes += 1
        found = [ask.reduction.synthetic(self._table, ask.lattice, entropy) for ask in reads]
        self.summaries += found
        return found
