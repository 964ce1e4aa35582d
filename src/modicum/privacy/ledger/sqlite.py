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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from modicum.errors import AccessDeniedError, InvalidArgument, LedgerCorrupt, LedgerError
from modicum.privacy.ledger.store import SCHEMA, Address, Db, check_parts, failed, tables
from modicum.privacy.turn import Turn

T = TypeVar("T")
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
_SLICE = 0.1  # seconds in which SQLite waits by itself: so long may Ctrl-C have to wait
# The journal stays, its head is cleared: half the writes of one that is removed after each commit.
_JOURNAL = "persist"

_APPEND_ONLY = [
    f"""CREATE TRIGGER IF NOT EXISTS modicum_no_{verb.lower()} BEFORE {verb} ON modicum_entry
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END"""
    for verb in ("UPDATE", "DELETE")
]
_MADE = [*tables(" STRICT", "INTEGER"), *_APPEND_ONLY]
_PARTS = "SELECT type, name FROM sqlite_schema WHERE tbl_name LIKE 'modicum_%'"
_MOST = 2**31 - 1
# How many entries there were once (0 if no version that counts has written), how many there are,
# and the number of the last one in its account, which is how many the account says to have.
_NEWEST = """SELECT (SELECT user_version FROM pragma_user_version), coalesce(max(e.n), 0),
        max(e.account), coalesce(max(e.seq), 0), coalesce(max(a.entries), 0)
    FROM (SELECT rowid AS n, account, seq FROM modicum_entry ORDER BY rowid DESC LIMIT 1) AS e
    LEFT JOIN modicum_account AS a ON a.name = e.account"""


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
        self._turn = Turn("a Ledger")
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
        if not path.parent.is_dir():
            raise InvalidArgument(
                f"there is no folder {str(path.parent)!r} for the ledger {self.address}: make it"
            )
        if path.exists() and path.stat().st_size:
            self.transaction(lambda db: None, write=False)
            return
        with self._turn.taken(), self._failures():
            connection = self._connect("rwc")
            self._place = Place.of(self.address.path)
            self._patiently(lambda: self._make_durable(connection))
            self._open = connection
            self._carried_out(connection, self._make, write=True)

    def transaction(self, work: Callable[[Db], T], *, write: bool) -> T:
        def settled(db: Db) -> T:
            self._settle(db, write=write)
            before = self._check_entries(db)
            found = work(db)
            if write and (after := self._check_entries(db)) != before:
                db.rows(f"PRAGMA user_version = {min(after, _MOST)}")
            return found

        with self._turn.taken(), self._failures():
            return self._carried_out(self._ready(), settled, write=write)

    def _carried_out(
        self, connection: sqlite3.Connection, work: Callable[[Db], T], *, write: bool
    ) -> T:
        """Do work in one transaction.

        What ends the transaction, whatever ends the work, is ``with`` on the connection, whose
        steps are in C: no interrupt comes between the start of a transaction and what rolls it
        back.
        """
        committing = False
        try:
            with connection:
                start = "BEGIN IMMEDIATE" if write else "BEGIN"
                self._patiently(lambda: connection.execute(start))
                # Takes the lock of a reader.
                self._patiently(lambda: connection.execute("PRAGMA schema_version").fetchall())
                found = work(_Connection(connection))
                committing = write
                self._patiently(lambda: connection.execute("COMMIT"))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._failed(error, committing=committing) from None
        except LedgerError:  # the next one looks again where the file is
            self._close()
            raise
        return found

    def _make(self, db: Db) -> None:
        for statement in _MADE:
            db.rows(statement)
        db.rows("INSERT OR IGNORE INTO modicum_meta VALUES ('schema', :schema)", schema=SCHEMA)
        self._settle(db, write=True)

    def _patiently(self, step: Callable[[], T]) -> T:
        """Do what may have to wait for other processes.

        Said on a terminal once that takes long. SQLite itself waits for a moment only, for
        within its wait Python hears no Ctrl-C.
        """
        begun, said = time.monotonic(), False
        while True:
            try:
                return step()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - begun
                if not _is_busy(error) or waited > _PATIENCE:
                    raise
            if waited > _SILENT and not said:
                said = True
                self._say_that_it_waits()

    def _say_that_it_waits(self) -> None:
        stream = sys.stderr
        main = threading.current_thread() is threading.main_thread()
        if not main or stream is None or not stream.isatty():
            return
        with suppress(OSError, ValueError):
            print(
                f"modicum: waiting for another process that holds the ledger {self.address} "
                f"(for {_PATIENCE:.0f} s at most)",
                file=stream,
                flush=True,
            )

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

    def _check_entries(self, db: Db) -> int:
        """Check that no entry was lost, and return how many there are.

        The first page of the file holds their number, the last of them is the end of its account,
        and every charge looks at its own account (:class:`Chain`). So pages that were put back, or
        writes that a disk lost, show, unless they are the whole file, which is an old copy.
        """
        ((known, last, account, seq, entries),) = db.rows(_NEWEST)
        if known > last:
            raise LedgerCorrupt(
                f"the file of {self.address} is damaged: {known - last} of its entries are missing"
            )
        if seq != entries:
            raise LedgerCorrupt(
                f"account {account!r}: it ends at entry {entries}, and entry {seq} was written"
            )
        return int(last)

    def check(self) -> None:
        """Check pages, indexes and constraints."""
        self.transaction(self._check_pages, write=False)

    def check_parts(self) -> None:
        """Check that no table, index or trigger was taken away."""
        made = sqlite3.connect(":memory:")
        try:
            for statement in _MADE:
                made.execute(statement)
            wanted = made.execute(_PARTS).fetchall()
        finally:
            made.close()
        there = self.transaction(lambda db: db.rows(_PARTS), write=False)
        check_parts(self.address, wanted, there)

    def _check_pages(self, db: Db) -> None:
        said = [str(row[0]) for row in db.rows("PRAGMA integrity_check")]
        if said != ["ok"]:
            raise LedgerCorrupt(f"the file of {self.address} is damaged: {said[0]}")

    def who(self, db: Db) -> str:
        """The user of the operating system."""
        return self._who

    def close(self) -> None:
        with self._turn.taken():
            self._close()

    def _close(self) -> None:
        connection, self._open = self._open, None
        if connection is not None:
            connection.close()

    def _ready(self) -> sqlite3.Connection:
        """Return the connection; one that was not made ready to its end is never kept."""
        if self._open is None:
            if not Path(self.address.path).exists():
                raise InvalidArgument(
                    f"there is no ledger {self.address}: create it once, with "
                    "`modicum ledger create` or modicum.Ledger.create(url)"
                )
            if Path(self.address.path).is_dir():
                raise InvalidArgument(f"{self.address} is a folder, and a ledger is a file in one")
            self._place = Place.of(self.address.path)
            made = self._viewing() if self.address.read_only else self._connect("rw")
            schema = self._patiently(lambda: self._schema(made))
            if schema != SCHEMA:
                made.close()
                kind = "" if schema is None else f" of kind {SCHEMA}, but {schema!r}"
                raise LedgerError(f"{self.address} is no ledger{kind}")
            self._open = made if self.address.read_only else self._alone(made)
        return self._open

    def _alone(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Make a connection durable.

        Ledgers once had a write-ahead log. It ends when no other process has the file open, so a
        process that waits for that closes the file between two attempts.
        """

        def attempt() -> sqlite3.Connection:
            nonlocal connection
            try:
                self._make_durable(connection)
            except sqlite3.OperationalError as error:
                if _is_busy(error):
                    connection.close()
                    time.sleep(0.002 * (1 + os.getpid() % 8))  # not all at the same moments
                    connection = self._connect("rw")
                raise
            return connection

        return self._patiently(attempt)

    def _viewing(self) -> sqlite3.Connection:
        """Open to look only.

        Without the right to write beside it, a file that still has a write-ahead log can be read
        while a writer has it open, or as immutable while its log is empty.
        """
        connection = self._connect("ro")
        try:
            self._patiently(lambda: self._schema(connection))
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
            timeout=_SLICE,
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
    def _failures(self) -> Iterator[None]:
        """Turn errors of SQLite into ours."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._failed(error) from None

    def _failed(
        self, error: sqlite3.Error | UnicodeDecodeError, *, committing: bool = False
    ) -> LedgerError:
        """Our error for one of SQLite, after which the file is opened anew.

        Damaged names are not text.
        """
        with suppress(sqlite3.Error):
            self._close()
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_READONLY") or name in {"SQLITE_PERM", "SQLITE_AUTH"}:
            return AccessDeniedError(
                f"the ledger {self.address} may only be read here: {error}; nothing was "
                "written or released"
            )
        if name.startswith("SQLITE_NOTADB"):
            return LedgerCorrupt(f"{self.address} is no ledger, or damaged: {error}")
        if name.startswith("SQLITE_CORRUPT") or not name:
            return LedgerCorrupt(f"the file of {self.address} is damaged: {error}")
        reason: object = error
        if name.startswith("SQLITE_BUSY"):
            reason = f"another process held it for {_PATIENCE:g} s: run again when that one is done"
        return failed(self.address, reason, committing=committing)


def _is_busy(error: sqlite3.Error) -> bool:
    return (error.sqlite_errorname or "").startswith("SQLITE_BUSY")
