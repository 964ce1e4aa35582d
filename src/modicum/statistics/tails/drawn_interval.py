"""What statistics share whose interval is drawn: shares, candidates for its ends, error models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import RadiusGrid
from modicum.releases import release, status
from modicum.statistics.tails.outside import NoisyTerm

COUNT_SHARE = Fraction(1, 50)
POINT_SHARE = Fraction(3, 5)
INTERVAL_SHARE = 1 - COUNT_SHARE - POINT_SHARE


def distances(largest: int) -> RadiusGrid:
    """Candidates for the distance of an end: at most 2^(1/4) times as far as need be."""
    return RadiusGrid.between(1, largest, per_octave=4)


@dataclass(frozen=True, slots=True)
class DrawnInterval:
    """Base of error models with a noisy count, and ends (in lattice steps) drawn at ``level``."""

    lattice: Lattice
    level: float | None
    count: int
    count_noise: NoisyTerm

    @property
    def least_count(self) -> float:
        """How many records there are at least, with a probability of 95 %."""
        return self.count - self.count_noise.bound(0.05)

    @property
    def few_seen(self) -> bool:
        return status.hardly_seen(self.count, self.count_noise.bound(0.1))

    def _covered(self, what: str, surely: str = "; it assumes nothing") -> str:
        """Say that the interval covers a statistic, if it was drawn, and how ``surely``."""
        if self.level is None:
            return "level=None: no interval was released; this is the public range."
        return (
            f"the interval holds {what} up to a level of {self.level:g}{surely}. "
            "Above that level it is the public range."
        )

    def _numbers(self, **more: float | None) -> dict[str, object]:
        return {
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            **more,
            "drawn_level": self.level,
        }


@dataclass(frozen=True, slots=True)
class DrawnEnds(DrawnInterval):
    """Base of error models of a point; ``ends``: those of its interval, if they were drawn."""

    point: int

    if TYPE_CHECKING:  # a field of some, and a property of others

        @property
        def ends(self) -> tuple[int, int] | None: ...

    @property
    def places(self) -> tuple[int, ...]:
        """The point and its ends, in steps."""
        return (self.point, *(self.ends or ()))

    @property
    def value(self) -> Fraction:
        """The point in the data's unit."""
        return self.lattice.inside(self.point)

    def _interval(self, level: float, rounding: float = 0.5) -> release.Interval:
        """Return the ends, with some steps for rounding; the public range beyond their level."""
        lo, hi, step = self.lattice.lo, self.lattice.hi, self.lattice.step
        if self.ends is None or self.level is None or level > self.level:
            return release.Interval(lo, hi)
        lower, upper = self.ends
        return release.Interval(
            max(lo, (lower - rounding) * step), min(hi, (upper + rounding) * step)
        )

    @property
    def _furthest(self) -> int:
        """Distance of the point and its ends from 0, in steps."""
        return max(map(abs, self.places))

    @property
    def _sized(self) -> int:
        """That distance; 0 if the point is, which may be the value of most records."""
        return status.or_hidden(self.lattice, self.point and self._furthest)

    @property
    def _reaches_range_end(self) -> bool:
        """Whether an end is that of the range, and the point is not."""
        range_ends = (self.lattice.first, self.lattice.last)
        return any(a == b != self.point for a, b in zip(self.ends or (), range_ends, strict=False))
