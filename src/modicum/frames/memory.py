"""Columns in memory, whose rows can be fetched in any order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.frames.base import CHUNK, Chunk, Floats, Key, Source, guarded, rows_of
from modicum.frames.labels import Coder, Label
from modicum.summaries.base import Integers, Sensitive

__all__ = ["Column", "MemoryRows", "MemorySource", "Numbers", "scrambled"]


class Numbers(Protocol):
    """A column of numbers in memory, or the rows of a table."""

    def floats(self, start: int, stop: int) -> Floats:
        """Rows [start, stop) as float64, missing values as NaN."""

    def take(self, positions: NDArray[np.int64]) -> Floats:
        """Rows at increasing positions."""


class Column(Numbers, Protocol):
    """A column in memory that may hold labels."""

    def codes(self, start: int, stop: int, coder: Coder) -> Integers:
        """Codes of rows [start, stop) as labels."""


class MemorySource(Source):
    """Columns in memory, visited in scrambled order.

    In a sorted column every new chunk would hold new extremes; chunks taken from all over it make
    the cost of a pass nearly independent of the order of the rows.

    Parameters
    ----------
    engine : str
    rows : int
    column : callable
        Opens a column by its name.
    names, declared, alias
        See :class:`~modicum.frames.base.Source`.
    """

    def __init__(
        self,
        engine: str,
        rows: int,
        column: Callable[[str], Column],
        names: Sequence[str] | None = None,
        declared: Callable[[str], str] | None = None,
        *,
        alias: str | None = None,
    ) -> None:
        super().__init__(engine, names, declared, alias=alias)
        self._rows = rows
        self._column = column

    def fetchable(self, column: str | None) -> MemoryRows:
        """Return a way to fetch rows of a checked column by their position."""
        return MemoryRows(self._open(column), self._rows, self._label)

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[str, Coder]
    ) -> Iterator[Chunk]:
        opened = {each: self._open(each) for each in columns}
        coded = {Label(name): (self._column(name), coder) for name, coder in labels.items()}
        for number in scrambled(-(-self._rows // CHUNK)):
            start = number * CHUNK
            stop = min(start + CHUNK, self._rows)
            chunk: dict[Key, NDArray[Any]] = {
                name: column.floats(start, stop) for name, column in opened.items()
            }
            for label, (column, coder) in coded.items():
                chunk[label] = column.codes(start, stop, coder)
            yield chunk

    def _open(self, column: str | None) -> Numbers:
        if self._names is None:
            return self._column("")
        return _Rows() if column is None else self._column(column)


class _Rows:
    """The rows of a table, where no column is asked for."""

    def floats(self, start: int, stop: int) -> Floats:
        return rows_of(stop - start)

    def take(self, positions: NDArray[np.int64]) -> Floats:
        return rows_of(len(positions))


class MemoryRows(Sensitive):
    """A column in memory, as a :class:`~modicum.summaries.base.Fetchable`."""

    __slots__ = ("_label", "_numbers", "_rows")

    def __init__(self, numbers: Numbers, rows: int, label: str) -> None:
        self._numbers = numbers
        self._rows = rows
        self._label = label

    @property
    def size(self) -> int:
        """Number of rows."""
        return self._rows

    def take(self, positions: Integers) -> Floats:
        """Fetch rows at increasing positions."""
        return guarded(self._label, lambda: self._numbers.take(positions))


def scrambled(count: int) -> Iterator[int]:
    """Yield 0..count-1 so that every stretch of the sequence is spread over the whole.

    Steps of the golden ratio of ``count``, made prime to it.

    Examples
    --------
    >>> list(scrambled(8))
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    stride = round(count * (math.sqrt(5) - 1) / 2)
    while count and math.gcd(stride, count) > 1:
        stride += 1
    return (i * stride % count for i in range(count))
