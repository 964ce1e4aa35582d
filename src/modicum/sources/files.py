"""Paths of files: which there are, Parquet by an installed engine, and advice on others."""

from __future__ import annotations

import inspect
import itertools
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from modicum.errors import (
    InvalidArgument,
    ModicumWarning,
    SourceError,
    UnsupportedData,
    as_given,
    number_of,
)
from modicum.sources import base
from modicum.sources.base import Source
from modicum.sources.engines import arrow
from modicum.sources.engines.duckdb import DuckRelation
from modicum.sources.engines.polars import LazyQuery
from modicum.sources.formats import copied, csv_rows, excel, several
from modicum.sources.formats.csv import CsvFile
from modicum.sources.formats.numerals import Numbers

T = TypeVar("T")
_BATCH = 1 << 17  # rows of a Parquet file
_SLOW = "CSV files are read about ten times faster with Polars: pip install polars"
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_ARROW = (".feather", ".arrow", ".ipc", ".orc")
_URL = re.compile(r"([a-z][a-z0-9+.-]+):/?/", re.IGNORECASE)
_READERS = {
    ("xls", "xlsb", "ods"): (
        "an old or open spreadsheet: save it as .xlsx, or in Python pass pandas.read_excel({0!r})"
    ),
    ("rds", "rdata", "rda"): "a file of R: write it with arrow::write_parquet or write.csv there",
    ("json",): "a JSON file: in Python pass pandas.read_json({0!r})",
    ("jsonl", "ndjson"): "a file of JSON lines: in Python pass polars.scan_ndjson({0!r})",
    ("gz", "bz2", "xz", "zst", "zip", "7z", "tar", "tgz"): (
        "compressed: unpack it first; only .csv and .tsv are unpacked here, of gz, bz2 and xz"
    ),
    ("db", "sqlite", "sqlite3"): (
        "a file of SQLite: in Python pass ibis.sqlite.connect({0!r}).table(NAME)"
    ),
    ("duckdb", "ddb"): "a file of DuckDB: in Python pass duckdb.connect({0!r}).table(NAME)",
    ("txt", "dat", "data"): (
        "a text file: if it is CSV, say so with modicum.csv_file({0!r}, separator=...) "
        "(on the command line --separator)"
    ),
}
_ADVICE = {suffix: line for suffixes, line in _READERS.items() for suffix in suffixes}


@base.opener("builtins.str", "os.PathLike")
def _open_path(path: str | os.PathLike[str]) -> Source:
    """Open a file by the end of its name, or all files of a folder or pattern as one table.

    Which files there are, and their schemas, count as public, as do folders such as ``year=2024``.
    """
    name, files = found_files(path)
    root = Path(path)
    if not root.is_dir():  # that part of a pattern which is no pattern
        fixed = itertools.takewhile(lambda part: not re.search(r"[*?\[]", part), root.parts)
        root = Path(*fixed)
    return _open_files(files, root, repr(name))


def open_list(items: Sequence[Any]) -> Source:
    """Open paths, or files that are opened already, as one table."""
    opened: list[several.OneFile] = []
    paths: list[str] = []
    for item in items:
        if isinstance(item, Source):
            if not isinstance(item, base.StreamSource) or item.views:
                raise UnsupportedData(f"a list holds paths or opened files, and no {item!r}")
            opened.append(several.OneFile(item, item.label.strip("'")))
        elif not isinstance(item, str | os.PathLike):
            raise UnsupportedData(
                f"a list holds paths or opened files, and no {type(item).__name__}"
            )
        else:
            paths += map(os.path.abspath, found_files(item)[1])
    twice = sorted({Path(path).name for path, n in Counter(paths).items() if n > 1})
    if twice:
        raise InvalidArgument(f"a file is in the list twice: {', '.join(map(repr, twice))}")
    label = f"the list of {number_of(len(items), 'file')}"
    if paths and not opened:
        return _open_files(
            paths, Path(os.path.commonpath([Path(each).parent for each in paths])), label
        )
    parts = [part for path in paths for part in _parts([path], Path(path).parent, label)]
    return several.SeveralFiles([*opened, *parts], label)


