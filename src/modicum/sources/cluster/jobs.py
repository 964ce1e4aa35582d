"""Tables whose rows stay where they are: every part is summarised in place, summaries travel.

What is sent to the parts is a job: the reductions of one pass, and how they are computed there. A
part of the table (a partition) is read like a table of its own and returns the bytes of its
summaries. Bytes are merged in any order, on the cluster and on the driver; every merge is exact, so
the results are those of one pass over all rows. Where a unit names persons, all rows of one person
must be in one part. One job is enough, except for records by rank, which take a few.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from modicum.errors import SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM, Entropy, SeededEntropy
from modicum.sources import persons, viewed
from modicum.sources.base import Chunk, Source, guarded, suppress_warnings
from modicum.sources.conditions.view import View
from modicum.sources.groups import count_keys, reader_of_groups
from modicum.sources.labels import Coder, Label
from modicum.sources.reader import ColumnRows, RemoteSource, Scope, check_asks, named_columns
from modicum.summaries.base import More, Read, Reduction, Sensitive
from modicum.version import VERSION

Known = tuple[int, bytes]
"""The number of a question, and the bytes of a summary that answers it for some rows."""


class DistributedSource(RemoteSource):
    """A table in parts that are summarised where they are."""

    def answer(
        self, scope: Scope, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy
    ) -> list[Any]:
        """Compute checked reads in one job; records around a rank take a few.

        If the entropy is secret, every part draws from its own operating system; only an entropy
        that is not secret gives a seed for the parts. SourceError if a job fails.
        """
        searches = [
            ask.reduction.in_parts(ask.lattice, self._more(scope, group, ask, entropy))
            for group, ask in reads
        ]
        answers: dict[int, Any] = {}
        while len(answers) < len(reads):
            waiting = [i for i in range(len(reads)) if i not in answers]
            wanted = {i: searches[i].wanted() for i in waiting}
            sent = [
                (reads[i][0], replace(reads[i][1], reduction=each))
                for i in waiting
                for each in wanted[i]
            ]
            known = iter(self._summaries(scope, sent, entropy))
            for i in waiting:
                found = searches[i].learn([next(known) for _ in wanted[i]])
                if found is not None:
                    answers[i] = found
        return [answers[i] for i in range(len(reads))]

    def _more(self, scope: Scope, group: int, ask: Read[Any], entropy: Entropy) -> More:
        def more(asked: Reduction[Any], other: Entropy | None) -> Any:
            again = group, replace(ask, reduction=asked)
            return self._summaries(scope, [again], other or entropy)[0]

        return more

    def count_keys(self, scope: Scope, entropy: Entropy) -> dict[Any, int]:
        (counted,) = self._ran(KeyJob(scope, None, VERSION), entropy)
        counts: dict[Any, int] = counted.counts
        return counts

    def _summaries(
        self, scope: Scope, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy
    ) -> list[Any]:
        job = Job(scope, None, VERSION, tuple(reads))
        if job.chooses and not entropy.secret:
            job = replace(job, seed=f"{entropy.bits(128):032x}")
        return self._ran(job, entropy)

    def _ran(self, job: Job, entropy: Entropy) -> list[Any]:
        return guarded(self._label, lambda: job.merged(self._run(job), entropy))

    @abstractmethod
    def _run(self, job: Job) -> Iterable[Known]:
        """Run a job, all rows of a person in one part.

        Few summaries should come back. Rows without a person may be left out.
        """

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterator[Chunk]:
        raise UnsupportedData(f"the rows of {self._label} stay where they are: only summaries move")


@dataclass(frozen=True)
class Job:
    """Reductions of one pass, each for the group of its number (0 if rows are not grouped).

    All is public but a key in the scope, if rows are kept at random, and brackets of quantiles.
    Without a ``seed`` secret choices are made with randomness of the operating system where the
    part is. In tests, every part and merge draws from a stream of its own that follows from the
    seed. ``version`` is that of the driver; parts with another one refuse.
    """

    scope: Scope
    seed: str | None
    version: str
    reads: tuple[tuple[int, Read[Any]], ...] = ()

    @property
    def questions(self) -> int:
        """The number of summaries that it makes."""
        return len(self.reads)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are read; there may be none."""
        return tuple(self._needed()[0])

    @property
    def labels(self) -> list[str]:
        """Those of them that may be read as labels."""
        _, views = self._needed()
        order = self.scope.unit.order_by
        names = [*self.scope.labels, *([] if order is None else [order])]
        for view in reversed(views):
            names = view.labels(names)
        return sorted(set(names))

    def _needed(self) -> tuple[list[str], list[View]]:
        """Return the columns of the table that are needed, and what makes the others of them."""
        asked = named_columns([ask.place for _, ask in self.reads])
        named = (*self.scope.columns, *asked, *self.scope.labels, self.scope.unit.order_by)
        names = list(dict.fromkeys(each for each in named if each is not None))
        views: list[View] = []
        for view in reversed(self.scope.views):
            views.insert(0, view.only(names))
            names = view.needs(names)
        return names, views

    def _viewed(self, part: Source) -> Source:
        for view in self._needed()[1]:
            part = viewed.view_of(part, view, self.scope.unit)
        return part

    @property
    def chooses(self) -> bool:
        """Whether it makes secret choices."""
        return any(ask.reduction.secret for _, ask in self.reads)

    @property
    def rereads(self) -> bool:
        """Whether a part is read more than once.

        Keys or groups of persons are found first; records and rows of persons take a pass each.
        """
        if self.scope.by is None:
            made = (persons.made_of(self.scope.unit, ask) for _, ask in self.reads)
            return len({each if isinstance(each, int) else "records" for each in made}) > 1
        kept = any(ask.rule is not None and ask.rule.kind == "rows" for _, ask in self.reads)
        return kept or not self.scope.keys

    def check(self, part: Source) -> None:
        """Check by its schema that a part can be read."""
        part = self._viewed(part)
        persons.check_unit(part, self.scope.unit)
        check_asks(part, [ask for _, ask in self.reads])
        if self.scope.by is not None:
            part.check_label(self.scope.by)

    def _read(self, part: Source, entropy: Entropy) -> list[Any]:
        """Return the summaries of a part."""
        scope = self.scope
        if scope.by is None:
            reader = persons.TableReader(part, scope.unit, scope.columns, scope.key)
            return reader.read([ask for _, ask in self.reads], entropy)
        columns = scope.columns or [ask.column for _, ask in self.reads]
        groups = reader_of_groups(part, scope.unit, scope.by, scope.keys, columns, scope.key)
        return groups.read(self.reads, entropy)

    def _nothing(self) -> Callable[[int], Any]:
        """Return a function from the number of a reduction to its summary of no rows."""
        made: dict[tuple[Any, ...], Any] = {}  # groups share their questions

        def nothing(question: int) -> Any:
            _, ask = self.reads[question]
            asked = (ask.lattice, ask.reduction, ask.columns)
            if asked not in made:
                begun = ask.reduction.begin(ask.lattice, ColumnRows(SYSTEM))  # nothing is drawn
                if ask.columns is not None:
                    begun.update(np.empty((0, len(ask.columns.names or (None,)))))
                made[asked] = begun.finish()
            return made[asked]

        return nothing

    def summarise(self, part: Source, place: str) -> list[Known]:
        """Reduce the rows of one part; reductions without rows in it are left out.

        ``place`` distinguishes this part from all others, in tests.
        """
        self._check_version()
        nothing = self._nothing()
        with suppress_warnings():
            known = self._read(self._viewed(part), self._entropy(place))
            return [
                (question, each.to_bytes())
                for question, each in enumerate(known)
                if each != nothing(question)
            ]

    def merge(self, known: Iterable[Known], place: str) -> list[Known]:
        """Merge what is known of several parts."""
        self._check_version()
        merged = self._merged(known, self._entropy(place))
        return [(question, each.to_bytes()) for question, each in sorted(merged.items())]

    def merged(self, known: Iterable[Known], entropy: Entropy) -> list[Any]:
        """Merge what is known of all parts; return the summaries."""
        merged, nothing = self._merged(known, entropy), self._nothing()
        return [
            merged[question] if question in merged else nothing(question)
            for question in range(self.questions)
        ]

    def _merged(self, known: Iterable[Known], entropy: Entropy) -> dict[int, Any]:
        merged: dict[int, Any] = {}
        nothing = self._nothing()
        with suppress_warnings():
            for question, data in known:
                one, two = merged.get(question), type(nothing(question)).from_bytes(data)
                if one is None:
                    merged[question] = two
                else:
                    merged[question] = one.joined(two, entropy)
        return merged

    def _entropy(self, place: str) -> Entropy:
        return SYSTEM if self.seed is None else SeededEntropy(f"{self.seed}/{place}")

    def _check_version(self) -> None:
        if self.version != VERSION:
            raise SourceError(
                f"the workers run modicum {VERSION}, the driver {self.version}: install the same"
            )


