"""The squares about a rough mean, and what is said of a variance and its root.

[variance.5] squares  the sum of squares about m and what it lacks of the largest, with all that is
                      left;
[variance.6] noise    an interval for the data clipped to the bounds;
[variance.7] clipped  what is beyond them, by the law of the records outside.

The error models hold released quantities and public noise distributions only.
docs/research/proofs/variance.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeVar

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import add_noise
from modicum.releases.release import Interval
from modicum.releases.status import FINE_STEPS
from modicum.runtime.steps import Steps, draw
from modicum.statistics.ranges.bounds import Bounds, Rough, Setting
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    NOISE_OF_EVIDENCE,
    Clipped,
    Counted,
    NoisyTerm,
    OneValue,
    Outside,
    Redrawn,
    share_of_sums,
)
from modicum.stored.codec import storable
from modicum.summaries.sums import SquareSummary
from modicum.summaries.synthetic import SyntheticTable

_PLACES = 80  # binary digits of a root
_USUAL = 0.3  # share of that for their number


M = TypeVar("M", bound="VarianceErrorModel")


def noisy_squares(
    here: Setting, squares: SquareSummary, bounds: Bounds, rough: Rough, model: Callable[..., M]
) -> Steps[M]:
    """[variance.5] Draw the squares about a rough mean with all that is left."""
    largest = bounds.reach(rough.value) ** 2
    pair = (squares.total, squares.count * largest - squares.total)
    final = here.split.spend(add_noise(pair, here.split.rest(), sensitivity=largest))

    def model_of(sums: tuple[int, ...]) -> M:
        return model(
            lattice=here.lattice,
            lo=bounds.lo,
            hi=bounds.hi,
            rough=rough,
            sums=sums,
            noise=NoisyTerm(final.noise[0], 1.0),
            outside=bounds.outside,
        )

    sums = yield from draw(
        "squares about the rough mean",
        final,
        lambda sums: f"standard deviation {here.lattice.words(model_of(sums).deviation)}",
    )
    return model_of(sums)


@dataclass(frozen=True, slots=True)
class PowersErrorModel(Clipped):
    """Error model of powers of clipped data about a released rough mean m (in lattice steps).

    ``sums`` are noisy sums that follow from the powers, each with ``noise``, and ``outside`` is
    what the radius draws imply about clipped records.
    """

    rough: Rough
    sums: tuple[int, ...]
    noise: NoisyTerm
    outside: Outside

    @property
    def counted(self) -> Counted:
        return self.rough.counted

    @property
    def reach(self) -> int:
        """Largest distance of a clipped record from the rough mean."""
        return max(self.hi - self.rough.value, self.rough.value - self.lo)

    order: ClassVar[int] = 2

    @property
    @abstractmethod
    def squared(self) -> float:
        """The mean square, in units of the squared reach, less what noise may have added."""

    def evidence(self) -> tuple[tail_index.Evidence, ...]:
        """The mean square tells of the tail too, and wherever the data are."""
        rows = max(float(self.counted.value), 1.0)
        records = min(max(self.outside.others, 1.0), rows) if self.outside.others else rows
        share = min(max(self.squared * rows / records, 0.0), 1.0)
        return (
            *Clipped.evidence(self),
            tail_index.PowerEvidence(2, records, share, max(self.reach, 1)),
        )

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far the bounds are apart, in lattice steps; 0 if an atom may explain it."""
        return (self.hi - self.lo if self.hi - self.lo >= FINE_STEPS else 0,)

    def shown(self, **more: object) -> dict[str, object]:
        """What a record shows of it, and more."""
        return {
            "clip": self.clip,
            "rough_mean": self.lattice.value(self.rough.value),
            "count": float(self.counted.value),
            **more,
            "clipped_at_most": self.outside.at_most(0.05),
        }


