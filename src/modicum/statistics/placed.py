"""The first steps of moments: the number of rows, intervals of columns, what they miss."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import IntervalGrid
from modicum.privacy.event import Event
from modicum.statistics.common_frame import common_frame, rows_are_few
from modicum.statistics.held_columns import HeldColumns
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.statistics.split import share_of
from modicum.statistics.vector_rounds import VectorSetting
from modicum.status import unseen
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.base import Columns, Reduction
from modicum.summaries.cells import SpreadCounts, SpreadSummary, cell_numbers
from modicum.summaries.second_moments import WHOLE, FarCounts, Frame

__all__ = ["COUNTED", "PlacedColumns", "column_labels", "placed_columns"]

S = TypeVar("S")
Interval = tuple[int, int]

COUNTED, _INTERVALS = Fraction(3, 100), Fraction(2, 5)
# Of what is far, if ε n is so much that the noise hides few rows; if not, next to nothing.
_FAR, _TELLING, _LITTLE = Fraction(1, 50), 2000.0, Fraction(1, 1000)
_ENOUGH, _ENOUGH_FOR_FITS = 40.0, 30.0  # so much ε n finds a column of a bell shape [W2]
# Second draws, for columns of which no interval was found: share of the budget for each unit of
# ε n / (250 columns), and at most; ε n for each of them, or share if that is more.
_AGAIN, _UNIT, _MOST_AGAIN = 0.075, 250.0, Fraction(3, 10)
_ENOUGH_AGAIN, _CHEAP_AGAIN = 600.0, Fraction(1, 100)
# Doublings of none; nats by ε n of an interval, and what is taken off them; enough doublings.
_DOUBT, _SLOPE, _FIRST, _SURE = (-2, 10), 1.25, 15.6, 7


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
    held : HeldColumns
    saved : Fraction
        The share of the budget that their intervals did not need.
    none_seen : bool
        Whether the noisy number of rows cannot be told from 0.
    common : bool
        Whether all columns have one half-width, that of rows and not their own.
    """

    columns: Columns
    lattice: Lattice
    purse: Purse
    labels: tuple[str, ...]
    count: int
    frame: Frame
    held: HeldColumns
    saved: Fraction
    none_seen: bool
    common: bool = False

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.labels)

    def ask(self, reduction: Reduction[S]) -> Ask[S]:
        """Ask for a reduction of the rows."""
        return Ask(None, self.lattice, reduction, self.columns)


def placed_columns(
    columns: Columns, lattice: Lattice, event: Event, *, goal: bool, common: bool = False
) -> Steps[PlacedColumns]:
    """Count the rows [W1], draw an interval for each column [W2], and count what it misses [W2'].

    Or one for all columns [W2''].

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        The public range of every column.
    event : Event
        Total cost for one row, of everything that follows too.
    goal : bool
        Whether the last column is to be explained by the others: its interval costs twice as much.
    common : bool
        Whether one centre and half-width for all columns will do if rows are few.
    """
    purse = open_purse(event)
    spread = yield from need(Ask(None, lattice, SpreadCounts(), columns))
    width = spread.width
    labels = column_labels(columns, width)
    counting = purse.noisy((spread.count,), sensitivity=1, share=COUNTED)  # [W1]
    (counted,) = yield from draw("count", counting)
    rows, none_seen = max(counted, 1), unseen(counted, counting.noise[0].tail_bound(0.02))

    if common and rows_are_few(purse, rows, width):
        setting = VectorSetting(columns, lattice, purse)
        frame = yield from common_frame(setting, rows, width)  # [W2'']
        found = _Found(frame, (False,) * width, sure=True, saved=Fraction(0), common=True)
    else:
        found = yield from _Columns(purse, spread, lattice, labels, rows).found(goal=goal)

    counts = yield from need(Ask(None, lattice, FarCounts(found.frame), columns))
    share = _FAR if float(purse.scale) * rows >= _TELLING else _LITTLE
    counting = purse.noisy(counts.counts.tolist(), sensitivity=WHOLE, share=share)  # [W2']
    far = yield from draw("rows far from the interval of each column", counting)
    deviation = math.sqrt(counting.noise[0].variance) / WHOLE
    held = HeldColumns(found.lost, found.sure, far, deviation, purse.norm, rows)
    return PlacedColumns(
        columns,
        lattice,
        purse,
        labels,
        rows,
        found.frame,
        held,
        found.saved,
        none_seen,
        found.common,
    )


