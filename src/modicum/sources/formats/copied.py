"""Files of other programs, copied into a CSV file for as long as they are read.

A release may read its data more than once, row by row, and no value may make that fail. Compressed
text, standard input, workbooks of Excel and files of Stata, SAS and SPSS are therefore copied, once
and in pieces, into a temporary CSV file that only its owner can read, which is deleted when nothing
reads it any more. What is in a cell of the copy depends on that cell alone: a whole number is
written without a point, whatever stands above it, and a day without a time of day.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import errno
import gzip
import lzma
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from modicum.errors import SourceError
from modicum.sources import base, progress
from modicum.sources.engines import arrays

_PIECE = 1 << 18  # rows
_BLOCK = 1 << 20  # bytes

UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""What decompresses text, by the end of a file's name."""

Table = Iterator[Sequence[object]]
"""The names of the columns, then the rows."""


class Copy:
    """A temporary file, deleted when nothing holds this any more and when the process ends."""

    def __init__(self, suffix: str) -> None:
        number, self.path = tempfile.mkstemp(suffix, "modicum-")
        os.close(number)
        self.delete = weakref.finalize(self, _delete, self.path, os.getpid())

    @classmethod
    def of_stream(cls, stream: IO[bytes], label: str, suffix: str = ".csv") -> Copy:
        """Copy bytes as they are."""

        def write(copy: Copy) -> None:
            with Path(copy.path).open("wb") as file:
                shutil.copyfileobj(stream, file, _BLOCK)

        return _written(cls(suffix), label, write)

    @classmethod
    def of_packed(cls, path: str, label: str) -> Copy:
        """Decompress a text file."""
        inner = Path(path)
        with base.guarded(label, lambda: UNPACK[inner.suffix.lower()](path, "rb")) as stream:
            return cls.of_stream(stream, label)

    @classmethod
    def of_rows(cls, read: Callable[[], Table], label: str) -> Copy:
        """Write rows as a CSV file."""

        def write(copy: Copy) -> None:
            with Path(copy.path).open("w", encoding="utf-8", newline="") as file:
                write_row = csv.writer(file).writerow
                rows = ((1, row) for row in read())
                for row in progress.watched(rows, f"copying {label}", "rows"):
                    write_row([_cell(value) for value in row])

        return _written(cls(".csv"), label, write)


def of_statistics(path: str, label: str) -> Copy:
    """Write a file of Stata, SAS or SPSS as a CSV file."""
    need_packages(label, ("pyreadstat", "pandas"))
    return Copy.of_rows(lambda: _statistics(path), label)


def need_packages(label: str, packages: Sequence[str]) -> None:
    """Refuse to go on without the packages that read a file."""
    for package in packages:
        if find_spec(package) is None:
            raise SourceError(f"reading {label} needs {package}: pip install {package}")


def _written(copy: Copy, label: str, write: Callable[[Copy], None]) -> Copy:
    """Fill a copy; what fails depends on the form of the file and on the disk, on no value."""

    def fill() -> bool:
        try:
            write(copy)
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                raise
            return False
        return True

    try:
        whole = base.guarded(label, fill)
    except BaseException:
        copy.delete()
        raise
    if not whole:
        copy.delete()
        raise SourceError(
            f"no room for a copy of {label} in the folder for temporary files: name another with "
            "the environment variable TMPDIR"
        )
    return copy


def _delete(path: str, process: int) -> None:
    if os.getpid() == process:  # a forked process has the same finalizers
        Path(path).unlink(missing_ok=True)


def _cell(value: object) -> str:
    """Write a value; it decides alone how it is written.

    >>> [_cell(each) for each in (3.0, 0.1, 1e300, True, None, float("nan"), "a")]
    ['3', '0.1', '1e+300', '1', '', '', 'a']
    >>> from datetime import date
    >>> _cell(datetime(2024, 5, 1)), _cell(datetime(2024, 5, 1, 12, 30)), _cell(date(2024, 5, 1))
    ('2024-05-01', '2024-05-01T12:30:00', '2024-05-01')
    """
    text = str(value)
    if value is None or value != value:  # noqa: PLR0124 -- NaN and NaT
        text = ""
    elif isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
    elif isinstance(value, datetime):
        text = value.isoformat() if value.time() != time() else value.date().isoformat()
    elif isinstance(value, int | float):
        number = arrays.nearest(value)
        whole = number.is_integer() and abs(number) < 2**53
        text = str(int(number)) if whole else repr(number)
    return text


