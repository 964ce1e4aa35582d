"""Dick, Kulesza, Sun and Suresh 2023: subset-based instance optimality.

===========  ========================  ===========================================================
paper        query                     steps
===========  ========================  ===========================================================
Algorithm 1  :func:`shifted_mean`      Algorithm 2 of :mod:`modicum.research.papers.kulesza2023`
Algorithm 2  :func:`threshold`         [subset_mean.1] a number with a public rank from below, or
                                       from above
Algorithm 3  :func:`subset_mean`       [subset_mean.2], [subset_mean.3] two thresholds,
                                       [subset_mean.4] the mean between them
Algorithm 4  :func:`subset_monotone`   [locations.11] a count, [locations.12], [locations.13] two
                                       thresholds, [locations.14] a value
===========  ========================  ===========================================================

Algorithm 5 is :func:`~modicum.research.papers.asi2020.inverse_sensitivity`, (M.1) of Asi and Duchi.
Algorithms 3 and 4 also answer ``modicum.mean`` and ``modicum.monotone_statistic`` with
``method="subset"``.
docs/research/proofs/subset_mean.md (Algorithms 2 and 3), locations.md (4) and level_sets.md (5)
have the proofs, with the same labels.

Differs from the text of Algorithm 3, which is not private: the lattice is public (the text's
window depends on ``|D|``), t is a public integer (the text's depends on ``|D|``), records are
clipped to the thresholds (the text adds noise to the unclipped sum), and thresholds that cross are
sorted. The inner mean is Algorithm 3 of Kulesza, Suresh and Wang 2023. Optimality needs n > 2t.

Differs from the text of Algorithm 4, which moves the 3r/2 extreme records on each side outwards (a
record changes up to three of those kept), has the thresholds at rank r/4 (the proof needs 7r/4),
takes the rank from above from ``|D|``, and draws with exp(-len). Here the 3r/2 lowest records and
as many highest are deleted, then all beyond the thresholds, and P(t) ∝ exp(-ε len(t) / 4) on what
is left, between the thresholds. The constants are the theorem's: r = (32/ε) ln(6R/(ηβ)), β the
step of the lattice and η = β/(2R). Use it for the theorem, not for accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info
from typing import Any, Literal, Self

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import ThresholdScore
from modicum.privacy.budget import EPSILON_KINDS, PURE_ONLY, Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import OK, Status, hardly_seen
from modicum.research.papers.kulesza2023 import shifted_mean as shifted_mean
from modicum.research.papers.kulesza2023 import transformed
from modicum.research.papers.point import PointErrorModel, true_record
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics import spec, texts
from modicum.statistics.means import ways
from modicum.statistics.options import Options
from modicum.statistics.ranges.bounded_mean import transformed_value
from modicum.statistics.ranges.split import BOTH_CLUSTERS
from modicum.statistics.robust import inverse_sensitivity
from modicum.statistics.robust.monotone_statistic import MonotoneStatistic, expectile_score
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    ALLOWS,
    NoisyTerm,
    Redrawn,
    SizedByBounds,
    share_between,
)
from modicum.stored.codec import storable
from modicum.summaries import base, sums, synthetic
from modicum.summaries.cells import Cells
from modicum.summaries.tails import Tails, TailSummary

ZETA = Fraction(1, 10**6)  # failure probability of a threshold in the utility theorem
THRESHOLD_SHARE = Fraction(1, 4)
MOST_KEPT = 1 << 22  # records at each end: 64 MB
NEGLIGIBLE = 60  # candidates at the cap of a loss together weigh at most e^-60 of all

Side = Literal["low", "high"]

# ---- Algorithm 2: threshold estimation


@texts.documented
def threshold(
    column: str | None = None,
    *,
    rank: int,
    side: Side = "low",
    within: tuple[float, float],
    epsilon: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask by Algorithm 2 for a number with about so many records below it, or above it.

    Parameters
    ----------
    {column}
    rank : int
        How many records; public, at least 0.
    side : {"low", "high"}
        Whether they are the lowest or the highest ones.
    within : (float, float)
        A public range that holds every value.
    epsilon, budget : number, Budget
        Exactly one: the total cost as pure ε.
    {step}

    Returns
    -------
    Query
        Guarantee when answered: ε-DP for add-remove neighbours, that is one privacy unit more or
        less. There is no interval; the summary says by how many records the rank may be off.

    {raises}
        If the rank is not a whole number of at least 0, or ε so small that more than 4 million
        records would be kept.

    Notes
    -----
    {missing}

    Differs from the text: the rank is public and from above is counted from the top, and the
    lattice takes the place of the window alpha, so that a number of loss 0 exists for every
    rank <= n (Corollary 3.8).

    Examples
    --------
    >>> import modicum
    >>> table = modicum.Curator(range(1000), budget=modicum.pure(1))
    >>> 0 < table.run(threshold(rank=200, within=(-1000, 2000), epsilon=1)).value < 400
    True
    """
    cost = chosen_budget(epsilon, None, budget)
    options = ThresholdOption.of(rank, side)
    return THRESHOLD.query(spec.column_name(column), Lattice.within(within, step), cost, options)


