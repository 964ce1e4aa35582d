"""Where the bulk of a column lies, found by one draw, and the stretching of the range around it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import IntervalGrid, Stretch
from modicum.runtime.steps import Steps, draw
from modicum.statistics.purse import Purse
from modicum.summaries.order_statistics import WindowsSummary

__all__ = ["bulk_of"]


def bulk_of(
    purse: Purse, lattice: Lattice, windows: WindowsSummary, share: Fraction
) -> Steps[Stretch]:
    """Draw an interval that holds the bulk, and stretch the range around it."""
    values, _, ties = windows.between(0, windows.count)
    grid = IntervalGrid.of(lattice)
    law = purse.interval(grid.scores(grid.counts(values, ties)), grid, share=share)
    low, wide = grid.interval((yield from draw("bulk", law, partial(grid.words, lattice))))
    centre = min(max(low + wide // 2, lattice.first), lattice.last)
    return Stretch.about(centre, wide.bit_length() - 2, (lattice.first, lattice.last))
