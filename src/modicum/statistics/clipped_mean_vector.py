"""The clipped means of vectors of Huang, Liang and Yi (2021), for a private number of rows.

About a fixed point, which is ``clipped_mean_vector``:

[C1] search   a noisy binary search for the radius with few rows outside, a quarter of the budget;
[M5] sum      the clipped sum, with nearly all of the rest;
[M6] rows     the numbers of rows, and of those outside.

And about medians after a rotation, the mechanism of their section 3.3, which is ``mean_vector`` by
``method="shifted"``:

[R1] medians  a noisy binary search in each rotated coordinate, a quarter of ρ;
[C1] [M5] [M6] as above, about the medians; the search has 3/16 of ρ.

docs/proofs/clipped_mean_vector.md and docs/proofs/shifted_mean_vector.md have the proofs, and where
the text differs from theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from modicum.array_release import ArrayEstimate, ArrayRelease
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.purse import Purse
from modicum.statistics.purses import ConcentratedPurse, open_purse
from modicum.statistics.spec import NoOption, Row, column_names, ranged
from modicum.statistics.vector_rounds import VectorSetting, start_frame
from modicum.statistics.vector_schedule import NEAR, OUTSIDE, SUBSTEP, TURN, wide_radii
from modicum.statistics.vector_sum import Ball, answer_of, count_outside, last_sum
from modicum.summaries.base import Columns, Integers
from modicum.summaries.vectors import (
    NormCounts,
    NormSummary,
    RotatedCounts,
    RotatedSummary,
    Rotation,
    VectorFrame,
)

__all__ = ["CLIPPED_MEAN_VECTOR", "SHIFTED_MEAN_VECTOR", "clipped_mean_vector"]

SEARCH = Fraction(1, 4)


def clipped_mean_vector(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the means of several columns, with noise on the scale of the rows' distances from 0.

    For rows that lie about 0, such as gradients or differences, and as the reference of the
    clipped mean of Huang, Liang and Yi (2021). For any other rows prefer :func:`mean_vector`.

    Parameters
    ----------
    columns, within, epsilon, rho, budget, step
        As for :func:`mean_vector`.

    Returns
    -------
    Query
        Guarantee when answered: ρ-zCDP, pure ε or (ε, δ) for add-remove neighbours, that is one
        privacy unit more or less. The number of rows is private too.

    Raises
    ------
    InvalidArgument
        As for :func:`mean_vector`.

    Notes
    -----
    Rows are clipped to the radius beyond which about sqrt(2 d/ρ) of them lie, found by a noisy
    binary search on a grid of four radii an octave. The noise of all components together is about
    (that radius) sqrt(d/(2 ρ)) / n. In pure ε norms are L1, about d/ε rows lie beyond the radius,
    and the noise of all components together is about (that radius) sqrt(2 d) / (ε n).

    Examples
    --------
    >>> clipped_mean_vector(within=(-1e9, 1e9), rho="0.5").method
    'search'
    """
    return CLIPPED_MEAN_VECTOR.query(
        column_names(columns),
        Lattice.within(within, step),
        chosen_budget(epsilon, rho, budget),
        NoOption(),
    )


def noisy_clipped_mean(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayEstimate]:
    """Estimate the mean of every component, with noise on the scale of the rows' norms.

    They are measured from the point of the range that is nearest to 0.
    """
    here = VectorSetting(columns, lattice, open_purse(event))
    return (yield from mean_about(here, start_frame(lattice, here.power), SEARCH, near=1))


def mean_about(
    here: VectorSetting, frame: VectorFrame, share: Fraction, *, near: int
) -> Steps[ArrayEstimate]:
    """Search for a radius about a frame's centre, and spend what is left on the clipped sum.

    ``near`` is as for :func:`~modicum.statistics.vector_schedule.count_share`.
    """
    radii = wide_radii(here.lattice, here.power).radii
    norms = yield from read(here.ask(NormCounts(frame, radii)))
    place, most = yield from _search_radius(here.purse, norms, len(radii), share)  # [C1]
    rows, noise = yield from count_outside(here, norms.outside[place], OUTSIDE[here.power])
    most += math.ceil(3 * math.sqrt(noise.variance))
    ball = Ball(radii[place], rows, noise, most)
    error_model = yield from last_sum(here, frame, ball, norms.width, near=near)
    return answer_of(here.columns, error_model)


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
        mechanism = purse.noisy((norms.outside[middle],), sensitivity=1, share=share)
        (found,) = yield from draw(f"rows beyond {level}", mechanism)
        if low < high:
            low, high = (middle + 1, high) if found > target else (low, middle)
    return high, math.ceil(target + 4 * noise)


MEDIANS, SEARCH_AFTER = Fraction(1, 4), Fraction(3, 16)
_UNITS = 1 << 10  # in a count, where the bound of all counts together is no integer


def shifted_mean_vector(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayEstimate]:
    """Estimate the mean of every component, with noise on the scale of the rows' spread.

    The width of the range decides how many questions a median takes, and so how many rows are
    needed.
    """
    purse = open_purse(event)
    assert isinstance(purse, ConcentratedPurse)
    here = VectorSetting(columns, lattice, purse)
    summary = yield from read(here.ask(RotatedCounts((0,))))
    rotation = Rotation.of(lattice, summary.width)
    medians = yield from _medians(here, purse, rotation, summary)  # [R1]

    frame = VectorFrame(rotation.point(medians, lattice), (float(SUBSTEP),))
    return (yield from mean_about(here, frame, SEARCH_AFTER, near=NEAR))


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
            summary = yield from read(here.ask(RotatedCounts(tuple(middle.tolist()))))
        more = tuple(unit * (2 * below - summary.count) for below in summary.below)
        mechanism = purse.vector(more, bound=bound, share=MEDIANS / levels)
        found = yield from draw(f"rows below {level}", mechanism)
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


CLIPPED_MEAN_VECTOR: Row[NoOption, ArrayRelease] = Row(
    "clipped_mean_vector",
    "search",
    ("pure", "zcdp", "approx"),
    True,
    (NoOption(),),
    "clipped_mean_vector",
    "means of several columns with noise on the scale of the rows' norms",
    lambda columns, lattice, event, _: noisy_clipped_mean(columns, ranged(lattice), event),
    ArrayRelease,
    of_rows=True,
    turn=TURN,
)

SHIFTED_MEAN_VECTOR: Row[NoOption, ArrayRelease] = Row(
    "mean_vector",
    "shifted",
    ("zcdp",),
    True,
    (NoOption(),),
    "shifted_mean_vector",
    "the same with a centre found by medians after a rotation",
    lambda columns, lattice, event, _: shifted_mean_vector(columns, ranged(lattice), event),
    ArrayRelease,
    of_rows=True,
)