class KeyJob(Job):
    """The number of rows of every label of the column that groups them."""

    @property
    def questions(self) -> int:
        return 1

    @property
    def rereads(self) -> bool:
        """True if rows of persons are kept: labels are put in order first."""
        return self.scope.unit.column is not None

    def _read(self, part: Source, entropy: Entropy) -> list[Any]:
        scope = self.scope
        assert scope.by is not None
        return [KeyCounts(count_keys(part, scope.unit, scope.by, entropy, scope.key))]

    def _nothing(self) -> Callable[[int], Any]:
        return lambda _: KeyCounts({})


_KINDS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "b": (bool, str, "True".__eq__),
    "i": (int, str, int),
    "f": (float, float.hex, float.fromhex),
    "n": (Decimal, str, Decimal),
    "s": (str, str, str),
    "t": (datetime, datetime.isoformat, datetime.fromisoformat),
    "d": (date, date.isoformat, date.fromisoformat),
}
"""In this order: a bool is an int, and a datetime is a date."""
_TUPLE = "j"  # labels of several columns


class KeyCounts(Sensitive):
    """Numbers of rows by label; sensitive, and so is which labels there are."""

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[Any, int]) -> None:
        self.counts = dict(counts)

    def merge(self, other: KeyCounts) -> KeyCounts:
        """Return the numbers of both; equal labels are one."""
        return KeyCounts(Counter(self.counts) + Counter(other.counts))

    def to_bytes(self) -> bytes:
        return json.dumps([[_written(key), n] for key, n in self.counts.items()]).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> KeyCounts:
        return cls({_label(written): n for written, n in json.loads(data)})


def _label(written: list[Any]) -> Hashable:
    kind, value = written
    return tuple(map(_label, value)) if kind == _TUPLE else _KINDS[kind][2](value)


def _written(key: Hashable) -> tuple[str, Any]:
    if isinstance(key, tuple):
        return _TUPLE, list(map(_written, key))
    for kind, (of, write, _) in _KINDS.items():
        if isinstance(key, of):
            return kind, write(key)
    raise UnsupportedData("a label is of a kind that labels cannot be")
