"""The subset-optimal mean: Dick, Kulesza, Sun and Suresh 2023, Algorithm 3, corrected.

[A1] low      a private threshold near rank t from below;
[A2] high     the same from above;
[A3] mean     the mean of the data clipped to the two thresholds, by transformed noise.

Differs from the paper's text, which is not private: the lattice is public (the text's window
depends on |D|), t is a public integer (the text's depends on |D|), records are clipped to the
thresholds (the text adds noise to the unclipped sum), and thresholds that cross are sorted. The
inner mean is Algorithm 3 of Kulesza, Suresh and Wang 2023. docs/proofs/subset_mean.md has the
proof and the theorem. Optimality needs n > 2t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.bounded_mean import transformed, transformed_mean
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import ThresholdScore
from modicum.privacy.event import Event, PureDP
from modicum.release import Interval, Release, ScalarEstimate
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.outside import NoisyTerm, clip_ends, clipped_in_words, share_between
from modicum.statistics.redrawn import Redrawn, TableTotals
from modicum.statistics.spec import Row, ranged
from modicum.statistics.split import BOTH_CLUSTERS, ClusterOption
from modicum.status import OK, Status, bounds_in_steps, unseen
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum
from modicum.summaries.tails import Tails

__all__ = ["SUBSET_MEAN", "SubsetErrorModel", "SubsetPlan", "subset_mean"]

ZETA = Fraction(1, 10**6)  # failure probability of a threshold in the utility theorem
THRESHOLD_SHARE = Fraction(1, 4)
NEEDED = 5  # rank targets' worth of data from which the bounds surely hold most of it
MOST_KEPT = 1 << 22  # records at each end: 64 MB


@dataclass(frozen=True, slots=True)
class SubsetPlan:
    """Public constants of one run: the rank target, the loss cap, the records to keep."""

    target: int
    cap: int

    @property
    def keep(self) -> int:
        """Records at each end from which both laws follow."""
        return self.target + self.cap

    @classmethod
    def of(cls, lattice: Lattice, epsilon: Fraction) -> SubsetPlan:
        """Compute t = ceil(1/ε + (2/ε_q) ln((N + 1)/ζ)), and a cap of no effect above e^-60.

        Raises
        ------
        InvalidArgument
            If ε is so small that more than 4 million records a side would be kept.
        """
        rate = float(epsilon * THRESHOLD_SHARE) / 2
        log_points = math.log(lattice.last - lattice.first + 1)
        target = math.ceil(1 / float(epsilon) + (log_points - math.log(ZETA)) / rate)
        plan = cls(target, max(target, math.ceil((log_points + 60) / rate)))
        if plan.keep > MOST_KEPT:
            raise InvalidArgument(
                f"method='subset' with epsilon={float(epsilon):g} a row would keep {plan.keep:,} "
                "records a side; use method='adaptive' or a larger epsilon"
            )
        return plan


@dataclass(frozen=True, slots=True)
class SubsetErrorModel:
    """The transformed pair between two thresholds (lattice steps)."""

    lattice: Lattice
    lo: int
    hi: int
    left: int
    right: int
    noise: NoisyTerm
    target: int
    rate: Fraction

    @property
    def value(self) -> Fraction:
        """The estimate, exactly, in the data's unit."""
        mean = transformed_mean((self.left, self.right), lo=self.lo, hi=self.hi)
        return self.lattice.inside(mean)

    def redrawn(self, table: TableTotals) -> Redrawn:
        """Return how the answer from this table follows of its last noise."""
        left = table.clipped_sum(self.lo, self.hi) - self.lo * table.rows
        right = (self.hi - self.lo) * table.rows - left
        return Redrawn(
            (self.noise.noise,) * 2,
            lambda z, other: replace(self, left=left + z, right=right + other).value,
        )

    @property
    def none_seen(self) -> bool:
        """Whether the number of records that the two sums imply cannot be told from 0."""
        width, bound = self.hi - self.lo, 2 * self.noise.bound(0.05)
        return width > 0 and unseen((self.left + self.right) / width, bound / width)

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the bounds are, in steps; 0 if it is between them and they are near."""
        return bounds_in_steps(self.lo, self.hi)

    def least_count(self, alpha: float) -> float:
        """Lower bound of the number of records, from the two sums; 0 if the bounds coincide."""
        width = self.hi - self.lo
        noise = 2 * self.noise.bound(alpha / 2)
        return (self.left + self.right - noise) / width if width else 0.0

    def most_clipped(self, alpha: float) -> float:
        """Upper bound of the records beyond one threshold: t + (ln points + ln 1/α) / rate.

        Some lattice point has loss 0, so those of loss s or more weigh at most
        ``points * exp(-rate s)`` together.
        """
        points = self.lattice.last - self.lattice.first + 1
        return self.target + (math.log(points) - math.log(alpha)) / float(self.rate)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ratio's extremes over the noise's box; a tail adds the clipped records.

        The noises have half of the error probability, or all of it if nothing is added.
        """
        alpha = 1 - level
        z = self.noise.bound(alpha / 2 if tail is None else alpha / 4)
        width = self.hi - self.lo
        ends = [self.lo + width * share for share in share_between(self.left, self.right, z)]
        slack = 0.5
        if tail is not None:
            least = self.least_count(alpha / 2)
            if least <= NEEDED * self.target:
                ends = [float(self.lattice.first), float(self.lattice.last)]
            else:
                slack += self.most_clipped(alpha / 4) * width / (tail - 1) / least
        return Interval(
            max((ends[0] - slack) * self.lattice.step, self.lattice.lo),
            min((ends[1] + slack) * self.lattice.step, self.lattice.hi),
        )

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "for tails of index 3 or lighter"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if tail is None:
            return clipped_in_words(self, "mean", "all noise")
        most = self.most_clipped(0.0125)
        return (
            f"interval(tail={tail:g}) also allows for up to {most:.0f} records clipped a side, "
            f"assuming tails of index {tail:g} or lighter beyond the thresholds. "
            "That deep in the data few tails are: look at interval(tail=2) too."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "clip": clip_ends(self),
            "rank_target": self.target,
            "clipped_at_most": self.most_clipped(0.05),
            "noise_sd": self.noise.variance**0.5 * self.lattice.step,
        }


