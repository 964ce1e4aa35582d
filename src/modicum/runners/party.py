"""Requests that are answered together from the same rows, between two passes over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from modicum.exact.entropy import Entropy
from modicum.privacy.event import Event, check_size
from modicum.privacy.unit import Unit
from modicum.runners.request import Query
from modicum.runners.walk import Walk
from modicum.steps import Ask
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, ClippedSummary

__all__ = ["Party", "row_prices"]


class Party:
    """Estimators under way on the same rows, and the summaries of these rows so far.

    A later need that a summary can answer costs no pass.
    """

    __slots__ = ("_asked", "_kept", "walks")

    def __init__(self, walks: Mapping[str, Walk]) -> None:
        self.walks = dict(walks)
        self._kept: dict[Ask[Any], Any] = {}
        self._asked: list[Ask[Any]] = []

    @classmethod
    def of(cls, requests: Mapping[str, Query[Any]], prices: Mapping[str, Event]) -> Self:
        """Start requests: each runs to its first step, at its price (see :func:`row_prices`)."""
        party = cls(
            {
                name: Walk(request.begin(prices[name]), prices[name])
                for name, request in requests.items()
            }
        )
        for walk in party.walks.values():
            walk.start()
        return party

    @property
    def waits(self) -> bool:
        """Whether one of them has no answer yet."""
        return any(walk.step is not None for walk in self.walks.values())

    def draw(self, entropy: Entropy) -> None:
        """Answer draws until every one needs data or is done."""
        for walk in self.walks.values():
            walk.draw_all(lambda law: law.sample(entropy))

    def asks(self) -> list[Ask[Any]]:
        """Return what has to be read for those that wait for data; equal asks once.

        Two runs never share a secret subsample: each gets a handle of its own.
        """
        asked = [ask for walk in self._waiting() for ask in walk.asks]
        shared = {ask: None for ask in asked if not _secret(ask) and self._recall(ask) is None}
        self._asked = [*shared, *(ask for ask in asked if _secret(ask))]
        return self._asked

    def supply(self, summaries: Sequence[Any]) -> None:
        """Hand out the answers to :meth:`asks`, in its order, to those that wait."""
        answers = list(zip(self._asked, summaries, strict=True))
        self._kept.update((ask, summary) for ask, summary in answers if not _secret(ask))
        subsamples = iter([summary for ask, summary in answers if _secret(ask)])
        for walk in self._waiting():
            walk.supply(
                tuple(next(subsamples) if _secret(ask) else self._recall(ask) for ask in walk.asks)
            )
        if not self.waits:
            self._kept = {}

    def _waiting(self) -> Iterable[Walk]:
        return [walk for walk in self.walks.values() if walk.asks]

    def _recall(self, ask: Ask[Any]) -> Any:
        if (known := self._kept.get(ask)) is not None:
            return known
        if isinstance(ask.reduction, ClippedSum):
            lo, hi = ask.reduction.lo, ask.reduction.hi
            for kept, summary in self._kept.items():
                if (
                    (kept.column, kept.lattice) == (ask.column, ask.lattice)
                    and hasattr(summary, "clipped_sum")
                    and summary.covers(lo, hi)
                ):
                    total = summary.clipped_sum(lo, hi)
                    return self._kept.setdefault(ask, ClippedSummary(summary.count, total))
        return None


def _secret(ask: Ask[Any]) -> bool:
    return isinstance(ask.reduction, Records)


def row_prices(requests: Mapping[str, Query[Any]], unit: Unit) -> dict[str, Event]:
    """Return what one row pays for each request, so that the unit pays its budget.

    Raises
    ------
    InvalidArgument
        If that is too small for any estimator.
    """
    prices = {name: unit.per_row(each.allowance) for name, each in requests.items()}
    for event in prices.values():
        check_size(event)
    return prices
