"""One estimator on its way through its steps: draws, journal, allowance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from modicum.mechanisms.law import Law
from modicum.privacy.event import Event, cost, own_kind
from modicum.release import Entry, Finding, plain
from modicum.steps import Ask, Draw, Need, Step, Steps

__all__ = ["Walk"]


@dataclass(slots=True)
class Walk:
    """An estimator that has been started and waits at a step, or has its answer.

    Its draws are paid from ``allowance``, the event that was charged for the whole run; a draw
    that would exceed it is refused before it happens.
    """

    steps: Steps[Finding[Any]]
    allowance: Event
    step: Step | None = None
    answer: Finding[Any] | None = None
    journal: list[Entry] = field(default_factory=list)
    _left: Fraction = field(init=False)

    def __post_init__(self) -> None:
        """Open the account of its draws."""
        self._left = cost(self.allowance, own_kind(self.allowance)).amount

    def start(self) -> None:
        """Run to the first step."""
        self._resume(None)

    @property
    def asks(self) -> tuple[Ask[Any], ...]:
        """What it waits for; nothing if it waits at a draw or is done."""
        return self.step.asks if isinstance(self.step, Need) else ()

    def supply(self, summaries: tuple[Any, ...]) -> None:
        """Answer the need it waits at."""
        self._resume(summaries)

    def draw_all(self, sample: Callable[[Law[Any]], Any]) -> None:
        """Answer draws until it needs data or is done."""
        while isinstance(self.step, Draw):
            label, law, words = self.step.label, self.step.law, self.step.words
            self._pay(law.event)
            outcome = sample(law)
            parameters = {name: plain(value) for name, value in law.public().items()}
            said = "" if words is None else words(outcome)
            name = type(law).__name__
            self.journal.append(Entry(label, name, parameters, outcome, said, law.event))
            self._resume(outcome)

    def _pay(self, event: Event) -> None:
        self._left -= cost(event, own_kind(self.allowance)).amount
        if self._left < 0:
            raise AssertionError("a draw would cost more than was charged for its run")

    def _resume(self, reply: Any) -> None:
        try:
            self.step = self.steps.send(reply)
        except StopIteration as stop:
            self.step, self.answer = None, stop.value
