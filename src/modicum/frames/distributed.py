"""Tables whose rows stay where they are: every part is summarised in place, summaries travel.

A part of the table (a partition) runs the same reductions as a local pass and gives their bytes.
Bytes are merged in any order, on the cluster and on the driver; every merge is exact, so the
answers are those of one pass over all rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

from modicum.errors import SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM, Entropy, SeededEntropy
from modicum.frames.base import Chunk, Source, guarded
from modicum.frames.labels import Coder
from modicum.frames.quiet import quiet
from modicum.frames.rows import PassingOnce
from modicum.steps import Ask
from modicum.summaries.base import Accumulator, Integers
from modicum.summaries.chosen import ChosenRows
from modicum.summaries.cuts import Cuts
from modicum.summaries.part_records import PartRecords, PartSubsample
from modicum.summaries.pools import ChosenPool
from modicum.summaries.records import Records, RecordSummary
from modicum.summaries.window import RankWindow
from modicum.version import VERSION

__all__ = ["DistributedSource", "Job", "Parts"]

Parts = list[bytes]
"""What is known of some rows: the bytes of one summary an ask."""


@dataclass(frozen=True, slots=True)
class Job:
    """The asks of one pass, as they are sent to the parts; made of public parameters only.

    Attributes
    ----------
    asks : tuple of Ask
    seed : str or None
        ``None``: secret choices are made with randomness of the operating system where the part
        is. In tests, every part and merge draws from a stream of its own that follows from the
        seed.
    version : str
        Of the driver; parts run by another one refuse.
    """

    asks: tuple[Ask[Any], ...]
    seed: str | None
    version: str

    @property
    def columns(self) -> tuple[str | None, ...]:
        """The columns to be read, each once."""
        return tuple(dict.fromkeys(ask.column for ask in self.asks))

    def summarise(self, chunks: Iterable[Chunk], place: str) -> Parts:
        """Reduce the rows of one part.

        Parameters
        ----------
        chunks : iterable of mapping
            As :meth:`modicum.frames.base.Source.chunks` gives them.
        place : str
            Distinguishes this part from all others, in tests.
        """
        self._check_version()
        entropy = self._entropy(place)
        passes = self._begin(entropy)
        with quiet():
            for chunk in chunks:
                for ask, accumulator in zip(self.asks, passes, strict=True):
                    accumulator.update(chunk[ask.column])
            return [accumulator.finish().to_bytes() for accumulator in passes]

    def merge(self, parts: Iterable[Parts], place: str) -> Parts:
        """Merge what is known of several parts."""
        self._check_version()
        merged = self.merged(parts, self._entropy(place))
        return [summary.to_bytes() for summary in merged]

    def merged(self, parts: Iterable[Parts], entropy: Entropy) -> list[Any]:
        """Merge what is known of all parts; return the summaries."""
        nothing = [accumulator.finish() for accumulator in self._begin(entropy)]

        def both(known: list[Any], part: Parts) -> list[Any]:
            read = (type(a).from_bytes(b) for a, b in zip(known, part, strict=True))
            return [_merge(a, b, entropy) for a, b in zip(known, read, strict=True)]

        return reduce(both, parts, nothing)

    def _begin(self, entropy: Entropy) -> list[Accumulator[Any]]:
        part = PassingOnce(entropy)
        return [ask.reduction.begin(ask.lattice, part) for ask in self.asks]

    def _entropy(self, place: str) -> Entropy:
        return SYSTEM if self.seed is None else SeededEntropy(f"{self.seed}/{place}")

    def _check_version(self) -> None:
        if self.version != VERSION:
            raise SourceError(
                f"the workers run modicum {VERSION}, the driver {self.version}: install the same"
            )


class DistributedSource(Source):
    """A table in parts that are summarised where they are."""

    def answer(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        """Answer checked asks in one job.

        Parameters
        ----------
        asks : sequence of Ask
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
            If the job fails.
        """
        sent = tuple(map(_sent, asks))
        seeded = not entropy.secret and any(map(_chooses, sent))
        job = Job(sent, f"{entropy.bits(128):032x}" if seeded else None, VERSION)
        merged = guarded(self._label, lambda: job.merged(self._run(job), entropy))
        return [self._opened(ask, each) for ask, each in zip(asks, merged, strict=True)]

    @abstractmethod
    def _run(self, job: Job) -> Iterable[Parts]:
        """Run a job; the fewer parts come back, the better."""

    def _opened(self, ask: Ask[Any], summary: Any) -> Any:
        if not isinstance(ask.reduction, Records):
            return summary

        def again(k: int, entropy: Entropy) -> Integers:
            (chosen,) = self.answer([Ask(ask.column, ask.lattice, PartSubsample(k))], entropy)
            (q,) = chosen.subsamples
            fresh: Integers = q
            return fresh

        return RecordSummary((ChosenPool(summary, again),))

    def check_label(self, name: str) -> NoReturn:
        """Refuse: labels would have to travel."""
        raise UnsupportedData(
            f"persons and groups of {self._label} cannot be told apart ({name!r}): write the table "
            "to Parquet and pass the path, or aggregate it there first"
        )

    def _holds_labels(self, column: str | None) -> bool:
        return False

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[str, Coder]
    ) -> Iterator[Chunk]:
        raise UnsupportedData(f"the rows of {self._label} stay where they are: only summaries move")


def _sent(ask: Ask[Any]) -> Ask[Any]:
    """Translate an ask into the one that parts get; refuse one that needs the rows again."""
    if isinstance(ask.reduction, Cuts):
        raise UnsupportedData(
            "a trimmed mean needs several passes over single rows, which stay where they are: "
            "write the table to Parquet and pass the path"
        )
    if isinstance(ask.reduction, RankWindow):
        raise UnsupportedData(
            "a quantile needs several passes over single rows, which stay where they are: write "
            "the table to Parquet and pass the path"
        )
    if isinstance(ask.reduction, Records):
        return Ask(ask.column, ask.lattice, PartRecords(ask.reduction.subsamples))
    return ask


def _chooses(ask: Ask[Any]) -> bool:
    return isinstance(ask.reduction, PartRecords | PartSubsample)


def _merge(one: Any, other: Any, entropy: Entropy) -> Any:
    return one.merge(other, entropy) if isinstance(one, ChosenRows) else one.merge(other)
