"""The distance between two quantiles, such as the interquartile range.

[iqr.1] count      a noisy count says whether there are records enough;
[iqr.2] quantiles  the lower and the upper one, each drawn as a single quantile is;
[iqr.3] ends       around each, if they are wanted: the difference of the outer ends and that of the
                   inner ones hold the distance between them.

Each quantile has half of the budget that a single one would have. docs/research/proofs/iqr.md has
the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget, short_text
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import OK, Status, or_hidden
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read_both
from modicum.statistics import spec, texts
from modicum.statistics.options import Options, checked_level, checked_rank
from modicum.statistics.order import quantile
from modicum.statistics.order.quantile import ENDS_SHARE
from modicum.statistics.ranges.window import in_reach
from modicum.statistics.tails.drawn_interval import DrawnInterval
from modicum.stored.codec import storable
from modicum.summaries import base, order_statistics

HALF = Fraction(1, 2)
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records lie beyond the quantiles for this "
    "budget",
)


@texts.documented
def iqr(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    between: tuple[Number, Number] = ("1/4", "3/4"),
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the interquartile range of a column, with no bounds to guess.

    Prefer it over a standard deviation where tails are heavy: each quartile is near in rank,
    whatever the range, and no record is clipped.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
        Each quantile has half of it.
    {step}
    between : (number, number)
        Which quantiles, each strictly between 0 and 1: ``("0.1", "0.9")`` for the distance of the
        outer deciles. Each is estimated as :func:`modicum.query.quantile` says.
    {level}
        The ends take 44 % of the cost, and the interval without them has the width of the range.

    {returns}

    {raises}
        If ``between`` does not increase, or a number is out of range.

    Notes
    -----
    {missing}

    If the two quantiles come out in the wrong order, as they may where nearly all records are
    equal, the answer is 0.

    Examples
    --------
    >>> iqr("delay", within=(-1e9, 1e9), epsilon=1).statistic
    'iqr'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = RangeOption.of(between, level)
    return IQR.query(spec.column_name(column), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class RangeOption(Options):
    """Between which quantiles, and the confidence level of the interval; ``None``: no ends."""

    between: tuple[Fraction, Fraction]
    level: float | None

    @property
    def spare(self) -> Fraction:
        return min(self.between[0], 1 - self.between[1]) / 4

    @classmethod
    def of(cls, between: object, level: object) -> RangeOption:
        """Check that ``between`` increases in (0, 1), and ``level`` is ``None`` or in [0.95, 1).

        >>> RangeOption.of((0.1, "0.9"), None).between
        (Fraction(1, 10), Fraction(9, 10))
        """
        if not isinstance(between, tuple | list) or len(between) != 2:
            raise InvalidArgument(f"between must be a pair of numbers, got {as_given(between)}")
        low, high = checked_rank(between[0]), checked_rank(between[1])
        if low >= high:
            raise InvalidArgument(f"between must be (lower q, higher q), got {as_given(between)}")
        return cls((low, high), checked_level(level))


@storable
@dataclass(frozen=True, slots=True)
class RangeErrorModel(DrawnInterval):
    """Two quantiles, and ends around each.

    ``rank_bound`` is how many ranks from a quantile its ends aim; without ends, how far the points
    may be.
    """

    between: tuple[Fraction, Fraction]
    points: tuple[int, int]
    ends: tuple[tuple[int, int], tuple[int, int]] | None
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
    def places(self) -> tuple[int, ...]:
        """Both points, and the ends around them, in steps."""
        return (*self.points, *(end for pair in self.ends or () for end in pair))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far the outermost ends are apart, in steps; 0 if the quantiles are one."""
        apart = max(self.places) - min(self.places) if self.points[0] < self.points[1] else 0
        return (or_hidden(self.lattice, apart),)

    @property
    def status(self) -> Status:
        for q, ends in zip(self.between, self.ends or (None, None), strict=True):
            if quantile.too_little(self, self.rank_bound, q, ends):
                return quantile.TOO_LITTLE
        if self.ends is not None:
            (lower, _), (_, upper) = self.ends
            reached = (lower, self.lattice.first), (upper, self.lattice.last)
            if any(a == b != point for (a, b), point in zip(reached, self.points, strict=True)):
                return NO_END
        return OK

    @property
    def condition(self) -> str:
        """Between which quantiles."""
        return "between q = {} and {}".format(*map(short_text, self.between))

    def assumption(self, tail: float | None) -> str:
        what = "a distance of points whose ranks include {} n and {} n,"
        return self._covered(what.format(*map(short_text, self.between)), quantile.MEASURED)

    def to_dict(self) -> dict[str, object]:
        return {
            "between": [float(q) for q in self.between],
            "points": [self.lattice.value(point) for point in self.points],
            **self._numbers(rank_bound=self.rank_bound),
        }


