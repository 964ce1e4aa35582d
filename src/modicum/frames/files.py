"""Paths of Parquet and CSV files."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modicum.errors import InvalidArgument, ModicumError, SourceError
from modicum.frames.arrow import open_dataset
from modicum.frames.base import Source
from modicum.frames.csv import open_csv
from modicum.frames.duck import DuckRelation
from modicum.frames.lazy import open_lazy

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
        return _opened(name, lambda: _open_parquet(files, name))
    if suffixes == {".csv"} and len(files) == 1:
        return _opened(name, lambda: open_csv(files[0], name))
    raise InvalidArgument(
        f"{name!r} must name one .csv file, or Parquet files that end in .parquet"
    )


def _found(text: str) -> list[str]:
    path = Path(text)
    if path.is_dir():
        return sorted(str(file) for file in path.rglob("*.parquet") if file.is_file())
    if path.is_file():
        return [text]
    return sorted(file for file in glob.glob(text, recursive=True) if Path(file).is_file())  # noqa: PTH207


def _opened(name: str, opening: Callable[[], Source]) -> Source:
    """Turn an engine's failure into a message that names the file and nothing else."""
    try:
        return opening()
    except (ModicumError, MemoryError):
        raise
    except Exception:  # noqa: BLE001, S110 - its text may quote data, so it is dropped
        pass
    raise SourceError(f"{name!r} could not be read")


def _open_parquet(files: list[str], name: str) -> Source:
    """Read with the fastest engine at hand."""
    if find_spec("polars") is not None:
        frame = import_module("polars").scan_parquet(files, glob=False, hive_partitioning=False)
        return open_lazy(frame, "parquet (polars)", label=repr(name))
    if find_spec("pyarrow") is not None:
        dataset = import_module("pyarrow.dataset").dataset(files, format="parquet")
        return open_dataset(dataset, "parquet (pyarrow)", label=repr(name))
    if find_spec("duckdb") is not None:
        relation: Any = (
            import_module("duckdb").connect().read_parquet(files, hive_partitioning=False)
        )
        return DuckRelation(relation, "parquet (duckdb)", label=repr(name))
    raise SourceError(
        f"reading {name!r} needs Polars, PyArrow or DuckDB: pip install 'modicum[polars]'"
    )
