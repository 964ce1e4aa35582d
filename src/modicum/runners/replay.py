"""The runner that replays given outcomes: exact joint log-densities, and what leaked into steps.

``replay`` drives the same generator as a real run, on a small data set, but takes every draw
from a list and adds up the log probabilities. Comparing two neighbouring data sets gives the
privacy loss of the whole multi-step release at those outcomes, computed and not sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from modicum.exact.entropy import SYSTEM
from modicum.mechanisms.law import Law
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.runners.live import Reader
from modicum.runners.request import Request
from modicum.steps import Ask, Draw, Need

__all__ = ["Replayed", "replay"]


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """Where a replay got to.

    Attributes
    ----------
    log_densities : tuple of float
        Log probability of each given outcome, in order.
    trail : tuple
        What an observer may know of the steps: every need, and each draw's label, law, event
        and public parameters. It must not depend on the data.
    waiting : Law or None
        The law that waits for an outcome, if the list ran out.
    answer : Answer or None
        The answer, if the run finished.
    """

    log_densities: tuple[float, ...]
    trail: tuple[object, ...]
    waiting: Law[Any] | None
    answer: Answer | None

    @property
    def log_density(self) -> float:
        """Joint log probability of the given outcomes."""
        return sum(self.log_densities)


def replay(request: Request, event: Event, reader: Reader, outcomes: Sequence[Any]) -> Replayed:
    """Run an estimator on data with its draws answered from a list.

    Parameters
    ----------
    request : Request
    event : Event
        What one row may cost.
    reader : Reader
        The data.
    outcomes : sequence
        One outcome a draw, in order; may stop early.
    """
    steps = request.begin(event)
    given: Iterator[Any] = iter(outcomes)
    densities: list[float] = []
    trail: list[object] = []
    reply: Any = None
    while True:
        try:
            step = steps.send(reply)
        except StopIteration as stop:
            return Replayed(tuple(densities), tuple(trail), None, stop.value)
        if isinstance(step, Need):
            trail.append(step.asks)
            reply = _read(reader, step.asks)
            continue
        assert isinstance(step, Draw)
        public = {name: repr(value) for name, value in step.law.public().items()}
        trail.append((step.label, type(step.law).__name__, step.law.event, public))
        try:
            reply = next(given)
        except StopIteration:
            return Replayed(tuple(densities), tuple(trail), step.law, None)
        densities.append(step.law.log_density(reply))


def _read(reader: Reader, asks: Sequence[Ask[Any]]) -> tuple[Any, ...]:
    # Subsamples are only summed over in a replay, never drawn, so no entropy is used.
    return tuple(reader.read(asks, SYSTEM))
