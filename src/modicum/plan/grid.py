"""A plan made again at other costs and other numbers of rows, for the curves of its page."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from modicum.errors import InvalidArgument
from modicum.plan import solve
from modicum.plan.asked import PlannedQuestion
from modicum.plan.record import PlanRecord
from modicum.privacy.budget import Budget
from modicum.sources.progress import watched

# Between two of them an error falls about like 1/n and 1/ε: a straight line in logarithms.
_FACTORS = tuple(map(Fraction, ("0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100")))
_THIN = tuple(map(Fraction, ("0.01", "0.1", "1", "10", "100")))
_DEAREST = 10
_RUNS, _THIN_RUNS = 32, 16
_MADE = 1 << 17  # numbers of a table that is made row by row
_SECONDS = 20.0
_STEPS = 10  # of a slider, for each factor of 10


class Point(NamedTuple):
    """What a plan says at a cost and a size: the error, and half of the 95 % interval.

    They are ``None`` where most answers cannot be used, and the half is where it has no bound.
    """

    error: float | None
    half: float | None
    status: str


_NOTHING = Point(None, None, "no plan: too few rows, or too small a cost, for this question")
_LEFT_OUT = Point(None, None, "not planned here: that takes long")


@dataclass(frozen=True, slots=True)
class Grid:
    """Plans at several costs and sizes.

    ``points[i][j]`` is at ``costs[i]`` and ``sizes[j]``, both increasing, from ``runs`` synthetic
    releases each; that of the plan itself is as it says. ``whole``: none was left out.
    """

    costs: tuple[Budget, ...]
    sizes: tuple[int, ...]
    points: tuple[tuple[Point, ...], ...]
    runs: int
    whole: bool


def grid_of(plan: PlanRecord, asked: PlannedQuestion) -> Grid:
    """Compute the plans around a plan, and show on a terminal how far that is.

    The plan's own cost comes first and the smallest last, since some releases take the longer the
    less they cost; what is not reached in some 20 seconds is left out.
    """
    task = asked.task(plan.budget)
    factors, runs = (_THIN, _THIN_RUNS) if asked.slow else (_FACTORS, _RUNS)
    runs = min(runs, task.effort.runs)
    costs, sizes = _costs(plan.budget, factors), _sizes(plan.n, factors, task.effort)
    end = time.process_time() + _SECONDS

    def late() -> bool:
        return time.process_time() > end

    def points() -> Iterator[tuple[int, Point]]:
        for cost in costs:
            for rows in sizes:
                own = (cost, rows) == (plan.budget, plan.n)
                yield 1, _own(plan) if own else _point(task, cost, rows, runs, late)

    number = len(costs) * len(sizes)
    found = [*watched(points(), "planning", "points", lambda: number)]
    table = {
        cost: tuple(found[place * len(sizes) : (place + 1) * len(sizes)])
        for place, cost in enumerate(costs)
    }
    reached = [cost for cost in costs if set(table[cost]) != {_LEFT_OUT}]
    reached.sort(key=lambda cost: cost.amount)
    shown = tuple(table[cost] for cost in reached)
    return Grid(tuple(reached), sizes, shown, runs, _LEFT_OUT not in found)


def _point(task: solve.Task, cost: Budget, rows: int, runs: int, late: Callable[[], bool]) -> Point:
    if late():
        return _LEFT_OUT
    try:
        found = task.found(cost, rows, runs, late)
    except InvalidArgument:
        return _NOTHING
    if found is None:
        return _LEFT_OUT
    return _shown(found.error, found.interval_width, found.status, usable=found.usable)


def _own(plan: PlanRecord) -> Point:
    return _shown(plan.error, plan.interval_width, plan.status, usable=plan.usable)


def _shown(error: float, width: float, status: str, *, usable: bool) -> Point:
    if not usable:
        return Point(None, None, status)
    return Point(error, width / 2 if math.isfinite(width) else None, status)


def _costs(budget: Budget, factors: Sequence[Fraction]) -> list[Budget]:
    """Costs around one, in the order in which they are computed."""
    others = {_rounded(budget.amount * each, 3) for each in factors if 1 != each <= _DEAREST}
    dear = sorted(others - {budget.amount}, reverse=True)
    return [budget, *(replace(budget, amount=each) for each in dear)]


def _sizes(rows: int, factors: Sequence[Fraction], effort: solve.Effort) -> tuple[int, ...]:
    """Sizes around a number of rows; where rows are made one by one, no very large ones."""
    most = effort.most_rows if effort.weighted else max(rows, _MADE // effort.columns)
    found = {max(1, int(_rounded(rows * each, 3))) for each in factors if each != 1}
    return tuple(sorted({each for each in found if each <= most} | {rows}))


def steps(own: Fraction, low: Fraction, high: Fraction) -> list[Fraction]:
    """Round values between two others, for a slider: ten for each factor of 10, and one's own.

    Examples
    --------
    >>> [float(x) for x in steps(Fraction(1), Fraction(1, 2), Fraction(2))]
    [0.5, 0.63, 0.79, 1.0, 1.3, 1.6, 2.0]
    """
    found = {_rounded(own * Fraction(10 ** (k / _STEPS)), 2) for k in range(-40, 41) if k}
    return sorted({each for each in found if low < each < high} | {low, own, high})


def _rounded(x: Fraction, digits: int) -> Fraction:
    return Fraction(f"{float(x):.{digits}g}")
