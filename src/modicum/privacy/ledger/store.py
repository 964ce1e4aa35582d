"""What a data base must do for a ledger: transactions, one writer of an account at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from modicum.errors import LedgerError
from modicum.privacy.ledger.address import Address

__all__ = ["SCHEMA", "Db", "Store", "failed", "tables"]

SCHEMA = "modicum.ledger/1"


class Db(Protocol):
    """An open transaction."""

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """Run one statement with named parameters (``:name``) and return all rows."""


class Store(Protocol):
    """A data base.

    Attributes
    ----------
    address : Address
    lock : str
        What a ``SELECT`` ends with to keep other writers off its rows until the end.
    """

    address: Address
    lock: str

    def create(self) -> None:
        """Make the tables, unless they are there."""

    def transaction(self, *, write: bool) -> AbstractContextManager[Db]:
        """Run a transaction: on the disk when the block ends, undone if it raises."""

    def check(self) -> None:
        """Let the data base check its own files; raises LedgerCorrupt."""

    def who(self, db: Db) -> str:
        """Return the name of the user."""

    def close(self) -> None:
        """Give back files and connections."""


def tables(strict: str, integer: str) -> list[str]:
    """Return the statements that make the tables.

    The constraints repeat what the ledger checks: the data base itself refuses to overspend, to
    charge a key twice, and to record two releases of one charge.
    """
    return [
        f"CREATE TABLE IF NOT EXISTS modicum_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
        f"{strict}",
        f"""CREATE TABLE IF NOT EXISTS modicum_account (
            name TEXT PRIMARY KEY,
            entries {integer} NOT NULL CHECK (entries > 0),
            head TEXT NOT NULL){strict}""",
        f"""CREATE TABLE IF NOT EXISTS modicum_entry (
            account TEXT NOT NULL,
            seq {integer} NOT NULL CHECK (seq > 0),
            action TEXT NOT NULL CHECK (action IN ('create', 'grant', 'charge', 'release')),
            amount {integer} NOT NULL CHECK (amount >= 0),
            delta {integer} NOT NULL CHECK (delta >= 0),
            granted {integer} NOT NULL,
            granted_delta {integer} NOT NULL,
            spent {integer} NOT NULL CHECK (spent >= 0 AND spent <= granted),
            spent_delta {integer} NOT NULL
                CHECK (spent_delta >= 0 AND spent_delta <= granted_delta),
            key TEXT CHECK (key IS NULL OR action = 'charge'),
            charge {integer} CHECK ((charge IS NOT NULL) = (action = 'release')),
            body TEXT NOT NULL,
            who TEXT NOT NULL,
            at TEXT NOT NULL,
            previous TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (account, seq)){strict}""",
        """CREATE UNIQUE INDEX IF NOT EXISTS modicum_one_charge ON modicum_entry (account, key)
            WHERE key IS NOT NULL""",
        """CREATE UNIQUE INDEX IF NOT EXISTS modicum_one_release ON modicum_entry (account, charge)
            WHERE charge IS NOT NULL""",
    ]


def failed(address: Address, reason: object, *, committing: bool = False) -> LedgerError:
    """Return the error of a store that did not answer."""
    if committing:
        after = "it is not known whether the entry was written; nothing was released"
    else:
        after = "nothing was written or released"
    text = " ".join(address.scrubbed(str(reason)).split())
    return LedgerError(f"the ledger {address} failed: {text}; {after}")
