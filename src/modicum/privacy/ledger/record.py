"""One line of an account: what happened, the totals after it, and the hash that chains it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from modicum.errors import LedgerCorrupt
from modicum.privacy.ledger.units import Units

__all__ = ["ORIGIN", "Action", "Record", "digest"]

Action = Literal["create", "grant", "charge", "release"]

ORIGIN = "0" * 64
"""What the first record of an account names as the hash before it."""


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """One entry, never changed after it was written.

    Attributes
    ----------
    account : str
    seq : int
        1, 2, ... in each account.
    action : {"create", "grant", "charge", "release"}
    amount, delta : int
        Units granted or charged.
    granted, granted_delta, spent, spent_delta : int
        Totals of the account after this entry.
    key : str or None
        Idempotency key of a charge.
    charge : int or None
        Of a release: the ``seq`` of the charge that paid for it.
    body : str
        JSON: the account's terms, a note, the request, or the release.
    who : str
        Name of the user, as the operating system or the server says it.
    at : str
        Time of the machine that wrote it. Nothing depends on it: the order is that of ``seq``.
    previous, hash : str
        SHA-256 of the entry before it, and of this one.
    """

    account: str
    seq: int
    action: Action
    amount: int
    delta: int
    granted: int
    granted_delta: int
    spent: int
    spent_delta: int
    key: str | None
    charge: int | None
    body: str
    who: str
    at: str
    previous: str
    hash: str = ""

    def sealed(self) -> Record:
        """Return it with its hash."""
        return replace(self, hash=self.seal())

    def seal(self) -> str:
        """SHA-256 over every other field, the previous hash among them."""
        sealed = [getattr(self, name) for name in Record.__slots__[:-1]]
        return digest(json.dumps(sealed, ensure_ascii=False, separators=(",", ":")))

    @property
    def units(self) -> Units:
        """What was granted or charged."""
        return Units(self.amount, self.delta)

    @property
    def total_granted(self) -> Units:
        """All grants so far."""
        return Units(self.granted, self.granted_delta)

    @property
    def total_spent(self) -> Units:
        """All charges so far."""
        return Units(self.spent, self.spent_delta)

    def corrupt(self, problem: str) -> LedgerCorrupt:
        """Return the error to raise for it."""
        return LedgerCorrupt(f"account {self.account!r}, entry {self.seq}: {problem}")

    def check_after(self, before: Record | None) -> None:
        """Check the hash, the chain and the totals, given the entry before this one.

        Raises
        ------
        LedgerCorrupt
        """
        if self.hash != self.seal():
            raise self.corrupt("it does not match its hash, so it was edited")
        seq, previous = (0, ORIGIN) if before is None else (before.seq, before.hash)
        if (self.seq, self.previous) != (seq + 1, previous):
            raise self.corrupt("it does not follow the entry before it")
        granted = Units(0, 0) if before is None else before.total_granted
        spent = Units(0, 0) if before is None else before.total_spent
        if self.action in {"create", "grant"}:
            granted = granted.plus(self.units)
        elif self.action == "charge":
            spent = spent.plus(self.units)
        elif self.units != Units(0, 0):
            raise self.corrupt("a release is no charge")
        if (self.action == "create") != (before is None):
            raise self.corrupt("only the first entry creates an account")
        if (self.total_granted, self.total_spent) != (granted, spent) or min(self.units) < 0:
            raise self.corrupt("its totals are not those of the entries before it")
        if not spent.within(granted):
            raise self.corrupt("more was spent than granted")

    def to_dict(self) -> dict[str, Any]:
        """Every field by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> Record:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        LedgerCorrupt
            If it is anything else.
        """
        try:
            return cls(**values)
        except TypeError:
            raise LedgerCorrupt("a line of the export is no entry of a ledger") from None
