"""Tables whose rows stay where they are: every part is summarised in place, summaries travel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from modicum.errors import UnsupportedData
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
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
from modicum.summaries.sift import Sifted
from modicum.summaries.window import RankWindow
from modicum.summaries.window_pass import WindowSearch
from modicum.summaries.windows import RankWindows
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
        searches = [_searches(ask) for _, ask in asks]
        answers: dict[int, Any] = {}
        while len(answers) < len(asks):
            sent: dict[Hashable, tuple[int, Ask[Any]]] = {}
            for i, (group, ask) in enumerate(asks):
                for each in searches[i]:
                    if each.found is None:  # windows of one column begin with the same bracket
                        question = group, _sifted(ask, each.bracket, each.most)
                        sent[question] = question
                if not searches[i] and i not in answers:
                    sent[i] = group, _sent(ask)
            summaries = self._summaries(scope, list(sent.values()), entropy)
            known = dict(zip(sent, summaries, strict=True))
            for i, (group, ask) in enumerate(asks):
                for each in searches[i]:
                    if each.found is None:
                        each.learn(known[group, _sifted(ask, each.bracket, each.most)])
                if i not in answers and all(each.found for each in searches[i]):
                    found = [each.found for each in searches[i] if each.found is not None]
                    answers[i] = self._opened(scope, group, ask, known.get(i), found, entropy)
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

    def _opened(
        self,
        scope: Scope,
        group: int,
        ask: Ask[Any],
        summary: Any,
        found: Sequence[Sifted],
        entropy: Entropy,
    ) -> Any:
        """Return the answer that the merged summary, or what was found in several jobs, gives."""

        def more(asked: Ask[Any], entropy: Entropy) -> Any:
            return self._summaries(scope, [(group, asked)], entropy)[0]

        def thinned(k: int, entropy: Entropy) -> Integers:
            (q,) = more(Ask(ask.column, ask.lattice, PartSubsample(k)), entropy).subsamples
            fresh: Integers = q
            return fresh

        def sifted(bracket: tuple[int, int], most: int) -> Sifted:
            again: Sifted = more(_sifted(ask, bracket, most), entropy)
            return again

        match ask.reduction:
            case Records():
                return RecordSummary((ChosenPool(summary, thinned),))
            case RankWindow():
                return ask.reduction.summary(found[0])
            case RankWindows() if ask.lattice is not None:
                return ask.reduction.summary(found, ask.lattice, sifted)
        return summary

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[str, Coder]
    ) -> Iterator[Chunk]:
        raise UnsupportedData(f"the rows of {self._label} stay where they are: only summaries move")


def _searches(ask: Ask[Any]) -> list[WindowSearch]:
    """Return searches for records around ranks, which take several jobs; none for other asks."""
    match ask.reduction, ask.lattice:
        case RankWindow() as window, Lattice() as lattice:
            windows: tuple[RankWindow, ...] = (window,)
        case RankWindows(windows), Lattice() as lattice:
            pass
        case _:
            return []
    whole = lattice.first, lattice.last
    return [WindowSearch(each.ranks, whole, _HELD) for each in windows]


def _sifted(ask: Ask[Any], bracket: tuple[int, int], most: int) -> Ask[Any]:
    return Ask(ask.column, ask.lattice, PartWindow(*bracket, most))


def _sent(ask: Ask[Any]) -> Ask[Any]:
    """Translate an ask into the one that parts get."""
    if isinstance(ask.reduction, Records):
        return Ask(ask.column, ask.lattice, PartRecords(ask.reduction.subsamples))
    return ask
