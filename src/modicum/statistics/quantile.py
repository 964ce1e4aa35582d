"""A quantile and the ends of an interval for it, by the exponential mechanism on ranks.

[quantile.1] count     a noisy count says whether there are records enough;
[quantile.2] centre    if few lie beyond the quantile, a median to measure distances from;
[quantile.3] quantile  a point near rank q n, among all lattice points of the range; if few lie
                       beyond it, far ones are less likely beforehand;
[quantile.4] ends      on each side of it, a point beyond rank q n with the confidence of the
                       interval, among those at geometrically growing distances: these are few,
                       which keeps it near.

docs/proofs/quantile.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import OctavePrior
from modicum.privacy.budget import Budget, Number, chosen_budget, short_text
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.release import Interval, Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read, read_both
from modicum.statistics.bounds import Setting, find_centre
from modicum.statistics.count import draw_count
from modicum.statistics.outside import NoisyTerm
from modicum.statistics.ranks import (
    ATOM,
    COUNT_SHARE,
    END_SHARE,
    POWER,
    SELDOM,
    TOO_LITTLE,
    RankErrorModel,
    RankPlan,
    RankSetting,
    both_ends,
    rank_error,
)
from modicum.statistics.spec import (
    Declaration,
    Options,
    Planned,
    Row,
    checked_level,
    checked_rank,
    column_name,
    error_between,
    ranged,
    shows_between,
)
from modicum.statistics.split import Schedule, mean_schedule
from modicum.status import OK, Status
from modicum.summaries.base import Read
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.subsample import Records

SURE = 10.0  # records beyond the quantile outweigh the candidates beyond the data by e^10
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records lie beyond the quantile for this "
    "budget",
)


def quantile(
    column: str | None = None,
    *,
    q: Number,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the q-quantile of a column, with no bounds to guess.

    The value is near in rank: at ε = 1 usually within three ranks of q n, whatever the range,
    so its error is that of a few neighbouring records. Prefer it over a mean where tails are
    heavy, or where few records may decide nothing.

    Parameters
    ----------
    column : str, optional
        Name of a numeric column. Leave it out for a one-dimensional array or series.
    q : int, float, Fraction, decimal string
        Strictly between 0 and 1. A float is read as its shortest decimal. Estimated is any point
        t with ``#{x < t} <= q n <= #{x <= t}``: for q = 1/2 any point between the two middle
        records.
    within : (float, float)
        A public range certain to contain every value, as wide as you like.
    epsilon, rho, budget : number, number, Budget
        Exactly one, as for :func:`modicum.query.mean`.
    step : float, optional
        Round values to multiples of this power of two, as for :func:`modicum.query.mean`.
    level : float or None
        Confidence level at which the ends of the interval are drawn, 0.95 or more; they take a
        third of the price. ``None``: no ends, the answer is more accurate, and its interval is the
        public range.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.query.mean`; q or level out of range.

    Notes
    -----
    Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
    depend on values. The rank error exceeds (2 m / ε') ln(N / β) with probability at most β, with
    m = max(q, 1 - q), ε' the share of the draw, and N the number of lattice points of the range.

    Examples
    --------
    >>> quantile("delay", q=0.9, within=(-1e9, 1e9), epsilon=1).statistic
    'quantile'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = QuantileOption.of(q, level)
    return QUANTILE.query(column_name(column), lattice, price, options)


def median(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the median of a column, with no bounds to guess.

    Parameters, guarantee, missing values and errors are as for :func:`quantile` with q = 1/2.

    Examples
    --------
    >>> median("delay", within=(-1e9, 1e9), rho="0.1").statistic
    'median'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    options = QuantileOption.of("1/2", level)
    return MEDIAN.query(column_name(column), lattice, price, options)


@dataclass(frozen=True, slots=True)
class QuantileOption(Options):
    """Which quantile, and the confidence level of its interval.

    With ``None`` the ends of the interval are not drawn.
    """

    q: Fraction
    level: float | None

    @classmethod
    def of(cls, q: object, level: object) -> QuantileOption:
        """Check that 0 < q < 1, and that ``level`` is ``None`` or in [0.95, 1).

        >>> QuantileOption.of(0.9, 0.95).q, QuantileOption.of(1 / 3, None).q
        (Fraction(9, 10), Fraction(1, 3))
        """
        return cls(checked_rank(q), checked_level(level))


@dataclass(frozen=True, slots=True)
class QuantileErrorModel(RankErrorModel):
    """A point near rank q n, and ends beyond it (in lattice steps), if drawn at a ``level``.

    With probability 95 %, q n is no further than ``rank_bound`` from the ranks of the point, if
    there are records enough. ``count`` is the noisy count.
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
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the point and its ends are, in steps; 0 if the point is."""
        return (self.point and max(abs(each) for each in (self.point, *(self.ends or ()))),)

    @property
    def status(self) -> Status:
        if self.scarce(min(self.q, 1 - self.q)):
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
        if self.level is None:
            return "level=None: no interval was released; this is the public range."
        return (
            f"the interval holds all points whose ranks include {short_text(self.q)} n, up to a "
            f"level of {self.level:g}; it assumes nothing. Above that level it is the public range."
        )

    def to_dict(self) -> dict[str, object]:
        return {"q": float(self.q), **self._numbers()}


def rank_quantile(
    column: str | None, lattice: Lattice, event: Event, *, q: Fraction, level: float | None
) -> Steps[ScalarEstimate]:
    """Estimate the q-quantile: a point t with #{x < t} <= q n <= #{x <= t}, or near it in rank.

    q has a denominator of at most 10^9. ``level=None`` leaves the ends of the interval out. The
    draws cost exactly ``event``; a budget too small to keep the records around the rank is refused.
    """
    split = BudgetSplit(event)
    here = RankSetting(lattice, split, RankPlan.of(lattice, split, q, level), Fraction(1))
    asked = Read(column, lattice, RankWindow(q, here.plan.reach))
    records = None
    if min(q, 1 - q) < SELDOM:
        window, records = yield from read_both(asked, Read(column, lattice, Records()))
    else:
        window = yield from read(asked)

    # [quantile.1]
    count, spread = yield from draw_count(split, window.count, split.share(COUNT_SHARE))
    noise = NoisyTerm(spread, 1.0)
    drawn = here.plan.drawn_ends(q, count)
    share = 1 - COUNT_SHARE - sum(drawn) * END_SHARE
    schedule = far_schedule(lattice, split, count, q, share)
    prior = None
    if schedule is not None and records is not None:  # [quantile.2]
        setting = Setting(column, lattice, split)
        centre = yield from find_centre(
            setting, records, count, share=schedule.centre, bits=schedule.bits
        )
        prior, share = OctavePrior(centre, POWER, ATOM), share - schedule.centre
    mechanism = here.mechanism(
        window, split.share(share) if any(drawn) else split.rest(), prior
    )  # [quantile.3]
    point = yield from draw("quantile", mechanism, lattice.words)
    ends = None
    if level is not None:
        least = count - noise.bound(0.1 * here.plan.alpha)
        ends = yield from both_ends(here, window, point, least=least, drawn=drawn, last=True)
    error_model = QuantileErrorModel(
        lattice=lattice,
        q=q,
        point=point,
        ends=ends,
        level=level,
        count=count,
        count_noise=noise,
        rank_bound=mechanism.score.rank_bound(
            mechanism.epsilon, 0.05, max(1, round(float(min(q, 1 - q)) * count))
        ),
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def far_schedule(
    lattice: Lattice, split: BudgetSplit, count: int, q: Fraction, share: Fraction
) -> Schedule | None:
    """[quantile.9] Whether, and how, to measure distances from a centre: ``None`` for not at all.

    A candidate beyond all records has a loss of at least min(q, 1 - q) n. If that outweighs the
    number of candidates, a prior is no use; if the data are too few for a centre, it is no help.
    """
    schedule = mean_schedule(lattice, split, count, "clip")
    rank = 2 * float(max(q, 1 - q) / split.share(share).range)
    enough = (math.log(lattice.width + 1) + SURE) * rank
    rare = float(min(q, 1 - q)) * count
    return schedule if schedule.has_centre and rare < enough else None


def _begin(
    column: str | None, lattice: Lattice | None, event: Event, options: QuantileOption
) -> Steps[ScalarEstimate]:
    return rank_quantile(column, ranged(lattice), event, q=options.q, level=options.level)


QUANTILE: Row[QuantileOption, Release] = Row(
    "quantile",
    "exponential",
    (QuantileOption(Fraction(9, 10), 0.95), QuantileOption(Fraction(1, 3), None)),
    "quantile",
    "quantile by the exponential mechanism on ranks, with an interval",
    _begin,
)
MEDIAN: Row[QuantileOption, Release] = Row(
    "median",
    "exponential",
    (QuantileOption(Fraction(1, 2), 0.95), QuantileOption(Fraction(1, 2), None)),
    "quantile",
    "median by the exponential mechanism on ranks, with an interval",
    _begin,
)


STATISTICS = (
    Declaration(
        quantile,
        (QUANTILE,),
        shows_between("quantile", "q=0.9, within=(-1e9, 1e9), ", 17_800, 18_200),
        command="flights.csv delay --q 0.9 --within=-1e9,1e9 --epsilon 1",
        options={"q": "which one, such as 0.9 or 1/3"},
        plan=Planned(
            "a quantile",
            error_between(
                "quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)", "5", "500"
            ),
            command="--q 0.9 --within=0,1e9 --n 1e5 --sd 5e4 --error 500",
            error=rank_error,
            shown={"q": "q"},
            note="It depends on how dense the records are there, so the shape and the mean matter.",
        ),
        error_model=(QuantileErrorModel,),
    ),
    Declaration(
        median,
        (MEDIAN,),
        shows_between("median", "within=(-1e9, 1e9), ", 9800, 10200),
        command="flights.csv delay --within=-1e9,1e9 --epsilon 1",
        plan=Planned(
            "a median",
            """>>> found = median(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
>>> found.error < quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1).error
True""",
            command="--within=0,1e9 --n 1e5 --sd 5e4 --error 500",
            error=rank_error,
            shown={"q": "q"},
        ),
        error_model=(QuantileErrorModel,),
    ),
)
