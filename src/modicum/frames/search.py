"""What jobs over the parts of a table find out: one job an answer, or a few for records by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from modicum.exact.lattice import Lattice
from modicum.steps import Ask
from modicum.summaries.base import Reduction
from modicum.summaries.order_statistics import Cuts, CutsSearch, CutSummary, RankWindow, RankWindows
from modicum.summaries.sifting import PartWindow, Sifted, WindowSearch
from modicum.summaries.subsample import PartRecords, Records

__all__ = ["Search", "search_of"]

_HELD = 1 << 17  # records of a part, and of the whole, that the first job of a search brings


class Search(Protocol):
    """A question to a table in parts."""

    def wanted(self) -> list[Reduction[Any]]:
        """Return what the next job reduces every part to."""

    def learn(self, known: Sequence[Any]) -> Any:
        """Take in the merged summaries; return what is found, ``None`` if a job more is needed.

        Around ranks that is what holds the records of each window, and else the answer.
        """


def search_of(ask: Ask[Any]) -> Search:
    """Return the search for an ask."""
    asked = ask.reduction
    if ask.lattice is not None and isinstance(asked, RankWindow):
        return _Windows((asked,), ask.lattice)
    if ask.lattice is not None and isinstance(asked, RankWindows):
        return _Windows(asked.windows, ask.lattice)
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


class _Windows:
    """The records around some ranks."""

    def __init__(self, asked: Sequence[RankWindow], lattice: Lattice) -> None:
        whole = lattice.first, lattice.last
        self._searches = [WindowSearch(each.ranks, whole, _HELD) for each in asked]

    def wanted(self) -> list[Reduction[Any]]:
        return list(dict.fromkeys(map(_part, self._waiting())))  # they begin with one bracket

    def learn(self, known: Sequence[Any]) -> list[Sifted] | None:
        answers = dict(zip(self.wanted(), known, strict=True))
        parts = [(each, _part(each)) for each in self._waiting()]
        for search, part in parts:
            search.learn(answers[part])
        found = [each.found for each in self._searches if each.found is not None]
        return found if len(found) == len(self._searches) else None

    def _waiting(self) -> list[WindowSearch]:
        return [each for each in self._searches if each.found is None]


def _part(search: WindowSearch) -> PartWindow:
    return PartWindow(*search.bracket, search.most)


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
        every = map(_part, self._search.windows)
        return list(dict.fromkeys(every))  # the first job brings the whole range, once
