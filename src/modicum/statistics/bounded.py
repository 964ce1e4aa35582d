"""The mean of values in a known range: one noisy pair of sums, no search for bounds.

[K1] pair   the sums of x - lo and of hi - x over the range, with noise of the whole budget left.

It is what is best if the range is tight (Kulesza, Suresh and Wang 2023, Algorithm 3), and what a
mean that searches falls back on. docs/proofs/bounded_mean.md has the proof, with the same label.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from sys import float_info

from modicum.exact.lattice import Lattice
from modicum.mechanisms.bounded_mean import transformed_mean
from modicum.privacy.event import Event
from modicum.release import Interval, Release, ScalarEstimate
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.bounds import Setting
from modicum.statistics.outside import NoisyTerm, share_between
from modicum.statistics.purses import open_purse
from modicum.statistics.spec import Row, ranged
from modicum.statistics.split import BOTH_CLUSTERS, ClusterOption
from modicum.status import OK, Status, unseen
from modicum.summaries.sums import ClippedSum

__all__ = ["BOUNDED_MEAN", "BoundedErrorModel", "bounded_mean", "mean_in_range"]

_USELESS = 4  # an interval wider than this part of the range says next to nothing

TOO_LITTLE = Status(
    "few_records",
    "too little data for this budget: the interval is wider than a quarter of the range; narrow "
    "`within` or spend more",
)


@dataclass(frozen=True, slots=True)
class BoundedErrorModel:
    """A mean from a noisy pair of sums (in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    left, right : int
        Noisy sums of x - lo and of hi - x, lo and hi the ends of the range.
    noise : NoisyTerm
        Noise of each.
    home : int or None
        A public point that most records have: the estimate, if noise may explain the rest.
    """

    lattice: Lattice
    left: int
    right: int
    noise: NoisyTerm
    home: int | None = None

    @property
    def value(self) -> Fraction:
        """The estimate, exactly, in the data's unit."""
        if self.home is not None and self._all_at(self.home):
            return self.lattice.inside(self.home)
        first, last = self.lattice.first, self.lattice.last
        mean = transformed_mean((self.left, self.right), lo=first, hi=last)
        return self.lattice.inside(mean)

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
        """The number of records that the pair implies."""
        return (self.left + self.right) / max(self.lattice.width, 1)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ratio's extremes over the noise's box; nothing is clipped, whatever the tail.

        Rounding moves each value, and so the mean, by half a step at most. The true sums are no
        less than 0, so neither is taken to be: then the interval never shrinks to a point.
        """
        z = self.noise.bound((1 - level) / 2)
        sums = max(self.left, 0), max(self.right, 0)
        lower, upper = (
            self.lattice.first + self.lattice.width * share for share in share_between(*sums, z)
        )
        value = float(self.value)
        return Interval(
            min(max((lower - 0.5) * self.lattice.step, self.lattice.lo), value),
            max(min((upper + 0.5) * self.lattice.step, self.lattice.hi), value),
        )

    @property
    def status(self) -> Status:
        """Whether the interval says anything."""
        lower, upper = self.interval(0.95, None)
        return OK if _USELESS * (upper - lower) < self.lattice.hi - self.lattice.lo else TOO_LITTLE

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.noise.bound(0.1) / max(self.lattice.width, 1))

    @property
    def condition(self) -> str:
        """The interval assumes nothing."""
        return ""

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return (
            "interval() covers all noise and assumes nothing: no value within the range is clipped."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        noise = min(self.noise.variance**0.5 * self.lattice.step, float_info.max)
        return {"count": self.count, "noise_sd": noise}


def mean_in_range(here: Setting, home: int | None = None) -> Steps[BoundedErrorModel]:
    """[K1] Spend all that is left on the mean over the range; ``home`` as in the error model."""
    first, last = here.lattice.first, here.lattice.last
    clipped = yield from read(here.ask(ClippedSum(first, last)))
    left = clipped.total - first * clipped.count
    width = max(here.lattice.width, 1)
    pair = (left, width * clipped.count - left)
    mechanism = here.purse.noisy(pair, sensitivity=width, share=None)

    def evidence_of(sums: tuple[int, ...]) -> BoundedErrorModel:
        noise = NoisyTerm(mechanism.noise[0], 1.0)
        return BoundedErrorModel(here.lattice, sums[0], sums[1], noise, home)

    def words(sums: tuple[int, ...]) -> str:
        found = evidence_of(sums)
        return f"mean {float(found.value):,.6g} of about {max(found.count, 0):,.0f} rows"

    sums = yield from draw("mean over the range", mechanism, words)
    return evidence_of(sums)


def bounded_mean(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """Estimate a mean of values that lie in the range, with noise on the scale of the range."""
    error_model = yield from mean_in_range(Setting(column, lattice, open_purse(event)))
    return ScalarEstimate(error_model.value, error_model, error_model.status)


BOUNDED_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "bounded",
    ("pure", "zcdp", "approx"),
    True,
    BOTH_CLUSTERS[:1],
    "bounded_mean",
    "mean with noise on the scale of the range, for ranges known to be tight",
    lambda column, lattice, event, options: bounded_mean(column, ranged(lattice), event),
)
