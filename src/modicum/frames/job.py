"""What is sent to the parts of a table: the questions of one pass, and how they are answered there.

A part of the table (a partition) is read like a table of its own and gives the bytes of its
summaries. Bytes are merged in any order, on the cluster and on the driver; every merge is exact,
so the answers are those of one pass over all rows. Where a unit names persons, all rows of one
person must be in one part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from modicum.errors import SourceError
from modicum.exact.entropy import SYSTEM, Entropy, SeededEntropy
from modicum.frames.grouping import count_keys, reader_of_groups
from modicum.frames.key_counts import KeyCounts
from modicum.frames.people import check_unit, reader_of
from modicum.frames.quiet import quiet
from modicum.frames.reader import check_asks
from modicum.frames.remote import Scope
from modicum.frames.rows import PassingOnce
from modicum.frames.source import Source
from modicum.frames.vectors import named_columns
from modicum.steps import Ask
from modicum.summaries.sifting import PartWindow, Sifted
from modicum.summaries.subsample import ChosenRows, PartRecords, PartSubsample
from modicum.version import VERSION

__all__ = ["AskJob", "Job", "KeyJob", "Known"]

Known = tuple[int, bytes]
"""The number of a question, and the bytes of a summary that answers it for some rows."""


@dataclass(frozen=True)
class Job(ABC):
    """One pass: public parameters, a key if rows are kept at random, and brackets of quantiles.

    Attributes
    ----------
    scope : Scope
    seed : str or None
        ``None``: secret choices are made with randomness of the operating system where the part
        is. In tests, every part and merge draws from a stream of its own that follows from the
        seed.
    version : str
        Of the driver; parts run by another one refuse.
    """

    scope: Scope
    seed: str | None
    version: str

    @property
    @abstractmethod
    def questions(self) -> int:
        """How many summaries come of it."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are read; there may be none."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of them that say whose and in which group a row is."""
        return self.scope.labels

    @property
    def rereads(self) -> bool:
        """Whether a part is read more than once."""
        return False

    @abstractmethod
    def check(self, part: Source) -> None:
        """Check by its schema that a part can be read."""

    @abstractmethod
    def _read(self, part: Source, entropy: Entropy) -> list[Any]:
        """Return the summaries of a part."""

    @abstractmethod
    def _nothing(self) -> Callable[[int], Any]:
        """Return a function from a question to the summary of no rows."""

    def summarise(self, part: Source, place: str) -> list[Known]:
        """Reduce the rows of one part; questions that it has no rows for are left out.

        Parameters
        ----------
        part : Source
        place : str
            Distinguishes this part from all others, in tests.
        """
        self._check_version()
        nothing = self._nothing()
        with quiet():
            known = self._read(part, self._entropy(place))
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
        with quiet():
            for question, data in known:
                one, two = merged.get(question), type(nothing(question)).from_bytes(data)
                if one is None:
                    merged[question] = two
                elif isinstance(one, ChosenRows | Sifted):
                    merged[question] = one.merge(two, entropy)
                else:
                    merged[question] = one.merge(two)
        return merged

    def _entropy(self, place: str) -> Entropy:
        return SYSTEM if self.seed is None else SeededEntropy(f"{self.seed}/{place}")

    def _check_version(self) -> None:
        if self.version != VERSION:
            raise SourceError(
                f"the workers run modicum {VERSION}, the driver {self.version}: install the same"
            )


@dataclass(frozen=True)
class AskJob(Job):
    """Reductions, each for the group of that number (0 if rows are not grouped)."""

    asks: tuple[tuple[int, Ask[Any]], ...]

    @property
    def questions(self) -> int:
        """How many reductions there are."""
        return len(self.asks)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns asked for, and those that say whose and in which group a row is."""
        unit = self.scope.unit
        asked = named_columns([ask.place for _, ask in self.asks])
        named = (*self.scope.columns, *asked, *self.scope.labels, unit.order_by)
        return tuple(dict.fromkeys(each for each in named if each is not None))

    @property
    def chooses(self) -> bool:
        """Whether rows are chosen in secret on the way."""
        kinds = PartRecords | PartSubsample | PartWindow
        return any(isinstance(ask.reduction, kinds) for _, ask in self.asks)

    def check(self, part: Source) -> None:
        """Check by its schema that a part can be read."""
        check_unit(part, self.scope.unit)
        check_asks(part, [ask for _, ask in self.asks])
        if self.scope.by is not None:
            part.check_label(self.scope.by)

    def _read(self, part: Source, entropy: Entropy) -> list[Any]:
        scope = self.scope
        if scope.by is None:
            reader = reader_of(part, scope.unit, scope.columns, scope.key)
            return reader.read([ask for _, ask in self.asks], entropy)
        columns = scope.columns or [ask.column for _, ask in self.asks]
        groups = reader_of_groups(part, scope.unit, scope.by, scope.keys, columns, scope.key)
        return groups.read(self.asks, entropy)

    def _nothing(self) -> Callable[[int], Any]:
        made: dict[tuple[Any, ...], Any] = {}  # groups share their questions

        def nothing(question: int) -> Any:
            _, ask = self.asks[question]
            asked = (ask.lattice, ask.reduction, ask.columns)
            if asked not in made:
                begun = ask.reduction.begin(ask.lattice, PassingOnce(SYSTEM))  # nothing is drawn
                if ask.columns is not None:
                    begun.update(np.empty((0, len(ask.columns.names or (None,)))))
                made[asked] = begun.finish()
            return made[asked]

        return nothing


@dataclass(frozen=True)
class KeyJob(Job):
    """The number of rows of every label of a column."""

    by: str

    @property
    def questions(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of keys, and those that say whose a row is."""
        unit = self.scope.unit
        named = (self.by, unit.column, unit.order_by)
        return tuple(dict.fromkeys(each for each in named if each is not None))

    @property
    def labels(self) -> tuple[str, ...]:
        """The column of keys, and the one that says whose a row is."""
        return tuple(dict.fromkeys((self.by, *self.scope.labels)))

    @property
    def rereads(self) -> bool:
        """True if rows of persons are kept: labels are put in order first."""
        return self.scope.unit.column is not None

    def check(self, part: Source) -> None:
        """Check by its schema that a part can be read."""
        check_unit(part, self.scope.unit)
        part.check_label(self.by)

    def _read(self, part: Source, entropy: Entropy) -> list[Any]:
        return [KeyCounts(count_keys(part, self.scope.unit, self.by, entropy, self.scope.key))]

    def _nothing(self) -> Callable[[int], Any]:
        return lambda _: KeyCounts({})