@dataclass(frozen=True, slots=True)
class ThresholdOption(Options):
    """A rank, and the side from which it is counted."""

    rank: int
    side: Side

    @classmethod
    def of(cls, rank: object, side: Side) -> ThresholdOption:
        if not isinstance(rank, int) or isinstance(rank, bool) or rank < 0:
            raise InvalidArgument(
                f"rank must be a number of records, at least 0, got {as_given(rank)}"
            )
        if side not in ("low", "high"):
            raise InvalidArgument(f"side must be 'low' or 'high', got {as_given(side)}")
        return cls(rank, side)


@dataclass(frozen=True, slots=True)
class ThresholdPlan:
    """Public constants of thresholds: their rank from either side, and the cap of their loss.

    So many records as are ``trimmed`` are deleted on each side, by rank.
    """

    target: int
    cap: int
    trimmed: int = 0

    @property
    def keep(self) -> int:
        """Records at each end from which the laws of both thresholds follow."""
        return self.target + self.cap

    @classmethod
    def of(cls, lattice: Lattice, epsilon: Fraction, target: int, trimmed: int = 0) -> Self:
        """Cap the loss of a threshold of ``epsilon`` where that has no effect above e^-60."""
        cap = math.ceil((_log_points(lattice) + NEGLIGIBLE) / (float(epsilon) / 2))
        return cls(target, max(target, cap), trimmed)

    def check(self, epsilon: Fraction, what: str, remedy: str) -> Self:
        """Refuse an ε for which more than 4 million records a side would be kept."""
        if self.keep > MOST_KEPT:
            raise InvalidArgument(
                f"{what} with epsilon={float(epsilon):g} a row would keep {self.keep:,} "
                f"records a side; {remedy}"
            )
        return self


def _log_points(lattice: Lattice) -> float:
    return math.log(lattice.last - lattice.first + 1)


def _draw_threshold(
    label: str,
    tails: TailSummary,
    lattice: Lattice,
    plan: ThresholdPlan,
    share: Share,
    split: BudgetSplit,
    *,
    low: bool,
) -> Steps[int]:
    """[subset_mean.1] Draw a threshold; from above it is one from below of the negated records."""
    sign, terms = (1 if low else -1), (plan.target, plan.cap)
    if low:
        records, ends = tails.lowest(), (lattice.first, lattice.last)
    else:
        records, ends = -tails.highest()[::-1], (-lattice.last, -lattice.first)
    mechanism = split.spend(Exponential(ThresholdScore(records, *ends, *terms), share.range))
    found = yield from draw(label, mechanism, lambda q: lattice.words(sign * q))
    return sign * found


def _draw_bounds(
    tails: TailSummary, lattice: Lattice, plan: ThresholdPlan, split: BudgetSplit
) -> Steps[tuple[int, int]]:
    """Draw a threshold on either side, and sort them."""
    given = tails, lattice, plan, split.share(THRESHOLD_SHARE), split
    # [subset_mean.2] [locations.12]
    lo = yield from _draw_threshold("low threshold", *given, low=True)
    # [subset_mean.3] [locations.13]
    hi = yield from _draw_threshold("high threshold, negated", *given, low=False)
    return min(lo, hi), max(lo, hi)


def _threshold(
    column: str | None, lattice: Lattice, event: Event, options: ThresholdOption
) -> Steps[ScalarEstimate]:
    """Draw a number near a public rank from one side."""
    split, rank, low = BudgetSplit(event), options.rank, options.side == "low"
    plan = ThresholdPlan.of(lattice, split.total, rank)
    plan.check(split.total, "a threshold", "use a larger epsilon")
    tails = yield from read(base.Read(column, lattice, Tails(plan.keep)))
    point = yield from _draw_threshold(
        "threshold", tails, lattice, plan, split.rest(), split, low=low
    )
    off = (_log_points(lattice) - math.log(0.05)) / float(split.total / 2)
    words = (
        f"with a probability of 95 % the value has {rank:,} records {'below' if low else 'above'} "
        f"it, or up to {off:,.0f} more or less, if there are at least {rank:,}"
    )
    error_model = PointErrorModel(lattice, point, words)
    return ScalarEstimate(error_model.value, error_model, OK)


THRESHOLD: spec.Row[ThresholdOption, Release] = spec.Row(
    "threshold",
    "rank",
    (ThresholdOption(3, "low"), ThresholdOption(2, "high")),
    "subset_mean",
    "number with a public number of records below or above it (Dick et al. 2023, Algorithm 2)",
    lambda column, lattice, event, options: _threshold(
        column, spec.ranged(lattice), event, options
    ),
    kinds=EPSILON_KINDS,
)

