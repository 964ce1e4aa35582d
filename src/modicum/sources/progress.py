"""How far a long pass has come, on the terminal of whoever holds the data."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
_SILENT_SECONDS = 2.0
_PERIOD = 0.25


def watched(
    items: Iterable[tuple[int, T]],
    doing: str,
    what: str,
    about: Callable[[], int | None] = lambda: None,
) -> Iterator[T]:
    """Pass items on, and show how far the work is.

    It is a line on standard error, from the third second on and only if that is a terminal; it is
    erased at the end, so no log keeps it. The number of rows is rounded down to two digits. Only
    the main thread shows it: the parts of a table may be read in many threads at once.
    ``MODICUM_PROGRESS=off`` turns it off.

    Parameters
    ----------
    items : iterable of (int, item)
        Each with how much it counts.
    doing, what : str
        Such as "reading" and "rows".
    about : callable
        Returns how much all will count, about, if that is known; asked only if a line is shown.

    Yields
    ------
    item
    """
    stream = sys.stderr
    main = threading.current_thread() is threading.main_thread()
    off = os.environ.get("MODICUM_PROGRESS") == "off"
    if off or not main or stream is None or not stream.isatty():
        for _, item in items:
            yield item
        return
    done, shown, most = 0, "", None
    begun = time.monotonic()
    due = begun + _SILENT_SECONDS
    try:
        for amount, item in items:
            done += amount
            now = time.monotonic()
            if now >= due:
                if not shown:
                    with suppress(Exception):  # whatever is wrong, the work itself says it
                        most = about()
                due = now + _PERIOD
                text = f"modicum: {doing}, {_rounded(done):,} {what} so far"
                text += _left(done, most, now - begun)
                print("\r" + text.ljust(len(shown)), end="", file=stream, flush=True)
                shown = text
            yield item
    finally:
        if shown:
            print("\r" + " " * len(shown), end="\r", file=stream, flush=True)


def _left(done: int, most: int | None, seconds: float) -> str:
    """Say which part that is, and how long the rest takes at this speed.

    >>> _left(250, 1000, 3.0), _left(999, 1000, 300.0), _left(1001, 1000, 300.0)
    (' (25 %, about 9 s left)', ' (99 %, about 1 s left)', '')
    >>> _left(100, 10_000, 4.0), _left(1, 100_000, 1.0)
    (' (1 %, about 7 min left)', ' (0 %, about 28 h left)')
    """
    if not most or not 0 < done < most:
        return ""
    left = max(1.0, seconds * (most - done) / done)
    time_left = next(
        f"{left / size:.0f} {name}"
        for size, name, until in ((1, "s", 100), (60, "min", 6000), (3600, "h", float("inf")))
        if left < until
    )
    return f" ({100 * done // most} %, about {time_left} left)"


def _rounded(number: int) -> int:
    """Round down to two digits.

    >>> [_rounded(n) for n in (0, 7, 99, 12_345, 999_999)]
    [0, 7, 99, 12000, 990000]
    """
    zeros: int = 10 ** max(0, len(str(number)) - 2)
    return number // zeros * zeros