def _statistics(path: str) -> Table:
    """A file of Stata, SAS or SPSS: codes, not their labels.

    A column of numbers with a label here and there stays numbers. The package would fail at a date
    beyond the year 9999, so dates are read as numbers and written as dates here; and at text that
    is not in the file's own encoding, so text is read as Latin 1, each byte a character, and
    decoded here.
    """
    suffix = Path(path).suffix.lower()
    package = import_module("pyreadstat")
    reader = getattr(package, STATISTICS[suffix])
    _, about = reader(path, metadataonly=True)
    formats, encoding = about.original_variable_types, _encoding(path, about.file_encoding)
    moments = [_moment_of(suffix, str(formats.get(name, ""))) for name in about.column_names]
    yield about.column_names
    for piece, _ in package.read_file_in_chunks(
        reader, path, chunksize=_PIECE, disable_datetime_conversion=True, encoding="LATIN1"
    ):
        columns = [piece.iloc[:, place].tolist() for place in range(len(moments))]
        for column, moment, kind in zip(columns, moments, piece.dtypes, strict=True):
            if moment is not None:
                column[:] = map(moment, column)
            elif kind != "float64":
                column[:] = [_decoded(each, encoding) for each in column]
        yield from zip(*columns, strict=True)


def _encoding(path: str, declared: str | None) -> str:
    """Return the encoding of text that a file declares; that of Stata's is known by its version."""
    if declared is None and path.lower().endswith(".dta"):
        with Path(path).open("rb") as file:
            release = re.match(rb"<stata_dta><header><release>(\d+)<", file.read(64))
        return "utf-8" if release and int(release[1]) >= _UNICODE else "cp1252"
    try:
        return codecs.lookup(declared or "utf-8").name
    except LookupError:
        return "utf-8"


def _decoded(value: Any, encoding: str) -> Any:
    if not isinstance(value, str):
        return value
    return value.encode("latin-1", "replace").decode(encoding, "replace")


STATISTICS: Mapping[str, str] = {
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".sav": "read_sav",
    ".zsav": "read_sav",
}
"""What reads a file of Stata, SAS or SPSS, by the end of its name."""

_UNICODE = 118  # the version of Stata's format from which on text is UTF-8
_SAS = datetime(1960, 1, 1)  # noqa: DTZ001 -- such files know no time zones
_SPSS = datetime(1582, 10, 14)  # noqa: DTZ001
_DAYS = r"(DATE|WEEKDAT|WORDDAT|MMDDYY|DDMMYY|YYMMDD|MONYY|[BE]8601DA|JULIAN)"
_MOMENTS = (  # formats by name, and what their numbers count since when
    (r"\.dta", r"%-?t?d", _SAS, timedelta(days=1)),
    (r"\.dta", r"%-?tc", _SAS, timedelta(milliseconds=1)),
    (r"\.(sas7bdat|xpt)", r"(DATETIME|DATEAMPM|DTDATE|[BE]8601DT)", _SAS, timedelta(seconds=1)),
    (r"\.(sas7bdat|xpt)", _DAYS, _SAS, timedelta(days=1)),
    (r"\.z?sav", r"([AEJS]?DATE|MOYR|QYR|WKYR|DATETIME|YMDHMS)", _SPSS, timedelta(seconds=1)),
)


def _moment_of(suffix: str, form: str) -> Callable[[Any], Any] | None:
    """Return what turns a column of that format into dates, if they are dates.

    >>> day = _moment_of(".dta", "%td")
    >>> day(23497.0), day(1e300), day(float("nan")), _moment_of(".dta", "%9.0g")
    (datetime.datetime(2024, 5, 1, 0, 0), None, None, None)
    """
    for files, forms, start, unit in _MOMENTS:
        if re.fullmatch(files, suffix) and re.match(forms, form, re.IGNORECASE):
            return partial(_moment, start, unit)
    return None


def _moment(start: datetime, unit: timedelta, value: Any) -> datetime | None:
    try:
        return start + float(value) * unit
    except (OverflowError, TypeError, ValueError):
        return None
