"""Released columns as a table of the library that the data came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def native_table(columns: Mapping[str, Sequence[Any]], engine: str) -> Any:
    """A table of the library that the data came in, of columns of one length.

    It is a pandas, Polars or PyArrow table, as the engine is; for DuckDB one of PyArrow, or of
    pandas; for any other engine a list of dicts.

    Examples
    --------
    >>> native_table({"key": ["a", "b"], "value": [1.0, 2.0]}, "numpy")
    [{'key': 'a', 'value': 1.0}, {'key': 'b', 'value': 2.0}]
    """
    if engine == "duckdb":
        engine = next((each for each in ("pyarrow", "pandas") if find_spec(each)), engine)
    if engine in _MAKERS:
        return getattr(import_module(engine), _MAKERS[engine])(dict(columns))
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
