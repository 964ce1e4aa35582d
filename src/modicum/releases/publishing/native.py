"""Released columns as a table of the library that the data came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


class TypedCells(list[Any]):
    """Cells of a column that are all of one ``kind``, ``float`` or ``str``, or missing."""

    __slots__ = ("kind",)

    def __init__(self, cells: Sequence[Any], kind: type) -> None:
        super().__init__(cells)
        self.kind = kind


def native_table(columns: Mapping[str, Sequence[Any]], engine: str) -> Any:
    """A table of the library that the data came in, of columns of one length.

    It is a pandas, Polars or PyArrow table, as the engine is; for DuckDB one of PyArrow, or of
    pandas; for any other engine a list of dicts. Columns of :class:`TypedCells` have their type
    whatever they hold; those of others are as the library sees them.

    Examples
    --------
    >>> native_table({"key": ["a", "b"], "value": [1.0, 2.0]}, "numpy")
    [{'key': 'a', 'value': 1.0}, {'key': 'b', 'value': 2.0}]
    """
    if engine == "duckdb":
        engine = next((each for each in ("pyarrow", "pandas") if find_spec(each)), engine)
    if engine in _MAKERS:
        library = import_module(engine)
        made = {
            name: _column(library, cells) if isinstance(cells, TypedCells) else cells
            for name, cells in columns.items()
        }
        return getattr(library, _MAKERS[engine])(made)
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _column(library: Any, cells: TypedCells) -> Any:
    """Make a column of floats or of texts, of which all may be missing."""
    number = cells.kind is float
    if library.__name__ == "pandas":
        return library.Series(list(cells), dtype="float64" if number else str)
    if library.__name__ == "polars":
        return library.Series(cells, dtype=library.Float64 if number else library.String)
    return library.array(cells, type=library.float64() if number else library.string())
