"""Answering queries from data: read, charge, draw, in that order.

Any number of queries run together. The reductions that they wait for are collected and answered by
one pass, then all of them are resumed. So together they make no more passes than the slowest alone.

Every group of rows gets the same queries, in the same passes. Every row is in one group at most,
and a group's releases depend on its rows only. So all groups together are one product mechanism,
which costs one row what a single group costs it (parallel composition,
docs/research/proofs/groups.md):
there is one charge, the cost of one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import Mechanism
from modicum.privacy.event import Event, check_size
from modicum.privacy.unit import Unit
from modicum.releases.publishing.plain import plain
from modicum.releases.release import Estimate, TranscriptEntry
from modicum.runtime.query import Query
from modicum.runtime.steps import Draw, Reads, Step, Steps
from modicum.sources.progress import watched
from modicum.summaries.base import Read

_ALL: Mapping[str, Fraction] = MappingProxyType({})


@dataclass(slots=True)
class LiveRun:
    """An estimator that waits at a step, or has its answer.

    ``allowance`` is the event that was charged for the whole run. A draw that would exceed what is
    left of it is refused before it happens.
    """

    steps: Steps[Estimate[Any]]
    allowance: Event
    step: Step | None = None
    answer: Estimate[Any] | None = None
    transcript: list[TranscriptEntry] = field(default_factory=list)
    _left: Fraction = field(init=False)

    def __post_init__(self) -> None:
        """Run to the first step."""
        self._left = self.allowance.amount_in(self.allowance.kind)
        self.resume(None)

    @property
    def left(self) -> Fraction:
        """The part of the allowance that was not spent."""
        return self._left / self.allowance.amount_in(self.allowance.kind)

    @property
    def reads(self) -> tuple[Read[Any], ...]:
        """The reductions that it waits for; empty if it waits at a draw or is done."""
        return self.step.reads if isinstance(self.step, Reads) else ()

    def spend(self, step: Draw) -> Mechanism[Any]:
        """Subtract the cost of a draw from the allowance, and return its mechanism."""
        self._left -= step.event.amount_in(self.allowance.kind)
        if self._left < 0:
            raise AssertionError("a draw would cost more than was charged for its run")
        return step.mechanism

    def take(self, step: Draw, outcome: Any) -> None:
        """Record the outcome of a draw, and resume with it."""
        mechanism = step.mechanism
        parameters = {name: plain(value) for name, value in mechanism.public().items()}
        said = "" if step.words is None else step.words(outcome)
        self.transcript.append(
            TranscriptEntry(step.label, mechanism.name, parameters, outcome, said, step.event)
        )
        self.resume(outcome)

    def resume(self, reply: Any) -> None:
        """Go on with the summaries or the outcome that it waits for."""
        try:
            self.step = self.steps.send(reply)
        except StopIteration as stop:
            self.step, self.answer = None, stop.value


def draw_together(runs: Iterable[LiveRun], entropy: Entropy) -> None:
    """Answer draws until every run needs data or is done; mechanisms of one type draw together."""
    runs = list(runs)
    while waiting := [(live, live.step) for live in runs if isinstance(live.step, Draw)]:
        kinds: dict[tuple[type[Mechanism[Any]], str], list[tuple[LiveRun, Draw]]] = {}
        for live, step in waiting:
            kinds.setdefault((type(step.mechanism), step.mechanism.name), []).append((live, step))
        for (kind, _), those in kinds.items():
            mechanisms = [live.spend(step) for live, step in those]
            outcomes = kind.sample_many(mechanisms, entropy)
            for (live, step), outcome in zip(those, outcomes, strict=True):
                live.take(step, outcome)


class RunBatch:
    """Runs on the same rows, and the summaries of these rows so far.

    Each runs to its first step, at its cost (see :func:`row_costs`). A later read that a summary
    can answer does not cost a pass.
    """

    __slots__ = ("_asked", "_kept", "runs")

    def __init__(self, queries: Mapping[str, Query[Any]], costs: Mapping[str, Event]) -> None:
        self.runs = {
            name: LiveRun(query.begin(costs[name]), costs[name]) for name, query in queries.items()
        }
        self._kept: dict[Read[Any], Any] = {}
        self._asked: list[Read[Any]] = []

    @property
    def waits(self) -> bool:
        """Whether one of them has no answer yet."""
        return any(live.step is not None for live in self.runs.values())

    def draw(self, entropy: Entropy) -> None:
        """Answer draws until every one needs data or is done."""
        for live in self.runs.values():
            while isinstance(live.step, Draw):
                live.take(live.step, live.spend(live.step).sample(entropy))

    def reads(self) -> list[Read[Any]]:
        """What the runs that wait for data have to read; equal reads once.

        Two runs never share a secret subsample: each gets its own handle.
        """
        asked = [ask for live in self._waiting() for ask in live.reads]
        shared = {
            ask: None for ask in asked if not ask.reduction.secret and self._recall(ask) is None
        }
        self._asked = [*shared, *(ask for ask in asked if ask.reduction.secret)]
        return self._asked

    def supply(self, summaries: Sequence[Any]) -> None:
        """Hand out the answers to :meth:`reads`, in its order, to the runs that wait."""
        answers = list(zip(self._asked, summaries, strict=True))
        self._kept.update((ask, summary) for ask, summary in answers if not ask.reduction.secret)
        subsamples = iter([summary for ask, summary in answers if ask.reduction.secret])
        for live in self._waiting():
            live.resume(
                tuple(
                    next(subsamples) if ask.reduction.secret else self._recall(ask)
                    for ask in live.reads
                )
            )
        if not self.waits:
            self._kept = {}

    def _waiting(self) -> Iterable[LiveRun]:
        return [live for live in self.runs.values() if live.reads]

    def _recall(self, ask: Read[Any]) -> Any:
        if not self._kept:
            return None
        if (known := self._kept.get(ask)) is not None:
            return known
        for kept, summary in self._kept.items():
            if (kept.column, kept.lattice, kept.rule) == (ask.column, ask.lattice, ask.rule):
                found = ask.reduction.follows_from(summary)
                if found is not None:
                    return self._kept.setdefault(ask, found)
        return None


def row_costs(
    queries: Mapping[str, Query[Any]], unit: Unit, parts: Mapping[str, Fraction] = _ALL
) -> dict[str, Event]:
    """What each query costs one row, so that the unit spends the query's budget.

    ``parts`` are what is left of it, if something was drawn before. A budget too small for any
    estimator is refused, but for what is left of one: draws would decide that, after the charge.
    """
    costs = {
        name: unit.per_row(each.allowance.part(parts.get(name, Fraction(1))))
        for name, each in queries.items()
    }
    for name, event in costs.items():
        if name not in parts:
            check_size(event)
    return costs


class Reader(Protocol):
    """Answers reductions in one pass over the data."""

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads."""


