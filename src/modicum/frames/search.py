"""What jobs over the parts of a table find out: one job an answer, or a few for records by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from modicum.exact.lattice import Lattice
from modicum.steps import Ask
from modicum.summaries.base import Reduction
from modicum.summaries.cuts import Cuts, CutSummary
from modicum.summaries.cuts_pass import CutsSearch
from modicum.summaries.part_records import PartRecords
from modicum.summaries.part_window import PartWindow
from modicum.summaries.records import Records
from modicum.summaries.window import RankWindow, WindowSummary
from modicum.summaries.window_pass import WindowSearch

__all__ = ["Search", "search_of"]

_HELD = 1 << 17  # records of a part, and of the whole, that the first job of a search brings


class Search(Protocol):
    """A question to a table in parts."""

    def wanted(self) -> list[Reduction[Any]]:
        """Return what the next job reduces every part to."""

    def learn(self, known: Sequence[Any]) -> Any:
        """Take in the merged summaries; return the answer, or ``None`` if a job more is needed."""


def search_of(ask: Ask[Any]) -> Search:
    """Return the search for an ask."""
    asked = ask.reduction
    if ask.lattice is not None and isinstance(asked, RankWindow):
        return _Window(asked, ask.lattice)
    if ask.lattice is not None and isinstance(asked, Cuts):
        return _Cuts(asked, ask.lattice)
    return _Once(PartRecords(asked.subsamples) if isinstance(asked, Records) else asked)


class _Once:
    """Parts are summarised and merged, and that is the answer."""

    def __init__(self, asked: Reduction[Any]) -> None:
        self._asked = asked

    def wanted(self) -> list[Reduction[Any]]:
        return [self._asked]

    def learn(self, known: Sequence[Any]) -> Any:
        (summary,) = known
        return summary


class _Window:
    """The records around one rank."""

    def __init__(self, asked: RankWindow, lattice: Lattice) -> None:
        self._asked = asked
        self._search = WindowSearch(asked.ranks, lattice, _HELD)

    def wanted(self) -> list[Reduction[Any]]:
        return [PartWindow(*self._search.bracket, self._search.most)]

    def learn(self, known: Sequence[Any]) -> WindowSummary | None:
        found = self._search.learn(known[0])
        return None if found is None else WindowSummary(*found, self._asked.q, self._asked.reach)


class _Cuts:
    """The records around two cut points, and the sum between these."""

    def __init__(self, asked: Cuts, lattice: Lattice) -> None:
        self._asked = asked
        self._search = CutsSearch(asked.cuts, asked.reach, lattice, _HELD)

    def wanted(self) -> list[Reduction[Any]]:
        return [*self._windows(), self._search.between]

    def learn(self, known: Sequence[Any]) -> CutSummary | None:
        *sifted, clipped = known
        if len(sifted) < len(self._search.windows):  # one window for both
            sifted *= 2
        found = self._search.learn(sifted, clipped)
        return None if found is None else self._asked.summary(found)

    def _windows(self) -> list[PartWindow]:
        every = [PartWindow(*each.bracket, each.most) for each in self._search.windows]
        return list(dict.fromkeys(every))  # the first job brings the whole range, once
