"""What a location's interval is computed from: released quantities only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.release import Interval
from modicum.statistics.outside import NoisyTerm, Outside
from modicum.statistics.statistic import excess
from modicum.status import FINE_STEPS, OK, Status, unseen

__all__ = ["LocationEvidence"]

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


@dataclass(frozen=True, slots=True)
class LocationEvidence:
    """A value near a location, and ends beyond it (in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    name : str
        Of the statistic.
    growth, width : float, float or None
        As of a :class:`~modicum.statistics.statistic.MonotoneStatistic`; the width may be a
        released one.
    point : int
    ends : (int, int) or None
        Lower and upper end, if they were drawn.
    level : float or None
        Confidence at which they were drawn.
    allowed : float
        Records at the clipping bounds that the ends allow for.
    bounds : (int, int)
        Clipping bounds, or the range.
    outside : Outside or None
        What the radius draws imply about clipped records; ``None`` if nothing is clipped.
    count : int
        The noisy count.
    count_noise : NoisyTerm
    length_bound : float
        With probability 95 %, the value is no more records than this away from the location.
    has_centre : bool
    trimmed : int
        Records that were deleted on each side, by rank.
    """

    lattice: Lattice
    name: str
    growth: float
    width: float | None
    point: int
    ends: tuple[int, int] | None
    level: float | None
    allowed: float
    bounds: tuple[int, int]
    outside: Outside | None
    count: int
    count_noise: NoisyTerm
    length_bound: float
    has_centre: bool
    trimmed: int = 0

    @property
    def value(self) -> Fraction:
        """The value in the data's unit."""
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ends, with a step for rounding; the range where they do not hold."""
        lo, hi, step = self.lattice.lo, self.lattice.hi, self.lattice.step
        if self.ends is None or self.level is None or level > self.level:
            return Interval(lo, hi)
        if self.outside is not None and tail is not None:
            needed = excess(self.growth, tail) * self.outside.expected(tail)
            if needed > self.allowed or self._too_many:
                return Interval(lo, hi)
        lower, upper = self.ends
        return Interval(max(lo, (lower - 1) * step), min(hi, (upper + 1) * step))

    @property
    def _least(self) -> float:
        return self.count - self.count_noise.bound(0.05) - 2 * self.trimmed

    @property
    def _too_many(self) -> bool:
        return self.outside is not None and self.outside.too_many(self._least, 0.05)

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.count_noise.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the value and its ends are, in steps; 0 if that is little.

        Of a column of zeros, and a few others, it may be any such value.
        """
        furthest = max(abs(each) for each in (self.point, *(self.ends or ())))
        return (furthest if furthest >= FINE_STEPS else 0,)

    @property
    def status(self) -> Status:
        """What the released numbers warn of."""
        if not self.has_centre:
            return NO_CENTRE
        if self.trimmed and self._least < 2 * self.trimmed:
            return TOO_FEW_TO_TRIM.filled(records=self.trimmed)
        if self._least < 2 * self.length_bound or self._too_many:
            return TOO_LITTLE
        if self.ends is not None:
            range_ends = (self.lattice.first, self.lattice.last)
            if self.ends == range_ends:
                return TOO_LITTLE
            pairs = zip(self.ends, range_ends, strict=True)
            if any(end == limit != self.point for end, limit in pairs):
                return NO_END
        return OK

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "" if self.outside is None else "for tails of index 3 or lighter"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if self.trimmed:
            return (
                f"method='subset' draws no interval: {self.trimmed:,} records and more are left "
                "out on each side, and what they would change cannot be told."
            )
        if self.level is None:
            return "no interval was asked for (level=None), so it is the public range."
        if self.outside is None:
            return (
                f"the interval holds the {self.name} location up to a level of "
                f"{self.level:g}; it assumes nothing. Above that level it is the public range."
            )
        if tail is None:
            lo, hi = (self.lattice.value(bound) for bound in self.bounds)
            return (
                f"interval(tail=None) is for the {self.name} of the data clipped to "
                f"[{lo:,.6g}, {hi:,.6g}], up to a level of {self.level:g}."
            )
        if math.isinf(excess(self.growth, tail)):
            return (
                f"interval(tail={tail:g}) is the public range: data with tails of index {tail:g} "
                f"need not have a {self.name}."
            )
        return (
            f"interval(tail={tail:g}) allows for about {self.allowed:.0f} more records at the "
            "clipping bounds, which is what clipping costs if beyond them the data fall off like "
            "a power of index 3 or faster; for heavier tails it is the public range."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "statistic": self.name,
            "width": self.width,
            "clip": [self.lattice.value(bound) for bound in self.bounds],
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            "length_bound": self.length_bound,
            "allowed_at_bounds": self.allowed,
            "drawn_level": self.level,
            "trimmed": self.trimmed,
        }
