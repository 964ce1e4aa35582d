"""A ledger on a PostgreSQL server, through SQLAlchemy and psycopg (extra ``server``)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from modicum.errors import AccessDeniedError, InvalidArgument, LedgerCorrupt, LedgerError
from modicum.privacy.ledger.store import SCHEMA, Address, Db, failed, tables

_LOCK_ALL = 0x6D6F6469  # while tables are made
_APPEND_ONLY = [
    """CREATE OR REPLACE FUNCTION modicum_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'entries are append-only'; END $$""",
    "DROP TRIGGER IF EXISTS modicum_append_only ON modicum_entry",
    """CREATE TRIGGER modicum_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON modicum_entry
        FOR EACH STATEMENT EXECUTE FUNCTION modicum_append_only()""",
]
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
    def __init__(self, connection: Any, text: Any) -> None:
        self._connection = connection
        self._text = text

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        result = self._connection.execute(self._text(statement), values)
        return [tuple(row) for row in result] if result.returns_rows else []


def _session(address: Address) -> Callable[[Any, Any], None]:
    """Sets up a new connection; it does not hold the store, so that a store is freed at once."""
    look_only = ["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"]
    statements = [*_SESSION, *(look_only if address.read_only else [])]

    def begin(connection: Any, _record: Any) -> None:
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
            connection.commit()
        except Exception:
            connection.close()
            raise

    return begin


class PostgresStore:
    """Tables in a data base on a server.

    A writer locks the row of its account (``SELECT ... FOR UPDATE``), so that accounts do not wait
    for each other.
    """

    lock = " FOR UPDATE"

    def __init__(self, address: Address) -> None:
        self.address = address
        self._turn = threading.RLock()
        try:
            self._alchemy = import_module("sqlalchemy")
            import_module("psycopg")
        except ImportError as missing:
            raise InvalidArgument(
                f"a ledger on a server needs {missing.name}: pip install 'modicum[server]'"
            ) from None
        url = self._alchemy.URL.create(
            "postgresql+psycopg",
            username=address.user,
            password=address.password,
            host=address.host,
            port=address.port,
            database=address.path or None,
            query=dict(address.options),
        )
        driver = {name: value for name, value in _DRIVER.items() if name not in address.options}
        self._engine = self._alchemy.create_engine(
            url,
            pool_size=1,
            max_overflow=0,
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args=driver,
        )
        self._alchemy.event.listen(self._engine, "connect", _session(address))
        self._known = False
        self._who: str | None = None

    def create(self) -> None:
        with self._writing(write=True) as db:
            db.rows("SELECT pg_advisory_xact_lock(:all)", all=_LOCK_ALL)
            for statement in (*tables("", "BIGINT"), *_APPEND_ONLY):
                db.rows(statement)
            db.rows(
                "INSERT INTO modicum_meta VALUES ('schema', :schema) ON CONFLICT DO NOTHING",
                schema=SCHEMA,
            )

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Db]:
        with self._writing(write=write) as db:
            if not self._known:
                self._check_schema(db)
                self._known = True
            yield db

    def check(self) -> None:
        """Do nothing: a server checks its own files."""

    def who(self, db: Db) -> str:
        """The role that logged in."""
        if self._who is None:
            self._who = str(db.rows("SELECT session_user")[0][0])
        return self._who

    def close(self) -> None:
        self._engine.dispose()

    def _check_schema(self, db: Db) -> None:
        if db.rows("SELECT to_regclass('modicum_meta')")[0][0] is None:
            raise InvalidArgument(
                f"there is no ledger in {self.address}: create it once, with "
                "`modicum ledger create` or modicum.Ledger.create(url)"
            )
        found = db.rows("SELECT value FROM modicum_meta WHERE name = 'schema'")
        if found != [(SCHEMA,)]:
            raise LedgerError(f"{self.address} is no ledger of kind {SCHEMA}")

    @contextmanager
    def _writing(self, *, write: bool) -> Iterator[Db]:
        with self._turn:
            with self._failures():
                # A reader sees one state; a writer waits for the lock and sees the newest.
                level = "READ COMMITTED" if write else "REPEATABLE READ"
                connection = self._engine.connect().execution_options(isolation_level=level)
            try:
                with self._failures():
                    yield _Connection(connection, self._alchemy.text)
                with self._failures(committing=write):
                    connection.commit()
            except BaseException:
                self._undo(connection)
                raise
            finally:
                with suppress(Exception):  # a broken connection; its transaction is undone
                    connection.close()

    def _undo(self, connection: Any) -> None:
        """Roll back, or give the connection up: the pool would log that it cannot."""
        try:
            connection.rollback()
        except self._alchemy.exc.SQLAlchemyError:
            with suppress(Exception):
                connection.invalidate()

    @contextmanager
    def _failures(self, *, committing: bool = False) -> Iterator[None]:
        """Turn errors of the driver into ours."""
        try:
            yield
        except self._alchemy.exc.SQLAlchemyError as error:
            origin = getattr(error, "orig", None)
            state = getattr(origin, "sqlstate", None) or ""
            reason = str(error if origin is None else origin).partition("\n")[0]
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