def subset_mean(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """Estimate a mean with the guarantee of Dick et al. 2023, Theorem 3.1.

    Raises
    ------
    InvalidArgument
        If the budget is not pure: the theorem is about pure ε.
    """
    if not isinstance(event, PureDP):
        raise InvalidArgument("method='subset' is for a pure budget: use epsilon=")
    plan = SubsetPlan.of(lattice, event.epsilon)
    tails = yield from read(Read(column, lattice, Tails(plan.keep)))
    share = event.epsilon * THRESHOLD_SHARE
    lowest, terms = tails.lowest(), (plan.target, plan.cap)
    low = Exponential(ThresholdScore(lowest, lattice.first, lattice.last, *terms), share)
    lo = yield from draw("low threshold", low, lattice.words)  # [A1]
    mirrored = -tails.highest()[::-1]
    high = Exponential(ThresholdScore(mirrored, -lattice.last, -lattice.first, *terms), share)
    hi = -(yield from draw("high threshold, negated", high, lambda q: lattice.words(-q)))  # [A2]
    lo, hi = min(lo, hi), max(lo, hi)
    clipped = yield from read(Read(column, lattice, ClippedSum(lo, hi)))
    rest = event.epsilon - 2 * share
    mechanism = transformed(clipped.total, clipped.count, lo=lo, hi=hi, epsilon=rest)
    left, right = yield from draw("transformed sums", mechanism)  # [A3]
    noise = NoisyTerm(mechanism.noise[0], 1.0)
    error_model = SubsetErrorModel(lattice, lo, hi, left, right, noise, plan.target, low.rate)
    enough = error_model.least_count(0.05) > NEEDED * plan.target
    return ScalarEstimate(error_model.value, error_model, OK if enough else _too_little(plan))


def _too_little(plan: SubsetPlan) -> Status:
    return Status(
        "few_records",
        f"too little data: method='subset' clips about {plan.target} records on each side at this "
        "budget and range; use method='adaptive', or spend more",
    )


SUBSET_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "subset",
    ("pure", "approx"),
    True,
    BOTH_CLUSTERS[:1],
    "subset_mean",
    "mean with the subset-optimality theorem of Dick et al. 2023",
    lambda column, lattice, event, options: subset_mean(column, ranged(lattice), event),
)
