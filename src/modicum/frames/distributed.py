"""Tables whose rows stay where they are: every part is summarised in place, summaries travel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from modicum.errors import UnsupportedData
from modicum.exact.entropy import Entropy
from modicum.frames.base import Chunk, guarded
from modicum.frames.job import AskJob, Job, KeyJob, Known
from modicum.frames.labels import Coder
from modicum.frames.remote import RemoteSource, Scope
from modicum.frames.search import search_of
from modicum.steps import Ask
from modicum.summaries.base import Integers, Reduction
from modicum.summaries.order_statistics import RankWindow, RankWindows
from modicum.summaries.sifting import PartWindow, Sifted
from modicum.summaries.subsample import ChosenPool, PartSubsample, Records, RecordSummary
from modicum.version import VERSION

__all__ = ["DistributedSource"]


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
        searches = [search_of(ask) for _, ask in asks]
        answers: dict[int, Any] = {}
        while len(answers) < len(asks):
            waiting = [i for i in range(len(asks)) if i not in answers]
            wanted = {i: searches[i].wanted() for i in waiting}
            sent = [
                (asks[i][0], replace(asks[i][1], reduction=each))
                for i in waiting
                for each in wanted[i]
            ]
            known = iter(self._summaries(scope, sent, entropy))
            for i in waiting:
                found = searches[i].learn([next(known) for _ in wanted[i]])
                if found is not None:
                    answers[i] = self._opened(scope, *asks[i], found, entropy)
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

    def _opened(self, scope: Scope, group: int, ask: Ask[Any], found: Any, entropy: Entropy) -> Any:
        """Return the answer that what was found gives; parts of it may take another job."""

        def more(asked: Reduction[Any], entropy: Entropy) -> Any:
            again = replace(ask, reduction=asked)
            return self._summaries(scope, [(group, again)], entropy)[0]

        def thinned(k: int, entropy: Entropy) -> Integers:
            (q,) = more(PartSubsample(k), entropy).subsamples
            fresh: Integers = q
            return fresh

        def sifted(bracket: tuple[int, int], most: int) -> Sifted:
            again: Sifted = more(PartWindow(*bracket, most), entropy)
            return again

        match ask.reduction:
            case Records():
                return RecordSummary((ChosenPool(found, thinned),))
            case RankWindow() as window:
                return window.summary(found[0])
            case RankWindows() as windows if ask.lattice is not None:
                return windows.summary(found, ask.lattice, sifted)
        return found

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[str, Coder]
    ) -> Iterator[Chunk]:
        raise UnsupportedData(f"the rows of {self._label} stay where they are: only summaries move")
