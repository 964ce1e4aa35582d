"""What a sum's interval is computed from: released quantities and public noise laws only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info

from modicum.exact.lattice import Lattice
from modicum.release import Interval
from modicum.statistics.mean_evidence import NoisyTerm
from modicum.statistics.outside import Outside
from modicum.statistics.redrawn import Redrawn, Totals
from modicum.status import bounds_in_steps, unseen

__all__ = ["SumEvidence"]


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
    home : int or None
        A public point that most records have: if noise may explain the others, all have it.
    """

    lattice: Lattice
    lo: int
    hi: int
    noisy: int
    noise: NoisyTerm
    count: int
    count_noise: NoisyTerm
    outside: Outside | None
    home: int | None = None

    @property
    def value(self) -> Fraction:
        """The released sum in the data's unit."""
        return self._steps * Fraction(self.lattice.step)

    @property
    def _steps(self) -> int:
        """The sum in steps, or that of as many records at home, if nothing speaks against it."""
        if self.home is None:
            return self.noisy
        there = self.home * max(self.count, 0)
        surer = self.noise.explains(abs(self.home) * self.count_noise.variance**0.5)
        return there if surer and self.noise.explains(self.noisy - there) else self.noisy

    def redrawn(self, table: Totals) -> Redrawn:
        """Return how the answer from this table follows of its last noise."""
        clipped = table.clipped_sum(self.lo, self.hi)
        return Redrawn((self.noise.noise,), lambda z: replace(self, noisy=clipped + z).value)

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
            min(self.noisy - below - 0.5 * most, self._steps) * self.lattice.step,
            max(self.noisy + above + 0.5 * most, self._steps) * self.lattice.step,
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
