"""The inverse sensitivity mechanism on the cells of a location, shared by all its chapters.

The options of a location, candidates around a centre, lengths of the cells' statistic at them, the
draws of a value and of ends beyond it, and the error model. Labels are those of
:mod:`modicum.statistics.robust.location` and docs/research/proofs/locations.md. None of the
constants affects privacy; benchmarks/locations.py compares the choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms import level_sets, scores
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import FloatGrid, RadiusGrid
from modicum.privacy.budget import Budget
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import FINE_STEPS, OK, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw
from modicum.statistics import spec
from modicum.statistics.options import Options, checked_level
from modicum.statistics.robust import score_lengths
from modicum.statistics.robust.monotone_statistic import (
    MonotoneStatistic,
    Score,
    SignedLengths,
    excess,
    suppress_warnings,
)
from modicum.statistics.tails import drawn_interval, tail_index
from modicum.statistics.tails.outside import (
    ALLOWS,
    BEYOND,
    NoisyTerm,
    OneValue,
    Outside,
    SizedByBounds,
    perhaps_unseen,
    tail_status,
)
from modicum.stored.codec import storable
from modicum.summaries.base import Integers
from modicum.summaries.cells import CellSummary

CENTRE_BITS = 24
NEGLIGIBLE = 40.0  # candidates at the cap together weigh at most e^-40 of all
MOST_LEVELS = 1 << 20
FINE = 10  # the length is linear between candidates at most 2^10 fine steps apart


def cell_edges(lattice: Lattice, centre: int, bits: int) -> tuple[int, ...]:
    """Distances from a centre: 2^bits an octave, and every candidate radius."""
    reach = max(lattice.last - centre, centre - lattice.first, 1)
    grid = FloatGrid(bits)
    points = grid.first(grid.number(reach) + 1)
    edges = np.sort(np.append(points, (*radius_grid(centre, reach).radii, reach)))
    return tuple(edges[np.diff(edges, prepend=-1) > 0].tolist())


def radius_grid(centre: int, reach: int) -> RadiusGrid:
    """Candidate radii around a centre that is known to 24 bits."""
    return RadiusGrid.between(max(1, abs(centre) >> CENTRE_BITS), reach)


@dataclass(frozen=True, slots=True)
class LocationOption(Options):
    """Which location, and the confidence level of its interval.

    Without a statistic it is Huber's location with a width found privately; without a level the
    ends of the interval are not drawn.
    """

    statistic: MonotoneStatistic | None
    level: float | None


def asked(
    row: spec.Row[LocationOption, Release],
    column: str | None,
    statistic: MonotoneStatistic | None,
    cost: Budget,
    lattice: Lattice | None,
    level: object,
) -> Query[Release]:
    """Make a query for a location; check that the statistic fits the range, or any range."""
    options = LocationOption(statistic, checked_level(level))
    if statistic is not None:
        if not isinstance(statistic, MonotoneStatistic):
            raise InvalidArgument(
                "statistic must be a modicum.Score, or an instance of a subclass of "
                f"modicum.Boundaries, got {type(statistic).__name__}"
            )
        widest = math.inf if lattice is None else 2 * (lattice.hi - lattice.lo)
        statistic.check(min(widest, 1e300))
    return row.query(spec.column_name(column), lattice, cost, options)


_NEEDED = 160  # levels of a draw times its ε, or some more: what has no weight is left out


def check_levels(share: Share) -> None:
    """Refuse a budget that buys a draw of too many levels, before anything is read or charged."""
    if MOST_LEVELS * share.range < _NEEDED:
        needed = round(_NEEDED / float(share.range), -4)
        raise InvalidArgument(
            f"a draw of ε = {float(share.range):g} would need some {needed:,.0f} levels; use a "
            "larger budget"
        )


@dataclass(frozen=True, slots=True)
class LengthPlan:
    """How finely lengths are counted in one mechanism, and where they are capped.

    Lengths are counted in 1/unit of a record, and the levels are 0, ..., cap - 1. ``epsilon`` is
    the size of the bounded range.
    """

    epsilon: Fraction
    unit: int
    cap: int

    @classmethod
    def of(
        cls, epsilon: Fraction, log_candidates: float, shift: float = 0.0, *, whole: bool
    ) -> LengthPlan:
        """Choose both: a unit is worth at most 1/32 nat, and beyond the cap no weight is left.

        Whole lengths are counted in halves. A budget that needs more than a million levels is
        refused.
        """
        unit = 2 if whole else 1 << max(0, math.ceil(math.log2(16 * float(epsilon))))
        cap = math.ceil((shift + (log_candidates + NEGLIGIBLE) * 2 / float(epsilon)) * unit)
        if cap > MOST_LEVELS:
            raise InvalidArgument(
                f"a draw of ε = {float(epsilon):g} would need {cap:,} levels; use a larger budget"
            )
        return cls(epsilon, unit, cap)

    def bound(self, log_candidates: float, alpha: float) -> float:
        """Length in records that a draw exceeds with probability at most ``alpha``.

        Some candidate has length 0, and those of length s weigh at most exp(-ε s / 2) each.
        """
        return (log_candidates - math.log(alpha)) * 2 / float(self.epsilon)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Values a release may have: evenly spaced around the centre, then evenly in the logarithm.

    The number y stands for centre + unit point(y), point that of a :class:`FloatGrid`. Values at a
    distance below 2^(bits + 1) units are evenly spaced. Lengths are computed half way between
    coarse numbers z in [first, last], those of y = fine z; ``fine`` is a power of two.
    """

    centre: int
    unit: int
    bits: int
    fine: int
    first: int
    last: int

    @classmethod
    def of(
        cls, lo: int, hi: int, centre: int, *, flat: int, spacing: int, jumps: bool = False
    ) -> Candidates:
        """Candidates in [lo, hi]; coarse ones at most ``spacing`` apart up to ``flat`` from it.

        If a length ``jumps`` there are no others: between two of them it would not be linear.
        """
        exponent = max(0, spacing.bit_length() - 1)
        inner = 0 if jumps else min(FINE, exponent)
        coarse = 1 << exponent
        bits = max(4, (flat >> exponent).bit_length() - 1)
        grid = FloatGrid(bits)
        return cls(
            centre,
            coarse >> inner,
            bits + inner,
            1 << inner,
            -grid.number((centre - lo) // coarse),
            grid.number((hi - centre) // coarse),
        )

    def place(self, number: int) -> int:
        """Return the lattice integer of a fine number."""
        return self.centre + self.unit * FloatGrid(self.bits).point(number)

    def between(self, coarse: Integers) -> Integers:
        """[locations.9] Return twice the values half way from coarse numbers z - 1 to z.

        Before the first number and behind the last one, these themselves.
        """
        grid = FloatGrid(self.bits)
        below, above = (
            grid.points(np.clip(each, self.first, self.last) * self.fine)
            for each in (coarse - 1, coarse)
        )
        halves: Integers = 2 * self.centre + self.unit * (below + above)
        return halves

    @property
    def log_count(self) -> float:
        """Ln of how many there are."""
        return math.log((self.last - self.first) * self.fine + 1)


# A score that is larger than this, in its size at its width, at so small a part of that, jumps: the
# lengths of values that are 2^-10 of a width apart, as fine candidates are, differ by as much.
_BESIDE, _SMALL = 2.0**-30, 2.0**-10


def jumps(statistic: MonotoneStatistic, span: float) -> bool:
    """Whether a length may pass many records from a value to the next one, where records tie.

    That of a score does if ψ is not small beside 0, as that of a median; of what is not a score
    nothing is known. Without a width ψ is looked at up to a difference ``span``.
    """
    if not isinstance(statistic, Score):
        return True
    reach = 1.0 if statistic.homogeneous else statistic.width or span
    with suppress_warnings():
        values = np.abs(statistic.psi(np.array([-1, -_BESIDE, _BESIDE, 1]) * reach))
    return bool(values[1:3].max() > _SMALL * values.max())


TAIL = 3.0  # the ends allow for clipped records if the tails are this heavy
MOST_TOLD = 2.0  # growth up to which an index can be told that is large enough


@dataclass(frozen=True, slots=True)
class ClipBounds:
    """Where records are clipped: released."""

    lo: int
    hi: int
    outside: Outside | None

    def index(self, growth: float) -> float:
        """[locations.15] The tail index that the ends allow for: 3, or what was seen."""
        if self.outside is None or growth > MOST_TOLD:
            return TAIL
        least, typical = tail_of(self.outside)
        return min(TAIL, tail_index.assumed_index(least, typical, growth))

    def allowed(self, statistic: MonotoneStatistic) -> float:
        """Records at a bound that make up for those beyond it, for the tail that was seen."""
        index = self.index(statistic.growth)
        beyond = excess(statistic.growth, index)
        if self.outside is None or beyond == math.inf:
            return 0.0
        return beyond * self.outside.expected(index)


def tail_of(outside: Outside) -> tuple[float | None, float | None]:
    """[locations.15] The least and the typical tail index that explain what was seen."""
    seen = outside.evidence()
    return outside.least_index(seen, 0.025), outside.least_index(seen, 0.5)


@dataclass(frozen=True, slots=True)
class Scene:
    """All that the last draws follow from; of these, only the cells are sensitive.

    ``trimmed`` records are deleted on each side, by rank; those beyond the bounds are deleted then,
    and clipped otherwise.
    """

    split: BudgetSplit
    lattice: Lattice
    statistic: MonotoneStatistic
    cells: CellSummary
    bounds: ClipBounds
    candidates: Candidates
    trimmed: int = 0

    def lengths(self, size: LengthPlan, towards: int = 0) -> SignedLengths:
        """Lengths of values between the bounds (``towards``: as of a statistic's lengths)."""
        ends = self.bounds.lo, self.bounds.hi
        if self.bounds.outside is None and not self.trimmed:
            # The outermost cells may reach beyond the range.
            reach = self.cells.edges[-1]
            ends = self.cells.centre - reach, self.cells.centre + reach
        records = score_lengths.ClippedCells(self.cells, *ends, self.lattice.step, self.trimmed)
        return self.statistic.lengths(records, unit=size.unit, cap=size.cap, towards=towards)

    def estimate(
        self,
        value: tuple[int, float],
        count: int,
        count_noise: NoisyTerm,
        *,
        ends: tuple[int, int] | None = None,
        level: float | None = None,
        has_centre: bool = True,
    ) -> ScalarEstimate:
        """Return a drawn ``value``, a point and a bound on its length, with its error model."""
        statistic, bounds = self.statistic, self.bounds
        point, length_bound = value
        error_model = LocationErrorModel(
            lattice=self.lattice,
            level=level,
            count=count,
            count_noise=count_noise,
            point=point,
            name=statistic.name,
            growth=statistic.growth,
            width=statistic.width,
            ends=ends,
            allowed=bounds.allowed(statistic),
            assumed=bounds.index(statistic.growth),
            bounds=(bounds.lo, bounds.hi),
            outside=bounds.outside,
            length_bound=length_bound,
            has_centre=has_centre,
            trimmed=self.trimmed,
        )
        return ScalarEstimate(error_model.value, error_model, error_model.status)


def draw_value(scene: Scene, share: Share) -> Steps[tuple[int, float]]:
    """[locations.5] The value, and a bound on its length that holds with a probability of 95 %."""
    count = scene.candidates.log_count
    size = LengthPlan.of(share.range, count, whole=scene.statistic.whole)
    point = yield from draw_near(scene, scene.lengths(size), size, share)
    return point, size.bound(count, 0.05)


def draw_near(scene: Scene, lengths: SignedLengths, size: LengthPlan, share: Share) -> Steps[int]:
    """Draw a candidate t, P(t) ∝ exp(-ε |length(t)| / 2)."""
    candidates = scene.candidates
    ends = score_lengths.level_ends_of(
        lambda numbers: lengths.at(candidates.between(numbers)),
        candidates.first,
        candidates.last,
        candidates.fine,
        size.cap,
    )
    first, last = (candidates.fine * number for number in (candidates.first, candidates.last))
    score, (epsilon, event) = level_sets.LevelScore(*ends, first, last), share.ranged
    mechanism = scene.split.spend(Exponential(score, epsilon / size.unit, event))

    def words(number: int) -> str:
        return scene.lattice.words(candidates.place(number))

    number = yield from draw("location", mechanism, words)
    return candidates.place(number)


def draw_ends(scene: Scene, point: int, level: float) -> Steps[tuple[int, int]]:
    """[locations.6] A value on each side, equally far from a point, for all that is left.

    One draw of the distance. On either side lengths are those of a statistic that is beyond the
    location for sure, so that nothing that a cell hides can put the location beyond an end.
    """
    epsilon, event = scene.split.rest().ranged
    first, last = scene.lattice.first, scene.lattice.last
    low, high = point - max(scene.bounds.lo, first), min(scene.bounds.hi, last) - point
    nearest, span = scene.candidates.unit * scene.candidates.fine, max(low, high, 1)
    grid = RadiusGrid.between(min(nearest, span), span, per_octave=4)
    radii = np.minimum(np.array(grid.radii, dtype=np.int64), span)

    log_count, missed = math.log(len(radii)), 0.9 * (1 - level)
    seldom = (log_count - math.log(missed)) * 2 / float(epsilon)
    shift = scene.bounds.allowed(scene.statistic) + seldom
    size = LengthPlan.of(epsilon, log_count, shift, whole=scene.statistic.whole)
    target = math.ceil(shift * size.unit)

    def away(sign: int, reach: int) -> Integers:
        places = point + sign * np.minimum(radii, reach)
        lengths = sign * scene.lengths(size, sign).at(2 * places)
        lengths[radii >= reach] = size.cap  # the end is that of the range
        found: Integers = np.maximum.accumulate(lengths)
        return found

    nearer = np.minimum(away(-1, low), away(1, high))
    score = scores.ReachScore(tuple(nearer.tolist()), target)
    mechanism = scene.split.spend(Exponential(score, epsilon / size.unit, event))

    def ends(number: int) -> tuple[int, int]:
        radius = int(radii[number])
        return (
            point - radius if radius < low else first,
            point + radius if radius < high else last,
        )

    def words(number: int) -> str:
        lower, upper = ends(number)
        return f"[{scene.lattice.words(lower)}, {scene.lattice.words(upper)}]"

    number = yield from draw("ends", mechanism, words)
    return ends(number)


NO_CENTRE = Status(
    "few_records",
    "too little data for this budget: no private centre was possible, so the answer is as coarse "
    "as the values are large; a larger budget helps, a narrower `within` hardly",
)
TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: the answer may lie far from all records; "
    "narrow `within` or spend more",
)
TOO_FEW_TO_TRIM = Status(
    "few_records",
    "too little data: method='subset' leaves out {records:,} records and more on each side at this "
    "budget and range; leave method out, or spend more",
)
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records for ends at this budget, or the "
    "location is as good as at the end",
)


