"""A statistic supplied by a user: public data sets to try its promises on, and its warnings.

A few hundred sets find a method that fails on some data, or whose bounds are too small from some
number of records on; they prove nothing about all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from modicum.statistics.crossing import Reals

_GOLDEN = (5**0.5 - 1) / 2
_STEP_BY_STEP = 40  # numbers of records that are all tried
_LARGE = (100, 1000)
_CROWDS = (4, 10, 100, 1000)
_STRAY = 30
_SHOWN = 4


def _spread(count: int, *, column: int = 0) -> Reals:
    """Return numbers spread over [0, 1) without a pattern: fractional parts of multiples.

    They stand for random ones, and are the same each time.
    """
    found: Reals = np.modf((np.arange(count) + 1) * (_GOLDEN + column * 2**0.5))[0]
    return found


def grown(span: float) -> Iterator[tuple[Reals, Reals]]:
    """Yield pairs of sorted data sets within ±span/2, the second with one record more.

    From none to some dozens one by one, and some large ones: all equal in the middle and at an
    end, at both ends, tied, all different, and nearly equal beside one that is far.
    """
    draws = _spread(_LARGE[-1] + 1) - 0.5
    turns = np.arange(len(draws)) % 2 - 0.5
    kinds = (
        np.zeros(len(draws)),
        np.full(len(draws), -0.5),
        np.full(len(draws), 0.5),
        turns,
        np.rint(draws * 8) / 8,
        draws,
        np.where(np.arange(len(draws)) % 9 == 4, turns, draws * 2.0**-40),
    )
    for kind in kinds:
        records = kind * span
        for size in (*range(_STEP_BY_STEP), *_LARGE):
            yield np.sort(records[:size]), np.sort(records[: size + 1])
        for size in _LARGE:
            for more in (-span / 2, 0.0, span / 2):
                some = np.sort(records[:size])
                yield some, np.sort(np.append(some, more))


def crowds(points: Reals, lo: float, hi: float) -> Iterator[tuple[Reals, Reals]]:
    """Yield pairs of sets of sorted rows, the second with one row more.

    Copies of a row among ``points`` and one more copy, or another one of them; half of each of two;
    and rows all over the range, one by one.
    """
    for size in _CROWDS:
        for i, row in enumerate(points):
            copies = np.repeat(row[None], size, axis=0)
            for other in points:
                yield copies, _sorted(np.concatenate([copies, other[None]]))
            if i:
                halves = np.repeat(points[[0, i]], size // 2, axis=0)
                yield _sorted(halves), _sorted(np.concatenate([halves, row[None]]))
    columns = [_spread(_STRAY, column=each) for each in range(points.shape[1])]
    rows = lo + np.column_stack(columns) * (hi - lo)
    for size in range(_STRAY):
        yield _sorted(rows[:size]), _sorted(rows[: size + 1])


def _sorted(rows: Reals) -> Reals:
    """Sort rows by the first column, then by the second, and so on."""
    return rows[np.lexsort(rows.T[::-1])]


def shown(records: Reals) -> str:
    """Write a data set for an error message."""
    values, counts = np.unique(records, return_counts=True, axis=0)
    pairs = [
        f"{count} x {value}"
        for value, count in zip(values[:_SHOWN].tolist(), counts.tolist(), strict=False)
    ]
    return "(" + ", ".join(pairs) + (", ..." if len(values) > _SHOWN else "") + ")"


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Let no warning of a user's code, Python's or NumPy's, reveal the data that it reads.

    Filters that turn warnings into errors do not apply either. Before Python 3.14 the filters are
    those of the whole process: warnings of other threads are suppressed meanwhile.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
