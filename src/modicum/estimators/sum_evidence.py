"""What a sum's interval is computed from: released quantities and public noise laws only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from sys import float_info

from modicum.estimators.mean_evidence import NoisyTerm, elsewhere_in_words, single_status
from modicum.estimators.outside import Outside
from modicum.exact.lattice import Lattice
from modicum.release import Interval
from modicum.status import Status, bounds_in_steps, unseen

__all__ = ["HomeSumEvidence", "SumEvidence"]


@dataclass(frozen=True, slots=True)
class SumEvidence:
    """A noisy clipped sum (all in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    lo, hi : int
        The clipping bounds.
    noisy : int
        The released sum.
    noise : NoisyTerm
        Its noise.
    count : int
        The noisy count, for the rounding of the records to the lattice.
    count_noise : NoisyTerm
    outside : Outside or None
        What the radius draw implies about clipped records; ``None``: nothing was clipped.
    """

    lattice: Lattice
    lo: int
    hi: int
    noisy: int
    noise: NoisyTerm
    count: int
    count_noise: NoisyTerm
    outside: Outside | None

    @property
    def value(self) -> Fraction:
        """The released sum in the data's unit."""
        return self.noisy * Fraction(self.lattice.step)

    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold less than a quarter of the data."""
        if self.outside is None:
            return False
        least = self.count - self.count_noise.bound(0.1 * alpha)
        return self.outside.too_many(least, alpha, (False,))

    def interval(self, level: float, tail: float | None) -> Interval:
        """Noise, rounding, and under a tail assumption the clipped records."""
        alpha, first, last = 1 - level, self.lattice.first, self.lattice.last
        most = max(0.0, self.count + self.count_noise.bound(0.1 * alpha))
        if tail is None:
            below = above = self.noise.bound(0.9 * alpha)
        elif self.too_little(alpha):
            return Interval(most * min(self.lattice.lo, 0.0), most * max(self.lattice.hi, 0.0))
        else:
            below = self._side(0.45 * alpha, tail, -self.lo if self.lo > first else None)
            above = self._side(0.45 * alpha, tail, self.hi if self.hi < last else None)
            # More records outside than any tail explains may be anywhere in the range.
            excess = 0.0 if self.outside is None else self.outside.excess(0.1 * alpha)
            below += excess * (self.lo - first)
            above += excess * (last - self.hi)
        return Interval(
            (self.noisy - below - 0.5 * most) * self.lattice.step,
            (self.noisy + above + 0.5 * most) * self.lattice.step,
        )

    def _side(self, alpha: float, tail: float, distance: int | None) -> float:
        """Bound on noise and clipped excess of a side; None: it is cut at the range's own end."""
        if distance is None or self.outside is None:
            return self.noise.bound(2 * alpha)
        noise, factor = self.noise.noise, self.noise.factor
        return self.outside.reach(alpha, tail, distance, 0, noise=noise, factor=factor)

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.count_noise.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How large the largest released bound is, in lattice steps; 0 if it may hold zeros."""
        return bounds_in_steps(self.lo, self.hi)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "" if self.outside is None else "for tails of index 3 or lighter"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if self.outside is None:
            return "interval() covers the noise and assumes nothing: no value is clipped."
        if tail is None:
            lo, hi = self.lattice.value(self.lo), self.lattice.value(self.hi)
            return (
                "interval(tail=None) is for the sum of the data clipped to "
                f"[{lo:,.6g}, {hi:,.6g}]; it covers the noise."
            )
        return (
            f"interval(tail={tail:g}) also allows for clipping, assuming that beyond the "
            f"clipping bounds the data fall off like a power of index {tail:g} or faster; for "
            "heavier tails it can be too short. No released number can check that assumption."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "clip": [self.lattice.value(self.lo), self.lattice.value(self.hi)],
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
            "clipped_at_most": 0.0 if self.outside is None else self.outside.at_most(0.05),
        }


@dataclass(frozen=True, slots=True)
class HomeSumEvidence:
    """A sum of records that are all at one public point, as far as their noisy numbers tell.

    Attributes
    ----------
    lattice : Lattice
    point : int
        Zero, or the end of the range nearest to it.
    count : int
        The noisy count of all records.
    count_noise : NoisyTerm
    elsewhere : int
        The noisy number of records that are not there.
    noise : NoisyTerm
        Its noise.
    """

    lattice: Lattice
    point: int
    count: int
    count_noise: NoisyTerm
    elsewhere: int
    noise: NoisyTerm

    @property
    def value(self) -> Fraction:
        """The released sum in the data's unit."""
        return self.point * max(self.count, 0) * Fraction(self.lattice.step)

    @property
    def status(self) -> Status:
        """Whether there are records elsewhere, as far as their noisy number tells."""
        return single_status(self.elsewhere, self.noise)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Allow the records elsewhere to be anywhere in the range."""
        alpha = 1 - level
        t = self.count_noise.bound(0.1 * alpha)
        counts = max(0.0, self.count - t), max(0.0, self.count + t)
        others = 0.0 if tail is None else max(0.0, self.elsewhere + self.noise.bound(0.9 * alpha))
        sums = [self.point * each for each in counts]
        lower = min(sums) + others * (self.lattice.first - self.point) - 0.5 * counts[1]
        upper = max(sums) + others * (self.lattice.last - self.point) + 0.5 * counts[1]
        return Interval(lower * self.lattice.step, upper * self.lattice.step)

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.count_noise.bound(0.1))

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return ""

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return elsewhere_in_words(self.elsewhere, tail)

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "point": self.lattice.value(self.point),
            "count": self.count,
            "elsewhere": self.elsewhere,
            "elsewhere_noise_sd": self.noise.variance**0.5,
        }
