"""Several columns read together: rows as vectors, in blocks.

Whatever holds the columns, a reduction is shown the same rows as the same float64 numbers; only
how they are cut into blocks differs. A row with a missing value in any column is dropped: what
becomes of a row depends on that row only, so a row more or less is a record more or less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.frames.base import Chunk, Floats, Source
from modicum.frames.matrix import BLOCK, MatrixSource
from modicum.frames.remote import RemoteSource
from modicum.privacy.unit import Unit
from modicum.summaries.base import Columns, Reduction
from modicum.summaries.second_moments import HeldRows

__all__ = [
    "check_columns",
    "check_held",
    "check_vector_unit",
    "named_columns",
    "parts",
    "read_chunks",
    "width_of",
]

Column = str | Columns | None


def check_columns(source: Source, columns: Columns) -> None:
    """Check by the schema that rows of these columns can be read.

    Raises
    ------
    InvalidArgument
        If a table is given without names, or an array with names.
    MissingColumn, UnsupportedData
        If a column is missing or no number; if the rows are in a list.
    """
    if columns.names is not None:
        for name in columns.names:
            source.check_values(name)
    elif not isinstance(source, MatrixSource):
        if source.engine == "list":
            raise UnsupportedData("a list declares no shape: pass numpy.asarray(x, dtype=float)")
        if source.is_table:
            raise InvalidArgument("columns is missing: a table needs columns=[...], their names")


def check_held(source: Source, reduction: Reduction[Any]) -> None:
    """Refuse to hold all rows of a table whose rows stay where they are.

    Raises
    ------
    UnsupportedData
    """
    if isinstance(source, RemoteSource) and isinstance(reduction, HeldRows):
        raise UnsupportedData(
            f"this statistic holds all rows in memory, and those of {source.engine} stay where "
            "they are: if its columns fit into the memory of this process, collect them first "
            "(.toPandas() in Spark, .compute() in Dask) and pass that, or else write them to "
            "Parquet and pass the path"
        )


def check_vector_unit(unit: Unit, columns: Sequence[Column]) -> None:
    """Refuse what has no meaning for vectors: one record a person, made of its rows."""
    if unit.combine is not None and any(isinstance(each, Columns) for each in columns):
        raise InvalidArgument(
            "a person's rows are not combined into one vector: use unit_of(column, max_rows=...), "
            "or combine them beforehand"
        )


def named_columns(columns: Sequence[Column]) -> list[str]:
    """Return the names of all columns, several of them together or not, each once."""
    names: dict[str, None] = {}
    for each in columns:
        if isinstance(each, Columns):
            names.update(dict.fromkeys(each.names or ()))
        elif each is not None:
            names[each] = None
    return sorted(names)


def width_of(source: Source, columns: Columns) -> int:
    """Return the number of components, by the schema."""
    if columns.names is not None:
        return len(columns.names)
    return source.width if isinstance(source, MatrixSource) else 1


def read_chunks(source: Source, columns: Sequence[Column]) -> Iterator[tuple[int, Chunk]]:
    """Read columns, single ones and those of vectors, once; yield lengths and chunks."""
    if isinstance(source, MatrixSource):
        chunks = source.chunks([None])
    else:
        single: dict[str | None, None] = {}
        for each in columns:
            names = (each.names or (None,)) if isinstance(each, Columns) else (each,)
            single.update(dict.fromkeys(names))
        chunks = source.chunks(list(single))
    for chunk in chunks:
        yield len(next(iter(chunk.values()))), chunk


def parts(chunk: Chunk, column: Column) -> Iterator[Floats]:
    """Return what a chunk holds of a column; of several, blocks of rows without missing values."""
    if not isinstance(column, Columns):
        yield chunk[column]
        return
    whole = chunk.get(column)
    if whole is not None:
        yield _complete(np.ascontiguousarray(whole))
        return
    arrays = [chunk[name] for name in (column.names or (None,))]
    rows, size = len(arrays[0]), max(1, BLOCK // len(arrays))
    for start in range(0, rows, size):
        block = np.empty((min(size, rows - start), len(arrays)))
        for place, array in enumerate(arrays):
            block[:, place] = array[start : start + size]
        yield _complete(block)


def _complete(block: Floats) -> Floats:
    """Leave out rows with a NaN."""
    # The minimum is NaN if one of the values is: a fraction of the price of a mask.
    if not np.isnan(block.min(initial=np.inf)):
        return block
    return block[~np.isnan(block).any(axis=1)]
