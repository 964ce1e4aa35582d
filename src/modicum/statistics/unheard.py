"""Code of a user that reads data: what it warns of is not heard."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

__all__ = ["unheard"]


@contextmanager
def unheard() -> Iterator[None]:
    """Let no warning of a user's code, Python's or NumPy's, tell of what it read.

    Warnings that a filter turns into errors are no errors either. Before Python 3.14 the filters
    are those of the whole process: warnings of other threads are not heard meanwhile.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
