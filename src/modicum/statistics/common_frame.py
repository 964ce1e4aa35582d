"""One centre and one half-width for all columns, where rows are too few for an interval in each.

A row has a value in every column, so that intervals divide a budget by the number of columns; of
norms it has one. Steps are those of a mean vector; docs/proofs/moments.md has [W2''].
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from modicum.mechanisms.grids import RadiusGrid
from modicum.statistics.purse import Purse
from modicum.statistics.split import share_of
from modicum.statistics.vector_rounds import (
    VectorSetting,
    beyond,
    first_norms,
    locate,
    start_frame,
)
from modicum.statistics.vector_schedule import SUBSTEP, VectorSchedule, wide_radii
from modicum.steps import Steps, draw
from modicum.summaries.second_moments import Frame
from modicum.summaries.vectors import NormSummary

__all__ = ["common_frame", "rows_are_few"]

_FEW = 14.0  # ε n for each column, below which products of all columns are mostly noise
_OCTAVES = 3
_HEARD, _MOST_OCTAVES = 30.0, Fraction(1, 20)  # η n of the first draw, and its share at most
_MOST_STEP, _MOST = 0.08, Fraction(7, 20)  # shares of a step, and of the count and all steps
_PART = 4  # half-widths in a radius


def rows_are_few(purse: Purse, rows: int, width: int) -> bool:
    """Tell from public numbers whether a common frame serves components better.

    Not in pure ε: norms are L1 norms there, and noise hides all but the clearest directions.
    """
    return purse.kind == "zcdp" and float(purse.scale) * rows < _FEW * width


def common_frame(here: VectorSetting, rows: int, width: int) -> Steps[Frame]:
    """Find a centre, and one half-width for all columns: a quarter of a radius about it, or more.

    Few rows outweigh a prior over all octaves of the range by little, and a radius that is
    sixteen times too large costs rounds that they cannot pay. So the first draw is of three
    octaves that hold most norms, each as likely beforehand as any.

    Parameters
    ----------
    here : VectorSetting
    rows : int
        Their noisy number.
    width : int
        Number of columns.
    """
    schedule = VectorSchedule.of(here.purse, rows, width)
    constants = replace(schedule.constants, most_step=_MOST_STEP, locate=_MOST)
    schedule = replace(schedule, constants=constants)
    norms = yield from first_norms(here)
    largest = yield from _octaves(here, norms, rows)
    ends = (largest / 2**_OCTAVES, float(largest))
    found = yield from locate(here, schedule, norms, ends)
    shift = ((found.radius - 1) // (_PART * SUBSTEP)).bit_length()
    centre = found.frame.centre
    return Frame(centre * (width // len(centre)), (shift,) * width)


def _octaves(here: VectorSetting, norms: NormSummary, rows: int) -> Steps[int]:
    """Draw a radius R, by the number of rows that are not within (R/8, R]."""
    longest = start_frame(here.lattice, here.power).longest(here.lattice, norms.width)
    wide = wide_radii(here.lattice, here.power).radii
    powers = tuple(each for each in wide if each & (each - 1) == 0 and each < 2 * longest)
    grid = RadiusGrid(powers, tuple(range(len(powers))))
    outside = np.array(beyond(here, norms, grid), dtype=np.int64)
    # Rows at the very place that norms are measured from, as rows of zeros are, are in none.
    losses = outside[_OCTAVES:] + norms.count - outside[:-_OCTAVES]
    share = min(share_of(here.purse, _HEARD / rows), _MOST_OCTAVES)
    law = here.purse.least_loss(losses, most=1, first=1, share=share)
    return powers[_OCTAVES:][(yield from draw("octaves of the norms", law))]
