"""How many rows each label has, in a form that can travel."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from modicum.errors import UnsupportedData
from modicum.summaries.base import Sensitive

__all__ = ["KeyCounts"]

_KINDS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "b": (bool, str, "True".__eq__),
    "i": (int, str, int),
    "f": (float, float.hex, float.fromhex),
    "n": (Decimal, str, Decimal),
    "s": (str, str, str),
    "t": (datetime, datetime.isoformat, datetime.fromisoformat),
    "d": (date, date.isoformat, date.fromisoformat),
}
"""In this order: a bool is an int, and a datetime is a date."""


class KeyCounts(Sensitive):
    """Numbers of rows by label.

    Parameters
    ----------
    counts : mapping
        Sensitive, which labels there are included.

    Examples
    --------
    >>> one = KeyCounts({"a": 2, 5: 1})
    >>> one.merge(KeyCounts.from_bytes(one.to_bytes())).counts
    {'a': 4, 5: 2}
    """

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[Any, int]) -> None:
        self.counts = dict(counts)

    def merge(self, other: KeyCounts) -> KeyCounts:
        """Return the numbers of both; equal labels are one."""
        both = dict(self.counts)
        for key, n in other.counts.items():
            both[key] = both.get(key, 0) + n
        return KeyCounts(both)

    def to_bytes(self) -> bytes:
        """Write labels and numbers."""
        return json.dumps([[*_written(key), n] for key, n in self.counts.items()]).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> KeyCounts:
        """Read what :meth:`to_bytes` wrote."""
        return cls({_KINDS[kind][2](text): n for kind, text, n in json.loads(data)})


def _written(key: Hashable) -> tuple[str, str]:
    for kind, (of, write, _) in _KINDS.items():
        if isinstance(key, of):
            return kind, write(key)
    raise UnsupportedData("a label is none of the kinds of values that labels can be")
