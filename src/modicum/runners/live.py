"""The runner that answers requests from data: read, charge, draw, in that order.

Any number of requests run together. Their waiting needs are collected and answered by one pass,
then all of them are resumed, so together they make no more passes than the slowest alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from modicum.exact.entropy import Entropy
from modicum.privacy.event import check_size, event_of
from modicum.privacy.unit import Unit
from modicum.runners.request import Request
from modicum.runners.walk import Walk
from modicum.steps import Ask
from modicum.summaries.clipped import ClippedSum, ClippedSummary
from modicum.summaries.records import Records

__all__ = ["Reader", "run"]


class Reader(Protocol):
    """Answers reductions in one pass over the data."""

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the asks."""


def run(
    requests: Mapping[str, Request],
    reader: Reader,
    *,
    unit: Unit,
    charge: Callable[[], None],
    entropy: Entropy,
) -> dict[str, Walk]:
    """Answer requests together.

    Parameters
    ----------
    requests : mapping of str to Request
    reader : Reader
        The only access to the data.
    unit : Unit
        Shrinks every request's event to what one row may cost.
    charge : callable
        Charges the whole cost of all requests in one transaction. Called once, after the first
        pass and before the first draw; if it raises, nothing has been drawn.
    entropy : Entropy

    Returns
    -------
    dict of str to Walk
        Finished walks, each with its answer and journal.
    """
    walks = {name: _walk(request, unit) for name, request in requests.items()}
    memory = _Memory(reader, entropy)
    for walk in walks.values():
        walk.start()
    memory.supply(walks.values())
    charge()
    while any(walk.step is not None for walk in walks.values()):
        for walk in walks.values():
            walk.draw_all(lambda law: law.sample(entropy))
        memory.supply(walks.values())
    return walks


def _walk(request: Request, unit: Unit) -> Walk:
    event = unit.per_row(event_of(request.budget))
    check_size(event)
    return Walk(request.begin(event), event)


class _Memory:
    """Summaries read so far in this run: a later need they can answer costs no pass."""

    def __init__(self, reader: Reader, entropy: Entropy) -> None:
        self._reader = reader
        self._entropy = entropy
        self._kept: dict[Ask[Any], Any] = {}

    def supply(self, walks: Iterable[Walk]) -> None:
        """Answer the needs of every waiting walk, reading the data at most once."""
        waiting = [walk for walk in walks if walk.asks]
        # Two runs never share a secret subsample: each gets a handle of its own.
        asked = [ask for walk in waiting for ask in walk.asks]
        secret = [ask for ask in asked if isinstance(ask.reduction, Records)]
        shared = {
            ask: None
            for ask in asked
            if not isinstance(ask.reduction, Records) and self._recall(ask) is None
        }
        asks = [*shared, *secret]
        answers = self._reader.read(asks, self._entropy) if asks else []
        self._kept.update(zip(shared, answers[: len(shared)], strict=True))
        subsamples = iter(answers[len(shared) :])
        for walk in waiting:
            walk.supply(
                tuple(
                    next(subsamples) if isinstance(ask.reduction, Records) else self._recall(ask)
                    for ask in walk.asks
                )
            )

    def _recall(self, ask: Ask[Any]) -> Any:
        if ask in self._kept:
            return self._kept[ask]
        if isinstance(ask.reduction, ClippedSum):
            lo, hi = ask.reduction.lo, ask.reduction.hi
            for kept, summary in self._kept.items():
                if (
                    (kept.column, kept.lattice) == (ask.column, ask.lattice)
                    and hasattr(summary, "clipped_sum")
                    and summary.covers(lo, hi)
                ):
                    return ClippedSummary(summary.count, summary.clipped_sum(lo, hi))
        return None
