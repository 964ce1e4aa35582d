"""The end of every mean vector: the ball of its last sum, the sum, and its error model.

[mean_vector.2] radius  near one that is known, with next to no rows outside;
[mean_vector.6] rows    noisy numbers of the rows outside, and of all rows;
[mean_vector.7] again   if those outside are too many, radii beyond the first, and another number;
[mean_vector.5] sum     the clipped sum about a centre, with nearly all that is left.

Labels are those of docs/proofs/mean_vector.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.array_release import ArrayEstimate, Axis, Intervals
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.mechanisms.grids import RadiusGrid
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.count import draw_count
from modicum.statistics.vector_rounds import Located, VectorSetting, beyond, radius_for
from modicum.statistics.vector_schedule import (
    OUTSIDE,
    VectorSchedule,
    again_radii,
    count_share,
    fine_radii,
    part_of,
    wide_radii,
)
from modicum.status import FINE_STEPS, OK, Status, unseen
from modicum.summaries.base import Columns
from modicum.summaries.vectors import BOUND, ClippedVectors, VectorScaling


@dataclass(frozen=True, slots=True)
class Ball:
    """Released: a radius, and the noisy number of rows outside, with its ``noise``.

    With more than ``most`` rows outside, they are not the tail of the others. ``seen``: the radius
    is that of the rows' spread, and not of the noise of the centre.
    """

    radius: int
    outside: int
    noise: Noise
    most: int
    seen: bool = True


def count_outside(
    here: VectorSetting, outside: int, share: Fraction, label: str = "rows outside"
) -> Steps[tuple[int, Noise]]:
    """Draw the noisy number of rows outside, which is sensitive [mean_vector.6]."""
    return (yield from draw_count(here.split, outside, here.split.share(share), label))


def last_ball(here: VectorSetting, schedule: VectorSchedule, found: Located) -> Steps[Ball]:
    """Draw the radius of the last sum near one that is known; if that fails, beyond it."""
    share = schedule.constants.last_radius
    grid = fine_radii(found.radius, here.lattice, here.power)
    outside = beyond(here, found.norms)
    target = schedule.last_target(1 - here.spent - share - OUTSIDE[here.power])
    tilt = schedule.fine_tilt
    radius = yield from radius_for(
        here, outside, grid, target=target, tilt=tilt, share=share, label="last radius"
    )
    rows, noise = yield from count_outside(here, outside[radius], OUTSIDE[here.power])
    most = schedule.most_outside(target, math.sqrt(noise.variance))
    if rows <= most:
        return Ball(radius, rows, noise, most, found.noise <= schedule.seen * radius)
    return (yield from _wider_ball(here, schedule, found, radius, target))


def _wider_ball(
    here: VectorSetting, schedule: VectorSchedule, found: Located, least: int, target: int
) -> Steps[Ball]:
    """[mean_vector.7] Look for a radius beyond one that leaves too many rows outside.

    They may be anywhere in the range: a first draw has a weak prior over all octaves beyond, and
    may be far too large; a second one looks for a better one below.
    """
    again, outside = schedule.constants.again, beyond(here, found.norms)

    def searched(grid: RadiusGrid, per_octave: int, share: Fraction, label: str) -> Steps[int]:
        octaves = math.log2(grid.radii[-1] / grid.radii[0])
        tilt = schedule.again_tilt(octaves, per_octave)
        return (
            yield from radius_for(
                here, outside, grid, target=target, tilt=tilt, share=share, label=label
            )
        )

    whole = found.scaling.longest(here.lattice, found.norms.width)
    grid = part_of(wide_radii(here.lattice, here.power), least, whole)
    wide = yield from searched(grid, 4, again.wide, "wider radius")
    grid = again_radii(least, wide, here.lattice, here.power)
    radius = yield from searched(grid, 16, again.fine, "last radius again")
    counted = outside[radius]
    rows, noise = yield from count_outside(here, counted, again.outside, "rows outside again")
    most = schedule.most_again(target, math.sqrt(noise.variance))
    return Ball(radius, rows, noise, most, found.noise <= schedule.seen * radius)


def last_sum(
    here: VectorSetting, scaling: VectorScaling, ball: Ball, width: int, *, near: int
) -> Steps[VectorErrorModel]:
    """[mean_vector.5], [mean_vector.6] Spend all that is left on the clipped sum and the row count.

    ``width`` is the number of components, ``near`` as for
    :func:`~modicum.statistics.vector_schedule.count_share`.
    """
    split, asked = here.split, ClippedVectors(scaling, ball.radius)
    summary = yield from read(here.ask(asked))
    share = (1 - here.spent) * (1 - count_share(width, near, here.power))
    mechanism = here.noisy(summary.totals, share)
    sums = yield from draw("sum", mechanism)
    rows, noise = yield from draw_count(split, summary.count, split.rest(), "rows")
    return VectorErrorModel(
        lattice=here.lattice,
        centre=scaling.centre * (width // len(scaling.centre)),
        gains=asked.scaled.gains * (width // len(scaling.gains)),
        sums=sums,
        noise=mechanism.noise[0],
        rows=rows,
        rows_noise=noise,
        outside=ball.outside,
        outside_noise=ball.noise,
        most_outside=ball.most,
        seen=ball.seen,
    )


def answer_of(columns: Columns, error_model: VectorErrorModel) -> ArrayEstimate:
    """Return the means with the names of the columns, or the numbers of the components."""
    if columns.names is None:
        axis = Axis.of(component=tuple(float(place) for place in range(len(error_model.sums))))
    else:
        axis = Axis.of(column=columns.names)
    return ArrayEstimate(error_model.values, (axis,), error_model, error_model.status)


NOISY = Status(
    "few_records",
    "too little data for this budget and so many components: the noise is larger than the ball "
    "that holds the rows; use fewer columns or a larger budget",
)
CLIPPED = Status(
    "clipped",
    "more rows are far outside the ball than its radius tells of, or a good part of all: too "
    "little data for this range and budget; narrow `within` or spend more",
)
POINT = Status(
    "coarse_step",
    "the ball that holds most rows is smaller than the step to which values are rounded: nearly "
    "all rows are one point, and what the others hold is lost, or `within` is far too wide",
)
UNSEEN = Status(
    "few_records",
    "too little data for this budget: the rows' spread was not found, so the noise may be larger "
    "than it, and nothing is known of rows far from the others; ask for fewer columns, narrow "
    "`within` or spend more",
)
TAIL = Status(
    "heavy_tail",
    "a good part of the rows lie outside the ball: the intervals assume that they are not far "
    "outside, and may be too short; spend more",
)
_MANY = 1 / 25  # of the rows outside: there the tail of skewed rows has not begun
_COUNTS = 0.1  # of the error probability, for each of the two counts


@dataclass(frozen=True, slots=True)
class VectorErrorModel:
    """Noisy sums of rows clipped about a centre (in lattice integers), and noisy numbers of rows.

    ``gains`` are units of the sum in a lattice step, for each component; rows were clipped to norm
    :data:`~modicum.summaries.vectors.BOUND` in them, in L1 if ``noise``, that of each sum, is
    Laplace noise, else in L2. ``outside`` is the number of rows that were clipped; more than
    ``most_outside`` are not the tail of the others. ``seen``: the radius is that of the rows'
    spread, and not of the noise of the centre.
    """

    lattice: Lattice
    centre: tuple[int, ...]
    gains: tuple[float, ...]
    sums: tuple[int, ...]
    noise: Noise
    rows: int
    rows_noise: Noise
    outside: int
    outside_noise: Noise
    most_outside: int = 1 << 62
    seen: bool = True

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The means, within the range."""
        count, step = max(self.rows, 1), Fraction(self.lattice.step)
        means = (
            c + s / (Fraction(g) * count)
            for c, g, s in zip(self.centre, self.gains, self.sums, strict=True)
        )
        first, last = self.lattice.first, self.lattice.last
        return tuple(min(max(mean, Fraction(first)), Fraction(last)) * step for mean in means)

    @property
    def none_seen(self) -> bool:
        return unseen(self.rows, self.rows_noise.tail_bound(0.1))

    @property
    def in_steps(self) -> tuple[float, ...]:
        """How far from 0 the ball that holds the rows reaches, in steps; 0 if that is little.

        A component of zeros has its centre there, and a small radius.
        """
        reaches = [abs(c) + BOUND / g for c, g in zip(self.centre, self.gains, strict=True)]
        pairs = zip(self.centre, reaches, strict=True)
        return tuple(reach if c or reach >= FINE_STEPS else 0.0 for c, reach in pairs)

    @property
    def status(self) -> Status:
        count, width = max(self.rows, 1), len(self.sums)
        if self.noise.length(width) > BOUND * count:
            return NOISY
        if self._unlike or self.outside > count / 4:
            return CLIPPED
        if self._point:
            return POINT
        if not self.seen:
            return UNSEEN
        return TAIL if self.outside > _MANY * count else OK

    @property
    def _unlike(self) -> bool:
        """Whether too many rows are outside to be the tail of the others."""
        return self.outside > self.most_outside

    @property
    def _point(self) -> bool:
        """Whether no row inside the ball is elsewhere than its centre."""
        return min(self.gains) > BOUND

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return intervals that hold all at once.

        One of the d + 2 noises is larger than its bound with a probability of at most 1 - level
        (union bound). For any number of rows between its bounds, and any sums between theirs, the
        mean of the clipped rows is between two quotients. A row outside adds, on average, no more
        than r / (tail - 1) to what was clipped off; in the worst case all of it in one component.
        If the ball tells nothing of the rows outside, each may be anywhere in the range.
        """
        alpha = 1 - level
        reach = self.noise.tail_bound(alpha * (1 - 2 * _COUNTS) / len(self.sums))
        about = self.rows_noise.tail_bound(alpha * _COUNTS)
        fewest, most = max(self.rows - about, 1.0), max(self.rows + about, 1.0)
        sums, gains = np.array(self.sums, dtype=np.float64), np.array(self.gains)
        low, high = (sums - reach) / gains, (sums + reach) / gains
        lower = np.minimum(low / fewest, low / most)
        upper = np.maximum(high / fewest, high / most)
        centre, step = np.array(self.centre, dtype=np.float64), self.lattice.step
        if tail is not None:
            beyond = self.outside + self.outside_noise.tail_bound(alpha * _COUNTS)
            share = min(max(beyond, 0.0) / fewest, 1.0)
            if self._unlike or self._point or not self.seen:
                down, up = centre - self.lattice.first, self.lattice.last - centre
            else:
                down = up = BOUND / (tail - 1) / gains
            lower, upper = lower - share * down, upper + share * up
        ends = (
            np.clip((centre + side) * step, self.lattice.lo, self.lattice.hi)
            for side in (lower, upper)
        )
        return Intervals(*ends)

    @property
    def condition(self) -> str:
        return "assume that clipped rows are not far outside the ball (tail=3)"

    def assumption(self, tail: float | None) -> str:
        cover = (
            "the intervals cover the noise of all components and of the number of rows at once, "
        )
        if tail is None:
            return cover + "but not what was clipped off the rows outside the ball."
        return cover + (
            "and what was clipped off: the rows outside the ball, whose noisy number is known, are "
            f"assumed to lie beyond it by at most 1/{tail - 1:g} of its radius on average, in any "
            "direction. They cover the mean of these rows, not of a population."
        )

    def to_dict(self) -> dict[str, object]:
        step = self.lattice.step
        return {
            "centre": [self.lattice.value(each) for each in self.centre],
            "radii": [BOUND / gain * step for gain in self.gains],
            "sums": list(self.sums),
            "noise_sd": math.sqrt(self.noise.variance),
            "rows": self.rows,
            "rows_noise_sd": math.sqrt(self.rows_noise.variance),
            "outside": self.outside,
            "outside_noise_sd": math.sqrt(self.outside_noise.variance),
        }
