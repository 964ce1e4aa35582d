"""Several quantiles of a column, in increasing order, by a joint or a nested law.

[M0] count      a noisy number of records, if there are two to 32 quantiles: it tells which law;
[M0] bulk       where most records are, if they are enough for the joint law but not plenty;
[M1] quantiles  all of them, by one law: all at once, or each between those drawn before it;
[M2] counts     noisy numbers of records on and between the drawn points, for the intervals.

docs/proofs/quantiles.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayAnswer, Axis, Intervals
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.mechanisms.grids import EVEN
from modicum.mechanisms.quantile_tree import Node
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.bulk import bulk_of
from modicum.statistics.joint import Together, together
from modicum.statistics.nest import Plan
from modicum.statistics.noise_sums import sum_bound
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.status import FINE_STEPS, OK, Status, unseen
from modicum.summaries.base import Ask
from modicum.summaries.order_statistics import RankWindow, RankWindows, WindowsSummary

__all__ = ["QuantilesEvidence", "drawn_points", "nested_quantiles"]

COUNTS_SHARE = Fraction(1, 10)
MOST_KEPT = 1 << 22
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

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Noisy counts of the records on and between the drawn points.

    Attributes
    ----------
    cells : tuple of int
        Below the lowest point, on it, up to the next different point, on that one, ..., above the
        highest.
    noise : Noise
        Of each.
    least : float
        Records that there should be, so that no quantile is lost.
    """

    cells: tuple[int, ...]
    noise: Noise
    least: float


