"""What an account holds: its terms, its totals, and where its chain ends."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from modicum.errors import InvalidArgument, LedgerCorrupt
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.ledger.record import Record
from modicum.privacy.unit import Unit

__all__ = ["AccountState", "Charge", "Terms", "checked_name"]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Terms:
    """What never changes about an account: the currency, and who is protected."""

    kind: Kind
    unit: Unit

    def to_text(self) -> str:
        """Write as JSON."""
        return json.dumps({"kind": self.kind, "unit": asdict(self.unit)})

    @classmethod
    def of(cls, first: Record) -> Terms:
        """Read the first entry of an account."""
        try:
            body = json.loads(first.body)
            if body["kind"] in {"pure", "zcdp", "approx"}:
                return cls(body["kind"], Unit(**body["unit"]))
        except (ValueError, TypeError, KeyError):
            pass
        raise LedgerCorrupt(f"account {first.account!r}: its terms cannot be read")


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account as it was when asked for.

    Attributes
    ----------
    name : str
    unit : Unit
        Who is protected.
    budget : Budget
        All grants.
    spent : Budget
        All charges: the odometer. Each was rounded up to whole units, 10^-15 of ε or ρ.
    entries : int
        Length of the chain.
    head : str
        Hash of its last entry.
    """

    name: str
    unit: Unit
    budget: Budget
    spent: Budget
    entries: int
    head: str

    @classmethod
    def of(cls, terms: Terms, last: Record) -> AccountState:
        """Read the last entry of an account."""
        return cls(
            last.account,
            terms.unit,
            last.total_granted.budget(terms.kind),
            last.total_spent.budget(terms.kind),
            last.seq,
            last.hash,
        )

    @property
    def remaining(self) -> Budget:
        """What is left."""
        return self.budget - self.spent

    def __str__(self) -> str:
        return f"{self.name}: {self.spent} of {self.budget} spent"


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is on the disk, and so pays for one release.

    Attributes
    ----------
    account : str
    seq : int
        Its place in the account.
    state : AccountState
        The account after it, or later.
    release : str or None
        The release that it paid for, if there is one already.
    """

    account: str
    seq: int
    state: AccountState
    release: str | None = None


def checked_name(name: object, what: str) -> str:
    """Return the name of an account, or a key.

    Raises
    ------
    InvalidArgument
        Unless it is printable text of up to 200 letters.
    """
    if isinstance(name, str) and name.strip() and name.isprintable() and len(name) <= _LONGEST:
        return name
    raise InvalidArgument(
        f"{what} must be printable text of up to {_LONGEST} letters, got {name!r}"
    )
