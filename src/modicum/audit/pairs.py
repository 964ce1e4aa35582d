"""Small data sets and their neighbours, and the reader that serves them to a replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import Any, TypeVar

import numpy as np

from modicum.charging import fitted
from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.release import Record
from modicum.runtime.query import Query
from modicum.sources.base import Source, open_source
from modicum.sources.reader import check_columns, read
from modicum.summaries.base import Columns, Read

R = TypeVar("R", bound=Record)
Data = tuple[float, ...]
"""Records of a small data set, in order."""

Pair = tuple[Any, Any]
"""Two neighbouring data sets: tuples of numbers, or anything :func:`modicum.mean` reads."""


def neighbours(points: Iterable[float], max_records: int) -> tuple[tuple[Data, Data], ...]:
    """Return every pair of data sets that differ by one record.

    Parameters
    ----------
    points : iterable of float
        Values a record may have; a NaN is a missing value.
    max_records : int
        Size of the larger data set of the largest pairs.

    Returns
    -------
    tuple of pairs
        (data, the same with one record more), for all multisets of points of up to
        ``max_records - 1`` records, the empty one included. An audit takes both directions of
        a pair, so these are all the add and all the remove neighbours.

    Raises
    ------
    InvalidArgument
        Without points, or if ``max_records`` is not positive.

    Examples
    --------
    >>> neighbours((0.0, 5.0), 1)
    (((), (0.0,)), ((), (5.0,)))
    >>> len(neighbours(range(3), 3)), len(neighbours(range(3), 4))
    (30, 60)
    """
    values = tuple(float(x) for x in points)
    if not values or max_records < 1:
        raise InvalidArgument(
            "neighbours need at least one point and max_records >= 1, "
            f"got {len(values)} points and max_records={max_records}"
        )
    return tuple(
        (data, tuple(sorted((*data, x))))
        for records in range(max_records)
        for data in combinations_with_replacement(values, records)
        for x in values
    )


class Remembered:
    """A reader of one small data set that keeps every summary it has computed.

    A replay reads the same few summaries thousands of times; a reduction's answer is a function of
    the data, so it is computed once.
    """

    def __init__(self, data: Any) -> None:
        table = np.array(data, dtype=np.float64) if isinstance(data, tuple) else data
        self._source: Source = open_source(table)
        self._kept: dict[Read[Any], Any] = {}

    def check(self, column: str | Columns | None) -> None:
        """Refuse columns that the data do not have."""
        if isinstance(column, Columns):
            check_columns(self._source, column)
        else:
            self._source.check(column)

    def fitted(self, question: Query[R]) -> Query[R]:
        """Return a query as the live runner would answer it."""
        return fitted(question, self._source, question.budget.kind)

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads."""
        missing = [ask for ask in dict.fromkeys(reads) if ask not in self._kept]
        if missing:
            self._kept.update(zip(missing, read(self._source, missing, entropy), strict=True))
        return [self._kept[ask] for ask in reads]
