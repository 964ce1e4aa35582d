"""Paths of Parquet and CSV files."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from modicum.errors import InvalidArgument, SourceError
from modicum.frames.arrow import ArrowDataset
from modicum.frames.base import Source, guarded
from modicum.frames.csv import CsvFile
from modicum.frames.duck import DuckRelation
from modicum.frames.lazy import open_lazy, streams

__all__ = ["open_path"]


def open_path(path: str | os.PathLike[str]) -> Source:
    """Open a .parquet or .csv file, or all Parquet files of a folder or pattern.

    Which files there are, and their schemas, count as public. Folder names such as ``year=2024``
    make no columns.
    """
    text = os.fspath(path)
    name = Path(text).name
    files = _found(text)
    if not files:
        raise SourceError(f"no such file, and no Parquet file in such a folder: {name!r}")
    suffixes = {Path(file).suffix.lower() for file in files}
    if suffixes == {".parquet"}:
        return guarded(repr(name), lambda: _open_parquet(files, name))
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


def _open_parquet(files: list[str], name: str) -> Source:
    """Read with the fastest engine at hand that does so in batches."""
    label = repr(name)
    has = {engine: find_spec(engine) is not None for engine in ("polars", "pyarrow", "duckdb")}
    if has["polars"] and (streams() or not (has["pyarrow"] or has["duckdb"])):
        frame = import_module("polars").scan_parquet(files, glob=False, hive_partitioning=False)
        return open_lazy(frame, "parquet", label=label)
    if has["pyarrow"]:
        dataset = import_module("pyarrow.dataset").dataset(files, format="parquet")
        return ArrowDataset(dataset, "parquet", label=label)
    if has["duckdb"]:
        connection = import_module("duckdb").connect()
        relation = connection.read_parquet(files, hive_partitioning=False)
        return DuckRelation(relation, "parquet", label=label)
    raise SourceError(
        f"reading {label} needs Polars, PyArrow or DuckDB: pip install 'modicum[polars]'"
    )
