"""Where the data are: clipping bounds for the mean, the sum and the variance, and a rough mean.

A column of which a good part is one public value, zeros or the end of the range nearest to zero, is
a case of its own. A prior r^-p over all radii from one lattice step to the range weighs some
hundred nats, and the records that are not zero have to outweigh it. Where most records are zeros
those are few, and would be clipped away unseen: all ones of a column with 10 % ones. So, first:

[mean.2] home    is about half of the data at home, the point of the range nearest to zero?
[mean.3] others  if so, a noisy count of the records elsewhere, a second one if the first says
                 little;
[mean.4] choice  enough to outweigh the prior: radii are drawn for them, with a prior that they
                 outweigh. Too few for that: nothing is known of where they are, so the noise has to
                 cover the range; what it may explain is answered as if all records were at home.

Where a window was found there are a private centre [mean.6], the radii about it [mean.8] and a
rough mean within them [mean.10]. docs/research/proofs/mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np

from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms import additive, grids, scores, selection
from modicum.privacy.split import BudgetSplit
from modicum.releases.status import COARSE, FEW_STEPS, OK, Status
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.ranges.split import (
    SHAPE_PARTS,
    Schedule,
    expected_records,
    shape_tilts,
    subsample_level,
)
from modicum.statistics.tails.outside import APART, Counted, NoisyTerm, Outside, home_of
from modicum.statistics.tails.tail_shape import Ranks, TailShape, tail_weight
from modicum.stored.codec import storable
from modicum.summaries import base, subsample, tails
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.sizes import OctaveCounts
from modicum.summaries.sums import ClippedSum

S = TypeVar("S")
SINGLE_BITS = 46  # bounds narrower than 2^-46 of the range
COLLAPSED_BITS = 40  # radii
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

    def collapsed(self, lattice: Lattice) -> bool:
        """Whether a prior against so few records may have left nothing but a point of them."""
        return self.hi - self.lo <= lattice.width >> COLLAPSED_BITS

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
    """[mean.6] A median on a grid of ``bits`` fraction bits; without a share, the home point."""
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
    """[mean.8] The radii on both sides of the centre: disjoint records, one event.

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
    label: str | None = None,
    wider: Callable[[Outside], float] = Outside.wider,
) -> Steps[tuple[Outside, int]]:
    """[sum.2], [sum.3] One radius for the sizes of records, widened by what was seen of the tail.

    ``sizes`` counts the records by size, on the candidates from ``least`` to ``most`` at least;
    ``wider`` returns the octaves by which it is widened, if no shape says that.
    Returned are what the radius says, and the number of records beyond it: not released.
    """
    grid, tilt = schedule.candidates(least, most)
    beyond = tuple(sizes.magnitude_above_many(grid.radii))
    (chosen,), outside = yield from draw_radii(here, (beyond,), grid, tilt, schedule, label)
    outside = replace(outside, seen=seen)
    radius = grid.radii[chosen]
    each = schedule.per_octave
    parts = schedule.widened(radius) if schedule.turn else round(each * wider(outside))
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
    """[mean.7] Adapt the schedule to the tail, seen through a fresh subsample.

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
    """[mean.9] Count the records outside of the bounds, with noise, to compare them with a tail's.

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
    """[mean.10] Transformed noise (Kulesza et al. 2023, Algorithm 3): a mean and a second count.

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


Way = Literal["none", "radii", "range"]

_SURE = 50  # times: an atom at home is missed more seldom
_HIDDEN = 20.0  # scales of its noise that all records are, in a count of values within a step
_SLOPE = 40  # a radius weighs e^(1/40) times what the next smaller one does
_TARGET = 0.4  # of the records, outside the radius
ATOM = 0.7  # if more of the records are elsewhere, home is no atom
# A count of so many noise scales needs no second one; one of so few, unless that may bring radii.
_CLEAR, _DOUBT = 5.0, 1.5
_KEPT = 0.76  # of the noise's precision, for the last step: 1.3 times the noise of known bounds
_KEPT_OF_FOUND = 0.3  # in a range that was found: without radii there would be no answer
# Least and largest power of the prior, nats to spare, part of the noisy count to rely on.
_LEAST, _MOST, SLACK, TRUST = 1.0, 4.0, 6.0, 0.85
_HOPE = 3.0  # scales of a first count's noise that may turn few records into enough


@dataclass(frozen=True, slots=True)
class Home:
    """[mean.2] About half of the records are further than ``radius`` from home: released.

    With a radius of 0 home may be an atom.
    """

    point: int
    radius: int

    @staticmethod
    def part(n0: int) -> float:
        """About how many records are further away."""
        return _TARGET * max(n0, 1)


@dataclass(frozen=True, slots=True)
class Atom:
    """[mean.4] What to do about records that are not at home: released, but for ``cells``.

    "none": home is not an atom; "radii": radii can be drawn, with the share and the power of
    ``schedule``; "range": only the range is left. ``cells`` are the records by distance from home
    (sensitive), ``found`` a noisy number of those not at home, ``noise`` the scale of its noise.
    """

    way: Way
    schedule: Schedule
    cells: CellSummary
    found: float = 0.0
    noise: float = math.inf

    @property
    def elsewhere(self) -> int:
        """Records that are not at home: not released."""
        centre = self.cells.centre
        return self.cells.above(centre) + self.cells.below(centre)

    @property
    def status(self) -> Status:
        """What to say where only the range is left."""
        return APART if self.found > _CLEAR * self.noise else OK


def find_home(
    here: Setting, records: subsample.RecordSummary, n0: int, *, again: bool = False
) -> Steps[Home]:
    """[mean.2] A radius about home, in quarter octaves, with about 40 % of the records outside.

    If home is an atom, all radii up to the next records are equally good. A radius weighs e^(1/40)
    times what the next smaller one does, so all together 40 times the widest, and home at least 50
    times that: an atom is missed less than once in 50. The finer the radii, the better is one of
    them for data without an atom, which may be close together. ``again``: most records are known to
    be elsewhere, so home has no such weight.
    """
    home = home_of(here.lattice)
    reach = max(reach_from(here.lattice, home), 1)
    radii = grids.RadiusGrid.between(1, reach, 4).radii
    favour = 1 - len(radii) if again else math.ceil(_SLOPE * math.log(_SURE * _SLOPE))
    grid = grids.RadiusGrid(radii, (-favour, *range(len(radii) - 2, -1, -1)))
    # An eighth of a median's subsample is enough for a radius this coarse.
    level = subsample_level(n0 << 3) if n0 > 1 << 12 else 0
    expected = expected_records(here.split, n0)
    strength = max(0.002, min(0.01 + 40 / expected, 200 / expected))
    mechanism = here.split.spend(
        selection.RadiusRanks.subsampled(
            records,
            home,
            grid,
            here.split.share(here.split.part_for(strength, "subsample")),
            targets=(round(_TARGET * n0) >> level,),
            tilts=(Fraction(1, _SLOPE),),
            level=level,
        )
    )

    def words(drawn: tuple[int, ...]) -> str:
        radius = here.lattice.words(grid.radii[drawn[0]])
        return f"about half of the records are within {radius} of {here.lattice.words(home)}"

    (chosen,) = yield from draw("home, again" if again else "home", mechanism, words)
    return Home(home, grid.radii[chosen])


def look_elsewhere(here: Setting, schedule: Schedule, home: Home, n0: int) -> Steps[Atom]:
    """[mean.3], [mean.4] Count the records not at home, and choose what to do about them."""
    reach, floor = max(reach_from(here.lattice, home.point), 1), here.lattice.floor
    log_reach = math.log(reach / floor)
    cells = yield from read(
        here.ask(Cells(home.point, grids.RadiusGrid.between(floor, reach).radii))
    )
    atom = Atom("none", schedule, cells)
    expected = expected_records(here.split, n0)
    scale = float(here.split.scale)

    strength = max(0.01, 30 / expected)
    number, _ = yield from count_some(here, atom.elsewhere, strength, "records elsewhere")
    found = float(number)
    if found > ATOM * n0:
        return atom
    hope = found * scale + _HOPE / strength
    sure = found * strength * scale
    if sure < _CLEAR and (sure > _DOUBT or _radii_for(here, schedule, log_reach, hope) is not None):
        second = min(0.13, max(0.035, 200 / expected))
        label = "records elsewhere, again"
        again, _ = yield from count_some(here, atom.elsewhere, second, label)
        weight = second**2 / (strength**2 + second**2)
        found, strength = (1 - weight) * found + weight * again, math.hypot(strength, second)
    noise = 1 / (strength * scale)
    chosen = _radii_for(here, schedule, log_reach, found * scale)
    if chosen is None:
        return replace(atom, way="range", found=found, noise=noise)
    return replace(atom, way="radii", schedule=chosen, found=found, noise=noise)


def hidden_octaves(lattice: Lattice) -> int:
    """How many octaves have sizes other than 0 that are smaller than eight steps."""
    return int(OCTAVES.read(np.array([FEW_STEPS / 2 * lattice.step]))[0])


def hidden_by_step(here: Setting, schedule: Schedule, home: int, n0: int) -> Steps[Status | None]:
    """[mean.19] What to say if many records are not 0, but smaller than eight steps.

    They differ by less than what can be said on this lattice, and a noise that follows the range
    hides them. A range that was found follows them itself.
    """
    lattice = here.lattice
    if home or lattice.floor > 1 or here.rule is not None or lattice.linear is not lattice:
        return None
    octaves = yield from read(replace(here, lattice=OCTAVES).ask(OctaveCounts()))
    last = hidden_octaves(lattice)
    strength = affordable(here, schedule, _HIDDEN / expected_records(here.split, n0))
    label = "values smaller than the step, but not 0"
    found, _ = yield from count_some(here, sum(octaves.counts[1 : last + 1]), strength, label)
    return COARSE.filled(step=lattice.step) if found > max(n0, 1) / 4 else None


def _radii_for(
    here: Setting, schedule: Schedule, log_reach: float, others: float
) -> Schedule | None:
    """[mean.4] Radii, if the records elsewhere can outweigh their prior for an affordable share.

    At a strength s a radius has score -s F - p ln r: no radius with F records outside is chosen in
    place of the widest one if s F is well above p ln(reach).
    """
    strength = max(0.10, (_LEAST * log_reach + SLACK) / max(TRUST * others, 1.0))
    share = here.split.part_for(strength, "range")
    kept = _KEPT if here.lattice.floor == 1 else _KEPT_OF_FOUND
    if not here.split.keeps(kept, share):
        return None
    power = power_for(strength * others, log_reach, _LEAST)
    return schedule.plain(share, power)


def power_for(nats: float, span: float, least: float) -> Fraction:
    """Power of a prior over radii a factor e^span apart that records of so many nats outweigh."""
    power = min(max((TRUST * nats - SLACK) / max(span, 1.0), least), _MOST)
    return Fraction(round(power * 1024), 1024)
