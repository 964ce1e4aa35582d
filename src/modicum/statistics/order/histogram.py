"""The number of records in each bin of a partition, public or drawn first, and shares up to points.

[histogram.1] edges   quantiles, if only the number of bins is given;
[histogram.2] counts  all bins, noise for all that is left on each: a record is in one bin at most.

The share of records up to each of some public points comes from noisy counts in one or more levels:

[histogram.3] counts  of level 1, 2, ...: blocks of cells, blocks of these, ..., each level a
                      partition;
[histogram.4] shares  the estimate of least variance from all levels, then the nearest increasing
                      one in [0, 1].

One level is a histogram, and its error grows with the root of the number of points; d levels cost
d² in variance, but sums are then of few counts. docs/research/proofs/histogram.md has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise, add_noise
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import ArrayEstimate, ArrayRelease, Axis, Intervals
from modicum.releases.status import OK, Status, as_one, hardly_seen
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.options import MOST_QUANTILES, Options
from modicum.statistics.order import quantile_points
from modicum.statistics.ranges import bounds
from modicum.statistics.tails import outside
from modicum.stored.codec import storable
from modicum.summaries.base import Read
from modicum.summaries.sums import BinCounts

EDGES_SHARE = Fraction(1, 4)
_MOST_EDGES = 10_000
MOST_LEVELS = 3
_NEAR = 1000  # steps from one cut to the next below which rounding is told
NEAR_CUTS = Status(
    "coarse_step",
    "two cuts are {steps:.0f} steps of {step:g} apart, to which numbers of this size are rounded: "
    "records near a cut count on its other side; subtract a public number from the column first",
)
NOBODY = Status(
    "few_records", "the released counts cannot be distinguished from 0: the shares are noise"
)

Floats = NDArray[np.float64]


@texts.documented
def histogram(
    column: str | None = None,
    *,
    edges: Sequence[float] | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the number of values in each bin, between public edges or between quantiles.

    A value is in one bin at most, so every count has the noise of a single count at the whole
    cost, however many bins there are.

    Parameters
    ----------
    {column}
    edges : sequence of float, optional
        Public, increasing, at most 10,000; not taken from the data. A bin holds its left edge and
        not its right one, the last bin holds both, as in ``numpy.histogram``. Values outside are in
        no bin; with ``-inf`` as the first edge, and ``inf`` as the last, there are none.
    bins : int, optional
        Instead of ``edges``: 2 to 1000 bins, with about equally many values in each. A quarter of
        the cost goes to the edges between them, which are quantiles as those of
        :func:`modicum.query.quantiles`; two that are equal are one.
    within : (float, float), optional
        With ``bins``: a public range certain to contain every value; its ends are the outer edges.
        Without one a range is found, and the outer edges are ``-inf`` and ``inf``.
    {cost}
    {step_of_edges}

    {returns}

    Raises
    ------
    InvalidArgument
        edges out of order, too many or not finite; not one of edges and bins; edges beside
        ``within``; bins out of range; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. Counts are cut at 0.

    Examples
    --------
    >>> histogram("age", edges=[0, 18, 65, float("inf")], epsilon=1).statistic
    'histogram'
    >>> histogram("income", bins=10, epsilon=1).method
    'drawn'
    """
    cost, name = chosen_budget(epsilon, rho, budget), spec.column_name(column)
    if (edges is None) == (bins is None):
        raise InvalidArgument(
            "give either edges, or bins, such as bins=10; categories are counted for each key, by "
            "group_by(...).count or `modicum count FILE --by COLUMN --keys A,B`"
        )
    if edges is None:
        lattice = spec.chosen_range(within, step)
        options = BinsOption.of(bins, unbounded=lattice is None)
        return DRAWN_HISTOGRAM.query(name, lattice, cost, options)
    if within is not None:
        raise InvalidArgument("edges need no range: within goes with bins")
    public = CutsOption.of(edges, "edges", least=2, infinite=True)
    return HISTOGRAM.query(name, public.lattice("edges", step), cost, public)