@dataclass(frozen=True, slots=True)
class QuantilesEvidence:
    """Drawn points, and noisy counts of the records on and between them.

    Attributes
    ----------
    lattice : Lattice
    qs : tuple of Fraction
    points : tuple of int
        Lattice integers, one a quantile, increasing.
    counted : CellCounts or None
        If intervals are wanted.
    """

    lattice: Lattice
    qs: tuple[Fraction, ...]
    points: tuple[int, ...]
    counted: CellCounts | None

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The points in the data's unit."""
        return tuple(self.lattice.inside(point) for point in self.points)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """[M3] Return the nearest points that surely are beyond each quantile; else the range."""
        lower = np.full(len(self.qs), self.lattice.lo)
        upper = np.full(len(self.qs), self.lattice.hi)
        if self.counted is not None:
            cuts = sorted(set(self.points))
            for i, (q, point) in enumerate(zip(self.qs, self.points, strict=True)):
                own, alpha = 2 * cuts.index(point) + 1, (1 - level) / len(self.qs)
                beyond = _beyond(self.counted, q, own, alpha)
                lows = [t for j, t in enumerate(cuts) if t <= point and beyond[2 * j] < 0]
                highs = [t for j, t in enumerate(cuts) if t >= point and beyond[2 * j + 1] > 0]
                if lows:
                    lower[i] = max(self.lattice.lo, (lows[-1] - 0.5) * self.lattice.step)
                if highs:
                    upper[i] = min(self.lattice.hi, (highs[0] + 0.5) * self.lattice.step)
        return Intervals(lower, upper)

    @property
    def none_seen(self) -> bool:
        """Whether the released counts cannot be told from 0."""
        if self.counted is None:
            return False
        cells = self.counted.cells
        return unseen(sum(cells), sum_bound(self.counted.noise, ((1.0, len(cells)),), 0.1))

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the furthest point is, in steps.

        A single small one may be anywhere in a gap of the data that begins at 0, and counts as 0.
        """
        furthest = max(map(abs, self.points))
        return (furthest if len({0, *self.points}) > 2 or furthest >= FINE_STEPS else 0,)

    @property
    def status(self) -> Status:
        """What the released numbers warn of."""
        if self.counted is None:
            return OK
        cells, noise = self.counted.cells, self.counted.noise
        least = sum(cells) - sum_bound(noise, ((1.0, len(cells)),), 0.05)
        if least >= self.counted.least:
            return OK
        return TOO_LITTLE if len(self.qs) > 1 else TOO_LITTLE_FOR_ONE

    @property
    def condition(self) -> str:
        """The intervals assume nothing."""
        return "" if self.counted is None else "they reach to other points, and assume nothing"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the intervals cover."""
        if self.counted is None:
            return "no intervals were asked for (level=None), so they are the public range."
        return (
            "all intervals together hold all points whose ranks include q n, each for its q. They "
            "reach from one released point to another, so they are narrower where more quantiles "
            "are asked for. They assume nothing."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        numbers: dict[str, object] = {"q": [float(q) for q in self.qs]}
        if self.counted is not None:
            numbers["counts"] = list(self.counted.cells)
            numbers["count_noise_sd"] = self.counted.noise.variance**0.5
        return numbers


def nested_quantiles(
    column: str | None,
    lattice: Lattice,
    event: Event,
    *,
    qs: tuple[Fraction, ...],
    interval: bool,
    fine: int,
) -> Steps[ArrayAnswer]:
    """Estimate quantiles: points t with #{x < t} <= q n <= #{x <= t}, or near it in rank.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    qs : tuple of Fraction
        In (0, 1), increasing, multiples of one 1/D, D <= 10^9.
    interval : bool
        Whether records between the points are counted.
    fine : int
        A lattice integer is divided into 2^fine points, so that the records that are equal to a
        drawn quantile can be divided between its sides.

    Raises
    ------
    InvalidArgument
        If the budget is too small to keep the records around the ranks.
    """
    purse = open_purse(event)
    share = 1 - COUNTS_SHARE if interval else Fraction(1)
    drawn = yield from drawn_points(
        purse,
        column,
        lattice,
        qs=qs,
        fine=fine,
        share=share,
        label="quantiles",
        joint=together(purse, qs, lattice, fine, share),
    )  # [M0], [M1]
    windows, points = drawn.windows, drawn.points
    counted = None
    if interval:
        counting = purse.noisy(_cells(windows, points), sensitivity=1, share=None)  # [M2]
        counts = yield from draw("counts", counting)
        counted = CellCounts(counts, counting.noise[0], drawn.least)
    evidence = QuantilesEvidence(lattice, qs, points, counted)
    axis = Axis.of(q=tuple(float(q) for q in qs))
    method = "joint" if drawn.joint else None
    return ArrayAnswer(evidence.values, (axis,), evidence, evidence.status, method)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Outcome of the law: its points, and the secret records around them.

    ``least``: records that there should be, so that no quantile is lost. ``joint``: which law.
    """

    points: tuple[int, ...]
    least: float
    windows: WindowsSummary = field(repr=False)
    joint: bool = False


def drawn_points(
    purse: Purse,
    column: str | None,
    lattice: Lattice,
    *,
    qs: tuple[Fraction, ...],
    fine: int,
    share: Fraction,
    label: str,
    joint: Together | None = None,
) -> Steps[Drawn]:
    """Draw one lattice integer a quantile, increasing, for a share of the budget.

    Where ``joint`` is given, a noisy number of records is drawn first, and the joint law is taken
    if they seem to be enough for it.

    Raises
    ------
    InvalidArgument
        If the budget is too small to keep the records around the ranks.
    """
    stretch, start = EVEN, purse.left

    def inside(points: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(min(stretch.value(z >> fine), lattice.last) for z in points)

    def words(outcome: tuple[int, ...]) -> str:
        return ", ".join(lattice.words(t) for t in inside(outcome))

    ends, reach, counted = (lattice.first, lattice.last), 0, Fraction(0)
    if joint is not None:
        counted, reach = joint.count_share, joint.reach
    # Less for the nodes takes wider windows.
    plan = purse.tree(qs, (lattice.width + 1) << fine, share=share - counted)
    windows = yield from need(Ask(column, lattice, _windows(purse.total, qs, plan, reach)))
    if joint is not None:
        counting = purse.noisy((windows.count,), sensitivity=1, share=counted)
        (count,) = yield from draw("count", counting)
        if joint.suits(count):
            part = joint.bulk_share(purse, count)
            if part:
                stretch = yield from bulk_of(purse, lattice, windows, part)
            terms, rest = joint.terms(count), share - (start - purse.left) / purse.total
            law = purse.joint(windows, ends, terms, fine=fine, stretch=stretch, share=rest)
            _, *points = yield from draw(label, law, lambda outcome: words(outcome[1:]))
            least = joint.least(lattice, count, stretch)
            return Drawn(inside(tuple(points)), least, windows, joint=True)
    nested = purse.nested(windows, ends, plan.nodes, fine=fine, share=share - counted)
    outcome = yield from draw(label, nested, words)
    least = max(_least(node, qs, lattice) for node in plan.nodes)
    return Drawn(inside(outcome), least, windows)


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
        reach = sum_bound(counted.noise, ((1 - share, c + 1), (share, cells - c - 1)), part)
        signs[c] = 0.0 if abs(excess) <= reach else math.copysign(1.0, excess)
    return signs


def _windows(total: Fraction, qs: tuple[Fraction, ...], plan: Plan, reach: int) -> RankWindows:
    """Ask for the records that the nodes' laws depend on, wherever their ends may lie.

    And at least for those within ``reach``.
    """
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
    """Records such that a node's rank surely lies between its ends, with probability 95 %.

    Where some point has loss up to 1/2, those of loss >= s weigh at most N e^(-rate (s - 1/2)).
    """
    at, q = [0.0, *map(float, qs), 1.0], float(node.q)
    between = at[node.right + 1] - at[node.left + 1]
    ranks = 0.5 + math.log((lattice.width + 1) / 0.05) / float(node.rate)
    return ranks / (between * min(q, 1 - q))
