"""The two steps of an estimator: read a reduction of the data, and draw from a mechanism.

An estimator is a generator. It yields :class:`Reads` and :class:`Draw` and nothing else, receives
summaries and outcomes, and returns its answer. It never sees rows or randomness. An interpreter
decides how a step is carried out: on real data, on a given list of outcomes, or on a synthetic
table.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

from modicum.mechanisms import additive, base
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.summaries.base import Read

T = TypeVar("T")
S = TypeVar("S")


class Reads(NamedTuple):
    """Reductions that the estimator waits for; a runner may share their pass."""

    reads: tuple[Read[Any], ...]


class Draw(NamedTuple):
    """A mechanism to sample once, with the name of the outcome in the transcript.

    ``words`` says an outcome in the units of the data, from public parameters and outcomes only. A
    person may have so many ``records`` in what it draws from, as the run's unit bounds them.
    """

    label: str
    mechanism: base.Mechanism[Any]
    words: Callable[[Any], str] | None = None
    records: int = 1

    @property
    def event(self) -> Event:
        """What the draw costs all the records of a person together."""
        event = self.mechanism.event
        return event if self.records == 1 else event.for_records(self.records)


Step = Reads | Draw
Steps = Generator[Step, Any, T]


def read(ask: Read[S]) -> Steps[S]:
    """Read one reduction and return its summary."""
    (summary,) = yield Reads((ask,))
    return summary  # type: ignore[no-any-return]


def read_both(first: Read[S], second: Read[T]) -> Steps[tuple[S, T]]:
    """Read two reductions in the same pass."""
    summary, other = yield Reads((first, second))
    return summary, other


def draw(
    label: str, mechanism: base.Mechanism[T], words: Callable[[T], str] | None = None
) -> Steps[T]:
    """Draw from a mechanism and return the outcome; the runner charges before the first draw."""
    outcome = yield Draw(label, mechanism, words)
    return outcome  # type: ignore[no-any-return]


def draw_count(
    split: BudgetSplit, records: int, share: Share, label: str = "count"
) -> Steps[tuple[int, additive.Noise]]:
    """Draw a number of records with noise, and return the noise too.

    One record more changes the number by 0 or 1: a wide table may cap it at a public number.
    """
    mechanism = split.spend(additive.add_noise((records,), share, sensitivity=1))
    (noisy,) = yield from draw(label, mechanism)
    return noisy, mechanism.noise[0]


def changed(change: Callable[[Reads | Draw], Reads | Draw], steps: Steps[T]) -> Steps[T]:
    """Carry out the steps of an estimator, each changed before it is taken."""
    received = None
    while True:
        try:
            step = steps.send(received)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        received = yield change(step)


def reading(
    change: Callable[[Read[Any]], Read[Any]], steps: Steps[T], records: int = 1
) -> Steps[T]:
    """Carry out the steps of an estimator with other data read in place of its own.

    Of these a person may have so many ``records``.
    """

    def other(step: Reads | Draw) -> Reads | Draw:
        if isinstance(step, Reads):
            return Reads(tuple(change(ask) for ask in step.reads))
        return step._replace(records=step.records * records)

    return changed(other, steps)


def labelled(prefix: str, steps: Steps[T]) -> Steps[T]:
    """Carry out the steps of an estimator with a prefix to the names of its draws."""
    return changed(
        lambda step: step if isinstance(step, Reads) else step._replace(label=prefix + step.label),
        steps,
    )
