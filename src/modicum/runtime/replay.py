"""Replaying given outcomes: exact joint log-densities, and what leaked into steps.

``replay`` drives the same generator as a real run, on a small data set, but takes every draw
from a list and adds up the log probabilities. Comparing two neighbouring data sets gives the
privacy loss of the whole multi-step release at those outcomes, computed and not sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modicum.exact.entropy import SYSTEM
from modicum.mechanisms.base import Mechanism
from modicum.privacy.event import Event
from modicum.releases.release import Estimate
from modicum.runtime.query import Query
from modicum.runtime.run import Reader
from modicum.runtime.steps import Draw


class Run:
    """One run of an estimator, halted at every draw.

    ``trail`` is what an observer may know of the steps so far: every read, and the label,
    mechanism, event and public parameters of each draw. It must not depend on the data. ``waiting``
    is the mechanism that waits for an outcome, at the cost ``event``, and ``answer`` the estimate,
    if the run finished. ``log_densities`` are the log probabilities of the outcomes that
    :func:`replay` gave, in order.
    """

    def __init__(self, query: Query[Any], event: Event, reader: Reader) -> None:
        self._steps = query.begin(event)
        self._reader = reader
        self.trail: list[object] = []
        self.log_densities: list[float] = []
        self.waiting: Mechanism[Any] | None = None
        self.event = event
        self.answer: Estimate[Any] | None = None
        self.give(None)

    @property
    def log_density(self) -> float:
        """Joint log probability of the given outcomes."""
        return sum(self.log_densities)

    def give(self, outcome: Any) -> None:
        """Answer the draw that waits and go on to the next one (``None``: to the first)."""
        reply = outcome
        while True:
            try:
                step = self._steps.send(reply)
            except StopIteration as stop:
                self.waiting, self.answer = None, stop.value
                return
            if isinstance(step, Draw):
                public = {name: repr(value) for name, value in step.mechanism.public().items()}
                self.trail.append((step.label, step.mechanism.name, step.event, public))
                self.waiting, self.event = step.mechanism, step.event
                return
            self.trail.append(step.reads)
            # Subsamples are only summed over in a replay, never drawn: no entropy is used.
            reply = tuple(self._reader.read(step.reads, SYSTEM))


def replay(query: Query[Any], event: Event, reader: Reader, outcomes: Sequence[Any]) -> Run:
    """Run an estimator on data with its draws answered from a list, which may stop early.

    ``event`` is what one row may cost.
    """
    run = Run(query, event, reader)
    for outcome in outcomes:
        if run.waiting is None:
            break
        run.log_densities.append(run.waiting.log_density(outcome))
        run.give(outcome)
    return run
