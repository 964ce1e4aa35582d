"""A reader of synthetic tables: the estimators ask it what they ask of data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.plan.column import SyntheticTable
from modicum.summaries.base import Read
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.order_statistics import (
    Cuts,
    CutSummary,
    RankWindow,
    RankWindows,
    WindowSummary,
)
from modicum.summaries.sifting import Ranked
from modicum.summaries.subsample import Records
from modicum.summaries.sums import (
    BinCounts,
    BinSummary,
    ClippedSquares,
    ClippedSum,
    ClippedSummary,
    Count,
    CountSummary,
    SquareSummary,
)
from modicum.summaries.tails import Tails, TailSummary

__all__ = ["SyntheticReader"]


class SyntheticReader:
    """Answers reductions from a synthetic table, and counts the passes.

    Windows are kept in the order of the asks: the records around a rank are spread at random, so
    the table itself does not know where they are.
    """

    def __init__(self, table: SyntheticTable) -> None:
        self._table = table
        self.passes = 0
        self.windows: list[WindowSummary] = []

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the asks."""
        self.passes += 1
        return [self._answer(ask, entropy) for ask in reads]

    def _answer(self, ask: Read[Any], entropy: Entropy) -> object:  # noqa: PLR0911 -- one a reduction
        table = self._table
        match ask.reduction:
            case Count():
                return CountSummary(table.rows)
            case ClippedSum() | ClippedSquares():
                return _clipped(table, ask.reduction)
            case Tails(keep):
                low, rest = table.lowest(keep)
                high, middle = rest.highest(keep)
                return TailSummary(table.rows, low, high, middle.total(), middle.rows, keep)
            case Cells(centre, edges):
                assert ask.lattice is not None
                ends = (ask.lattice.first, ask.lattice.last)
                return CellSummary(centre, edges, *ends, *table.cells(centre, edges))
            case RankWindow(q, reach):
                start, stop = ask.reduction.ranks(table.rows)
                values = table.at(start, stop, entropy)
                self.windows.append(WindowSummary(table.rows, start, values, q, reach))
                return self.windows[-1]
            case RankWindows():
                return _Ranks(table, ask.reduction)
            case Cuts():
                return _cuts(table, ask.reduction, entropy)
            case BinCounts(cuts):
                return BinSummary(cuts, table.counts(cuts))
            case Records():
                return _Subsample(table)
        raise AssertionError(f"no synthetic answer to {ask.reduction!r}")


def _clipped(
    table: SyntheticTable, asked: ClippedSum | ClippedSquares
) -> ClippedSummary | SquareSummary:
    if isinstance(asked, ClippedSum):
        return ClippedSummary(table.rows, table.clipped_sum(asked.lo, asked.hi))
    return SquareSummary(table.rows, table.squares(asked.lo, asked.hi, asked.centre))


def _cuts(table: SyntheticTable, asked: Cuts, entropy: Entropy) -> CutSummary:
    cuts, n, reach = asked.cuts(table.rows), table.rows, asked.reach
    low, high = (table.at(max(0, cut - reach), min(n, cut + reach), entropy) for cut in cuts)
    return CutSummary(n, low, high, table.between(*cuts).total(), asked.share, reach)


class _Subsample:
    """Stands in for the handle of a secret subsample."""

    def __init__(self, table: SyntheticTable) -> None:
        self._table = table

    def thin(self, level: int, entropy: Entropy) -> NDArray[np.int64]:
        """Keep each record with probability 2^-level."""
        return self._table.thin(level, entropy)

    def all(self) -> NDArray[np.int64]:
        """Every record."""
        return np.repeat(self._table.q, self._table.weights)


class _Ranks:
    """Records around several ranks of a table; between them ranks are interpolated."""

    def __init__(self, table: SyntheticTable, asked: RankWindows) -> None:
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
