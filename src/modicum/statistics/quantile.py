"""A quantile and the ends of an interval for it, by the exponential mechanism on ranks.

[Q1] count     a noisy count says whether there are records enough;
[Q0] centre    if few lie beyond the quantile, a median to measure distances from;
[Q2] quantile  a point near rank q n, among all lattice points of the range; if few lie beyond it,
               far ones are less likely beforehand;
[Q3] ends      on each side of it, a point that surely is beyond rank q n, among those at
               geometrically growing distances: there are few of them, so sure is not far.

docs/proofs/quantile.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import OctavePrior
from modicum.privacy.budget import short_text
from modicum.privacy.event import Event
from modicum.release import Answer, Interval
from modicum.statistics.bounds import Setting, find_centre
from modicum.statistics.outside import NoisyTerm
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.statistics.rank_ends import (
    ATOM,
    COUNT_SHARE,
    END_SHARE,
    POWER,
    SELDOM,
    Ranked,
    RankPlan,
    both_ends,
)
from modicum.statistics.split import Schedule, mean_schedule
from modicum.status import OK, Status, unseen
from modicum.steps import Ask, Steps, draw, need, need_both
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.subsample import Records

__all__ = ["QuantileEvidence", "rank_quantile"]

SURE = 10.0  # records beyond the quantile outweigh the candidates beyond the data by e^10
TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: the answer may lie beyond all records; "
    "narrow `within` or spend more",
)
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records lie beyond the quantile for this "
    "budget",
)


@dataclass(frozen=True, slots=True)
class QuantileEvidence:
    """A point near rank q n, and ends beyond it (in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    q : Fraction
    point : int
    ends : (int, int) or None
        Lower and upper end, if they were drawn.
    level : float or None
        Confidence at which the ends were drawn.
    count : int
        The noisy count.
    count_noise : NoisyTerm
    rank_bound : float
        With probability 95 %, q n is no further than this from the ranks of the point, if there
        are records enough.
    """

    lattice: Lattice
    q: Fraction
    point: int
    ends: tuple[int, int] | None
    level: float | None
    count: int
    count_noise: NoisyTerm
    rank_bound: float

    @property
    def value(self) -> Fraction:
        """The point in the data's unit."""
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ends, with half a step for rounding; the range beyond their level."""
        lo, hi, step = self.lattice.lo, self.lattice.hi, self.lattice.step
        if self.ends is None or self.level is None or level > self.level:
            return Interval(lo, hi)
        lower, upper = self.ends
        return Interval(max(lo, (lower - 0.5) * step), min(hi, (upper + 0.5) * step))

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.count_noise.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the point and its ends are, in steps; 0 if the point is."""
        return (self.point and max(abs(each) for each in (self.point, *(self.ends or ()))),)

    @property
    def status(self) -> Status:
        """What the released numbers warn of."""
        least = self.count - self.count_noise.bound(0.05)
        if least * float(min(self.q, 1 - self.q)) < self.rank_bound:
            return TOO_LITTLE
        if self.ends is not None:
            range_ends = (self.lattice.first, self.lattice.last)
            pairs = zip(self.ends, range_ends, strict=True)
            if any(end == limit != self.point for end, limit in pairs):
                return NO_END
        return OK

    @property
    def condition(self) -> str:
        """Which quantile; the interval assumes nothing."""
        return f"q = {short_text(self.q)}"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if self.level is None:
            return "no interval was asked for (level=None), so it is the public range."
        return (
            f"the interval holds all points whose ranks include {short_text(self.q)} n, up to a "
            f"level of {self.level:g}; it assumes nothing. Above that level it is the public range."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "q": float(self.q),
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            "rank_bound": self.rank_bound,
            "drawn_level": self.level,
        }


def rank_quantile(
    column: str | None, lattice: Lattice, event: Event, *, q: Fraction, level: float | None
) -> Steps[Answer]:
    """Estimate the q-quantile: a point t with #{x < t} <= q n <= #{x <= t}, or near it in rank.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    q : Fraction
        In (0, 1), with a denominator of at most 10^9.
    level : float or None
        Confidence of the interval; ``None`` leaves its ends out.

    Raises
    ------
    InvalidArgument
        If the budget is too small to keep the records around the rank.
    """
    purse = open_purse(event)
    here = Ranked(lattice, purse, RankPlan.of(lattice, purse, q, level), Fraction(1))
    asked = Ask(column, lattice, RankWindow(q, here.plan.reach))
    records = None
    if min(q, 1 - q) < SELDOM:
        window, records = yield from need_both(asked, Ask(column, lattice, Records()))
    else:
        window = yield from need(asked)

    counting = purse.noisy((window.count,), sensitivity=1, share=COUNT_SHARE)  # [Q1]
    (count,) = yield from draw("count", counting)
    noise = NoisyTerm(counting.noise[0], 1.0)
    drawn = here.plan.drawn_ends(q, count)
    share = 1 - COUNT_SHARE - sum(drawn) * END_SHARE
    schedule = far_schedule(lattice, purse, count, q, share)
    prior = None
    if schedule is not None and records is not None:  # [Q0]
        centre = yield from find_centre(Setting(column, lattice, purse), records, schedule, count)
        prior, share = OctavePrior(centre, POWER, ATOM), share - schedule.centre
    law = purse.rank(  # [Q2]
        (window.values, window.below, window.count),
        (lattice.first, lattice.last),
        q=q,
        shift=0,
        cap=here.plan.cap if prior is None else here.plan.far_cap,
        edge=None,
        share=share if any(drawn) else None,
        prior=prior,
    )
    point = yield from draw("quantile", law, lattice.words)
    ends = None
    if level is not None:
        least = count - noise.bound(0.1 * here.plan.alpha)
        ends = yield from both_ends(here, window, point, least=least, drawn=drawn, last=True)
    evidence = QuantileEvidence(
        lattice=lattice,
        q=q,
        point=point,
        ends=ends,
        level=level,
        count=count,
        count_noise=noise,
        rank_bound=law.score.rank_bound(
            law.epsilon, 0.05, max(1, round(float(min(q, 1 - q)) * count))
        ),
    )
    return Answer(evidence.value, evidence, evidence.status)


def far_schedule(
    lattice: Lattice, purse: Purse, count: int, q: Fraction, share: Fraction
) -> Schedule | None:
    """Say whether, and how, to measure distances from a centre: ``None`` for not at all.

    A candidate beyond all records has a loss of at least min(q, 1 - q) n. If that outweighs the
    number of candidates, a prior is no use; if the data are too few for a centre, it is no help.
    """
    schedule = mean_schedule(lattice, purse, count, "clip")
    rank = 2 * float(max(q, 1 - q) / purse.range_for(share))
    enough = (math.log(lattice.width + 1) + SURE) * rank
    rare = float(min(q, 1 - q)) * count
    return schedule if schedule.has_centre and rare < enough else None
