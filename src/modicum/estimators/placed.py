"""The first two steps of moments: how many rows there are, and an interval for each column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np

from modicum.estimators.purse import Purse
from modicum.estimators.purses import open_purse
from modicum.estimators.shares import share_of
from modicum.exact.lattice import Lattice
from modicum.mechanisms.interval import IntervalGrid
from modicum.privacy.event import Event
from modicum.status import unseen
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.base import Reduction
from modicum.summaries.columns import Columns
from modicum.summaries.outer import Frame
from modicum.summaries.spread_counts import SpreadCounts, SpreadSummary, cell_numbers

__all__ = ["COUNTED", "PlacedColumns", "column_labels", "placed_columns"]

S = TypeVar("S")

COUNTED, _INTERVALS = Fraction(3, 100), Fraction(2, 5)
_ENOUGH, _ENOUGH_FOR_FITS = 40.0, 24.0  # so much ε n makes failures of intervals next to impossible


@dataclass(frozen=True, slots=True)
class PlacedColumns:
    """Columns whose place and scale are released.

    Attributes
    ----------
    columns : Columns
    lattice : Lattice
    purse : Purse
    labels : tuple of str
        Of the columns.
    count : int
        The noisy number of rows, at least 1.
    frame : Frame
        Centres and half-widths.
    saved : Fraction
        The share of the budget that their intervals did not need.
    none_seen : bool
        Whether the noisy number of rows cannot be told from 0.
    """

    columns: Columns
    lattice: Lattice
    purse: Purse
    labels: tuple[str, ...]
    count: int
    frame: Frame
    saved: Fraction
    none_seen: bool

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.labels)

    def ask(self, reduction: Reduction[S]) -> Ask[S]:
        """Ask for a reduction of the rows."""
        return Ask(None, self.lattice, reduction, self.columns)


def placed_columns(
    columns: Columns, lattice: Lattice, event: Event, *, goal: bool
) -> Steps[PlacedColumns]:
    """Count the rows [W1] and draw an interval for each column [W2].

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        The public range of every column.
    event : Event
        Total cost for one row, of everything that follows too.
    goal : bool
        Whether the last column is to be explained by the others: its interval costs twice as much.
    """
    purse = open_purse(event)
    spread = yield from need(Ask(None, lattice, SpreadCounts(), columns))
    width = spread.width
    labels = column_labels(columns, width)
    counting = purse.noisy((spread.count,), sensitivity=1, share=COUNTED)  # [W1]
    (counted,) = yield from draw("count", counting)
    rows = max(counted, 1)

    # Two fifths among the intervals, or what makes them certain if that is less.
    enough = _ENOUGH_FOR_FITS if goal else _ENOUGH
    each = min(_INTERVALS / (width + goal + 1), share_of(purse, enough / rows))
    shares = [each] * (width - goal) + [2 * each] * goal
    frame = yield from _frame(purse, spread, lattice, labels, shares)  # [W2]
    saved, none_seen = _INTERVALS - sum(shares), unseen(counted, counting.noise[0].tail_bound(0.02))
    return PlacedColumns(columns, lattice, purse, labels, rows, frame, saved, none_seen)


def column_labels(columns: Columns, width: int) -> tuple[str, ...]:
    """Names of the columns, or their numbers."""
    return columns.names or tuple(f"column {place}" for place in range(width))


def _frame(
    purse: Purse,
    spread: SpreadSummary,
    lattice: Lattice,
    labels: tuple[str, ...],
    shares: list[Fraction],
) -> Steps[Frame]:
    grid, chosen = IntervalGrid.of(lattice), []
    words, ends = partial(grid.words, lattice), cell_numbers(grid.ends())
    for place, (label, share) in enumerate(zip(labels, shares, strict=True)):
        scores = grid.scores(np.diff(spread.below(place, ends), axis=1))
        law = purse.interval(scores, grid, share=share)
        chosen.append(grid.interval((yield from draw(f"interval of {label}", law, words))))
    return Frame(
        tuple(low + wide // 2 for low, wide in chosen),
        tuple(wide.bit_length() - 2 for _, wide in chosen),
    )