@texts.documented
def cdf(
    column: str | None = None,
    *,
    points: Sequence[float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the share of values up to each of some public points.

    The shares increase and lie in [0, 1]. Up to about sixty points they are sums of a histogram;
    for more points, counts of blocks keep the sums short.

    Parameters
    ----------
    {column}
    points : sequence of float
        Public, increasing, finite, at most 10,000; not taken from the data.
    {cost}
    {step_of_edges}

    {returns}

    Raises
    ------
    InvalidArgument
        points out of order, too many or not finite; a bad step or budget.

    Notes
    -----
    Missing values (null, NaN) are dropped. Errors never depend on values. If the noise leaves no
    records at all, every share is 1/2 and the status says so.

    Examples
    --------
    >>> cdf("age", points=[18, 30, 65], epsilon=1).statistic
    'cdf'
    """
    cost = chosen_budget(epsilon, rho, budget)
    options = CutsOption.of(points, "points", least=1, infinite=False)
    return CDF.query(spec.column_name(column), options.lattice("points", step), cost, options)


@dataclass(frozen=True, slots=True)
class BinsOption(Options):
    """How many bins of about equally many records; ``fine`` as for :class:`QuantilesOption`.

    ``unbounded``: the range is found, and the outer bins have no ends, as it may not hold all.
    """

    bins: int
    fine: int = quantile_points.FINE
    unbounded: bool = field(default=False, repr=False)

    @property
    def spare(self) -> Fraction:
        return Fraction(1, 4 * self.bins)

    @classmethod
    def of(cls, bins: object, *, unbounded: bool) -> BinsOption:
        """Check that there are 2 to 1000, a whole number."""
        whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
        if not whole or not 2 <= bins <= MOST_QUANTILES:  # type: ignore[operator]
            raise InvalidArgument(
                f"bins must be a whole number from 2 to {MOST_QUANTILES}, got {as_given(bins)}"
            )
        return cls(int(bins), unbounded=unbounded)  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class CutsOption(Options):
    """Public edges of bins, or points, in the unit of the data."""

    cuts: tuple[float, ...]  # a ledger holds this text to know a query again: it keeps its name

    ranged: ClassVar[bool] = False

    @classmethod
    def of(cls, cuts: object, name: str, *, least: int, infinite: bool) -> CutsOption:
        """Check the argument ``name``: at most 10,000 increasing numbers, of which one is finite.

        There must be ``least`` of them; ``infinite``: the first and the last may be infinite.

        >>> CutsOption.of([0, 0.5, math.inf], "edges", least=2, infinite=True).cuts
        (0.0, 0.5, inf)
        """
        if isinstance(cuts, str | bytes) or not isinstance(cuts, Iterable):
            raise InvalidArgument(f"{name} must be a list of numbers, got {as_given(cuts)}")
        read = tuple(_float(each, name, cuts) for each in cuts)
        if not least <= len(read) <= _MOST_EDGES:
            raise InvalidArgument(
                f"{name} must be {least} to {_MOST_EDGES} numbers, got {len(read)}"
            )
        inner = read[1:-1] if infinite else read
        if not all(map(math.isfinite, inner)) or not any(map(math.isfinite, read)):
            ends = "but for the first and the last, and not all infinite" if infinite else ""
            raise InvalidArgument(f"{name} must be finite {ends}".rstrip())
        if not all(a < b for a, b in pairwise(read)):
            raise InvalidArgument(f"{name} must increase")
        return cls(read)

    def lattice(self, name: str, step: float | None) -> Lattice:
        """Return a lattice that reaches beyond the finite ones, so that what is outside stays so.

        Two cuts that are one point on it are refused.
        """
        finite = [cut for cut in self.cuts if math.isfinite(cut)]
        room = max(abs(finite[0]), abs(finite[-1]), finite[-1] - finite[0], 1.0)
        lattice = Lattice.within((finite[0] - room, finite[-1] + room), step)
        if len(set(lattice.quantise(np.array(finite)).tolist())) < len(finite):
            raise InvalidArgument(
                f"two of the {name} are one number at a step of {lattice.step:g}, to which values "
                "are rounded: give a finer step or coarser " + name
            )
        return lattice


def _float(value: object, name: str, given: object) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or value != value:  # noqa: PLR0124 -- NaN
        raise InvalidArgument(f"{name} must be numbers, got {as_given(given)}")
    try:
        return float(value) + 0.0  # type: ignore[arg-type]
    except OverflowError:
        raise InvalidArgument(f"{name} must be within floats, got {as_given(given)}") from None


@dataclass(frozen=True, slots=True)
class EdgeErrorModel:
    """Base of counts with the same noise, of values and edges that were rounded to a lattice."""

    noise: Noise
    lattice: Lattice

    @property
    def condition(self) -> str:
        """What the counts are about, if that may show; the intervals assume nothing."""
        return self._rounded if self.lattice.coarse else ""

    @property
    def _rounded(self) -> str:
        return f"for values and cuts rounded to multiples of {self.lattice.step:g}"

    def _covered(self, counts: str, cut: str) -> str:
        return (
            f"the intervals cover the noise of all {counts} at once, and assume nothing. They are "
            f"{self._rounded}: within half a step of {cut} a value may count on its other side."
        )


@storable
@dataclass(frozen=True, slots=True)
class HistogramErrorModel(EdgeErrorModel):
    """Noisy counts of bins."""

    noisy: tuple[int, ...]

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return intervals that hold at once: the noises are independent, so levels multiply."""
        reach = self.noise.tail_bound(1 - level ** (1 / len(self.noisy)))
        counts = np.array(self.noisy, dtype=np.float64)
        return Intervals(np.maximum(counts - reach, 0), np.maximum(counts + reach, 0))

    def assumption(self, tail: float | None) -> str:
        return self._covered("bins", "an edge")

    def to_dict(self) -> dict[str, object]:
        return {"noisy": list(self.noisy), "noise_sd": self.noise.variance**0.5}


def noisy_histogram(
    column: str | None, lattice: Lattice, event: Event, options: CutsOption
) -> Steps[ArrayEstimate]:
    """Count the records of each bin [edges[i], edges[i + 1]); the last one is closed.

    The lattice is wider than the finite edges on both sides, so that what lies outside stays so.
    """
    *edges, last = edges_in_steps(lattice, options)
    counts = (yield from read(Read(column, lattice, BinCounts((*edges, last + 1))))).counts
    # What lies beyond the edges is in no bin; an infinite edge is an end of the lattice.
    found = yield from _counted(counts[1:-1], BudgetSplit(event), lattice, options.cuts)
    return replace(found, status=_near_status(lattice, options))


def drawn_histogram(
    column: str | None, lattice: Lattice, event: Event, options: BinsOption
) -> Steps[ArrayEstimate]:
    """Count the records of bins with about equally many each: between quantiles, drawn first.

    The ends of the lattice are the outer edges, or there are none; bins between edges that are
    drawn twice are one.
    The draws cost exactly ``event``; a budget too small to keep the records around the ranks is
    refused.
    """
    split = BudgetSplit(event)
    qs = tuple(Fraction(i, options.bins) for i in range(1, options.bins))
    here = bounds.Setting(column, lattice, split)
    plan = quantile_points.PointsPlan.of(here, qs, options.fine, EDGES_SHARE, nested=True)
    drawn = yield from quantile_points.draw_points(
        here, qs, options.fine, (plan,), "edges"
    )  # [histogram.1]
    edges = sorted({lattice.first, *drawn.points, lattice.last})
    upto = [0, *(drawn.windows.below(edge) for edge in edges[1:-1]), drawn.windows.count]
    counts = tuple(b - a for a, b in pairwise(upto))
    inner = (float(edge * Fraction(lattice.step)) for edge in edges[1:-1])
    lo, hi = (-math.inf, math.inf) if options.unbounded else (lattice.lo, lattice.hi)
    values = (lo, *inner, hi)
    found = yield from _counted(counts, split, lattice, values)
    return replace(found, status=as_one(lattice, drawn.points))


def _counted(
    counts: tuple[int, ...], split: BudgetSplit, lattice: Lattice, edges: tuple[float, ...]
) -> Steps[ArrayEstimate]:
    """[histogram.2] Draw the counts of the bins between edges, with all that is left."""
    mechanism = split.spend(add_noise(counts, split.rest(), sensitivity=1))
    noisy = yield from draw("counts", mechanism)
    error_model = HistogramErrorModel(mechanism.noise[0], lattice, noisy)
    axis = Axis.of(left=edges[:-1], right=edges[1:])
    return ArrayEstimate(tuple(Fraction(max(n, 0)) for n in noisy), (axis,), error_model, OK)


def _near_status(lattice: Lattice, options: CutsOption) -> Status:
    """Warn of cuts so near each other that rounding shows, unless the step was asked for.

    Of the records between two cuts that are g steps apart, 1/g or so count on the other side.
    """
    cuts = np.array([cut for cut in options.cuts if math.isfinite(cut)])
    nearest = float(np.diff(cuts).min(initial=math.inf)) / lattice.step
    if lattice.coarse or nearest >= _NEAR:
        return OK
    return NEAR_CUTS.filled(steps=nearest, step=lattice.step)


def edges_in_steps(lattice: Lattice, options: CutsOption) -> list[int]:
    """Public edges, or points, as integers."""
    return [int(q) for q in lattice.quantise(np.array(options.cuts))]


@storable
@dataclass(frozen=True, slots=True)
class CdfErrorModel(EdgeErrorModel):
    """Noisy counts of blocks, for every level, the coarsest first.

    ``sizes`` are the cells of a block of each level.
    """

    sizes: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def shares(self) -> Floats:
        """[histogram.4] Increasing shares in [0, 1], one for each cell but the last."""
        upto = np.cumsum(self._cells())
        if upto[-1] <= 0:
            return np.full(len(upto) - 1, 0.5)
        return np.clip(increasing(upto[:-1] / upto[-1]), 0.0, 1.0)

    def _cells(self) -> Floats:
        """Return estimates of all cells, of least variance: levels up, then down again.

        A count and the sum of its parts are two estimates of one number; they are averaged by
        their variances. What the average differs from the sum is given to the parts in proportion
        to their variances (Hay, Rastogi, Miklau and Suciu 2010, for blocks of any sizes).
        """
        fine = np.array(self.counts[-1], dtype=np.float64)
        estimates, variances = [fine], [np.ones(len(fine))]
        places: list[NDArray[np.int64]] = []
        for (size, below), counts in zip(
            reversed(list(pairwise(self.sizes))), reversed(self.counts[:-1]), strict=True
        ):
            starts = np.arange(0, len(estimates[0]), size // below)
            sums = np.add.reduceat(estimates[0], starts)
            spread = np.add.reduceat(variances[0], starts)
            own = np.array(counts, dtype=np.float64)
            estimates.insert(0, (own * spread + sums) / (spread + 1))
            variances.insert(0, spread / (spread + 1))
            places.insert(0, starts)
        final = estimates[0]
        for level, starts in enumerate(places, start=1):
            sums = np.add.reduceat(estimates[level], starts)
            spread = np.add.reduceat(variances[level], starts)
            part = np.diff(starts, append=len(estimates[level]))
            final = estimates[level] + variances[level] * np.repeat((final - sums) / spread, part)
        return final

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return ends a / (a + b) of the numbers a up to a point and b beyond it, all at once."""
        cells = len(self.counts[-1])
        alpha = (1 - level) / (4 * max(1, cells - 1))
        lower, upper = np.empty(cells - 1), np.empty(cells - 1)
        prefix = [np.concatenate([[0], np.cumsum(counts)]) for counts in self.counts]
        for cell in range(1, cells):
            low, low_terms = self._sum(prefix, cell, beyond=False)
            high, high_terms = self._sum(prefix, cell, beyond=True)
            below = self.noise.sum_bound(((1.0, low_terms),), alpha)
            above = self.noise.sum_bound(((1.0, high_terms),), alpha)
            lower[cell - 1] = outside.share_of_sums(low - below, high + above, 0.0)
            upper[cell - 1] = outside.share_of_sums(low + below, high - above, 1.0)
        shares = self.shares
        return Intervals(np.minimum(lower, shares), np.maximum(upper, shares))

    def _sum(
        self, prefix: list[NDArray[np.int64]], cell: int, *, beyond: bool
    ) -> tuple[float, int]:
        """Noisy number of records before a cell, or from it on, by few counts; how many."""
        total, terms = 0, 0
        done = len(prefix[-1]) - 1 if beyond else 0
        for level, size in enumerate(self.sizes):
            to = -(-cell // size) if beyond else cell // size
            at = -(-done // size) if beyond else done // size
            first, last = (to, at) if beyond else (at, to)
            if first < last:
                total += int(prefix[level][last] - prefix[level][first])
                terms += last - first
                done = to * size
        return float(total), terms

    @property
    def few_seen(self) -> bool:
        return hardly_seen(sum(self.counts[0]), self._total_bound)

    @property
    def _total_bound(self) -> float:
        return self.noise.sum_bound(((1.0, len(self.counts[0])),), 0.1)

    @property
    def status(self) -> Status:
        lost = sum(self.counts[0]) <= self._total_bound or self._cells().sum() <= 0
        return NOBODY if lost else OK

    def assumption(self, tail: float | None) -> str:
        levels = " They use the counts level by level, so they are wider than need be."
        return self._covered("counts", "a point") + levels

    def to_dict(self) -> dict[str, object]:
        return {
            "cells_of_a_block": list(self.sizes),
            "counts": [list(counts) for counts in self.counts],
            "noise_sd": self.noise.variance**0.5,
        }


def increasing(y: Floats) -> Floats:
    """Return the increasing sequence with the least squared distance from ``y``.

    Neighbours out of order are replaced by their mean (pool adjacent violators; Ayer and others
    1955).

    >>> increasing(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    pools: list[tuple[float, int]] = []
    for value in y.tolist():
        total, size = value, 1
        while pools and pools[-1][0] * size > total * pools[-1][1]:
            more, others = pools.pop()
            total, size = total + more, size + others
        pools.append((total, size))
    return np.repeat([total / size for total, size in pools], [size for _, size in pools])


def noisy_cdf(
    column: str | None, lattice: Lattice, event: Event, options: CutsOption
) -> Steps[ArrayEstimate]:
    """Estimate #{x <= t} / n for increasing public points t, all different on the lattice.

    The lattice is wider than the points on both sides. The draws cost exactly ``event``.
    """
    edges = tuple(edge + 1 for edge in edges_in_steps(lattice, options))
    counts = (yield from read(Read(column, lattice, BinCounts(edges)))).counts
    split, drawn = BudgetSplit(event), []
    sizes = levels_of(len(counts), 1 if split.concentrated else 2)
    for number, size in enumerate(sizes, start=1):
        blocks = tuple(sum(counts[i : i + size]) for i in range(0, len(counts), size))
        last = number == len(sizes)
        share = split.rest() if last else split.share(Fraction(1, len(sizes)))
        mechanism = split.spend(add_noise(blocks, share, sensitivity=1))  # [histogram.3]
        label = "counts" if len(sizes) == 1 else f"counts of level {number}"
        drawn.append((yield from draw(label, mechanism)))
    error_model = CdfErrorModel(mechanism.noise[0], lattice, sizes, tuple(drawn))
    status = error_model.status if not error_model.status.ok else _near_status(lattice, options)
    values = tuple(Fraction(float(share)) for share in error_model.shares)
    return ArrayEstimate(values, (Axis.of(point=options.cuts),), error_model, status)


def levels_of(cells: int, power: int) -> tuple[int, ...]:
    """Return how many cells a block of each level has, the coarsest level first.

    A sum up to a point takes some (B - 1)/2 counts of each of d levels of B = cells^(1/d) parts. d
    levels multiply the variance of a count by d^power: 2 if the ε of the levels add up, 1 if their
    ρ do.

    >>> levels_of(10, 2), levels_of(400, 2), levels_of(10_000, 1)
    ((1,), (20, 1), (484, 22, 1))
    """

    def variance(depth: int) -> float:
        return float(depth ** (power + 1) * cells ** (1 / depth))

    depth = min(range(1, MOST_LEVELS + 1), key=variance)
    part = max(2, round(cells ** (1 / depth)))
    return tuple(part**level for level in reversed(range(depth)))


HISTOGRAM: spec.Row[CutsOption, ArrayRelease] = spec.Row(
    "histogram",
    "noisy",
    (CutsOption((5.0, 6.0, 8.0)), CutsOption((-math.inf, 6.0, math.inf))),
    "histogram",
    "counts of the records in public bins",
    noisy_histogram,
    ArrayRelease,
)
DRAWN_HISTOGRAM: spec.Row[BinsOption, ArrayRelease] = spec.Row(
    "histogram",
    "drawn",
    (BinsOption(2, fine=1),),
    "histogram",
    "counts of the records between quantiles that are drawn first",
    drawn_histogram,
    ArrayRelease,
)
CDF: spec.Row[CutsOption, ArrayRelease] = spec.Row(
    "cdf",
    "noisy",
    (CutsOption((5.0, 6.0)),),
    "histogram",
    "shares of the records up to public points",
    noisy_cdf,
    ArrayRelease,
)


def _counts_error(run: Any) -> float:
    """Expect the mean error of the counts over their noise; of drawn bins, of a count above 0."""
    z, chances = run.points(run.answer.error_model.noise)
    if isinstance(run.options, BinsOption):
        return float(chances @ np.abs(z))
    *edges, last = edges_in_steps(run.lattice, run.options)
    counts = np.array(run.table.counts((*edges, last + 1))[1:-1], dtype=np.float64)
    errors = [float(chances @ np.abs(np.maximum(count + z, 0) - count)) for count in counts]
    return math.fsum(errors) / len(errors)


def _true_shares(run: Any) -> list[Fraction]:
    """Shares of the records up to each point."""
    edges = edges_in_steps(run.lattice, run.options)
    upto = np.cumsum(run.table.counts([edge + 1 for edge in edges]))
    return [Fraction(int(count), int(upto[-1])) for count in upto[:-1]]


STATISTICS = (
    spec.Declaration(
        histogram,
        (HISTOGRAM, DRAWN_HISTOGRAM),
        """>>> import numpy as np, modicum
>>> found = modicum.histogram(np.arange(20_000.0), edges=[0, 5000, 20_000], epsilon=1)
>>> found.values.round(-3).tolist()
[5000.0, 15000.0]""",
        command="people.csv age --edges 0,18,65,inf --epsilon 1",
        options={
            "edges": "public edges, increasing",
            "bins": "instead of --edges: K bins between quantiles that are drawn first",
        },
        plan=spec.Planned(
            "a histogram",
            """>>> round(histogram(edges=[0, 10, 20, 30], sd=10, n=2_000, epsilon="0.1").error)
10
>>> round(histogram(bins=10, within=(0, 1e6), sd=10, n=2_000, epsilon="0.1").error)
13""",
            command="--edges 0,10,20 --n 1e5 --sd 10 --error 5",
            error=_counts_error,
            shown={"cuts": "cuts", "bins": "bins"},
        ),
    ),
    spec.Declaration(
        cdf,
        (CDF,),
        """>>> import numpy as np, modicum
>>> modicum.cdf(np.arange(20_000.0), points=[5000, 1e4], epsilon=1).values.round(2).tolist()
[0.25, 0.5]""",
        command="people.csv age --points 18,30,65 --epsilon 1",
        options={"points": "public points, increasing"},
        plan=spec.Planned(
            "a distribution function",
            spec.error_between("cdf(points=[5, 10, 20], sd=10, n=20_000, epsilon=1)", "0", "0.001"),
            command="--points 5,10,20 --n 1e5 --sd 10 --error 0.001",
            truth=_true_shares,
            shown={"cuts": "cuts"},
        ),
    ),
)