def names_a_file(item: object) -> bool:
    """Whether an item of a list is the path of a file, and no label."""
    if not isinstance(item, str):
        return False
    suffix = Path(item).suffix.lower()
    known = {".parquet", *_SEPARATORS, *excel.SUFFIXES, *_ARROW, *copied.UNPACK}
    return suffix in {*known, *copied.STATISTICS} or os.path.exists(item)  # noqa: PTH110 -- no error


def _open_files(files: Sequence[str], root: Path, label: str) -> Source:
    parts = _parts(files, root, label)
    if len(parts) == 1 and not parts[0].folders:
        return parts[0].source
    return several.SeveralFiles(parts, label)


def _parts(files: Sequence[str], root: Path, label: str) -> list[several.OneFile]:
    """Open files, whose names in messages are those below a folder."""
    parts = []
    for file in files:
        inside = Path(file).is_relative_to(root) and Path(file) != root
        below = Path(file).relative_to(root) if inside else Path(Path(file).name)
        called = label if len(files) == 1 else f"{below.as_posix()!r} of {label}"
        source = _open_file(file, called)
        parts.append(several.OneFile(source, below.as_posix(), several.folders_of(below)))
    return parts


def _open_file(file: str, label: str) -> base.StreamSource:
    """Open one file by the end of its name."""
    suffix, name = Path(file).suffix.lower(), Path(file).name
    if suffix == ".parquet":
        return base.guarded(label, lambda: _open_parquet(file, label))
    if _text_suffix(file) in _SEPARATORS:
        return csv_file(file)
    if suffix in excel.SUFFIXES:
        return excel.open_sheet(file, name)
    if suffix in copied.STATISTICS:
        copy = copied.of_statistics(file, label)
        layout = csv_rows.Dialect()
        return base.guarded(
            label,
            lambda: CsvFile(copy.path, name, layout, Numbers(), declared=True, keep=copy),
        )
    if suffix in _ARROW:
        return base.guarded(label, lambda: _open_arrow(file, label))
    raise _unknown_format(Path(file).name)


def _text_suffix(path: str) -> str:
    """The end of a name, without that of what compressed the file."""
    whole = Path(path.lower())
    return Path(whole.stem).suffix if whole.suffix in copied.UNPACK else whole.suffix