def column_labels(columns: Columns, width: int) -> tuple[str, ...]:
    """Names of the columns, or their numbers."""
    return columns.names or tuple(f"column {place}" for place in range(width))


@dataclass(frozen=True, slots=True)
class _Found:
    """A frame, the columns without an interval, and the rest as in the classes it ends up in."""

    frame: Frame
    lost: tuple[bool, ...]
    sure: bool
    saved: Fraction
    common: bool = False


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of which intervals are drawn."""

    purse: Purse
    spread: SpreadSummary
    lattice: Lattice
    labels: tuple[str, ...]
    rows: int

    def found(self, *, goal: bool) -> Steps[_Found]:
        """Draw an interval for each column [W2], and again for those of which none was found."""
        purse, rows, width = self.purse, self.rows, len(self.labels)
        # Two fifths among the intervals, or what makes them certain if that is less.
        enough = _ENOUGH_FOR_FITS if goal else _ENOUGH
        each = min(_INTERVALS / (width + goal + 1), share_of(purse, enough / rows))
        shares = [each] * (width - goal) + [2 * each] * goal
        intervals = yield from self.intervals(range(width), shares)
        missed = [place for place, interval in enumerate(intervals) if interval is None]
        saved = _INTERVALS - sum(shares)
        if missed and saved > 0:
            again = _share_again(purse, rows, width - goal, len(missed), saved)
            found = yield from self.intervals(missed, [again] * len(missed), clear=True)
            for place, interval in zip(missed, found, strict=True):
                intervals[place] = interval
            saved -= again * len(missed)
        lost = tuple(interval is None for interval in intervals)
        sure = _doubt(float(purse.range_for(each)) * rows) >= _SURE
        return _Found(_frame(intervals, IntervalGrid.of(self.lattice)), lost, sure, saved)

    def intervals(
        self, places: Iterable[int], shares: Iterable[Fraction], *, clear: bool = False
    ) -> Steps[list[Interval | None]]:
        """Draw an interval, or none, for each of some columns."""
        grid, chosen = IntervalGrid.of(self.lattice, clear=clear), []
        words, ends = partial(grid.words, self.lattice), cell_numbers(grid.ends())
        for place, share in zip(places, shares, strict=True):
            scores = grid.scores(np.diff(self.spread.below(place, ends), axis=1))
            heard = float(self.purse.range_for(share)) * self.rows
            doubt = _DOUBT[1] if clear else _doubt(heard)
            law = self.purse.interval(scores, grid, doubt=doubt, share=share)
            label = f"interval of {self.labels[place]}{', again' if clear else ''}"
            found = yield from draw(label, law, words)
            chosen.append(None if found == grid.size else grid.interval(found))
        return chosen


def _doubt(heard: float) -> int:
    """Return the weight of no interval: as much as the column of a bell shape can spare."""
    return min(max(math.floor((_SLOPE * heard - _FIRST) / math.log(2)), _DOUBT[0]), _DOUBT[1])


def _share_again(purse: Purse, rows: int, width: int, missed: int, saved: Fraction) -> Fraction:
    """Return the share of a second draw: more where the noise of what follows is little."""
    heard = float(purse.scale) * rows / (_UNIT * max(width, 1))
    most = min(Fraction(max(round(_AGAIN * heard * 2**20), 1), 2**20), _MOST_AGAIN, saved)
    return min(most / missed, max(share_of(purse, _ENOUGH_AGAIN / rows), _CHEAP_AGAIN))


def _frame(intervals: Iterable[Interval | None], grid: IntervalGrid) -> Frame:
    """Centres and half-widths; all the range for a column without an interval."""
    ends = [grid.interval(grid.size) if each is None else each for each in intervals]
    return Frame(
        tuple(low + wide // 2 for low, wide in ends),
        tuple(wide.bit_length() - 2 for _, wide in ends),
    )
