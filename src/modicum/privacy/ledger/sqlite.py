"""A ledger in one file, with the SQLite of Python's standard library."""

from __future__ import annotations

import getpass
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from modicum.errors import AccessDenied, InvalidArgument, LedgerCorrupt, LedgerError
from modicum.privacy.ledger.address import Address
from modicum.privacy.ledger.store import SCHEMA, Db, failed, tables

__all__ = ["SqliteStore"]

_LEAST = (3, 37)  # STRICT tables
_PATIENCE = 60.0  # seconds to wait for other writers

_APPEND_ONLY = [
    f"""CREATE TRIGGER IF NOT EXISTS modicum_no_{verb.lower()} BEFORE {verb} ON modicum_entry
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END"""
    for verb in ("UPDATE", "DELETE")
]


class _Connection:
    """Statements of one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """Run one statement."""
        return self._connection.execute(statement, values).fetchall()


class SqliteStore:
    """One file on a local disk.

    A writer holds the only write lock from the start of its transaction (``BEGIN IMMEDIATE``).
    Its entry is in the write-ahead log, and the log on the disk (``synchronous=FULL``), before
    the transaction is over.
    """

    lock = ""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._turn = threading.RLock()
        self._open: sqlite3.Connection | None = None
        try:
            self._who = getpass.getuser()
        except (KeyError, OSError, ImportError):
            self._who = f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"

    def create(self) -> None:
        """Make the file and its tables; a file that is there must be a ledger."""
        if sqlite3.sqlite_version_info < _LEAST:
            raise LedgerError(
                f"SQLite 3.37 or newer is needed, this Python has {sqlite3.sqlite_version}"
            )
        path = Path(self.address.path)
        if path.exists() and path.stat().st_size:
            with self.transaction(write=False):
                return
        with self._turn, self._failures():
            self._open = self._connect("rwc")
            self._make_durable(self._open)
            with self.transaction(write=True) as db:
                for statement in (*tables(" STRICT", "INTEGER"), *_APPEND_ONLY):
                    db.rows(statement)
                db.rows(
                    "INSERT OR IGNORE INTO modicum_meta VALUES ('schema', :schema)", schema=SCHEMA
                )

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Db]:
        """Run a transaction."""
        if write and self.address.read_only:
            raise AccessDenied(f"the ledger {self.address} was opened to look only (mode=ro)")
        with self._turn:
            with self._failures():
                connection = self._ready()
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                with self._failures():
                    yield _Connection(connection)
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            with self._failures(committing=write):
                connection.execute("COMMIT")

    def check(self) -> None:
        """Check pages, indexes and constraints."""
        with self.transaction(write=False) as db:
            said = [str(row[0]) for row in db.rows("PRAGMA integrity_check")]
        if said != ["ok"]:
            raise LedgerCorrupt(f"the file of {self.address} is damaged: {said[0]}")

    def who(self, db: Db) -> str:
        """Return the name of the user of the operating system."""
        return self._who

    def close(self) -> None:
        """Close the file."""
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
            self._open = self._viewing() if self.address.read_only else self._connect("rw")
            schema = self._schema(self._open)
            if schema != SCHEMA:
                self.close()
                raise LedgerError(f"{self.address} is no ledger of kind {SCHEMA}, but {schema!r}")
            if not self.address.read_only:
                self._make_durable(self._open)
        return self._open

    def _viewing(self) -> sqlite3.Connection:
        """Open to look only.

        Without the right to write beside it, a file in write-ahead mode can be read while a writer
        has it open, or as immutable while its log is empty.
        """
        connection = self._connect("ro")
        try:
            self._schema(connection)
        except sqlite3.OperationalError:
            log = Path(f"{self.address.path}-wal")
            if log.exists() and log.stat().st_size:
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
            f"file:{quote(os.path.abspath(self.address.path))}?mode={mode}",  # noqa: PTH100
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
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")
        (journal,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        if journal != "wal":
            raise LedgerError(
                f"{self.address} cannot have a write-ahead log: put it on a local disk"
            )

    @contextmanager
    def _failures(self, *, committing: bool = False) -> Iterator[None]:
        """Turn errors of SQLite into ours, and begin anew after them."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damaged names are no text
            name = getattr(error, "sqlite_errorname", "") or ""
            with suppress(sqlite3.Error):
                if self._open is not None:
                    self._open.execute("ROLLBACK")
            with suppress(sqlite3.Error):
                self.close()
            if name.startswith("SQLITE_READONLY") or name in {"SQLITE_PERM", "SQLITE_AUTH"}:
                raise AccessDenied(
                    f"the ledger {self.address} may only be read here: {error}; nothing was "
                    "written or released"
                ) from None
            if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or not name:
                raise LedgerCorrupt(f"the file of {self.address} is damaged: {error}") from None
            raise failed(self.address, error, committing=committing) from None
