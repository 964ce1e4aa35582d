"""NumPy arrays of one dimension, or of two if their rows are vectors, and lists of numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources import base
from modicum.sources.labels import Coder, Label
from modicum.sources.types import check_number
from modicum.summaries.base import Columns

BLOCK = 1 << 16
"""About as many values are in a block of rows: 512 KB."""

_OF_OTHERS: Mapping[type, str] = {
    dict: "pass pandas.DataFrame(...) or polars.DataFrame(...) of it",
    list: "pass numpy.asarray(...) of it, or pandas.DataFrame(..., columns=[...])",
    tuple: "pass numpy.asarray(...) of it, or pandas.DataFrame(..., columns=[...])",
    str: "pass a list of numbers, a pandas.DataFrame(...) for labels, or the paths of files",
    bytes: "pass a list of numbers, or pandas.DataFrame(...) for labels",
}
"""Of what else a list may be, and what to pass."""

_NUMBERS: tuple[type, ...] = (Real, Decimal, np.bool_, type(None))


def array_column(values: NDArray[Any]) -> base.MemoryColumn:
    """Open a one-dimensional array of numbers; float64 is not copied."""
    return base.MemoryColumn(
        lambda start, stop: [values[start:stop]], lambda at: [values[at]], _protected_floats
    )


def _protected_floats(values: NDArray[Any]) -> base.Floats:
    """Return float64: a view that cannot be written to, or a copy."""
    floats: base.Floats = values.astype(np.float64, copy=False).view()
    floats.flags.writeable = False
    return floats


class MatrixSource(base.Source):
    """Rows of one width, in memory, whose columns have no names.

    Its chunks hold blocks of rows under ``Columns()``. ``declared`` is the printed name of the type
    of the values, and ``read`` returns rows [start, stop) as float64, a missing value as NaN. The
    shape is public, as that of any array is.
    """

    def __init__(
        self,
        engine: str,
        rows: int,
        width: int,
        declared: str,
        read: Callable[[int, int], base.Floats],
    ) -> None:
        check_number(engine, declared, None)
        if width < 1:
            raise UnsupportedData("rows must have at least one value, got an array of shape (n, 0)")
        super().__init__(engine)
        self._rows = rows
        self._read = read
        self.width = width

    def check_values(self, column: str | None) -> None:
        self.check(column)
        raise UnsupportedData(
            "an array must have one dimension for a statistic of one column, got rows of "
            f"{self.width}: pass one column of it, such as x[:, 0]"
        )

    def check(self, column: str | None) -> None:
        if column is not None:
            raise InvalidArgument(
                f"column={column!r}: rows of an array have no names; leave the name out"
            )

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterator[base.Chunk]:
        size = max(1, BLOCK // self.width)
        for start in range(0, self._rows, size):
            stop = min(start + size, self._rows)
            yield {None: base.rows_of(stop - start), Columns(): self._read(start, stop)}


@base.opener("numpy.ndarray")
def open_array(array: NDArray[Any]) -> base.Source:
    """Open a NumPy array of shape (n,), or (n, d) with d >= 1."""
    declared = array.dtype.name
    masked = sys.modules.get("numpy.ma")  # whoever has such an array has imported it
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise UnsupportedData("a masked array hides values: pass x.astype(float).filled(numpy.nan)")
    plain = np.asarray(array)
    if plain.ndim == 1:
        return base.MemorySource.of_column("numpy", len(plain), array_column(plain), declared)
    if plain.ndim != 2:
        raise UnsupportedData(
            "an array must have one dimension, or two if its rows are vectors, got "
            f"{array.ndim}: pass one column of it, or its rows as x.reshape(len(x), -1)"
        )

    rows, width = plain.shape
    return MatrixSource(
        "numpy", rows, width, declared, lambda a, b: plain[a:b].astype(np.float64, copy=False)
    )


def open_numbers(items: Sequence[Any]) -> base.Source:
    """Open a list, tuple or range, by copying it; an item that is not a number is missing.

    A list declares no type, so refusing an item would reveal something about it. What all items are
    counts as its type: texts, or rows.
    """
    for kind, advice in _OF_OTHERS.items():
        if items and all(isinstance(item, kind) for item in items):
            raise UnsupportedData(f"cannot read a list of {kind.__name__}: {advice}")
    values = numbers_of(items)
    return base.MemorySource.of_column("list", len(values), array_column(values), "float64")


def numbers_of(items: Sequence[Any]) -> base.Floats:
    """Convert items of no declared type; one that is not a number is missing."""
    with base.suppress_warnings():
        parts = [_converted(items[i : i + base.CHUNK]) for i in range(0, len(items), base.CHUNK)]
    return np.concatenate([*parts, np.empty(0)])


def _converted(items: Sequence[Any]) -> base.Floats:
    if all(issubclass(kind, _NUMBERS) for kind in {type(item) for item in items}):
        try:
            return np.array(items, dtype=np.float64)
        except Exception:  # noqa: BLE001 -- whatever one item raises would reveal it
            pass  # such as an integer beyond 1.8e308
    return np.array([_number(item) for item in items], dtype=np.float64)


def _number(item: Any) -> float:
    if item is None or not issubclass(type(item), _NUMBERS):
        return math.nan
    try:
        return nearest(item)
    except Exception:  # noqa: BLE001 -- such as a signalling NaN, or a class of the user's
        return math.nan


def nearest(number: Any) -> float:
    """Convert a number; one that float64 does not hold is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
