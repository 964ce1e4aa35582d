"""When several quantiles are drawn all at once, and in which terms: public numbers only.

The joint mechanism loses no budget on a tree, but all its quantiles go wrong together where a share
of the records is small against the logarithm of the range. So a noisy number of records comes
first; unless it is plenty, an interval that holds most of them comes next, around which the
range is stretched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import noise_sd
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import IntervalGrid, RangeWarp
from modicum.mechanisms.joint_quantiles import JointTerms
from modicum.mechanisms.quantile_tree import NEGLIGIBLE
from modicum.mechanisms.scores import IntervalScore
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw
from modicum.summaries.order_statistics import WindowsSummary

MOST_JOINT = 32  # the cost of a draw grows like the square of the number of quantiles
FEW = 12
COUNT_SHARE = Fraction(1, 32)
BULK_SHARE = Fraction(1, 8)  # at most
ENOUGH = 10  # records of the smallest share, times ε
PLENTY = 45  # so many that the bulk need not be known
PLENTY_FOR_MANY = 90  # the same for more than FEW quantiles
MOST_KEPT = 1 << 22  # records that are kept for the joint mechanism
_STRAY = 3.0  # standard deviations of the noisy number that the candidates span on each side
_SPACED = 8  # distance of two candidates for the number of records, times ε, for ten shares
_TENS = 2  # and at least so many tens
_CERTAIN = 30.0  # so much ε times the number of records all but ensures that the bulk is found
_STRETCHED = 7  # a stretched range has at most 2^7 times as many points


@dataclass(frozen=True, slots=True)
class Together:
    """The joint mechanism for a share of a budget, before the number of records is known.

    ``shares`` are those of the records between the quantiles, ``count_share`` that of the budget
    for the noisy number of records, and ``half`` half of the width of the candidates for that
    number. ``epsilon`` is the size of the mechanism's bounded range.
    """

    shares: tuple[Fraction, ...]
    epsilon: Fraction
    count_share: Fraction
    half: int
    cap: int

    @property
    def reach(self) -> int:
        """Ranks around each quantile on which the draw depends, for nearly every noisy number."""
        return self.cap + 2 * self.half + 2

    def suits(self, count: int) -> bool:
        """Tell whether so many records are enough [quantiles.9]."""
        return self._smallest(count) >= ENOUGH

    def bulk_share(self, split: BudgetSplit, count: int) -> Fraction:
        """Share of the budget for finding the bulk of so many records; 0: that is not needed."""
        plenty = PLENTY if len(self.shares) <= FEW + 1 else PLENTY_FOR_MANY
        if self._smallest(count) >= plenty or count > MOST_KEPT:
            return Fraction(0)
        return min(BULK_SHARE, split.part_for_range(_CERTAIN / count))

    def _smallest(self, count: int) -> Fraction:
        """ε times the smallest share of so many records."""
        return self.epsilon * min(self.shares) * count

    def terms(self, count: int) -> JointTerms:
        """Return the mechanism's public terms around a noisy number of records [quantiles.6]."""
        # A wrong number is made up for by all shares together.
        step = max(1, round(_SPACED * max(_TENS, len(self.shares) // 10) / self.epsilon))
        below = min(self.half, count) // step
        above = self.half // step
        totals = range(count - below * step, count + above * step + 1, step)
        return JointTerms(self.shares, totals, self.cap)

    def least(self, lattice: Lattice, count: int, warp: RangeWarp) -> float:
        """Records such that no quantile is likely to leave the others for an empty part.

        An empty part of the range may weigh as much as N of its integers, and a quantile that is
        drawn from it costs its whole share of the records twice. Where the range is stretched
        around the bulk, all of it has some octaves' weight, and that of 1/ε records is 1/(ε n) of
        one if they are spread over it. Then this is far less than N, so a wrong total, which halves
        the cost, matters too.
        """
        epsilon = float(self.epsilon)
        if warp.octaves == 0:
            nats = math.log((lattice.width + 1) / 0.05)
        else:
            nats = 2 * math.log((warp.octaves + 2) * max(1.0, epsilon * count) / 0.05)
        return nats / (epsilon * float(min(self.shares)))


def together(
    split: BudgetSplit, qs: tuple[Fraction, ...], lattice: Lattice, fine: int, share: Fraction
) -> Together | None:
    """[quantiles.8] Return the joint mechanism that a share of a budget buys, or None.

    None if the quantiles are too many, if there is one alone, or if the budget is so small that too
    many records would be kept.
    """
    if not 1 < len(qs) <= MOST_JOINT:
        return None
    epsilon = split.share(share - COUNT_SHARE).range
    half = math.ceil(_STRAY * noise_sd(split.share(COUNT_SHARE)))
    logs = len(qs) * math.log((lattice.width + 1) << fine + _STRETCHED) + math.log(2 * half + 1)
    cap = math.ceil(2 * (logs + NEGLIGIBLE) / float(epsilon))
    shares = tuple(b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1))))
    found = Together(shares, epsilon, COUNT_SHARE, half, cap)
    return found if 2 * found.reach * len(qs) <= MOST_KEPT else None


def bulk_of(
    split: BudgetSplit, lattice: Lattice, windows: WindowsSummary, share: Fraction
) -> Steps[RangeWarp]:
    """Draw an interval that holds the bulk, and stretch the range around it."""
    values, _, ties = windows.between(0, windows.count)
    grid = IntervalGrid.of(lattice)
    score = IntervalScore(grid.scores(grid.counts(values, ties)), grid, None)
    mechanism = split.spend(Exponential(score, *split.share(share).ranged))
    low, wide = grid.interval((yield from draw("bulk", mechanism, partial(grid.words, lattice))))
    centre = min(max(low + wide // 2, lattice.first), lattice.last)
    return RangeWarp.about(centre, wide.bit_length() - 2, (lattice.first, lattice.last))