@storable
@dataclass(frozen=True, slots=True)
class LocationErrorModel(drawn_interval.DrawnEnds):
    """A value near a location, and ends beyond it.

    Growth and width are as of a
    :class:`~modicum.statistics.robust.monotone_statistic.MonotoneStatistic`; the width may be a
    released one. ``bounds`` are the clipping bounds, or the range, ``outside`` is what the radius
    draws imply about clipped records, if any are, and ``allowed`` how many records at the bounds
    the ends allow for. ``trimmed`` records were deleted on each side, by rank. With a
    probability of 95 % the value is at most ``length_bound`` records away from the location.
    """

    name: str
    growth: float
    width: float | None
    ends: tuple[int, int] | None
    allowed: float
    bounds: tuple[int, int]
    outside: Outside | None
    length_bound: float
    has_centre: bool
    trimmed: int = 0
    assumed: float = TAIL

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ends, with a step for rounding; the range where they do not hold."""
        if self.outside is not None and tail is not None:
            needed = excess(self.growth, tail) * self.outside.expected(tail)
            if needed > self.allowed or self._too_many or self.outside.excess(0.05):
                return Interval(self.lattice.lo, self.lattice.hi)
        return self._interval(level, rounding=1)

    def tail_index(self, _level: float) -> float:
        """The index that the ends allow for, at any level."""
        return self.assumed

    @property
    def _kept(self) -> float:
        return self.least_count - 2 * self.trimmed

    @property
    def _too_many(self) -> bool:
        return self.outside is not None and self.outside.too_many(self._kept, 0.05)

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the value and its ends are, in steps; 0 if that is little.

        Of a column of zeros, and a few others, it may be any such value.
        """
        furthest = self._furthest
        return (furthest if furthest >= FINE_STEPS else 0,)

    @property
    def status(self) -> Status:
        if not self.has_centre:
            return NO_CENTRE
        if self.trimmed and self._kept < 2 * self.trimmed:
            return TOO_FEW_TO_TRIM.filled(records=self.trimmed)
        if self._kept < 2 * self.length_bound or self._too_many:
            return TOO_LITTLE
        outside = self._outside_status
        if outside.code != "clipped" and self.ends == (self.lattice.first, self.lattice.last):
            return TOO_LITTLE
        if outside.code not in ("clipped", "heavy_tail") and self._reaches_range_end:
            return NO_END
        return outside

    @property
    def _outside_status(self) -> Status:
        """Whether the ends allow for the tail that was seen, and all records can be near."""
        lattice, (lo, hi) = self.lattice, self.bounds
        if self.outside is None or (lo <= lattice.first and hi >= lattice.last):
            return OK
        if self.outside.excess(0.05):
            return BEYOND.filled(records=max(self.outside.counted or 0, 0))
        if self.growth <= MOST_TOLD:
            least, typical = tail_of(self.outside)
            tail = tail_status(least, typical, self.growth)
            if not tail.ok:
                return tail
        room = max(lo - lattice.first, lattice.last - hi)
        return perhaps_unseen(self.outside.counted_at_most(0.02), self.count, hi - lo, room)

    @property
    def condition(self) -> str:
        return "" if self.outside is None else ALLOWS

    def assumption(self, tail: float | None) -> str:
        if self.trimmed:
            return (
                f"method='subset' draws no interval: {self.trimmed:,} records and more are left "
                "out on each side, and what they would change cannot be told."
            )
        if self.level is None or self.outside is None:
            return self._covered(f"the {self.name} location")
        if tail is None:
            lo, hi = (self.lattice.value(bound) for bound in self.bounds)
            return (
                f"interval(tail=None) is for the {self.name} of the data clipped to "
                f"[{lo:,.6g}, {hi:,.6g}], up to a level of {self.level:g}."
            )
        if math.isinf(excess(self.growth, tail)):
            return (
                f"interval(tail={tail:g}) is the public range: data with so many values far out "
                f"need not have a {self.name}."
            )
        return (
            f"interval(tail={tail:g}) allows for about {self.allowed:.0f} more records at the "
            "clipping bounds, which is what clipping costs if values beyond them are rare: "
            f"{tail_index.rare(self.assumed)}. For more of them it is the public range."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "statistic": self.name,
            "width": self.width,
            "clip": [self.lattice.value(bound) for bound in self.bounds],
            **self._numbers(length_bound=self.length_bound, allowed_at_bounds=self.allowed),
            "trimmed": self.trimmed,
        }


