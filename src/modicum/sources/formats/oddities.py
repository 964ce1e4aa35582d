"""What may be unexpected about a file of text, for the person who keeps it: not private.

Only ``modicum check`` reads it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from modicum.errors import number_of
from modicum.sources.formats import csv_rows, file_kinds, headers
from modicum.sources.formats.csv import CsvFile

_MOST_ROWS = 100_000
_BEGIN = 100  # rows that show how many cells there are
_MOST_BEFORE = 50  # lines before a header
_BLOCK = 1 << 20


def oddities(source: CsvFile) -> list[str]:
    r"""Return lines about the bytes of a file, each with the option that helps.

    Examples
    --------
    >>> import modicum, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> lines = ["Table 1", "", "id,note", *['7,"5\\" pipe"'] * 3]
    >>> _ = path.write_text(chr(10).join(lines))
    >>> print(*oddities(modicum.csv_file(path)), sep=chr(10))
    backslashes stand before quotes: --escape '\'
    the first line has 1 cell and most others 2: --skip 1
    """
    return [*_of_bytes(source), *_of_header(source), *_of_rows(source)]


def _of_bytes(source: CsvFile) -> Iterator[str]:
    dialect = source.dialect
    with Path(source.path).open("rb") as file:
        other = file_kinds.other_kind(file.read(file_kinds.MOST_READ), dialect.separator)
    if other is not None:
        yield f"the file {other}"
    if dialect.is_utf8 and not _is_utf8(source.path):
        yield "some bytes are not UTF-8: perhaps --encoding cp1252"
    if dialect.escape is None and _holds(source.path, b'\\"'):
        yield "backslashes stand before quotes: --escape '\\'"
    elif not csv_rows.is_well_formed(source.path, replace(dialect, escape=None)):
        yield "some quotes stand inside of cells or are never closed, or line ends differ"


def _of_header(source: CsvFile) -> Iterator[str]:
    if source.first is None:
        return
    cells = source.first.cells
    if source.no_header:
        yield f"the header holds {source.data}: if it is a row of data, --columns NAME,NAME,..."
    if cells[0][:1] in {"#", "%"} and source.dialect.comment is None:
        mark = cells[0][0]
        yield f"the first line begins with {mark}: if it is a comment, --comment '{mark}'"
    shared = [name for name, times in Counter(cells).items() if times > 1]
    if shared:
        named = ", ".join(repr(each) if each else "nothing" for each in shared[:3])
        yield (
            f"several columns are called {named}: to read them, name all columns, "
            f"--skip {source.dialect.skip + 1} --columns NAME,NAME,..."
        )


def _of_rows(source: CsvFile) -> Iterator[str]:
    first, dialect = source.first, source.dialect
    start = None if first is None else first.end
    rows = [*itertools.islice(csv_rows.read_rows(source.path, dialect, start), _MOST_ROWS)]
    width = len(source.header)
    widths = Counter(len(row) for row in rows[:_BEGIN] if row)
    most = widths.most_common(1)[0][0] if widths else 0
    before = None if first is None else _lines_before(source, len(first.cells), most)
    longer = sum(any(row[width:]) for row in rows)
    if before is not None:
        yield (
            f"the first line has {number_of(width, 'cell')} and most others {most}: --skip {before}"
        )
    elif longer and most == width + 1 and not source.has_row_names:
        yield (
            "rows have more cells than the header, most of them one: if they begin with row names, "
            "as R writes them, --row-names"
        )
    elif longer:
        yield (
            f"{longer:,} of {len(rows):,} rows have more cells than the header: those beyond it "
            "are left out; with --skip and --columns all are named"
        )


def _lines_before(source: CsvFile, width: int, most: int) -> int | None:
    """How many lines to skip so that the first row is as wide as most; None if it is wide."""
    if width >= min(most, 2):
        return None
    for skip in range(source.dialect.skip + 1, source.dialect.skip + _MOST_BEFORE):
        found = csv_rows.first_row(source.path, replace(source.dialect, skip=skip))
        if found is not None and len(found.cells) == most:
            return None if headers.data_in(found.cells, source.numbers.reader()) else skip
    return None


def _holds(path: str, text: bytes) -> bool:
    with Path(path).open("rb") as file:
        last = b""
        while block := file.read(_BLOCK):
            if text in last + block:
                return True
            last = block[-len(text) :]
    return False


def _is_utf8(path: str) -> bool:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            while file.read(_BLOCK):
                pass
    except UnicodeDecodeError:
        return False
    return True
