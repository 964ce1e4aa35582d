"""A quantile and the ends of an interval for it, by the exponential mechanism on ranks.

[Q1] count     a noisy count says whether there are records enough;
[Q2] quantile  a point near rank q n, among all lattice points of the range;
[Q3] ends      on each side of it, a point that surely is beyond rank q n, among those at
               geometrically growing distances: there are few of them, so sure is not far.

docs/proofs/quantile.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument
from modicum.estimators.mean_evidence import NoisyTerm
from modicum.estimators.purse import Purse, open_purse
from modicum.exact.lattice import Lattice
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.budget import short_text
from modicum.privacy.event import Event
from modicum.release import Answer, Interval
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.window import RankWindow, WindowSummary

__all__ = ["QuantileEvidence", "RankPlan", "rank_quantile"]

COUNT_SHARE = Fraction(1, 50)
POINT_SHARE = Fraction(7, 10)
END_SHARE = (1 - COUNT_SHARE - POINT_SHARE) / 2
GIVE_UP = 4.0  # with few records known, an end is the range's without need once in e^4
NEGLIGIBLE = 60.0  # candidates at the cap together weigh at most e^-60 of all
MOST_KEPT = 1 << 22  # ranks on each side of q n: 64 MB
TOO_LITTLE = (
    "too little data for this range and budget: the answer may lie beyond all records; "
    "narrow `within` or spend more"
)
NO_END = (
    "the interval reaches an end of the range: too few records lie beyond the quantile for this "
    "budget"
)


@dataclass(frozen=True, slots=True)
class RankPlan:
    """Public constants of one run, in ranks.

    Attributes
    ----------
    cap : int
        Cap of the point's loss.
    end_cap : int
        Cap of an end's loss.
    shift : int
        Ranks from q n to the target of an end, if there are enough records beyond; 0 if no ends
        are drawn.
    give_up : int
        With few records, further ranks, and the loss of the range's end.
    alpha : float
        Probability that the count, or an end, is not what it claims; a tenth is the count's.
    """

    cap: int
    end_cap: int
    shift: int
    give_up: int
    alpha: float

    @property
    def reach(self) -> int:
        """Ranks on each side of q n from which every law follows."""
        return max(self.cap, self.end_cap + self.shift + self.give_up)

    @classmethod
    def of(cls, lattice: Lattice, purse: Purse, q: Fraction, level: float | None) -> RankPlan:
        """Compute them from public arguments.

        Raises
        ------
        InvalidArgument
            If the budget is so small that more than 4 million ranks a side would be kept.
        """
        unit = 2 * float(max(q, 1 - q))
        points = math.log(lattice.width + 1)
        share = POINT_SHARE if level is not None else 1 - COUNT_SHARE
        cap = math.ceil((points + NEGLIGIBLE) * unit / float(purse.range_for(share)))
        plan = cls(cap, 0, 0, 0, 0.05)
        if level is not None:
            alpha, rank = 1 - level, unit / float(purse.range_for(END_SHARE))
            ends = math.log(len(_distances(lattice.width).radii))
            plan = cls(
                cap,
                math.ceil((ends + NEGLIGIBLE) * rank),
                math.ceil((ends + math.log(1 / (0.45 * alpha))) * rank),
                math.ceil(GIVE_UP * rank),
                alpha,
            )
        if plan.reach > MOST_KEPT:
            raise InvalidArgument(
                f"a quantile of {float(purse.total):g} a row would keep {2 * plan.reach:,} "
                "records; it needs a larger budget"
            )
        return plan


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
        return self.point * Fraction(self.lattice.step)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the ends, with half a step for rounding; the range beyond their level."""
        lo, hi, step = self.lattice.lo, self.lattice.hi, self.lattice.step
        if self.ends is None or self.level is None or level > self.level:
            return Interval(lo, hi)
        lower, upper = self.ends
        return Interval(max(lo, (lower - 0.5) * step), min(hi, (upper + 0.5) * step))

    @property
    def status(self) -> str:
        """What the released numbers warn of."""
        least = self.count - self.count_noise.bound(0.05)
        if least * float(min(self.q, 1 - self.q)) < self.rank_bound:
            return TOO_LITTLE
        if self.ends is not None:
            range_ends = (self.lattice.first, self.lattice.last)
            pairs = zip(self.ends, range_ends, strict=True)
            if any(end == limit != self.point for end, limit in pairs):
                return NO_END
        return "ok"

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


@dataclass(frozen=True, slots=True)
class _Setting:
    """What the draws of one run refer to."""

    lattice: Lattice
    purse: Purse
    plan: RankPlan


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
    here = _Setting(lattice, purse, RankPlan.of(lattice, purse, q, level))
    window = yield from need(Ask(column, lattice, RankWindow(q, here.plan.reach)))

    counting = purse.noisy((window.count,), sensitivity=1, share=COUNT_SHARE)  # [Q1]
    (count,) = yield from draw("count", counting)
    law = purse.rank(  # [Q2]
        (window.values, window.below, window.count),
        (lattice.first, lattice.last),
        q=q,
        shift=0,
        cap=here.plan.cap,
        edge=None,
        share=POINT_SHARE if level is not None else None,
    )
    point = yield from draw("quantile", law, lattice.words)
    noise = NoisyTerm(counting.noise[0], 1.0)
    ends = None
    if level is not None:
        least = count - noise.bound(0.1 * here.plan.alpha)
        # [Q3] The lower end is the upper end of the negated records.
        negated = yield from _upper_end(here, window.mirrored(), -point, least, mirrored=True)
        upper = yield from _upper_end(here, window, point, least, mirrored=False)
        ends = (-negated, upper)
    evidence = QuantileEvidence(
        lattice=lattice,
        q=q,
        point=point,
        ends=ends,
        level=level,
        count=count,
        count_noise=noise,
        rank_bound=law.rank_bound(0.05),
    )
    return Answer(evidence.value, evidence, evidence.status)


def _upper_end(
    here: _Setting, window: WindowSummary, point: int, least: float, *, mirrored: bool
) -> Steps[int]:
    """[Q3] Least of the ends point + r with at least q n + shift records up to it, or about so."""
    sign, plan = -1 if mirrored else 1, here.plan
    furthest = -here.lattice.first if mirrored else here.lattice.last
    radii = _distances(furthest - point).radii
    # A record is moved up to the next end: a public map, record by record.
    numbers = np.searchsorted(np.array(radii), window.values - point, side="left")
    enough = float(1 - window.q) * least >= plan.shift
    law = here.purse.rank(
        (numbers, window.below, window.count),
        (0, len(radii) - 1),
        q=window.q,
        shift=plan.shift if enough else plan.shift + plan.give_up,
        cap=plan.end_cap,
        edge=None if enough else plan.give_up,
        share=END_SHARE if mirrored else None,
    )

    def end(number: int) -> int:
        return min(point + radii[number], furthest)

    label = "lower end" if mirrored else "upper end"
    number = yield from draw(label, law, lambda number: here.lattice.words(sign * end(number)))
    return end(number)


def _distances(largest: int) -> RadiusGrid:
    """Candidates for the distance of an end: at most 2^(1/4) times as far as need be."""
    return RadiusGrid.between(1, largest, per_octave=4)
