"""What a variance's interval is computed from: released quantities and public noise laws only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.release import Interval
from modicum.statistics.clipping import Rough
from modicum.statistics.mean_evidence import Counted, NoisyTerm, elsewhere_in_words, single_status
from modicum.statistics.outside import Outside
from modicum.statistics.redrawn import Redrawn, Totals
from modicum.status import FINE_STEPS, Status, unseen

__all__ = ["ConstantEvidence", "VarianceEvidence"]

_PLACES = 80  # binary digits of a root
_BEYOND = 0.8  # share of alpha for clipped records: their bound grows faster than the noise's
_USUAL = 0.3  # share of that for their number


@dataclass(frozen=True, slots=True)
class VarianceEvidence:
    """Squares of clipped data about a rough mean (all in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    root : bool
        Whether the answer is the standard deviation.
    lo, hi : int
        The clipping bounds.
    rough : Rough
        The released rough mean m.
    sums : (int, int)
        Noisy sum of (x - m)², and noisy sum of R² - (x - m)², R the largest distance from m.
    noise : NoisyTerm
        Noise of each of them.
    outside : Outside
        What the radius draws imply about clipped records.
    constant : bool
        Whether most records have one public value: the answer is 0 if noise may explain the rest.

    Notes
    -----
    [V6] With S1, S2 the true sums, E (x - m)² = R² S1 / (S1 + S2), which grows with S1 and falls
    with S2: bounds on the two noises give its bounds. The variance of the clipped data is that
    minus (mean - m)², and the last term lies between 0 and the square of what [M4] says.

    [V7] Clipping brings all values closer together, so the variance of the data is at least that
    of the clipped ones, and at most E (x - m)². With a tail of index a beyond the bounds the number
    F of records there has a known law (:meth:`Outside.drawn`). Their squares (x - m)² / d², d the
    distance of the bound, have a tail of index a / 2: they exceed 1 by 2 / (a - 2) on average, and
    the largest exceeds w with a probability of at most E F w^(-a / 2). The sum of the excesses is
    taken to be at most the one, for a large F, plus the other.
    """

    lattice: Lattice
    root: bool
    lo: int
    hi: int
    rough: Rough
    sums: tuple[int, int]
    noise: NoisyTerm
    outside: Outside
    constant: bool = False

    @property
    def reach(self) -> int:
        """Largest distance of a clipped record from the rough mean."""
        return max(self.hi - self.rough.value, self.rough.value - self.lo)

    @property
    def square(self) -> Fraction:
        """The variance, in squared steps."""
        if self.constant and self.noise.explains(self.sums[0]):
            return Fraction(0)
        share = Fraction(self.sums[0], max(sum(self.sums), 1))
        return self.reach**2 * min(max(share, Fraction(0)), Fraction(1))

    @property
    def deviation(self) -> Fraction:
        """Its root, in steps."""
        return _root(self.square)

    @property
    def value(self) -> Fraction:
        """The answer in the data's unit, or its square."""
        step, half = Fraction(self.lattice.step), _half(self.lattice)
        return (
            min(self.deviation * step, half) if self.root else min(self.square * step**2, half**2)
        )

    def redrawn(self, table: Totals) -> Redrawn:
        """Return how the answer from this table follows of its last noise."""
        squares = table.squares(self.lo, self.hi, self.rough.value)
        rest = self.reach**2 * table.rows - squares
        return Redrawn(
            (self.noise.noise,) * 2,
            lambda z, other: replace(self, sums=(squares + z, rest + other)).value,
        )

    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold less than a quarter of the data."""
        least = float(self.rough.counted.value) - self.rough.counted.bound(0.1 * alpha)
        ended = self.lo <= self.lattice.first, self.hi >= self.lattice.last
        return self.outside.too_many(least, alpha, ended)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Interval for the answer (of the clipped data if ``tail`` is None)."""
        alpha = 1 - level
        s1, s2 = (max(float(each), 0.0) for each in self.sums)  # as the true ones are
        beyond = 0.0 if tail is None else _BEYOND * alpha
        alpha -= beyond
        main, lack = self.noise.bound(0.8 * alpha), self.noise.bound(0.1 * alpha)
        largest = float(self.reach) ** 2
        least = largest * _share(s1 - main, s2 + lack, 0.0)
        most = largest * _share(s1 + main, s2 - lack, 1.0)
        least -= (self.rough.noise.bound(0.05 * alpha) + 0.5) ** 2
        widest = (self.lattice.width / 2) ** 2
        if tail is not None:
            counted = self.rough.counted
            rows = float(counted.value) - counted.bound(0.1 * alpha)
            if tail <= 2 or self.too_little(beyond):
                most = widest
            else:
                most += self._excess(beyond, tail) / max(rows, 1.0)
                # More records outside than any tail explains may be anywhere in the range.
                others = self.outside.excess(0.1 * beyond) / max(rows, 1.0)
                most += others * float(self.lattice.width) ** 2
        return spread_interval(self.lattice, max(least, 0.0), min(most, widest), root=self.root)

    def _excess(self, alpha: float, tail: float) -> float:
        """Bound on the squares of the clipped records beyond those of the bounds, for a > 2."""
        bounds = self.rough.value - self.lo, self.hi - self.rough.value
        distances = [max(*each, 1) for each in zip(bounds, self.outside.radii, strict=True)]
        ends = self.lo <= self.lattice.first, self.hi >= self.lattice.last
        usual, jumps, widest = 0.0, 0.0, max(distances)
        for side, distance in enumerate(distances):
            if ends[side]:
                continue  # nothing lies beyond the range
            most = self.outside.quantile(_USUAL * alpha / 2, tail, distance, side)
            numbers, probabilities = self.outside.beyond(tail, distance, side)
            usual += most * (distance / widest) ** 2 * 2 / (tail - 2)
            jumps += float(probabilities @ numbers) * math.pow(distance / widest, tail)
        largest = math.pow(jumps / ((1 - _USUAL) * alpha), 2 / tail)
        return (usual + largest) * float(widest) ** 2

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(float(self.rough.counted.value), self.rough.counted.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far the bounds are apart, in lattice steps; 0 if that may be an atom's doing."""
        return (self.hi - self.lo if self.hi - self.lo >= FINE_STEPS else 0,)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "for tails of index 3 or lighter"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        what = "standard deviation" if self.root else "variance"
        if tail is None:
            lo, hi = self.lattice.value(self.lo), self.lattice.value(self.hi)
            return (
                f"interval(tail=None) is for the {what} of the data clipped to "
                f"[{lo:,.6g}, {hi:,.6g}]; it covers the noise and the noisy count."
            )
        if tail <= 2:
            return (
                f"interval(tail={tail:g}) assumes next to nothing: under such a tail no finite "
                f"{what} need exist, so only the public range bounds it from above."
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
            "rough_mean": self.lattice.value(self.rough.value),
            "count": float(self.rough.counted.value),
            "relative_noise_sd": self.noise.variance**0.5 / max(self.sums[0], 1),
            "clipped_at_most": self.outside.at_most(0.05),
        }


@dataclass(frozen=True, slots=True)
class ConstantEvidence:
    """The spread of data whose clipping bounds all but coincide: zero, for all that is known.

    Attributes
    ----------
    lattice : Lattice
    root : bool
    lo, hi : int
        The clipping bounds.
    counted : Counted
    elsewhere : int
        The noisy number of records outside of the bounds, at least 0.
    noise : NoisyTerm
        Its noise.
    has_centre : bool
        Whether the bounds lie around a private centre.
    """

    lattice: Lattice
    root: bool
    lo: int
    hi: int
    counted: Counted
    elsewhere: int
    noise: NoisyTerm
    has_centre: bool

    @property
    def value(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Allow the records elsewhere to be anywhere in the range: no tail fits a single value.

        About a point of the bounds, E (x - point)² is at most (hi - lo)², plus for the share
        elsewhere the square of the range.
        """
        most = float(self.hi - self.lo) ** 2
        if tail is not None:
            alpha = 1 - level
            others = max(0.0, self.elsewhere + self.noise.bound(0.9 * alpha))
            least = float(self.counted.value) - self.counted.bound(0.1 * alpha)
            share = 1.0 if others >= least else others / least
            most += share * float(self.lattice.width) ** 2
        most = min(most, (self.lattice.width / 2) ** 2)
        return spread_interval(self.lattice, 0.0, most, root=self.root)

    @property
    def status(self) -> Status:
        """What to know about it."""
        return single_status(self.elsewhere, self.noise)

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(float(self.counted.value), self.counted.bound(0.1))

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


def spread_interval(lattice: Lattice, least: float, most: float, *, root: bool) -> Interval:
    """Turn bounds on a variance in squared steps into an interval in the data's unit.

    Rounding moves each value by half a step at most, and so the standard deviation: it is a
    distance from the constants, divided by sqrt(n). Noise may put both bounds beyond half of the
    range, which no standard deviation exceeds.
    """
    upper = min((math.sqrt(most) + 0.5) * lattice.step, (lattice.hi - lattice.lo) / 2)
    lower = min(max(0.0, math.sqrt(least) - 0.5) * lattice.step, upper)
    return Interval(lower, upper) if root else Interval(lower**2, upper**2)


def _half(lattice: Lattice) -> Fraction:
    """Half of the range: no standard deviation is larger."""
    return (Fraction(lattice.hi) - Fraction(lattice.lo)) / 2


def _share(first: float, second: float, otherwise: float) -> float:
    """Return the first of two sums as a share of both, each at least 0, if they are something."""
    first, second = max(first, 0.0), max(second, 0.0)
    return first / (first + second) if first + second > 0 else otherwise


def _root(square: Fraction) -> Fraction:
    """Square root, rounded down at a relative 2^-80 or so."""
    shift = max(0, 2 * _PLACES - int(square).bit_length()) & ~1
    whole = (square.numerator << shift) // square.denominator
    return Fraction(math.isqrt(whole), 1 << shift // 2)
