"""Paths of Parquet and CSV files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from modicum.errors import InvalidArgument, SourceError
from modicum.frames.base import Source, guarded
from modicum.frames.csv import CsvFile
from modicum.frames.csv_numbers import Numbers
from modicum.frames.csv_rows import Dialect
from modicum.frames.formats import check_local, unknown_format
from modicum.frames.parquet import open_parquet

__all__ = ["csv_file", "open_path"]

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def open_path(path: str | os.PathLike[str]) -> Source:
    """Open a .parquet, .csv or .tsv file, or all Parquet files of a folder or pattern.

    Which files there are, and their schemas, count as public. Folder names such as ``year=2024``
    make no columns.
    """
    name, files = _found(path)
    suffixes = {Path(file).suffix.lower() for file in files}
    if suffixes == {".parquet"}:
        return guarded(repr(name), lambda: open_parquet(files, repr(name)))
    if len(files) == 1 and suffixes <= set(_SEPARATORS):
        return csv_file(files[0])
    raise unknown_format(name)


def csv_file(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str = "utf-8",
    columns: Sequence[str] | None = None,
    multiline: bool = True,
) -> Source:
    """Open a CSV file that is written otherwise than with commas and decimal points.

    The file can be passed wherever a table is. Nothing but its first line is read yet. What is not
    a number, written as declared here, is missing where numbers are read; no value is an error.

    Parameters
    ----------
    path : str or path
        One file, whatever its name ends in.
    separator : str, optional
        What stands between cells: one ASCII character. By default a comma, and a tab if the name
        ends in ``.tsv`` or ``.tab``.
    decimal : {".", ","}
        The decimal point.
    thousands : {None, ",", ".", " ", "'", "_"}
        What groups the digits of a number by three; groups may be missing, but not some of them. A
        space is a no-break space too, and an apostrophe a typographic one.
    encoding : str
        Of text: UTF-8, or one in which every ASCII character is one byte, such as ``"cp1252"``.
    columns : sequence of str, optional
        Names of the columns of a file without a header.
    multiline : bool
        Whether a cell in quotes may hold line ends. ``False`` makes every line a row, whatever
        quotes there are, so that no line can change how another is read.

    Returns
    -------
    Source

    Raises
    ------
    InvalidArgument
        If an argument cannot be.
    SourceError
        If there is no such file, or it is empty.

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
    name, files = _found(path)
    if len(files) != 1:
        raise InvalidArgument(f"{name!r} must name one file")
    if separator is None:
        separator = _SEPARATORS.get(Path(files[0]).suffix.lower(), ",")
    dialect = Dialect(separator, encoding, multiline)
    numbers = Numbers(decimal, thousands)
    return guarded(repr(name), lambda: CsvFile(files[0], name, dialect, numbers, columns))


def _found(path: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """Return the last part of a path, and the files that it names."""
    text = os.fspath(path)
    if not text:
        raise InvalidArgument("the path is empty")
    name = Path(text).name or text
    guarded(repr(name), lambda: check_local(text))
    files = guarded(repr(name), lambda: _files(text))
    if not files:
        raise SourceError(f"there is no file {name!r}, and no Parquet file in such a folder")
    return name, files


def _files(text: str) -> list[str]:
    path = Path(text)
    if path.is_file():
        return [text]
    if path.is_dir():
        found = [file for file in path.rglob("*.parquet") if not _is_hidden(file, path)]
    else:
        root = Path(path.anchor)
        found = list(root.glob(str(path.relative_to(root))))
    return sorted(str(file) for file in found if file.is_file())


def _is_hidden(file: Path, folder: Path) -> bool:
    """Whether other programs left it there for themselves, by their convention for names."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