def csv_file(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    negative: str | None = None,
    encoding: str = "utf-8",
    columns: Sequence[str] | None = None,
    row_names: bool = False,
    multiline: bool = True,
    escape: str | None = None,
    comment: str | None = None,
    skip: int = 0,
) -> CsvFile:
    """Open a CSV file that is written otherwise than with commas and decimal points.

    The file can be passed wherever a table is. Nothing but its first line is read yet. What is not
    a number, written as declared here, is missing where numbers are read; no value makes it fail.

    Parameters
    ----------
    path : str or path
        One file, whatever its name ends in. What ends in ``.gz``, ``.bz2`` or ``.xz`` is unpacked
        into a temporary file first. Its first line names the columns, and counts as public.
    separator : str, optional
        What stands between cells: one ASCII character. By default what a first line such as
        ``sep=;`` says, which Excel writes; else a comma, and a tab if the name ends in ``.tsv`` or
        ``.tab``.
    decimal : {".", ","}
        The decimal point.
    thousands : {None, ",", ".", " ", "'", "_"}
        What groups the digits of a number by three; groups may be missing, but not some of them. A
        space is a no-break or thin space too, and an apostrophe a typographic one. With a comma
        ``12,34,567`` is a number too.
    negative : {None, "5-", "(5)"}
        How a negative number may be written, by an example, besides with a sign before it.
    encoding : str
        Of text: UTF-8, or one in which every ASCII character is one byte, such as ``"cp1252"``.
    columns : sequence of str, optional
        Names of the columns of a file without a header.
    row_names : bool
        Whether rows begin with a name that the header does not name, as R's ``write.table`` writes
        them.
    multiline : bool
        Whether a cell in quotes may hold line ends. ``False`` makes every line a row, whatever
        quotes there are, so that no line can change how another is read.
    escape : str, optional
        What takes the meaning of a quote, separator, line end or escape behind it, such as the
        backslash that Spark and MySQL write. By default quotes are doubled.
    comment : str, optional
        What a line begins with that is no row, such as ``"#"``.
    skip : int
        How many lines come before the header, or the first row, and are left out.

    Returns
    -------
    Source

    Raises
    ------
    InvalidArgument
        If an argument is not valid.
    SourceError
        If there is no such file, or it is empty, or its first bytes are those of another kind of
        file.

    Examples
    --------
    >>> import modicum, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> with path.open("w") as file:
    ...     print("name;income", *["Ann;1.234,00"] * 5000, sep=chr(10), file=file)
    >>> people = modicum.csv_file(path, separator=";", decimal=",", thousands=".")
    >>> round(modicum.mean(people, "income", within=(-1e9, 1e9), epsilon=1).value)
    1234
    """
    if not isinstance(row_names, bool):
        raise InvalidArgument(f"row_names must be True or False, got {as_given(row_names)}")
    read, name = _one_file("csv_file", path), Path(path).name
    if find_spec("polars") is None:
        _say_once(_SLOW)
    usual = _SEPARATORS.get(_text_suffix(read), ",")
    dialect = csv_rows.Dialect(
        usual if separator is None else separator, encoding, multiline, escape, comment, skip
    )
    numbers = Numbers(decimal, thousands, negative)
    copy = None
    if Path(read).suffix.lower() in copied.UNPACK:
        copy = copied.Copy.of_packed(read, repr(name))
        read = copy.path

    def opened() -> CsvFile:
        said = csv_rows.separator_line(read) if columns is None else None
        layout = dialect if said is None else replace(dialect, skip=max(skip, 1))
        if said is not None and separator is None:
            layout = replace(layout, separator=said)
        return CsvFile(read, name, layout, numbers, columns, row_names=row_names, keep=copy)

    return base.guarded(repr(name), opened)


def excel_file(
    path: str | os.PathLike[str],
    *,
    sheet: str | int = 1,
    skip: int = 0,
    columns: Sequence[str] | None = None,
) -> Source:
    """Open a sheet of a workbook of Excel.

    It can be passed wherever a table is. The sheet is copied into a temporary CSV file, and every
    row of it is a row, hidden or blank. Of merged cells the first has the value.

    Parameters
    ----------
    path : str or path
        One file that ends in ``.xlsx`` or ``.xlsm``.
    sheet : str or int
        The name of a sheet, or its number from 1 on. By default the first one.
    skip : int
        How many rows stand above the header, such as a title. Of the others, the first that is not
        empty names the columns.
    columns : sequence of str, optional
        Names of the columns of a sheet without a header.

    Returns
    -------
    Source

    Raises
    ------
    InvalidArgument
        If an argument is not valid, with the names of the sheets if there is no such sheet.
    SourceError
        If there is no such file, or openpyxl is not installed.

    Examples
    --------
    >>> import modicum, openpyxl, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.xlsx"
    >>> book = openpyxl.Workbook()
    >>> rows = book.create_sheet("people")
    >>> for row in (["Table 1"], ["age"], *[[40]] * 900):
    ...     rows.append(row)
    >>> book.save(path)
    >>> people = modicum.excel_file(path, sheet="people", skip=1)
    >>> round(modicum.mean(people, "age", within=(0, 120), epsilon=9).value)
    40
    """
    found = _one_file("excel_file", path)
    if Path(found).suffix.lower() not in excel.SUFFIXES:
        raise InvalidArgument(f"{Path(found).name!r} must end in {' or '.join(excel.SUFFIXES)}")
    return excel.open_sheet(found, Path(path).name, sheet=sheet, skip=skip, columns=columns)


