"""Solve a plan: simulate releases at a price and a size, and search for what is missing."""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.plan.search import least_enough, round_up
from modicum.plan.shapes import Shape
from modicum.plan.table import Population, Table
from modicum.plan.trial import Trial, Truth, trial
from modicum.privacy.budget import Budget, Number, chosen_budget, pure
from modicum.privacy.unit import Unit
from modicum.runners.request import Question

__all__ = ["Found", "Task", "open_price"]

RUNS = 64
_SEARCH_RUNS = 8  # enough to come close; the answer is then checked with RUNS
_CORRECTIONS = 4
_LEAST_EPSILON, _LARGEST_EPSILON = 1e-5, 100.0
_MOST_ROWS = 10**12


@dataclass(frozen=True, slots=True)
class Found:
    """A price and a number of rows, and what synthetic releases gave there."""

    price: Budget
    rows: int
    trials: tuple[Trial, ...]

    @property
    def error(self) -> float:
        """Expected absolute error."""
        return self._average([t.error for t in self.trials])

    def _average(self, values: Sequence[float]) -> float:
        weights = [t.weight for t in self.trials]
        return math.fsum(map(operator.mul, weights, values)) / math.fsum(weights)

    def _median(self, values: Sequence[float]) -> float:
        weights = [t.weight for t in self.trials]
        ordered = sorted(zip(values, weights, strict=True))
        upto = list(accumulate(weight for _, weight in ordered))
        return ordered[bisect_left(upto, upto[-1] / 2)][0]

    def fields(self, statistic: str, method: str, unit: Unit, wanted: float | None) -> Any:
        """Arguments of a :class:`~modicum.plan.card.Plan`."""
        statuses = [t.status for t in self.trials]
        methods = [t.method or method for t in self.trials]
        return {
            "statistic": statistic,
            "method": max(methods, key=methods.count),
            "budget": self.price,
            "unit": unit,
            "n": self.rows,
            "error": self.error,
            "wanted": wanted,
            "interval_width": self._median([t.interval_width for t in self.trials]),
            "passes": max(t.passes for t in self.trials),
            "events": tuple((entry.label, entry.event) for entry in self.trials[0].journal),
            "status": max(statuses, key=statuses.count),
        }


@dataclass(frozen=True, slots=True)
class Task:
    """A question whose ``budget=`` is open, and the kind of data it would be asked of.

    ``truth`` computes the statistic of a table without privacy, in the unit of the data: a
    number, a tuple if the question is answered by several, or as for :func:`trial`.
    """

    question: Callable[..., Question[Any]]
    truth: Callable[[Table], Truth]
    shape: Shape
    lattice: Lattice
    unit: Unit

    def solve(self, price: Budget | None, n: int | None, error: float | None) -> Found:
        """Find which of price, rows and error is missing, and the error there.

        Raises
        ------
        InvalidArgument
            If not exactly two are given, if one is not positive, or if no price or size in the
            searched range is enough.
        """
        rows = None if n is None else _checked_rows(n)
        wanted = None if error is None else _checked_error(error)
        # Bad arguments are refused at once, whatever is to be found.
        self.question(budget=price if price is not None else pure(1))
        if price is not None and rows is not None and wanted is None:
            return self._simulated(price, rows, RUNS)
        if price is None and rows is not None and wanted is not None:
            return self._search(
                lambda x: (pure(round_up(x)), rows), wanted, _LEAST_EPSILON, _LARGEST_EPSILON
            )
        if price is not None and rows is None and wanted is not None:
            return self._search(
                lambda x: (price, math.ceil(round_up(x))), wanted, 1.0, float(_MOST_ROWS)
            )
        raise InvalidArgument(
            "of the price (epsilon=, rho= or budget=), n= and error= give exactly two; "
            "the third is found"
        )

    def _search(
        self, at: Callable[[float], tuple[Budget, int]], wanted: float, low: float, high: float
    ) -> Found:
        start = min(max(1.0, low), high) if high <= _LARGEST_EPSILON else 1e4
        x = least_enough(
            lambda x: self._simulated(*at(x), _SEARCH_RUNS).error,
            wanted,
            start=start,
            low=low,
            high=high,
        )
        for _ in range(_CORRECTIONS):
            if x is None or x > high:
                break
            found = self._simulated(*at(x), RUNS)
            if found.error <= wanted:
                return found
            x *= 1.02 * found.error / wanted
        raise InvalidArgument(
            f"error={wanted:g} cannot be reached by any "
            + ("ε up to 100" if high == _LARGEST_EPSILON else "n up to 10^12")
            + " for this shape"
        )

    def _simulated(self, price: Budget, rows: int, runs: int) -> Found:
        request = self.question(budget=price)
        population = Population.of(self.shape, self.lattice, rows)
        trials = []
        for i in range(runs):
            table = population.table(SeededEntropy(f"plan, table {i}"))
            truth = self.truth(table)
            trials.append(trial(request, table, truth, unit=self.unit, number=i, runs=runs))
        return Found(price, rows, tuple(trials))


def open_price(epsilon: Number | None, rho: Number | None, budget: Budget | None) -> Budget | None:
    """Return the price, or None if it is to be found."""
    if epsilon is None and rho is None and budget is None:
        return None
    return chosen_budget(epsilon, rho, budget)


def _checked_rows(n: object) -> int:
    whole = isinstance(n, int | float) and not isinstance(n, bool) and n == n // 1
    if not (whole and 1 <= n <= _MOST_ROWS):  # type: ignore[operator]
        raise InvalidArgument(f"n must be a whole number from 1 to 10^12, got {n!r}")
    return int(n)  # type: ignore[call-overload, no-any-return]


def _checked_error(error: object) -> float:
    if isinstance(error, bool) or not (
        isinstance(error, int | float) and math.isfinite(error) and error > 0
    ):
        raise InvalidArgument(f"error must be a positive number, got {error!r}")
    return float(error)
