"""The rounds of a mean vector: a noisy centre, a scale for each component, a ball, its sum.

[mean_vector.2] radius  few rows outside, drawn before every sum;
[mean_vector.3] step    a centre, moved by clipped means whose noise shrinks with the radius;
[mean_vector.4] sizes   noisy mean sizes, by which components are weighed;
[mean_vector.6] rows    noisy numbers of the rows outside the last radius, and of all rows;
[mean_vector.7] again   if those outside are too many, radii beyond the first, and another number;
[mean_vector.5] sum     the clipped sum about a centre, with nearly all that is left.

Labels are those of docs/research/proofs/mean_vector.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms import grids, selection
from modicum.mechanisms.additive import Additive, Noise, VectorNoise, add_noise
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import ArrayEstimate, Axis, Intervals
from modicum.releases.status import FINE_STEPS, OK, Status, hardly_seen
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics.vectors import vector_schedule
from modicum.stored.codec import storable
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

    @property
    def start(self) -> VectorScaling:
        """Measure from the point of the range that is nearest to 0."""
        origin = min(max(0, self.lattice.first), self.lattice.last)
        return VectorScaling((origin,), (float(vector_schedule.SUBSTEP),), power=self.power)

    def norms(self, scaling: VectorScaling) -> Read[NormSummary]:
        """Read the norms of scaled rows, for all radii."""
        return self.ask(NormCounts(scaling, vector_schedule.all_radii(self.lattice, self.power)))

    def beyond(self, norms: NormSummary) -> dict[int, int]:
        """Rows beyond each of all radii; sensitive."""
        return dict(
            zip(vector_schedule.all_radii(self.lattice, self.power), norms.outside, strict=True)
        )

    def noisy_sums(self, totals: tuple[int, ...], share: Fraction) -> VectorNoise | Additive:
        """Sums of rows clipped to ``BOUND``, plus noise for a share."""
        part = self.split.share(share)
        if part.zcdp is None:
            return self.split.spend(add_noise(totals, part, sensitivity=BOUND))
        return self.split.spend(VectorNoise(totals, BOUND, part.zcdp))

    def noisy_count(self, rows: int, share: Fraction, label: str) -> Steps[tuple[int, Noise]]:
        """Draw a noisy number of rows, which is sensitive [mean_vector.6]."""
        return (yield from draw_count(self.split, rows, self.split.share(share), label))


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


@dataclass(frozen=True, slots=True)
class VectorRounds(VectorSetting):
    """The rounds of one run whose budget is divided."""

    schedule: vector_schedule.VectorSchedule

    @classmethod
    def of(cls, here: VectorSetting, schedule: vector_schedule.VectorSchedule) -> VectorRounds:
        return cls(here.columns, here.lattice, here.split, schedule)

    def locate(self, norms: NormSummary, ends: tuple[float, float] | None = None) -> Steps[Located]:
        """[mean_vector.3] Move a centre into the rows: the noise of a step shrinks with the radius.

        A radius holds nearly all rows about the centre; the mean of the rows clipped to it, with
        noise of a fraction of the radius, is the next centre. The rows then are nearer, unless the
        noise already was small against their spread: that ends it. ``norms`` are those from the
        start; with two ends the first radius is looked for between them.
        """
        schedule, scaling, sizes = self.schedule, self.start, None
        noise, rounds = math.inf, 0
        while True:
            rounds += 1
            radius = yield from self._rough_radius(norms, f"radius {rounds}", ends)
            after = self.spent + schedule.step + 2 * schedule.radius
            near = noise <= schedule.settled * radius
            if near or after > schedule.constants.locate:
                return Located(scaling, norms, sizes, radius, noise)
            scaling = yield from self._stepped(scaling, radius, f"step {rounds}")
            noise = schedule.noise_norm(radius, schedule.step)
            ends = (noise / 4, 2.0 * radius)  # rows are no nearer than the centre's noise puts them
            norms, sizes = yield from self._measured(scaling, norms.width)

    def find_scales(self, found: Located) -> Steps[Located]:
        """[mean_vector.4] Weigh components by v^(-1/4), v noisy mean squares about the centre.

        In pure ε, where rows are clipped in L1 norm, by v^(-1/3), v being mean absolute values. For
        the norm of power p and v = E|z|^p a row's norm is about C = (sum w^p v)^(1/p) and the noise
        of component j is C/w_j: the sum of the variances, C² sum w^-2, is least at
        w = v^(-1/(p + 2)), where it is A^(1 + 2/p) for A = sum v^(2/(p + 2)) (Hölder). Noise hides
        the v that are small against the norm of all sizes, and so does the noise of the centre;
        with weights both are smaller, so after a step of the centre in the new weights a second
        round sees further.
        """
        schedule = self.schedule
        p, width = schedule.power, found.norms.width
        for number, share in enumerate(schedule.constants.sizes, start=1):
            spent = self.spent + share + 2 * schedule.radius + schedule.step
            if spent > schedule.constants.weighed:
                break
            radius = yield from self._size_radius(found, number)
            scaling = found.scaling
            sized = ClippedVectors(replace(scaling, sizes=True), radius)
            summary = yield from read(self.ask(sized))
            sums = yield from draw(f"sizes {number}", self.noisy_sums(summary.totals, share))
            noise = schedule.noise_each(radius, share)
            raw = np.array(sums, dtype=np.float64) * (radius / BOUND / schedule.rows)
            if raw.var() < _HEARD * noise**2:
                break
            v = np.maximum(raw, noise)
            best = (v ** (2 / (p + 2))).sum() ** (1 + 2 / p)
            if width * v.sum() ** (2 / p) < _UNEVEN * best and noise < _CLEAR * v.mean():
                break
            gains = np.array(scaling.gains) * v ** (-1 / (p + 2))
            gains *= (
                vector_schedule.SUBSTEP / 2.0 ** np.frexp(gains.max())[1]
            )  # the largest is from 128 to 256
            changed = gains / np.array(scaling.gains)
            ends = (found.radius * changed.min() / 4, 2 * found.radius * changed.max())
            scaling = replace(scaling, gains=tuple(gains.tolist()))
            norms, _ = yield from self._measured(scaling, 1)
            weighed = yield from self._rough_radius(norms, f"weighed radius {number}", ends)
            scaling = yield from self._stepped(scaling, weighed, f"weighed step {number}")
            norms, sizes = yield from self._measured(scaling, width)
            noise_left = schedule.noise_norm(weighed, schedule.step)
            found = Located(scaling, norms, sizes, weighed, noise_left)
        return found

    def last_ball(self, found: Located) -> Steps[Ball]:
        """Draw the radius of the last sum near one that is known; if that fails, beyond it."""
        schedule, share = self.schedule, self.schedule.constants.last_radius
        grid = vector_schedule.fine_radii(found.radius, self.lattice, self.power)
        outside = self.beyond(found.norms)
        target = schedule.last_target(1 - self.spent - share - vector_schedule.OUTSIDE[self.power])
        draws = "last radius", target, share
        radius = yield from self._radius(outside, grid, schedule.fine_tilt, *draws)
        share = vector_schedule.OUTSIDE[self.power]
        rows, noise = yield from self.noisy_count(outside[radius], share, "rows outside")
        most = schedule.most_outside(target, math.sqrt(noise.variance))
        if rows <= most:
            return Ball(radius, rows, noise, most, found.noise <= schedule.seen * radius)
        return (yield from self._wider_ball(found, outside, radius, target))

    def _wider_ball(
        self, found: Located, outside: Mapping[int, int], least: int, target: int
    ) -> Steps[Ball]:
        """[mean_vector.7] Look for a radius beyond one that leaves too many rows outside.

        They may be anywhere in the range: a first draw has a weak prior over all octaves beyond,
        and may be far too large; a second one looks for a better one below.
        """
        schedule, constants = self.schedule, self.schedule.constants

        def searched(
            grid: grids.RadiusGrid, per_octave: int, share: Fraction, label: str
        ) -> Steps[int]:
            octaves = math.log2(grid.radii[-1] / grid.radii[0])
            tilt = schedule.again_tilt(octaves, per_octave)
            return (yield from self._radius(outside, grid, tilt, label, target, share))

        whole = found.scaling.longest(self.lattice, found.norms.width)
        grid = vector_schedule.part_of(
            vector_schedule.wide_radii(self.lattice, self.power), least, whole
        )
        wide = yield from searched(grid, 4, constants.again_wide, "wider radius")
        grid = vector_schedule.again_radii(least, wide, self.lattice, self.power)
        radius = yield from searched(grid, 16, constants.again_fine, "last radius again")
        share, label = constants.again_outside, "rows outside again"
        rows, noise = yield from self.noisy_count(outside[radius], share, label)
        most = schedule.most_again(target, math.sqrt(noise.variance))
        return Ball(radius, rows, noise, most, found.noise <= schedule.seen * radius)

    def _radius(
        self,
        outside: Mapping[int, int],
        grid: grids.RadiusGrid,
        tilt: Fraction,
        label: str,
        target: int | None = None,
        share: Fraction | None = None,
    ) -> Steps[int]:
        """Draw one of a grid's radii with about ``target`` rows ``outside`` it [mean_vector.2].

        Without a target and a share it is a radius on the way, for little.
        """
        if target is None or share is None:
            target, share = self.schedule.target, self.schedule.radius
        punished = tuple(max(outside[radius] - target, 0) for radius in grid.radii)
        mechanism = self.split.spend(
            selection.RadiusDraw.of((punished,), grid, self.split.share(share), tilt=tilt)
        )
        (place,) = yield from draw(label, mechanism)
        return grid.radii[place]

    def _rough_radius(
        self, norms: NormSummary, label: str, ends: tuple[float, float] | None
    ) -> Steps[int]:
        """Draw a radius on the way, between two ends if they are known."""
        grid, tilt = vector_schedule.wide_radii(self.lattice, self.power), self.schedule.wide_tilt
        if ends is None:
            grid = vector_schedule.part_of(grid, 1, self.start.longest(self.lattice, norms.width))
        else:
            grid = vector_schedule.part_of(grid, *ends)
            tilt = self.schedule.part_tilt(math.log2(ends[1] / ends[0]))
        return (yield from self._radius(self.beyond(norms), grid, tilt, label))

    def _size_radius(self, found: Located, number: int) -> Steps[int]:
        """Radius of the vectors of sizes; an L1 norm is that of the rows themselves."""
        if self.schedule.power == 1:
            return found.radius
        sizes = found.sizes
        if sizes is None:
            _, sizes = yield from self._measured(found.scaling, found.norms.width)
        assert sizes is not None
        whole = vector_schedule.wide_squares(self.lattice)
        outside = dict(zip(whole.radii, sizes.outside, strict=True))
        # A row of norm R has a vector of squares of norm R² / sqrt(d) to R².
        least = found.radius**2 / (64 * math.sqrt(found.norms.width))
        grid = vector_schedule.part_of(whole, least, 2.0 * found.radius**2)
        tilt = self.schedule.part_tilt(math.log2(grid.radii[-1] / grid.radii[0]) / 2)
        return (yield from self._radius(outside, grid, tilt, f"radius of squares {number}"))

    def _measured(
        self, scaling: VectorScaling, width: int
    ) -> Steps[tuple[NormSummary, NormSummary | None]]:
        """Norms of scaled rows; in the same pass those of their squares, if weights may follow."""
        asked = self.norms(scaling)
        if width == 1 or self.power == 1:
            return (yield from read(asked)), None
        squares = NormCounts(
            replace(scaling, sizes=True), vector_schedule.wide_squares(self.lattice).radii
        )
        return (yield from read_both(asked, self.ask(squares)))

    def _stepped(self, scaling: VectorScaling, radius: int, label: str) -> Steps[VectorScaling]:
        """Move the centre to the noisy mean of the rows clipped to a radius."""
        schedule = self.schedule
        summary = yield from read(self.ask(ClippedVectors(scaling, radius)))
        sums = yield from draw(label, self.noisy_sums(summary.totals, schedule.step))
        units = radius / (BOUND * np.array(scaling.gains) * schedule.rows)  # steps of the mean
        moved = np.rint(np.array(scaling.centre) + np.array(sums, dtype=np.float64) * units)
        centre = np.clip(moved, self.lattice.first, self.lattice.last)
        return replace(scaling, centre=tuple(int(each) for each in centre.tolist()))


def last_sum(
    here: VectorSetting,
    scaling: VectorScaling,
    ball: Ball,
    width: int,
    *,
    near: int,
    public_rows: int | None = None,
) -> Steps[ArrayEstimate]:
    """[mean_vector.5], [mean_vector.6] Spend all that is left on the clipped sum and the row count.

    ``width`` is the number of components, ``near`` as for
    :func:`~modicum.statistics.vectors.vector_schedule.count_share`. If the number of rows is
    public, all is spent on the sum, with noise for an exchanged row [clipped_mean_vector.2].
    """
    split, asked = here.split, ClippedVectors(scaling, ball.radius)
    summary = yield from read(here.ask(asked))
    share = (1 - here.spent) * (1 - vector_schedule.count_share(width, near, here.power))
    mechanism: VectorNoise | Additive
    if public_rows is None:
        mechanism = here.noisy_sums(summary.totals, share)
    else:
        mechanism = split.spend(VectorNoise.of(summary.totals, split.rest(), bound=2 * BOUND))
    sums = yield from draw("sum", mechanism)
    rows, noise = public_rows, None
    if rows is None:
        rows, noise = yield from draw_count(split, summary.count, split.rest(), "rows")
    error_model = VectorErrorModel(
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
    if here.columns.names is None:
        axis = Axis.of(component=tuple(float(place) for place in range(width)))
    else:
        axis = Axis.of(column=here.columns.names)
    return ArrayEstimate(error_model.values, (axis,), error_model, error_model.status)


NOISY = Status(
    "few_records",
    "too little data for this budget and so many components: the noise is larger than the "
    "clipping radius; use fewer columns or a larger budget",
)
CLIPPED = Status(
    "clipped",
    "more rows are far beyond the clipping radius than it tells of, or a good part of all: too "
    "little data for this range and budget; narrow `within` or spend more",
)
POINT = Status(
    "coarse_step",
    "the clipping radius is smaller than the step to which values are rounded: nearly "
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
    "a good part of the rows lie beyond the clipping radius: the intervals assume that they are "
    "not far beyond it, and may be too short; spend more",
)
_MANY = 1 / 25  # of the rows outside: there the tail of skewed rows has not begun
_COUNTS = 0.1  # of the error probability, for each of the two counts


@storable
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
    rows_noise: Noise | None  # ``None``: the number of rows is public
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
    def few_seen(self) -> bool:
        return hardly_seen(self.rows, self._rows_off(0.1))

    def _rows_off(self, alpha: float) -> float:
        return 0.0 if self.rows_noise is None else self.rows_noise.tail_bound(alpha)

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
        If the ball tells nothing of the rows outside, each may be anywhere in the range. A row is
        rounded to the lattice, and then to units of the sum: each moves a mean by half at most.
        """
        alpha = 1 - level
        reach = self.noise.tail_bound(alpha * (1 - 2 * _COUNTS) / len(self.sums))
        about = self._rows_off(alpha * _COUNTS)
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
        rounded = 0.5 + 0.5 / gains
        lower, upper = lower - rounded, upper + rounded
        ends = (
            np.clip((centre + side) * step, self.lattice.lo, self.lattice.hi)
            for side in (lower, upper)
        )
        return Intervals(*ends)

    @property
    def condition(self) -> str:
        return "assume that clipped rows are not far beyond the clipping radius (tail=3)"

    def assumption(self, tail: float | None) -> str:
        cover = (
            "the intervals cover the noise of all components and of the number of rows at once, "
            if self.rows_noise is not None
            else "the intervals cover the noise of all components at once if the number of rows is "
            "as given, "
        )
        if tail is None:
            return cover + "but not what was clipped off the rows."
        return cover + (
            "and what was clipped off: the rows beyond the clipping radius, whose noisy number is "
            f"known, are assumed to lie beyond it by at most 1/{tail - 1:g} of it on average, in "
            "any direction. They cover the mean of these rows, not of a population."
        )

    def to_dict(self) -> dict[str, object]:
        step = self.lattice.step
        return {
            "centre": [self.lattice.value(each) for each in self.centre],
            "radii": [BOUND / gain * step for gain in self.gains],
            "sums": list(self.sums),
            "noise_sd": math.sqrt(self.noise.variance),
            "rows": self.rows,
            "rows_noise_sd": math.sqrt(self.rows_noise.variance) if self.rows_noise else 0.0,
            "outside": self.outside,
            "outside_noise_sd": math.sqrt(self.outside_noise.variance),
        }