# ---- Algorithm 3: the subset-optimal mean

NEEDED = 5  # rank targets' worth of data from which the bounds hold most of it


def subset_mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a mean by Algorithm 3; the same as ``modicum.query.mean(method="subset")``.

    Parameters are as for :func:`modicum.query.mean`, guarantee, missing values and errors as
    there.

    Examples
    --------
    >>> subset_mean("income", within=(-1e9, 1e9), epsilon=1).method
    'subset'
    """
    cost = chosen_budget(epsilon, None, budget)
    lattice = Lattice.within(within, step)
    row = ways.subset_mean(subset_mean_steps)
    return row.query(spec.column_name(column), lattice, cost, BOTH_CLUSTERS[0])


def _mean_plan(lattice: Lattice, epsilon: Fraction) -> ThresholdPlan:
    """Plan for t = ceil(1/ε + (2/ε_q) ln((N + 1)/ζ))."""
    share = epsilon * THRESHOLD_SHARE
    sure = (_log_points(lattice) - math.log(ZETA)) / (float(share) / 2)
    plan = ThresholdPlan.of(lattice, share, math.ceil(1 / float(epsilon) + sure))
    remedy = "use method='adaptive' or a larger epsilon"
    return plan.check(epsilon, "method='subset'", remedy)


@storable
@dataclass(frozen=True, slots=True)
class SubsetErrorModel(SizedByBounds):
    """The transformed pair between two thresholds (lattice steps)."""

    left: int
    right: int
    noise: NoisyTerm
    target: int
    rate: Fraction

    @property
    def value(self) -> Fraction:
        mean = transformed_value((self.left, self.right), lo=self.lo, hi=self.hi)
        return self.lattice.inside(mean)

    def redrawn(self, table: synthetic.SyntheticTable) -> Redrawn:
        """Return how the answer from this table follows from its last noise."""
        left = table.clipped_sum(self.lo, self.hi) - self.lo * table.rows
        right = (self.hi - self.lo) * table.rows - left
        return Redrawn(
            (self.noise.noise,) * 2,
            lambda z, other: replace(self, left=left + z, right=right + other).value,
        )

    @property
    def few_seen(self) -> bool:
        width, bound = self.hi - self.lo, 2 * self.noise.bound(0.05)
        return width > 0 and hardly_seen((self.left + self.right) / width, bound / width)

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
        return self.in_range(ends[0] - slack, ends[1] + slack)

    @property
    def condition(self) -> str:
        return ALLOWS

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return self.clipped_in_words("mean", "all noise")
        most = self.most_clipped(0.0125)
        return (
            f"interval(tail={tail:g}) also allows for up to {most:.0f} records clipped a side, "
            f"if beyond the thresholds values are rare: {tail_index.rare(tail)}. "
            "That deep in the data few tails are: look at interval(tail=2) too."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "clip": self.clip,
            "rank_target": self.target,
            "clipped_at_most": self.most_clipped(0.05),
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
        }


def subset_mean_steps(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """Estimate a mean with the guarantee of Theorem 3.1, which is about pure ε."""
    if event.concentrated:
        raise InvalidArgument("method='subset' is for a pure budget: use epsilon=")
    split = BudgetSplit(event)
    plan = _mean_plan(lattice, split.total)
    tails = yield from read(base.Read(column, lattice, Tails(plan.keep)))
    lo, hi = yield from _draw_bounds(tails, lattice, plan, split)
    clipped = yield from read(base.Read(column, lattice, sums.ClippedSum(lo, hi)))
    rest = split.rest().pure
    mechanism = transformed(clipped.total, clipped.count, lo=lo, hi=hi, epsilon=rest)
    left, right = yield from draw("transformed sums", mechanism)  # [subset_mean.4]
    noise = NoisyTerm(mechanism.noise[0], 1.0)
    rate = split.share(THRESHOLD_SHARE).range / 2
    error_model = SubsetErrorModel(lattice, lo, hi, left, right, noise, plan.target, rate)
    status = OK
    if error_model.least_count(0.05) <= NEEDED * plan.target:
        status = Status(
            "few_records",
            f"too little data: method='subset' clips about {plan.target} records on each side at "
            "this budget and range; use method='adaptive', or spend more",
        )
    return ScalarEstimate(error_model.value, error_model, status)


# ---- Algorithm 4: any monotone property

COUNT_SHARE = Fraction(1, 50)  # of ε, from the half of the value
CELL_BITS = 9


def subset_monotone(
    column: str | None = None,
    *,
    statistic: MonotoneStatistic,
    within: tuple[float, float],
    epsilon: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a monotone statistic by Algorithm 4.

    The same as ``monotone_statistic(method="subset", level=None)``. Parameters are as for
    :func:`modicum.query.monotone_statistic`, guarantee, missing values and errors as there.

    Examples
    --------
    >>> from modicum import Score
    >>> mean = Score("mean", lambda v: v, growth=1, homogeneous=True)
    >>> subset_monotone("delay", statistic=mean, within=(-1e9, 1e9), epsilon=1).method
    'subset'
    """
    cost = chosen_budget(epsilon, None, budget)
    lattice = Lattice.within(within, step)
    return inverse_sensitivity.asked(SUBSET_MONOTONE, column, statistic, cost, lattice, None)


