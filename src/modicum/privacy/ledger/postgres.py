"""A ledger on a PostgreSQL server, through psycopg (extra ``server``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar

from modicum.errors import AccessDeniedError, InvalidArgument, LedgerCorrupt, LedgerError
from modicum.privacy.ledger.store import SCHEMA, Address, Db, check_parts, failed, tables
from modicum.privacy.turn import Turn

T = TypeVar("T")
_LOCK_ALL = 0x6D6F6469  # while tables are made
_APPEND_ONLY = [
    """CREATE OR REPLACE FUNCTION modicum_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'entries are append-only'; END $$""",
    "DROP TRIGGER IF EXISTS modicum_append_only ON modicum_entry",
    """CREATE TRIGGER modicum_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON modicum_entry
        FOR EACH STATEMENT EXECUTE FUNCTION modicum_append_only()""",
]
_PARTS = [
    *(("index", f"modicum_{name}") for name in ("entry_pkey", "one_charge", "one_release")),
    ("index", "modicum_account_pkey"),
    ("trigger", "modicum_append_only"),
]
_THERE = """SELECT 'index', relname FROM pg_class JOIN pg_index ON indexrelid = oid
        WHERE indrelid IN ('modicum_entry'::regclass, 'modicum_account'::regclass)
        AND indisunique AND indisvalid
    UNION ALL SELECT 'trigger', tgname FROM pg_trigger
        WHERE tgrelid = 'modicum_entry'::regclass AND tgenabled IN ('O', 'A')"""
# A dead network is noticed in half a minute; a lock of others is waited for a minute.
_DRIVER = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "modicum",
}
_SESSION = [
    "SET lock_timeout = '60s'",
    # A client that fell silent in a transaction gives its lock back.
    "SET idle_in_transaction_session_timeout = '30s'",
    # A commit returns when it is on the disk, whatever the server's default.
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') IN ('off', 'local')",
]
_DENIED = {"42501", "25006"}  # insufficient_privilege, read_only_sql_transaction
_REFUSED = {"23514", "23505", "23502"}  # the constraints of the tables


class _Connection:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        named = _for_driver(statement) if values else statement
        result = self._connection.execute(named, values or None)
        return result.fetchall() if result.description else []


@lru_cache
def _for_driver(statement: str) -> str:
    """Write parameters as the driver does: ``:name`` is ``%(name)s``."""
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement.replace("%", "%%"))


class PostgresStore:
    """Tables in a data base on a server.

    A writer locks the row of its account (``SELECT ... FOR UPDATE``), so that accounts do not wait
    for each other.

    There is one connection. It is ``clean`` from the end of a transaction to the start of the next
    one, and one that is not clean is never used again. So an interrupt may come anywhere, in the
    driver too: what it leaves is closed, at once or before the next transaction, and the server
    undoes what was not committed.
    """

    lock = " FOR UPDATE"

    def __init__(self, address: Address) -> None:
        self.address = address
        self._turn = Turn("a Ledger")
        try:
            self._driver = import_module("psycopg")
        except ImportError:
            raise InvalidArgument(
                "a ledger on a server needs psycopg: pip install 'psycopg[binary]'"
            ) from None
        self._open: Any = None
        self._clean = False
        self._known = False
        self._who: str | None = None

    def create(self) -> None:
        self._carried_out(self._make, write=True)

    def transaction(self, work: Callable[[Db], T], *, write: bool) -> T:
        def known(db: Db) -> T:
            if not self._known:
                self._check_schema(db)
                self._known = True
            return work(db)

        return self._carried_out(known, write=write)

    def check(self) -> None:
        """Do nothing: a server checks its own files."""

    def check_parts(self) -> None:
        """Check that no index or trigger was taken away."""
        check_parts(self.address, _PARTS, self.transaction(lambda db: db.rows(_THERE), write=False))

    def who(self, db: Db) -> str:
        """The role that logged in."""
        if self._who is None:
            self._who = str(db.rows("SELECT session_user")[0][0])
        return self._who

    def close(self) -> None:
        with self._turn.taken():
            self._close()

    def _make(self, db: Db) -> None:
        db.rows("SELECT pg_advisory_xact_lock(:all)", all=_LOCK_ALL)
        for statement in (*tables("", "BIGINT"), *_APPEND_ONLY):
            db.rows(statement)
        db.rows(
            "INSERT INTO modicum_meta VALUES ('schema', :schema) ON CONFLICT DO NOTHING",
            schema=SCHEMA,
        )

    def _check_schema(self, db: Db) -> None:
        if db.rows("SELECT to_regclass('modicum_meta')")[0][0] is None:
            raise InvalidArgument(
                f"there is no ledger in {self.address}: create it once, with "
                "`modicum ledger create` or modicum.Ledger.create(url)"
            )
        found = db.rows("SELECT value FROM modicum_meta WHERE name = 'schema'")
        if found != [(SCHEMA,)]:
            raise LedgerError(f"{self.address} is no ledger of kind {SCHEMA}")

    def _carried_out(self, work: Callable[[Db], T], *, write: bool) -> T:
        """Do work in one transaction.

        A reader sees one state; a writer waits for the lock and sees the newest.
        """
        level = "READ COMMITTED" if write else "REPEATABLE READ"
        with self._turn.taken():
            try:
                with self._failures():
                    connection = self._begun(f"BEGIN ISOLATION LEVEL {level}")
                    found = work(_Connection(connection))
                with self._failures(committing=write):
                    connection.execute("COMMIT")
            except BaseException as error:
                self._undo(error)
                raise
            self._clean = True
            return found

    def _begun(self, start: str) -> Any:
        """Return the connection, in a transaction; one that broke meanwhile is made anew."""
        if not self._clean:
            self._close()
        self._clean = False
        if self._open is not None:
            with suppress(self._driver.OperationalError):
                self._open.execute(start)
                return self._open
            self._close()
        self._open = self._connect()
        self._open.execute(start)
        return self._open

    def _undo(self, error: BaseException) -> None:
        """Roll back, or give the connection up; an interrupt may have come within the driver."""
        try:
            if isinstance(error, Exception) and self._open is not None:
                with suppress(self._driver.Error):
                    self._open.execute("ROLLBACK")
                    self._clean = True
        finally:
            if not self._clean:
                self._close()

    def _close(self) -> None:
        connection, self._open = self._open, None
        if connection is not None:
            with suppress(Exception):  # it is broken, and its transaction is undone
                connection.close()

    def _connect(self) -> Any:
        address = self.address
        place = {
            "user": address.user,
            "password": address.password,
            "host": address.host,
            "port": address.port,
            "dbname": address.path or None,
        }
        given = {name: value for name, value in place.items() if value is not None}
        connection = self._driver.connect(
            **{**given, **_DRIVER, **address.options}, autocommit=True
        )
        look_only = ["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"]
        for statement in [*_SESSION, *(look_only if address.read_only else [])]:
            connection.execute(statement)
        return connection

    @contextmanager
    def _failures(self, *, committing: bool = False) -> Iterator[None]:
        """Turn errors of the driver into ours."""
        try:
            yield
        except self._driver.Error as error:
            state = getattr(error, "sqlstate", None) or ""
            reason = str(error).partition("\n")[0]
            if state in _DENIED:
                raise AccessDeniedError(
                    f"the ledger {self.address} may only be read by this role: "
                    f"{self.address.scrubbed(reason)}; nothing was written or released"
                ) from None
            if state in _REFUSED:
                raise LedgerCorrupt(
                    f"{self.address} refused an entry that does not fit its others: {reason}"
                ) from None
            raise failed(self.address, reason, committing=committing) from None
