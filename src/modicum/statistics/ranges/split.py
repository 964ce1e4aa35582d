"""How the mean, the sum and the variance divide their budget: the shares of their draws.

The division depends on the released noisy count and on public arguments only. The constants were
chosen by measurement (docs/research/proofs/mean.md says how); none of them affects privacy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import HALF_LN2, PerOctave, RadiusGrid
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.statistics.options import Options
from modicum.statistics.tails import outside
from modicum.statistics.tails.tail_shape import Ranks, TailShape
from modicum.summaries import base, sums
from modicum.summaries.tails import Tails, TailSummary

Clusters = Literal["clip", "keep"]

SHAPE_PARTS: PerOctave = 8  # of an octave of radius in the shape step
SIZE_PARTS: PerOctave = 4  # of that of radii of sizes
# Powers of the priors there: r^-0.7 inside; outside r^-4, if the records outweigh it.
_INNER_POWER, _OUTER_POWER = Fraction(7, 10), (1.0, 4.0)
_OUTWEIGHED, _SHAPE_SLACK = 0.85, 12.0  # part of the records to rely on for that, nats to spare
SUBSAMPLE = 13  # a centre is computed from 2^13 to 2^14 records, or all of them if fewer
_WIDER, _WIDEST = 0.75, 1.8  # octaves by which radii are widened for a unit of tail weight above 1
_LIGHT, _RAMP = 0.9, 4  # tail weight up to which few records show a tail too, and 1 / its width
_SHARE, _POWER = 0.14, 10.0  # of the radii of a tail that shows
_FAR = 3  # power of the prior beyond all that such a tail has
_APART = 4  # turns: a radius beyond is not of the tail
_INNER_OCTAVES = 4  # below a radius with a thousand records outside nothing is looked for
_STEEP_NATS = 8.0  # from there to the turn, nearly always
_BEYOND = 2  # times the radius of one record of the tail per unit of noise
_LEAST_CENTRE, _LEAST_ROUGH = 1 / 512, 1 / 512  # strengths
LEAST_FOR_COUNTS = 500  # records per unit of noise with budget for more than bounds
SHAPE_FROM = 8000  # records per unit of noise from which the shape of the tail is looked at
CLEARLY_FROM = 50_000  # the same for sizes: of fewer records a skewed bulk looks like a tail
_COUNT_SHARE = (Fraction(1, 50), Fraction(1, 100))  # pure, concentrated
_COUNT_IN_FOUND = Fraction(1, 100)  # where the values other than zero were counted before
CELL_LIMIT = 1 << 18  # more kept records than this: a cell table is smaller


@dataclass(frozen=True, slots=True)
class Schedule:
    """Shares of the total, and the shape of the centre and of the radius prior.

    What the count and the shares leave goes to the final sum; a step with a share of 0 is left out.
    The centre's grid has ``bits`` fraction bits. Radii are parts of an octave, ``per_octave`` of
    each; they begin at a part of the
    radius ``outer``, and
    their prior is r^-power, but r^-4 beyond a ``turn``, if there is one, or r^-1 below a ``knee``
    and beyond an ``ankle``; and the drawn radii
    are widened by ``widening`` such parts. The number of records outside falls like r^-``falling``
    there, if a light tail showed.
    """

    centre: Fraction
    shape: Fraction
    radii: Fraction
    rough: Fraction
    bits: int
    power: Fraction
    widening: int = 0
    per_octave: PerOctave = 2
    outer: int = 0
    turn: int = 0
    knee: int = 0
    ankle: int = 0
    falling: float = 0.0

    @property
    def has_centre(self) -> bool:
        """Whether there is budget for a centre."""
        return self.centre > 0

    @property
    def tilt(self) -> Fraction:
        """Prior cost of one part of an octave of radius."""
        return self.power * HALF_LN2 * 2 / self.per_octave

    def plain(self, radii: Fraction, power: Fraction) -> Schedule:
        """The same with another share of the radii, and a prior that no tail has shaped."""
        return replace(
            self, radii=radii, power=power, widening=0, per_octave=2, turn=0, knee=0, falling=0.0
        )

    @property
    def flat_from(self) -> int:
        """The ankle of the prior that candidates are drawn with, if it has one."""
        return self.ankle if self.knee and not self.turn else 0

    def candidates(self, smallest: int, largest: int) -> tuple[RadiusGrid, Fraction]:
        """Return the radii to draw from, and the prior cost of one index of them."""
        grid = RadiusGrid.between(
            max(smallest, self.outer >> _INNER_OCTAVES), largest, self.per_octave
        )
        if self.turn:
            part = Fraction(round(64 * _FAR / self.power), 64)
            return grid.bent(self.turn, part), self.tilt / part.denominator
        if self.knee:
            bent = grid.bent(self.knee, self.power).bent(self.ankle, 1 / self.power)
            return bent, self.tilt / self.power.numerator**2
        return grid, self.tilt

    def widened(self, radius: int) -> int:
        """By how many parts of an octave a drawn radius is widened, if it is one of the tail's.

        It is not, if it is below the outer radius, outside of which there are more records, or
        beyond all that the tail has: then the shape was misread, or there are several groups.
        """
        if not self.turn or self.outer <= radius <= _APART * self.turn:
            return self.widening
        return 0

    def for_tail(self, tail: TailShape | None, outer: int) -> Schedule:
        """[mean.12] Adapt the radius draw to a released tail with a released ``outer`` radius.

        A tail that shows affords a steep prior and a small share, because the radii are widened by
        what it says. As long as few records make a heavy tail look like a skewed bulk, fewer of
        them should be clipped. What could not be seen changes nothing.
        """
        if tail is None:
            return self
        heavy = min(1.0, max(0.0, 2 * (tail.weight - 1)))
        blurred = (1 - tail.ranks.clear) * min(1.0, max(0.0, _RAMP * (tail.weight - _LIGHT)))
        share = _SHARE + (0.16 - _SHARE + 0.06 * heavy) * blurred
        power = _POWER - (_POWER - 5 + heavy) * blurred
        trusted = tail.trusted()
        octaves = max(
            math.log2(trusted.widening(power / share)),
            (1 - tail.ranks.clear) * _WIDER * (min(tail.weight, _WIDEST) - 1),
        )
        return replace(
            self,
            radii=_grid(share),
            power=_grid(power),
            widening=round(4 * octaves),
            per_octave=4,
            outer=outer,
            turn=round(_BEYOND * trusted.end * outer),
            falling=trusted.index(trusted.beyond(power / share)) if tail.weight <= 1 else 0.0,
        )


def shape_tilts(lattice: Lattice, expected: float, share: Fraction) -> tuple[Fraction, Fraction]:
    """Prior costs of the parts of an octave in the shape step, inside and outside [mean.4].

    Nothing populates the radii beyond the data, so the outer prior is steep; but from one step to
    the range it must not cost more than the records inside, each of which has a quarter of the
    share against a radius of 0.
    """
    nats = _OUTWEIGHED * expected * float(share) / 4 - _SHAPE_SLACK
    least, most = _OUTER_POWER
    outer = _grid(min(most, max(least, nats / octaves(lattice))))
    part = HALF_LN2 * 2 / SHAPE_PARTS
    return _INNER_POWER * part, outer * part


@functools.lru_cache(maxsize=4096)
def _grid(x: float) -> Fraction:
    """Round to a multiple of 2^-10, so that every share is an exact short rational."""
    return Fraction(round(x * 1024), 1024)


def count_share(split: BudgetSplit, lattice: Lattice | None = None) -> Fraction:
    """Share of the first count [mean.1]; less of one in a range that was found."""
    share = _COUNT_SHARE[split.concentrated]
    return share if lattice is None or lattice.floor == 1 else min(share, _COUNT_IN_FOUND)


def expected_records(split: BudgetSplit, noisy_count: int) -> float:
    """Records per unit of noise, "N" of the proofs, as far as a noisy count tells; at least 1."""
    return max(1.0, noisy_count * float(split.scale))


def octaves(lattice: Lattice) -> float:
    """ln(widest radius / one step)."""
    return math.log(2 * max(abs(lattice.first), abs(lattice.last), 1))


def first_reduction(
    lattice: Lattice, split: BudgetSplit, clusters: Clusters, *, shape: bool = False
) -> base.Reduction[TailSummary | sums.CountSummary]:
    """Choose what a first pass gathers: both ends of the data, or only the count.

    The ends hold so many records that what lies beyond them has no weight: a radius with F records
    outside is less likely than one with none by exp(-eta F + power ln(ratio)), and eta is at least
    the range that the smallest radii share buys, so counts beyond the kept ones matter with
    probability below e^-60 at any power of at most 5, or of 10 up to the turn. For small budgets
    that would be too many records; then a second pass makes a cell table.
    """
    return _first_reduction(lattice, split.loss, clusters, shape=shape)


@functools.lru_cache(maxsize=64)
def _first_reduction(
    lattice: Lattice, loss: Event, clusters: Clusters, *, shape: bool
) -> base.Reduction[TailSummary | sums.CountSummary]:
    split = BudgetSplit(loss)
    schedule = mean_schedule(lattice, split, 1 << 60, clusters, shape=shape)
    log_width = octaves(lattice)
    nats = outside.STEEP * log_width
    if schedule.shape:
        schedule = schedule.for_tail(TailShape(0.0, Ranks.of(1e18), 1e18), 1)
        nats = _FAR * log_width + (_POWER - _FAR) * _STEEP_NATS
    eta = float(split.share(schedule.radii).range)
    keep = max(64, math.ceil((math.log(3 * log_width + 3) + 60 + nats) / eta))
    return Tails(keep) if keep <= CELL_LIMIT else sums.Count()


def subsample_level(noisy_count: int) -> int:
    """Level k of the centre's subsample rate 2^-k: all records up to 2^14, then at least 2^13."""
    return max(0, (max(noisy_count, 1) >> SUBSAMPLE).bit_length() - 1)


