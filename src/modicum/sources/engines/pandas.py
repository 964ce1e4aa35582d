"""Tables and series of pandas, whose columns may be NumPy's, Arrow's or its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from modicum.errors import MissingColumn
from modicum.sources import labels
from modicum.sources.base import Floats, MemoryColumn, MemorySource, opener
from modicum.sources.engines import arrays, arrow
from modicum.sources.types import label_kind


@opener("pandas.DataFrame", "fireducks.pandas.DataFrame")
def open_pandas(frame: Any) -> MemorySource:
    """Open a DataFrame; columns whose name is not text cannot be read."""
    return _Frame(frame)


class _Frame(MemorySource):
    """A DataFrame of pandas."""

    def __init__(self, frame: Any) -> None:
        super().__init__(
            "pandas",
            len(frame),
            lambda name: pandas_column(frame[name]),
            [name for name in frame.columns if isinstance(name, str)],
            lambda name: frame[name].dtype.name,
        )
        self._frame = frame

    def label_type(self, column: str) -> str:
        kind = self._frame[column].dtype
        return kind.categories.dtype.name if hasattr(kind, "categories") else str(kind.name)

    def _missing(self, column: str) -> MissingColumn:
        if column not in self._frame.index.names:
            return super()._missing(column)
        return MissingColumn(f"{column!r} is the index and no column: pass table.reset_index()")


@opener("pandas.Series", "fireducks.pandas.Series")
def _open_series(series: Any) -> MemorySource:
    return MemorySource.of_column(
        "pandas", len(series), pandas_column(series), series.dtype.name, series.name
    )


def pandas_column(series: Any) -> MemoryColumn:
    """Open one column of a DataFrame."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return arrays.array_column(series.to_numpy())
    if _is_arrow(series.dtype):
        return arrow.arrow_column(series.array.__arrow_array__())
    read = _labels
    if hasattr(series.dtype, "categories"):
        read = partial(_of_categories, cache(lambda: _labels(series.dtype.categories)))
    return MemoryColumn(
        lambda start, stop: [series.iloc[start:stop]],
        lambda at: [series.iloc[at]],
        _unmasked,
        read,
    )


def _of_categories(known: Callable[[], labels.LabelValues], values: Any) -> labels.LabelValues:
    return labels.Encoded(values.cat.codes.to_numpy(), known())


def _is_arrow(dtype: Any) -> bool:
    # Before pandas 2.3 strings whose missing value is NaN have the storage "pyarrow_numpy".
    return hasattr(dtype, "pyarrow_dtype") or "pyarrow" in str(getattr(dtype, "storage", ""))


def _unmasked(series: Any) -> Floats:
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


def _labels(values: Any) -> labels.LabelValues:
    kind = values.dtype
    if _is_arrow(kind):
        return arrow.arrow_labels(values.array.__arrow_array__().combine_chunks())
    if label_kind(kind.name) == "datetime":
        unit = kind.unit if hasattr(kind, "unit") else np.datetime_data(kind)[0]
        return np.asarray(values.to_numpy(dtype=f"M8[{unit}]"))  # in UTC, if there is a zone
    if isinstance(kind, np.dtype) and kind.kind in "biuf":
        return np.asarray(values.to_numpy())
    if hasattr(kind, "numpy_dtype") and kind.numpy_dtype.kind in "biuf":
        filled = values.to_numpy(dtype=kind.numpy_dtype, na_value=0)
        return np.ma.array(filled, mask=values.isna().to_numpy())
    return labels.texts(values.to_numpy(dtype=object))
