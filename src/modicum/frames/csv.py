"""CSV files, cell by cell: what is no number is missing where numbers are read.

A number is what is left of a cell without spaces and tabs around it, if that is a decimal number
in ASCII such as ``12``, ``-.5``, ``+1.``, ``1e3``, or ``inf`` or ``infinity`` in any case, with or
without a sign. Numbers are rounded to the nearest float64; ``1e400`` is infinite. Rows that are too
short lack their last cells, cells beyond the header are ignored, and a blank line is a row without
values. Where values are counted, every cell that is not empty has one.

Polars reads files many times faster than the standard library, but refuses some that are not well
formed, such as a cell ``1"2``. A failure must not depend on a value, so those are left to the
standard library, which reads anything.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from modicum.errors import SourceError
from modicum.frames.base import CHUNK, Batch, StreamSource
from modicum.frames.lazy import query_batches, query_count, streams

__all__ = ["CsvFile", "is_well_formed"]

_BLANKS = " \t"
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.ASCII | re.IGNORECASE
)
_BLOCK = 1 << 20
_QUOTE, _COMMA, _LF, _CR = b'",\n\r'


class CsvFile(StreamSource):
    """A CSV file in UTF-8 with a header; every column may hold numbers, or text.

    Where values are counted, a column is read under another name, as labels: a cell that is no
    number has a value too.
    """

    def __init__(self, path: str, name: str) -> None:
        header = next((row for row in _rows(path) if row), None)
        if header is None:
            raise SourceError(f"{name!r} is empty: a CSV file needs a header")
        super().__init__("csv", header, label=repr(name))
        self._path = path
        self._header = header
        self._counted = "#" * (1 + max(map(len, header)))  # no name begins so
        self._agreed: bool | None = None

    def counted(self, column: str) -> str:
        """Return the name under which a checked column is read where its values are counted."""
        return self._counted + column

    def check_counted(self, column: str | None) -> None:
        """Check that a column is in the header."""
        self.check(column)

    def _holds_labels(self, column: str | None) -> bool:
        return column is not None and column.startswith(self._counted)

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Batch]:
        places = [self._header.index(name) for name in columns]
        texts = [self._header.index(name.removeprefix(self._counted)) for name in labels]
        if self._polars_agrees():
            floats = [_expression(place) for place in places]
            cells = [
                _filled(place) if self._holds_labels(name) else _text(place)
                for place, name in zip(texts, labels, strict=True)
            ]
            return query_batches(_scan(self._path), floats, cells)
        return _plain_batches(self._path, places, texts)

    def _count(self) -> int:
        if self._polars_agrees():
            return query_count(_scan(self._path))
        return sum(1 for _ in _body(self._path))

    def _polars_agrees(self) -> bool:
        """Whether Polars is there, and reads this file as the standard library does."""
        if self._agreed is None:
            self._agreed = (
                find_spec("polars") is not None
                and streams()
                and is_well_formed(self._path)
                and len(_scan(self._path).collect_schema()) == len(self._header)
            )
        return self._agreed


def _rows(path: str) -> Iterator[list[str]]:
    """Rows of cells, decoded so that nothing can fail; a blank line is an empty row."""
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.reader(file)
        while True:
            try:
                yield next(rows)
            except StopIteration:
                return
            except csv.Error:  # a cell longer than the library's limit
                yield []


def _body(path: str) -> Iterator[list[str]]:
    rows = _rows(path)
    next(row for row in rows if row)
    return rows


def _plain_batches(path: str, places: Sequence[int], texts: Sequence[int]) -> Iterator[Batch]:
    rows = _body(path)
    while batch := list(itertools.islice(rows, CHUNK)):
        yield Batch(
            [np.array([_number(_cell(row, place)) for row in batch]) for place in places],
            [[_cell(row, place) or None for row in batch] for place in texts],
        )


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _number(cell: str) -> float:
    text = cell.strip(_BLANKS)
    return float(text) if _NUMBER.fullmatch(text) else np.nan


def _scan(path: str) -> Any:
    return import_module("polars").scan_csv(
        path,
        infer_schema=False,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        raise_if_empty=False,
        glob=False,
        with_column_names=lambda names: [f"c{i}" for i in range(len(names))],
    )


def _expression(place: int) -> Any:
    pl = import_module("polars")
    text = pl.col(f"c{place}").str.strip_chars(_BLANKS)
    return text.cast(pl.Float64, strict=False)


def _text(place: int) -> Any:
    pl = import_module("polars")
    text = pl.col(f"c{place}")
    return pl.when(text != "").then(text)


def _filled(place: int) -> Any:
    """1 for a cell that is not empty: cheaper to hand over than its text."""
    pl = import_module("polars")
    return pl.when(pl.col(f"c{place}") != "").then(1)


def is_well_formed(path: str) -> bool:
    """Whether quotes stand around whole cells only, and lines end alike.

    Every quote that opens follows a comma, the start of a line or, within a cell, the quote that
    it doubles; every quote that closes comes before a comma, the end of a line or its double. All
    carriage returns belong to line ends, and the first line is not blank.
    """
    with Path(path).open("rb") as file:
        start = file.read(3).removeprefix(b"\xef\xbb\xbf")
        if start[:1] in {b"\n", b"\r"}:
            return False
        # Bytes 1 to -2 of each window are looked at; the windows overlap by two bytes.
        window, open_quotes, more = b"\n" + start, 0, True
        while more:
            block = file.read(_BLOCK)
            more = bool(block)
            window += block if more else b"\n"
            if b'"' in window or b"\r" in window:
                found = _quotes(window, open_quotes)
                if found is None:
                    return False
                open_quotes = found
            window = window[-2:]
    return open_quotes == 0


def _quotes(window: bytes, before: int) -> int | None:
    """Return whether a quote is open after a window (0 or 1), or None if one is misplaced."""
    text = np.frombuffer(window, np.uint8)
    inner = text[1:-1]
    returns = np.flatnonzero(inner == _CR)
    quotes = np.flatnonzero(inner == _QUOTE)
    opening, closing = quotes[before::2], quotes[1 - before :: 2]
    sound = (
        np.all(text[returns + 2] == _LF)
        and np.isin(text[opening], (_COMMA, _LF, _QUOTE)).all()
        and np.isin(text[closing + 2], (_COMMA, _LF, _CR, _QUOTE)).all()
    )
    return (before + len(quotes)) % 2 if sound else None
