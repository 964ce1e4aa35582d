"""The rounds before a mean vector's last sum: a noisy centre, and a scale for each component.

Labels are those of docs/proofs/mean_vector.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from modicum.estimators.purse import ConcentratedPurse
from modicum.estimators.vector_schedule import (
    LOCATE,
    SCALES,
    SUBSTEP,
    WEIGHED,
    VectorSchedule,
    wide_radii,
    wide_squares,
)
from modicum.exact.lattice import Lattice
from modicum.mechanisms.radius import RadiusGrid
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.base import Reduction
from modicum.summaries.columns import Columns
from modicum.summaries.norms import NormCounts, NormSummary
from modicum.summaries.vector_frame import BOUND, VectorFrame
from modicum.summaries.vector_sum import ClippedVectors

__all__ = ["VectorSetting", "find_scales", "locate", "radius_for", "start_frame", "wide_radius"]

S = TypeVar("S")

_SETTLED = 0.3  # the centre's noise, in radii, at which it adds some 5 % to a row's norm
_UNEVEN = 1.15  # gain in mean square error that is worth another round of scales
_CLEAR = 0.25  # noise of a mean square, in mean squares, at which all of them are known


@dataclass(frozen=True, slots=True)
class VectorSetting:
    """What every step of one run refers to."""

    columns: Columns
    lattice: Lattice
    purse: ConcentratedPurse

    def ask(self, reduction: Reduction[S]) -> Ask[S]:
        """Ask for a reduction of the rows."""
        return Ask(None, self.lattice, reduction, self.columns)

    @property
    def spent(self) -> Fraction:
        """Share of the budget that is promised."""
        return 1 - self.purse.left / self.purse.total


def start_frame(lattice: Lattice) -> VectorFrame:
    """Measure from the point of the range that is nearest to 0."""
    return VectorFrame((min(max(0, lattice.first), lattice.last),), (float(SUBSTEP),))


def radius_for(
    here: VectorSetting,
    norms: NormSummary,
    grid: RadiusGrid,
    *,
    target: int,
    tilt: Fraction,
    share: Fraction,
    label: str,
) -> Steps[int]:
    """Draw a radius with about ``target`` rows outside; return its place in the grid [M2]."""
    punished = tuple(max(beyond - target, 0) for beyond in norms.outside)
    law = here.purse.radii((punished,), grid, tilt=tilt, share=share)
    (place,) = yield from draw(label, law)
    return place


def locate(
    here: VectorSetting, schedule: VectorSchedule, norms: NormSummary
) -> Steps[tuple[VectorFrame, int]]:
    """Move a centre into the rows, by steps whose noise shrinks with the radius [M3].

    A radius holds nearly all rows about the centre; the mean of the rows clipped to it, with
    noise of a fraction of the radius, is the next centre. The rows then are nearer, unless the
    noise already was small against their spread: that ends it.

    Returns
    -------
    VectorFrame
        With the centre.
    int
        A radius about it.
    """
    grid = wide_radii(here.lattice)
    frame, noise, rounds = start_frame(here.lattice), math.inf, 0
    while True:
        rounds += 1
        radius = yield from _rough_radius(here, schedule, norms, grid, f"radius {rounds}")
        after = here.spent + schedule.step + 2 * schedule.radius
        if noise <= _SETTLED * radius or after > LOCATE:
            return frame, radius
        frame = yield from _stepped(here, schedule, frame, radius, f"step {rounds}")
        noise = schedule.noise_norm(radius, schedule.step)
        norms = yield from need(here.ask(NormCounts(frame, grid.radii)))


def _stepped(
    here: VectorSetting, schedule: VectorSchedule, frame: VectorFrame, radius: int, label: str
) -> Steps[VectorFrame]:
    summary = yield from need(here.ask(ClippedVectors(frame, radius)))
    law = here.purse.vector(summary.totals, bound=BOUND, share=schedule.step)
    sums = yield from draw(label, law)
    units = radius / (BOUND * np.array(frame.gains) * schedule.rows)  # lattice steps of the mean
    moved = np.rint(np.array(frame.centre) + np.array(sums, dtype=np.float64) * units)
    centre = np.clip(moved, here.lattice.first, here.lattice.last)
    return replace(frame, centre=tuple(int(each) for each in centre.tolist()))


def find_scales(
    here: VectorSetting, schedule: VectorSchedule, frame: VectorFrame
) -> Steps[VectorFrame]:
    """Weigh components by v^(-1/4), v being noisy mean squares about the centre [M4].

    With weights w a row's norm is about sqrt(sum w² v), and the noise of component j is that
    over w_j: the sum of the variances, (sum w² v)(sum w^-2), is least at w² = v^(-1/2), where it
    is (sum sqrt v)² (Cauchy and Schwarz). Noise hides the v that are small against the norm of
    all squares, and so does the noise of the centre; with weights both are smaller, so after a
    step of the centre in the new weights a second round sees further.
    """
    grid = wide_squares(here.lattice)
    for number, share in enumerate(SCALES, start=1):
        if here.spent + share + 2 * schedule.radius + schedule.step > WEIGHED:
            break
        squared = replace(frame, squared=True)
        norms = yield from need(here.ask(NormCounts(squared, grid.radii)))
        label = f"radius of squares {number}"
        radius = yield from _rough_radius(here, schedule, norms, grid, label)
        summary = yield from need(here.ask(ClippedVectors(squared, radius)))
        law = here.purse.vector(summary.totals, bound=BOUND, share=share)
        sums = yield from draw(f"squares {number}", law)
        noise = schedule.noise_each(radius, share)
        v = np.maximum(np.array(sums, dtype=np.float64) * (radius / BOUND / schedule.rows), noise)
        uneven = len(v) * v.sum() / np.sqrt(v).sum() ** 2
        if uneven < _UNEVEN and noise < _CLEAR * v.mean():
            break
        gains = np.array(frame.gains) / np.sqrt(np.sqrt(v))
        gains *= SUBSTEP / 2.0 ** np.frexp(gains.max())[1]  # the largest is from 128 to 256
        frame = replace(frame, gains=tuple(gains.tolist()))
        weighed = yield from wide_radius(here, schedule, frame, f"weighed radius {number}")
        frame = yield from _stepped(here, schedule, frame, weighed, f"weighed step {number}")
    return frame


def wide_radius(
    here: VectorSetting, schedule: VectorSchedule, frame: VectorFrame, label: str
) -> Steps[int]:
    """Draw a radius in any frame, without knowing where to look for it."""
    grid = wide_radii(here.lattice)
    norms = yield from need(here.ask(NormCounts(frame, grid.radii)))
    return (yield from _rough_radius(here, schedule, norms, grid, label))


def _rough_radius(
    here: VectorSetting,
    schedule: VectorSchedule,
    norms: NormSummary,
    grid: RadiusGrid,
    label: str,
) -> Steps[int]:
    """Draw a radius on the way, for little."""
    place = yield from radius_for(
        here,
        norms,
        grid,
        target=schedule.target,
        tilt=schedule.wide_tilt,
        share=schedule.radius,
        label=label,
    )
    return grid.radii[place]
