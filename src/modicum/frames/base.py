"""What the reader needs of any table or array: declared columns, and chunks of float64."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, Protocol, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from modicum.errors import (
    CopyRefused,
    InvalidArgument,
    MissingColumn,
    ModicumError,
    SourceError,
    UnsupportedData,
)
from modicum.frames.types import refusal

__all__ = ["CHUNK", "Column", "Declared", "Floats", "MemorySource", "Source", "StreamSource"]

CHUNK = 1 << 16
"""Most rows in a chunk."""

T = TypeVar("T")
Floats = NDArray[np.float64]
Declared = Callable[[str], nw.dtypes.DType]
"""Declared type of a column, by its name."""


class Source(ABC):
    """A table or array that can be read again and again, in chunks.

    Parameters
    ----------
    engine : str
        What reads it; public.
    names : sequence of str or None
        The columns; ``None`` for a one-dimensional array, whose one column has no name.
    declared : callable or None
        Their declared types.
    label : str
        What an error message calls it: a file's name, never its contents.
    """

    random_access: bool = False
    """Whether any row can be fetched by its position."""

    def __init__(
        self,
        engine: str,
        names: Sequence[str] | None = None,
        declared: Declared | None = None,
        *,
        label: str | None = None,
    ) -> None:
        self.engine = engine
        self.passes = 0
        """Passes made so far."""
        self._names = None if names is None else _unique(names)
        self._declared = declared
        self._label = f"the {engine} data" if label is None else label

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; ``None`` for a one-dimensional array."""
        return self._names

    @property
    def size(self) -> int | None:
        """Number of rows if any row can be fetched (sensitive), else ``None``."""
        return None

    def check(self, column: str | None) -> None:
        """Check that a column is declared, as numbers; looks at no value.

        ``None`` stands for the only column of an array, and for the rows of a table.
        """
        if self._names is None:
            if column is not None:
                raise InvalidArgument(
                    f"column={column!r}: this data has one dimension and no columns; leave it out"
                )
        elif column is not None:
            if column not in self._names:
                available = ", ".join(map(repr, self._names)) or "none"
                raise MissingColumn(f"there is no column {column!r}; available: {available}")
            problem = None if self._declared is None else refusal(column, self._declared(column))
            if problem is not None:
                raise UnsupportedData(problem)

    def check_values(self, column: str | None) -> None:
        """Check that a column has values to read: more than the rows of a table."""
        self.check(column)
        if column is None and self._names is not None:
            available = ", ".join(map(repr, self._names)) or "none"
            raise InvalidArgument(f"column is missing: say which one of {available}")

    def chunks(self, columns: Sequence[str | None]) -> Iterator[Mapping[str | None, Floats]]:
        """Read columns once, in an order of the source's choice.

        Parameters
        ----------
        columns : sequence of str or None
            Only these are read. ``None`` in a table yields zeros, one a row.

        Yields
        ------
        mapping
            Column to at most ``CHUNK`` float64 values; missing values are NaN. The arrays must
            not be written to.
        """
        self.passes += 1
        batches = self._attempt(lambda: iter(self._chunks(columns)))
        while (batch := self._attempt(lambda: next(batches, None))) is not None:
            yield batch

    def take(self, column: str | None, positions: NDArray[np.int64]) -> Floats:
        """Fetch rows at increasing positions, where ``random_access``."""
        return self._attempt(lambda: self._take(column, positions))

    @abstractmethod
    def _chunks(self, columns: Sequence[str | None]) -> Iterable[Mapping[str | None, Floats]]:
        """Read without guarding against failures."""

    def _take(self, column: str | None, positions: NDArray[np.int64]) -> Floats:
        raise NotImplementedError

    def _attempt(self, action: Callable[[], T]) -> T:
        """Turn any failure of an engine into one message that depends on no value."""
        try:
            return action()
        except (ModicumError, MemoryError):
            raise
        except Exception:  # noqa: BLE001, S110 - its text may quote data, so it is dropped
            pass
        raise SourceError(f"{self._label} could not be read")

    def __repr__(self) -> str:
        return f"Source(engine={self.engine!r}, columns={self._names!r})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise CopyRefused("an opened source guards data and refuses to be pickled or copied")


class Column(Protocol):
    """A column in memory."""

    def __len__(self) -> int: ...

    def floats(self, start: int, stop: int) -> Floats:
        """Rows [start, stop) as float64, missing values as NaN."""

    def take(self, positions: NDArray[np.int64]) -> Floats:
        """Rows at increasing positions."""


class MemorySource(Source):
    """Columns in memory, visited in scrambled order.

    In a sorted column every new chunk would hold new extremes; chunks taken from all over it make
    the cost of a pass independent of the order of the rows.
    """

    random_access = True

    def __init__(
        self,
        engine: str,
        rows: int,
        column: Callable[[str | None], Column],
        names: Sequence[str] | None = None,
        declared: Declared | None = None,
    ) -> None:
        super().__init__(engine, names, declared)
        self._rows = rows
        self._column = column

    @property
    def size(self) -> int:
        """Number of rows; sensitive."""
        return self._rows

    def _chunks(self, columns: Sequence[str | None]) -> Iterator[Mapping[str | None, Floats]]:
        opened = {each: self._open(each) for each in columns}
        for number in scrambled(-(-self._rows // CHUNK)):
            start = number * CHUNK
            stop = min(start + CHUNK, self._rows)
            yield {name: column.floats(start, stop) for name, column in opened.items()}

    def _take(self, column: str | None, positions: NDArray[np.int64]) -> Floats:
        return self._open(column).take(positions)

    def _open(self, column: str | None) -> Column:
        if column is None and self._names is not None:
            return _RowColumn(self._rows)
        return self._column(column)


class StreamSource(Source):
    """Batches that an engine produces, anew for every pass."""

    def _chunks(self, columns: Sequence[str | None]) -> Iterator[Mapping[str | None, Floats]]:
        named = [each for each in columns if each is not None]
        if not named:
            rows = _RowColumn(self._count())
            for start in range(0, len(rows), CHUNK):
                yield {None: rows.floats(start, min(start + CHUNK, len(rows)))}
            return
        for batch in self._batches(named):
            length = len(batch[named[0]])
            arrays: dict[str | None, Floats] = {**batch}
            if None in columns:
                arrays[None] = _RowColumn(length).floats(0, length)
            for start in range(0, length, CHUNK):
                yield {name: array[start : start + CHUNK] for name, array in arrays.items()}

    @abstractmethod
    def _batches(self, columns: Sequence[str]) -> Iterator[Mapping[str, Floats]]:
        """Columns in batches of any length."""

    @abstractmethod
    def _count(self) -> int:
        """Count the rows."""


class _RowColumn:
    """The rows themselves: zeros that take no memory."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def floats(self, start: int, stop: int) -> Floats:
        return np.broadcast_to(np.float64(0), (stop - start,))

    def take(self, positions: NDArray[np.int64]) -> Floats:
        return self.floats(0, len(positions))


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


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise UnsupportedData(f"column names must be unique, but {twice!r} occur more than once")
    return tuple(names)
