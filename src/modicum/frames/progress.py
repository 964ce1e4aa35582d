"""Progress of long reads, for the person at the terminal who holds the data.

A line on standard error, from the third second on and only if that is a terminal; it is erased at
the end, so nothing is left in a log. The number of rows is rounded down to two digits. Only the
main thread shows it: the parts of a table may be read in many threads at once.
``MODICUM_PROGRESS=off`` turns it off.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

__all__ = ["watched"]

T = TypeVar("T")
_QUIET_SECONDS = 2.0
_PERIOD = 0.25


def watched(items: Iterable[tuple[int, T]], doing: str, what: str) -> Iterator[T]:
    """Pass items on, and tell how far it has come.

    Parameters
    ----------
    items : iterable of (int, item)
        How much each item counts, and the item.
    doing, what : str
        Words for the line, such as ``"reading"`` and ``"rows"``.

    Examples
    --------
    >>> list(watched([(3, "a"), (2, "b")], "reading", "rows"))
    ['a', 'b']
    """
    stream = sys.stderr
    main = threading.current_thread() is threading.main_thread()
    off = os.environ.get("MODICUM_PROGRESS") == "off"
    if off or not main or stream is None or not stream.isatty():
        for _, item in items:
            yield item
        return
    line = _Line(stream, doing, what)
    try:
        for amount, item in items:
            line.add(amount)
            yield item
    finally:
        line.erase()


class _Line:
    """One line of a terminal, rewritten now and then."""

    def __init__(self, stream: TextIO, doing: str, what: str) -> None:
        self._stream = stream
        self._doing = doing
        self._what = what
        self._total = 0
        self._due = time.monotonic() + _QUIET_SECONDS
        self._length = 0

    def add(self, amount: int) -> None:
        self._total += amount
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _PERIOD
            self._write(f"modicum: {self._doing}, {_rounded(self._total):,} {self._what} so far")

    def erase(self) -> None:
        if self._length:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)


def _rounded(number: int) -> int:
    """Round down to two digits.

    >>> [_rounded(n) for n in (0, 7, 99, 12_345, 999_999)]
    [0, 7, 99, 12000, 990000]
    """
    zeros: int = 10 ** max(0, len(str(number)) - 2)
    return number // zeros * zeros
