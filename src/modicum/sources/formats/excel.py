"""Workbooks of Excel: one sheet, copied row by row into a CSV file.

A sheet's own note of its size is not believed: many programs write a wrong one, and rows beyond it
would be lost. Every row of the file is a row, hidden or blank; of merged cells the first has the
value. Rows whose numbers do not rise are refused, for of two with one number a reader would keep
one in silence. The names of the sheets are public.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from modicum.errors import InvalidArgument, MissingColumn, SourceError, as_given, did_you_mean
from modicum.sources import base
from modicum.sources.formats import copied, csv_rows
from modicum.sources.formats.csv import CsvFile
from modicum.sources.formats.numerals import Numbers

SUFFIXES = (".xlsx", ".xlsm")
"""How the names of workbooks end."""

_PACKAGES = ("openpyxl",)


class Sheet(CsvFile):
    """The copy of a sheet; ``sheets`` are the names of all sheets of the workbook."""

    def __init__(
        self,
        copy: copied.Copy,
        name: str,
        sheets: Sequence[str],
        title: str,
        columns: Sequence[str] | None,
    ) -> None:
        dialect = csv_rows.Dialect()
        super().__init__(copy.path, name, dialect, Numbers(), columns, keep=copy)
        self._sheets, self._title = tuple(sheets), title

    def _missing(self, column: str) -> MissingColumn:
        others = [repr(each) for each in self._sheets if each != self._title]
        which = f"this is the sheet {self._title!r}"
        if others:
            which += f", and sheet= (--sheet) reads another: {', '.join(others)}"
        return MissingColumn(f"{super()._missing(column)}; {which}")


def open_sheet(
    path: str,
    name: str,
    *,
    sheet: str | int = 1,
    skip: int = 0,
    columns: Sequence[str] | None = None,
) -> Sheet:
    """Copy a sheet of a workbook, and open the copy; ``name`` is what errors call the workbook."""
    given: tuple[object, object] = (sheet, skip)
    if not (isinstance(given[0], str) or type(given[0]) is int):
        raise InvalidArgument(
            f"sheet must be the name of a sheet, or its number from 1 on, got {as_given(sheet)}"
        )
    if type(given[1]) is not int or skip < 0:
        raise InvalidArgument(f"skip must be a number of lines, got {as_given(skip)}")
    label = repr(name)
    copied.need_packages(label, _PACKAGES)
    sheets = base.guarded(label, lambda: _sheets(path))
    title = _chosen(sheets, sheet, label)
    copy = copied.Copy.of_rows(lambda: _rows(path, title, skip, columns), label)
    return base.guarded(label, lambda: Sheet(copy, name, sheets, title, columns))


def _book(path: str) -> Any:
    return import_module("openpyxl.reader.excel").load_workbook(
        path, read_only=True, data_only=True
    )


def _sheets(path: str) -> list[str]:
    """The names of the sheets that have cells: charts have none."""
    book = _book(path)
    try:
        return [each.title for each in book.worksheets]
    finally:
        book.close()


def _chosen(sheets: Sequence[str], sheet: str | int, label: str) -> str:
    if isinstance(sheet, str) and sheet in sheets:
        return sheet
    if not isinstance(sheet, str) or re.fullmatch("[0-9]{1,4}", sheet):  # as a shell gives it
        number = int(sheet)
        if 1 <= number <= len(sheets):
            return sheets[number - 1]
    meant = did_you_mean(sheet, sheets) if isinstance(sheet, str) else ""
    raise InvalidArgument(
        f"sheet={as_given(sheet)}: {label} has no such sheet{meant or ';'} its sheets are "
        + (", ".join(map(repr, sheets)) or "none")
    )


_MOST_ROWS = 1 << 20  # of a sheet of Excel
_BROKEN = "#VALUE!"  # a cell that cannot be read, as Excel writes it


def _values(book: Any, sheet: Any) -> Iterator[list[object]]:
    """Yield the values of all rows, also of those that the file leaves out.

    openpyxl stops at a cell that does not hold what its type says, and warns of a number that is
    formatted as a date and is none, with its place: both would tell of a row. Here it is asked for
    numbers, and such a cell is :data:`_BROKEN`.
    """
    reader = import_module("openpyxl.worksheet._reader")
    days, durations = book._date_formats, book._timedelta_formats  # noqa: SLF001
    with sheet._get_source() as source:  # noqa: SLF001
        parser = reader.WorkSheetParser(
            source,
            sheet._shared_strings,  # noqa: SLF001
            data_only=True,
            epoch=book.epoch,
        )
        parse = parser.parse_cell

        def parsed(element: Any) -> dict[str, Any]:
            try:
                cell: dict[str, Any] = parse(element)
                if cell["data_type"] == "n" and cell["style_id"] in days | durations:
                    is_duration = cell["style_id"] in durations
                    cell["value"] = reader.from_excel(cell["value"], book.epoch, is_duration)
            except Exception:  # noqa: BLE001 -- whatever it is, it is of one cell
                return {"column": parser.col_counter, "value": _BROKEN}
            return cell

        parser.parse_cell = parsed
        following = 1
        for number, cells in parser.parse():
            places = {cell["column"] for cell in cells}
            if not following <= number <= _MOST_ROWS or len(places) < len(cells):
                raise SourceError(
                    f"the sheet {sheet.title!r} is damaged: its rows are not numbered upwards from "
                    f"1 to {_MOST_ROWS:,} at most, or several cells have one place; save it anew"
                )
            for _ in range(following, number):
                yield []
            values: list[object] = [None] * max(places, default=0)
            for cell in cells:
                values[cell["column"] - 1] = cell["value"]
            yield values
            following = number + 1


def _rows(path: str, title: str, skip: int, columns: Sequence[str] | None) -> copied.Table:
    """Yield the header, the first row that holds anything, and the rows; or rows alone."""
    book = _book(path)
    try:
        sheet = book[title]
        rows = _values(book, sheet)
        for _ in zip(range(skip), rows, strict=False):
            pass
        names: Sequence[object] = columns or ()
        if columns is None:
            names = next((row for row in rows if any(each is not None for each in row)), ())
            while names and names[-1] is None:
                names = names[:-1]
            yield names
        for row in rows:
            yield row[: len(names)]
    finally:
        book.close()
