"""Depth first over the outcome tree of one query, with many data sets at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.audit.report import AuditReport, Leak, Path, StepReport
from modicum.audit.step import Measured, measure, sum_of
from modicum.audit.trail import Draws, Family
from modicum.mechanisms.base import ALPHAS, Floats, Mechanism
from modicum.privacy.budget import zcdp
from modicum.runtime.replay import Run

_COUNTED = ("count", "zeros and other values")  # the last number is that of most records
COUNTS = ((0,), (1,), (600,), (10_000,), (20_000,), (10**9,))
"""Noisy counts that lead an estimator into every branch of its schedule, on any data."""


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """A prefix of outcomes and what it has cost every pair so far."""

    draws: Draws
    signed: Floats  # (pairs,) joint log ratio
    bound: Floats  # (pairs,) sum of the steps' worst absolute log ratios
    rho: Floats  # (pairs, 2, ALPHAS) sum of the steps' divergences over α
    drawn: Fraction


class Search:
    """A comparison of data sets at every branch, and the worst cases so far.

    ``pairs``, of shape (m, 2), are positions of neighbours in ``family.data``; ``values`` and
    ``widths`` are those of :func:`modicum.audit.check`.
    """

    def __init__(
        self,
        family: Family,
        pairs: NDArray[np.intp],
        values: Mapping[str, Sequence[Any]] | None,
        widths: Sequence[int],
    ) -> None:
        self._family, self._pairs, self._values, self._widths = family, pairs, values, widths
        self._concentrated = family.event.concentrated
        self._branches = 0
        self._leak: Leak | None = None
        self._drawn = Fraction(0)
        self._worst, self._bound = -1.0, 0.0
        self._where = Path(family.data[0], family.data[0], ())
        self._steps: dict[str, StepReport] = {}

    def _visit(self, branch: _Branch, shown: tuple[list[Run], Leak | None]) -> None:
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
            event=runs[0].event,
            renyi=self._concentrated,
            forced=self._forced(label, mechanisms[0]),
            width=self._widths[min(len(branch.draws), len(self._widths) - 1)],
        )
        cost = step.event.amount_in(self._family.event.kind)
        self._drawn = max(self._drawn, branch.drawn + cost)
        self._note_step(branch, label, step)
        self._note_total(branch, label, step)
        for i, (outcome, ratios) in enumerate(step.children):
            after = _Branch(
                (*branch.draws, (label, outcome)),
                sum_of([branch.signed, ratios]),
                branch.bound + step.size,
                branch.rho if step.rho is None else branch.rho + step.rho,
                branch.drawn + cost,
            )
            # The runs at hand go on with the first outcome; others start afresh.
            self._visit(
                after,
                self._family.start(after.draws) if i else self._family.advance(runs, after.draws),
            )

    def _forced(self, label: str, mechanism: Mechanism[Any]) -> Sequence[Any]:
        """Outcomes that are explored in any case."""
        if self._values is not None:
            return self._values.get(label, ())
        if label not in _COUNTED:
            return ()
        return [(0,) * (mechanism.dimension - 1) + count for count in COUNTS]

    def _note_step(self, branch: _Branch, label: str, step: Measured) -> None:
        pair = int(step.loss.argmax())
        path = self._path(branch, label, step, pair, upwards=step.high[pair] >= -step.low[pair])
        found = StepReport(label, step.event, float(step.loss[pair]), path)
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
            self._where = self._path(branch, label, step, pair, upwards=upwards[pair])

    def _path(
        self, branch: _Branch, label: str, step: Measured, pair: int, *, upwards: np.bool_
    ) -> Path:
        one, other = self._pairs[pair]
        outcome = step.extremes[0 if upwards else 1][pair]
        draws = (*branch.draws, (label, outcome))
        return Path(self._family.data[one], self._family.data[other], draws)

    def report(self) -> AuditReport:
        """Compare the data sets at every branch, and report the worst."""
        pairs, query = len(self._pairs), self._family.query
        none = np.zeros(pairs)
        start = _Branch((), none, none, np.zeros((pairs, 2, len(ALPHAS))), Fraction(0))
        self._visit(start, self._family.start(()))
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
            pairs=pairs,
            branches=self._branches,
            leak=self._leak,
        )
