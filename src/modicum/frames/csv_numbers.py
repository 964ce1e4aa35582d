"""How numbers are written in the cells of a CSV file.

A number is what is left of a cell without spaces and tabs around it, if that is a decimal number
in ASCII such as ``12``, ``-.5``, ``+1.``, ``1e3``, or ``inf`` or ``infinity`` in any case, with or
without a sign. The decimal point may be a comma instead; digits before it may be grouped by three
with a mark, throughout or not at all. Numbers are rounded to the nearest float64; ``1e400`` is
infinite. Every other cell is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument

__all__ = ["BLANKS", "MARKS", "Numbers"]

BLANKS = " \t"
MARKS = {
    ",": ",",
    ".": ".",
    " ": " \u00a0\u202f",
    "'": "'\u2019",
    "_": "_",
}
"""What may group digits, and how it may look."""


@dataclass(frozen=True)
class Numbers:
    """How numbers are written.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : str or None
        One of ``MARKS``.

    Raises
    ------
    InvalidArgument

    Examples
    --------
    >>> german = Numbers(",", ".")
    >>> german.value("1.234,5"), german.value("1234,5"), german.value("1.23")
    (1234.5, 1234.5, nan)
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in {".", ","}:
            raise InvalidArgument(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.thousands is not None and self.thousands not in tuple(MARKS):
            raise InvalidArgument(
                f"thousands must be None or one of {', '.join(map(repr, MARKS))}, "
                f"got {self.thousands!r}"
            )
        if self.thousands == self.decimal:
            raise InvalidArgument(f"thousands and decimal are both {self.decimal!r}")

    @property
    def plain(self) -> bool:
        """Whether a number is written as Python does."""
        return self.decimal == "." and self.thousands is None

    @property
    def pattern(self) -> str:
        """A regular expression that matches a whole cell if it is a number."""
        whole = "[0-9]+"
        if self.thousands is not None:
            whole = f"(?:[0-9]{{1,3}}(?:[{MARKS[self.thousands]}][0-9]{{3}})+|[0-9]+)"
        point = f"[{self.decimal}]"
        digits = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        return f"[+-]?(?:{digits}|(?i:inf|infinity))"

    def value(self, cell: str) -> float:
        """Return the number in a cell, or NaN."""
        return self.reader()(cell)

    def reader(self) -> Callable[[str], float]:
        """Return a function from a cell to the number in it, or NaN."""
        is_number = re.compile(self.pattern).fullmatch
        groups = "" if self.thousands is None else MARKS[self.thousands]
        change = str.maketrans(self.decimal, ".", groups)

        def value(cell: str) -> float:
            text = cell.strip(BLANKS)
            return float(text) if is_number(text) else np.nan

        def changed(cell: str) -> float:
            text = cell.strip(BLANKS)
            return float(text.translate(change)) if is_number(text) else np.nan

        return value if self.plain else changed

    def polars(self, text: Any) -> Any:
        """Return the same of an expression of texts."""
        pl = import_module("polars")
        text = text.str.strip_chars(BLANKS)
        if not self.plain:
            written = text
            if self.thousands is not None:
                written = written.str.replace_all(f"[{MARKS[self.thousands]}]", "")
            written = written.str.replace(self.decimal, ".", literal=True)
            text = pl.when(text.str.contains(f"^(?:{self.pattern})$")).then(written)
        return text.cast(pl.Float64, strict=False)
