"""The rounds before a mean vector's last sum: a noisy centre, and a scale for each component.

Labels are those of docs/proofs/mean_vector.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, VectorNoise, add_noise
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.selection import RadiusDraw
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw, read, read_both
from modicum.statistics.vector_schedule import (
    SUBSTEP,
    VectorSchedule,
    all_radii,
    part_of,
    wide_radii,
    wide_squares,
)
from modicum.summaries.base import Columns, Read, Reduction
from modicum.summaries.vectors import BOUND, ClippedVectors, NormCounts, NormSummary, VectorScaling

S = TypeVar("S")

_UNEVEN = 1.15  # gain in mean square error that is worth another round of scales
_HEARD = 2.0  # variance of mean sizes, in that of their noise, that noise alone does not have
_CLEAR = 0.25  # noise of a mean size, in mean sizes, at which all of them are known


@dataclass(frozen=True, slots=True)
class VectorSetting:
    """What every step of one run refers to."""

    columns: Columns
    lattice: Lattice
    split: BudgetSplit

    def ask(self, reduction: Reduction[S]) -> Read[S]:
        """Read a reduction of the rows."""
        return Read(None, self.lattice, reduction, self.columns)

    @property
    def spent(self) -> Fraction:
        """Share of the budget that is spent so far."""
        return 1 - self.split.left / self.split.total

    @property
    def power(self) -> int:
        """Of the norm in which rows are clipped: 1 for Laplace noise, 2 for Gaussian noise."""
        return self.split.power

    def noisy(self, totals: tuple[int, ...], share: Fraction) -> VectorNoise | Additive:
        """Sums of rows clipped to ``BOUND``, plus noise for a share."""
        part = self.split.share(share)
        if part.zcdp is None:
            return self.split.spend(add_noise(totals, part, sensitivity=BOUND))
        return self.split.spend(VectorNoise(totals, BOUND, part.zcdp))


@dataclass(frozen=True, slots=True)
class Located:
    """A scaling, what is known of the rows in it, and a released radius.

    ``norms`` for all radii and, in zCDP, ``sizes``, those of squared components, are sensitive.
    ``noise`` is the norm of the centre's noise, in the scaling's units.
    """

    scaling: VectorScaling
    norms: NormSummary
    sizes: NormSummary | None
    radius: int
    noise: float


def start_scaling(lattice: Lattice, power: int) -> VectorScaling:
    """Measure from the point of the range that is nearest to 0."""
    origin = min(max(0, lattice.first), lattice.last)
    return VectorScaling((origin,), (float(SUBSTEP),), power=power)


def beyond(here: VectorSetting, norms: NormSummary) -> dict[int, int]:
    """Rows beyond each of all radii; sensitive."""
    return dict(zip(all_radii(here.lattice, here.power), norms.outside, strict=True))


def first_norms(here: VectorSetting) -> Steps[NormSummary]:
    """Measure rows from the start."""
    scaling = start_scaling(here.lattice, here.power)
    return (yield from read(here.ask(NormCounts(scaling, all_radii(here.lattice, here.power)))))


def radius_for(
    here: VectorSetting,
    outside: Mapping[int, int],
    grid: RadiusGrid,
    *,
    target: int,
    tilt: Fraction,
    share: Fraction,
    label: str,
) -> Steps[int]:
    """Draw one of a grid's radii with about ``target`` rows ``outside`` it [mean_vector.2]."""
    punished = tuple(max(outside[radius] - target, 0) for radius in grid.radii)
    mechanism = here.split.spend(
        RadiusDraw.of((punished,), grid, here.split.share(share), tilt=tilt)
    )
    (place,) = yield from draw(label, mechanism)
    return grid.radii[place]


def locate(
    here: VectorSetting,
    schedule: VectorSchedule,
    norms: NormSummary,
    ends: tuple[float, float] | None = None,
) -> Steps[Located]:
    """[mean_vector.3] Move a centre into the rows, by steps whose noise shrinks with the radius.

    A radius holds nearly all rows about the centre; the mean of the rows clipped to it, with noise
    of a fraction of the radius, is the next centre. The rows then are nearer, unless the noise
    already was small against their spread: that ends it. With two ends the first radius is looked
    for between them.
    """
    scaling, noise, rounds = start_scaling(here.lattice, here.power), math.inf, 0
    sizes = None
    while True:
        rounds += 1
        radius = yield from _rough_radius(here, schedule, norms, f"radius {rounds}", ends)
        after = here.spent + schedule.step + 2 * schedule.radius
        near = noise <= schedule.settled * radius
        if near or after > schedule.constants.locate:
            return Located(scaling, norms, sizes, radius, noise)
        scaling = yield from _stepped(here, schedule, scaling, radius, f"step {rounds}")
        noise = schedule.noise_norm(radius, schedule.step)
        ends = (noise / 4, 2.0 * radius)  # rows are no nearer than the centre's noise puts them
        norms, sizes = yield from _measured(here, scaling, norms.width)


