"""Solve a plan: synthetic releases at a cost and a size, and a search for what is missing."""

from __future__ import annotations

import math
import operator
import statistics
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from modicum.errors import InvalidArgument, as_given
from modicum.plan.shapes import is_number
from modicum.plan.trial import Trial
from modicum.privacy.budget import Budget, pure
from modicum.privacy.event import Event
from modicum.runtime.query import Query

Simulated = Callable[[Query[Any], int, int], Iterator[Trial]]

_LARGE = 0.05  # share of the cost from which on a draw is named
_CORRECTIONS = 4
_LARGEST_EPSILON = 100.0
_CLOSE = 1.05  # finer than the simulation is certain
_STEPS = 40
_LARGEST_JUMP = 100.0


class Effort(NamedTuple):
    """How plans from one kind of data are searched.

    ``columns`` are read together. ``runs`` and ``search_runs`` are the synthetic releases of an
    answer, and of a step of the search: enough to come close. ``limit`` is ``most_rows`` in words,
    and ``hint`` what to do beyond. A search for rows begins at ``first_rows``. ``further(error,
    wanted)`` is the factor by which a cost or a size grows that was found, but whose error turns
    out to be too large. ``weighted`` says whether runs count differently, since radii are not drawn
    by chance. The defaults are those of one column.
    """

    columns: int = 1
    runs: int = 64
    search_runs: int = 8
    least_epsilon: float = 1e-5
    most_rows: int = 10**12
    limit: str = "10^12"
    hint: str = ""
    first_rows: float = 1e4
    further: Callable[[float, float], float] = lambda error, wanted: 1.02 * error / wanted
    weighted: bool = True


@dataclass(frozen=True, slots=True)
class Solved:
    """A cost and a number of rows, and what synthetic releases gave there."""

    cost: Budget
    rows: int
    trials: Sequence[Trial]
    weighted: bool

    @property
    def error(self) -> float:
        """Expected absolute error."""
        weights = [t.weight for t in self.trials]
        # Errors may be near the largest float, and their sum beyond it.
        _, power = math.frexp(max(t.error for t in self.trials))
        errors = [math.ldexp(t.error, -power) for t in self.trials]
        mean = math.fsum(map(operator.mul, weights, errors)) / math.fsum(weights)
        return math.ldexp(mean, power)

    @property
    def interval_width(self) -> float:
        """Median width of the 95 % interval."""
        if not self.weighted:
            return statistics.median(t.interval_width for t in self.trials)
        ordered = sorted((t.interval_width, t.weight) for t in self.trials)
        upto = list(accumulate(weight for _, weight in ordered))
        return ordered[bisect_left(upto, upto[-1] / 2)][0]

    @property
    def usable(self) -> bool:
        """Whether most answers can be used."""
        return 2 * sum(t.usable for t in self.trials) > len(self.trials)

    @property
    def status(self) -> str:
        """What most answers warn of."""
        statuses = [t.status for t in self.trials]
        return max(statuses, key=statuses.count)

    @property
    def _events(self) -> tuple[tuple[str, Event], ...]:
        """The draws of a release that draws what most do, and what each costs."""
        drawn = [tuple((each.label, each.event) for each in t.transcript) for t in self.trials]
        labels = [tuple(label for label, _ in each) for each in drawn]
        return drawn[labels.index(max(labels, key=labels.count))]

    def fields(self) -> Any:
        """The fields of a :class:`~modicum.plan.summary.Plan` that follow from the releases."""
        methods = [t.method for t in self.trials]
        return {
            "method": max(methods, key=methods.count),
            "budget": self.cost,
            "n": self.rows,
            "error": self.error,
            "interval_width": self.interval_width,
            "passes": max(t.passes for t in self.trials),
            "events": self._events,
            "status": self.status,
            "usable": self.usable,
        }


