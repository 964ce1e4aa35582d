"""A quantile and the ends of an interval for it, by the exponential mechanism on ranks.

[quantile.1] count     a noisy count says whether there are records enough; a small one is drawn
                       again with more of the budget;
[quantile.2] centre    if few lie beyond the quantile, a median to measure distances from;
[quantile.3] quantile  a point near rank q n, among all lattice points of the range; if few lie
                       beyond it, far ones are less likely beforehand;
[quantile.4] ends      both at once, on each side of it one beyond rank q n, among those at
                       geometrically growing distances.

An answer can be used if its interval leaves out most of the range, and the noisy count has the
records that the ends aim at.

docs/research/proofs/quantile.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms import quantile_tree, scores
from modicum.mechanisms.exponential import Exponential, OctavePrior
from modicum.privacy.budget import Budget, Number, chosen_budget, short_text
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import Status, at_an_end
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics import spec, texts
from modicum.statistics.options import Options, checked_level, checked_population, checked_rank
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.population import SAMPLE_ROOM, sample_shift
from modicum.statistics.ranges.split import Schedule, mean_schedule
from modicum.statistics.ranges.window import in_reach
from modicum.statistics.tails import drawn_interval
from modicum.statistics.tails.outside import NoisyTerm
from modicum.stored.codec import storable
from modicum.summaries import base, order_statistics, subsample

COUNT_SHARE = Fraction(1, 20)
AGAIN_SHARE = Fraction(1, 10)  # of the point's, for the count of few records
ENDS_SHARE = Fraction(11, 25)
POINT_SHARE = 1 - COUNT_SHARE - ENDS_SHARE
OUTER = Fraction(1, 50)  # beyond such a quantile values may be far
SELDOM = Fraction(1, 4)  # shares of the data beyond a quantile for which a centre may be of use
MOST_CENTRE = Fraction(1, 4)  # no centre takes more
POWER = Fraction(3)  # of the prior, r^-power in the distance from the centre
ATOM = 24  # cells that the centre is nearer: 2^9 times its weight, where nearly all records are it
MOST_KEPT = 1 << 22  # ranks on each side of q n: 64 MB
_CLEARLY = 2  # times as many are outweighed by the ends too, which have less of the budget
MEASURED = ": that is measured on many columns, and where values lie far apart it may be less"
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


@texts.documented
def quantile(
    column: str | None = None,
    *,
    q: Number,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
) -> Query[Release]:
    """Ask for the q-quantile of a column, with no bounds to guess.

    The value is near in rank: at ε = 1 usually within three ranks of q n, whatever the range,
    so its error is that of a few neighbouring records. Prefer it over a mean where tails are
    heavy, or where few records may decide nothing.

    Parameters
    ----------
    {column}
    q : int, float, Fraction, decimal string
        Strictly between 0 and 1. A float is read as its shortest decimal. Estimated is any point
        t with ``#{x < t} <= q n <= #{x <= t}``: for q = 1/2 any point between the two middle
        records.
    {found_within}
    {cost}
    {step}
    {level}
        The ends take 44 % of the cost.
    {population_ends}

    {returns}

    {raises}
        If q or level is out of range.

    Notes
    -----
    {missing}

    The rank error exceeds (2 m / ε') ln(N / β) with probability at most β, with m = max(q, 1 - q),
    ε' the share of the draw, and N the number of lattice points of the range. The level of the
    interval is measured, on many kinds of data: beside a gap between values that lie far apart, and
    of few records, it may be less.

    Examples
    --------
    >>> quantile("delay", q=0.9, epsilon=1).statistic
    'quantile'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = _chosen(checked_rank(q), level, population)
    return QUANTILE.query(spec.column_name(column), lattice, cost, options)


@texts.documented
def median(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    population: bool = False,
) -> Query[Release]:
    """Ask for the median of a column, with no bounds to guess.

    It is the :func:`quantile` with q = 1/2.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}
    {level}
        The ends take 44 % of the cost.
    {population_ends}

    {returns}

    {raises}
        If level is out of range.

    Notes
    -----
    {missing}

    Examples
    --------
    >>> median("delay", rho="0.1").statistic
    'median'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = _chosen(Fraction(1, 2), level, population)
    return MEDIAN.query(spec.column_name(column), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class QuantileOption(Options):
    """Which quantile, and the confidence level of its interval; ``None``: no ends are drawn."""

    q: Fraction
    level: float | None

    @property
    def spare(self) -> Fraction:
        return min(self.q, 1 - self.q) / 4

    @property
    def strength(self) -> float:
        return spec.FOR_FAR_VALUES if min(self.q, 1 - self.q) < OUTER else 0.0


@dataclass(frozen=True, slots=True)
class SampleQuantileOption(QuantileOption):
    """The same for a sample, whose population is asked about."""

    population: ClassVar[bool] = True


def _chosen(q: Fraction, level: float | None, population: object) -> QuantileOption:
    """Read the arguments of a quantile."""
    read = checked_level(level)
    if not checked_population(population):
        return QuantileOption(q, read)
    if read is None:
        raise InvalidArgument("population=True is about the ends of an interval: leave level out")
    return SampleQuantileOption(q, read)


@dataclass(frozen=True, slots=True)
class RankPlan:
    """Public constants of one quantile's draws, in ranks, and these draws.

    Attributes
    ----------
    part : Fraction
        Share of the budget for this quantile.
    cap, far_cap, end_cap : int
        Caps of the loss of the point, of the point with a prior, and of an end.
    shift : int
        Ranks from q n to the targets of the ends; 0 if no ends are drawn.
    needed : float
        Records beyond the quantile without which its release may be of no use.
    alpha : float
        Probability that an end is not what it claims.
    room : int
        By how many ranks ``shift`` may grow for a sample.
    """

    lattice: Lattice
    split: BudgetSplit
    part: Fraction
    cap: int
    far_cap: int
    end_cap: int = 0
    shift: int = 0
    alpha: float = 0.05
    room: int = 0
    needed: float = 0.0

    @property
    def reach(self) -> int:
        """Ranks on each side of q n on which every draw depends."""
        return max(self.cap, self.far_cap, self.end_cap + self.shift + self.room)

    def for_sample(self, q: Fraction, most: float) -> RankPlan:
        """[quantile.18] The same with ends beyond the quantile of a population.

        ``most`` is what the number of rows is at most. If the ranks that this takes are not kept,
        no end is drawn.
        """
        shift = sample_shift(q, most, 1 / self._rank(q), 0.0, 0.45 * self.alpha)
        if shift > self.shift + self.room:
            return replace(self, shift=0)
        return replace(self, shift=max(shift, self.shift))

    def _rank(self, q: Fraction) -> float:
        """Ranks by which an end is e times less likely, or more."""
        return 2 * float(max(q, 1 - q) / self.split.share(self.part * ENDS_SHARE).range)

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        split: BudgetSplit,
        q: Fraction,
        level: float | None,
        part: Fraction = Fraction(1),
        *,
        population: bool = False,
    ) -> RankPlan:
        """[quantile.11], [quantile.12], [quantile.13] For part of a budget, from public numbers.

        A budget for which more than 4 million ranks a side would be kept is refused.
        """
        unit = 2 * float(max(q, 1 - q))
        points = math.log(lattice.width + 1)
        share = part * ((POINT_SHARE if level is not None else 1 - COUNT_SHARE) - AGAIN_SHARE)
        away = unit / float(split.share(share).range)
        cap = math.ceil((points + quantile_tree.NEGLIGIBLE) * away)
        far_cap = cap
        if min(q, 1 - q) < SELDOM:
            least = float(split.share(share - part * MOST_CENTRE).range)
            nats = (
                points
                + quantile_tree.NEGLIGIBLE
                + OctavePrior(0, POWER, ATOM).log_cost(lattice.width)
            )
            far_cap = math.ceil(nats * unit / least)
        # [quantile.8] Without ends nothing but the number of candidates tells how far it may be.
        plan = cls(lattice, split, part, cap, far_cap, needed=(points + math.log(20)) * away)
        if level is not None:
            rank, ends = plan._rank(q), 2 * math.log(4 * lattice.width.bit_length())
            shift = math.ceil(math.log(1 / (1 - level)) * rank)
            plan = replace(
                plan,
                # [quantile.12] Pairs of ends, and the most that two distances can differ by.
                end_cap=math.ceil((ends + 3 * points + quantile_tree.NEGLIGIBLE) * rank),
                shift=shift,
                needed=float(shift),
                alpha=1 - level,
                room=SAMPLE_ROOM if population else 0,
            )
        if plan.reach > MOST_KEPT:
            raise InvalidArgument(
                f"a quantile of {float(split.total):g} a row would keep {2 * plan.reach:,} "
                "records; it needs a larger budget"
            )
        return plan

    def mechanism(
        self, window: order_statistics.WindowSummary, share: Share, prior: OctavePrior | None = None
    ) -> Exponential[scores.RankScore]:
        """The mechanism of the quantile: all lattice points of the range, by rank."""
        score = scores.RankScore(
            window.values,
            window.below,
            window.count,
            self.lattice.first,
            self.lattice.last,
            window.q,
            shift=0,
            cap=self.cap if prior is None else self.far_cap,
            prior=prior,
        )
        return self.split.spend(Exponential(score, *share.ranged))

    def draw_ends(
        self,
        window: order_statistics.WindowSummary,
        point: int,
        share: Share,
        *,
        label: str = "ends",
        scale: int = 0,
    ) -> Steps[tuple[int, int]]:
        """[quantile.4] Draw the lower and the upper end.

        ``point`` is the released quantile, and ``scale`` its distance from a released centre, if
        there is one.
        """
        reach = point - self.lattice.first, self.lattice.last - point
        score = scores.EndsScore.about(
            point,
            (window.values, window.below, window.count),
            window.q,
            shift=self.shift,
            cap=self.end_cap,
            reach=reach,
            near=scale or max(*reach, 1),
        )
        mechanism = self.split.spend(Exponential(score, *share.ranged))

        def ends(outcome: int) -> tuple[int, int]:
            below, above = score.distances(outcome)
            return point - below, point + above

        def words(outcome: int) -> str:
            return "[{}, {}]".format(*map(self.lattice.words, ends(outcome)))

        return ends((yield from draw(label, mechanism, words)))


@storable
@dataclass(frozen=True, slots=True)
class QuantileErrorModel(drawn_interval.DrawnEnds):
    """A point near rank q n, and ends beyond it.

    ``rank_bound`` is how many ranks from q n the ends aim; without ends, how far the point may be.
    """

    ends: tuple[int, int] | None
    q: Fraction
    rank_bound: float
    population: bool = False

    def interval(self, level: float, tail: float | None) -> Interval:
        return self._interval(level)

    def population_interval(self, level: float) -> Interval | None:
        """Return the same, if the ends were drawn for it."""
        return self._interval(level) if self.population else None

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the point and its ends are, in steps; 0 if the point is."""
        return (self._sized,)

    @property
    def status(self) -> Status:
        if too_little(self, self.rank_bound, self.q, self.ends):
            return TOO_LITTLE
        if self._reaches_range_end:
            return NO_END
        return at_an_end(self.lattice, *self.interval(self.level or 0.0, None))

    @property
    def condition(self) -> str:
        """Which quantile."""
        return f"q = {short_text(self.q)}"

    def assumption(self, tail: float | None) -> str:
        return self._covered(f"a point whose ranks include {short_text(self.q)} n,", MEASURED)

    def to_dict(self) -> dict[str, object]:
        return {"q": float(self.q), **self._numbers(rank_bound=self.rank_bound)}


def too_little(
    found: drawn_interval.DrawnInterval, needed: float, q: Fraction, ends: tuple[int, int] | None
) -> bool:
    """Whether released numbers show too little of a quantile.

    There may be no records, or the noisy count has fewer than the ``needed`` ones beyond it, or
    more than half of the range lies between its ends.
    """
    lower, upper = ends or (0, 0)
    few = found.least_count <= 0 or found.count * min(q, 1 - q) < needed
    return few or 2 * (upper - lower) > found.lattice.width


def counted_records(split: BudgetSplit, records: int) -> Steps[tuple[int, NoisyTerm, Fraction]]:
    """[quantile.1] Draw a number of records, again if it is small; its noise, and the share spent.

    Of few records whether they are any is what decides; of more, the point is worth the share.
    """
    count, noise = yield from draw_count(split, records, split.share(COUNT_SHARE))
    if count > 2 * NoisyTerm(noise, 1.0).bound(0.05):
        return count, NoisyTerm(noise, 1.0), COUNT_SHARE
    again = split.share(AGAIN_SHARE)
    count, noise = yield from draw_count(split, records, again, "count, again")
    return count, NoisyTerm(noise, 1.0), COUNT_SHARE + AGAIN_SHARE


def rank_quantile(
    column: str | None, lattice: Lattice, event: Event, options: QuantileOption
) -> Steps[ScalarEstimate]:
    """Estimate the q-quantile: a point t with #{x < t} <= q n <= #{x <= t}, or near it in rank.

    q has a denominator of at most 10^9. The draws cost exactly ``event``; a budget too small to
    keep the records around the rank is refused.
    """
    q, level, split = options.q, options.level, BudgetSplit(event)
    rare = min(q, 1 - q)
    plan = RankPlan.of(lattice, split, q, level, population=options.population)
    asked = base.Read(column, lattice, order_statistics.RankWindow(q, plan.reach))
    records = None
    if rare < SELDOM and lattice.floor == 1:  # else the range is near already
        window, records = yield from read_both(
            asked, base.Read(column, lattice, subsample.Records())
        )
    else:
        window = yield from read(asked)

    # [quantile.1]
    count, noise, counted = yield from counted_records(split, window.count)
    if options.population:
        plan = plan.for_sample(q, max(count + noise.bound(0.1 * plan.alpha), 1.0))
    share = 1 - counted - (ENDS_SHARE if plan.shift else 0)
    schedule, few = far_schedule(lattice, split, count, q, share)
    prior, centre = None, None
    if schedule is not None and records is not None:  # [quantile.2]
        setting = bounds.Setting(column, lattice, split)
        centre = yield from bounds.find_centre(
            setting, records, count, share=schedule.centre, bits=schedule.bits
        )
        prior, share = OctavePrior(centre, POWER, ATOM) if few else None, share - schedule.centre
    mechanism = plan.mechanism(
        window, split.share(share) if plan.shift else split.rest(), prior
    )  # [quantile.3]
    point = yield from draw("quantile", mechanism, lattice.words)
    ends = None
    if plan.shift:
        scale = 0 if centre is None else abs(point - centre)
        ends = yield from plan.draw_ends(window, point, split.rest(), scale=scale)
    error_model = QuantileErrorModel(
        lattice, level, count, noise, point, ends, q, plan.needed, options.population
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def far_schedule(
    lattice: Lattice, split: BudgetSplit, count: int, q: Fraction, share: Fraction
) -> tuple[Schedule | None, bool]:
    """[quantile.9], [quantile.10] How to draw a centre, if of use, and whether the point needs it.

    A candidate beyond all records has a loss of at least min(q, 1 - q) n. If that outweighs the
    number of candidates, a prior of distances from a centre is no use to the point; if it does by
    far, it outweighs the candidates for ends too. If the data are too few for a centre, it is no
    help.
    """
    schedule = mean_schedule(lattice, split, count, "clip")
    rank = 2 * float(max(q, 1 - q) / split.share(share).range)
    enough = (math.log(lattice.width + 1) + SURE) * rank
    rare = float(min(q, 1 - q)) * count
    useful = schedule.has_centre and rare < _CLEARLY * enough
    return schedule if useful else None, rare < enough


def _row(name: str, cases: tuple[QuantileOption, ...]) -> spec.Row[QuantileOption, Release]:
    summary = f"{name} by the exponential mechanism on ranks, with an interval"
    return spec.Row(
        name, "exponential", cases, "quantile", summary, in_reach(rank_quantile), by_window=True
    )


QUANTILE = _row(
    "quantile",
    (
        QuantileOption(Fraction(9, 10), 0.95),
        QuantileOption(Fraction(1, 3), None),
        SampleQuantileOption(Fraction(1, 4), 0.95),
    ),
)
MEDIAN = _row(
    "median",
    (
        QuantileOption(Fraction(1, 2), 0.95),
        QuantileOption(Fraction(1, 2), None),
        SampleQuantileOption(Fraction(1, 2), 0.95),
    ),
)


def rank_error(run: Any) -> float:
    """Expect the distance of a quantile's draw from its middle, for a plan."""
    mechanism = run.mechanisms["quantile"]
    score = mechanism.score
    truth = middle(score.values, score.below, score.q * score.count)
    runs = mechanism.runs()
    rate = float(mechanism.rate / runs.fine)
    weights = runs.lengths * np.exp(-rate * (runs.losses - runs.losses.min()))
    # A stretch is uniform on its integers; one that holds the truth is cut there.
    left = np.maximum(truth - runs.starts, 0).astype(np.float64)
    right = np.maximum(runs.starts + runs.lengths - 1 - truth, 0).astype(np.float64)
    span = np.maximum(runs.lengths - 1, 1)
    inside = (left > 0) & (right > 0)
    outside = np.maximum(left, right) - (runs.lengths - 1) / 2
    distance = np.where(inside, (left**2 + right**2) / (2 * span), outside)
    return float(weights @ distance / weights.sum()) * float(run.lattice.step)


def middle(values: base.Integers, below: int, rank: Fraction) -> int:
    """Between the lowest and the highest record that are a quantile."""
    ends = (math.ceil(rank) - 1, math.floor(rank))
    places = [min(max(end - below, 0), len(values) - 1) for end in ends]
    return sum(int(values[place]) for place in places) // 2


_SAMPLE_HELP = {
    "population": "the rows are a random sample: the interval is for the population's quantile too"
}

STATISTICS = (
    spec.Declaration(
        quantile,
        (QUANTILE,),
        spec.shows_between("quantile", "q=0.9, within=(-1e9, 1e9), ", 17_800, 18_200),
        command="flights.csv delay --q 0.9 --epsilon 1",
        options={"q": "which one, such as 0.9 or 1/3", **_SAMPLE_HELP},
        plan=spec.Planned(
            "a quantile",
            spec.error_between(
                "quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)", "5", "500"
            ),
            command="--q 0.9 --within=0,1e9 --n 1e5 --sd 5e4 --error 500",
            error=rank_error,
            shown={"q": "q"},
            note="It depends on how dense the records are there, so the shape and the mean matter.",
        ),
    ),
    spec.Declaration(
        median,
        (MEDIAN,),
        spec.shows_between("median", "within=(-1e9, 1e9), ", 9800, 10200),
        command="flights.csv delay --epsilon 1",
        options=_SAMPLE_HELP,
        plan=spec.Planned(
            "a median",
            """>>> found = median(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
>>> found.error < quantile(q=0.9, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1).error
True""",
            command="--within=0,1e9 --n 1e5 --sd 5e4 --error 500",
            error=rank_error,
            shown={"q": "q"},
        ),
    ),
)
