"""CSV files, cell by cell: what is not a number is missing where numbers are read.

:mod:`modicum.sources.csv_rows` defines which rows and cells there are. Rows that are too short lack
their last cells, cells beyond the header are ignored, and a blank line is a row without values.
Where values are counted, every cell that is not empty has one.

Spaces and tabs around a cell are ignored. The rest is a number if it is a decimal number in ASCII
such as ``12``, ``-.5``, ``+1.``, ``1e3``, or ``inf`` or ``infinity`` in any case, with or without a
sign. The decimal point may be a comma instead; digits before it may be grouped by three with a
mark, throughout or not at all. Numbers are rounded to the nearest float64; ``1e400`` is infinite.
Every other cell is missing.

Polars reads files many times faster. It gets those in which quotes stand around whole cells only,
for which it makes the same rows. It refuses others or reads them otherwise, so those are left to
the reader here. Only the time differs between the two.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument, MissingColumn, SourceError, UnsupportedData, as_given
from modicum.sources import base, csv_rows
from modicum.sources.polars import query_batches, query_count, streams

_MARKS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BLANKS = " \t"
MARKS = {",": ",", ".": ".", " ": " \u00a0\u202f", "'": "'\u2019", "_": "_"}
"""What may group digits, and how it may look."""


@dataclass(frozen=True)
class Numbers:
    """How numbers are written: the decimal point, "." or ",", and one of ``MARKS`` for thousands.

    Examples
    --------
    >>> german = Numbers(",", ".").reader()
    >>> german("1.234,5"), german("1234,5"), german("1.23")
    (1234.5, 1234.5, nan)
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in {".", ","}:
            raise InvalidArgument(f"decimal must be '.' or ',', got {as_given(self.decimal)}")
        if self.thousands is not None and self.thousands not in tuple(MARKS):
            raise InvalidArgument(
                f"thousands must be None or one of {', '.join(map(repr, MARKS))}, "
                f"got {as_given(self.thousands)}"
            )
        if self.thousands == self.decimal:
            raise InvalidArgument(f"thousands and decimal are both {self.decimal!r}")

    @property
    def plain(self) -> bool:
        """Whether a number is written as in Python."""
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

    def reader(self) -> Callable[[str], float]:
        """Return a function from a cell to its number, or NaN."""
        is_number = re.compile(self.pattern).fullmatch
        groups = "" if self.thousands is None else MARKS[self.thousands]
        change = str.maketrans(self.decimal, ".", groups)
        number = float if self.plain else lambda text: float(text.translate(change))

        def value(cell: str) -> float:
            text = cell.strip(_BLANKS)
            return number(text) if is_number(text) else np.nan

        return value

    def polars(self, text: Any) -> Any:
        """Return the expression of the numbers in an expression of cells."""
        pl = import_module("polars")
        text = text.str.strip_chars(_BLANKS)
        if not self.plain:
            written = text
            if self.thousands is not None:
                written = written.str.replace_all(f"[{MARKS[self.thousands]}]", "")
            written = written.str.replace(self.decimal, ".", literal=True)
            text = pl.when(text.str.contains(f"^(?:{self.pattern})$")).then(written)
        return text.cast(pl.Float64, strict=False)


