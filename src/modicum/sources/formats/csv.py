"""CSV files, cell by cell: what is not a number is missing where numbers are read.

:mod:`modicum.sources.formats.csv_rows` defines which rows and cells there are, and
:mod:`modicum.sources.formats.numerals` which cells are numbers. Rows that are too short lack their
last cells, cells beyond the header are ignored, and a blank line is a row without values. Where
values are counted, every cell that is not empty has one.

Polars reads files many times faster. It gets those in which quotes stand around whole cells only,
for which it makes the same rows. It refuses others or reads them otherwise, so those are left to
the reader here. Only the time differs between the two.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, MissingColumn, SourceError, as_given
from modicum.sources import base
from modicum.sources.engines.polars import labels_of, query_count, query_frames, streams
from modicum.sources.formats import csv_rows, file_kinds, headers
from modicum.sources.formats.numerals import MAYBE, Numbers

_MARKS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_COMMENTS = ("#", "%")
_KNOWN = 1 << 16  # cells


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
        row_names: bool = False,
        declared: bool = False,
        keep: object = None,
    ) -> None:
        self.path = path
        self._keep = keep
        self.dialect = dialect
        self.numbers = numbers
        self.first = None if columns is not None else _first_row(path, name, dialect)
        cells = self.first.cells if self.first is not None else _named(columns or ())
        header = self.first is not None and not declared
        self.data = headers.data_in(cells, numbers.reader()) if header else ""
        self._sure = not header or (not self.data and headers.are_names(cells))
        self.has_row_names = row_names
        self.header = ["", *cells] if row_names else cells
        super().__init__("csv", self.header, label=repr(name))
        self._counted = "#" * (1 + max(map(len, self.header)))  # no name begins so
        self._agreed: bool | None = None

    def counted(self, column: str) -> str:
        return self._counted + column

    def check_counted(self, column: str | None) -> None:
        self.check(column)

    def holds_labels(self, column: str | None) -> bool:
        return column is not None and column.startswith(self._counted)

    @property
    def named(self) -> bool:
        return self._sure

    def _missing(self, column: str) -> MissingColumn:
        """Return what is odd about the header; a header that may be somebody's row is not shown."""
        other = self.other_separator
        if other is not None:
            return MissingColumn(
                f"there is no column {column!r}: the header of {self._label} holds "
                f"{self.header[0].count(other)} {_MARKS[other]} and no "
                f"{self.dialect.separator!r}; give separator={other!r} "
                f"(--separator {'tab' if other == chr(9) else repr(other)})"
            )
        if self._sure or column in self.shared:
            return super()._missing(column)
        if self.no_header:
            return MissingColumn(f"there is no column {column!r}; {self.no_header}")
        meant = headers.nearly(column, self.names)
        hint = ";" if meant is None else f", did you mean {meant!r}?"
        return MissingColumn(f"there is no column {column!r}{hint} {self._available()}")

    def _available(self) -> str:
        said = super()._available()
        if self._sure:
            return said
        return f"{said}, which `modicum check` lists; if its first line is {self._what_else}"

    @property
    def _what_else(self) -> str:
        """What a first line may be that is not a header, and what to do about it."""
        cells = [] if self.first is None else self.first.cells
        begin = "".join(cells[:1])[:1]
        before = "a title, leave it out with skip=1 (--skip 1)"
        if begin in _COMMENTS and self.dialect.comment is None:
            before = f"a comment, say comment={begin!r} (--comment {begin!r})"
        if any("\ufffd" in cell for cell in cells):
            before += (
                f"; some of its bytes are not {self.dialect.encoding}: perhaps encoding='cp1252' "
                "(--encoding cp1252)"
            )
        return (
            "a row, name the columns with columns=[...] (--columns NAME,NAME,...), and if it is "
            + before
        )

    @property
    def no_header(self) -> str:
        return self.data and (
            f"the first line of {self._label} holds {self.data}: if it is not a header, name the "
            "columns with columns=[...] (--columns NAME,NAME,...)"
        )

    @property
    def other_separator(self) -> str | None:
        """What seems to stand between cells instead, if the header is one cell."""
        mark = max(_MARKS, key=self.header[0].count)
        alone = len(self.header) == 1 and self.first is not None and mark in self.header[0]
        return mark if alone and mark != self.dialect.separator else None

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        places = [self.header.index(name) for name in columns]
        texts = [self.header.index(name.removeprefix(self._counted)) for name in labels]
        if not self._polars_agrees():
            return self._plain_batches(places, texts)
        return self._polars_batches(places, texts, labels)

    def _polars_batches(
        self, places: Sequence[int], texts: Sequence[int], labels: Sequence[str]
    ) -> Iterator[base.TableBatch]:
        """Read by Polars; numbers that are not written plainly are read here, cell by cell."""
        pl = import_module("polars")
        cells = [pl.col(f"c{place}") for place in range(len(self.header))]

        def text(place: int, name: str) -> Any:
            # Where values are counted, lengths are cheaper to hand over than texts. A constant
            # would be cheaper still, but Polars 2.1 now and then changes the order of rows for one.
            cell = cells[place]
            return pl.when(cell != "").then(
                cell.str.len_bytes() if self.holds_labels(name) else cell
            )

        floats = [self.numbers.polars(cells[place]) for place in places]
        others = [
            pl.when(number.is_null()).then(cells[place])
            for number, place in zip(floats, places, strict=True)
        ]
        value = lru_cache(maxsize=_KNOWN)(self.numbers.reader())
        wide = len(floats)
        for batch in query_frames(self._scan(), [*floats, *others, *map(text, texts, labels)]):
            columns = batch.get_columns()
            yield base.TableBatch(
                [
                    _completed(number.to_numpy(), other, value)
                    for number, other in zip(columns[:wide], columns[wide : 2 * wide], strict=True)
                ],
                [labels_of(column) for column in columns[2 * wide :]],
            )

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
        with Path(self.path).open("rb") as file:
            first = file.read(1 << 20)
            lines = first.count(b"\n")
            return lines and os.fstat(file.fileno()).st_size * lines // len(first)

    def _body(self) -> Iterator[list[str]]:
        start = None if self.first is None else self.first.end
        return csv_rows.read_rows(self.path, self.dialect, start)

    def _polars_agrees(self) -> bool:
        """Whether Polars is installed, and reads this file as the reader here does."""
        if self._agreed is None:
            start = None if self.first is None else self.first.begin
            self._agreed = (
                self.dialect.is_utf8
                and find_spec("polars") is not None
                and streams()
                and csv_rows.is_well_formed(self.path, self.dialect, start)
                and self._skipped is not None
                and len(self._scan().collect_schema()) == len(self.header)
            )
        return self._agreed

    @property
    def _header_by_polars(self) -> bool:
        """Whether Polars leaves out the header; it would leave out cells that have no name."""
        return self.first is not None and not self.has_row_names

    @cached_property
    def _skipped(self) -> int | None:
        """How many lines come first that Polars has to leave out; None if it cannot."""
        if self.first is None:
            stop = csv_rows.begin_of_rows(self.path, self.dialect)
        else:
            stop = self.first.begin if self._header_by_polars else self.first.end
        with Path(self.path).open("rb") as file:
            text = file.read(stop)
        return None if re.search(rb"\r(?!\n)", text) else text.count(b"\n")

    def _scan(self) -> Any:
        return import_module("polars").scan_csv(
            self.path,
            has_header=self._header_by_polars,
            skip_lines=self._skipped,
            separator=self.dialect.separator,
            infer_schema=False,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            raise_if_empty=False,
            glob=False,
            with_column_names=lambda names: [f"c{i}" for i in range(len(names))],
        )


def _completed(
    numbers: NDArray[np.float64], others: Any, value: Callable[[str], float]
) -> NDArray[np.float64]:
    """Return numbers, with those of the cells that Polars did not take for one."""
    if others.null_count() == len(others):
        return numbers
    places = others.str.contains(MAYBE).fill_null(value=False).arg_true().to_numpy()
    if not len(places):
        return numbers
    found = np.array(list(map(value, others.gather(places).to_list())))
    whole = numbers.copy()
    whole[places] = found
    return whole


def _first_row(path: str, name: str, dialect: csv_rows.Dialect) -> csv_rows.FirstRow:
    with Path(path).open("rb") as file:
        other = file_kinds.other_kind(file.read(file_kinds.MOST_READ), dialect.separator)
    if other is not None:
        raise SourceError(f"{name!r} {other}")
    first = csv_rows.first_row(path, dialect)
    if first is None:
        raise SourceError(f"{name!r} is empty: its first line must name the columns")
    return first


def _named(columns: Sequence[str]) -> list[str]:
    names = [] if isinstance(columns, str) else list(columns)
    if not names or not all(isinstance(each, str) for each in names):
        raise InvalidArgument(f"columns must be a list of names, got {as_given(columns)}")
    return names


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""
