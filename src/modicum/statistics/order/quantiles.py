"""Several quantiles of a column, in increasing order, drawn jointly or nested.

[quantiles.1] count      a noisy number of records: it decides which mechanism, and how much it has;
[quantiles.1] bulk       where most records are, if they are enough for the joint mechanism but
                         not plenty;
[quantiles.2] quantiles  all of them: all at once, or each between those drawn before it;
[quantiles.3] ranks      noisy numbers of records between the drawn points;
              counts     those in cells around them, placed by the first ones: they tell where the
                         quantiles are, and move the points.

docs/research/proofs/quantiles.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_fraction
from modicum.mechanisms.additive import add_noise
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import ArrayEstimate, ArrayRelease, Axis, Intervals
from modicum.releases.status import FINE_STEPS, OK, Status, hardly_seen, or_hidden
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.options import (
    LARGEST_DENOMINATOR,
    MOST_QUANTILES,
    Options,
    checked_level,
    checked_population,
    in_percent,
)
from modicum.statistics.order import quantile, quantile_cells
from modicum.statistics.order.quantile_points import FINE, DrawnPoints, PointsPlan, draw_points
from modicum.statistics.order.quantile_ranks import OWN, SIDE, PlaceCounts, place_of_each
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.population import sample_margins
from modicum.statistics.ranges.window import in_reach
from modicum.statistics.tails import outside
from modicum.stored.codec import storable
from modicum.summaries.cells import Cells
from modicum.summaries.order_statistics import WindowsSummary

# Of the points and the number of records: where records are plenty, many, and few. The rest counts
# cells.
SHARES = (Fraction(7, 32), Fraction(20, 32), Fraction(6, 10))
FIRST_SHARE = Fraction(15, 32)  # of what counts cells, for those before edges are placed
LOST = 0.1  # a quantile that is lost is taken for found at most so often
_CHANCES = 0.05, 0.15, 0.8  # of a miss of a population: number of rows, noise of counts, sampling
TOO_LITTLE = Status(
    "few_records",
    "too little data for so many quantiles, this range and budget: some may be far off; ask for "
    "fewer, narrow `within` or spend more",
)
NO_ENDS = Status(
    "range_end",
    "some intervals reach an end of the range: too few records lie beyond these quantiles, or "
    "between them, for this budget; ask for fewer, or spend more",
)
_SEEN = 0.95  # level of the intervals that a summary shows


@texts.documented
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
    population: bool = False,
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
        Confidence level at which the edges of the cells are placed whose counts give simultaneous
        intervals, 0.95 or more. They hold at any level. They take 25/32 of the cost and move the
        points, 3/8 and two fifths where records are fewer. ``None``: nothing is counted, points are
        nearer to their quantiles by a quarter to two fifths, and each interval is the public range.
    population : bool
        Whether the rows are a random sample: some of the edges are then placed so far out that
        ``release.confidence_interval()`` holds the quantiles of the population that they come from
        too, all at once. It takes two quantiles or more, a ``level``, and nothing of the cost.

    {returns}

    {raises}
        If q is out of range or order, or level out of range.

    Notes
    -----
    {missing}

    At ε = 1 the mean rank error is about 1 for one, 4 for nine and 7 for 29 quantiles. Where there
    are 300 records or more between neighbours, an interval of five quantiles holds some 45
    records, and one of 29 some 80. One quantile alone has a useful interval as :func:`quantile`
    only. The mechanisms follow Gillenwater, Joseph and Kulesza 2021 (two to twelve quantiles, at
    least 14/ε records between any two) and Kaplan, Schnapp and Stemmer 2022.

    Examples
    --------
    >>> quantiles("delay", q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1).statistic
    'quantiles'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = _chosen(QuantilesOption.of(q, level), population)
    return QUANTILES.query(spec.column_name(column), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class QuantilesOption(Options):
    """Which quantiles, increasing, and the level that edges are placed for; ``None``: no counts.

    A lattice integer has 2^fine points: enough for 10^9 equal records. An audit takes few.
    """

    qs: tuple[Fraction, ...]
    level: float | None
    fine: int = FINE

    @property
    def spare(self) -> Fraction:
        return min(self.qs[0], 1 - self.qs[-1]) / 4

    @classmethod
    def of(cls, q: object, level: object) -> QuantilesOption:
        """Check both: 1 to 1000 increasing numbers in (0, 1), and ``None`` or [0.95, 1).

        >>> QuantilesOption.of([0.25, "1/3"], 0.95).qs
        (Fraction(1, 4), Fraction(1, 3))
        """
        if isinstance(q, str | bytes) or not isinstance(q, Iterable):
            raise InvalidArgument(f"q must be a list such as [0.25, 0.5, 0.75], got {as_given(q)}")
        try:
            exact = [_near(each) if isinstance(each, float) else _exact(each) for each in q]
        except InvalidArgument:
            raise InvalidArgument(f"each q must be a finite number, got {as_given(q)}") from None
        if math.lcm(*(each.denominator for each in exact)) > LARGEST_DENOMINATOR:
            unit = LARGEST_DENOMINATOR
            exact = [Fraction(round(each * unit), unit) for each in exact]
        if not 1 <= len(exact) <= MOST_QUANTILES:
            raise InvalidArgument(
                f"q must hold 1 to {MOST_QUANTILES} numbers, got {len(exact)}: for more, "
                "ask for a cdf or a histogram"
            )
        if not all(0 < each < 1 for each in exact):
            raise InvalidArgument(
                "each q must lie strictly between 0 and 1, got "
                f"{_listed(exact, q)}{in_percent(exact) if _typed(q) else ''}"
            )
        if not all(a < b for a, b in pairwise(exact)):
            raise InvalidArgument("the q must increase, got " + _listed(exact, q))
        return cls(tuple(exact), checked_level(level))


@dataclass(frozen=True, slots=True)
class SampleQuantilesOption(QuantilesOption):
    """The same for a sample, whose population is asked about."""

    population: ClassVar[bool] = True


def _chosen(options: QuantilesOption, population: object) -> QuantilesOption:
    """Read whether a population is asked about."""
    if not checked_population(population):
        return options
    if options.level is None:
        raise InvalidArgument("population=True is about the ends of intervals: leave level out")
    if len(options.qs) < 2:
        raise InvalidArgument(
            "population=True takes two quantiles or more: for one ask for quantile(q=...)"
        )
    return SampleQuantilesOption(options.qs, options.level, options.fine)


def _exact(q: Any) -> Fraction:
    return as_fraction(q, "q").limit_denominator(LARGEST_DENOMINATOR)


_near = lru_cache(maxsize=1024)(_exact)


_TYPED = 10  # numbers that are listed by hand


def _listed(numbers: Sequence[Fraction], given: object) -> str:
    """Write numbers that were typed, and no others: they may be data."""
    if not _typed(given):
        return as_given(given)
    return f"[{', '.join(f'{float(each):g}' for each in numbers)}]"


def _typed(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) <= _TYPED


@storable
@dataclass(frozen=True, slots=True)
class QuantilesErrorModel:
    """Increasing points, one a quantile, and noisy counts of the records around them.

    ``rows`` is the first noisy number of all of them, if a population is asked about.
    """

    lattice: Lattice
    qs: tuple[Fraction, ...]
    points: tuple[int, ...]
    counted: quantile_cells.CellCounts | None
    rows: outside.Counted | None = None

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The points in the data's unit."""
        return tuple(self.lattice.inside(point) for point in self.points)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """[quantiles.4] The nearest edges beyond each quantile for sure; else the range."""
        if self.counted is None:
            lattice, size = self.lattice, len(self.qs)
            return Intervals(np.full(size, lattice.lo), np.full(size, lattice.hi))
        return self.counted.intervals(self.lattice, self.qs, self.points, level)

    def population_intervals(self, level: float, _tail: float | None) -> Intervals:
        """[quantiles.21] The nearest edges beyond ranks that hold those of the population."""
        assert self.counted is not None
        assert self.rows is not None
        number, noise, sampled = (part * (1 - level) for part in _CHANCES)
        least = self.rows.least(number)
        ranks = [(Fraction(0), Fraction(1))] * len(self.qs)
        if least >= 1:
            margins = sample_margins(self.qs, least, sampled)
            shares = [(Fraction(low / least), Fraction(high / least)) for low, high in margins]
            # Less than a row beyond is none.
            outer = [(q - low, q + high) for q, (low, high) in zip(self.qs, shares, strict=True)]
            ranks = [
                (
                    low if low * least >= 1 else Fraction(0),
                    high if (1 - high) * least >= 1 else Fraction(1),
                )
                for low, high in outer
            ]
        return self.counted.population_intervals(self.lattice, ranks, self.points, noise)

    @property
    def few_seen(self) -> bool:
        counted = self.counted
        return counted is not None and hardly_seen(counted.total, counted.bound(0.1))

    @property
    def places(self) -> tuple[int, ...]:
        """The points, in steps."""
        return self.points

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the furthest point is, in steps.

        A single small one may be anywhere in a gap of the data that begins at 0, and counts as 0.
        """
        furthest = max(map(abs, self.points))
        sized = furthest if len({0, *self.points}) > 2 or furthest >= FINE_STEPS else 0
        return (or_hidden(self.lattice, sized),)

    @property
    def status(self) -> Status:
        if self.counted is None:
            return OK
        if not self.counted.found(self.qs, self.points, LOST):
            return TOO_LITTLE
        return NO_ENDS if self._reaches_range_end() else OK

    def _reaches_range_end(self) -> bool:
        """Whether the interval of a point ends where the range does, and the point is not there."""
        lower, upper = self.intervals(_SEEN, None)
        ends = ((lower, self.lattice.lo), (upper, self.lattice.hi))
        values = np.array([float(value) for value in self.values])
        return any(((found == end) & (values != end)).any() for found, end in ends)

    @property
    def condition(self) -> str:
        """The intervals assume nothing."""
        if self.counted is None:
            return ""
        return "from counts of the records around each point; no assumption on the data"

    def assumption(self, tail: float | None) -> str:
        if self.counted is None:
            return "no intervals were asked for (level=None), so they are the public range."
        return (
            "all intervals together hold all points whose ranks include q n, each for its q. They "
            "follow from noisy counts of the records in cells around the points, and end at edges "
            "of cells. They assume nothing."
        )

    def to_dict(self) -> dict[str, object]:
        numbers: dict[str, object] = {"q": [float(q) for q in self.qs]}
        if self.counted is None:
            return numbers
        half, sd = Fraction(1, 2), self.counted.noise.variance**0.5
        edges = [self.lattice.value(edge - half) for edge in self.counted.edges]
        numbers |= {"edges": edges, "counts": list(self.counted.cells), "count_noise_sd": sd}
        if self.counted.first is None:
            return numbers
        first = self.counted.first
        return numbers | {
            "first_edges": edges[SIDE::OWN],
            "first_counts": list(first.cells),
            "first_count_noise_sd": first.noise.variance**0.5,
        }


@storable
@dataclass(frozen=True, slots=True)
class OneQuantile:
    """Error model of a single one: what :func:`~modicum.quantile` draws, as an array."""

    one: quantile.QuantileErrorModel

    @property
    def lattice(self) -> Lattice:
        return self.one.lattice

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return the drawn ends; the range above their level."""
        lower, upper = self.one.interval(level, tail)
        return Intervals(np.array([lower]), np.array([upper]))

    @property
    def few_seen(self) -> bool:
        return self.one.few_seen

    @property
    def places(self) -> tuple[int, ...]:
        """The point and its ends, in steps."""
        return self.one.places

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the point and its ends are, in steps."""
        return self.one.in_steps

    @property
    def condition(self) -> str:
        """The interval assumes nothing."""
        return ""

    def assumption(self, tail: float | None) -> str:
        return self.one.assumption(tail)

    def to_dict(self) -> dict[str, object]:
        return {**self.one.to_dict(), "q": [float(self.one.q)]}


def _one(
    column: str | None, lattice: Lattice, event: Event, q: Fraction, level: float
) -> Steps[ArrayEstimate]:
    """Estimate a single one with ends: no others tell how dense records are about it."""
    found = yield from quantile.rank_quantile(
        column, lattice, event, quantile.QuantileOption(q, level)
    )
    assert isinstance(found.error_model, quantile.QuantileErrorModel)
    axis = Axis.of(q=(float(q),))
    model = OneQuantile(found.error_model)
    return ArrayEstimate((found.value,), (axis,), model, found.status, "exponential")


def _estimate(
    column: str | None, lattice: Lattice, event: Event, options: QuantilesOption
) -> Steps[ArrayEstimate]:
    """Estimate quantiles: points t with #{x < t} <= q n <= #{x <= t}, or near it in rank.

    The qs are multiples of one 1/D, D <= 10^9. A lattice integer is divided into 2^fine points, so
    that the records that are equal to a drawn quantile can be divided between its sides. The draws
    cost exactly ``event``; a budget too small to keep the records around the ranks is refused.
    """
    split, qs, level = BudgetSplit(event), options.qs, options.level
    if len(qs) == 1 and level is not None:
        return (yield from _one(column, lattice, event, qs[0], level))
    here = bounds.Setting(column, lattice, split)
    shares = [Fraction(1)] if level is None else SHARES
    plans = [
        PointsPlan.of(here, qs, options.fine, share, counts=level is not None) for share in shares
    ]
    drawn = yield from draw_points(here, qs, options.fine, plans, "quantiles")
    points, counted = drawn.points, None
    if level is not None:
        counted, points = yield from _count_cells(here, options, drawn, level)
    rows = None
    if options.population and drawn.count_noise is not None:
        rows = outside.Counted(Fraction(drawn.count), (outside.NoisyTerm(drawn.count_noise, 1.0),))
    error_model = QuantilesErrorModel(lattice, qs, points, counted, rows)
    axis = Axis.of(q=tuple(float(q) for q in qs))
    method = "joint" if drawn.joint else None
    return ArrayEstimate(error_model.values, (axis,), error_model, error_model.status, method)


def _count_cells(
    here: bounds.Setting, options: QuantilesOption, drawn: DrawnPoints, level: float
) -> Steps[tuple[quantile_cells.CellCounts, tuple[int, ...]]]:
    """[quantiles.3] Count the records around the points, and return also the points, moved."""
    qs, split, first, variances = options.qs, here.split, None, drawn.variances
    places = quantile_cells.places_of(drawn.points, qs, drawn.count)
    apart = drawn.ample and len(places) > 1
    if apart:
        between = _between(drawn.windows, [at.value for at in places])
        part = split.share(FIRST_SHARE * split.left / split.total)
        mechanism = split.spend(add_noise(between, part, sensitivity=1))
        ranks = yield from draw("ranks", mechanism)
        which = place_of_each([(at.first, at.last) for at in places])
        first = PlaceCounts(ranks, mechanism.noise[0], which)
        (noise,) = add_noise((0,), split.rest(), sensitivity=1).noise
        sampled = None
        if options.population:  # [quantiles.21]
            _, chance, missed = (part * (1 - level) for part in _CHANCES)
            margins = sample_margins(qs, max(drawn.count, 1), missed)
            sampled = quantile_cells.SampledRanks(tuple(margins), chance)
        edges = quantile_cells.edges_around(
            here.lattice, qs, places, variances, first, noise, level, sampled
        )
        # Edges may be far from the points: one pass for all, whether or not their records are held.
        cells = yield from _around(here, edges)
    else:
        edges = quantile_cells.plain_edges(here.lattice, places)
        cells = _between(drawn.windows, edges)
    mechanism = split.spend(add_noise(cells, split.rest(), sensitivity=1))
    counts = yield from draw("counts", mechanism)
    counted = quantile_cells.CellCounts(edges, counts, mechanism.noise[0], first=first)
    if not (apart and drawn.plenty):  # few records say little of what lies beside a point
        return counted, drawn.points
    points = [
        counted.moved(here.lattice, qs[k], at, i, variances[k])
        for i, at in enumerate(places)
        for k in range(at.first, at.last + 1)
    ]
    return counted, tuple(sorted(points))


def _around(here: bounds.Setting, edges: Sequence[int]) -> Steps[tuple[int, ...]]:
    """Read the numbers of records between edges."""
    first = here.lattice.first
    below = sorted({edge - 1 - first for edge in edges if edge > first})
    found = yield from read(here.ask(Cells(first, tuple(below) or (0,))))
    upto = [found.count - found.above(edge - 1) if edge > first else 0 for edge in edges]
    return tuple(b - a for a, b in pairwise([0, *upto, found.count]))


def _between(windows: WindowsSummary, edges: Sequence[int]) -> tuple[int, ...]:
    """Numbers of records between edges."""
    upto = [0, *map(windows.below, edges), windows.count]
    return tuple(b - a for a, b in pairwise(upto))


QUANTILES: spec.Row[QuantilesOption, ArrayRelease] = spec.Row(
    "quantiles",
    "nested",
    (
        QuantilesOption((Fraction(1, 2),), level=0.95, fine=1),
        QuantilesOption((Fraction(1, 3), Fraction(3, 5)), level=None, fine=0),
        QuantilesOption((Fraction(1, 4), Fraction(3, 5)), level=0.95, fine=0),
        SampleQuantilesOption((Fraction(1, 4), Fraction(3, 5)), level=0.95, fine=0),
    ),
    "quantiles",
    "several quantiles, each between those drawn before it, with simultaneous intervals",
    in_reach(_estimate),
    ArrayRelease,
    by_window=True,
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
        options={
            "q": "which ones, increasing, such as 0.1,1/3,0.9",
            "population": "the rows are a random sample: also intervals for its quantiles",
        },
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
    ),
)
