"""Increasing points near several ranks: which mechanism draws them, and for what.

The steps [quantiles.1] and [quantiles.2] of :mod:`modicum.statistics.order.quantiles`; the edges of
a histogram are drawn so too. docs/research/proofs/quantiles.md has the proofs, with the same
labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms import additive, base, grids, joint_quantiles, quantile_tree, scores
from modicum.mechanisms.exponential import Exponential
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.ranges.bounds import Setting
from modicum.summaries.order_statistics import RankWindow, RankWindows, WindowsSummary

FINE = 30  # 2^30 points of a lattice integer: enough for 10^9 equal records
MOST_JOINT = 32  # the cost of a draw grows like the square of the number of quantiles
FEW = 12
COUNT_SHARE = Fraction(1, 32)
RANGE_SHARE = Fraction(1, 8)  # at most
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
class DrawnPoints:
    """Outcome of the mechanism: its points, and the records around them (sensitive).

    ``count``: a noisy number of them, 0 if none was drawn, with ``count_noise``. ``variances`` of
    the ranks of the points, where records lie about evenly. ``joint``: whether it was the joint
    mechanism. ``ample``: whether the records were enough for more than the last of the plans, and
    ``plenty``: for the first of several.
    """

    points: tuple[int, ...]
    windows: WindowsSummary = field(repr=False)
    count: int
    count_noise: additive.Noise | None
    variances: tuple[float, ...]
    joint: bool
    ample: bool
    plenty: bool


@dataclass(frozen=True, slots=True)
class PointsPlan:
    """What a share of a budget buys, before the number of records is known; public.

    ``share`` includes ``counted``, that of the noisy number of records. Without a ``joint``
    mechanism the quantiles are nested, by the ``tree``.
    """

    share: Fraction
    counted: Fraction
    tree: quantile_tree.TreePlan
    joint: JointPlan | None

    @classmethod
    def of(
        cls,
        here: Setting,
        qs: tuple[Fraction, ...],
        fine: int,
        share: Fraction,
        *,
        counts: bool = False,
        nested: bool = False,
    ) -> PointsPlan:
        """Plan for a share; ``counts``: a number of records is drawn in any case."""
        split, lattice = here.split, here.lattice
        together = None if nested else joint_plan(split, qs, lattice, fine, share)
        counted = COUNT_SHARE if counts or together is not None else Fraction(0)
        # Less for the nodes takes wider windows.
        tree = quantile_tree.planned(qs, split.share(share - counted), (lattice.width + 1) << fine)
        return cls(share, counted, tree, together)

    @property
    def reaches(self) -> list[int]:
        """Ranks around each quantile on which the draws depend."""
        least = 0 if self.joint is None else self.joint.reach
        return [max(own, least) for own in self.tree.reaches]

    def ample(self, qs: tuple[Fraction, ...], split: BudgetSplit, count: int) -> bool:
        """Whether records are enough for this share to lose no quantile [quantiles.16]."""
        epsilon = split.share(self.share - self.counted).range
        smallest = min(b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1))))
        kept = 2 * sum(self.reaches) <= MOST_KEPT
        return kept and epsilon * smallest * count >= PLENTY


def draw_points(
    here: Setting,
    qs: tuple[Fraction, ...],
    fine: int,
    plans: Sequence[PointsPlan],
    label: str,
) -> Steps[DrawnPoints]:
    """Draw one lattice integer a quantile, increasing, by the first plan with records enough.

    If no plan has enough it is the last one. All have the same share for a noisy number of records,
    which is drawn first. A budget too small to keep the records around the ranks is refused.
    """
    lattice, split = here.lattice, here.split
    warp, start = grids.EVEN, split.left

    def inside(points: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(min(warp.value(z >> fine), lattice.last) for z in points)

    def words(outcome: tuple[int, ...]) -> str:
        return ", ".join(lattice.words(t) for t in inside(outcome))

    ends, count, counted = (lattice.first, lattice.last), 0, plans[-1].counted
    noise: additive.Noise | None = None
    windows = yield from read(here.ask(_windows(split.total, qs, plans)))
    if counted:
        count, noise = yield from draw_count(split, windows.count, split.share(counted))
    plan = next((each for each in plans[:-1] if each.ample(qs, split, count)), plans[-1])
    ample, joint = plan is not plans[-1], plan.joint
    told = ample, ample and plan is plans[0]
    if joint is not None and joint.suits(count):
        part = joint.range_share(split, count)
        if part:
            warp = yield from locate_range(split, lattice, windows, part)
        rest = plan.share - (start - split.left) / split.total
        terms, last = joint.terms(count), split.share(rest)
        mechanism = split.spend(
            joint_quantiles.JointQuantiles(windows, *ends, fine, terms, last.range, last.loss, warp)
        )
        _, *points = yield from draw(label, mechanism, lambda outcome: words(outcome[1:]))
        spread, found = joint.variances(last.range), inside(tuple(points))
        return DrawnPoints(found, windows, count, noise, spread, True, *told)
    loss = split.share(plan.share - counted).loss
    nested = split.spend(quantile_tree.NestedQuantiles(windows, *ends, fine, plan.tree.nodes, loss))
    outcome = yield from draw(label, nested, words)
    spread = plan.tree.variances(qs)
    return DrawnPoints(inside(outcome), windows, count, noise, spread, False, *told)


# The joint mechanism loses no budget on a tree, but all its quantiles go wrong together where a
# share of the records is small against the logarithm of the range. So a noisy number of records
# comes first; unless it is plenty, an interval that holds most of them comes next, around which the
# range is stretched.


@dataclass(frozen=True, slots=True)
class JointPlan:
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

    def range_share(self, split: BudgetSplit, count: int) -> Fraction:
        """Share of the budget for finding the bulk of so many records; 0: that is not needed."""
        plenty = PLENTY if len(self.shares) <= FEW + 1 else PLENTY_FOR_MANY
        if self._smallest(count) >= plenty or count > MOST_KEPT:
            return Fraction(0)
        return min(RANGE_SHARE, split.part_for_range(_CERTAIN / count))

    def _smallest(self, count: int) -> Fraction:
        """ε times the smallest share of so many records."""
        return self.epsilon * min(self.shares) * count

    def terms(self, count: int) -> joint_quantiles.JointTerms:
        """Return the mechanism's public terms around a noisy number of records [quantiles.6]."""
        # A wrong number is made up for by all shares together.
        step = max(1, round(_SPACED * max(_TENS, len(self.shares) // 10) / self.epsilon))
        below = min(self.half, count) // step
        above = self.half // step
        totals = range(count - below * step, count + above * step + 1, step)
        return joint_quantiles.JointTerms(self.shares, totals, self.cap)

    def variances(self, epsilon: Fraction) -> tuple[float, ...]:
        """Return those of the ranks: of a bridge of steps with variance 2 (2/ε)²."""
        step, steps = 8 / float(epsilon) ** 2, len(self.shares)
        upto = np.cumsum(np.array(self.shares[:-1], dtype=np.float64))
        before = np.arange(1, steps)
        found = step * (before * (1 - upto) ** 2 + (steps - before) * upto**2)
        return tuple(found.tolist())


def joint_plan(
    split: BudgetSplit, qs: tuple[Fraction, ...], lattice: Lattice, fine: int, share: Fraction
) -> JointPlan | None:
    """[quantiles.8] Return the joint mechanism that a share of a budget buys, or None.

    None if the quantiles are too many, if there is one alone, or if the budget is so small that too
    many records would be kept.
    """
    if not 1 < len(qs) <= MOST_JOINT:
        return None
    # Of a larger one a rank weighs so much that pieces would be thinner than a record's points.
    epsilon = min(split.share(share - COUNT_SHARE).range, Fraction(base.MOST_EPSILON))
    half = math.ceil(_STRAY * additive.noise_sd(split.share(COUNT_SHARE)))
    logs = len(qs) * math.log((lattice.width + 1) << fine + _STRETCHED) + math.log(2 * half + 1)
    cap = math.ceil(2 * (logs + quantile_tree.NEGLIGIBLE) / float(epsilon))
    shares = tuple(b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1))))
    found = JointPlan(shares, epsilon, COUNT_SHARE, half, cap)
    return found if 2 * found.reach * len(qs) <= MOST_KEPT else None


