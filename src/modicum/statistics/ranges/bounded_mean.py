"""The mean between public bounds, from two noisy sums: [bounded_mean.3] and [bounded_mean.4].

A record x in [lo, hi] moves the pair (sum of x - lo, sum of hi - x) by hi - lo in L1 norm, and the
count and the mean follow from it: Algorithm 3 of Kulesza, Suresh and Wang 2023, whose other
algorithms are in ``research/papers/kulesza2023.py``. It is what a mean that searches falls back on,
and what groups end with. docs/research/proofs/bounded_mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from sys import float_info

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.staircase import StaircaseTerm
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import OK, Status, hardly_seen
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.ranges.bounds import Setting
from modicum.statistics.ranges.population import SPENT, Squares, law_over_the_range
from modicum.statistics.tails import outside
from modicum.statistics.tails.error_law import ErrorLaw
from modicum.stored.codec import storable
from modicum.summaries.sums import ClippedSum


def end_sums(total: int, count: int, lo: int, hi: int) -> tuple[int, int]:
    """Sums of x - lo and of hi - x."""
    return total - count * lo, count * hi - total


def transformed_value(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from noisy sums of x - lo and of hi - x, clipped to [lo, hi]."""
    left, both = outcome[0], sum(outcome)
    return clipped_ratio(lo * both + (hi - lo) * left, both, lo, hi)


def clipped_ratio(numerator: int, denominator: int, lo: int, hi: int) -> Fraction:
    """Ratio clipped to the interval; the middle of the interval if the denominator is <= 0.

    See [bounded_mean.3].
    """
    if denominator <= 0:
        return Fraction(lo + hi, 2)
    if numerator <= lo * denominator:
        return Fraction(lo)
    return Fraction(hi) if numerator >= hi * denominator else Fraction(numerator, denominator)


_USELESS = 4  # an interval wider than this part of the range says next to nothing

TOO_LITTLE = Status(
    "few_records",
    "too little data for this budget: the interval is wider than a quarter of the range; narrow "
    "`within` or spend more",
)


@dataclass(frozen=True, slots=True)
class PublicRangeErrorModel(ABC):
    """A mean over the public range: the interval covers all noise, and nothing is clipped."""

    lattice: Lattice

    @property
    @abstractmethod
    def value(self) -> Fraction: ...

    @abstractmethod
    def ends(self, alpha: float) -> tuple[float, float]:
        """Bounds of the mean in lattice steps, each with half of the error probability."""

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return an interval, the same for every tail.

        Rounding moves each value, and so the mean, by half a step at most.
        """
        lower, upper = self.ends(1 - level)
        value, step = float(self.value), self.lattice.step
        return Interval(
            min(max((lower - 0.5) * step, self.lattice.lo), value),
            max(min((upper + 0.5) * step, self.lattice.hi), value),
        )

    @property
    def status(self) -> Status:
        interval = self.interval(0.95, None)
        width = interval.upper - interval.lower
        return OK if _USELESS * width < self.lattice.hi - self.lattice.lo else TOO_LITTLE

    @property
    def condition(self) -> str:
        return ""

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() covers all noise and assumes nothing: no value within the range is clipped."
        )


@storable
@dataclass(frozen=True, slots=True)
class BoundedErrorModel(PublicRangeErrorModel):
    """A mean from noisy sums of x - lo and of hi - x (in lattice steps), each with the same noise.

    ``home`` is a public point that most records have: the estimate, if noise may explain the rest.
    """

    left: int
    right: int
    noise: outside.NoisyTerm | StaircaseTerm
    home: int | None = None
    squares: Squares | None = None

    @property
    def value(self) -> Fraction:
        if self.home is not None and self.at_home:
            return self.lattice.inside(self.home)
        return _mean_of(self.lattice, self.left, self.right)

    @property
    def at_home(self) -> bool:
        """Whether all records may be at a public point, as far as noise tells."""
        return self.home is not None and self._all_at(self.home)

    def _all_at(self, home: int) -> bool:
        """Whether noise may explain the sum of x - home.

        It is (left (last - home) - right (home - first)) / width, and the noise of that is at most
        the larger distance over the width times the noise of one of them.
        """
        below, above = home - self.lattice.first, self.lattice.last - home
        deviation = self.left * above - self.right * below
        return self.noise.explains(deviation / max(below, above, 1))

    @property
    def count(self) -> float:
        return (self.left + self.right) / max(self.lattice.width, 1)

    def ends(self, alpha: float) -> tuple[float, float]:
        """Return the ratio's extremes over the noise's box.

        The true sums are at least 0, so negative ones are taken as 0: then the interval never
        shrinks to a point.
        """
        sums, z = (max(self.left, 0), max(self.right, 0)), self.noise.bound(alpha / 2)
        lower, upper = (
            self.lattice.first + self.lattice.width * share
            for share in outside.share_between(*sums, z)
        )
        return lower, upper

    def error_law(self, alpha: float, tail: float | None, *, population: bool) -> ErrorLaw | None:
        """Return the law of the errors; no tail plays a part, since nothing is clipped."""
        noise = self.noise.noise
        if noise is None:
            return None
        sums, box = (self.left, self.right), self.ends(0.5 * SPENT * alpha)
        return law_over_the_range(
            self.lattice,
            float(self.value),
            sums,
            noise,
            box,
            self.squares,
            alpha,
            population=population,
        )

    @property
    def few_seen(self) -> bool:
        return hardly_seen(self.count, self.noise.bound(0.1) / max(self.lattice.width, 1))

    def to_dict(self) -> dict[str, object]:
        noise = min(self.noise.variance**0.5 * self.lattice.step, float_info.max)
        return {"count": self.count, "noise_sd": noise}


@lru_cache(maxsize=1 << 8)  # an interval, and what is said with it, ask for it again
def _mean_of(lattice: Lattice, left: int, right: int) -> Fraction:
    return lattice.inside(transformed_value((left, right), lo=lattice.first, hi=lattice.last))


def mean_in_range(here: Setting, home: int | None = None) -> Steps[BoundedErrorModel]:
    """Spend all that is left on the mean over the range; ``home`` as in the error model.

    See [bounded_mean.4].
    """
    first, last = here.lattice.first, here.lattice.last
    clipped = yield from read(here.ask(ClippedSum(first, last)))
    return (yield from mean_between(here, here.lattice, clipped.total, clipped.count, home))


def mean_between(
    here: Setting, ends: Lattice, total: int, count: int, home: int | None = None
) -> Steps[BoundedErrorModel]:
    """Spend all that is left on the mean of so many records, of a sum, clipped to some ends."""
    pair = end_sums(total, count, ends.first, ends.last)
    mechanism = here.split.spend(add_noise(pair, here.split.rest(), sensitivity=max(ends.width, 1)))

    def model_of(sums: tuple[int, ...]) -> BoundedErrorModel:
        noise = outside.NoisyTerm(mechanism.noise[0], 1.0)
        return BoundedErrorModel(ends, sums[0], sums[1], noise, home)

    def words(sums: tuple[int, ...]) -> str:
        found = model_of(sums)
        return f"mean {float(found.value):,.6g} of about {max(found.count, 0):,.0f} rows"

    label = "mean over the range" if ends == here.lattice else "mean between the bounds"
    sums = yield from draw(label, mechanism, words)
    return model_of(sums)


def bounded_mean_steps(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """Estimate a mean in its range with all of an event."""
    error_model = yield from mean_in_range(Setting(column, lattice, BudgetSplit(event)))
    return ScalarEstimate(error_model.value, error_model, error_model.status)