class CsvFile(base.StreamSource):
    """A CSV file; every column may hold numbers, or text.

    Where values are counted, a column is read under another name, as labels: a cell that is not a
    number has a value too. Error messages call the file ``name``; ``columns`` are the names of the
    columns of a file without a header. ``keep`` is held as long as the file may be read.
    """

    def __init__(
        self,
        path: str,
        name: str,
        dialect: csv_rows.Dialect,
        numbers: Numbers,
        columns: Sequence[str] | None = None,
        *,
        keep: object = None,
    ) -> None:
        self._path = path
        self._keep = keep
        self.dialect = dialect
        self.numbers = numbers
        self._headed = columns is None
        self._header = _header(path, name, dialect) if columns is None else _named(columns)
        self._holds_numbers = not np.isnan(list(map(numbers.reader(), self._header))).all()
        if self._holds_numbers and len(set(self._header)) < len(self._header):
            raise UnsupportedData(f"column names must be unique; {self._like_data(repr(name))}")
        super().__init__("csv", self._header, label=repr(name))
        self._counted = "#" * (1 + max(map(len, self._header)))  # no name begins so
        self._agreed: bool | None = None

    def counted(self, column: str) -> str:
        return self._counted + column

    def check_counted(self, column: str | None) -> None:
        self.check(column)

    def holds_labels(self, column: str | None) -> bool:
        return column is not None and column.startswith(self._counted)

    def _missing(self, column: str) -> MissingColumn:
        """Return what is odd about the header; a header that may be somebody's row is not shown."""
        other = self.other_separator
        if other is not None:
            return MissingColumn(
                f"there is no column {column!r}: the header of {self._label} holds "
                f"{self._header[0].count(other)} {_MARKS[other]} and no "
                f"{self.dialect.separator!r}; give separator={other!r} "
                f"(--separator {'tab' if other == chr(9) else repr(other)})"
            )
        if self._headed and self._holds_numbers:
            return MissingColumn(f"there is no column {column!r}; {self._like_data(self._label)}")
        return super()._missing(column)

    @property
    def other_separator(self) -> str | None:
        """What seems to stand between cells instead, if the header is one cell."""
        mark = max(_MARKS, key=self._header[0].count)
        alone = len(self._header) == 1 and self._headed and mark in self._header[0]
        return mark if alone and mark != self.dialect.separator else None

    def facts(self) -> list[str]:
        """Return what may be unexpected about the bytes of the file; not private."""
        found = []
        if self.dialect.is_utf8 and not _is_utf8(self._path):
            found.append("some bytes are not UTF-8: perhaps --encoding cp1252")
        if not csv_rows.is_well_formed(self._path, self.dialect):
            found.append(
                "some quotes stand inside of cells or are never closed, or line ends differ"
            )
        if self._headed and self._holds_numbers:
            found.append(
                "the header holds numbers: if it is a row of data, --columns NAME,NAME,..."
            )
        return found

    def _like_data(self, name: str) -> str:
        return (
            f"the first line of {name} holds numbers: if it is not a header, name the columns with "
            "columns=[...] (--columns NAME,NAME,...)"
        )

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        places = [self._header.index(name) for name in columns]
        texts = [self._header.index(name.removeprefix(self._counted)) for name in labels]
        if not self._polars_agrees():
            return self._plain_batches(places, texts)
        pl = import_module("polars")
        cells = [pl.col(f"c{place}") for place in range(len(self._header))]

        def text(place: int, name: str) -> Any:
            # Where values are counted, lengths are cheaper to hand over than texts. A constant
            # would be cheaper still, but Polars 2.1 now and then changes the order of rows for one.
            cell = cells[place]
            return pl.when(cell != "").then(
                cell.str.len_bytes() if self.holds_labels(name) else cell
            )

        floats = [self.numbers.polars(cells[place]) for place in places]
        return query_batches(self._scan(), floats, list(map(text, texts, labels)))

    def _plain_batches(
        self, places: Sequence[int], texts: Sequence[int]
    ) -> Iterator[base.TableBatch]:
        rows, value = self._body(), self.numbers.reader()
        while batch := list(itertools.islice(rows, base.CHUNK)):
            yield base.TableBatch(
                [np.array([value(_cell(row, place)) for row in batch]) for place in places],
                [[_cell(row, place) or None for row in batch] for place in texts],
            )

    def _count(self) -> int:
        if self._polars_agrees():
            return query_count(self._scan())
        return sum(1 for _ in self._body())

    def about_rows(self) -> int | None:
        """By the length of the first lines."""
        with Path(self._path).open("rb") as file:
            first = file.read(1 << 20)
            lines = first.count(b"\n")
            return lines and os.fstat(file.fileno()).st_size * lines // len(first)

    def _body(self) -> Iterator[list[str]]:
        rows = csv_rows.read_rows(self._path, self.dialect)
        if self._headed:
            next(row for row in rows if row)
        return rows

    def _polars_agrees(self) -> bool:
        """Whether Polars is installed, and reads this file as the reader here does."""
        if self._agreed is None:
            self._agreed = (
                self.dialect.is_utf8
                and find_spec("polars") is not None
                and streams()
                and csv_rows.is_well_formed(self._path, self.dialect)
                and len(self._scan().collect_schema()) == len(self._header)
            )
        return self._agreed

    def _scan(self) -> Any:
        return import_module("polars").scan_csv(
            self._path,
            has_header=self._headed,
            separator=self.dialect.separator,
            infer_schema=False,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            raise_if_empty=False,
            glob=False,
            with_column_names=lambda names: [f"c{i}" for i in range(len(names))],
        )


def _header(path: str, name: str, dialect: csv_rows.Dialect) -> list[str]:
    with Path(path).open("rb") as file:
        if file.read(2) in _UTF_16:
            raise SourceError(f"{name!r} is in UTF-16: save it as UTF-8")
    header = next((row for row in csv_rows.read_rows(path, dialect) if row), None)
    if header is None:
        raise SourceError(f"{name!r} is empty: its first line must name the columns")
    return header


def _is_utf8(path: str) -> bool:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return False
    return True


def _named(columns: Sequence[str]) -> list[str]:
    names = [] if isinstance(columns, str) else list(columns)
    if not names or not all(isinstance(each, str) for each in names):
        raise InvalidArgument(f"columns must be a list of names, got {as_given(columns)}")
    return names


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""
