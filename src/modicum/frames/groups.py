"""Reading many groups of rows in one pass: what each group alone would give, for all of them.

A few groups are read with one accumulator for each reduction of each group, in bounded memory. Of
many groups the lattice integers are collected and sorted (:mod:`modicum.summaries.grouped`), 8
bytes a record, and no group needs another pass.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.frames.base import CHUNK, rows_of
from modicum.frames.labels import Label
from modicum.frames.people import kept_rows
from modicum.frames.places import Places
from modicum.frames.quiet import quiet
from modicum.frames.reader import as_counted
from modicum.frames.remote import RemoteSource, Scope, scope_of
from modicum.frames.rows import PassingOnce
from modicum.frames.source import Source
from modicum.privacy.unit import Unit
from modicum.steps import Ask
from modicum.summaries.base import Accumulator, Integers, Repeated, Sensitive
from modicum.summaries.grouped import PackedGroups, SortedGroups, summary_of_held
from modicum.summaries.sums import CountSummary
from modicum.summaries.tails import Tails

__all__ = ["GroupReader"]

_FEW = 64  # most groups that are read with accumulators of their own
_WAITING = 1 << 15  # rows of a group that are summarised at a time

Floats = NDArray[np.float64]
_Started = tuple[int, str | None, Accumulator[Any]]  # of a group and column


class GroupReader(Sensitive):
    """Reads the rows of a table by the keys of one column.

    Parameters
    ----------
    source : Source
        Its columns have been checked.
    unit : Unit
        Of a person who is named by a column, at most ``unit.rows`` rows are read, over all groups.
    by : str
        The column of keys.
    keys : sequence
        Different public keys; group i is made of the rows with ``keys[i]``. A key is also found by
        its text. Rows with other keys, or none, are in no group.
    columns : sequence of str or None
        All columns that will be asked for.
    key : int, optional
        Decides which rows of a person are kept, as in :func:`modicum.frames.people.reader_of`.
    """

    __slots__ = (
        "_by",
        "_columns",
        "_kept",
        "_key",
        "_keys",
        "_places",
        "_scope",
        "_sorted",
        "_source",
        "_unit",
    )

    def __init__(
        self,
        source: Source,
        unit: Unit,
        by: str,
        keys: Sequence[Hashable],
        columns: Sequence[str | None],
        key: int | None = None,
    ) -> None:
        self._source = source
        self._key = key
        self._scope: Scope | None = None  # of a table whose rows stay where they are
        self._unit = unit
        self._by = by
        self._keys = keys
        self._places = Places(keys)
        self._columns = sorted({each for each in columns if each is not None})
        self._kept: list[NDArray[Any]] | None = None  # the rows of persons
        self._sorted: dict[tuple[str | None, Lattice], SortedGroups] = {}

    def read(self, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy) -> list[Any]:
        """Answer reductions of groups in at most one pass.

        Parameters
        ----------
        asks : sequence of (int, Ask)
            Each for the group of that number.
        entropy : Entropy
            For reductions that choose rows in secret.

        Returns
        -------
        list
            Summaries in the order of the asks.
        """
        if isinstance(self._source, RemoteSource):
            if self._scope is None:
                self._scope = scope_of(self._unit, self._columns, entropy, self._by, self._keys)
            return self._source.answer(self._scope, asks, entropy)
        asks = [(group, as_counted(self._source, ask)) for group, ask in asks]
        with quiet():
            if self._unit.column is not None and self._kept is None:
                coders = {self._by: self._places}
                _, self._kept = kept_rows(
                    self._source, self._unit, self._columns, coders, entropy, self._key
                )
            if len(self._keys) <= _FEW:
                return self._read_apart(asks, entropy)
            return self._read_sorted(asks, entropy)

    def rows(self, columns: Sequence[str | None]) -> Iterator[tuple[Integers, dict[Any, Floats]]]:
        """Yield the groups of the rows of a chunk, -1 for none, and their columns."""
        if self._kept is None:
            for chunk in self._source.chunks(columns, {self._by: self._places}):
                yield chunk[Label(self._by)], {column: chunk[column] for column in columns}
            return
        groups, *values = self._kept
        held = dict(zip(self._columns, values, strict=True))
        for start in range(0, len(groups), CHUNK):
            part = slice(start, start + CHUNK)
            here = groups[part].astype(np.int64)
            yield (
                here,
                {
                    each: rows_of(len(here)) if each is None else held[each][part]
                    for each in columns
                },
            )

    def _read_apart(self, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy) -> list[Any]:
        started: list[_Started] = []
        for group, ask in asks:
            rows = _GroupRows(self, group, ask.column, entropy)
            started.append((group, ask.column, ask.reduction.begin(ask.lattice, rows)))
        waiting = started
        while waiting:
            self._feed(waiting)
            waiting = [
                (group, column, more)
                for group, column, each in started
                if isinstance(each, Repeated) and (more := each.further()) is not None
            ]
        return [accumulator.finish() for _, _, accumulator in started]

    def _feed(self, started: Sequence[_Started]) -> None:
        """Make one pass for accumulators of any groups and columns."""
        routes: dict[tuple[int, str | None], _Route] = {}
        for group, column, accumulator in started:
            routes.setdefault((group, column), _Route()).accumulators.append(accumulator)
        for groups, columns in self.rows(list(dict.fromkeys(column for _, column, _ in started))):
            order = groups.astype(np.int8).argsort(kind="stable")  # by digits: linear in the rows
            cuts = groups[order].searchsorted(np.arange(len(self._keys) + 1)).tolist()
            for column, x in columns.items():
                arranged = x.take(order)
                for group, (start, stop) in enumerate(itertools.pairwise(cuts)):
                    route = routes.get((group, column))
                    if route is not None and start < stop:
                        route.add(arranged[start:stop].copy())  # a view would keep the chunk
        for route in routes.values():
            route.flush()

    def _read_sorted(self, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy) -> list[Any]:
        counted = {ask.column for _, ask in asks if ask.lattice is None}
        wanted = {(ask.column, ask.lattice) for _, ask in asks if ask.lattice is not None}
        counts = {column: np.zeros(len(self._keys), dtype=np.int64) for column in counted}
        packed = {
            (column, lattice): PackedGroups(len(self._keys), lattice)
            for column, lattice in wanted
            if (column, lattice) not in self._sorted
        }
        columns = list(dict.fromkeys([*counted, *(column for column, _ in packed)]))
        for groups, chunk in self.rows(columns) if columns else ():
            for column, tally in counts.items():
                there = (groups >= 0) & ~np.isnan(chunk[column])
                np.add(tally, np.bincount(groups[there], minlength=len(tally)), out=tally)
            for (column, _), collected in packed.items():
                collected.update(groups, chunk[column])
        self._sorted |= {place: collected.finish() for place, collected in packed.items()}
        tails = {
            ask: self._sorted[ask.column, ask.lattice].tails(ask.reduction.keep)
            for ask, times in Counter(ask for _, ask in asks).items()
            if times > _FEW and ask.lattice is not None and isinstance(ask.reduction, Tails)
        }

        def summary(group: int, ask: Ask[Any]) -> Any:
            if ask.lattice is None:
                return CountSummary(int(counts[ask.column][group]))
            found = tails.get(ask)
            if found is not None:
                return found.summary(group)
            records = self._sorted[ask.column, ask.lattice].records(group)
            return summary_of_held(ask.reduction, ask.lattice, records, PassingOnce(entropy))

        return [summary(group, ask) for group, ask in asks]


class _Route:
    """The rows of one group on their way to its accumulators, many at a time."""

    __slots__ = ("_rows", "_waiting", "accumulators")

    def __init__(self) -> None:
        self.accumulators: list[Accumulator[Any]] = []
        self._waiting: list[Floats] = []
        self._rows = 0

    def add(self, x: Floats) -> None:
        self._waiting.append(x)
        self._rows += len(x)
        if self._rows >= _WAITING:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            x = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
            for accumulator in self.accumulators:
                accumulator.update(x)
        self._waiting, self._rows = [], 0


class _GroupRows(PassingOnce):
    """One column of one group, for reductions that make a second pass."""

    __slots__ = ("_column", "_group", "_reader")

    def __init__(
        self, reader: GroupReader, group: int, column: str | None, entropy: Entropy
    ) -> None:
        super().__init__(entropy)
        self._reader = reader
        self._group = group
        self._column = column

    def feed(self, accumulator: Accumulator[object]) -> None:
        """Make one more pass over the group."""
        with quiet():
            for groups, columns in self._reader.rows([self._column]):
                accumulator.update(columns[self._column][groups == self._group])
