"""The ball of a mean vector's last sum, and how many rows are outside.

[M2] radius   near one that is known, with next to no rows outside;
[M6] outside  a noisy number of them;
[M7] again    if they are too many, radii beyond the first, and another number.

Labels are those of docs/proofs/mean_vector.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.mechanisms.additive import Noise
from modicum.mechanisms.grids import RadiusGrid
from modicum.runtime.steps import Steps, draw
from modicum.statistics.vector_rounds import Located, VectorSetting, beyond, radius_for
from modicum.statistics.vector_schedule import (
    VectorSchedule,
    again_radii,
    fine_radii,
    part_of,
    wide_radii,
)
from modicum.statistics.vector_share import OUTSIDE

__all__ = ["Ball", "count_outside", "last_ball"]


@dataclass(frozen=True, slots=True)
class Ball:
    """Released: a radius, and what is known of the rows outside.

    Attributes
    ----------
    radius : int
    outside : int
        Their noisy number.
    noise : Noise
        Of this number.
    most : int
        If there are more, they are not the tail of the others.
    seen : bool
        Whether the radius is that of the rows' spread, and not of the noise of the centre.
    """

    radius: int
    outside: int
    noise: Noise
    most: int
    seen: bool = True


def count_outside(
    here: VectorSetting, outside: int, share: Fraction, label: str = "rows outside"
) -> Steps[tuple[int, Noise]]:
    """Draw the noisy number of rows outside, which is sensitive [M6]."""
    law = here.purse.noisy((outside,), sensitivity=1, share=share)
    (found,) = yield from draw(label, law)
    return found, law.noise[0]


def last_ball(here: VectorSetting, schedule: VectorSchedule, found: Located) -> Steps[Ball]:
    """Draw the radius of the last sum near one that is known; if that fails, beyond it."""
    share = schedule.constants.last_radius
    grid = fine_radii(found.radius, here.lattice, here.power)
    outside = beyond(here, found.norms, grid)
    target = schedule.last_target(1 - here.spent - share - OUTSIDE[here.power])
    place = yield from radius_for(
        here,
        outside,
        grid,
        target=target,
        tilt=schedule.fine_tilt,
        share=share,
        label="last radius",
    )
    rows, noise = yield from count_outside(here, outside[place], OUTSIDE[here.power])
    most = schedule.most_outside(target, math.sqrt(noise.variance))
    if rows <= most:
        seen = found.noise <= schedule.seen * grid.radii[place]
        return Ball(grid.radii[place], rows, noise, most, seen)
    return (yield from _wider_ball(here, schedule, found, grid.radii[place], target))


def _wider_ball(
    here: VectorSetting, schedule: VectorSchedule, found: Located, least: int, target: int
) -> Steps[Ball]:
    """Look for a radius beyond one that leaves too many rows outside [M7].

    They may be anywhere in the range: a first draw has a weak prior over all octaves beyond, and
    may be far too large; a second one looks for a better one below.
    """
    again = schedule.constants.again

    def searched(grid: RadiusGrid, per_octave: int, share: Fraction, label: str) -> Steps[int]:
        octaves = math.log2(grid.radii[-1] / grid.radii[0])
        place = yield from radius_for(
            here,
            beyond(here, found.norms, grid),
            grid,
            target=target,
            tilt=schedule.again_tilt(octaves, per_octave),
            share=share,
            label=label,
        )
        return grid.radii[place]

    whole = found.frame.longest(here.lattice, found.norms.width)
    grid = part_of(wide_radii(here.lattice, here.power), least, whole)
    wide = yield from searched(grid, 4, again.wide, "wider radius")
    grid = again_radii(least, wide, here.lattice, here.power)
    radius = yield from searched(grid, 16, again.fine, "last radius again")
    (outside,) = beyond(here, found.norms, RadiusGrid((radius,), (0,)))
    rows, noise = yield from count_outside(here, outside, again.outside, "rows outside again")
    most = schedule.most_again(target, math.sqrt(noise.variance))
    return Ball(radius, rows, noise, most, found.noise <= schedule.seen * radius)
