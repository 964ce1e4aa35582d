"""The cyclic garbage collector, which rests while very many objects are made that are kept."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def at_rest(make: Callable[[], T]) -> T:
    """Return what a function makes while the collector rests.

    What is made for many groups is kept, and holds no cycles. The collector would go through all of
    it again and again, for half of the time.

    Examples
    --------
    >>> at_rest(gc.isenabled)
    False
    """
    collects = gc.isenabled()
    try:
        gc.disable()
        return make()
    finally:  # as its first step, so that no interrupt comes before it
        (gc.enable if collects else gc.disable)()
