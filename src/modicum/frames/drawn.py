"""At most m rows of each person, drawn by a key: the same ones whenever the table is read."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.frames.fewest import sorted_by_person
from modicum.frames.labels import Dictionary, label_bytes
from modicum.summaries.base import Integers, Sensitive

__all__ = ["DrawnRows"]


class DrawnRows(Sensitive):
    """Keeps m rows of each person, every set of m being equally likely over the keys.

    A table in parts is read anew for every job of a run, in whatever order, and all jobs must see
    the same rows. So a person's rows are sorted by their values, and the i-th of them gets the
    i-th word of SHAKE-256(key, label) as its tag; those with the smallest tags are kept. Rows
    that tie are equal in all that is read. So what is kept is a function of the key, the label
    and the multiset of the person's rows ([U7] on the proof page). All rows are held.

    Parameters
    ----------
    m : int
    key : int
        In [0, 2^256).
    persons : Dictionary
        Has made the codes of persons.

    Examples
    --------
    >>> persons = Dictionary()
    >>> rows = DrawnRows(1, 7, persons)
    >>> rows.add(persons.codes(["a", "b", "a", None]), [np.array([5.0, 1.0, 3.0, 0.0])])
    >>> persons, x = rows.kept()
    >>> persons, float(x[1]), x[0] in (3.0, 5.0)
    (array([0, 1]), 1.0, True)
    """

    __slots__ = ("_key", "_m", "_parts", "_persons")

    def __init__(self, m: int, key: int, persons: Dictionary) -> None:
        self._m = m
        self._persons = persons
        self._key = key.to_bytes(32, "little")
        self._parts: list[list[NDArray[Any]]] = []

    def add(self, codes: Integers, keys: Sequence[NDArray[Any]]) -> None:
        """Take in rows: the person of each (those below 0 are dropped) and its values."""
        owned = codes >= 0
        self._parts.append([column[owned] for column in (codes, *keys)])

    def kept(self) -> list[NDArray[Any]]:
        """Return the persons and the values of the rows that are left."""
        if not self._parts:
            return []
        persons = self._persons.keys()
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        order = sorted_by_person(columns)
        codes = columns[0][order]
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        lengths = np.diff(begins, append=len(codes))
        chosen = np.ones(len(codes), dtype=bool)
        for place in np.flatnonzero(lengths > self._m).tolist():
            start, length = int(begins[place]), int(lengths[place])
            tags = self._tags(persons[codes[start]], length)
            chosen[start : start + length] = False
            chosen[start + tags.argsort(kind="stable")[: self._m]] = True
        return [column[order[chosen]] for column in columns]

    def _tags(self, person: Hashable, count: int) -> NDArray[np.uint64]:
        digest = hashlib.shake_256(self._key + label_bytes(person)).digest(8 * count)
        return np.frombuffer(digest, "<u8")
