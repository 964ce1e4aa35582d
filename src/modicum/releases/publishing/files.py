"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from modicum.errors import InvalidArgument, OutputError

_FORMS = frozenset(
    [".csv", ".html", ".json", ".ods", ".parquet", ".pdf", ".png", ".svg", ".txt", ".xls", ".xlsx"]
)  # that a name may promise


def checked_target(path: str | os.PathLike[str], *, overwrite: bool, form: str = "") -> Path:
    """A path that a file can be written to; one that is there is refused unless it may go.

    A name that ends like that of another kind of file than ``form`` is refused.
    """
    target = Path(path)
    if form and target.suffix.lower() in _FORMS - {form}:
        raise InvalidArgument(
            f"{target.name} would hold what belongs into a {form} file: write "
            f"{target.with_suffix(form).name}"
        )
    if target.is_dir():
        raise InvalidArgument(f"{target} is a folder: name a file in it")
    if not target.parent.is_dir():
        raise InvalidArgument(f"there is no folder {target.parent} to write {target.name} in")
    if not os.access(target.parent, os.W_OK):
        raise InvalidArgument(f"the folder {target.parent} cannot be written to")
    if not overwrite and target.exists():
        raise InvalidArgument(
            f"{target} is there already: overwrite=True (--overwrite) replaces it"
        )
    return target


def write_whole(files: Mapping[Path, str]) -> None:
    """Write files, all of them or none: each is put in place when all are on the disk.

    They are put in place in order, the last one last. If the process is killed or the disk is full
    no file is ever half there; what was there before stays until then. A killed process may leave a
    file ``.NAME....part``.

    OutputError if one cannot be written; no file is changed then, or, where one of several could
    not be put in place, those before it are.
    """
    parts: dict[Path, Path] = {}
    try:
        for target, text in files.items():
            mark = f"{os.getpid()}-{time.monotonic_ns()}"
            part = parts[target] = target.parent / f".{target.name}.{mark}.part"
            with part.open("x", encoding="utf-8", errors="replace", newline="") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
        for target, part in parts.items():
            part.replace(target)
        for folder in {target.parent for target in files}:
            _keep(folder)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise OutputError(f"cannot write {', '.join(map(str, files))}: {why}") from None
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _keep(folder: Path) -> None:
    """Put the names in a folder on the disk, where an operating system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
