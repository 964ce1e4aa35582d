"""The one reader of data: it computes any number of reductions in one pass.

A table whose rows stay where they are computes them itself (:class:`RemoteSource`). Of all others
the columns are read in chunks, and several columns as vectors, in blocks of rows. Whatever holds
the columns, a reduction reads the same rows as the same float64 numbers; only the chunks differ. A
row with a missing value in any column of a vector is dropped. What becomes of a row depends on that
row only, so a row more or less is a record more or less.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit
from modicum.sources.base import Chunk, Floats, Source, suppress_warnings
from modicum.sources.engines.arrays import BLOCK, MatrixSource
from modicum.sources.progress import watched
from modicum.summaries.base import Accumulator, Columns, Fetchable, Read, Sensitive

if TYPE_CHECKING:
    from modicum.sources.conditions.view import View

Column = str | Columns | None
C = TypeVar("C", bound=Column)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scope:
    """Which records of a table are read, the same in all jobs of a run."""

    unit: Unit = field(default_factory=Unit)
    columns: tuple[str, ...] = ()  # all of numbers, if the unit names a column and rows to keep
    by: str | None = None  # the column of keys, if rows are grouped
    keys: tuple[Hashable, ...] = ()  # public; group i is made of the rows with keys[i]
    key: int | None = field(default=None, repr=False)  # decides what of a person is kept at random
    views: tuple[View, ...] = ()  # of which table, made of the one whose rows are read

    @classmethod
    def of(
        cls,
        unit: Unit,
        columns: Sequence[str | None],
        entropy: Entropy,
        by: str | None = None,
        keys: Sequence[Hashable] = (),
    ) -> Scope:
        """Return the scope of one run; rows that are kept at random are decided here."""
        owned = unit.column is not None
        keeps = owned and unit.combine in {None, "all"}
        named = named_columns(columns) if keeps else ()
        key = entropy.bits(256) if owned and unit.order_by is None else None
        return cls(unit, tuple(named), by, tuple(keys), key)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(each for each in (self.unit.column, self.by) if each is not None)


class RemoteSource(Source):
    """A table that computes reductions where its rows are."""

    @abstractmethod
    def answer(
        self, scope: Scope, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy
    ) -> list[Any]:
        """Compute checked reads, each for the group of its number (0 if rows are not grouped)."""

    @abstractmethod
    def count_keys(self, scope: Scope, entropy: Entropy) -> dict[Any, int]:
        """Count the rows of every label of the column that groups them; sensitive."""


def read(source: Source, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
    """Compute reductions in one pass over the columns that they need, or in one job on a cluster.

    Returns summaries in the order of the reads. The schema alone decides which columns are refused,
    before any data are touched; SourceError if the data cannot be read. The entropy is for
    reductions that choose rows in secret.
    """
    check_asks(source, reads)
    reads = [as_counted(source, ask) for ask in reads]
    if isinstance(source, RemoteSource):
        return source.answer(Scope(), [(0, ask) for ask in reads], entropy)
    rows = {ask.place: _rows_of(source, ask.place, entropy) for ask in reads}
    passes = [ask.reduction.begin(ask.lattice, rows[ask.place]) for ask in reads]
    readers: dict[Column, list[Accumulator[Any]]] = {}
    for ask, accumulator in zip(reads, passes, strict=True):
        if accumulator.reads:
            readers.setdefault(ask.place, []).append(accumulator)
    with suppress_warnings():
        if readers:
            _feed(source, readers)
        return [accumulator.finish() for accumulator in passes]


def _feed(source: Source, readers: dict[Column, list[Accumulator[Any]]]) -> None:
    for column, accumulators in readers.items():
        if isinstance(column, Columns):
            for accumulator in accumulators:
                accumulator.update(np.empty((0, width_of(source, column))))
    for chunk in watched(_chunks(source, list(readers)), "reading", "rows", source.about_rows):
        for column, accumulators in readers.items():
            for part in _parts(chunk, column):
                for accumulator in accumulators:
                    accumulator.update(part)


def _chunks(source: Source, columns: Sequence[Column]) -> Iterator[tuple[int, Chunk]]:
    """Read columns, single ones and those of vectors, once; yield lengths and chunks."""
    names = [None] if isinstance(source, MatrixSource) else single_columns(columns)
    chunks = source.chunks(names)
    for chunk in chunks:
        yield len(next(iter(chunk.values()))), chunk


def _parts(chunk: Chunk, column: Column) -> Iterator[Floats]:
    """Yield what a chunk holds of a column; of several, blocks of rows without missing values."""
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
    # The minimum is NaN if one of the values is: a fraction of the cost of a mask.
    if not np.isnan(block.min(initial=np.inf)):
        return block
    return block[~np.isnan(block).any(axis=1)]


class ColumnRows(Sensitive):
    """The :class:`~modicum.summaries.base.Rows` of a column.

    Without ``feed`` they pass once, and reductions get only randomness from them.
    """

    __slots__ = ("_feed", "_fetch", "entropy")

    def __init__(
        self,
        entropy: Entropy,
        feed: Callable[[Accumulator[object]], None] | None = None,
        fetch: Callable[[], Fetchable | None] = lambda: None,
    ) -> None:
        self.entropy = entropy
        self._feed = feed
        self._fetch = fetch

    @property
    def fetchable(self) -> Fetchable | None:
        return self._fetch()

    def feed(self, accumulator: Accumulator[object]) -> None:
        if self._feed is None:
            raise UnsupportedData("these rows pass once")
        with suppress_warnings():
            self._feed(accumulator)


def _rows_of(source: Source, column: Column, entropy: Entropy) -> ColumnRows:
    def feed(accumulator: Accumulator[object]) -> None:
        if accumulator.reads:
            _feed(source, {column: [accumulator]})

    def fetch() -> Fetchable | None:
        return None if isinstance(column, Columns) else source.fetchable(column)

    return ColumnRows(entropy, feed, fetch)


def check_asks(source: Source, reads: Sequence[Read[Any]]) -> None:
    """Check by the schema that all columns can be read for their reductions."""
    for ask in reads:
        check_column(source, ask.place, ask.of_values)
        if isinstance(source, RemoteSource) and ask.reduction.holds_rows:
            raise UnsupportedData(
                "this statistic holds all rows in memory, and those of "
                f"{source.engine} stay where they are: if its columns fit into the memory of this "
                "process, collect them first (.toPandas() in Spark, .compute() in Dask) and pass "
                "that, or else write them to Parquet and pass the path"
            )


def check_column(source: Source, column: Column, lattice: Lattice | None) -> None:
    """Check by the schema that a column has values, or can be counted (without a lattice)."""
    if isinstance(column, Columns):
        check_columns(source, column)
    elif lattice is None:
        source.check_counted(column)
    else:
        source.check_values(column)


def check_columns(source: Source, columns: Columns) -> None:
    """Check by the schema that rows of these columns can be read."""
    if columns.names is not None:
        for name in columns.names:
            source.check_values(name)
    elif not isinstance(source, MatrixSource):
        if source.engine == "list":
            raise UnsupportedData("a list declares no shape: pass numpy.asarray(x, dtype=float)")
        if source.is_table:
            raise InvalidArgument("columns is missing: a table needs columns=[...], their names")


def as_counted(source: Source, ask: Read[Any]) -> Read[Any]:
    """Return a read with its column named as it is read."""
    name = read_as(source, ask.column, ask.of_values)
    return ask if name == ask.column else replace(ask, column=name)


def read_as(source: Source, column: C, lattice: Lattice | None) -> C | str:
    """Return the name under which a column is read; without a lattice its values are counted."""
    if lattice is None and isinstance(column, str):
        return source.counted(column)
    return column


def single_columns(columns: Sequence[Column]) -> list[str | None]:
    """Return all columns, also those read together, each once; ``None`` is the rows."""
    names: dict[str | None, None] = {}
    for each in columns:
        together = (each.names or (None,)) if isinstance(each, Columns) else (each,)
        names.update(dict.fromkeys(together))
    return list(names)


def named_columns(columns: Sequence[Column]) -> list[str]:
    """Return the names of all columns, also of those read together, in order."""
    return sorted(name for name in single_columns(columns) if name is not None)


def width_of(source: Source, columns: Columns) -> int:
    """Return the number of components, by the schema."""
    if columns.names is not None:
        return len(columns.names)
    return source.width if isinstance(source, MatrixSource) else 1
