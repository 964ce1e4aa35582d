"""The mean of vectors, with noise on the scale of the rows' own spread, in each component.

[M1] count    a noisy number of rows, which divides the budget;
[M2] radius   few rows outside, drawn before every sum;
[M3] step     a centre, moved by clipped means whose noise shrinks with the radius;
[M4] squares  noisy mean squares, by which components are weighed;
[M5] sum      the clipped sum about the centre, with nearly all of the budget;
[M6] rows     the numbers of rows, and of those outside.

docs/proofs/mean_vector.md has the proof.
"""

from __future__ import annotations

from modicum.array_release import ArrayAnswer
from modicum.estimators.purse import ConcentratedPurse, open_purse
from modicum.estimators.vector_rounds import (
    VectorSetting,
    find_scales,
    locate,
    radius_for,
    start_frame,
    wide_radius,
)
from modicum.estimators.vector_schedule import (
    COUNT,
    LAST_RADIUS,
    VectorSchedule,
    fine_radii,
    wide_radii,
)
from modicum.estimators.vector_share import NEAR, OUTSIDE
from modicum.estimators.vector_sum import answer_of, last_sum
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.steps import Steps, draw, need
from modicum.summaries.columns import Columns
from modicum.summaries.norms import NormCounts
from modicum.summaries.vector_frame import VectorFrame

__all__ = ["adaptive_mean_vector"]


def adaptive_mean_vector(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayAnswer]:
    """Estimate the mean of every component.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        For all components.
    event : Event
        Total cost for one row, in zCDP; the draws add up to exactly this.
    """
    purse = open_purse(event)
    assert isinstance(purse, ConcentratedPurse)
    here = VectorSetting(columns, lattice, purse)
    wide = wide_radii(lattice).radii
    norms = yield from need(here.ask(NormCounts(start_frame(lattice), wide)))

    counting = purse.noisy((norms.count,), sensitivity=1, share=COUNT)  # [M1]
    (n0,) = yield from draw("count", counting)
    schedule = VectorSchedule.of(purse.total, n0, norms.width)
    frame, radius = yield from locate(here, schedule, norms)
    if norms.width > 1:
        scaled = yield from find_scales(here, schedule, frame)
        if scaled != frame:
            frame = scaled
            radius = yield from wide_radius(here, schedule, frame, "radius with weights")
    last, beyond = yield from _last_radius(here, schedule, frame, radius)
    evidence = yield from last_sum(here, frame, last, beyond, norms.width, near=NEAR)
    return answer_of(columns, evidence)


def _last_radius(
    here: VectorSetting, schedule: VectorSchedule, frame: VectorFrame, radius: int
) -> Steps[tuple[int, int]]:
    """Draw the radius of the last sum near one that is known; and the rows outside, sensitive."""
    grid = fine_radii(radius)
    norms = yield from need(here.ask(NormCounts(frame, grid.radii)))
    place = yield from radius_for(
        here,
        norms,
        grid,
        target=schedule.last_target(1 - here.spent - LAST_RADIUS - OUTSIDE),
        tilt=schedule.fine_tilt,
        share=LAST_RADIUS,
        label="last radius",
    )
    return grid.radii[place], norms.outside[place]
