"""What a trimmed or winsorized mean's interval is computed from: released quantities only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import short_text
from modicum.release import Interval
from modicum.statistics.outside import NoisyTerm
from modicum.status import OK, Status, unseen

__all__ = ["TrimmedEvidence"]

TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: so few records are trimmed that the answer may "
    "lie beyond all others; trim or spend more, or narrow `within`",
)
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records are trimmed for one at this budget",
)


@dataclass(frozen=True, slots=True)
class TrimmedEvidence:
    """A point near the mean of the records between two cuts, and a radius (in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    trim : Fraction
        Share of the records beyond each cut.
    winsorized : bool
    point : int
    radius : int or None
        If it was drawn.
    level : float or None
        Confidence at which the radius was drawn.
    count : int
        The noisy count.
    count_noise : NoisyTerm
    length_bound : float
        With probability 95 %, no more records than this would have to change before the point
        were the mean.
    """

    lattice: Lattice
    trim: Fraction
    winsorized: bool
    point: int
    radius: int | None
    level: float | None
    count: int
    count_noise: NoisyTerm
    length_bound: float

    @property
    def value(self) -> Fraction:
        """The point in the data's unit."""
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return point ± radius, with half a step for rounding; the range beyond its level."""
        lo, hi, step = self.lattice.lo, self.lattice.hi, self.lattice.step
        if self.radius is None or self.level is None or level > self.level:
            return Interval(lo, hi)
        return Interval(
            max(lo, (self.point - self.radius - 0.5) * step),
            min(hi, (self.point + self.radius + 0.5) * step),
        )

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.count_noise.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the value and the ends of its interval are, in steps; 0 if it is."""
        return (self.point and abs(self.point) + (self.radius or 0),)

    @property
    def status(self) -> Status:
        """What the released numbers warn of."""
        least = self.count - self.count_noise.bound(0.05)
        # [t5] Fewer changes than that leave the mean among the records.
        if float(self.trim / (1 - self.trim)) * least < self.length_bound:
            return TOO_LITTLE
        if self.radius is not None:
            ends = (self.point - self.radius, self.point + self.radius)
            limits = (self.lattice.first, self.lattice.last)
            if self.radius and (ends[0] <= limits[0] or ends[1] >= limits[1]):
                return NO_END
        return OK

    @property
    def condition(self) -> str:
        """How much is trimmed; the interval assumes nothing."""
        return f"trim = {short_text(self.trim)}"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if self.level is None:
            return "no interval was asked for (level=None), so it is the public range."
        what = "winsorized" if self.winsorized else "trimmed"
        return (
            f"the interval holds the {what} mean of the data at hand, up to a level of "
            f"{self.level:g}; it assumes nothing. Above that level it is the public range."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "trim": float(self.trim),
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            "length_bound": self.length_bound,
            "radius": None if self.radius is None else self.radius * self.lattice.step,
            "drawn_level": self.level,
        }