def locate_range(
    split: BudgetSplit, lattice: Lattice, windows: WindowsSummary, share: Fraction
) -> Steps[grids.RangeWarp]:
    """Draw an interval that holds the bulk, and stretch the range around it."""
    values, _, ties = windows.between(0, windows.count)
    grid = grids.IntervalGrid.of(lattice)
    score = scores.IntervalScore(grid.scores(grid.counts(values, ties)), grid, None)
    mechanism = split.spend(Exponential(score, *split.share(share).ranged))
    low, wide = grid.interval((yield from draw("bulk", mechanism, partial(grid.words, lattice))))
    centre = min(max(low + wide // 2, lattice.first), lattice.last)
    return grids.RangeWarp.about(centre, wide.bit_length() - 2, (lattice.first, lattice.last))


def _windows(total: Fraction, qs: tuple[Fraction, ...], plans: Sequence[PointsPlan]) -> RankWindows:
    """Records that the draws of any plan depend on, wherever the nodes' ends may lie."""
    kept = [plan.reaches for plan in plans if 2 * sum(plan.reaches) <= MOST_KEPT]
    if plans[-1].reaches not in kept:
        raise InvalidArgument(
            f"{len(qs)} quantiles for {float(total):g} a row would keep "
            f"{2 * sum(plans[-1].reaches):,} records; they need a larger budget"
        )
    reaches = [max(each) for each in zip(*kept, strict=True)]
    return RankWindows(tuple(map(RankWindow, qs, reaches)))
