"""Arrays of two dimensions, and Arrow arrays of lists of one size: rows that are vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.frames.arrow import arrow_floats
from modicum.frames.base import Chunk, Floats, Source, rows_of
from modicum.frames.labels import Coder
from modicum.frames.types import check_number
from modicum.summaries.base import Columns

__all__ = ["BLOCK", "MatrixSource", "open_lists", "open_matrix"]

BLOCK = 1 << 16
"""About as many values are in a block of rows: 512 KB."""


class MatrixSource(Source):
    """Rows of one width, in memory; they have no columns with a name.

    Its chunks hold blocks of rows under ``Columns()``.

    Parameters
    ----------
    engine : str
    rows, width : int
        Public as the shape of any array is.
    read : callable
        Rows [start, stop) as float64, a missing value as NaN.
    """

    def __init__(
        self, engine: str, rows: int, width: int, read: Callable[[int, int], Floats]
    ) -> None:
        super().__init__(engine)
        self._rows = rows
        self._read = read
        self.width = width

    def check_values(self, column: str | None) -> None:
        """Refuse the question for one column."""
        self.check(column)
        raise UnsupportedData(
            "an array must have one dimension for a statistic of one column, got rows of "
            f"{self.width}: pass one column of it, such as x[:, 0]"
        )

    def check(self, column: str | None) -> None:
        """Refuse a name."""
        if column is not None:
            raise InvalidArgument(
                f"column={column!r}: rows of an array have no names; leave the name out"
            )

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[str, Coder]
    ) -> Iterator[Chunk]:
        size = max(1, BLOCK // self.width)
        for start in range(0, self._rows, size):
            stop = min(start + size, self._rows)
            yield {None: rows_of(stop - start), Columns(): self._read(start, stop)}


def open_matrix(array: NDArray[Any]) -> MatrixSource:
    """Open a NumPy array of shape (n, d), d >= 1."""
    check_number("numpy", array.dtype.name, None)
    plain = np.asarray(array)

    def read(start: int, stop: int) -> Floats:
        return plain[start:stop].astype(np.float64, copy=False)

    return MatrixSource("numpy", len(plain), _checked_width(plain.shape[1]), read)


def open_lists(chunked: Any) -> MatrixSource:
    """Open an Arrow ChunkedArray of lists of one size; a missing list has missing values."""
    width = _checked_width(chunked.type.list_size)
    check_number("pyarrow", str(chunked.type.value_type), None)
    fixed = import_module("pyarrow").FixedSizeListArray

    def read(start: int, stop: int) -> Floats:
        parts = chunked.slice(start, stop - start).chunks
        return np.concatenate([np.empty((0, width)), *(_rows(part) for part in parts)])

    def _rows(part: Any) -> Floats:
        assert isinstance(part, fixed)
        values = part.values[part.offset * width : (part.offset + len(part)) * width]
        rows = arrow_floats(values).reshape(-1, width)
        if part.null_count:
            missing = part.is_null().to_numpy(zero_copy_only=False)
            rows = np.where(missing[:, None], np.nan, rows)
        return rows

    return MatrixSource("pyarrow", len(chunked), width, read)


def _checked_width(width: int) -> int:
    if width < 1:
        raise UnsupportedData("rows must have at least one value, got an array of shape (n, 0)")
    return width
