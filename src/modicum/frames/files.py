"""Paths of Parquet and CSV files."""

from __future__ import annotations

import os
from pathlib import Path

from modicum.errors import InvalidArgument, SourceError
from modicum.frames.base import Source, guarded
from modicum.frames.csv import CsvFile
from modicum.frames.parquet import open_parquet

__all__ = ["open_path"]


def open_path(path: str | os.PathLike[str]) -> Source:
    """Open a .parquet or .csv file, or all Parquet files of a folder or pattern.

    Which files there are, and their schemas, count as public. Folder names such as ``year=2024``
    make no columns.
    """
    text = os.fspath(path)
    if not text:
        raise InvalidArgument("the path is empty")
    name = Path(text).name or text
    files = guarded(repr(name), lambda: _found(text))
    if not files:
        raise SourceError(f"there is no file {name!r}, and no Parquet file in such a folder")
    suffixes = {Path(file).suffix.lower() for file in files}
    if suffixes == {".parquet"}:
        return guarded(repr(name), lambda: open_parquet(files, repr(name)))
    if suffixes == {".csv"} and len(files) == 1:
        return guarded(repr(name), lambda: CsvFile(files[0], name))
    raise InvalidArgument(
        f"{name!r} must name one .csv file, or Parquet files that end in .parquet"
    )


def _found(text: str) -> list[str]:
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
