"""Where the data are: clipping bounds for the mean, the sum and the variance, and a rough mean.

Where a window was found there are a private centre [mean.3], the radii about it [mean.5] and a
rough mean within them [mean.7]. docs/research/proofs/mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms import additive, grids, scores, selection
from modicum.privacy.split import BudgetSplit
from modicum.releases.status import FEW_STEPS
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.ranges.split import (
    SHAPE_PARTS,
    Schedule,
    expected_records,
    shape_tilts,
    subsample_level,
)
from modicum.statistics.tails.outside import Counted, NoisyTerm, Outside, home_of
from modicum.statistics.tails.tail_shape import Ranks, TailShape, tail_weight
from modicum.stored.codec import storable
from modicum.summaries import base, subsample, tails
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.sums import ClippedSum

S = TypeVar("S")
SINGLE_BITS = 46  # bounds narrower than 2^-46 of the range
LEAST_STRENGTH = 1 / 128  # of the count of the records outside
_QUARTER = 4  # of what the sums have, for a count


@dataclass(frozen=True, slots=True)
class Setting:
    """What every step of one run refers to."""

    column: str | None
    lattice: Lattice
    split: BudgetSplit
    rule: base.RecordRule | None = field(default=None, kw_only=True)

    @property
    def counts(self) -> bool:
        """Whether the records are numbers of rows, of which every person has one or more."""
        return self.rule is not None and self.rule.kind == "count"

    @property
    def bounded(self) -> bool:
        """Whether a range is given, and the records do not add up to more than that."""
        return self.lattice is not KEYS and (self.rule is None or self.rule.kind == "mean")

    @property
    def width(self) -> int:
        """Width of the range of values, in steps; that of a person's totals may be wider."""
        values = None if self.rule is None else self.rule.lattice
        if values is None:
            return self.lattice.width
        return round((values.hi - values.lo) / self.lattice.step)

    def ask(self, reduction: base.Reduction[S]) -> base.Read[S]:
        """Read a reduction of the column."""
        return base.Read(self.column, self.lattice, reduction, rule=self.rule)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Clipping bounds around a centre, in lattice steps: released, but for ``elsewhere``."""

    lo: int
    hi: int
    outside: Outside
    elsewhere: int  # records outside: not released

    @classmethod
    def of_range(cls, lattice: Lattice) -> Bounds:
        """Return the ends of the range, outside of which there is nothing."""
        widest = max(lattice.width, 1)
        nothing = Outside((widest, widest), widest, candidates=1, eta=1.0, power=1.0)
        return cls(lattice.first, lattice.last, nothing, 0)

    @classmethod
    def about(cls, centre: int, outside: Outside, elsewhere: int, lattice: Lattice) -> Bounds:
        """Return those at the radii of ``outside`` from a centre, cut at the ends of the range."""
        left, right = outside.radii
        lo, hi = max(centre - left, lattice.first), min(centre + right, lattice.last)
        return cls(lo, hi, outside, elsewhere)

    def all_of(self, lattice: Lattice) -> bool:
        """Whether they are the ends of the range, outside of which there is nothing."""
        return self.lo <= lattice.first and self.hi >= lattice.last

    def single(self, lattice: Lattice) -> bool:
        """Whether they are so close that they hold a single value, for all we know."""
        return self.hi - self.lo <= lattice.width >> SINGLE_BITS

    def reach(self, point: int) -> int:
        """Largest distance of a clipped record from a point between them."""
        return max(self.hi - point, point - self.lo)


@storable
@dataclass(frozen=True, slots=True)
class Rough:
    """A rough mean of clipped data, between the bounds, and the best count so far.

    If two independent terms of ``noise`` are at most t in size, the mean of the clipped data is no
    further than t + 1/2 from the value.
    """

    value: int
    counted: Counted
    noise: NoisyTerm


def find_centre(
    here: Setting, records: subsample.RecordSummary, n0: int, *, share: Fraction, bits: int
) -> Steps[int]:
    """[mean.3] A median on a grid of ``bits`` fraction bits; without a share, the home point."""
    if not share:
        return home_of(here.lattice)
    mechanism = here.split.spend(
        scores.MedianScore.subsampled(
            records,
            here.lattice,
            here.split.share(share),
            bits=bits,
            level=subsample_level(n0),
        )
    )
    grid = grids.FloatGrid(bits)

    def point(number: int) -> int:
        return min(max(grid.point(number), here.lattice.first), here.lattice.last)

    number = yield from draw("centre", mechanism, lambda number: here.lattice.words(point(number)))
    return point(number)


def reach_from(lattice: Lattice, centre: int) -> int:
    """Widest radius of use around a centre."""
    return max(lattice.last - centre, centre - lattice.first)


def find_bounds(
    here: Setting,
    source: tails.TailSummary | CellSummary | None,
    schedule: Schedule,
    centre: int,
    *,
    exact: bool = False,
    least: int | None = None,
    label: str = "radii",
) -> Steps[Bounds]:
    """[mean.5] The radii on both sides of the centre: disjoint records, one event.

    ``source`` counts the records outside; without one, one more pass does. Radii begin at the
    ``least``; without one at the spacing of the centre's grid or, if it is ``exact``, a public
    point, at one step, or at the lattice's floor.
    """
    lattice = here.lattice
    smallest = least or (lattice.floor if exact else max(1, abs(centre) >> schedule.bits))
    grid, tilt = schedule.candidates(smallest, reach_from(lattice, centre))
    upper = tuple(centre + r for r in grid.radii)
    lower = tuple(centre - r for r in grid.radii)
    if source is None:
        source = yield from read(here.ask(Cells(centre, grid.radii)))
    outside = (tuple(source.below_many(lower)), tuple(source.above_many(upper)))
    drawn, released = yield from draw_radii(here, outside, grid, tilt, schedule, label)
    wider = tuple(schedule.widened(grid.radii[i]) if i else 0 for i in drawn)
    released = replace(released, widening=2 ** (min(wider) / schedule.per_octave))
    widest = len(grid.radii) - 1
    left, right = (min(i + more, widest) for i, more in zip(drawn, wider, strict=True))
    return Bounds(
        max(lower[left], lattice.first),
        min(upper[right], lattice.last),
        released,
        outside[0][left] + outside[1][right],
    )


def find_radius(
    here: Setting,
    sizes: tails.TailSummary | CellSummary,
    schedule: Schedule,
    most: int,
    seen: tuple[float, int] | None,
    *,
    least: int = 1,
) -> Steps[tuple[Outside, int]]:
    """[sum.2], [sum.3] One radius for the sizes of records, widened by what was seen of the tail.

    ``sizes`` counts the records by size, on the candidates from ``least`` to ``most`` at least.
    Returned are what the radius says, and the number of records beyond it: not released.
    """
    grid, tilt = schedule.candidates(least, most)
    beyond = tuple(sizes.magnitude_above_many(grid.radii))
    (chosen,), outside = yield from draw_radii(here, (beyond,), grid, tilt, schedule)
    outside = replace(outside, seen=seen)
    radius = grid.radii[chosen]
    each = schedule.per_octave
    parts = schedule.widened(radius) if schedule.turn else round(each * outside.wider())
    if not radius or not parts:
        return outside, beyond[chosen]
    target = math.floor(radius * 2 ** (parts / each))
    place = min(bisect_left(grid.radii, target), len(grid.radii) - 1)
    return replace(outside, widening=grid.radii[place] / radius), beyond[place]


def look_at_tail(
    here: Setting,
    records: subsample.RecordSummary,
    schedule: Schedule,
    centre: int,
    n0: int,
    least: int | None = None,
) -> Steps[tuple[Schedule, tuple[float, int] | None]]:
    """[mean.4] Adapt the schedule to the tail, seen through a fresh subsample.

    The outer radius is returned too, if there is one, with the number of records aimed at outside.
    """
    level = subsample_level(n0)
    expected = n0 * float(here.split.scale)
    ranks = Ranks.of(expected)
    smallest = least or max(1, abs(centre) >> schedule.bits)
    grid = grids.RadiusGrid.between(smallest, reach_from(here.lattice, centre), SHAPE_PARTS)
    mechanism = here.split.spend(
        selection.RadiusRanks.subsampled(
            records,
            centre,
            grid,
            here.split.share(schedule.shape),
            targets=(round(ranks.inner * n0) >> level, round(ranks.outer * n0) >> level),
            tilts=shape_tilts(here.lattice, expected, schedule.shape),
            level=level,
        )
    )

    def words(drawn: tuple[int, ...]) -> str:
        inner, outer = (here.lattice.words(grid.radii[each]) for each in drawn)
        return f"radii {inner} and {outer} around the centre, at two ranks"

    inner, outer = yield from draw("shape", mechanism, words)
    seen = (ranks.outer * n0, grid.radii[outer]) if outer else None
    weight = tail_weight(grid.radii[inner], grid.radii[outer], ranks)
    tail = None if weight is None else TailShape(weight, ranks, expected)
    return schedule.for_tail(tail, grid.radii[outer]), seen


def draw_radii(
    here: Setting,
    outside: tuple[tuple[int, ...], ...],
    grid: grids.RadiusGrid,
    tilt: Fraction,
    schedule: Schedule,
    label: str | None = None,
) -> Steps[tuple[tuple[int, ...], Outside]]:
    """Draw a radius below and one above a centre, or one for both, and say what that implies.

    ``outside`` counts the records beyond each radius of the grid; an index of it has the prior cost
    ``tilt``. Returned are numbers of radii of the grid.
    """
    share = here.split.share(schedule.radii)
    mechanism = here.split.spend(selection.RadiusDraw.of(outside, grid, share, tilt=tilt))

    def words(drawn: tuple[int, ...]) -> str:
        radii = [here.lattice.words(grid.radii[each]) for each in drawn]
        if len(radii) == 1:
            return f"few records exceed {radii[0]}"
        return f"few records are more than {radii[0]} below the centre, or {radii[1]} above"

    label = label or ("radius" if len(outside) == 1 else "radii")
    drawn = yield from draw(label, mechanism, words)
    released = Outside(
        radii=tuple(grid.radii[each] for each in drawn),
        widest=grid.radii[-1],
        least=grid.radii[min(1, len(grid.radii) - 1)],
        candidates=len(grid.radii),
        eta=float(mechanism.epsilon),
        power=float(schedule.power),
        per_octave=schedule.per_octave,
        selection=mechanism.selection,
        falling=schedule.falling,
        ankle=schedule.flat_from,
    )
    return drawn, released


def count_outside(
    here: Setting,
    outside: Outside,
    elsewhere: int,
    n0: int,
    *,
    strength: float = 0.0,
    label: str = "records outside",
) -> Steps[Outside]:
    """[mean.6] Count the records outside of the bounds, with noise, to compare them with a tail's.

    A record is outside on one side at most, so their number has sensitivity 1. A wide table of
    counts may cap it at a public number, which keeps that.
    """
    strength = max(strength, LEAST_STRENGTH, 16 / expected_records(here.split, n0))
    found, noise = yield from count_some(here, elsewhere, strength, label)
    return replace(outside, counted=found, noise=noise)


def affordable(here: Setting, schedule: Schedule, strength: float) -> float:
    """Return the strength of a count, or one that costs a quarter of what the last sum has."""
    split = here.split
    quarter = float(max(split.left / split.total - schedule.rough, Fraction(0))) / _QUARTER
    return max(
        LEAST_STRENGTH, min(strength, math.sqrt(2 * quarter) if split.concentrated else quarter)
    )


def count_some(
    here: Setting, records: int, strength: float, label: str
) -> Steps[tuple[int, additive.Noise]]:
    """Draw a number of some of the records, for the share of the budget of a strength."""
    share = here.split.share(here.split.part_for(strength, "noise"))
    return (yield from draw_count(here.split, records, share, label))


def count_away(here: Setting, elsewhere: int) -> Steps[tuple[int, NoisyTerm]]:
    """Count the records that do not have the value of all others, with all that is left.

    A record is away from it or not, so their number has sensitivity 1.
    """
    label = "records away from a single value"
    found, noise = yield from draw_count(here.split, elsewhere, here.split.rest(), label)
    return found, NoisyTerm(noise, 1.0)


def rough_mean(here: Setting, bounds: Bounds, schedule: Schedule, first: Counted) -> Steps[Rough]:
    """[mean.7] Transformed noise (Kulesza et al. 2023, Algorithm 3): a mean and a second count.

    With p the true share and e1, e2 the noise, the noisy share is off by
    ((1 - p) e1 - p e2) / (s1 + s2), so by at most max(|e1|, |e2|) / (s1 + s2).
    """
    width = bounds.hi - bounds.lo
    clipped = yield from read(here.ask(ClippedSum(bounds.lo, bounds.hi)))
    left = clipped.total - bounds.lo * clipped.count
    pair = (left, clipped.count * width - left)
    mechanism = here.split.spend(
        additive.add_noise(pair, here.split.share(schedule.rough), sensitivity=width)
    )

    def mean_of(sums: tuple[int, ...]) -> int:
        share = Fraction(sums[0] * width, max(sums[0] + sums[1], 1))
        return bounds.lo + min(max(round(share), 0), width)

    s1, s2 = yield from draw(
        "rough mean", mechanism, lambda sums: here.lattice.words(mean_of(sums))
    )
    second = (NoisyTerm(mechanism.noise[0], 1 / width),) * 2
    return Rough(
        mean_of((s1, s2)),
        combined(first, Counted(Fraction(s1 + s2, width), second)),
        NoisyTerm(mechanism.noise[0], width / max(s1 + s2, 1)),
    )


def combined(first: Counted, second: Counted) -> Counted:
    """Mean of two counts weighted by their inverse variances, at least 1."""
    spread = [sum(term.variance for term in c.noise) for c in (first, second)]
    total = sum(spread) or 1.0  # of neither, at an ε of thousands: both are right
    weight = Fraction(round(1024 * spread[1] / total), 1024)
    noise = tuple(
        NoisyTerm(term.noise, term.factor * float(share))
        for counted, share in ((first, weight), (second, 1 - weight))
        for term in counted.noise
    )
    return Counted(max(Fraction(1), weight * first.value + (1 - weight) * second.value), noise)


# Largest power of the prior, nats to spare, part of the noisy count to rely on.
_MOST, SLACK, TRUST = 4.0, 6.0, 0.85


def hidden_octaves(lattice: Lattice) -> int:
    """How many octaves have sizes other than 0 that are smaller than eight steps."""
    return int(OCTAVES.read(np.array([FEW_STEPS / 2 * lattice.step]))[0])


def power_for(nats: float, span: float, least: float) -> Fraction:
    """Power of a prior over radii a factor e^span apart that records of so many nats outweigh."""
    power = min(max((TRUST * nats - SLACK) / max(span, 1.0), least), _MOST)
    return Fraction(round(power * 1024), 1024)
