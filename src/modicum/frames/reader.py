"""The one reader of data: it answers any number of reductions in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.frames.distributed import DistributedSource
from modicum.frames.source import Source
from modicum.steps import Ask
from modicum.summaries.base import Accumulator, Integers, Sensitive

__all__ = ["read"]


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
    for ask in asks:
        if ask.lattice is None:
            source.check(ask.column)
        else:
            source.check_values(ask.column)
    if isinstance(source, DistributedSource):
        return source.answer(asks, entropy)
    rows = {ask.column: _ColumnRows(source, ask.column, entropy) for ask in asks}
    passes = [ask.reduction.begin(ask.lattice, rows[ask.column]) for ask in asks]
    readers: dict[str | None, list[Accumulator[Any]]] = {}
    for ask, accumulator in zip(asks, passes, strict=True):
        if accumulator.reads:
            readers.setdefault(ask.column, []).append(accumulator)
    if readers:
        _feed(source, readers)
    return [accumulator.finish() for accumulator in passes]


def _feed(source: Source, readers: dict[str | None, list[Accumulator[Any]]]) -> None:
    with _quiet():
        for chunk in source.chunks(list(readers)):
            for column, accumulators in readers.items():
                for accumulator in accumulators:
                    accumulator.update(chunk[column])


def _quiet() -> np.errstate:
    """No floating-point warning or error may tell of a value, a signalling NaN for one."""
    return np.errstate(all="ignore")


class _ColumnRows(Sensitive):
    """One column of a source, for reductions that come back to single rows."""

    def __init__(self, source: Source, column: str | None, entropy: Entropy) -> None:
        self._source = source
        self._column = column
        self._entropy = entropy

    @property
    def entropy(self) -> Entropy:
        """Randomness for secret choices of rows."""
        return self._entropy

    @property
    def size(self) -> int | None:
        """Number of rows, if they can be fetched."""
        return self._source.size

    def take(self, positions: Integers) -> NDArray[np.float64]:
        """Fetch rows by position."""
        with _quiet():
            return self._source.take(self._column, positions)

    def feed(self, accumulator: Accumulator[object]) -> None:
        """Make one more pass over the column."""
        if accumulator.reads:
            _feed(self._source, {self._column: [accumulator]})
