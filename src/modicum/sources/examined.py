"""What the cells of a column hold, for the person who keeps them: not private, and never released.

Only ``modicum check`` reads it.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.sources.csv import Numbers
from modicum.sources.labels import LabelValues, label_items
from modicum.summaries.base import Integers, Sensitive

_MOST_COUNTED = 1 << 16  # different values
_ENDS = 8  # different values that are kept at either end
_CODE = re.compile(r"-?(9+[789]|8{2,}|7{2,})|-[1789]")  # 99, 997, 88, -1, -9
_APART = 1.5

_NUMBER = r"[+-]?(?:\d[\d.,]*|[.,]\d+)"
_COMMA = r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}"  # and not 1,234: that is a thousand
_SIGN = r"(?:[$€£¥₹]|[A-Z]{3})"
_PATTERNS = {
    name: re.compile(expression)
    for name, expression in {
        "thousands commas": r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?",
        "decimal commas": r"[+-]?\d*,\d+",
        "decimal points": r"[+-]?\d*\.\d+",
        "thousands points": r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?",
        "thousands spaces": r"[+-]?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:\.\d*)?",
        "thousands spaces, decimal commas": r"[+-]?\d{1,3}(?:[ \u00a0\u202f]\d{3})+,\d*",
        "thousands apostrophes": r"[+-]?\d{1,3}(?:['\u2019]\d{3})+(?:\.\d*)?",
        "thousands underscores": r"[+-]?\d{1,3}(?:_\d{3})+(?:\.\d*)?",
        "currency signs, decimal commas": (
            rf"[+-]?{_SIGN} ?[+-]?{_COMMA}|[+-]?{_COMMA}[ \u00a0]?{_SIGN}"
        ),
        "currency signs": rf"[+-]?{_SIGN} ?{_NUMBER}|{_NUMBER}[ \u00a0]?{_SIGN}",
        "percent signs": rf"{_NUMBER}[ \u00a0]?%",
        "brackets around numbers": rf"\({_NUMBER}\)",
        "dates, year first": r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?",
        "dates, year last": r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?: .*)?",
        "times of day": r"\d{1,2}:\d{2}(?::\d{2}.*)?",
        "numbers with units": rf"{_NUMBER}[ \u00a0]?[^\W\d_]{{1,5}}",
        "blanks": r"\s+",
        "words for missing values": (
            r"(?i:n/?a|#n/a|nan|<na>|-nan|null|\(null\)|none|nil|nat|missing|unknown|\\n|-+|\.|\?)"
        ),
        "words with digits": r".*\d.*",
    }.items()
}


@lru_cache(maxsize=1 << 16)
def pattern(text: str) -> str:
    """Return the kind of a text that is not a number.

    Examples
    --------
    >>> [pattern(each) for each in ("1,234.5", "12,5", "$ 5", "north")]
    ['thousands commas', 'decimal commas', 'currency signs', 'words']
    """
    bare = text.strip(" \t")
    return next((name for name, kind in _PATTERNS.items() if kind.fullmatch(bare)), "words")


class NumberCounts(Sensitive):
    """Counts numbers by their value; of very many different ones the frequent are counted alone.

    Each count is at most ``total`` / 32768 too small: when too many are kept, the median count is
    taken from all (Misra and Gries).
    """

    __slots__ = ("_counts", "_ends", "total")

    def __init__(self) -> None:
        self._counts: Counter[float] = Counter()
        self._ends: NDArray[np.float64] = np.empty(0)
        self.total = 0

    def add(self, values: NDArray[np.float64]) -> None:
        """Count an array of numbers; NaN are left out."""
        found, times = np.unique(values[~np.isnan(values)], return_counts=True)
        ends = np.unique(np.concatenate([self._ends, found]))
        self._ends = np.unique(np.concatenate([ends[:_ENDS], ends[-_ENDS:]]))
        self.total += int(times.sum())
        self._counts.update(dict(zip(found.tolist(), times.tolist(), strict=True)))
        if len(self._counts) > _MOST_COUNTED:
            middle = int(np.median(list(self._counts.values())))
            self._counts = Counter(
                {value: n - middle for value, n in self._counts.items() if n > middle}
            )

    @property
    def ends(self) -> tuple[float, float] | None:
        """The smallest and the largest number."""
        return (float(self._ends[0]), float(self._ends[-1])) if self.total else None

    def frequent(self, most: int) -> list[tuple[float, int]]:
        """The most frequent numbers that come more than once, with how often."""
        return [(value, n) for value, n in self._counts.most_common(most) if n > 1]

    def codes(self) -> list[tuple[float, int]]:
        """Numbers that may stand for a missing value, such as 999 and -1, with how often.

        They come more than once, look like a code, and lie apart: below zero where nothing else
        does, or half as high again as everything else.
        """
        likely = [value for value in self._ends.tolist() if _CODE.fullmatch(f"{value:.15g}")]
        others = [value for value in self._ends.tolist() if value not in likely]
        if not others:
            return []
        return [
            (value, self._counts[value])
            for value in likely
            if self._counts[value] > 1
            and (value < 0 <= others[0] or value > _APART * max(others[-1], 0.0) > 0)
        ]


class PatternCounts(Sensitive):
    """Counts cells by what they hold; it is a coder, so that any reader of labels can feed it."""

    __slots__ = ("_value", "cells", "empty", "patterns", "values")
    missing: ClassVar[int] = -1

    def __init__(self, numbers: Numbers) -> None:
        self._value = numbers.reader()
        self.cells = 0
        self.empty = 0
        self.patterns: Counter[str] = Counter()
        self.values = NumberCounts()

    def codes(self, values: LabelValues) -> Integers:
        """Count labels; their codes have no meaning."""
        items = label_items(values)
        numbers: list[float] = []
        for item, times in Counter(items).items():
            self.cells += times
            if item in {None, ""}:
                self.empty += times
            elif np.isnan(value := self._value(text := str(item))):
                self.patterns[pattern(text)] += times
            else:
                numbers += [value] * times
        self.values.add(np.array(numbers, dtype=np.float64))
        return np.zeros(len(items), np.int64)

    @property
    def others(self) -> int:
        return self.patterns.total()
