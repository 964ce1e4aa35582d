"""What cells hold that are no numbers: kinds of patterns, never a value. Not private."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from modicum.frames.csv_numbers import Numbers
from modicum.frames.labels import Encoded, LabelValues
from modicum.summaries.base import Integers, Sensitive

__all__ = ["PatternCounts", "pattern"]

_NUMBER = r"[+-]?(?:\d[\d.,]*|[.,]\d+)"
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
    """Return what kind of text it is.

    Examples
    --------
    >>> [pattern(each) for each in ("1,234.5", "12,5", "$ 5", "north")]
    ['thousands commas', 'decimal commas', 'currency signs', 'words']
    """
    bare = text.strip(" \t")
    return next((name for name, kind in _PATTERNS.items() if kind.fullmatch(bare)), "words")


class PatternCounts(Sensitive):
    """Counts cells by what they hold; a coder, so that any reader of labels can feed it."""

    __slots__ = ("_value", "cells", "empty", "patterns")
    missing: ClassVar[int] = -1

    def __init__(self, numbers: Numbers) -> None:
        self._value = numbers.reader()
        self.cells = 0
        self.empty = 0
        self.patterns: Counter[str] = Counter()

    def codes(self, values: LabelValues) -> Integers:
        """Count labels; their codes are of no use."""
        if isinstance(values, Encoded):
            known = [*_texts(values.labels), None]
            places = np.where(values.places < 0, len(known) - 1, values.places).astype(np.intp)
            times = np.bincount(places, minlength=len(known)).tolist()
            for text, n in zip(known, times, strict=True):
                self._add(text, n)
            return np.zeros(len(places), np.int64)
        texts = _texts(values)
        for text in texts:
            self._add(text, 1)
        return np.zeros(len(texts), np.int64)

    @property
    def others(self) -> int:
        """How many cells are neither empty nor numbers."""
        return self.patterns.total()

    def _add(self, text: str | None, times: int) -> None:
        self.cells += times
        if not text:
            self.empty += times
        elif times and np.isnan(self._value(text)):
            self.patterns[pattern(text)] += times


def _texts(values: LabelValues) -> list[str | None]:
    if isinstance(values, Encoded):
        known = [*_texts(values.labels), None]
        return [known[max(place, -1)] for place in values.places.tolist()]
    items: Any = values.tolist() if isinstance(values, np.ndarray) else values
    return [None if each is None else str(each) for each in items]
