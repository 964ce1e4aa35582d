"""What a mean's interval is computed from: released quantities and public noise laws only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.noise import Noise
from modicum.release import Interval

__all__ = ["MeanEvidence", "NoisyTerm"]


@dataclass(frozen=True, slots=True)
class NoisyTerm:
    """A known multiple of a noise variable."""

    noise: Noise
    factor: float

    def bound(self, alpha: float) -> float:
        """Return a t with P(|factor noise| > t) <= alpha."""
        return self.factor * self.noise.tail_bound(alpha)

    @property
    def variance(self) -> float:
        """Variance of the term."""
        return self.factor**2 * self.noise.variance


@dataclass(frozen=True, slots=True)
class MeanEvidence:
    """A mean around a rough mean, from clipped deviations (all in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    lo, hi : int
        The clipping bounds.
    rough : int
        The released rough mean m; the final sum is of clipped values minus m.
    deviation : int
        The released noisy sum of deviations.
    count : Fraction
        The released count estimate, at least 1.
    noise : NoisyTerm or None
        Noise of the deviation; ``None`` if the bounds coincide, when it is exactly zero.
    count_noise : tuple of NoisyTerm
        Independent terms whose sum is the error of the count.
    tail_points : Fraction
        Expected number of clipped records times the tail index, see Notes.

    Notes
    -----
    The value is m + s / n̂, s / n̂ clamped to the reach r = max(hi - m, m - lo). With S the true
    sum of deviations, |S / n| <= r, and on an event of probability 1 - alpha both |s - S| <= z
    and |n̂ - n| <= t. Then |s / n̂ - S / n| <= z / n̂ + |S / n| t / n̂, with
    |S / n| <= min(r, (|s| + z) / (n̂ - t)).

    Beyond the bounds a tail of index a leaves, in expectation, tail_points / a records, each
    with a mean excess of r / (a - 1): the radius draw trades F clipped records, each worth
    eta in score, against power ln(r) of prior, so power = eta a F. Both sides can have a tail.
    """

    lattice: Lattice
    lo: int
    hi: int
    rough: int
    deviation: int
    count: Fraction
    noise: NoisyTerm | None
    count_noise: tuple[NoisyTerm, ...]
    tail_points: Fraction

    @property
    def reach(self) -> int:
        """Largest deviation a clipped record can have."""
        return max(self.hi - self.rough, self.rough - self.lo)

    @property
    def value(self) -> Fraction:
        """The estimate, exactly, in the data's unit."""
        shift = min(max(self.deviation / self.count, Fraction(-self.reach)), Fraction(self.reach))
        return (self.rough + shift) * Fraction(self.lattice.step)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Interval for the mean (of the clipped data if ``tail`` is None)."""
        half = self.half_width(1 - level, tail)
        centre = float(self.value / Fraction(self.lattice.step))
        ends = (
            max(centre - half, float(self.lattice.first)),
            min(centre + half, float(self.lattice.last)),
        )
        return Interval(*(end * self.lattice.step for end in ends))

    def half_width(self, alpha: float, tail: float | None) -> float:
        """Half of the interval's width before it is cut to the public range, in steps."""
        rounding = 0.5
        if self.noise is None:
            return rounding
        count = float(self.count)
        z = self.noise.bound(0.9 * alpha)
        t = sum(term.bound(0.1 * alpha / len(self.count_noise)) for term in self.count_noise)
        least = count - t
        if least <= 0:  # the count may be anything: only the clipping bounds are known
            return float(self.hi - self.lo) + rounding
        deviation = min(float(self.reach), (abs(self.deviation) + z) / least)
        half = (z + deviation * t) / count + rounding
        if tail is not None:
            half += float(self.tail_points) / (tail * (tail - 1)) * self.reach / least
        return min(half, float(self.hi - self.lo) if tail is None else half)

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if tail is None:
            lo, hi = self.lattice.value(self.lo), self.lattice.value(self.hi)
            return (
                "interval(tail=None) is for the mean of the data clipped to "
                f"[{lo:,.6g}, {hi:,.6g}]; it covers the noise and the noisy count."
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
            "rough_mean": self.lattice.value(self.rough),
            "noisy_deviation": self.lattice.value(self.deviation),
            "count": float(self.count),
            "noise_sd": 0.0 if self.noise is None else self.noise.variance**0.5 * self.lattice.step,
            "tail_points": float(self.tail_points),
        }