def open_as(path: str | os.PathLike[str], how: Mapping[str, Any]) -> Source:
    """Open a file as options say: those of `csv_file`, or for a workbook of `excel_file`."""
    suffix = Path(path).suffix.lower()
    opened: Callable[..., Source] = excel_file if suffix in excel.SUFFIXES else csv_file
    if not how:
        return _open_path(path)
    if suffix in {".parquet", *_ARROW, *copied.STATISTICS}:
        raise InvalidArgument(f"a {suffix} file takes no options of CSV files and workbooks")
    taken = [*inspect.signature(opened).parameters][1:]
    for name in how:
        if name not in taken:
            kind = "a workbook" if opened is excel_file else "a CSV file"
            known = ", ".join(f"{each}=" for each in taken)
            raise InvalidArgument(f"{name}= is no option of {kind}, which takes {known}")
    found = found_files(path)[1]
    return opened(path, **how) if len(found) == 1 else open_list([opened(f, **how) for f in found])


@cache
def _say_once(words: str) -> None:
    warnings.warn(words, ModicumWarning, stacklevel=3)


def _one_file(function: str, path: str | os.PathLike[str]) -> str:
    """Return the one file that a path names."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(
            f"{function}() takes the path of a file, got {as_given(path)}: pass a table as it is"
        )
    name, files = found_files(path)
    if len(files) != 1:
        raise InvalidArgument(f"{name!r} must name one file")
    return files[0]


def found_files(path: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """Return the last part of a path, and the files that it names."""
    text = os.fspath(path)
    if not text:
        raise InvalidArgument("the path is empty")
    name = Path(text).name or text
    base.guarded(repr(name), lambda: _check_local(text))
    files = base.guarded(repr(name), lambda: _files(text))
    if not files:
        folder = "" if Path(name).suffix else ", and no Parquet file in such a folder"
        raise SourceError(f"there is no file {name!r}{folder}")
    return name, files


def _files(text: str) -> list[str]:
    path = Path(text)
    if path.is_file():
        return [text]
    if path.is_dir():
        # Other programs leave files there for themselves, by a convention for names.
        found = [
            file
            for file in path.rglob("*")
            if file.suffix.lower() == ".parquet"
            and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        ]
    else:
        root = Path(path.anchor)
        found = list(root.glob(str(path.relative_to(root))))
    return sorted(str(file) for file in found if file.is_file())


def _check_local(text: str) -> None:
    """Refuse addresses, which may hold a password and are not shown, and standard input."""
    address = _URL.match(text)
    if address is not None:
        kind = address[1].lower()
        if re.match(r"sqlite|postgres|mysql|mariadb|duckdb|mssql|oracle|snowflake", kind):
            raise InvalidArgument(
                f"{kind}:// names a database: in Python pass a table of it, for example "
                "ibis.connect(URL).table(NAME)"
            )
        raise InvalidArgument(
            f"{kind}:// addresses are not opened, only local files: download it, or in Python pass "
            "a relation that opens it, for example duckdb.read_parquet(URL)"
        )
    if text == "-":
        raise InvalidArgument(
            "standard input can be read only once, and a release may read its data again: save "
            "them to a file"
        )
    path = Path(text)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise SourceError(
            f"{path.name!r} is a pipe or a device, which can be read only once: save it to a file"
        )


def _unknown_format(name: str) -> InvalidArgument:
    advice = _ADVICE.get(name.rpartition(".")[2].lower())
    if advice is not None:
        return InvalidArgument(f"{name!r} is {advice.format(name)}")
    return InvalidArgument(
        f"{name!r} must name one file whose end is known, such as .csv, .tsv or .xlsx, or Parquet "
        "files that end in .parquet"
    )


_SHORT = 1 << 14  # bytes of a list of texts, as it is written


class _ParquetFile(base.StreamSource):
    """A file, read by PyArrow one row group after the other.

    Polars is half as fast again, but holds many row groups at a time: three times the memory.
    """

    def __init__(self, file: str, label: str) -> None:
        parquet = import_module("pyarrow.parquet")
        schema = parquet.read_schema(file)
        super().__init__(
            "parquet", schema.names, lambda name: str(schema.field(name).type), label=label
        )
        self._file, self._schema = file, schema
        self._open = parquet.ParquetFile

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        return prefetch(self._decoded(columns, labels))

    def _decoded(
        self, columns: Sequence[str], labels: Sequence[str]
    ) -> Generator[base.TableBatch, None, None]:
        names = list(dict.fromkeys([*columns, *labels]))
        metadata = import_module("pyarrow.parquet").read_metadata(self._file)
        schema = import_module("pyarrow.parquet").read_schema(self._file)
        for name in names:
            if schema.names.count(name) != 1 or schema.field(name) != self._schema.field(name):
                raise SourceError(f"{self._label} was written anew while it was read")
        few = [each for each in set(labels) - set(columns) if _has_few_texts(metadata, each)]
        with self._open(
            self._file, pre_buffer=False, metadata=metadata, read_dictionary=few
        ) as file:
            batches = file.iter_batches(batch_size=_BATCH, columns=names)
            yield from arrow.arrow_batches(batches, columns, labels)

    def about_rows(self) -> int | None:
        return self._count()

    def _count(self) -> int:
        return int(import_module("pyarrow.parquet").read_metadata(self._file).num_rows)


def _has_few_texts(metadata: Any, name: str) -> bool:
    """Whether all row groups hold a column as places in short lists of texts, to be read so.

    Where a list is longer, text is as fast: a list comes with every batch.
    """
    schema = metadata.schema
    places = [i for i in range(len(schema)) if schema.column(i).path == name]
    if len(places) != 1 or schema.column(places[0]).physical_type != "BYTE_ARRAY":
        return False
    if str(schema.column(places[0]).logical_type.type) != "STRING":
        return False
    groups = (metadata.row_group(g).column(places[0]) for g in range(metadata.num_row_groups))
    return all(
        each.has_dictionary_page
        and 0 < each.data_page_offset - each.dictionary_page_offset <= _SHORT
        for each in groups
    )


def _open_parquet(file: str, label: str) -> base.StreamSource:
    if find_spec("pyarrow") is not None:
        return _ParquetFile(file, label)
    if find_spec("polars") is not None:
        frame = import_module("polars").scan_parquet([file], glob=False, hive_partitioning=False)
        return LazyQuery(frame, "parquet", label=label)
    if find_spec("duckdb") is not None:
        connection = import_module("duckdb").connect()
        relation = connection.read_parquet([file], hive_partitioning=False)
        return DuckRelation(relation, "parquet", label=label, keep=connection)
    raise SourceError(f"reading {label} needs PyArrow, Polars or DuckDB: pip install pyarrow")


def _open_arrow(path: str, label: str) -> base.StreamSource:
    if find_spec("pyarrow") is None:
        raise SourceError(f"reading {label} needs PyArrow: pip install pyarrow")
    if not path.lower().endswith(".orc"):
        return arrow.ArrowFile(path, label)
    return arrow.ArrowDataset(import_module("pyarrow.dataset").dataset(path, format="orc"), label)


def prefetch(batches: Generator[T, None, None]) -> Iterator[T]:
    """Run a generator one item ahead, in a thread of its own.

    It helps where the next item is made without the interpreter's lock. A failure of the generator
    is raised here, in its turn; when this iterator ends early, the thread finishes its item, and
    the generator is closed.
    """
    end = object()

    def advance() -> T | object:
        with base.suppress_warnings():  # a thread does not inherit its caller's settings
            return next(batches, end)

    with closing(batches), ThreadPoolExecutor(1, "modicum-prefetch") as thread:
        following = thread.submit(advance)
        while (item := following.result()) is not end:
            following = thread.submit(advance)
            yield item  # type: ignore[misc]