def trim_plan(lattice: Lattice, epsilon: Fraction) -> ThresholdPlan:
    """Plan with r = (32/ε) ln(6R/(ηβ)), which is ln(3 points²) for 2R = points steps, η = 1/points.

    Examples
    --------
    >>> trim_plan(Lattice.within((-1e9, 1e9)), Fraction(1)).trimmed
    3507
    """
    r = 32 / float(epsilon) * math.log(3 * (lattice.last - lattice.first + 1) ** 2)
    target, trimmed = math.ceil(7 * r / 4), math.ceil(3 * r / 2)
    plan = ThresholdPlan.of(lattice, epsilon * THRESHOLD_SHARE, target, trimmed)
    return plan.check(epsilon, "method='subset'", "leave method out, or use a larger budget")


def _subset_monotone(
    column: str | None,
    lattice: Lattice | None,
    event: Event,
    options: inverse_sensitivity.LocationOption,
) -> Steps[ScalarEstimate]:
    """Estimate a monotone statistic with the guarantee of Theorem 4.3, which is about pure ε."""
    if event.concentrated:
        raise InvalidArgument("method='subset' is for a pure budget: use epsilon=")
    lattice, statistic = spec.ranged(lattice), options.statistic
    assert statistic is not None
    split = BudgetSplit(event)
    plan = trim_plan(lattice, split.total)
    counts, tails = yield from read_both(
        base.Read(column, lattice, sums.Count()), base.Read(column, lattice, Tails(plan.keep))
    )
    # [locations.11]
    count, noise = yield from draw_count(split, counts.count, split.share(COUNT_SHARE))
    lo, hi = yield from _draw_bounds(tails, lattice, plan, split)
    if lo == hi:  # there has to be something to choose from
        lo, hi = (lo, hi + 1) if hi < lattice.last else (lo - 1, hi)
    centre = (lo + hi) // 2
    cells = yield from read(
        base.Read(
            column,
            lattice,
            Cells(centre, inverse_sensitivity.cell_edges(lattice, centre, CELL_BITS)),
        )
    )
    changes = max(1.0, max(1, count) * float(split.rest().range))
    spacing = max(1, math.floor((hi - lo) / changes))
    jumps = inverse_sensitivity.jumps(statistic, (hi - lo) * lattice.step)
    candidates = inverse_sensitivity.Candidates.of(
        lo, hi, centre, flat=hi - lo, spacing=spacing, jumps=jumps
    )
    bounds = inverse_sensitivity.ClipBounds(lo, hi, None)
    scene = inverse_sensitivity.Scene(
        split, lattice, statistic, cells, bounds, candidates, plan.trimmed
    )
    value = yield from inverse_sensitivity.draw_value(scene, split.rest())  # [locations.14]
    return scene.estimate(value, count, NoisyTerm(noise, 1.0))


SUBSET_MONOTONE: spec.Row[inverse_sensitivity.LocationOption, Release] = spec.Row(
    "monotone_statistic",
    "subset",
    (inverse_sensitivity.LocationOption(expectile_score(0.5), None),),
    "locations",
    "any monotone statistic with the subset-optimality theorem of Dick et al. 2023",
    _subset_monotone,
    kinds=PURE_ONLY,
)


def _true_threshold(run: Any) -> Fraction:
    rank, rows = run.options.rank, run.table.rows
    place = rank if run.options.side == "low" else rows - 1 - rank
    return true_record(run, place, place + 1)


_GUESS = "within=(-1000, 1000), step=1, sd=50"

STATISTICS = (
    spec.Declaration(
        threshold,
        (THRESHOLD,),
        plan=spec.Planned(
            "a threshold",
            spec.error_between(
                f"release(threshold, rank=500, {_GUESS}, n=5_000, epsilon=1)", "0", "20"
            ),
            truth=_true_threshold,
            note="The error is the distance from the record of that rank.",
        ),
    ),
    spec.Declaration(
        subset_mean,
        (),  # the row of ``modicum.mean``
        plan=spec.Planned(
            "the subset-optimal mean",
            spec.error_between(f"release(subset_mean, {_GUESS}, n=20_000, epsilon=1)", "0", "20"),
            truth=ways.true_mean,
            sampled=True,
        ),
    ),
)
