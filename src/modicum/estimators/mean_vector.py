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

from modicum.array_release import ArrayAnswer, Axis
from modicum.estimators.purse import ConcentratedPurse, open_purse
from modicum.estimators.vector_evidence import VectorEvidence
from modicum.estimators.vector_rounds import (
    VectorSetting,
    find_scales,
    locate,
    radius_for,
    start_frame,
)
from modicum.estimators.vector_schedule import (
    COUNT,
    LAST_RADIUS,
    OUTSIDE,
    VectorSchedule,
    fine_radii,
    wide_radii,
)
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.steps import Steps, draw, need
from modicum.summaries.columns import Columns
from modicum.summaries.norms import NormCounts
from modicum.summaries.vector_frame import BOUND, VectorFrame
from modicum.summaries.vector_sum import ClippedVectors

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
            radius = yield from _wide_radius(here, schedule, frame)
    evidence = yield from _last_sum(here, schedule, frame, radius)
    return ArrayAnswer(evidence.values, (_axis(columns, norms.width),), evidence, evidence.status)


def _wide_radius(here: VectorSetting, schedule: VectorSchedule, frame: VectorFrame) -> Steps[int]:
    grid = wide_radii(here.lattice)
    norms = yield from need(here.ask(NormCounts(frame, grid.radii)))
    place = yield from radius_for(
        here,
        norms,
        grid,
        target=schedule.target,
        tilt=schedule.wide_tilt,
        share=schedule.radius,
        label="radius with weights",
    )
    return grid.radii[place]


def _last_sum(
    here: VectorSetting, schedule: VectorSchedule, frame: VectorFrame, radius: int
) -> Steps[VectorEvidence]:
    purse, grid = here.purse, fine_radii(radius)
    norms = yield from need(here.ask(NormCounts(frame, grid.radii)))
    left = 1 - here.spent - LAST_RADIUS - OUTSIDE
    place = yield from radius_for(
        here,
        norms,
        grid,
        target=schedule.last_target(left),
        tilt=schedule.fine_tilt,
        share=LAST_RADIUS,
        label="last radius",
    )
    asked = ClippedVectors(frame, grid.radii[place])
    summary = yield from need(here.ask(asked))
    share = left * (1 - schedule.count_share)
    law = purse.vector(summary.totals, bound=BOUND, share=share)  # [M5]
    sums = yield from draw("sum", law)
    beyond = purse.noisy((norms.outside[place],), sensitivity=1, share=OUTSIDE)  # [M6]
    (outside,) = yield from draw("rows outside", beyond)
    counting = purse.noisy((summary.count,), sensitivity=1, share=None)
    (rows,) = yield from draw("rows", counting)
    size = schedule.width
    return VectorEvidence(
        lattice=here.lattice,
        centre=frame.centre * (size // len(frame.centre)),
        gains=asked.scaled.gains * (size // len(frame.gains)),
        sums=sums,
        noise=law.noise,
        rows=rows,
        rows_noise=counting.noise[0],
        outside=outside,
        outside_noise=beyond.noise[0],
    )


def _axis(columns: Columns, width: int) -> Axis:
    if columns.names is None:
        return Axis.of(component=tuple(float(place) for place in range(width)))
    return Axis.of(column=columns.names)
