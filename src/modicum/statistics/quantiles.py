"""Several quantiles of a column, in increasing order, drawn jointly or nested.

[quantiles.1] count      a noisy number of records, if there are two to 32 quantiles: it decides
                         which mechanism;
[quantiles.1] bulk       where most records are, if they are enough for the joint mechanism but
                         not plenty;
[quantiles.2] quantiles  all of them: all at once, or each between those drawn before it;
[quantiles.3] counts     noisy numbers of records on and between the drawn points, for the
                         intervals.

docs/proofs/quantiles.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayEstimate, ArrayRelease, Axis, Intervals
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_fraction
from modicum.mechanisms.additive import Noise, add_noise, noise_sd
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import EVEN, IntervalGrid, RangeWarp
from modicum.mechanisms.joint_quantiles import JointQuantiles, JointTerms
from modicum.mechanisms.quantile_tree import NEGLIGIBLE, NestedQuantiles, Node, TreePlan, planned
from modicum.mechanisms.scores import IntervalScore
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics import spec
from modicum.statistics.bounds import Setting
from modicum.statistics.texts import documented
from modicum.status import FINE_STEPS, OK, Status, unseen
from modicum.summaries.order_statistics import RankWindow, RankWindows, WindowsSummary

INTERVALS_SHARE = Fraction(1, 10)
TOO_LITTLE = Status(
    "few_records",
    "too little data for so many quantiles, this range and budget: some may be far off; ask for "
    "fewer, narrow `within` or spend more",
)
TOO_LITTLE_FOR_ONE = Status(
    "few_records",
    "too little data for this range and budget: the answer may be far off; narrow `within` or "
    "spend more",
)
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

Floats = NDArray[np.float64]


@documented
def quantiles(
    column: str | None = None,
    *,
    q: Sequence[Number],
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[ArrayRelease]:
    """Ask for several quantiles of a column at once, with no bounds to guess.

    They are in increasing order. Prefer it over a :func:`quantile` for each: nine cost about as
    much, for the same rank error, as three or four alone. Two to twelve are drawn all at once if a
    noisy number of records tells that there are enough, and otherwise one between others.

    Parameters
    ----------
    {column}
    q : sequence of int, float, Fraction, decimal string
        At most 1000, increasing, strictly between 0 and 1. Estimated are points t with
        ``#{x < t} <= q n <= #{x <= t}``.
    {found_within}
    {cost}
    {step}
    level : float or None
        A tenth of the cost goes to counts of the records between the points, which give
        simultaneous intervals from one point to another, of this level as of any other. ``None``:
        the points are a little more accurate, and each interval is the public range.

    {returns}

    {raises}
        If q is out of range or order, or level out of range.

    Notes
    -----
    {missing}

    At ε = 1 the mean rank error is about 1 for one, 3 for nine and 8 for 29 quantiles. The
    mechanisms follow Gillenwater, Joseph and Kulesza 2021 (two to twelve quantiles, at least 14/ε
    records between any two) and Kaplan, Schnapp and Stemmer 2022.

    Examples
    --------
    >>> quantiles("delay", q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1).statistic
    'quantiles'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = QuantilesOption.of(q, level)
    return QUANTILES.query(spec.column_name(column), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class QuantilesOption(spec.Options):
    """Which quantiles, increasing, and whether intervals are wanted.

    A lattice integer has 2^fine points: enough for 10^9 equal records. An audit takes few.
    """

    qs: tuple[Fraction, ...]
    interval: bool
    fine: int = FINE

    @property
    def spare(self) -> Fraction:
        return min(self.qs[0], 1 - self.qs[-1]) / 4

    @classmethod
    def of(cls, q: object, level: object) -> QuantilesOption:
        """Check both: 1 to 1000 increasing numbers in (0, 1), and ``None`` or [0.95, 1).

        Intervals of every level follow from what is counted for one.

        >>> QuantilesOption.of([0.25, "1/3"], 0.95).qs
        (Fraction(1, 4), Fraction(1, 3))
        """
        if isinstance(q, str | bytes) or not isinstance(q, Iterable):
            raise InvalidArgument(f"q must be a list such as [0.25, 0.5, 0.75], got {q!r}")
        exact = [_near(each) if isinstance(each, float) else _exact(each) for each in q]
        if math.lcm(*(each.denominator for each in exact)) > spec.LARGEST_DENOMINATOR:
            unit = spec.LARGEST_DENOMINATOR
            exact = [Fraction(round(each * unit), unit) for each in exact]
        if not 1 <= len(exact) <= spec.MOST_QUANTILES:
            raise InvalidArgument(
                f"q must hold 1 to {spec.MOST_QUANTILES} numbers, got {len(exact)}: for more, "
                "ask for a cdf or a histogram"
            )
        if not all(0 < each < 1 for each in exact):
            raise InvalidArgument(
                "each q must lie strictly between 0 and 1, got "
                f"{_listed(exact)}{spec.in_percent(exact[:10])}"
            )
        if not all(a < b for a, b in pairwise(exact)):
            raise InvalidArgument("the q must increase, got " + _listed(exact))
        return cls(tuple(exact), spec.checked_level(level) is not None)


def _exact(q: Any) -> Fraction:
    return as_fraction(q, "q").limit_denominator(spec.LARGEST_DENOMINATOR)


_near = lru_cache(maxsize=1024)(_exact)


def _listed(numbers: Sequence[Fraction]) -> str:
    shown = ", ".join(f"{float(each):g}" for each in numbers[:10])
    return f"[{shown}{', ...' if len(numbers) > 10 else ''}]"


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Noisy counts of the records on and between the drawn points, each with ``noise``.

    The cells are: below the lowest point, on it, up to the next different point, on that one, ...,
    above the highest. ``least``: records that there should be, so that no quantile is lost.
    """

    cells: tuple[int, ...]
    noise: Noise
    least: float

    def bound(self, alpha: float) -> float:
        """Return a t that the sum's noise exceeds with probability <= alpha."""
        return self.noise.sum_bound(((1.0, len(self.cells)),), alpha)


@dataclass(frozen=True, slots=True)
class QuantilesErrorModel:
    """Increasing points, one a quantile, and noisy counts of the records on and between them."""

    lattice: Lattice
    qs: tuple[Fraction, ...]
    points: tuple[int, ...]
    counted: CellCounts | None

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The points in the data's unit."""
        return tuple(self.lattice.inside(point) for point in self.points)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """[quantiles.4] The nearest points beyond each quantile for sure; else the range."""
        lower = np.full(len(self.qs), self.lattice.lo)
        upper = np.full(len(self.qs), self.lattice.hi)
        if self.counted is not None:
            places = sorted(set(self.points))
            for i, (q, point) in enumerate(zip(self.qs, self.points, strict=True)):
                own, alpha = 2 * places.index(point) + 1, (1 - level) / len(self.qs)
                beyond = _beyond(self.counted, q, own, alpha)
                lows = [t for j, t in enumerate(places) if t <= point and beyond[2 * j] < 0]
                highs = [t for j, t in enumerate(places) if t >= point and beyond[2 * j + 1] > 0]
                if lows:
                    lower[i] = max(self.lattice.lo, (lows[-1] - 0.5) * self.lattice.step)
                if highs:
                    upper[i] = min(self.lattice.hi, (highs[0] + 0.5) * self.lattice.step)
        return Intervals(lower, upper)

    @property
    def none_seen(self) -> bool:
        counted = self.counted
        return counted is not None and unseen(sum(counted.cells), counted.bound(0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the furthest point is, in steps.

        A single small one may be anywhere in a gap of the data that begins at 0, and counts as 0.
        """
        furthest = max(map(abs, self.points))
        return (furthest if len({0, *self.points}) > 2 or furthest >= FINE_STEPS else 0,)

    @property
    def status(self) -> Status:
        if self.counted is None:
            return OK
        if sum(self.counted.cells) - self.counted.bound(0.05) >= self.counted.least:
            return OK
        return TOO_LITTLE if len(self.qs) > 1 else TOO_LITTLE_FOR_ONE

    @property
    def condition(self) -> str:
        """The intervals assume nothing."""
        if self.counted is None:
            return ""
        return "they reach to neighbouring released points; no assumption on the data"

    def assumption(self, tail: float | None) -> str:
        if self.counted is None:
            return "no intervals were asked for (level=None), so they are the public range."
        return (
            "all intervals together hold all points whose ranks include q n, each for its q. They "
            "reach from one released point to another, so they are narrower where more quantiles "
            "are asked for. They assume nothing."
        )

    def to_dict(self) -> dict[str, object]:
        numbers: dict[str, object] = {"q": [float(q) for q in self.qs]}
        if self.counted is None:
            return numbers
        sd = self.counted.noise.variance**0.5
        return numbers | {"counts": list(self.counted.cells), "count_noise_sd": sd}


def _beyond(counted: CellCounts, q: Fraction, own: int, alpha: float) -> Floats:
    """Sign of #{records in the cells up to c} - q n, for each cell c but the last; 0 if unsure.

    The noise of it is (1 - q) times that of the cells up to c and -q times that of the others. A
    cell that is d cells away from the point's own gets a share of ``alpha`` like 1/(1/2 + d)²,
    because d hardly matters where it is large.
    """
    upto, share = np.cumsum(counted.cells), float(q)
    cells = len(upto)
    weights = 1.0 / (1.0 + np.abs(np.arange(cells - 1) - own + 0.5)) ** 2
    signs = np.zeros(cells - 1)
    for c in range(cells - 1):
        excess = float(upto[c]) - share * float(upto[-1])
        part = alpha * float(weights[c] / weights.sum())
        reach = counted.noise.sum_bound(((1 - share, c + 1), (share, cells - c - 1)), part)
        signs[c] = 0.0 if abs(excess) <= reach else math.copysign(1.0, excess)
    return signs


def _estimate(
    column: str | None, lattice: Lattice, event: Event, options: QuantilesOption
) -> Steps[ArrayEstimate]:
    """Estimate quantiles: points t with #{x < t} <= q n <= #{x <= t}, or near it in rank.

    The qs are multiples of one 1/D, D <= 10^9. A lattice integer is divided into 2^fine points, so
    that the records that are equal to a drawn quantile can be divided between its sides. The draws
    cost exactly ``event``; a budget too small to keep the records around the ranks is refused.
    """
    split, qs, fine = BudgetSplit(event), options.qs, options.fine
    share = 1 - INTERVALS_SHARE if options.interval else Fraction(1)
    drawn = yield from draw_points(  # [quantiles.1], [quantiles.2]
        Setting(column, lattice, split),
        qs,
        fine,
        share,
        "quantiles",
        joint_plan(split, qs, lattice, fine, share),
    )
    counted = None
    if options.interval:  # [quantiles.3]
        cells = _cells(drawn.windows, drawn.points)
        mechanism = split.spend(add_noise(cells, split.rest(), sensitivity=1))
        counts = yield from draw("counts", mechanism)
        counted = CellCounts(counts, mechanism.noise[0], drawn.least)
    error_model = QuantilesErrorModel(lattice, qs, drawn.points, counted)
    axis = Axis.of(q=tuple(float(q) for q in qs))
    method = "joint" if drawn.joint else None
    return ArrayEstimate(error_model.values, (axis,), error_model, error_model.status, method)


@dataclass(frozen=True, slots=True)
class DrawnPoints:
    """Outcome of the mechanism: its points, and the records around them (sensitive).

    ``least``: records that there should be, so that no quantile is lost. ``joint``: whether it was
    the joint mechanism.
    """

    points: tuple[int, ...]
    least: float
    windows: WindowsSummary = field(repr=False)
    joint: bool = False


def draw_points(
    here: Setting,
    qs: tuple[Fraction, ...],
    fine: int,
    share: Fraction,
    label: str,
    joint: JointPlan | None = None,
) -> Steps[DrawnPoints]:
    """Draw one lattice integer a quantile, increasing, for a share of the budget.

    Where ``joint`` is given, a noisy number of records is drawn first, and the joint mechanism is
    taken if they seem to be enough for it. A budget too small to keep the records around the ranks
    is refused.
    """
    lattice, split = here.lattice, here.split
    warp, start = EVEN, split.left

    def inside(points: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(min(warp.value(z >> fine), lattice.last) for z in points)

    def words(outcome: tuple[int, ...]) -> str:
        return ", ".join(lattice.words(t) for t in inside(outcome))

    ends, reach, counted = (lattice.first, lattice.last), 0, Fraction(0)
    if joint is not None:
        counted, reach = joint.count_share, joint.reach
    # Less for the nodes takes wider windows.
    path = split.share(share - counted)
    plan = planned(qs, path, (lattice.width + 1) << fine)
    windows = yield from read(here.ask(_windows(split.total, qs, plan, reach)))
    if joint is not None:
        count, _ = yield from draw_count(split, windows.count, split.share(counted))
        if joint.suits(count):
            part = joint.range_share(split, count)
            if part:
                warp = yield from locate_range(split, lattice, windows, part)
            rest = share - (start - split.left) / split.total
            terms, last = joint.terms(count), split.share(rest)
            mechanism = split.spend(
                JointQuantiles(windows, *ends, fine, terms, last.range, last.loss, warp)
            )
            _, *points = yield from draw(label, mechanism, lambda outcome: words(outcome[1:]))
            least = joint.least(lattice, count, warp)
            return DrawnPoints(inside(tuple(points)), least, windows, joint=True)
    nested = split.spend(NestedQuantiles(windows, *ends, fine, plan.nodes, path.loss))
    outcome = yield from draw(label, nested, words)
    least = max(_least(node, qs, lattice) for node in plan.nodes)
    return DrawnPoints(inside(outcome), least, windows)


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


def joint_plan(
    split: BudgetSplit, qs: tuple[Fraction, ...], lattice: Lattice, fine: int, share: Fraction
) -> JointPlan | None:
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
    found = JointPlan(shares, epsilon, COUNT_SHARE, half, cap)
    return found if 2 * found.reach * len(qs) <= MOST_KEPT else None


def locate_range(
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


def _windows(total: Fraction, qs: tuple[Fraction, ...], plan: TreePlan, reach: int) -> RankWindows:
    """Records that the nodes depend on, wherever their ends may lie, and those within ``reach``."""
    reaches = [max(own, reach) for own in plan.reaches]
    if 2 * sum(reaches) > MOST_KEPT:
        raise InvalidArgument(
            f"{len(qs)} quantiles for {float(total):g} a row would keep "
            f"{2 * sum(reaches):,} records; they need a larger budget"
        )
    return RankWindows(tuple(map(RankWindow, qs, reaches)))


def _cells(windows: WindowsSummary, points: tuple[int, ...]) -> tuple[int, ...]:
    """Count the records below, on, between and above the points; each record once."""
    edges = [0]
    for point in sorted(set(points)):
        before, ties = windows.place(point)
        edges += [before, before + ties]
    return tuple(after - before for before, after in pairwise([*edges, windows.count]))


def _least(node: Node, qs: tuple[Fraction, ...], lattice: Lattice) -> float:
    """Records such that a node's rank lies between its ends with probability 95 %.

    Where some point has loss up to 1/2, those of loss >= s weigh at most N e^(-rate (s - 1/2)).
    """
    at, q = [0.0, *map(float, qs), 1.0], float(node.q)
    between = at[node.right + 1] - at[node.left + 1]
    ranks = 0.5 + math.log((lattice.width + 1) / 0.05) / float(node.rate)
    return ranks / (between * min(q, 1 - q))


QUANTILES: spec.Row[QuantilesOption, ArrayRelease] = spec.Row(
    "quantiles",
    "nested",
    (
        QuantilesOption((Fraction(1, 2),), interval=True, fine=1),
        QuantilesOption((Fraction(1, 3), Fraction(3, 5)), interval=False, fine=0),
    ),
    "quantiles",
    "several quantiles, each between those drawn before it, with simultaneous intervals",
    _estimate,
    ArrayRelease,
)


def _true_quantiles(run: Any) -> list[Fraction]:
    """Middles of the lowest and the highest q-quantiles, of records that are evenly spread."""
    found, rows = [], run.table.rows
    for q in run.options.qs:
        start, stop = math.ceil(q * rows) - 1, min(math.floor(q * rows) + 1, rows)
        records = run.table.at(max(start, 0), stop, None)
        found.append(Fraction(int(records[0]) + int(records[-1]), 2) * run.step)
    return found


STATISTICS = (
    spec.Declaration(
        quantiles,
        (QUANTILES,),
        """>>> import numpy as np, modicum
>>> found = modicum.quantiles(
...     np.arange(20_000.0), q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1
... )
>>> found.values.round(-3).tolist()
[5000.0, 10000.0, 15000.0]""",
        command="flights.csv delay --q 0.25,0.5,0.75 --within=-1e9,1e9 --epsilon 1",
        options={"q": "which ones, increasing, such as 0.1,1/3,0.9"},
        plan=spec.Planned(
            "several quantiles",
            spec.error_between(
                "quantiles(q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)",
                "1",
                "100",
            ),
            command="--q 0.25,0.5,0.75 --within=0,1e9 --n 1e5 --sd 5e4 --error 500",
            truth=_true_quantiles,
            shown={"q": "qs"},
        ),
        error_model=(QuantilesErrorModel, CellCounts),
    ),
)