def moved_by(statistic: MonotoneStatistic, distance: int, step: float, share: float) -> int:
    """[locations.16] Bound the location of equal records at 0, but for a share at a distance.

    Distances are in lattice steps; it is between these, if no more is known than that.
    """
    if not share or not distance:
        return 0
    if share >= 1 or not isinstance(statistic, Score):
        return distance
    table, sign = statistic.table(abs(distance), step), 1 if distance > 0 else -1
    low, high = 0, abs(distance)
    while high - low > 1:
        middle = (low + high) // 2
        far, near = table.at(sign * np.array([abs(distance) - middle, -middle]))
        pull = sign * (share * float(far) + (1 - share) * float(near))
        low, high = (middle, high) if pull > 0 else (low, middle)
    return sign * high


@storable
@dataclass(frozen=True, slots=True)
class OneLocationErrorModel(OneValue, SizedByBounds):
    """[locations.16] A location where all records seem to have one value, the ``point``."""

    point: int
    level: float | None
    ends: tuple[int, int]

    @property
    def value(self) -> Fraction:
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ends; the range above their level. Without a tail, nothing is elsewhere."""
        if tail is None:
            return self.in_range(self.lo - 0.5, self.hi + 0.5)
        if self.level is None or level > self.level:
            return Interval(self.lattice.lo, self.lattice.hi)
        return self.in_range(self.ends[0] - 0.5, self.ends[1] + 0.5)