def run(
    queries: Mapping[str, Query[Any]],
    reader: Reader,
    *,
    unit: Unit,
    charge: Callable[[], None],
    entropy: Entropy,
) -> dict[str, LiveRun]:
    """Answer queries together, and return the finished runs.

    ``reader`` is the only access to the data. ``unit`` shrinks every query's event to what one row
    may cost. ``charge`` charges the whole cost of all queries in one transaction. It is called
    once, after the first pass and before the first draw; if it raises, nothing has been drawn.
    """
    batch = RunBatch(queries, row_costs(queries, unit))
    _supply(batch, reader, entropy)
    charge()
    while batch.waits:
        batch.draw(entropy)
        _supply(batch, reader, entropy)
    return batch.runs


def _supply(batch: RunBatch, reader: Reader, entropy: Entropy) -> None:
    reads = batch.reads()
    batch.supply(reader.read(reads, entropy) if reads else [])


class Before(NamedTuple):
    """What was found before groups are answered, how, and what part of the allowance is left."""

    found: int
    transcript: list[TranscriptEntry]
    left: Fraction


def run_before(
    steps: Steps[int],
    allowance: Event,
    reader: GroupedReader,
    *,
    charge: Callable[[], None],
    entropy: Entropy,
) -> Before:
    """Carry out steps that read all groups together, once, and then draw."""
    live: Any = LiveRun(steps, allowance)  # type: ignore[arg-type]
    live.resume(tuple(reader.read([(0, ask) for ask in live.reads], entropy)))
    charge()
    while isinstance(live.step, Draw):
        live.take(live.step, live.spend(live.step).sample(entropy))
    return Before(live.answer, live.transcript, live.left)


_BLOCK = 1024  # groups whose draws are made at once


class GroupedReader(Protocol):
    """Answers reductions of disjoint groups of rows in one pass."""

    def read(self, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads, each of the group of that number."""


def run_groups(
    queries: Mapping[str, Query[Any]],
    groups: int,
    reader: GroupedReader,
    *,
    unit: Unit,
    charge: Callable[[], None],
    entropy: Entropy,
    parts: Mapping[str, Fraction] = _ALL,
) -> list[dict[str, LiveRun]]:
    """Answer the same queries for every group, and return the finished runs of each group.

    The number of groups is public; a group may have no rows, and a row must be in one group at
    most. A unit's rows may be in any groups. ``charge`` charges all queries for one group, which is
    the cost of all groups; ``parts`` are as for :func:`row_costs`, and the rest as for :func:`run`.
    No more passes are made than the slowest
    group needs.
    """
    # [groups.1]
    costs = row_costs(queries, unit, parts)
    batches = [RunBatch(queries, costs) for _ in range(groups)]
    _supply_groups(batches, reader, entropy)
    charge()
    while any(batch.waits for batch in batches):
        blocks = [batches[start : start + _BLOCK] for start in range(0, groups, _BLOCK)]
        for block in watched(((len(each), each) for each in blocks), "drawing", "groups"):
            draw_together((live for batch in block for live in batch.runs.values()), entropy)
        _supply_groups(batches, reader, entropy)
    return [batch.runs for batch in batches]


def _supply_groups(batches: Sequence[RunBatch], reader: GroupedReader, entropy: Entropy) -> None:
    reads = [batch.reads() for batch in batches]
    flat = [(group, ask) for group, asked in enumerate(reads) for ask in asked]
    answers = iter(reader.read(flat, entropy) if flat else [])
    for batch, asked in zip(batches, reads, strict=True):
        batch.supply([next(answers) for _ in asked])
