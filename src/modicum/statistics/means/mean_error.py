"""What is said of a mean of clipped values, and of one beside which there is nearly nothing.

The error models hold released quantities and public noise distributions only.
docs/research/proofs/mean.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info

from modicum.releases.release import Interval
from modicum.statistics.ranges.population import Deviations, Squares, law_of_one_value
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.error_law import ErrorLaw
from modicum.statistics.tails.outside import (
    NOISE_OF_EVIDENCE,
    Clipped,
    Counted,
    NoisyTerm,
    OneValue,
    Outside,
    Redrawn,
    SizedByBounds,
    home_of,
    mean_size,
)
from modicum.stored.codec import storable
from modicum.summaries import synthetic


@storable
@dataclass(frozen=True, slots=True)
class MeanErrorModel(Deviations, SizedByBounds):
    """A mean around a rough mean, from clipped deviations (all in lattice steps).

    The final sum is of values clipped to [lo, hi] minus the released ``rough`` mean m;
    ``deviation`` is this sum with its ``noise``. ``outside`` is what the radius draws imply about
    clipped records.

    Notes
    -----
    The value is m + s / n̂, s / n̂ clamped to the reach r = max(hi - m, m - lo), and the whole to
    the range, where the mean is: that moves it towards the mean, if at all. With S the true sum of
    deviations, |S / n| <= r, and on an event of probability 1 - alpha both |s - S| <= z and |n̂ -
    n| <= t. Then |s / n̂ - S / n| <= z / n̂ + |S / n| t / n̂, with |S / n| <= min(r, (|s| + z) /
    (n̂ - t)).

    Beyond the bounds of a side, at a distance d, F records of a tail of index a have a mean excess
    of d / (a - 1), so the clipped mean is off by F d / ((a - 1) n). F is random, because the radius
    was drawn, and its distribution is known (:meth:`Outside.distribution`). The interval reaches as
    far on each side as noise and clipping together go, but for a probability of alpha / 2.

    If the bounds may hold less than a quarter of the data, the interval is the public range.
    """

    rough: int
    deviation: int
    counted: Counted
    noise: NoisyTerm
    outside: Outside
    squares: Squares | None = None

    @property
    def reach(self) -> int:
        """Largest deviation a clipped record can have."""
        return max(self.hi - self.rough, self.rough - self.lo)

    def evidence(self) -> tuple[tail_index.Evidence, ...]:
        """If the bounds are about home, the mean tells the mean distance from it too."""
        others, home = self.outside.others, home_of(self.lattice)
        if not others:
            return Clipped.evidence(self)
        away = abs(float(self.value / Fraction(self.lattice.step)) - home)
        total = max(away * float(self.counted.value) - self.noise.bound(NOISE_OF_EVIDENCE), 0.0)
        return (mean_size(total, others, max(self.hi - home, home - self.lo)),)

    @property
    def value(self) -> Fraction:
        shift = min(
            max(self.deviation / self.counted.value, Fraction(-self.reach)), Fraction(self.reach)
        )
        return self.lattice.inside(self.rough + shift)

    def redrawn(self, table: synthetic.SyntheticTable) -> Redrawn:
        deviation = table.clipped_sum(self.lo, self.hi) - self.rough * table.rows
        return Redrawn((self.noise.noise,), lambda z: replace(self, deviation=deviation + z).value)

    def interval(self, level: float, tail: float | None) -> Interval:
        below, above = self.reaches(1 - level, tail)
        centre = float(self.value / Fraction(self.lattice.step))
        return self.in_range(centre - below, centre + above)

    def reaches(self, alpha: float, tail: float | None) -> tuple[float, float]:
        """How far the interval goes below and above the value, in steps."""
        count, t = float(self.counted.value), self.counted.bound(0.1 * alpha)
        least = count - t
        if tail is not None and self.too_little(alpha):
            return (float(self.lattice.width),) * 2
        if least <= 0:  # the count may be anything: only the clipping bounds are known
            return (float(self.hi - self.lo) + 0.5,) * 2
        z = self.noise.bound(0.9 * alpha)
        deviation = min(float(self.reach), (abs(self.deviation) + z) / least)
        if tail is None:
            return (0.5 + (z + deviation * t) / count,) * 2
        left, right = (
            0.5 + (self.side_bound(0.45 * alpha, tail, side, self.rough) + deviation * t) / count
            for side in (0, 1)
        )
        # More records outside than any tail explains may be anywhere in the range.
        share = min(1.0, self.outside.excess(0.1 * alpha) / least)
        return left + share * (self.lo - self.lattice.first), right + share * (
            self.lattice.last - self.hi
        )

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return self.clipped_in_words("mean", "the noise and the noisy count")
        return self.tail_in_words(tail)

    def to_dict(self) -> dict[str, object]:
        return {
            "clip": self.clip,
            "rough_mean": self.lattice.value(self.rough),
            "noisy_deviation": self.lattice.value(self.deviation),
            "count": float(self.counted.value),
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
            "clipped_at_most": self.outside.at_most(0.05),
        }


@storable
@dataclass(frozen=True, slots=True)
class SingleValueErrorModel(OneValue, SizedByBounds):
    """A mean whose clipping bounds all but coincided, of releases that were stored before.

    ``point``, between the bounds, is the answer.
    """

    point: int

    @property
    def value(self) -> Fraction:
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Allow the records elsewhere to be anywhere in the range: no tail fits a single value."""
        share = 0.0 if tail is None else self.share_elsewhere(1 - level)
        lower = self.lo - 0.5 - share * (self.lo - self.lattice.first)
        upper = self.hi + 0.5 + share * (self.lattice.last - self.hi)
        return self.in_range(lower, upper)

    def error_law(self, alpha: float, tail: float | None, *, population: bool) -> ErrorLaw:
        return law_of_one_value(self, float(self.value), alpha, tail, population=population)
