"""Whole chains: read again, carried elsewhere, compared with a copy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from modicum.errors import InvalidArgument, LedgerCorrupt
from modicum.privacy.ledger.account import Terms
from modicum.privacy.ledger.chain import Chain, write
from modicum.privacy.ledger.record import Record
from modicum.privacy.ledger.store import SCHEMA, Db

__all__ = ["Verified", "export_lines", "import_lines", "verify_all"]


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a ledger has gone through."""

    accounts: int
    entries: int
    charges: int
    releases: int

    def __str__(self) -> str:
        return (
            f"{self.accounts} accounts, {self.entries} entries ({self.charges} charges, "
            f"{self.releases} releases): every entry matches its hash, follows the one before it, "
            "and fits the budget; every release is paid for"
        )


class _Walk:
    """Checks the entries of one account in order."""

    def __init__(self) -> None:
        self.last: Record | None = None
        self._unreleased: set[int] = set()
        self._keys: set[str] = set()
        self.charges = 0
        self.releases = 0

    def step(self, record: Record) -> None:
        record.check_after(self.last)
        if record.action == "create":
            Terms.of(record)
        if record.action == "charge":
            self.charges += 1
            self._unreleased.add(record.seq)
            if record.key is not None and record.key in self._keys:
                raise record.corrupt("its key was charged before")
            self._keys |= {record.key} if record.key is not None else set()
        if record.action == "release":
            if record.charge not in self._unreleased:
                raise record.corrupt("no charge is left that pays for it")
            self._unreleased.discard(record.charge)
            self.releases += 1
        self.last = record


def verify_all(db: Db, copy: Iterable[str] = ()) -> Verified:
    """Check every chain, and that each contains the chain of the same account in a copy.

    Raises
    ------
    LedgerCorrupt
        At the first entry that is not right.
    """
    ends = {(name, seq): seal for name, seq, seal in _ends(copy)}
    accounts = entries = charges = releases = 0
    listed = [str(name) for (name,) in db.rows("SELECT name FROM modicum_account ORDER BY name")]
    for (name,) in db.rows("SELECT DISTINCT account FROM modicum_entry ORDER BY account"):
        if name not in listed:
            raise LedgerCorrupt(f"account {name!r} was removed, its entries are there")
    for name in listed:
        chain, walk = Chain(db, name), _Walk()
        for record in chain.records():
            walk.step(record)
            if ends.pop((name, record.seq), record.hash) != record.hash:
                raise record.corrupt("it is not the entry of the copy")
        if walk.last != chain.last:
            raise LedgerCorrupt(f"account {name!r}: there are entries beyond its end")
        accounts, entries = accounts + 1, entries + (walk.last.seq if walk.last else 0)
        charges, releases = charges + walk.charges, releases + walk.releases
    for name, seq in ends:
        raise LedgerCorrupt(f"account {name!r}, entry {seq}: it is in the copy and not here")
    return Verified(accounts, entries, charges, releases)


def export_lines(db: Db) -> Iterator[str]:
    """Write every entry as a line of JSON, after a line that names the schema."""
    yield json.dumps({"schema": SCHEMA})
    for (name,) in db.rows("SELECT name FROM modicum_account ORDER BY name"):
        for record in Chain(db, name).records():
            yield json.dumps(record.to_dict(), ensure_ascii=False)


def import_lines(db: Db, lines: Iterable[str]) -> Verified:
    """Write the accounts of an export into a ledger that does not have them.

    Raises
    ------
    LedgerCorrupt
        If the export is not whole and unedited.
    InvalidArgument
        If an account is there already.
    """
    walks: dict[str, _Walk] = {}
    for record in _read(lines):
        if record.account not in walks and Chain(db, record.account).last is not None:
            raise InvalidArgument(f"there is an account {record.account!r} already")
        walks.setdefault(record.account, _Walk()).step(record)
        write(db, record)
    every = walks.values()
    return Verified(
        len(walks),
        sum(walk.last.seq for walk in every if walk.last is not None),
        sum(walk.charges for walk in every),
        sum(walk.releases for walk in every),
    )


def _ends(lines: Iterable[str]) -> list[tuple[str, int, str]]:
    """Return the last entry of each account of an export: it commits to all before it."""
    last = {record.account: record for record in _read(lines)}
    return [(record.account, record.seq, record.hash) for record in last.values()]


def _read(lines: Iterable[str]) -> Iterator[Record]:
    stream = iter(lines)
    for number, line in enumerate(stream):
        try:
            values = json.loads(line)
        except ValueError:
            raise LedgerCorrupt(f"line {number + 1} of the export is no JSON") from None
        if number == 0:
            if values != {"schema": SCHEMA}:
                raise LedgerCorrupt(f"this is no export of a ledger of kind {SCHEMA}")
            continue
        record = Record.of_dict(values)
        if record.hash != record.seal():
            raise record.corrupt("it does not match its hash, so the export was edited")
        yield record
