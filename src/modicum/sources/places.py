"""The place of a label's key in a public list of keys."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.sources import base, labels
from modicum.summaries.base import Integers, Sensitive

_DENSE = 16  # entries of a table for each key, if a table is to be used
_LARGEST = 1 << 53  # floats up to it are integers in one way


class Places(Sensitive):
    """Codes labels by the place of their key in a public list: -1 if not in it, or missing.

    Columns of numbers are looked up in a table, or by bisection, where all numeric keys are whole.

    Examples
    --------
    >>> Places(["b", 5]).codes(["a", "b", None, "5", 5])
    array([-1,  0, -1,  1,  1])
    """

    __slots__ = ("_keys", "_labels", "_numbers", "_table")
    missing: ClassVar[int] = -1

    def __init__(self, keys: Sequence[Hashable]) -> None:
        self._keys = keys
        self._numbers = _WholeKeys.of(keys)
        self._labels = labels.Dictionary()
        self._table: Integers | None = None  # by codes of labels, made when it is needed

    def codes(self, values: labels.LabelValues) -> Integers:
        if self._numbers is not None and type(values) is np.ndarray:
            if values.dtype.kind in "bi" or values.dtype in {"u1", "u2", "u4"}:
                return self._numbers.places(values.astype(np.int64, copy=False))
            if values.dtype == np.float64:
                return self._numbers.places_of_floats(values)
        if self._table is None:
            codes = self._labels.codes(self._keys)
            texts = [(place, text) for place, key in enumerate(self._keys) for text in _texts(key)]
            places, found = [place for place, _ in texts], [text for _, text in texts]
            others = self._labels.codes(found)
            self._table = np.full(len(self._labels) + 1, -1)  # the last one is for all others
            self._table[others] = places
            self._table[codes] = np.arange(len(self._keys))
        # Whatever is not a key gets a code of its own after those of the keys.
        return self._table[np.minimum(self._labels.codes(values), len(self._table) - 1)]


class FirstPlace(Places):
    """Codes labels by whether their key is in a public list: 0, or -1."""

    __slots__ = ()

    def codes(self, values: labels.LabelValues) -> Integers:
        return np.minimum(super().codes(values), 0)


def _texts(key: Hashable) -> list[Hashable]:
    """Return what a key is found by where labels are text; of a tuple, any of its parts may be.

    >>> _texts(True), _texts(5)
    (['True', 'true', 'TRUE'], ['5'])
    """
    if isinstance(key, tuple):
        return list(itertools.product(*((each, *_texts(each)) for each in key)))
    text = str(key)
    return [text, text.lower(), text.upper()] if isinstance(key, bool | np.bool_) else [text]


class _WholeKeys:
    """Whole numbers and their places, for columns of numbers.

    With ``table`` it holds the place of least - 1 + i at i, -1 for a number that is not a key, and
    so at both ends; without it, ``sorted`` and ``order`` are for bisection.
    """

    __slots__ = ("_before", "_order", "_sorted", "_table")

    def __init__(self, numbers: Integers, places: Integers) -> None:
        order = numbers.argsort()
        self._sorted, self._order = numbers[order], places[order]
        self._table: Integers | None = None
        least, most = int(self._sorted[0]), int(self._sorted[-1])
        self._before = least - 1
        if most - least < _DENSE * len(numbers) + 1024:
            self._table = np.full(most - least + 3, -1)
            self._table[self._sorted - self._before] = self._order

    @classmethod
    def of(cls, keys: Sequence[Hashable]) -> _WholeKeys | None:
        """Take the numbers among the keys; None if there are none or one is not whole."""
        numbers: dict[int, int] = {}
        for place, key in enumerate(keys):
            if type(key) is int or isinstance(key, Real | Decimal):
                number: Any = key
                if not abs(number) <= _LARGEST or number != int(number):  # a NaN is not either
                    return None
                numbers[int(number)] = place
        if not numbers:
            return None
        wholes, places = (np.array(list(each), np.int64) for each in (numbers, numbers.values()))
        return cls(wholes, places)

    def places(self, values: Integers) -> Integers:
        if self._table is None:
            near = np.minimum(self._sorted.searchsorted(values), len(self._sorted) - 1)
            return np.where(self._sorted[near] == values, self._order[near], -1)
        # Modulo 2^64 every integer that is not a key lies at 0 or beyond the last one.
        at = (values - self._before).view(np.uint64)
        np.minimum(at, np.uint64(len(self._table) - 1), out=at)
        return self._table[at.view(np.int64)]

    def places_of_floats(self, values: NDArray[np.float64]) -> Integers:
        """Return the place of each number; NaN and fractions have none."""
        with base.suppress_warnings():
            whole = values.astype(np.int64)
            return np.where(whole == values, self.places(whole), -1)
