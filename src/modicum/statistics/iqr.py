"""The distance between two quantiles, such as the interquartile range.

[I1] count      a noisy count says whether there are records enough;
[I2] quantiles  the lower and the upper one, by the law of a single quantile;
[I3] ends       around each, if they are wanted: the difference of the outer ends and that of the
                inner ones hold the distance between them.

Each quantile has half of the budget that a single one would have. docs/proofs/iqr.md has the
proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import RankScore
from modicum.privacy.budget import short_text
from modicum.privacy.event import Event
from modicum.release import Answer, Interval
from modicum.statistics.outside import NoisyTerm
from modicum.statistics.purses import open_purse
from modicum.statistics.quantile import TOO_LITTLE
from modicum.statistics.rank_ends import COUNT_SHARE, POINT_SHARE, Ranked, RankPlan, both_ends
from modicum.status import OK, Status, unseen
from modicum.steps import Ask, Steps, draw, need_both
from modicum.summaries.order_statistics import RankWindow, WindowSummary

__all__ = ["RangeEvidence", "quantile_range"]

HALF = Fraction(1, 2)
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records lie beyond the quantiles for this "
    "budget",
)


@dataclass(frozen=True, slots=True)
class RangeEvidence:
    """Two quantiles, and ends around each (in lattice steps).

    Attributes
    ----------
    lattice : Lattice
    between : (Fraction, Fraction)
        Which quantiles, increasing.
    points : (int, int)
        The released ones.
    ends : pair of (int, int), or None
        Lower and upper end of each, if they were drawn.
    level : float or None
        Confidence at which the ends were drawn.
    count : int
        The noisy count.
    count_noise : NoisyTerm
    rank_bound : float
        With probability 95 %, neither point is further than this in rank, if there are records
        enough.
    """

    lattice: Lattice
    between: tuple[Fraction, Fraction]
    points: tuple[int, int]
    ends: tuple[tuple[int, int], tuple[int, int]] | None
    level: float | None
    count: int
    count_noise: NoisyTerm
    rank_bound: float

    @property
    def value(self) -> Fraction:
        """The distance in the data's unit; 0 if the points came out in the wrong order."""
        lower, upper = self.points
        distance = self.lattice.inside(upper) - self.lattice.inside(lower)
        return max(Fraction(0), distance)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the distances of inner and of outer ends, with a step for rounding."""
        width = self.lattice.hi - self.lattice.lo
        if self.ends is None or self.level is None or level > self.level:
            return Interval(0.0, width)
        (low, low_upper), (high_lower, high) = self.ends
        least = max(0, high_lower - low_upper - 1) * self.lattice.step
        return Interval(least, max(least, min(width, (high - low + 1) * self.lattice.step)))

    @property
    def none_seen(self) -> bool:
        """Whether the released count cannot be told from 0."""
        return unseen(self.count, self.count_noise.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far the outermost ends are apart, in steps; 0 if the quantiles are one."""
        drawn = [*self.points, *(end for pair in self.ends or () for end in pair)]
        return (max(drawn) - min(drawn) if self.points[0] < self.points[1] else 0,)

    @property
    def status(self) -> Status:
        """What the released numbers warn of."""
        least = self.count - self.count_noise.bound(0.05)
        rare = min(self.between[0], 1 - self.between[1])
        if least * float(rare) < self.rank_bound:
            return TOO_LITTLE
        first, last = self.lattice.first, self.lattice.last
        if self.ends is not None:
            outer = (
                (self.ends[0][0], first, self.points[0]),
                (self.ends[1][1], last, self.points[1]),
            )
            if any(end == limit != point for end, limit, point in outer):
                return NO_END
        return OK

    @property
    def condition(self) -> str:
        """Between which quantiles; the interval assumes nothing."""
        return "between q = {} and {}".format(*map(short_text, self.between))

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        if self.level is None:
            return "no interval was asked for (level=None), so it is the width of the public range."
        return (
            "the interval holds the distance between any two points whose ranks include "
            "{} n and {} n, up to a level of {:g}; it assumes nothing. Above that level it is the "
            "width of the public range.".format(*map(short_text, self.between), self.level)
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            "between": [float(q) for q in self.between],
            "points": [self.lattice.value(point) for point in self.points],
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            "rank_bound": self.rank_bound,
            "drawn_level": self.level,
        }


def quantile_range(
    column: str | None,
    lattice: Lattice,
    event: Event,
    *,
    between: tuple[Fraction, Fraction],
    level: float | None,
) -> Steps[Answer]:
    """Estimate the distance between two quantiles.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    between : (Fraction, Fraction)
        In (0, 1), increasing.
    level : float or None
        Confidence of the interval; ``None`` leaves its ends out.

    Raises
    ------
    InvalidArgument
        If the budget is too small to keep the records around the ranks.
    """
    purse = open_purse(event)
    # Both quantiles have to be inside their ends: each at half of what may go wrong.
    each = None if level is None else (1 + level) / 2
    settings = [
        Ranked(lattice, purse, RankPlan.of(lattice, purse, q, each, HALF), HALF) for q in between
    ]
    asks = [
        Ask(column, lattice, RankWindow(q, here.plan.reach))
        for q, here in zip(between, settings, strict=True)
    ]
    windows = yield from need_both(*asks)

    counting = purse.noisy((windows[0].count,), sensitivity=1, share=COUNT_SHARE)  # [I1]
    (count,) = yield from draw("count", counting)
    noise = NoisyTerm(counting.noise[0], 1.0)
    share = HALF * (POINT_SHARE if level is not None else 1 - COUNT_SHARE)
    laws = [  # [I2]
        _law(here, window, share if i == 0 or level is not None else None)
        for i, (here, window) in enumerate(zip(settings, windows, strict=True))
    ]
    low = yield from draw("lower quantile", laws[0], lattice.words)
    high = yield from draw("upper quantile", laws[1], lattice.words)
    ends = None
    if level is not None:  # [I3]
        least = count - noise.bound(0.1 * settings[0].plan.alpha)
        both = (True, True)
        first = yield from both_ends(
            settings[0],
            windows[0],
            low,
            least=least,
            drawn=both,
            last=False,
            name="lower quantile's ",
        )
        second = yield from both_ends(
            settings[1],
            windows[1],
            high,
            least=least,
            drawn=both,
            last=True,
            name="upper quantile's ",
        )
        ends = (first, second)
    evidence = RangeEvidence(
        lattice=lattice,
        between=between,
        points=(low, high),
        ends=ends,
        level=level,
        count=count,
        count_noise=noise,
        rank_bound=max(law.score.rank_bound(law.epsilon, 0.025, 1) for law in laws),
    )
    return Answer(evidence.value, evidence, evidence.status)


def _law(here: Ranked, window: WindowSummary, share: Fraction | None) -> Exponential[RankScore]:
    """The law of one of the quantiles."""
    return here.purse.rank(
        (window.values, window.below, window.count),
        (here.lattice.first, here.lattice.last),
        q=window.q,
        shift=0,
        cap=here.plan.cap,
        edge=None,
        share=share,
    )
