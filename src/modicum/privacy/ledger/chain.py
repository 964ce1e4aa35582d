"""The chain of entries of one account, within one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property

from modicum.errors import KeyReused, LedgerCorrupt
from modicum.privacy.ledger.account import AccountState, Charge, Terms
from modicum.privacy.ledger.record import ORIGIN, Action, Record
from modicum.privacy.ledger.store import Db
from modicum.privacy.ledger.units import Units

__all__ = ["Chain", "now", "write"]

_COLUMNS = ", ".join(Record.__dataclass_fields__)
_VALUES = ", ".join(f":{name}" for name in Record.__dataclass_fields__)
_NOTHING = Units(0, 0)
_PAGE = 500


def now() -> str:
    """Time in UTC, for people: the order of entries is that of their numbers."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Chain:
    """An account as a transaction sees it.

    Parameters
    ----------
    db : Db
    name : str
    lock : str
        What keeps other writers off; empty to look only.

    Raises
    ------
    LedgerCorrupt
        If the end of the chain is not what the account says, or was edited.
    """

    def __init__(self, db: Db, name: str, lock: str = "") -> None:
        self._db = db
        self.name = name
        found = db.rows(
            f"SELECT entries, head FROM modicum_account WHERE name = :name{lock}", name=name
        )
        self.last: Record | None = None
        self._first: Record | None = None
        if found:
            entries, head = found[0]
            ends = {each.seq: each for each in self._some("seq IN (1, :last)", last=entries)}
            self._first, self.last = ends.get(1), ends.get(entries)
            if self.last is None or self.last.hash != head:
                raise LedgerCorrupt(f"account {name!r}: its last entry is missing or was replaced")

    @cached_property
    def terms(self) -> Terms:
        """Currency and unit, from the first entry."""
        if self._first is None:
            raise LedgerCorrupt(f"account {self.name!r}: its first entry is missing")
        return Terms.of(self._first)

    def state(self) -> AccountState:
        """Return the totals; there must be an account."""
        assert self.last is not None
        return AccountState.of(self.terms, self.last)

    def keyed(self, key: str, request: str) -> Charge | None:
        """Return the charge of a key, if it was charged.

        Raises
        ------
        KeyReused
            If it was for another request.
        """
        record = self._one("key = :key", key=key)
        if record is None:
            return None
        if record.body != request:
            raise KeyReused(
                f"the key {key!r} was charged in account {self.name!r} for another request: ask "
                "with the same arguments, or with a new key"
            )
        return Charge(self.name, record.seq, self.state(), self.released(record.seq))

    def released(self, charge: int) -> str | None:
        """Return the release that a charge paid for, if there is one."""
        record = self._one("charge = :charge", charge=charge)
        return None if record is None else record.body

    def append(
        self,
        action: Action,
        who: str,
        units: Units = _NOTHING,
        *,
        body: str,
        key: str | None = None,
        charge: int | None = None,
    ) -> Record:
        """Append an entry, and move the end of the chain to it."""
        last = self.last
        granted = _NOTHING if last is None else last.total_granted
        spent = _NOTHING if last is None else last.total_spent
        if action == "charge":
            spent = spent.plus(units)
        else:
            granted = granted.plus(units)
        record = Record(
            account=self.name,
            seq=1 if last is None else last.seq + 1,
            action=action,
            amount=units.amount,
            delta=units.delta,
            granted=granted.amount,
            granted_delta=granted.delta,
            spent=spent.amount,
            spent_delta=spent.delta,
            key=key,
            charge=charge,
            body=body,
            who=who,
            at=now(),
            previous=ORIGIN if last is None else last.hash,
        ).sealed()
        write(self._db, record)
        self.last = record
        self._first = record if last is None else self._first
        return record

    def records(self) -> Iterator[Record]:
        """Read all entries in order, unchecked."""
        done = 0
        while True:
            page = self._db.rows(
                f"SELECT {_COLUMNS} FROM modicum_entry WHERE account = :name AND seq > :done "
                f"ORDER BY seq LIMIT {_PAGE}",
                name=self.name,
                done=done,
            )
            if not page:
                return
            for row in page:
                yield Record(*row)
            done = Record(*page[-1]).seq

    def _one(self, which: str, **values: object) -> Record | None:
        """Read the only entry of a kind, if there is one."""
        return next(iter(self._some(which, **values)), None)

    def _some(self, which: str, **values: object) -> list[Record]:
        """Read entries and check their seals."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM modicum_entry WHERE account = :name AND {which}",
            name=self.name,
            **values,
        )
        read = [Record(*row) for row in rows]
        for record in read:
            if record.hash != record.seal():
                raise record.corrupt("it does not match its hash, so it was edited")
        return read


def write(db: Db, record: Record) -> None:
    """Insert an entry, and let its account end there."""
    db.rows(f"INSERT INTO modicum_entry ({_COLUMNS}) VALUES ({_VALUES})", **record.to_dict())
    end = {"name": record.account, "entries": record.seq, "head": record.hash}
    if record.seq == 1:
        db.rows("INSERT INTO modicum_account VALUES (:name, :entries, :head)", **end)
    else:
        db.rows(
            "UPDATE modicum_account SET entries = :entries, head = :head WHERE name = :name", **end
        )
