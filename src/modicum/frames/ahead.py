"""Reading ahead: one batch is decoded while the one before is summarised."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

from modicum.frames.quiet import quiet

__all__ = ["read_ahead"]

T = TypeVar("T")


def read_ahead(batches: Generator[T, None, None]) -> Iterator[T]:
    """Run a generator one item ahead, in a thread of its own.

    Worth it where the next item is made without the interpreter's lock. A failure of the
    generator is raised here, in its turn; when this iterator ends early, the thread finishes its
    item, and the generator is closed.

    Examples
    --------
    >>> list(read_ahead(number for number in range(3)))
    [0, 1, 2]
    """
    end = object()
    with closing(batches), ThreadPoolExecutor(1, "modicum-read-ahead") as thread:
        following = thread.submit(_next, batches, end)
        while (item := following.result()) is not end:
            following = thread.submit(_next, batches, end)
            yield item  # type: ignore[misc]


def _next(batches: Generator[T, None, None], end: object) -> T | object:
    with quiet():  # a thread does not inherit its caller's settings
        return next(batches, end)
