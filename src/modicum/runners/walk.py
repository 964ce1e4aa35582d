"""One estimator on its way through its steps: draws, journal, allowance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import Law
from modicum.privacy.event import Event
from modicum.release import Entry, Finding, plain
from modicum.steps import Ask, Draw, Need, Step, Steps

__all__ = ["Walk", "draw_together"]


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
        self._left = self.allowance.cost(self.allowance.kind).amount

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
            self.take(self.step, sample(self.paid(self.step)))

    def paid(self, step: Draw) -> Law[Any]:
        """Take the price of a draw from the allowance, and return its law."""
        self._left -= step.law.event.cost(self.allowance.kind).amount
        if self._left < 0:
            raise AssertionError("a draw would cost more than was charged for its run")
        return step.law

    def take(self, step: Draw, outcome: Any) -> None:
        """Note the outcome of a draw, and go on with it."""
        law = step.law
        parameters = {name: plain(value) for name, value in law.public().items()}
        said = "" if step.words is None else step.words(outcome)
        self.journal.append(Entry(step.label, law.name, parameters, outcome, said, law.event))
        self._resume(outcome)

    def _resume(self, reply: Any) -> None:
        try:
            self.step = self.steps.send(reply)
        except StopIteration as stop:
            self.step, self.answer = None, stop.value


def draw_together(walks: Iterable[Walk], entropy: Entropy) -> None:
    """Answer draws until every walk needs data or is done; laws of a kind are drawn together."""
    walks = list(walks)
    while waiting := [(walk, walk.step) for walk in walks if isinstance(walk.step, Draw)]:
        kinds: dict[tuple[type[Law[Any]], str], list[tuple[Walk, Draw]]] = {}
        for walk, step in waiting:
            kinds.setdefault((type(step.law), step.law.name), []).append((walk, step))
        for (kind, _), those in kinds.items():
            laws = [walk.paid(step) for walk, step in those]
            outcomes = kind.sample_many(laws, entropy)
            for (walk, step), outcome in zip(those, outcomes, strict=True):
                walk.take(step, outcome)
