"""Depth first over the outcome tree of one query, with many data sets at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.audit.report import AuditReport, Leak, Path, StepReport
from modicum.audit.step import Child, Measured, measure, sum_of
from modicum.audit.trail import Draws, Family
from modicum.mechanisms.base import ALPHAS, Mechanism
from modicum.privacy.budget import zcdp
from modicum.runtime.replay import Run

COUNTS = ((0,), (1,), (600,), (10_000,), (20_000,), (10**9,))
"""Noisy counts that lead an estimator into every branch of its schedule, on any data."""


@dataclass(frozen=True, slots=True)
class Search:
    """From which outcomes to explore further.

    ``values`` has outcomes, by the label of their draw, that are explored in any case; ``None``
    stands for :data:`COUNTS` at a draw of integer noise that is called "count". ``widths`` says how
    many other outcomes are explored at the first draw, the second, ...; the last number holds for
    all later draws.
    """

    values: Mapping[str, Sequence[Any]] | None
    widths: Sequence[int]

    def forced(self, label: str, mechanism: Mechanism[Any]) -> Sequence[Any]:
        """Outcomes that are explored in any case."""
        if self.values is not None:
            return self.values.get(label, ())
        return COUNTS if label == "count" and mechanism.dimension == 1 else ()

    def width(self, depth: int) -> int:
        """Other outcomes at this depth."""
        return self.widths[min(depth, len(self.widths) - 1)]


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """A prefix of outcomes and what it has cost every pair so far."""

    draws: Draws
    signed: NDArray[np.float64]  # (pairs,) joint log ratio
    bound: NDArray[np.float64]  # (pairs,) sum of the steps' worst absolute log ratios
    rho: NDArray[np.float64]  # (pairs, 2, ALPHAS) sum of the steps' divergences over α
    drawn: Fraction

    def then(self, label: str, child: Child, step: Measured, price: Fraction) -> _Branch:
        return _Branch(
            (*self.draws, (label, child.outcome)),
            sum_of([self.signed, child.ratios]),
            self.bound + step.size,
            self.rho if step.rho is None else self.rho + step.rho,
            self.drawn + price,
        )


def explore(family: Family, pairs: Sequence[tuple[int, int]], search: Search) -> AuditReport:
    """Compare the data sets at every branch, and report the worst.

    ``pairs`` are positions of neighbours in ``family.data``.
    """
    walk = _Walk(family, np.array(pairs, dtype=np.intp).reshape(-1, 2), search)
    walk.visit(
        _Branch(
            (),
            np.zeros(len(pairs)),
            np.zeros(len(pairs)),
            np.zeros((len(pairs), 2, len(ALPHAS))),
            Fraction(0),
        ),
        family.start(()),
    )
    return walk.report()


class _Walk:
    """The search under way: worst cases so far."""

    def __init__(self, family: Family, pairs: NDArray[np.intp], search: Search) -> None:
        self._family, self._pairs, self._search = family, pairs, search
        self._concentrated = family.event.concentrated
        self._branches = 0
        self._leak: Leak | None = None
        self._drawn = Fraction(0)
        self._worst, self._bound = -1.0, 0.0
        self._where = Path(family.data[0], family.data[0], ())
        self._steps: dict[str, StepReport] = {}

    def visit(self, branch: _Branch, shown: tuple[list[Run], Leak | None]) -> None:
        """Compare the data sets at this branch, then at those that follow."""
        self._branches += 1
        runs, leak = shown
        if leak is not None:  # whoever sees it need not look at the outcomes
            self._leak = self._leak or leak
            return
        mechanisms = [run.waiting for run in runs if run.waiting is not None]
        if not mechanisms:
            return
        label = str(runs[0].trail[-1][0])  # type: ignore[index]
        step = measure(
            mechanisms,
            self._pairs,
            renyi=self._concentrated,
            forced=self._search.forced(label, mechanisms[0]),
            width=self._search.width(len(branch.draws)),
        )
        price = step.event.cost(self._family.event.kind).amount
        self._drawn = max(self._drawn, branch.drawn + price)
        self._note_step(branch, label, step)
        self._note_total(branch, label, step)
        for i, child in enumerate(step.children):
            after = branch.then(label, child, step, price)
            # The runs at hand go on with the first outcome; others start afresh.
            self.visit(
                after,
                self._family.start(after.draws) if i else self._family.advance(runs, after.draws),
            )

    def _note_step(self, branch: _Branch, label: str, step: Measured) -> None:
        pair = int(step.loss.argmax())
        outcome = self._extreme(step, pair, upwards=step.high[pair] >= -step.low[pair])
        found = StepReport(
            label, step.event, float(step.loss[pair]), self._path(branch, label, outcome, pair)
        )
        known = self._steps.get(label)
        if known is None or found.used > known.used:
            self._steps[label] = found

    def _note_total(self, branch: _Branch, label: str, step: Measured) -> None:
        # [audit.5]
        if self._concentrated:
            assert step.rho is not None
            totals = (branch.rho + step.rho).max(axis=(1, 2))
            bound = totals
            upwards = step.high >= -step.low
        else:
            ends = sum_of([branch.signed, step.high]), -sum_of([branch.signed, step.low])
            totals, upwards = np.maximum(*ends), ends[0] >= ends[1]
            bound = branch.bound + step.size
        self._bound = max(self._bound, float(bound.max()))
        pair = int(totals.argmax())
        if totals[pair] > self._worst:
            self._worst = float(totals[pair])
            outcome = self._extreme(step, pair, upwards=bool(upwards[pair]))
            self._where = self._path(branch, label, outcome, pair)

    def _extreme(self, step: Measured, pair: int, *, upwards: bool) -> Any:
        return step.extremes[0 if upwards else 1][pair]

    def _path(self, branch: _Branch, label: str, outcome: Any, pair: int) -> Path:
        one, other = self._pairs[pair]
        draws = (*branch.draws, (label, outcome))
        return Path(self._family.data[one], self._family.data[other], draws)

    def report(self) -> AuditReport:
        query = self._family.query
        kept = query.budget if query.rho is None else zcdp(query.rho)
        return AuditReport(
            statistic=query.statistic,
            method=query.method,
            kind=kept.kind,
            claimed=kept.amount,
            worst=max(self._worst, 0.0),
            bound=self._bound,
            where=self._where,
            steps=tuple(self._steps.values()),
            drawn=self._drawn,
            pairs=len(self._pairs),
            branches=self._branches,
            leak=self._leak,
        )