@dataclass(frozen=True, slots=True)
class Task:
    """A query whose budget is open, and how it is answered from synthetic data.

    ``question(budget=...)`` is a :class:`~modicum.runtime.query.Query`; ``simulated(query, rows,
    runs)`` makes synthetic releases.
    """

    question: Callable[..., Query[Any]]
    simulated: Simulated
    effort: Effort

    def solve(self, cost: Budget | None, n: object, error: object) -> Solved:
        """Find which of cost, rows and error is missing, and the error there.

        Exactly two are given. It is an error if no cost or size in the searched range is enough.
        """
        rows = None if n is None else self._checked_rows(n)
        wanted = None if error is None else _checked_error(error)
        if [cost, rows, wanted].count(None) != 1:
            raise InvalidArgument(
                "of the cost (epsilon=, rho= or budget=), n= and error= give exactly two; "
                "the third is found"
            )
        if wanted is None:
            assert cost is not None
            assert rows is not None
            return self._found(cost, rows, self.effort.runs)
        return self._search(cost, rows, wanted)

    def found(
        self, cost: Budget, rows: int, runs: int, late: Callable[[], bool] = lambda: False
    ) -> Solved | None:
        """Make so many synthetic releases at a cost and a size; ``None`` if it gets ``late``."""
        asked = self.question(budget=cost).of_width(self.effort.columns, cost.kind)
        trials = []
        for each in self.simulated(asked, rows, runs):
            if late():
                return None
            trials.append(each)
        return Solved(cost, rows, trials, self.effort.weighted)

    def _found(self, cost: Budget, rows: int, runs: int) -> Solved:
        found = self.found(cost, rows, runs)
        assert found is not None
        return found

    def _search(self, cost: Budget | None, rows: int | None, wanted: float) -> Solved:
        """Find the least cost for a size, or the least size for a cost."""
        effort = self.effort
        if cost is None:
            low, high, start = effort.least_epsilon, _LARGEST_EPSILON, 1.0
        else:
            low, high = 1.0, float(effort.most_rows)
            start = min(effort.first_rows, high)

        def found(x: float, runs: int) -> Solved:
            if cost is not None:
                return self._found(cost, min(math.ceil(round_up(x)), effort.most_rows), runs)
            assert rows is not None
            return self._found(pure(round_up(x)), rows, runs)

        x = least_enough(
            lambda x: found(x, effort.search_runs).error, wanted, start=start, low=low, high=high
        )
        for _ in range(_CORRECTIONS):
            if x is None or x > high:
                break
            here = found(x, effort.runs)
            if here.error <= wanted:
                return here
            x *= effort.further(here.error, wanted)
        if found(high, effort.runs).error <= wanted:
            raise InvalidArgument(
                f"error={wanted:g} is more than that of any answer that can be used for this "
                "shape: give a smaller error"
            )
        where = "ε up to 100 for this shape"
        if cost is not None:
            where = f"n up to {effort.limit} for this shape{effort.hint}"
        raise InvalidArgument(f"error={wanted:g} cannot be reached by any {where}")

    def _checked_rows(self, n: object) -> int:
        effort = self.effort
        if not (is_number(n) and n == n // 1 and 1 <= n <= effort.most_rows):
            limit = f"from 1 to {effort.limit}, got {as_given(n)}{effort.hint}"
            raise InvalidArgument(f"n must be a whole number {limit}")
        return int(n)


def _checked_error(error: object) -> float:
    if not (is_number(error) and error > 0):
        raise InvalidArgument(f"error must be a positive number, got {as_given(error)}")
    return float(error)


def round_up(x: float) -> float:
    """Round up to three significant digits.

    Examples
    --------
    >>> round_up(0.083412), round_up(1234.0), round_up(0.5)
    (0.0835, 1240.0, 0.5)
    """
    text = f"{x:.2e}"
    if float(text) < x:
        mantissa, _, exponent = text.partition("e")
        text = f"{float(mantissa) + 0.01:.2f}e{exponent}"
    return float(text)


def least_enough(
    error_at: Callable[[float], float], wanted: float, *, start: float, low: float, high: float
) -> float | None:
    """About the least x in [low, high] with ``error_at(x) <= wanted``, or None.

    Errors are about proportional to 1/x, but for a jump where data become too few; so a step first
    trusts that, and falls back to halving the bracket.

    Examples
    --------
    >>> least_enough(lambda x: 5 / x, 1, start=1, low=0.01, high=100)
    5.0
    """
    bad, good = low / _CLOSE, math.inf
    x = start
    for _ in range(_STEPS):
        error = error_at(x)
        if error <= wanted:
            good = x
            if x <= low or error >= wanted / _CLOSE:
                return x
        elif x >= high:
            return None
        else:
            bad = x
        if good <= bad * _CLOSE:
            return good
        factor = error / wanted if error > 0 else 0.0
        x = x * min(max(factor, 1 / _LARGEST_JUMP), _LARGEST_JUMP)
        if not bad < x < good:
            x = math.sqrt(bad * good) if good < math.inf else bad * 2
        x = min(max(x, low), high)
    return good if good < math.inf else None


def spent_on(events: Sequence[tuple[str, Event]], budget: Budget) -> str:
    """Shares of the cost, largest first; small ones together. Events have all of them."""
    costs = [(event.amount_in(budget.kind), label) for label, event in events]
    total = sum(cost for cost, _ in costs)
    if len(costs) == 1 or not total:
        return ", ".join(label for _, label in costs)
    shares = sorted(((float(cost / total), label) for cost, label in costs), reverse=True)
    large = [each for each in shares if each[0] >= _LARGE]
    rest = shares[len(large) :]
    words = [f"{label} {100 * share:.0f} %" for share, label in large]
    if rest:
        others = "other draw" if len(rest) == 1 else "other draws"
        words.append(f"{len(rest)} {others} {100 * sum(share for share, _ in rest):.0f} %")
    return ", ".join(words)