def mean_schedule(
    lattice: Lattice,
    split: BudgetSplit,
    noisy_count: int,
    clusters: Clusters,
    *,
    shape: bool = False,
) -> Schedule:
    """Divide the budget of a mean, given the released noisy count.

    ``shape``: a mean of many records looks at the shape of the tail, and its centre, shape and
    rough mean cost what they need of so many; those of other statistics cost the same of any.
    """
    log_width = octaves(lattice)
    expected = expected_records(split, noisy_count)

    def nats(bits: int) -> float:  # what a median must overcome: grid points and a margin
        return bits * math.log(2) + math.log(2 * log_width / math.log(2) + 2) + 12

    safe = max(1.0, expected - 150)
    needed = 2 * nats(24) / safe  # strength of a median that outweighs its grid
    plenty = max(_LEAST_CENTRE, 4 * needed) if shape else 1.0
    concentrated = split.concentrated
    if concentrated:
        # A share f of ρ buys a range of 2 sqrt(f) effective units.
        centre, radii, rough = min(0.02, max(_LEAST_CENTRE, plenty**2)), 0.06, 0.03
        if shape:
            rough = min(rough, max(_LEAST_ROUGH, 4 * _rough_strength(expected) ** 2))
        power_of_centre = 2 * math.sqrt(centre) * safe / 2
        if power_of_centre < nats(24):
            centre = 0.0
        spare = power_of_centre / 2 - nats(24)
        eta = 2 * math.sqrt(radii)
    else:
        floor = min(0.01, plenty)
        centre = max(floor, needed)
        if centre > 0.20:
            centre = 0.0
        spare = floor / 2 * safe - nats(24)
        # Without a centre the whole range may be all that is left, and needs most of the budget.
        radii = min(0.30, (0.18 if centre else 0.17) * max(1.0, 1000 / expected) ** 0.3)
        rough = min(0.25, max(0.02, 0.7 * expected ** (-1 / 3)))
        if shape:
            rough = min(rough, _rough_strength(expected))
        eta = radii
    bits = 24 + min(16, max(0, math.floor(spare / math.log(2))))
    power = min(4.0, max(1.25, eta * expected / (2 * (log_width + 6))))
    looks = shape and not concentrated and clusters == "clip" and expected >= SHAPE_FROM
    if clusters == "keep":
        power = min(power, 2.5)
        radii = radii if concentrated else max(radii, 0.25)
    look = _grid(_shape_strength(expected) if looks else 0.0)
    return Schedule(_grid(centre), look, _grid(radii), _grid(rough), bits, _grid(power))


