"""What a mean's interval is computed from: released quantities and public noise laws only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.release import Interval
from modicum.statistics.outside import Outside
from modicum.statistics.redrawn import Redrawn, Totals
from modicum.status import OK, Status, bounds_in_steps, unseen

__all__ = [
    "Counted",
    "MeanEvidence",
    "NoisyTerm",
    "SingleValueEvidence",
    "elsewhere_in_words",
    "single_status",
]

ELSEWHERE = Status(
    "clipped",
    "most rows are as good as equal, and about {records:,} others are left out of the answer: too "
    "few to find how far they reach; a larger budget or a narrower `within` helps",
)
_HEAVY = 2.5  # tail indices below this are seldom seen in data of index 3: once in twenty
_LIGHT = 6.0  # tail indices from which the number says nothing more
_RARELY = 0.03


@dataclass(frozen=True, slots=True)
class NoisyTerm:
    """A known multiple of a noise variable."""

    noise: Noise
    factor: float

    def bound(self, alpha: float) -> float:
        """Return a t with P(|factor noise| > t) <= alpha."""
        return self.factor * self.noise.tail_bound(alpha)

    def explains(self, seen: float) -> bool:
        """Whether what was seen may be nothing but the term, which is larger 3 times in 100."""
        return abs(seen) <= self.bound(_RARELY)

    @property
    def variance(self) -> float:
        """Variance of the term."""
        return self.factor**2 * self.noise.variance


@dataclass(frozen=True, slots=True)
class Counted:
    """A count estimate, at least 1, and the independent terms its error is the sum of."""

    value: Fraction
    noise: tuple[NoisyTerm, ...]

    def bound(self, alpha: float) -> float:
        """Return a t with P(|error| > t) <= alpha."""
        return sum(term.bound(alpha / len(self.noise)) for term in self.noise)


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
    counted : Counted
        The released count estimate.
    noise : NoisyTerm
        Noise of the deviation.
    outside : Outside
        What the radius draws imply about clipped records.

    Notes
    -----
    The value is m + s / n̂, s / n̂ clamped to the reach r = max(hi - m, m - lo), and the whole to the
    range, where the mean is: that moves it towards the mean, if at all. With S the true
    sum of deviations, |S / n| <= r, and on an event of probability 1 - alpha both |s - S| <= z
    and |n̂ - n| <= t. Then |s / n̂ - S / n| <= z / n̂ + |S / n| t / n̂, with
    |S / n| <= min(r, (|s| + z) / (n̂ - t)).

    Beyond the bounds of a side, at a distance d, F records of a tail of index a have a mean excess
    of d / (a - 1), so the clipped mean is off by F d / ((a - 1) n). F is random, because the radius
    was drawn, and its law is known (:meth:`Outside.drawn`). The interval reaches as far on each
    side as noise and clipping together go, but for a probability of alpha / 2.

    If the bounds may hold less than a quarter of the data, only the public range is left to say.
    """

    lattice: Lattice
    lo: int
    hi: int
    rough: int
    deviation: int
    counted: Counted
    noise: NoisyTerm
    outside: Outside

    @property
    def reach(self) -> int:
        """Largest deviation a clipped record can have."""
        return max(self.hi - self.rough, self.rough - self.lo)

    @property
    def value(self) -> Fraction:
        """The estimate, exactly, in the data's unit."""
        shift = min(
            max(self.deviation / self.counted.value, Fraction(-self.reach)), Fraction(self.reach)
        )
        return self.lattice.inside(self.rough + shift)

    def redrawn(self, table: Totals) -> Redrawn:
        """Return how the answer from this table follows of its last noise."""
        deviation = table.clipped_sum(self.lo, self.hi) - self.rough * table.rows
        return Redrawn((self.noise.noise,), lambda z: replace(self, deviation=deviation + z).value)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Interval for the mean (of the clipped data if ``tail`` is None)."""
        below, above = self.reaches(1 - level, tail)
        centre = float(self.value / Fraction(self.lattice.step))
        lower, upper = (centre - below) * self.lattice.step, (centre + above) * self.lattice.step
        return Interval(max(lower, self.lattice.lo), min(upper, self.lattice.hi))

    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold less than a quarter of the data."""
        least = float(self.counted.value) - self.counted.bound(0.1 * alpha)
        ended = self.lo <= self.lattice.first, self.hi >= self.lattice.last
        return self.outside.too_many(least, alpha, ended)

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
            0.5 + (self._side(0.45 * alpha, tail, side) + deviation * t) / count for side in (0, 1)
        )
        # More records outside than any tail explains may be anywhere in the range.
        share = min(1.0, self.outside.excess(0.1 * alpha) / least)
        return left + share * (self.lo - self.lattice.first), right + share * (
            self.lattice.last - self.hi
        )

    def _side(self, alpha: float, tail: float, side: int) -> float:
        """Bound on noise and clipped excess of a side together, with probability 1 - alpha."""
        distance = (self.rough - self.lo, self.hi - self.rough)[side]
        if (self.lo <= self.lattice.first, self.hi >= self.lattice.last)[side]:
            return self.noise.bound(2 * alpha)  # nothing lies beyond the range
        return self.outside.reach(
            alpha, tail, distance, side, noise=self.noise.noise, factor=self.noise.factor
        )

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(float(self.counted.value), self.counted.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How large the largest released bound is, in lattice steps; 0 if it may hold zeros."""
        return bounds_in_steps(self.lo, self.hi)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        index = self.outside.index()
        if index is None:
            return "for tails of index 3 or lighter, unchecked"
        seen = f"; here it looks like {index:.1f}" if index < _HEAVY else ""
        return f"for tails of index 3 or lighter{seen}"

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
            f"heavier tails it can be too short. {self._seen()}"
        )

    def _seen(self) -> str:
        index = self.outside.index()
        if index is None:
            return "Whether the data are heavier was not looked at, or could not be seen."
        seen = "the tail looks light"
        if index < _LIGHT:
            seen = f"the index looks like {index:.1f}, give or take a third"
        return f"Up to the bounds {seen}; beyond them, no released number can tell."

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "clip": [self.lattice.value(self.lo), self.lattice.value(self.hi)],
            "rough_mean": self.lattice.value(self.rough),
            "noisy_deviation": self.lattice.value(self.deviation),
            "count": float(self.counted.value),
            "noise_sd": self.noise.variance**0.5 * self.lattice.step,
            "clipped_at_most": self.outside.at_most(0.05),
        }


@dataclass(frozen=True, slots=True)
class SingleValueEvidence:
    """A mean whose clipping bounds all but coincide: most records are there, or they are too few.

    Attributes
    ----------
    lattice : Lattice
    lo, hi : int
        The clipping bounds.
    point : int
        The answer, between them.
    counted : Counted
        The released count estimate.
    elsewhere : int
        The noisy number of records outside of the bounds.
    noise : NoisyTerm
        Its noise.
    """

    lattice: Lattice
    lo: int
    hi: int
    point: int
    counted: Counted
    elsewhere: int
    noise: NoisyTerm

    @property
    def value(self) -> Fraction:
        """The answer in the data's unit."""
        return self.lattice.inside(self.point)

    @property
    def status(self) -> Status:
        """Whether there are records elsewhere, as far as their noisy number tells."""
        return single_status(self.elsewhere, self.noise)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Allow the records elsewhere to be anywhere in the range: no tail fits a single value."""
        share = 0.0
        if tail is not None:
            alpha = 1 - level
            most = max(0.0, self.elsewhere + self.noise.bound(0.9 * alpha))
            least = float(self.counted.value) - self.counted.bound(0.1 * alpha)
            share = 1.0 if most >= least else most / least
        lower = self.lo - 0.5 - share * (self.lo - self.lattice.first)
        upper = self.hi + 0.5 + share * (self.lattice.last - self.hi)
        return Interval(
            max(lower * self.lattice.step, self.lattice.lo),
            min(upper * self.lattice.step, self.lattice.hi),
        )

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(float(self.counted.value), self.counted.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How large the largest released bound is, in lattice steps; 0 if it may hold zeros."""
        return bounds_in_steps(self.lo, self.hi)

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
            "clip": [self.lattice.value(self.lo), self.lattice.value(self.hi)],
            "count": float(self.counted.value),
            "elsewhere": self.elsewhere,
            "elsewhere_noise_sd": self.noise.variance**0.5,
        }


def single_status(elsewhere: int, noise: NoisyTerm) -> Status:
    """Whether there are records away from a single value, as far as their noisy number tells."""
    return OK if elsewhere <= noise.bound(0.02) else ELSEWHERE.filled(records=elsewhere)


def elsewhere_in_words(elsewhere: int, tail: float | None) -> str:
    """Say what an interval about a single value assumes."""
    if tail is None:
        return "interval(tail=None) is for the data clipped to the bounds: all but no width."
    return (
        f"interval() allows the records outside of the bounds, about {max(elsewhere, 0)}, to be "
        "anywhere in the public range; it assumes no tail."
    )
