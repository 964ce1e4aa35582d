"""Where the file of a ledger lies: under one name, beside its own journal."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from modicum.errors import LedgerError

__all__ = ["Place"]

_MOUNT = "mnt_id:"


@dataclass(frozen=True, slots=True)
class Place:
    """The one name of an open file.

    SQLite's locks lie on the file, its journal beside the name under which the file was opened.
    Under a second name a transaction that was broken off would not be rolled back, so there may
    be no second name: no hard link, and no mount of the file alone. Symbolic links are followed
    first, and a folder may be mounted anywhere, for the journal is in it.

    Attributes
    ----------
    path : str
        Without symbolic links.
    file : (int, int)
        Device and inode of the file.
    folder : int
        Inode of the folder: the same wherever the folder is mounted.
    """

    path: str
    file: tuple[int, int]
    folder: int

    @classmethod
    def of(cls, path: str) -> Place:
        """Look where a file is.

        Raises
        ------
        LedgerError
            If it has a second name, or is not there.
        """
        real = os.path.realpath(path)
        try:
            found = cls(real, _identity(Path(real).stat()), Path(real).parent.stat().st_ino)
            alone = _is_mount(real)
        except OSError as error:  # it was moved just now, or its folder may not be seen
            raise LedgerError(
                f"{real} cannot be found: {error.strerror}; nothing was written or released"
            ) from None
        found.check()
        if alone:
            raise LedgerError(
                f"{real} is mounted as a single file, so its journal is out of sight: mount the "
                "folder that holds it, and not the file; nothing was written or released"
            )
        return found

    def check(self) -> None:
        """Check that the file is still here, and nowhere else.

        Raises
        ------
        LedgerError
            If it has a second name, or was moved, replaced or removed.
        """
        try:
            now: os.stat_result | None = Path(self.path).stat()
        except OSError:
            now = None
        if now is None or _identity(now) != self.file:
            raise LedgerError(
                f"{self.path} was moved or replaced while it was open; nothing was written or "
                "released"
            )
        if now.st_nlink != 1:
            raise LedgerError(
                f"{self.path} has {now.st_nlink} names (hard links), and its journal belongs to "
                "one: remove the others, or use a symbolic link; nothing was written or released"
            )

    @property
    def key(self) -> str:
        """Text that is the same wherever the folder is mounted."""
        return f"{self.folder}/{Path(self.path).name}"

    def logs(self) -> bool:
        """Whether a file beside it may hold entries, or what has to be undone."""
        log = Path(f"{self.path}-wal")
        return Path(f"{self.path}-journal").exists() or (log.exists() and log.stat().st_size > 0)


def is_left(path: str) -> bool:
    """Whether a name has no file any more, but the journal of a transaction that is not over.

    The end of a transaction is the moment at which the head of its journal is cleared. Folders that
    cannot be seen are taken as empty.
    """
    with suppress(OSError):
        Path(path).stat()
        return False
    with suppress(OSError), Path(f"{path}-journal").open("rb") as journal:
        return any(journal.read(8))
    return False


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _is_mount(path: str) -> bool:
    """Whether a file is a mount point; where the system does not tell, a device of its own.

    The file is opened without access to it (``O_PATH``): to close an ordinary descriptor would
    give up the locks that this process holds on the file.
    """
    folder = str(Path(path).parent)
    mounts = [_mount_of(each) for each in (path, folder)]
    if None not in mounts:
        return mounts[0] != mounts[1]
    return Path(path).stat().st_dev != Path(folder).stat().st_dev


def _mount_of(path: str) -> str | None:
    """Return the number of the mount through which a path leads, if the system tells."""
    if not hasattr(os, "O_PATH"):
        return None
    handle = os.open(path, os.O_PATH)
    try:
        with suppress(OSError):
            for line in Path(f"/proc/self/fdinfo/{handle}").read_text("ascii").splitlines():
                if line.startswith(_MOUNT):
                    return line.removeprefix(_MOUNT).strip()
        return None
    finally:
        os.close(handle)