@storable
@dataclass(frozen=True, slots=True)
class VarianceErrorModel(PowersErrorModel):
    """Squares of clipped data about a released rough mean m.

    ``sums`` are of (x - m)², and of R² - (x - m)², R the largest distance from m. ``root``: the
    answer is the standard deviation. ``constant``: most records have one public value, and the
    answer is 0 if noise may explain the rest.

    Notes
    -----
    [variance.6] With S1, S2 the true sums, E (x - m)² = R² S1 / (S1 + S2), which grows with S1 and
    falls with S2: bounds on the two noises give its bounds. The variance of the clipped data is
    that minus (mean - m)², and the last term lies between 0 and the square of what [mean.10] says.

    [variance.7] Clipping brings all values closer together, so the variance of the data is at least
    that of the clipped ones, and at most E (x - m)². With a tail of index a beyond the bounds the
    number F of records there has a known distribution (:meth:`Outside.distribution`). Their squares
    (x - m)² / d², d the distance of the bound, have a tail of index a / 2: they exceed 1 by 2 / (a
    - 2) on average, and the largest exceeds w with a probability of at most E F w^(-a / 2). The sum
    of the excesses is taken to be at most the one, for a large F, plus the other.
    """

    root: bool
    constant: bool = False
    beyond: ClassVar[float] = 0.8  # share of alpha for clipped records: their bound grows faster
    # Of alpha, for both tails of the noise as a lower end and an upper end need it, and for m.
    parts: ClassVar[tuple[float, float, float]] = (0.8, 0.8, 0.05)

    @property
    def square(self) -> Fraction:
        """The variance, in squared steps."""
        if self.constant and self.noise.explains(self.sums[0]):
            return Fraction(0)
        share = Fraction(self.sums[0], max(sum(self.sums), 1))
        return self.reach**2 * min(max(share, Fraction(0)), Fraction(1))

    @property
    def squared(self) -> float:
        s1, s2 = (max(float(each), 0.0) for each in self.sums)
        return share_of_sums(s1 - self.noise.bound(NOISE_OF_EVIDENCE), s2, 0.0)

    @property
    def deviation(self) -> Fraction:
        """Its root, in steps."""
        return _root(self.square)

    @property
    def value(self) -> Fraction:
        step, half = Fraction(self.lattice.step), _half(self.lattice)
        return (
            min(self.deviation * step, half) if self.root else min(self.square * step**2, half**2)
        )

    def redrawn(self, table: SyntheticTable) -> Redrawn:
        squares = table.squares(self.lo, self.hi, self.rough.value)
        rest = self.reach**2 * table.rows - squares
        return Redrawn(
            (self.noise.noise,) * 2,
            lambda z, other: replace(self, sums=(squares + z, rest + other)).value,
        )

    def interval(self, level: float, tail: float | None) -> Interval:
        alpha = 1 - level
        s1, s2 = (max(float(each), 0.0) for each in self.sums)  # as the true ones are
        beyond = 0.0 if tail is None else self.beyond * alpha
        alpha -= beyond
        below, above, away = self.parts
        lack = self.noise.bound(0.1 * alpha)
        largest = float(self.reach) ** 2
        least = largest * share_of_sums(s1 - self.noise.bound(below * alpha), s2 + lack, 0.0)
        most = largest * share_of_sums(s1 + self.noise.bound(above * alpha), s2 - lack, 1.0)
        least -= (self.rough.noise.bound(away * alpha) + 0.5) ** 2
        widest = (self.lattice.width / 2) ** 2
        if tail is not None:
            rows = self.counted.least(0.1 * alpha)
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
        ends = self.ended
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

    def assumption(self, tail: float | None) -> str:
        what = "standard deviation" if self.root else "variance"
        if tail is None:
            return self.clipped_in_words(what, "the noise and the noisy count")
        if tail <= 2:
            return (
                f"interval(tail={tail:g}) assumes next to nothing: under such a tail no finite "
                f"{what} need exist, so only the public range bounds it from above."
            )
        return self.tail_in_words(tail)

    def to_dict(self) -> dict[str, object]:
        return self.shown(relative_noise_sd=self.noise.variance**0.5 / max(self.sums[0], 1))


@storable
@dataclass(frozen=True, slots=True)
class ConstantErrorModel(OneValue):
    """The spread of data whose clipping bounds all but coincide: zero, for all that is known.

    ``has_centre``: the bounds lie around a private centre, as they always do.
    """

    root: bool
    has_centre: bool = True

    @property
    def value(self) -> Fraction:
        return Fraction(0)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Allow the records elsewhere to be anywhere in the range: no tail fits a single value.

        About a point of the bounds, E (x - point)² is at most (hi - lo)², plus for the share
        elsewhere the square of the range.
        """
        most = float(self.hi - self.lo) ** 2
        if tail is not None:
            most += self.share_elsewhere(1 - level) * float(self.lattice.width) ** 2
        most = min(most, (self.lattice.width / 2) ** 2)
        return spread_interval(self.lattice, 0.0, most, root=self.root)


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


def _root(square: Fraction) -> Fraction:
    """Square root, rounded down at a relative 2^-80 or so."""
    shift = max(0, 2 * _PLACES - int(square).bit_length()) & ~1
    whole = (square.numerator << shift) // square.denominator
    return Fraction(math.isqrt(whole), 1 << shift // 2)
