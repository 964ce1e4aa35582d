"""A Parquet file that is there whole or not at all, and once for a charge [bulk.8]."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from modicum.errors import InvalidArgument, LedgerError
from modicum.releases.counts_file import CountsFile

_PIECE = 1 << 22  # bytes that are hashed at a time


def target_of(path: object) -> Path:
    """Check by its name where a file is to be written."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"path must name a file, got {type(path).__name__}")
    target = Path(os.fspath(path)).absolute()
    if target.suffix.lower() != ".parquet":
        raise InvalidArgument(f"{target.name!r} must end in .parquet")
    if not target.parent.is_dir():
        raise InvalidArgument(f"there is no folder {str(target.parent)!r}")
    return target


@contextmanager
def part_of(target: Path) -> Iterator[Path]:
    """Make a file beside another, which is gone in the end unless it was renamed."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def write(path: Path, batches: Iterator[Any], said: str) -> int:
    """Write record batches of one schema, a row group each; return the number of rows.

    ``said`` is kept in the file, as the value of the key ``modicum`` of its metadata.
    """
    first = next(batches, None)
    if first is None:  # a complete table, whose rows are public
        raise InvalidArgument("the table has no rows")
    schema = first.schema.with_metadata({"modicum": said})
    rows = 0
    with import_module("pyarrow.parquet").ParquetWriter(path, schema, compression="zstd") as file:
        while first is not None:
            rows += len(first)
            file.write_batch(first.replace_schema_metadata(schema.metadata))
            first = next(batches, None)
    with path.open("rb+") as written:
        os.fsync(written.fileno())
    return rows


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def ready(target: Path, digest: str) -> Path:
    """Name a whole file of counts that is recorded, or about to be, and not yet in its place."""
    return target.with_name(f".{target.name}.{digest[:16]}.ready")


def restored(record: CountsFile) -> CountsFile:
    """Put the file of a recorded release into its place, if it is not there already.

    LedgerError if its bytes are not to be found: nothing can draw them again for the same charge.
    """
    target = Path(record.path)
    waiting = ready(target, record.digest)
    with suppress(FileNotFoundError):  # if there is none, or another process has just put it there
        if digest_of(waiting) == record.digest:
            waiting.replace(target)
    if not target.is_file() or digest_of(target) != record.digest:
        raise LedgerError(
            f"the counts of this key were drawn and recorded, but {record.path} is gone or was "
            f"changed (its SHA-256 was {record.digest}): put it back, or ask with a new key"
        )
    return record
