"""What is said of the squares about a rough mean: of a variance and its root.

[variance.1] squares  the sum of squares about m and what it lacks of the largest, with all that is
                      left;
[variance.2] noise    an interval for the data clipped to the bounds;
[variance.3] clipped  what is beyond them, by counts near the bounds.

The error models hold released quantities and public noise distributions only.
docs/research/proofs/variance.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from modicum.exact.lattice import Lattice
from modicum.releases.release import Interval
from modicum.releases.status import FINE_STEPS, Status, unseen
from modicum.statistics.means.found_mean import Near
from modicum.statistics.ranges.bounds import Rough
from modicum.statistics.ranges.window import Found
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    HEAVY,
    NOISE_OF_EVIDENCE,
    TOO_LITTLE,
    UNCHECKED,
    Counted,
    NoisyTerm,
    OneValue,
    Outside,
    Redrawn,
    share_of_sums,
)
from modicum.statistics.tails.rings import NOT_COUNTED, Rings
from modicum.stored.codec import storable
from modicum.summaries.synthetic import SyntheticTable

_PLACES = 80  # binary digits of a root


@dataclass(frozen=True, slots=True)
class PowersErrorModel(Near, ABC):
    """Error model of powers of clipped data about a released rough mean m (in lattice steps).

    ``sums`` are noisy sums that follow from the powers, each with ``noise``. The bounds are radii
    about the ``centre``. Beyond that of a side a number of powers of its radius, in ``rings``, may
    be missing from a sum. ``given``: the range of the lattice is; ``constant``: most records have
    one public value, and the answer is 0 if noise may explain the rest.
    """

    rough: Rough
    sums: tuple[int, ...]
    noise: NoisyTerm
    outside: Outside
    centre: int = 0
    rings: Rings = NOT_COUNTED
    given: bool = False
    constant: bool = False

    @property
    def counted(self) -> Counted:
        return self.rough.counted

    @property
    def reach(self) -> int:
        """Largest distance of a clipped record from the rough mean."""
        return max(self.hi - self.rough.value, self.rough.value - self.lo)

    @property
    @abstractmethod
    def value(self) -> Fraction:
        """The answer."""

    @property
    @abstractmethod
    def squared(self) -> float:
        """The mean square, in units of the squared reach, less what noise may have added."""

    @property
    @abstractmethod
    def explained(self) -> bool:
        """Whether noise may explain the squares."""

    def evidence(self) -> tuple[tail_index.Evidence, ...]:
        """The mean square tells of the tail too; what noise explains tells nothing."""
        if self.explained:
            return ()
        share = min(max(self.squared, 0.0), 1.0)
        rows = max(float(self.counted.value), 1.0)
        square = tail_index.PowerEvidence(2, rows, share, max(self.reach, 1))
        return (*Near.evidence(self), square)

    def status_in(self, found: Found, *, few: bool) -> Status:
        """Whether it can be used; ``few``: no number tells of the tail of so few records."""
        known = found.status.ok or not found.given
        if not known and unseen(float(self.counted.value), self.counted.bound(0.1)):
            return TOO_LITTLE
        status = self.status_of(found.status)
        return UNCHECKED if few and status.ok and self.clips else status

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
        }


@storable
@dataclass(frozen=True, slots=True)
class VarianceErrorModel(PowersErrorModel):
    """Squares of clipped data about a released rough mean m.

    ``sums`` are of (x - m)², and of R² - (x - m)², R the largest distance from m. ``root``: the
    answer is the standard deviation.

    Notes
    -----
    [variance.2] With S1, S2 the true sums, E (x - m)² = R² S1 / (S1 + S2), which grows with S1 and
    falls with S2: bounds on the two noises give its bounds. The variance of the clipped data is
    that minus (mean - m)², and the last term lies between 0 and the square of what [mean.7] says.

    [variance.3] Clipping brings all values closer together, so the variance of the data is at least
    that of the clipped ones, and at most E (x - m)².
    """

    root: bool = False
    order: ClassVar[int] = 2
    # Of alpha, for both tails of the noise as both ends of an interval need it, and for m, which
    # of few records is rough.
    parts: ClassVar[tuple[float, float, float]] = (0.3, 0.6, 0.15)

    @property
    def explained(self) -> bool:
        return self.noise.explains(self.sums[0])

    def status_of(self, otherwise: Status) -> Status:
        """Whether it can be used: of a thin tail the largest decide, which nothing shows."""
        status = Near.status_of(self, otherwise)
        return HEAVY if status.ok and self.rings.thin(self.order) else status

    def status_in(self, found: Found, *, few: bool) -> Status:
        status = PowersErrorModel.status_in(self, found, few=few)
        if status == TOO_LITTLE:
            return status
        return found.among_zeros(replace(self, root=True)) or status

    @property
    def at_home(self) -> bool:
        """Whether all records may be at a public point, as far as noise tells."""
        return self.constant and self.explained

    @property
    def square(self) -> Fraction:
        """The variance, in squared steps."""
        if self.at_home:
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
        below, above, away = self.parts
        lack = self.noise.bound(0.1 * alpha)
        largest = float(self.reach) ** 2
        least = largest * share_of_sums(s1 - self.noise.bound(below * alpha), s2 + lack, 0.0)
        most = largest * share_of_sums(s1 + self.noise.bound(above * alpha), s2 - lack, 1.0)
        least -= (self.rough.noise.bound(away * alpha) + 0.5) ** 2
        widest = (self.lattice.width / 2) ** 2
        if tail is not None:
            rows = max(self.counted.least(0.1 * alpha), 1.0)
            most += (self.missing(0, tail) + self.missing(1, tail)) / rows
        return spread_interval(self.lattice, max(least, 0.0), min(most, widest), root=self.root)

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
    """The spread of data whose clipping bounds all but coincided, of releases stored before.

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