def _rough_strength(expected: float) -> float:
    """Strength of a mean's rough mean.

    Off by x of the width, the rough mean lengthens the reach by x, and x times the error of the
    count is added to the answer. The first needs a strength of about N^(-1/2), the second, of few
    records, more.
    """
    strength = min(0.25, 0.7 / math.cbrt(expected), 3.25 / math.sqrt(expected))
    return max(_LEAST_ROUGH, strength)


def shape_share(split: BudgetSplit, expected: float) -> Fraction:
    """Share of the shape of the tail of sizes, of so many records; 0: it is not looked at."""
    looks = not split.concentrated and expected >= CLEARLY_FROM
    return _grid(_shape_strength(expected) if looks else 0.0)


def _shape_strength(expected: float) -> float:
    return max(0.01, min(0.03, 9 / math.sqrt(expected)))


@dataclass(frozen=True, slots=True)
class ClusterOption(Options):
    """Whether a small distant cluster may be clipped away."""

    clusters: Clusters

    @property
    def strength(self) -> float:
        return 0.1 if self.clusters == "keep" else 0.0

    def check(self, listed: Sequence[Options], where: str) -> None:
        chosen: object = self.clusters
        if not isinstance(chosen, str) or self not in listed:
            known = ", ".join(repr(o.clusters) for o in listed if isinstance(o, ClusterOption))
            raise InvalidArgument(
                f"clusters must be one of {known} for {where}, got {as_given(self.clusters)}"
            )


@dataclass(frozen=True, slots=True)
class SampleOption(ClusterOption):
    """The same for a sample, whose population is asked about."""

    population: ClassVar[bool] = True


BOTH_SAMPLES = (SampleOption("clip"), SampleOption("keep"))
BOTH_CLUSTERS = (ClusterOption("clip"), ClusterOption("keep"))
CLUSTERS_HELP = {
    "clusters": "keep: also keep a small distant cluster of values, at some cost in accuracy",
    "population": "the rows are a random sample: also buy an interval for the population's mean",
}
