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

from modicum.sources.formats.numerals import MARKS, Numbers
from modicum.sources.labels import LabelValues, label_items
from modicum.summaries.base import Integers, Sensitive

_MOST_COUNTED = 1 << 16  # different values
_ENDS = 8  # different values that are kept at either end
_CODE = re.compile(r"-?(9+[789]|8{2,}|7{2,})|-[1789]")  # 99, 997, 88, -1, -9
_APART = 1.5
_MOST_SEEN = 1 << 10  # different cells of a kind that are kept, to try what is advised on them

TRUTHS = (
    ("true", "false"),
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("ja", "nein"),
    ("j", "n"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("vrai", "faux"),
    ("sí", "no"),
    ("si", "no"),
)
"""Words for what is true and false, besides 1 and 0."""

_NUMBER = r"[+-]?(?:\d[\d.,'_ \u00a0\u2007\u2009\u200a\u202f\u2019]*|[.,]\d+)"
_SIGN = r"(?:[$€£¥₹]|[A-Z]{3})"
_SPACE = r"[ \u00a0\u202f]?"
_SPACES = f"[{MARKS[' ']}]"
_PARTS = "\u00bc-\u00be\u2150-\u215e"  # ½ and the like
_FRACTION = rf"(?:\d+ )?\d{{1,2}}/\d{{1,2}}|\d*[ \u00a0]?[{_PARTS}]"
OPTIONS = {
    name: re.compile(r"[+-]?" + expression)
    for name, expression in {
        "thousands commas": r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d*)?",
        "decimal commas": r"\d*,\d+",
        "decimal points": r"\d*\.\d+",
        "thousands points": r"\d{1,3}(?:\.\d{3})+(?:,\d*)?",
        "thousands spaces": rf"\d{{1,3}}(?:{_SPACES}\d{{3}})+(?:\.\d*)?",
        "thousands spaces, decimal commas": rf"\d{{1,3}}(?:{_SPACES}\d{{3}})+,\d*",
        "thousands apostrophes": r"\d{1,3}(?:['\u2019]\d{3})+(?:\.\d*)?",
        "thousands underscores": r"\d{1,3}(?:_\d{3})+(?:\.\d*)?",
    }.items()
}
"""Numbers with marks, which are declared."""

AROUND = {
    name: re.compile(expression)
    for name, expression in {
        "currency signs": rf"([+-]?){_SIGN}{_SPACE}({_NUMBER})|({_NUMBER}){_SPACE}{_SIGN}",
        "percent signs": rf"({_NUMBER}){_SPACE}%",
        "brackets around numbers": rf"\(({_NUMBER})\)",
        "trailing minus signs": rf"({_NUMBER})-",
        "numbers with units": rf"({_NUMBER}){_SPACE}(?![{_PARTS}])[^\W\d_][^\s\d]{{0,9}}",
    }.items()
}
"""Numbers with something before or behind them; the groups are the number."""

_PATTERNS = {
    **OPTIONS,
    **AROUND,
    **{
        name: re.compile(expression)
        for name, expression in {
            "dates, year first": r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?",
            "dates, year last": r"\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?: .*)?",
            "times of day": r"\d{1,2}:\d{2}(?::\d{2}.*)?",
            "fractions, or days and months": _FRACTION,
            "limits such as <5 or 80+": rf"[<>≤≥~≈]=? ?{_NUMBER}|{_NUMBER} ?\+",
            "ranges": rf"{_NUMBER} ?(?:[-–—…]|\.\.+|to|bis|à) ?{_NUMBER}",
            "truth words": "(?i:" + "|".join(each for pair in TRUTHS for each in pair) + ")",
            "words for missing values": (
                r"(?i:n/?a|#n/a|nan|<na>|-nan|null|\(null\)|none|nil|nat|missing|unknown|\\n|-+|\.|\?)"
            ),
            "words with digits": r".*\d.*",
        }.items()
    },
}


@lru_cache(maxsize=1 << 16)
def pattern(text: str) -> str:
    """Return the kind of a text that is not a number.

    Examples
    --------
    >>> [pattern(each) for each in ("1,234.5", "12,5", "$ 5", "<5", "north")]
    ['thousands commas', 'decimal commas', 'currency signs', 'limits such as <5 or 80+', 'words']
    """
    bare = text.strip()
    for name, kind in _PATTERNS.items():
        if kind.fullmatch(bare) and (name not in AROUND or within(bare, name)):
            return name
    return "words" if bare else "blanks"


def within(text: str, name: str) -> str | None:
    """Return the number that has something around it, None if it is none.

    Examples
    --------
    >>> within("1,5 kg", "numbers with units"), within("(5)", "brackets around numbers")
    ('1,5', '-5')
    >>> within("1.2.3 kg", "numbers with units") is None
    True
    """
    found = AROUND[name].fullmatch(text.strip())
    if found is None:
        return None
    number = "".join(each for each in found.groups() if each).strip()
    if name in {"brackets around numbers", "trailing minus signs"}:
        number = f"-{number}"
    known = any(each.fullmatch(number) for each in OPTIONS.values())
    return number if known or re.fullmatch(r"[+-]?\d+", number) else None


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
    """Counts cells by what they hold; it is a coder, so that any reader of labels can feed it.

    ``seen`` has the first different cells of each kind, with how often each came.
    """

    __slots__ = ("_value", "cells", "empty", "patterns", "seen", "values")
    missing: ClassVar[int] = -1

    def __init__(self, numbers: Numbers) -> None:
        self._value = numbers.reader()
        self.cells = 0
        self.empty = 0
        self.patterns: Counter[str] = Counter()
        self.seen: dict[str, Counter[str]] = {}
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
                self.patterns[kind := pattern(text)] += times
                self._keep(kind, text, times)
            else:
                numbers += [value] * times
                self._keep("numbers", text, times)
        self.values.add(np.array(numbers, dtype=np.float64))
        return np.zeros(len(items), np.int64)

    def _keep(self, kind: str, text: str, times: int) -> None:
        seen = self.seen.setdefault(kind, Counter())
        if text in seen or len(seen) < _MOST_SEEN:
            seen[text] += times

    @property
    def others(self) -> int:
        return self.patterns.total()
