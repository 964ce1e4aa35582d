"""One-dimensional NumPy arrays, and lists of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import UnsupportedData
from modicum.frames.base import CHUNK, Floats
from modicum.frames.labels import Coder
from modicum.frames.memory import MemorySource
from modicum.frames.quiet import quiet
from modicum.frames.types import check_number
from modicum.summaries.base import Integers

__all__ = ["ArrayColumn", "numbers_of", "open_array", "open_list"]

_NUMBERS: tuple[type, ...] = (Real, Decimal, np.bool_, type(None))


class ArrayColumn:
    """A one-dimensional array of numbers; float64 is not copied."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def floats(self, start: int, stop: int) -> Floats:
        """Rows [start, stop); a view that cannot be written to, or a copy."""
        part: Floats = self._values[start:stop].astype(np.float64, copy=False).view()
        part.flags.writeable = False
        return part

    def take(self, positions: NDArray[np.int64]) -> Floats:
        """Rows at some positions."""
        part: Floats = self._values[positions].astype(np.float64, copy=False)
        return part

    def codes(self, start: int, stop: int, coder: Coder) -> Integers:
        """Codes of rows [start, stop) as labels."""
        return coder.codes(self._values[start:stop])


def open_array(array: NDArray[Any]) -> MemorySource:
    """Open a NumPy array."""
    if isinstance(array, np.ma.MaskedArray):
        raise UnsupportedData("a masked array hides values: pass x.astype(float).filled(numpy.nan)")
    if array.ndim != 1:
        raise UnsupportedData(
            "an array must have one dimension, or two if its rows are vectors, got "
            f"{array.ndim}: pass one column of it, or its rows as x.reshape(len(x), -1)"
        )
    check_number("numpy", array.dtype.name, None)
    return _source("numpy", np.asarray(array))


def open_list(items: Sequence[Any]) -> MemorySource:
    """Open a list, tuple or range, by copying it; an item that is no number is missing.

    A list declares no type, so refusing an item would tell something about it.
    """
    return _source("list", numbers_of(items))


def numbers_of(items: Sequence[Any]) -> Floats:
    """Convert items of no declared type; one that is no number is missing."""
    with quiet():
        parts = [_converted(items[i : i + CHUNK]) for i in range(0, len(items), CHUNK)]
    return np.concatenate([*parts, np.empty(0)])


def _source(engine: str, values: NDArray[Any]) -> MemorySource:
    column = ArrayColumn(values)
    return MemorySource(engine, len(values), lambda _: column)


def _converted(items: Sequence[Any]) -> Floats:
    if all(issubclass(kind, _NUMBERS) for kind in {type(item) for item in items}):
        try:
            return np.array(items, dtype=np.float64)
        except Exception:  # noqa: BLE001 -- whatever one item raises would tell of it
            pass  # such as an integer beyond 1.8e308
    return np.array([_number(item) for item in items], dtype=np.float64)


def _number(item: Any) -> float:
    if item is None or not issubclass(type(item), _NUMBERS):
        return math.nan
    try:
        return _float(item)
    except Exception:  # noqa: BLE001 -- such as a signalling NaN, or a class of the user's
        return math.nan


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