def find_scales(here: VectorSetting, schedule: VectorSchedule, found: Located) -> Steps[Located]:
    """[mean_vector.4] Weigh components by v^(-1/4), v being noisy mean squares about the centre.

    In pure ε, where rows are clipped in L1 norm, by v^(-1/3), v being mean absolute values. For the
    norm of power p and v = E|z|^p a row's norm is about C = (sum w^p v)^(1/p) and the noise of
    component j is C/w_j: the sum of the variances, C² sum w^-2, is least at w = v^(-1/(p + 2)),
    where it is A^(1 + 2/p) for A = sum v^(2/(p + 2)) (Hölder). Noise hides the v that are small
    against the norm of all sizes, and so does the noise of the centre; with weights both are
    smaller, so after a step of the centre in the new weights a second round sees further.
    """
    p, width = schedule.power, found.norms.width
    for number, share in enumerate(schedule.constants.sizes, start=1):
        if here.spent + share + 2 * schedule.radius + schedule.step > schedule.constants.weighed:
            break
        radius = yield from _size_radius(here, schedule, found, number)
        scaling = found.scaling
        sized = ClippedVectors(replace(scaling, sizes=True), radius)
        summary = yield from read(here.ask(sized))
        sums = yield from draw(f"sizes {number}", here.noisy(summary.totals, share))
        noise = schedule.noise_each(radius, share)
        raw = np.array(sums, dtype=np.float64) * (radius / BOUND / schedule.rows)
        if raw.var() < _HEARD * noise**2:
            break
        v = np.maximum(raw, noise)
        best = (v ** (2 / (p + 2))).sum() ** (1 + 2 / p)
        if width * v.sum() ** (2 / p) < _UNEVEN * best and noise < _CLEAR * v.mean():
            break
        gains = np.array(scaling.gains) * v ** (-1 / (p + 2))
        gains *= SUBSTEP / 2.0 ** np.frexp(gains.max())[1]  # the largest is from 128 to 256
        changed = gains / np.array(scaling.gains)
        ends = (found.radius * changed.min() / 4, 2 * found.radius * changed.max())
        scaling = replace(scaling, gains=tuple(gains.tolist()))
        norms, _ = yield from _measured(here, scaling, 1)
        weighed = yield from _rough_radius(here, schedule, norms, f"weighed radius {number}", ends)
        scaling = yield from _stepped(here, schedule, scaling, weighed, f"weighed step {number}")
        norms, sizes = yield from _measured(here, scaling, width)
        noise_left = schedule.noise_norm(weighed, schedule.step)
        found = Located(scaling, norms, sizes, weighed, noise_left)
    return found


def _size_radius(
    here: VectorSetting, schedule: VectorSchedule, found: Located, number: int
) -> Steps[int]:
    """Radius of the vectors of sizes; an L1 norm is that of the rows themselves."""
    if schedule.power == 1:
        return found.radius
    sizes = found.sizes
    if sizes is None:
        _, sizes = yield from _measured(here, found.scaling, found.norms.width)
    assert sizes is not None
    whole = wide_squares(here.lattice)
    outside = dict(zip(whole.radii, sizes.outside, strict=True))
    # A row of norm R has a vector of squares of norm R² / sqrt(d) to R².
    least = found.radius**2 / (64 * math.sqrt(found.norms.width))
    grid = part_of(whole, least, 2.0 * found.radius**2)
    tilt = schedule.part_tilt(math.log2(grid.radii[-1] / grid.radii[0]) / 2)
    return (
        yield from _wide_radius(here, schedule, outside, grid, tilt, f"radius of squares {number}")
    )


def _measured(
    here: VectorSetting, scaling: VectorScaling, width: int
) -> Steps[tuple[NormSummary, NormSummary | None]]:
    """Norms of scaled rows; in the same pass those of their squares, if weights may follow."""
    asked = here.ask(NormCounts(scaling, all_radii(here.lattice, here.power)))
    if width == 1 or here.power == 1:
        return (yield from read(asked)), None
    squares = NormCounts(replace(scaling, sizes=True), wide_squares(here.lattice).radii)
    return (yield from read_both(asked, here.ask(squares)))


def _stepped(
    here: VectorSetting, schedule: VectorSchedule, scaling: VectorScaling, radius: int, label: str
) -> Steps[VectorScaling]:
    summary = yield from read(here.ask(ClippedVectors(scaling, radius)))
    sums = yield from draw(label, here.noisy(summary.totals, schedule.step))
    units = radius / (BOUND * np.array(scaling.gains) * schedule.rows)  # lattice steps of the mean
    moved = np.rint(np.array(scaling.centre) + np.array(sums, dtype=np.float64) * units)
    centre = np.clip(moved, here.lattice.first, here.lattice.last)
    return replace(scaling, centre=tuple(int(each) for each in centre.tolist()))


def _rough_radius(
    here: VectorSetting,
    schedule: VectorSchedule,
    norms: NormSummary,
    label: str,
    ends: tuple[float, float] | None = None,
) -> Steps[int]:
    """Draw a radius on the way, for little, between two ends if they are known."""
    grid, tilt = wide_radii(here.lattice, here.power), schedule.wide_tilt
    if ends is None:
        start = start_scaling(here.lattice, here.power)
        grid = part_of(grid, 1, start.longest(here.lattice, norms.width))
    else:
        grid = part_of(grid, *ends)
        tilt = schedule.part_tilt(math.log2(ends[1] / ends[0]))
    outside = beyond(here, norms)
    return (yield from _wide_radius(here, schedule, outside, grid, tilt, label))


def _wide_radius(
    here: VectorSetting,
    schedule: VectorSchedule,
    outside: Mapping[int, int],
    grid: RadiusGrid,
    tilt: Fraction,
    label: str,
) -> Steps[int]:
    target, share = schedule.target, schedule.radius
    return (
        yield from radius_for(
            here, outside, grid, target=target, tilt=tilt, share=share, label=label
        )
    )