def quantile_range(
    column: str | None, lattice: Lattice, event: Event, options: RangeOption
) -> Steps[ScalarEstimate]:
    """Estimate the distance between two quantiles; the draws cost exactly ``event``.

    A budget too small to keep the records around the ranks is refused.
    """
    level, split = options.level, BudgetSplit(event)
    # One that is outside of its ends is so by little: the other one's room makes up for it.
    plans = [quantile.RankPlan.of(lattice, split, q, level, HALF) for q in options.between]
    reads = [
        base.Read(column, lattice, order_statistics.RankWindow(q, plan.reach))
        for q, plan in zip(options.between, plans, strict=True)
    ]
    windows = yield from read_both(*reads)

    # [iqr.1]
    count, noise, counted = yield from quantile.counted_records(split, windows[0].count)
    share = HALF * (1 - counted - (ENDS_SHARE if level is not None else 0))
    mechanisms = [  # [iqr.2]
        plan.mechanism(window, split.share(share) if i == 0 or level is not None else split.rest())
        for i, (plan, window) in enumerate(zip(plans, windows, strict=True))
    ]
    low = yield from draw("lower quantile", mechanisms[0], lattice.words)
    high = yield from draw("upper quantile", mechanisms[1], lattice.words)
    ends = None
    if level is not None:  # [iqr.3]
        first = yield from plans[0].draw_ends(
            windows[0], low, split.share(HALF * ENDS_SHARE), label="lower quantile's ends"
        )
        second = yield from plans[1].draw_ends(
            windows[1], high, split.rest(), label="upper quantile's ends"
        )
        ends = (first, second)
    needed = max(plan.needed for plan in plans)
    error_model = RangeErrorModel(
        lattice, level, count, noise, options.between, (low, high), ends, needed
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


IQR: spec.Row[RangeOption, Release] = spec.Row(
    "iqr",
    "exponential",
    (
        RangeOption((Fraction(1, 4), Fraction(3, 4)), 0.95),
        RangeOption((Fraction(1, 10), Fraction(2, 3)), None),
    ),
    "iqr",
    "interquartile range by two quantiles, with an interval",
    in_reach(quantile_range, placed=False),
    by_window=True,
)


def _true_range(run: Any) -> Fraction:
    """Distance of the quantiles, of the records that the release has seen around them."""
    low, high = (
        quantile.middle(each.values, each.below, each.q * each.count) for each in run.summaries
    )
    return (high - low) * Fraction(run.step)


STATISTICS = (
    spec.Declaration(
        iqr,
        (IQR,),
        spec.shows_between("iqr", "within=(-1e9, 1e9), ", 9700, 10300),
        command="flights.csv delay --within=-1e9,1e9 --epsilon 1",
        options={"between": "which quantiles (default: %(default)s)"},
        plan=spec.Planned(
            "an interquartile range",
            spec.error_between("iqr(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)", "5", "500"),
            command="--within=0,1e9 --n 1e5 --sd 5e4 --error 500",
            truth=_true_range,
        ),
    ),
)
