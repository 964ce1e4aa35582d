"""Runs on several data sets with the same outcomes, and the leak detector.

For fixed outcomes, what an observer sees of a run must not depend on the data: its reads, the
draws' labels, mechanisms, events and public parameters, the answer, and whether it fails. See
[audit.1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from modicum import errors
from modicum.audit.report import Leak, Path
from modicum.exact.entropy import Entropy
from modicum.privacy.event import Event
from modicum.privacy.unit import Unit
from modicum.releases import release
from modicum.runtime.charging import fitted
from modicum.runtime.query import Query
from modicum.runtime.replay import Run
from modicum.runtime.run import Reader
from modicum.sources.base import Source
from modicum.sources.opening import open_source
from modicum.sources.reader import check_columns, read
from modicum.summaries.base import Columns, Read

Draws = tuple[tuple[str, Any], ...]
"""Labels and outcomes of the draws so far."""


R = TypeVar("R", bound=release.Record)
T = TypeVar("T")


class Remembered:
    """A reader of one small data set that keeps every summary it has computed.

    A replay reads the same few summaries thousands of times; a reduction's answer is a function of
    the data, so it is computed once.
    """

    def __init__(self, data: Any) -> None:
        table = np.array(data, dtype=np.float64) if isinstance(data, tuple) else data
        self._source: Source = open_source(table)
        self._kept: dict[Read[Any], Any] = {}

    def check(self, column: str | Columns | None) -> None:
        """Refuse columns that the data do not have."""
        if isinstance(column, Columns):
            check_columns(self._source, column)
        else:
            self._source.check(column)

    def fitted(self, query: Query[R]) -> Query[R]:
        """Return a query as the live runner would answer it."""
        return fitted(query, self._source, query.budget.kind, Unit())

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads."""
        try:
            return [self._kept[each] for each in reads]
        except KeyError:
            missing = [each for each in dict.fromkeys(reads) if each not in self._kept]
        self._kept.update(zip(missing, read(self._source, missing, entropy), strict=True))
        return [self._kept[each] for each in reads]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Data sets on which one query runs with the same outcomes."""

    query: Query[Any]
    event: Event
    data: tuple[Any, ...]
    readers: tuple[Reader, ...]

    @classmethod
    def of(cls, query: Query[Any], data: Sequence[Any]) -> Family:
        """Open data sets for a query; columns are checked as in a real run."""
        if not data:
            raise errors.InvalidArgument("an audit needs at least one data set")
        readers = tuple(Remembered(table) for table in data)
        for reader in readers:
            reader.check(query.place)
        query = readers[0].fitted(query)
        return cls(query, query.allowance, tuple(data), readers)

    def start(self, draws: Draws, *, densities: bool = False) -> tuple[list[Run], Leak | None]:
        """Start all runs, each with as many outcomes as it takes, and compare what they show.

        With ``densities``, a mechanism that some data make fail at an outcome is seen too.
        """

        def begin(reader: Reader) -> Run:
            run = Run(self.query, self.event, reader)
            for _, outcome in draws:
                if run.waiting is None:
                    break
                if densities:
                    run.waiting.log_density(outcome)
                run.give(outcome)
            return run

        return self._shown(begin, self.readers, draws)

    def advance(self, runs: list[Run], draws: Draws) -> tuple[list[Run], Leak | None]:
        """Give the last outcome of ``draws`` to every run, and compare what they show."""

        def resume(run: Run) -> Run:
            run.give(draws[-1][1])
            return run

        return self._shown(resume, runs, draws)

    def _shown(
        self, act: Callable[[T], Run], inputs: Sequence[T], draws: Draws
    ) -> tuple[list[Run], Leak | None]:
        """Act for every data set, and find the first difference between what they show.

        An error that all of them raise alike follows from public arguments and is raised; one
        that only some of them raise is a leak.
        """
        shown: list[Run] = []
        failures: list[Exception | None] = []
        for one in inputs:
            try:
                shown.append(act(one))
                failures.append(None)
            except Exception as error:  # noqa: BLE001 (whatever it is, the caller sees it)
                failures.append(error)
        first = failures[0]
        for i, failure in enumerate(failures):
            if repr(failure) != repr(first):
                return [], self._leak("error", i, draws, _named(first), _named(failure))
        if first is not None:
            raise first
        for i, run in enumerate(shown):
            difference = _difference(shown[0], run)
            if difference is not None:
                kind, *sides = difference
                return shown, self._leak(kind, i, draws, *sides)
        return shown, None

    def _leak(self, kind: str, i: int, draws: Draws, seen: str, instead: str) -> Leak:
        return Leak(kind, Path(self.data[0], self.data[i], draws), seen, instead)


def _difference(one: Run, other: Run) -> tuple[str, str, str] | None:
    if one.trail != other.trail:
        pairs = zip([*one.trail, None], [*other.trail, None], strict=False)
        mine, theirs = next((a, b) for a, b in pairs if a != b)
        return _kind(mine, theirs), _named(mine), _named(theirs)
    if one.answer != other.answer:
        return "answer", str(one.answer), str(other.answer)
    return None


def _kind(mine: object, theirs: object) -> str:
    """A read if either is one: draws are recorded label first, reads as their reductions."""
    draws = [isinstance(x, tuple) and x != () and isinstance(x[0], str) for x in (mine, theirs)]
    ended = [x is None for x in (mine, theirs)]
    return "draw" if all(d or e for d, e in zip(draws, ended, strict=True)) else "read"


def _named(entry: object) -> str:
    return "nothing" if entry is None else repr(entry)


def leaks(query: Query[Any], data: Sequence[Any], outcomes: Sequence[Any]) -> Leak | None:
    """Find the first thing that shows which data set is behind a run with these outcomes.

    Parameters
    ----------
    query : Query
        Made with :mod:`modicum.query`, or your own around a generator of steps.
    data : sequence of data sets
        Tuples of numbers, or anything :func:`modicum.mean` reads. They need not be neighbours.
    outcomes : sequence
        One outcome a draw, in order; it may stop early.

    Returns
    -------
    Leak or None
        ``None`` if for all data sets the reads, the draws' labels, mechanism types, events and
        public parameters, and the returned answer are equal, and no error is raised by some
        of them only.

    Examples
    --------
    >>> from modicum import audit, query
    >>> audit.leaks(query.count(epsilon=1), [(), (1.0, 2.0)], [(7,)]) is None
    True
    """
    draws = tuple((f"draw {i}", outcome) for i, outcome in enumerate(outcomes, start=1))
    return Family.of(query, data).start(draws, densities=True)[1]
