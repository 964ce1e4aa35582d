"""The shifted clipped mean of vectors: medians after a rotation, then the clipped mean about them.

[R1] medians  a noisy binary search in each rotated coordinate, a quarter of ρ;
[C1] search   a noisy binary search for the radius with few rows outside, 3/16 of ρ;
[M5] sum      the clipped sum about the medians, with nearly all of the rest;
[M6] rows     the numbers of rows, and of those outside.

The mechanism of Huang, Liang and Yi (2021), section 3.3, for a private number of rows.
docs/proofs/shifted_mean_vector.md has the proof, and where the text differs from theirs.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from modicum.array_release import ArrayAnswer
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.clipped_mean_vector import mean_about
from modicum.statistics.purses import ConcentratedPurse, open_purse
from modicum.statistics.vector_rounds import VectorSetting
from modicum.statistics.vector_schedule import SUBSTEP
from modicum.statistics.vector_share import NEAR
from modicum.summaries.base import Columns, Integers
from modicum.summaries.vectors import RotatedCounts, RotatedSummary, Rotation, VectorFrame

__all__ = ["shifted_mean_vector"]

MEDIANS, SEARCH = Fraction(1, 4), Fraction(3, 16)
_UNITS = 1 << 10  # in a count, where the bound of all counts together is no integer


def shifted_mean_vector(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayAnswer]:
    """Estimate the mean of every component, with noise on the scale of the rows' spread.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        For all components. Its width decides how many questions a median takes, and so how many
        rows are needed.
    event : Event
        Total cost for one row, in zCDP; the draws add up to exactly this.
    """
    purse = open_purse(event)
    assert isinstance(purse, ConcentratedPurse)
    here = VectorSetting(columns, lattice, purse)
    summary = yield from need(here.ask(RotatedCounts((0,))))
    rotation = Rotation.of(lattice, summary.width)
    medians = yield from _medians(here, purse, rotation, summary)  # [R1]

    frame = VectorFrame(rotation.point(medians, lattice), (float(SUBSTEP),))
    return (yield from mean_about(here, frame, SEARCH, near=NEAR))


def _medians(
    here: VectorSetting, purse: ConcentratedPurse, rotation: Rotation, summary: RotatedSummary
) -> Steps[Integers]:
    """Halve the range of every rotated coordinate until one integer is left.

    A question compares the rows at most some integer with the others, and is answered for all
    coordinates at once. Each of the ceil(log2 values) questions gets an equal share.
    """
    levels = (2 * rotation.reach).bit_length()  # 2 reach + 1 values
    unit, bound = _bound(rotation.padded)
    low = np.full(rotation.padded, -rotation.reach, dtype=np.int64)
    high = -low
    for level in range(1, levels + 1):
        middle = (low + high) >> 1
        if level > 1:
            summary = yield from need(here.ask(RotatedCounts(tuple(middle.tolist()))))
        more = tuple(unit * (2 * below - summary.count) for below in summary.below)
        law = purse.vector(more, bound=bound, share=MEDIANS / levels)
        found = yield from draw(f"rows below {level}", law)
        left = np.array(found, dtype=object) >= 0
        low, high = np.where(left, low, np.minimum(middle + 1, high)), np.where(left, middle, high)
    return high


def _bound(coordinates: int) -> tuple[int, int]:
    """Units of a count, and the bound of all counts together in them.

    A row moves the difference of each coordinate by one, all together by the root of their
    number: if that is no integer it is rounded up, by less than a thousandth.
    """
    root = math.isqrt(coordinates)
    if root * root == coordinates:
        return 1, root
    return _UNITS, math.isqrt(_UNITS**2 * coordinates) + 1
