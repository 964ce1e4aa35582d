"""CSV files, cell by cell: what is no number is missing.

A number is what is left of a cell without spaces and tabs around it, if that is a decimal number
in ASCII such as ``12``, ``-.5``, ``+1.``, ``1e3``, or ``inf``, ``infinity`` or ``nan`` in any
case, with or without a sign. Numbers are rounded to the nearest float64; ``1e400`` is infinite, and
``nan`` is missing like any other text. Rows that are too short lack their last cells, cells beyond
the header are ignored, and a blank line is a row without values.

Polars reads files several times faster than the standard library, but refuses some that are not
well formed, such as a cell ``1"2``. A failure must not depend on a value, so those are left to the
standard library, which reads anything.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from modicum.errors import SourceError
from modicum.frames.base import CHUNK, Floats, Source, StreamSource
from modicum.frames.lazy import PolarsQuery

__all__ = ["CsvRows", "open_csv"]

_BLANKS = " \t"
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)


def open_csv(path: str, name: str) -> Source:
    """Open one CSV file in UTF-8 with a header."""
    plain = CsvRows(path, _header(path, name), label=repr(name))
    return plain if find_spec("polars") is None else _PolarsCsv(path, plain)


def _header(path: str, name: str) -> list[str]:
    with _lines(path) as rows:
        header = next((row for row in rows if row), None)
    if header is None:
        raise SourceError(f"{name!r} is empty: a CSV file needs a header")
    return header


class _lines:  # noqa: N801 - used like a function
    """Rows of cells of a file, decoded so that nothing can fail."""

    def __init__(self, path: str) -> None:
        self._file = open(path, encoding="utf-8-sig", errors="replace", newline="")  # noqa: PTH123, SIM115

    def __enter__(self) -> Iterator[list[str]]:
        # A quote that is never closed makes one cell of the rest of the file.
        self._limit = csv.field_size_limit(sys.maxsize)
        return csv.reader(self._file)

    def __exit__(self, *_: object) -> None:
        csv.field_size_limit(self._limit)
        self._file.close()


class CsvRows(StreamSource):
    """A CSV file read by the standard library."""

    def __init__(self, path: str, header: Sequence[str], *, label: str) -> None:
        super().__init__("csv", header, label=label)
        self.path = path
        self.header = list(header)

    def _batches(self, columns: Sequence[str]) -> Iterator[Mapping[str, Floats]]:
        places = [(name, self.header.index(name)) for name in columns]
        with _lines(self.path) as rows:
            next(row for row in rows if row)
            while batch := list(itertools.islice(rows, CHUNK)):
                yield {name: np.array([_cell(row, i) for row in batch]) for name, i in places}

    def _count(self) -> int:
        with _lines(self.path) as rows:
            next(row for row in rows if row)
            return sum(1 for _ in rows)


def _cell(row: Sequence[str], place: int) -> float:
    if place >= len(row):
        return np.nan
    text = row[place].strip(_BLANKS)
    return float(text) if _NUMBER.fullmatch(text) else np.nan


class _PolarsCsv(StreamSource):
    """A CSV file read by Polars if it can read it from end to end."""

    def __init__(self, path: str, plain: CsvRows) -> None:
        super().__init__("csv (polars)", plain.header, label=plain._label)  # noqa: SLF001
        self._plain = plain
        self._query = _query(path, plain)
        self._sound: dict[tuple[str, ...], bool] = {}

    def _batches(self, columns: Sequence[str]) -> Iterator[Mapping[str, Floats]]:
        return self._reader(tuple(columns))._batches(columns)  # noqa: SLF001

    def _count(self) -> int:
        return self._reader(())._count()  # noqa: SLF001

    def _reader(self, columns: tuple[str, ...]) -> StreamSource:
        """Choose the reader by reading everything once; a pass must not break off."""
        if columns not in self._sound:
            self._sound[columns] = self._try(columns)
        return self._query if self._sound[columns] else self._plain

    def _try(self, columns: tuple[str, ...]) -> bool:
        try:
            if self._query.width() != len(self._plain.header):
                return False
            if columns:
                for _ in self._query._batches(columns):  # noqa: SLF001
                    pass
            else:
                self._query._count()  # noqa: SLF001
        except Exception:  # noqa: BLE001 - whatever it is, the other reader takes over
            return False
        return True


class _Query(PolarsQuery):
    def width(self) -> int:
        """Number of columns that Polars sees."""
        return len(self._frame.collect_schema())


def _query(path: str, plain: CsvRows) -> _Query:
    pl = import_module("polars")
    frame = pl.scan_csv(
        path,
        infer_schema=False,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        glob=False,
        with_column_names=lambda names: [f"c{i}" for i in range(len(names))],
    )

    def convert(name: str) -> Any:
        text = pl.col(f"c{plain.header.index(name)}").str.strip_chars(_BLANKS)
        return text.cast(pl.Float64, strict=False)

    return _Query("csv (polars)", frame, plain.header, None, convert)
