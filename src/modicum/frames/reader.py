"""The one reader of data: it answers any number of reductions in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.frames.progress import watched
from modicum.frames.quiet import quiet
from modicum.frames.remote import RemoteSource, Scope
from modicum.frames.rows import PassingOnce
from modicum.frames.source import Source
from modicum.frames.vectors import Column, check_columns, check_held, parts, read_chunks, width_of
from modicum.steps import Ask
from modicum.summaries.base import Accumulator, Columns, Fetchable

__all__ = ["as_counted", "check_asks", "check_column", "read", "read_as"]

C = TypeVar("C", bound=Column)


def read(source: Source, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
    """Answer reductions in one pass over the columns that they need, or one job on a cluster.

    Parameters
    ----------
    source : Source
    asks : sequence of Ask
        All columns are checked before any data are touched.
    entropy : Entropy
        For reductions that choose rows in secret.

    Returns
    -------
    list
        Summaries in the order of the asks.

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData
        By the schema; never by the data.
    SourceError
        If the data cannot be read.
    """
    check_asks(source, asks)
    asks = [as_counted(source, ask) for ask in asks]
    if isinstance(source, RemoteSource):
        return source.answer(Scope(), [(0, ask) for ask in asks], entropy)
    rows = {ask.place: _ColumnRows(source, ask.place, entropy) for ask in asks}
    passes = [ask.reduction.begin(ask.lattice, rows[ask.place]) for ask in asks]
    readers: dict[Column, list[Accumulator[Any]]] = {}
    for ask, accumulator in zip(asks, passes, strict=True):
        if accumulator.reads:
            readers.setdefault(ask.place, []).append(accumulator)
    with quiet():
        if readers:
            _feed(source, readers)
        return [accumulator.finish() for accumulator in passes]


def check_asks(source: Source, asks: Sequence[Ask[Any]]) -> None:
    """Check by the schema that all columns can be read for their reductions."""
    for ask in asks:
        check_column(source, ask.place, ask.lattice)
        check_held(source, ask.reduction)


def as_counted(source: Source, ask: Ask[Any]) -> Ask[Any]:
    """Return an ask with its column named as it is read."""
    name = read_as(source, ask.column, ask.lattice)
    return ask if name == ask.column else replace(ask, column=name)


def read_as(source: Source, column: C, lattice: Lattice | None) -> C | str:
    """Return the name under which a column is read; without a lattice its values are counted."""
    if lattice is None and isinstance(column, str):
        return source.counted(column)
    return column


def check_column(source: Source, column: Column, lattice: Lattice | None) -> None:
    """Check by the schema that a column has values, or where it has none (without a lattice)."""
    if isinstance(column, Columns):
        check_columns(source, column)
    elif lattice is None:
        source.check_counted(column)
    else:
        source.check_values(column)


def _feed(source: Source, readers: dict[Column, list[Accumulator[Any]]]) -> None:
    for column, accumulators in readers.items():
        if isinstance(column, Columns):
            for accumulator in accumulators:
                accumulator.update(np.empty((0, width_of(source, column))))
    for chunk in watched(read_chunks(source, list(readers)), "reading", "rows"):
        for column, accumulators in readers.items():
            for part in parts(chunk, column):
                for accumulator in accumulators:
                    accumulator.update(part)


class _ColumnRows(PassingOnce):
    """One column of a source, for reductions that come back to single rows."""

    __slots__ = ("_column", "_source")

    def __init__(self, source: Source, column: Column, entropy: Entropy) -> None:
        super().__init__(entropy)
        self._source = source
        self._column = column

    @property
    def fetchable(self) -> Fetchable | None:
        """How to fetch single rows, if the source can."""
        if isinstance(self._column, Columns):
            return None
        return self._source.fetchable(self._column)

    def feed(self, accumulator: Accumulator[object]) -> None:
        """Make one more pass over the column."""
        if accumulator.reads:
            with quiet():
                _feed(self._source, {self._column: [accumulator]})
