"""Tables of counts: each row stands for as many rows as one of its columns says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from modicum.errors import InvalidArgument, UnsupportedData, as_given
from modicum.sources.base import Chunk, Source
from modicum.sources.labels import Coder, Label
from modicum.sources.opening import open_source
from modicum.sources.reader import RemoteSource
from modicum.summaries.base import Fetchable

_WHOLE = re.compile(r"u?int(8|16|32|64)|u?(tiny|small|big)int|u?integer")
_ONLY = (
    "a table of counts answers count_to() only: each of its rows stands for many, and a budget for "
    "those says nothing of a statistic of the counts"
)


class CountedTable(Source):
    """A table whose rows stand for many; it refuses to be read as a table of rows [bulk.2].

    ``inner`` is the table itself, opened, ``table`` what the caller gave. ``complete`` declares
    that its rows are those of a public list of keys, in a public order.
    """

    def __init__(self, table: Any, counts: str, *, complete: bool) -> None:
        if not isinstance(counts, str):
            raise InvalidArgument(f"counts must be a column name, got {as_given(counts)}")
        inner = open_source(table)
        if isinstance(inner, RemoteSource) or inner.views or isinstance(inner, CountedTable):
            raise UnsupportedData("counts are read from a table itself: write it to Parquet")
        super().__init__(inner.engine, inner.names, inner.declared, label=inner.label)
        inner.check_values(counts)
        if inner.declared(counts) and not _WHOLE.fullmatch(inner.declared(counts).lower()):
            raise UnsupportedData(
                f"column {counts!r} is declared as {inner.declared(counts)}: counts are integers "
                "of up to 64 bits"
            )
        self.inner, self.table, self.counts, self.complete = inner, table, counts, complete

    def check(self, column: str | None) -> None:
        raise InvalidArgument(_ONLY)

    def check_label(self, name: str) -> str | None:
        raise InvalidArgument(_ONLY)

    def holds_labels(self, column: str | None) -> bool:
        return False

    def fetchable(self, column: str | None) -> Fetchable | None:
        raise InvalidArgument(_ONLY)

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterable[Chunk]:
        raise InvalidArgument(_ONLY)


def counted(table: Any, counts: str, *, complete: bool = False) -> Source:
    """Say that each row of a table stands for as many rows as one of its columns says.

    Pass it to :class:`modicum.Curator` for :meth:`modicum.Curator.count_to`; nothing else can be
    asked of it.

    Parameters
    ----------
    table : table or path
        For example what ``SELECT page, count(*) AS n FROM views GROUP BY page`` gives: Parquet, a
        CSV file, a DuckDB relation, or a PyArrow, pandas or Polars table.
    counts : str
        The column of counts, integers. A missing or negative count is 0, and one above 2^53 is
        2^53.
    complete : bool
        Declares that the table has a row for every key of a public list, with the count 0 where
        nothing was counted, in an order that is public too. Its keys are then given. Nothing can
        check this: a table that has a key only because somebody has it tells who that is.

    Returns
    -------
    Source

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData
        If there is no such column, or it does not hold integers.

    Notes
    -----
    The privacy unit of the curator is then a row that was counted: one unit of a count, and not a
    row of this table. ``unit_of(rows=m)`` protects whoever owns at most m of them, in one count or
    in several.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"page": ["a", "b"], "n": [70, 0]})
    >>> curator = modicum.Curator(modicum.counted(table, "n"), budget=modicum.pure(1))
    >>> curator.mean("n", epsilon=1)
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: a table of counts answers count_to() only: ...
    """
    return CountedTable(table, counts, complete=complete)
