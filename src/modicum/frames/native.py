"""Tables and series of pandas and Polars in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.frames.arrays import ArrayColumn
from modicum.frames.arrow import ArrowColumn, arrow_labels
from modicum.frames.base import Floats
from modicum.frames.labels import Coder, Encoded, LabelValues, texts
from modicum.frames.lazy import polars_floats, polars_labels
from modicum.frames.memory import Column, MemorySource
from modicum.frames.types import check_number, label_kind
from modicum.summaries.base import Integers

__all__ = [
    "open_pandas",
    "open_pandas_series",
    "open_polars",
    "open_polars_series",
    "pandas_column",
]


def open_pandas(frame: Any) -> MemorySource:
    """Open a pandas DataFrame; columns whose name is no text cannot be asked for."""
    return MemorySource(
        "pandas",
        len(frame),
        lambda name: pandas_column(frame[name]),
        [name for name in frame.columns if isinstance(name, str)],
        lambda name: frame[name].dtype.name,
    )


def open_pandas_series(series: Any) -> MemorySource:
    """Open a pandas Series."""
    return _opened("pandas", series, series.dtype.name, pandas_column)


def open_polars(frame: Any) -> MemorySource:
    """Open a Polars DataFrame."""
    return MemorySource(
        "polars",
        frame.height,
        lambda name: _PolarsColumn(frame.get_column(name)),
        frame.columns,
        lambda name: str(frame.schema[name]),
    )


def open_polars_series(series: Any) -> MemorySource:
    """Open a Polars Series."""
    return _opened("polars", series, str(series.dtype), _PolarsColumn)


def _opened(
    engine: str, series: Any, declared: str, column: Callable[[Any], Column]
) -> MemorySource:
    check_number(engine, declared, None)
    opened = column(series)
    return MemorySource(engine, len(series), lambda _: opened, alias=series.name)


def pandas_column(series: Any) -> Column:
    """Open one column of a DataFrame."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return ArrayColumn(series.to_numpy())
    if _is_arrow(series.dtype):
        return ArrowColumn(series.array.__arrow_array__())
    return _PandasColumn(series)


def _is_arrow(dtype: Any) -> bool:
    return hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow"


class _PandasColumn:
    """A pandas Series of another type: numbers with a mask, or labels."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def floats(self, start: int, stop: int) -> Floats:
        return _unmasked(self._series.iloc[start:stop])

    def take(self, positions: NDArray[np.int64]) -> Floats:
        return _unmasked(self._series.iloc[positions])

    def codes(self, start: int, stop: int, coder: Coder) -> Integers:
        return coder.codes(_pandas_labels(self._series.iloc[start:stop]))


def _pandas_labels(values: Any) -> LabelValues:
    """Convert a Series or Index of labels."""
    kind = values.dtype
    if hasattr(kind, "categories"):
        return Encoded(values.cat.codes.to_numpy(), _pandas_labels(kind.categories))
    if _is_arrow(kind):
        return arrow_labels(values.array.__arrow_array__().combine_chunks())
    if label_kind(kind.name) == "moment":
        unit = kind.unit if hasattr(kind, "unit") else np.datetime_data(kind)[0]
        return np.asarray(values.to_numpy(dtype=f"M8[{unit}]"))  # in UTC, if there is a zone
    if isinstance(kind, np.dtype) and kind.kind in "biuf":
        return np.asarray(values.to_numpy())
    if hasattr(kind, "numpy_dtype") and kind.numpy_dtype.kind in "biuf":
        filled = values.to_numpy(dtype=kind.numpy_dtype, na_value=0)
        return np.ma.array(filled, mask=values.isna().to_numpy())
    return texts(values.to_numpy(dtype=object))


def _unmasked(series: Any) -> Floats:
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


class _PolarsColumn:
    def __init__(self, series: Any) -> None:
        # Polars takes a name such as "^x.*$" for a pattern, even in methods of a series.
        self._series = series.alias("")

    def floats(self, start: int, stop: int) -> Floats:
        return self._converted(self._series.slice(start, stop - start))

    def take(self, positions: NDArray[np.int64]) -> Floats:
        return self._converted(self._series.gather(positions))

    def codes(self, start: int, stop: int, coder: Coder) -> Integers:
        return coder.codes(polars_labels(self._series.slice(start, stop - start)))

    def _converted(self, part: Any) -> Floats:
        return np.asarray(polars_floats(part, part.dtype).to_numpy())
