"""Tables whose rows stay where they are: every part is summarised in place, summaries travel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from modicum.errors import UnsupportedData
from modicum.exact.entropy import Entropy
from modicum.frames.base import Chunk, guarded
from modicum.frames.job import AskJob, Job, KeyJob, Known
from modicum.frames.labels import Coder
from modicum.frames.remote import RemoteSource, Scope
from modicum.steps import Ask
from modicum.summaries.base import Integers
from modicum.summaries.part_records import PartRecords, PartSubsample
from modicum.summaries.part_window import PartWindow
from modicum.summaries.pools import ChosenPool
from modicum.summaries.records import Records, RecordSummary
from modicum.summaries.window import RankWindow, WindowSummary
from modicum.summaries.window_pass import WindowSearch
from modicum.version import VERSION

__all__ = ["DistributedSource"]

_HELD = 1 << 17  # records of a part, and of the whole, that the first job of a quantile brings


class DistributedSource(RemoteSource):
    """A table in parts that are summarised where they are."""

    def answer(
        self, scope: Scope, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy
    ) -> list[Any]:
        """Answer checked asks in one job; records around a rank take a few.

        Parameters
        ----------
        scope : Scope
        asks : sequence of (int, Ask)
        entropy : Entropy
            If it is secret, every part draws from its own operating system; a seed for the parts
            is made only of one that is not.

        Returns
        -------
        list
            Summaries in the order of the asks.

        Raises
        ------
        SourceError
            If a job fails.
        """
        searches = {
            i: WindowSearch(ask.reduction.ranks, ask.lattice, _HELD)
            for i, (_, ask) in enumerate(asks)
            if isinstance(ask.reduction, RankWindow) and ask.lattice is not None
        }
        answers: dict[int, Any] = {}
        while len(answers) < len(asks):
            waiting = [i for i in range(len(asks)) if i not in answers]
            sent = [(asks[i][0], _sent(asks[i][1], searches.get(i))) for i in waiting]
            for i, summary in zip(waiting, self._summaries(scope, sent, entropy), strict=True):
                group, ask = asks[i]
                if i not in searches:
                    answers[i] = self._opened(scope, group, ask, summary)
                elif (found := searches[i].learn(summary)) is not None:
                    assert isinstance(ask.reduction, RankWindow)
                    answers[i] = WindowSummary(*found, ask.reduction.q, ask.reduction.reach)
        return [answers[i] for i in range(len(asks))]

    def count_keys(self, scope: Scope, by: str, entropy: Entropy) -> dict[Any, int]:
        """Count the rows of every label of a column, in one job; sensitive."""
        (counted,) = self._ran(KeyJob(scope, None, VERSION, by), entropy)
        counts: dict[Any, int] = counted.counts
        return counts

    def _summaries(
        self, scope: Scope, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy
    ) -> list[Any]:
        job = AskJob(scope, None, VERSION, tuple(asks))
        if job.chooses and not entropy.secret:
            job = AskJob(scope, f"{entropy.bits(128):032x}", VERSION, tuple(asks))
        return self._ran(job, entropy)

    def _ran(self, job: Job, entropy: Entropy) -> list[Any]:
        return guarded(self._label, lambda: job.merged(self._run(job), entropy))

    @abstractmethod
    def _run(self, job: Job) -> Iterable[Known]:
        """Run a job, all rows of a person in one part; the fewer summaries come back, the better.

        Rows without a person may be left out.
        """

    def _opened(self, scope: Scope, group: int, ask: Ask[Any], summary: Any) -> Any:
        if not isinstance(ask.reduction, Records):
            return summary

        def again(k: int, entropy: Entropy) -> Integers:
            more = Ask(ask.column, ask.lattice, PartSubsample(k))
            (chosen,) = self._summaries(scope, [(group, more)], entropy)
            (q,) = chosen.subsamples
            fresh: Integers = q
            return fresh

        return RecordSummary((ChosenPool(summary, again),))

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[str, Coder]
    ) -> Iterator[Chunk]:
        raise UnsupportedData(f"the rows of {self._label} stay where they are: only summaries move")


def _sent(ask: Ask[Any], search: WindowSearch | None) -> Ask[Any]:
    """Translate an ask into the one that parts get."""
    if search is not None:
        return Ask(ask.column, ask.lattice, PartWindow(*search.bracket, search.most))
    if isinstance(ask.reduction, Records):
        return Ask(ask.column, ask.lattice, PartRecords(ask.reduction.subsamples))
    return ask
