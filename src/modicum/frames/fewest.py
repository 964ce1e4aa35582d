"""At most m rows of each person, the smallest by some keys; memory for those rows only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.summaries.base import Integers, Sensitive

__all__ = ["SmallestRows", "sorted_by_person"]

_LEAST = 1 << 18  # rows gathered before the first sort


class SmallestRows(Sensitive):
    """Keeps the m smallest rows of each person, rows being compared as tuples of keys.

    A person's rows that are kept are a function of that person's rows alone, as a multiset: ties
    are between rows that are equal in every key, and hence the same ([U2] on the proof page).
    About twice the kept rows are held.

    Parameters
    ----------
    m : int

    Examples
    --------
    >>> rows = SmallestRows(2)
    >>> rows.add(np.array([0, 1, 0, 0, -1]), [np.array([5.0, 1.0, 3.0, 4.0, 0.0])])
    >>> rows.kept()
    [array([3., 4., 1.])]
    """

    __slots__ = ("_held", "_limit", "_m", "_parts", "_rows")

    def __init__(self, m: int) -> None:
        self._m = m
        self._parts: list[list[NDArray[Any]]] = []
        self._rows = 0
        self._limit = _LEAST

    def add(self, codes: Integers, keys: Sequence[NDArray[Any]]) -> None:
        """Take in rows: the person of each (those below 0 are dropped) and its keys."""
        owned = codes >= 0
        columns = [codes, *keys]
        if not owned.all():
            columns = [column[owned] for column in columns]
        self._parts.append(columns)
        self._rows += len(columns[0])
        if self._rows >= self._limit:
            self._compact()
            self._limit = max(_LEAST, 2 * self._rows)

    def kept(self) -> list[NDArray[Any]]:
        """Return the keys of the rows that are left, in the order of persons and keys."""
        self._compact()
        return self._parts[0][1:] if self._parts else []

    def _compact(self) -> None:
        if not self._parts:
            return
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        order = sorted_by_person(columns)
        codes = columns[0][order]
        place = np.arange(len(codes))
        begins = np.ones(len(codes), dtype=bool)
        begins[1:] = codes[1:] != codes[:-1]
        rank = place - np.maximum.accumulate(np.where(begins, place, 0))
        self._parts = [[column[order[rank < self._m]] for column in columns]]
        self._rows = len(self._parts[0][0])


def sorted_by_person(columns: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Sort rows by person and keys, as ``numpy.lexsort(columns[::-1])``, several times as fast.

    By the first key alone; then by the person and that place, in one integer; only rows whose
    person and first key are equal need the other keys.
    """
    if len(columns) == 1:
        return columns[0].argsort()
    codes, first = columns[0], columns[1]
    rows = len(codes)
    by_first = np.argsort(first)
    places = codes[by_first] * rows + np.arange(rows)  # below 2^63: both factors fit in memory
    places.sort()
    order = by_first[places % max(rows, 1)]
    codes, first = codes[order], first[order]
    missing = first != first  # noqa: PLR0124 -- NaN
    tied = codes[1:] == codes[:-1]
    tied &= (first[1:] == first[:-1]) | (missing[1:] & missing[:-1])
    if len(columns) > 2 and tied.any():
        among, run = np.zeros(rows, dtype=bool), np.zeros(rows, dtype=np.int64)
        among[1:] |= tied
        among[:-1] |= tied
        run[1:] = np.cumsum(~tied)
        held = order[among]
        rest = [column[held] for column in columns[:1:-1]]
        order[among] = held[np.lexsort((*rest, run[among]))]
    return order
