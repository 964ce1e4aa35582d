"""Cells of text as numbers: one rule, cell by cell, whatever reads the file.

Blanks of all kinds around a cell are ignored, and so are marks that are not seen. The rest is a
number if it is a decimal number such as ``12``, ``-.5``, ``+1.``, ``1e3``, or ``inf`` or
``infinity`` in any case, with or without a sign. The decimal point may be a comma instead; digits
before it may be grouped with a mark, by three, throughout or not at all. Numbers are rounded to the
nearest float64; ``1e400`` is infinite.

What programs write otherwise, and can mean nothing else, is a number too: digits of other scripts
and of full width, a minus sign or dash of print before the digits, ``="5"`` and ``'5`` of
spreadsheets, ``1.5D+02`` of Fortran, groups such as ``12,34,567`` where commas group, and
``true`` and ``false`` as programs write them, which are 1 and 0. ``5-`` and ``(5)`` may also mean
an open range or a note: they are negative numbers if that is declared. Every other cell is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unicodedata import decimal as digit_of

import numpy as np

from modicum.errors import InvalidArgument, as_given

BLANKS = " \t"
MARKS = {
    ",": ",",
    ".": ".",
    " ": " \u00a0\u2007\u2009\u200a\u202f",
    "'": "'\u2019",
    "_": "_",
}
"""What may group digits, and how it may look."""

TRUTH = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
"""How programs write what is true and false."""

NEGATIVE = {"5-": r"(.*[0-9.,])-", "(5)": r"\((.*)\)"}
"""How a negative number may be written, by an example, besides with a sign before it."""

MAYBE = r"(?i)\d|[^\x00-\x7f]|true|false|inf"
"""What a cell holds if it can be a number at all: a pattern for Python and for Polars."""

_UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u061c\u2060\u2066\u2067\u2068\u2069\ufeff"
_PRINTED = (
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
_AROUND = BLANKS + _PRINTED + _UNSEEN
_QUOTED = re.compile(r'="(.*)"|\'(.*)')
_FORTRAN = re.compile(r"([+-]?[0-9]*[.,][0-9]*)[dD]([+-][0-9]{2,3})")
_SIGNS = str.maketrans(
    "\u2212\u2013\u2012\u2010\u2011\ufe63\ufe62",
    "------+",
)


@dataclass(frozen=True)
class Numbers:
    r"""How numbers are written: the decimal point, "." or ",", and one of ``MARKS`` for thousands.

    ``negative`` is one of ``NEGATIVE``.

    Examples
    --------
    >>> german = Numbers(",", ".").reader()
    >>> german("1.234,5"), german("1234,5"), german("1.23")
    (1234.5, 1234.5, nan)
    >>> usual = Numbers().reader()
    >>> [usual(each) for each in ("−5", '="5"', "TRUE", "1.5D+02", "5-", "½")]
    [-5.0, 5.0, 1.0, 150.0, nan, nan]
    """

    decimal: str = "."
    thousands: str | None = None
    negative: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in {".", ","}:
            raise InvalidArgument(f"decimal must be '.' or ',', got {as_given(self.decimal)}")
        for name, known in (("thousands", MARKS), ("negative", NEGATIVE)):
            given = getattr(self, name)
            if given is not None and given not in tuple(known):
                raise InvalidArgument(
                    f"{name} must be None or one of {', '.join(map(repr, known))}, "
                    f"got {as_given(given)}"
                )
        if self.thousands == self.decimal:
            raise InvalidArgument(f"thousands and decimal are both {self.decimal!r}")

    @property
    def plain(self) -> bool:
        """Whether a number is written as in Python."""
        return self.decimal == "." and self.thousands is None

    @property
    def pattern(self) -> str:
        """A regular expression that matches a whole cell if it is a number in ASCII."""
        whole = "[0-9]+"
        if self.thousands is not None:
            mark = f"[{MARKS[self.thousands]}]"
            whole = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]+"
            if self.thousands == ",":  # crores and lakhs
                whole = f"[0-9]{{1,2}}(?:,[0-9]{{2}})+,[0-9]{{3}}|{whole}"
            whole = f"(?:{whole})"
        point = f"[{self.decimal}]"
        digits = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        return f"[+-]?(?:{digits}|(?i:inf|infinity))"

    def reader(self) -> Callable[[str], float]:
        """Return a function from a cell to its number, or NaN."""
        is_number, maybe = re.compile(self.pattern).fullmatch, re.compile(MAYBE).search
        groups = "" if self.thousands is None else MARKS[self.thousands]
        change = str.maketrans(self.decimal, ".", groups)
        number = float if self.plain else lambda text: float(text.translate(change))

        def value(cell: str) -> float:
            text = cell.strip(BLANKS)
            if is_number(text):
                return number(text)
            if not maybe(text):
                return np.nan
            text = self._in_ascii(text)
            return number(text) if is_number(text) else TRUTH.get(text, np.nan)

        return value

    def _in_ascii(self, cell: str) -> str:
        """Return how a number is written plainly that is written otherwise; others change too."""
        text = cell.strip(_AROUND)
        if (quoted := _QUOTED.fullmatch(text)) is not None:
            text = (quoted[1] if quoted[2] is None else quoted[2]).strip(_AROUND)
        if not text.isascii():
            text = "".join(map(self._letter, text.translate(_SIGNS)))
        if (fortran := _FORTRAN.fullmatch(text)) is not None:
            text = f"{fortran[1]}e{fortran[2]}"
        if self.negative is not None:
            found = re.fullmatch(NEGATIVE[self.negative], text)
            if found is not None and found[1][:1] not in "+-":
                text = f"-{found[1]}"
        return text

    def _letter(self, letter: str) -> str:
        """Return a digit of any script as that of ASCII, and marks of full width as they are."""
        if letter.isdecimal():
            return str(digit_of(letter))
        if "\uff01" <= letter <= "\uff5e":
            return chr(ord(letter) - 0xFEE0)
        if letter == "\u066b":  # the decimal point of Arabic
            return self.decimal
        if letter == "\u066c" and self.thousands is not None:
            return self.thousands
        return letter

    def polars(self, text: Any) -> Any:
        """Return the expression of the numbers in an expression of cells.

        It reads those that are written plainly; whatever it leaves out :meth:`reader` decides.
        """
        pl = import_module("polars")
        text = text.str.strip_chars(BLANKS)
        if not self.plain:
            written = text
            if self.thousands is not None:
                written = written.str.replace_all(f"[{MARKS[self.thousands]}]", "")
            written = written.str.replace(self.decimal, ".", literal=True)
            text = pl.when(text.str.contains(f"^(?:{self.pattern})$")).then(written)
        return text.cast(pl.Float64, strict=False)
