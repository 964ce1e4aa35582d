"""A ledger in one file, with the SQLite of Python's standard library.

The file must have one name (:class:`Place`): under a second one, the journal of an interrupted
transaction would be missed.
"""

from __future__ import annotations

import getpass
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from modicum.errors import AccessDeniedError, InvalidArgument, LedgerCorrupt, LedgerError
from modicum.privacy.ledger.store import SCHEMA, Address, Db, failed, tables

_MOUNT = "mnt_id:"


@dataclass(frozen=True, slots=True)
class Place:
    """The one name of an open file.

    SQLite's locks lie on the file, its journal beside the name under which the file was opened.
    Under a second name an interrupted transaction would not be rolled back, so there may be no
    second name: no hard link, and no mount of the file alone. Symbolic links are followed first, to
    ``path``, and a folder may be mounted anywhere, for the journal is in it. ``file`` is the device
    and inode of the file; ``folder`` is the inode of the folder, the same wherever the folder is
    mounted.
    """

    path: str
    file: tuple[int, int]
    folder: int

    @classmethod
    def of(cls, path: str) -> Place:
        """Look where a file is; a file that is missing or has a second name is a LedgerError."""
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
        """Check that the file still has its one name: it was not moved, replaced or removed."""
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
    """Whether a name no longer has a file, but has the journal of an unfinished transaction.

    A transaction ends when the head of its journal is cleared. Folders that cannot be seen are
    taken as empty.
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
    """Whether a file is a mount point, or has its own device where the system does not say.

    The file is opened without access to it (``O_PATH``): to close an ordinary descriptor would give
    up the locks that this process holds on the file.
    """
    folder = str(Path(path).parent)
    mounts = [_mount_of(each) for each in (path, folder)]
    if None not in mounts:
        return mounts[0] != mounts[1]
    return Path(path).stat().st_dev != Path(folder).stat().st_dev


def _mount_of(path: str) -> str | None:
    """The number of the mount through which a path leads, if the system says it."""
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


_LEAST = (3, 37)  # STRICT tables
_PATIENCE = 60.0  # seconds to wait for other writers
_SILENT = 2.0  # seconds of them without a word
# The journal stays, its head is cleared: half the writes of one that is removed after each commit.
_JOURNAL = "persist"

_APPEND_ONLY = [
    f"""CREATE TRIGGER IF NOT EXISTS modicum_no_{verb.lower()} BEFORE {verb} ON modicum_entry
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END"""
    for verb in ("UPDATE", "DELETE")
]


@contextmanager
def _waiting(address: Address) -> Iterator[None]:
    """Say on a terminal that another process holds the ledger, once that takes long."""
    stream = sys.stderr
    main = threading.current_thread() is threading.main_thread()
    if not main or stream is None or not stream.isatty():
        yield
        return

    def say() -> None:
        with suppress(OSError, ValueError):
            print(
                f"modicum: waiting for another process that holds the ledger {address} "
                f"(for {_PATIENCE:.0f} s at most)",
                file=stream,
                flush=True,
            )

    timer = threading.Timer(_SILENT, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Connection:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()


class SqliteStore:
    """One file on a local disk.

    A writer holds the only write lock from the start of its transaction (``BEGIN IMMEDIATE``). Its
    entry is in the file itself, and the file on the disk, before the transaction is over. The
    journal beside it has what is rolled back if the writer dies before. The file does not have a
    write-ahead log, whose locks and charges would lie beside a name, and be lost with it.
    """

    lock = ""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._turn = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._place: Place | None = None
        try:
            self._who = getpass.getuser()
        except (KeyError, OSError, ImportError):
            self._who = f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"

    def create(self) -> None:
        """Make the file and its tables; an existing file must be a ledger."""
        if sqlite3.sqlite_version_info < _LEAST:
            raise LedgerError(
                f"SQLite 3.37 or newer is needed, this Python has {sqlite3.sqlite_version}"
            )
        path = Path(self.address.path)
        if path.exists() and path.stat().st_size:
            with self.transaction(write=False):
                return
        with self._turn:
            folder = Path(self.address.path).parent
            if not folder.is_dir():
                raise InvalidArgument(
                    f"there is no folder {str(folder)!r} for the ledger {self.address}: make it"
                )
            with self._failures(), _waiting(self.address):
                self._open = self._connect("rwc")
                self._place = Place.of(self.address.path)
                self._make_durable(self._open)
            with self._begun(self._open, write=True) as db:
                for statement in (*tables(" STRICT", "INTEGER"), *_APPEND_ONLY):
                    db.rows(statement)
                db.rows(
                    "INSERT OR IGNORE INTO modicum_meta VALUES ('schema', :schema)", schema=SCHEMA
                )
                self._settle(db, write=True)

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Db]:
        with self._turn:
            with self._failures(), _waiting(self.address):
                connection = self._ready()
            with self._begun(connection, write=write) as db:
                self._settle(db, write=write)
                yield db

    @contextmanager
    def _begun(self, connection: sqlite3.Connection, *, write: bool) -> Iterator[Db]:
        with self._failures(), _waiting(self.address):
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            connection.execute("PRAGMA schema_version").fetchall()  # takes the lock of a reader
        try:
            with self._failures():
                yield _Connection(connection)
        except BaseException as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            if isinstance(error, LedgerError):  # the next one looks again where the file is
                self.close()
            raise
        with self._failures(committing=write), _waiting(self.address):
            connection.execute("COMMIT")

    def _settle(self, db: Db, *, write: bool) -> None:
        """Check, within a transaction, that the file has one name, and its journal was not lost.

        The ledger holds the name under which it was last written. Under a new one the journal of an
        interrupted transaction would be missed here, and be rolled back over later entries if the
        file got its old name again.
        """
        place = self._place
        assert place is not None
        place.check()
        if write and db.rows("PRAGMA journal_mode") != [(_JOURNAL,)]:
            raise LedgerError(
                f"another program changed how {self.address} is written; nothing was written or "
                "released, ask again"
            )
        found = db.rows("SELECT value FROM modicum_meta WHERE name = 'place'")
        key, before = json.loads(found[0][0]) if found else (None, None)
        if key == place.key:
            return
        if before is not None and is_left(before):
            raise LedgerError(
                f"{place.path} was {before} when a process died while it wrote, and what has to be "
                "undone lies beside that name: rename the file back and look at it once (modicum "
                "ledger show); nothing was written or released"
            )
        if write:
            self._check_pages(db)
            db.rows(
                "INSERT INTO modicum_meta VALUES ('place', :value) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                value=json.dumps([place.key, place.path]),
            )

    def check(self) -> None:
        """Check pages, indexes and constraints."""
        with self.transaction(write=False) as db:
            self._check_pages(db)

    def _check_pages(self, db: Db) -> None:
        said = [str(row[0]) for row in db.rows("PRAGMA integrity_check")]
        if said != ["ok"]:
            raise LedgerCorrupt(f"the file of {self.address} is damaged: {said[0]}")

    def who(self, db: Db) -> str:
        """The user of the operating system."""
        return self._who

    def close(self) -> None:
        with self._turn:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _ready(self) -> sqlite3.Connection:
        if self._open is None:
            if not Path(self.address.path).exists():
                raise InvalidArgument(
                    f"there is no ledger {self.address}: create it once, with "
                    "`modicum ledger create` or modicum.Ledger.create(url)"
                )
            self._place = Place.of(self.address.path)
            self._open = self._viewing() if self.address.read_only else self._connect("rw")
            schema = self._schema(self._open)
            if schema != SCHEMA:
                self.close()
                kind = "" if schema is None else f" of kind {SCHEMA}, but {schema!r}"
                raise LedgerError(f"{self.address} is no ledger{kind}")
            if not self.address.read_only:
                self._open = self._alone(self._open)
        return self._open

    def _alone(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Make a connection durable.

        Ledgers once had a write-ahead log. It ends when no other process has the file open, so a
        process that waits for that closes the file between two attempts.
        """
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._make_durable(connection)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                    raise
                connection.close()
                time.sleep(0.002 * (1 + os.getpid() % 8))  # not all at the same moments
                connection = self._connect("rw")
            else:
                return connection

    def _viewing(self) -> sqlite3.Connection:
        """Open to look only.

        Without the right to write beside it, a file that still has a write-ahead log can be read
        while a writer has it open, or as immutable while its log is empty.
        """
        connection = self._connect("ro")
        try:
            self._schema(connection)
        except sqlite3.OperationalError:
            if self._place is None or self._place.logs():
                raise
            connection.close()
            return self._connect("ro&immutable=1")
        return connection

    def _schema(self, connection: sqlite3.Connection) -> str | None:
        try:
            found = connection.execute("SELECT value FROM modicum_meta WHERE name = 'schema'")
            return str(found.fetchone()[0])
        except (sqlite3.OperationalError, TypeError) as error:
            if isinstance(error, TypeError) or "no such table" in str(error):
                return None
            raise

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(os.path.realpath(self.address.path))}?mode={mode}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        # REPLACE deletes rows, and only recursive triggers see that.
        for pragma in ("recursive_triggers=ON", "trusted_schema=OFF", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _make_durable(self, connection: sqlite3.Connection) -> None:
        """Let a commit return when it is on the disk."""
        connection.execute("PRAGMA synchronous=EXTRA")
        connection.execute("PRAGMA fullfsync=ON")
        (journal,) = connection.execute(f"PRAGMA journal_mode={_JOURNAL}").fetchone()
        if journal != _JOURNAL:
            raise LedgerError(
                f"{self.address} cannot have a rollback journal: put it on a local disk"
            )

    @contextmanager
    def _failures(self, *, committing: bool = False) -> Iterator[None]:
        """Turn errors of SQLite into ours, and reopen the file after them."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damaged names are not text
            name = getattr(error, "sqlite_errorname", "") or ""
            with suppress(sqlite3.Error):
                if self._open is not None:
                    self._open.execute("ROLLBACK")
            with suppress(sqlite3.Error):
                self.close()
            if name.startswith("SQLITE_READONLY") or name in {"SQLITE_PERM", "SQLITE_AUTH"}:
                raise AccessDeniedError(
                    f"the ledger {self.address} may only be read here: {error}; nothing was "
                    "written or released"
                ) from None
            if name.startswith("SQLITE_NOTADB"):
                raise LedgerCorrupt(f"{self.address} is no ledger, or damaged: {error}") from None
            if name.startswith("SQLITE_CORRUPT") or not name:
                raise LedgerCorrupt(f"the file of {self.address} is damaged: {error}") from None
            reason: object = error
            if name.startswith("SQLITE_BUSY"):
                reason = (
                    f"another process held it for {_PATIENCE:g} s: run again when that one is done"
                )
            raise failed(self.address, reason, committing=committing) from None
