"""The adaptive sum: clip at a private radius around zero, add noise on that scale.

[S1] count    a noisy count drives the schedule;
[S2] radius   the least C with few records larger than C in size;
[S3] final    the sum of values clipped to [-C, C], with most of the budget.

A sum moves by the size of one record, so zero is the only useful centre. The mean is not this
sum over a count: far from zero the sum needs noise on the scale of the values, the mean does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.estimators.mean_evidence import NoisyTerm
from modicum.estimators.outside import Outside
from modicum.estimators.purses import open_purse
from modicum.estimators.schedule import (
    Clusters,
    count_share,
    first_reduction,
    sum_schedule,
)
from modicum.exact.lattice import Lattice
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.event import Event
from modicum.release import Answer, Interval
from modicum.status import OK, Status
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.clipped import ClippedSum
from modicum.summaries.tails import TailSummary

__all__ = ["SumEvidence", "adaptive_sum"]

TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: most of it may have been clipped away; "
    "narrow `within` or spend more",
)


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
    outside : Outside
        What the radius draw implies about clipped records.
    """

    lattice: Lattice
    lo: int
    hi: int
    noisy: int
    noise: NoisyTerm
    count: int
    count_noise: NoisyTerm
    outside: Outside

    @property
    def value(self) -> Fraction:
        """The released sum in the data's unit."""
        return self.noisy * Fraction(self.lattice.step)

    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold less than a quarter of the data."""
        least = self.count - self.count_noise.bound(0.1 * alpha)
        return self.outside.too_many(least, alpha)

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
        return Interval(
            (self.noisy - below - 0.5 * most) * self.lattice.step,
            (self.noisy + above + 0.5 * most) * self.lattice.step,
        )

    def _side(self, alpha: float, tail: float, distance: int | None) -> float:
        """Bound on noise and clipped excess of a side; None: it is cut at the range's own end."""
        if distance is None:
            return self.noise.bound(2 * alpha)
        noise, factor = self.noise.noise, self.noise.factor
        return self.outside.reach(alpha, tail, distance, 0, noise=noise, factor=factor)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "for tails of index 3 or lighter"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
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
            "noise_sd": self.noise.variance**0.5 * self.lattice.step,
            "clipped_at_most": self.outside.at_most(0.05),
        }


def adaptive_sum(
    column: str | None, lattice: Lattice, event: Event, *, clusters: Clusters
) -> Steps[Answer]:
    """Estimate a sum; parameters as :func:`modicum.estimators.mean.adaptive_mean`."""
    purse = open_purse(event)
    first = first_reduction(lattice, purse, clusters)
    summary = yield from need(Ask(column, lattice, first))

    counting = purse.noisy((summary.count,), sensitivity=1, share=count_share(purse))  # [S1]
    (n0,) = yield from draw("count", counting)
    schedule = sum_schedule(lattice, purse, n0, clusters)

    grid = RadiusGrid.between(1, max(abs(lattice.first), abs(lattice.last)))
    sizes: TailSummary | CellSummary
    if isinstance(summary, TailSummary):
        sizes = summary
    else:
        sizes = yield from need(Ask(column, lattice, Cells(0, grid.radii)))
    outside = tuple(sizes.magnitude_above_many(grid.radii))
    law = purse.radii((outside,), grid, tilt=schedule.tilt, share=schedule.radii)  # [S2]
    (chosen,) = yield from draw(
        "radius", law, lambda drawn: f"few records exceed {lattice.words(grid.radii[drawn[0]])}"
    )
    radius = grid.radii[chosen]

    # A range on one side of zero cuts the other bound at its end nearest to zero.
    lo = min(max(-radius, lattice.first), lattice.last)
    hi = max(min(radius, lattice.last), lattice.first)
    clipped = yield from need(Ask(column, lattice, ClippedSum(lo, hi)))
    reach = max(abs(lo), abs(hi))
    final = purse.noisy((clipped.total,), sensitivity=max(reach, 1), share=None)  # [S3]
    (noisy,) = yield from draw("clipped sum", final, lambda drawn: lattice.words(drawn[0]))
    evidence = SumEvidence(
        lattice=lattice,
        lo=lo,
        hi=hi,
        noisy=noisy,
        noise=NoisyTerm(final.noise[0], 1.0),
        count=n0,
        count_noise=NoisyTerm(counting.noise[0], 1.0),
        outside=Outside(
            radii=(radius,),
            widest=grid.radii[-1],
            candidates=len(grid.radii),
            eta=float(law.epsilon),
            power=float(schedule.power),
            selection=law.selection,
        ),
    )
    return Answer(evidence.value, evidence, TOO_LITTLE if evidence.too_little(0.05) else OK)
