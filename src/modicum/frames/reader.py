"""The one reader of data: it answers any number of reductions in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.frames.progress import watched
from modicum.frames.quiet import quiet
from modicum.frames.remote import RemoteSource, Scope
from modicum.frames.rows import PassingOnce
from modicum.frames.source import Source
from modicum.steps import Ask
from modicum.summaries.base import Accumulator, Fetchable

__all__ = ["check_asks", "check_column", "read"]


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
    if isinstance(source, RemoteSource):
        return source.answer(Scope(), [(0, ask) for ask in asks], entropy)
    rows = {ask.column: _ColumnRows(source, ask.column, entropy) for ask in asks}
    passes = [ask.reduction.begin(ask.lattice, rows[ask.column]) for ask in asks]
    readers: dict[str | None, list[Accumulator[Any]]] = {}
    for ask, accumulator in zip(asks, passes, strict=True):
        if accumulator.reads:
            readers.setdefault(ask.column, []).append(accumulator)
    with quiet():
        if readers:
            _feed(source, readers)
        return [accumulator.finish() for accumulator in passes]


def check_asks(source: Source, asks: Sequence[Ask[Any]]) -> None:
    """Check by the schema that all columns can be read for their reductions."""
    for ask in asks:
        check_column(source, ask.column, ask.lattice)


def check_column(source: Source, column: str | None, lattice: Lattice | None) -> None:
    """Check by the schema that a column has values, or where it has none (without a lattice)."""
    if lattice is None:
        source.check_counted(column)
    else:
        source.check_values(column)


def _feed(source: Source, readers: dict[str | None, list[Accumulator[Any]]]) -> None:
    chunks = source.chunks(list(readers))
    sized = ((len(next(iter(chunk.values()))), chunk) for chunk in chunks)
    for chunk in watched(sized, "reading", "rows"):
        for column, accumulators in readers.items():
            for accumulator in accumulators:
                accumulator.update(chunk[column])


class _ColumnRows(PassingOnce):
    """One column of a source, for reductions that come back to single rows."""

    __slots__ = ("_column", "_source")

    def __init__(self, source: Source, column: str | None, entropy: Entropy) -> None:
        super().__init__(entropy)
        self._source = source
        self._column = column

    @property
    def fetchable(self) -> Fetchable | None:
        """How to fetch single rows, if the source can."""
        return self._source.fetchable(self._column)

    def feed(self, accumulator: Accumulator[object]) -> None:
        """Make one more pass over the column."""
        if accumulator.reads:
            with quiet():
                _feed(self._source, {self._column: [accumulator]})
