"""The clipped mean of vectors: a radius about a fixed point by noisy binary search, then a sum.

[C1] search  a noisy binary search for the radius with few rows outside, a quarter of the budget;
[M5] sum     the clipped sum, with nearly all of the rest;
[M6] rows    the numbers of rows, and of those outside.

The clipped mean of Huang, Liang and Yi (2021), for a private number of rows.
docs/proofs/clipped_mean_vector.md has the proof, and where the text differs from theirs.
"""

from __future__ import annotations

import math
from fractions import Fraction

from modicum.array_release import ArrayAnswer
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.statistics.vector_ball import Ball, count_outside
from modicum.statistics.vector_rounds import VectorSetting, start_frame
from modicum.statistics.vector_schedule import wide_radii
from modicum.statistics.vector_share import OUTSIDE
from modicum.statistics.vector_sum import answer_of, last_sum
from modicum.summaries.base import Columns
from modicum.summaries.vectors import NormCounts, NormSummary, VectorFrame

__all__ = ["clipped_mean_vector", "mean_about"]

SEARCH = Fraction(1, 4)


def clipped_mean_vector(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayAnswer]:
    """Estimate the mean of every component, with noise on the scale of the rows' norms.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        For all components; norms are measured from the point that is nearest to 0.
    event : Event
        Total cost for one row; the draws add up to exactly this.
    """
    here = VectorSetting(columns, lattice, open_purse(event))
    return (yield from mean_about(here, start_frame(lattice, here.power), SEARCH, near=1))


def mean_about(
    here: VectorSetting, frame: VectorFrame, share: Fraction, *, near: int
) -> Steps[ArrayAnswer]:
    """Search for a radius about a frame's centre, and spend what is left on the clipped sum.

    ``near`` is as for :func:`~modicum.statistics.vector_share.count_share`.
    """
    radii = wide_radii(here.lattice, here.power).radii
    norms = yield from need(here.ask(NormCounts(frame, radii)))
    place, most = yield from _search_radius(here.purse, norms, len(radii), share)  # [C1]
    rows, noise = yield from count_outside(here, norms.outside[place], OUTSIDE[here.power])
    most += math.ceil(3 * math.sqrt(noise.variance))
    ball = Ball(radii[place], rows, noise, most)
    evidence = yield from last_sum(here, frame, ball, norms.width, near=near)
    return answer_of(here.columns, evidence)


def _search_radius(
    purse: Purse, norms: NormSummary, radii: int, whole_share: Fraction
) -> Steps[tuple[int, int]]:
    """Find the first radius with no more than a public number of rows outside.

    Return its place, and a number of rows that hardly ever are outside it.

    Each of the ceil(log2 radii) questions gets an equal share. The number is the larger of
    sqrt(2 d / ρ), which balances clipping and noise, and three standard deviations of a question's
    noise, which hardly any question exceeds where all rows are inside. In pure ε the
    mean's noise has L1 norm C d / (ε n) for a radius C, and d / ε takes the place of the root.
    """
    whole = float(purse.total)
    balance = norms.width / whole if purse.kind == "pure" else math.sqrt(2 * norms.width / whole)
    levels = (radii - 1).bit_length()
    share = whole_share / levels
    noise = purse.noise_sd(share)
    target = math.ceil(max(balance, 3 * noise))
    low, high = 0, radii - 1  # the last radius holds every row
    for level in range(1, levels + 1):
        middle = (low + high) // 2
        law = purse.noisy((norms.outside[middle],), sensitivity=1, share=share)
        (found,) = yield from draw(f"rows beyond {level}", law)
        if low < high:
            low, high = (middle + 1, high) if found > target else (low, middle)
    return high, math.ceil(target + 4 * noise)
