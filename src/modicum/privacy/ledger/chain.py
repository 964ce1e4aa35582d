"""The chain of entries of one account: amounts, entries, totals, and what seals them.

Amounts are integers, so that a data base adds them exactly, and every charge is rounded up. An
entry holds the totals after it and the hash of the entry before it. A chain is an account as one
transaction sees it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

from modicum.errors import InvalidArgument, KeyReusedError, LedgerCorrupt, as_given
from modicum.privacy.budget import ANY_KIND, Budget, Kind
from modicum.privacy.ledger.store import Db
from modicum.privacy.unit import Unit

AMOUNT_UNITS = 10**15
"""Units in an ε or ρ of 1: 63 bits then hold up to 9,223."""

DELTA_UNITS = 10**18
"""Units in a δ of 1."""

_MOST = 2**63 - 1


class Units(NamedTuple):
    """An amount (ε or ρ) and a δ in whole units."""

    amount: int
    delta: int

    def budget(self, kind: Kind) -> Budget:
        return Budget(kind, Fraction(self.amount, AMOUNT_UNITS), Fraction(self.delta, DELTA_UNITS))

    def plus(self, other: Units) -> Units:
        """The sum; one that a data base could not hold is refused."""
        total = Units(self.amount + other.amount, self.delta + other.delta)
        if max(total) > _MOST:
            raise InvalidArgument(f"a ledger counts up to {_MOST // AMOUNT_UNITS:,} in an account")
        return total

    def within(self, other: Units) -> bool:
        return self.amount <= other.amount and self.delta <= other.delta


def charged(cost: Budget) -> Units:
    """Round a cost up to whole units.

    A sum of charges is then never below the sum of the costs. Decimals with up to 15 digits behind
    the point (18 for δ) are exact.

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> charged(pure("0.1")), charged(pure("1/3"))
    (Units(amount=100000000000000, delta=0), Units(amount=333333333333334, delta=0))
    """
    # [composition.9]
    return _units(cost, math.ceil)


def granted(budget: Budget) -> Units:
    """Round a grant down to whole units."""
    return _units(budget, math.floor)


def _units(budget: Budget, rounded: Callable[[Fraction], int]) -> Units:
    units = Units(rounded(budget.amount * AMOUNT_UNITS), rounded(budget.delta * DELTA_UNITS))
    if max(units) > _MOST:
        raise InvalidArgument(f"a ledger counts up to {_MOST // AMOUNT_UNITS:,}, got {budget}")
    return units


Action = Literal["create", "grant", "charge", "release"]

ORIGIN = "0" * 64
"""What the first record of an account names as the hash before it."""


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry, never changed after it was written.

    ``seq`` counts 1, 2, ... in each account. ``amount`` and ``delta`` are the units granted or
    charged, ``granted`` to ``spent_delta`` the totals of the account after this entry. ``key`` is
    the idempotency key of a charge; ``charge`` is, for a release, the ``seq`` of its charge.
    ``body`` is JSON: the account's terms, a note, the request, or the release. ``who`` is the user
    as the operating system or the server names it, and ``at`` the time of the machine that wrote
    it; nothing depends on it, since the order is that of ``seq``. ``previous`` and ``hash`` are the
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

    def sealed(self) -> LedgerEntry:
        return replace(self, hash=self.seal())

    def seal(self) -> str:
        """SHA-256 over every other field, the previous hash among them."""
        sealed = [getattr(self, name) for name in LedgerEntry.__slots__[:-1]]
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
        return LedgerCorrupt(f"account {self.account!r}, entry {self.seq}: {problem}")

    def check_after(self, before: LedgerEntry | None) -> None:
        """Check the hash, the chain and the totals, given the entry before this one."""
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
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> LedgerEntry:
        """Read what :meth:`to_dict` wrote; anything else is LedgerCorrupt."""
        try:
            return cls(**values)
        except TypeError:
            raise LedgerCorrupt("a line of the export is no entry of a ledger") from None


_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Terms:
    """What never changes about an account: the currency, and who is protected."""

    kind: Kind
    unit: Unit

    def to_text(self) -> str:
        return json.dumps({"kind": self.kind, "unit": asdict(self.unit)})

    @classmethod
    def of(cls, first: LedgerEntry) -> Terms:
        """Read the first entry of an account."""
        try:
            body = json.loads(first.body)
            if body["kind"] in ANY_KIND:
                return cls(body["kind"], Unit(**body["unit"]))
        except (ValueError, TypeError, KeyError):
            pass
        raise LedgerCorrupt(f"account {first.account!r}: its terms cannot be read")


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account at one time.

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

    @property
    def remaining(self) -> Budget:
        """What is left."""
        return self.budget - self.spent

    def __str__(self) -> str:
        return f"{self.name}: {self.spent} of {self.budget} spent"


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is on the disk: one release may be drawn for it.

    ``seq`` is its place in the account, ``state`` the account after it or later, and ``release``
    what was released for it, if that is recorded already.
    """

    account: str
    seq: int
    state: AccountState
    release: str | None = None


def checked_name(name: object, what: str) -> str:
    """The name of an account, or a key: printable text of up to 200 letters."""
    if isinstance(name, str) and name.strip() and name.isprintable() and len(name) <= _LONGEST:
        return name
    raise InvalidArgument(
        f"{what} must be printable text of up to {_LONGEST} letters, got {as_given(name)}"
    )


_COLUMNS = ", ".join(LedgerEntry.__dataclass_fields__)
_VALUES = ", ".join(f":{name}" for name in LedgerEntry.__dataclass_fields__)
_OF_ACCOUNT = f"SELECT {_COLUMNS} FROM modicum_entry WHERE account = :name AND "
_NOTHING = Units(0, 0)
_PAGE = 500


def now() -> str:
    """Time in UTC, for people: the order of entries is that of their numbers."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Chain:
    """An account as a transaction sees it.

    ``lock`` is the end of a ``SELECT`` that keeps other writers off; empty to look only. The end of
    the chain must be what the account says, its seal right, and nothing may be beyond it: neither
    an entry, nor a release that names a charge there. Anything else is LedgerCorrupt, for an old
    row of the account, or an old page of a file, would show less than was spent.
    """

    def __init__(self, db: Db, name: str, lock: str = "") -> None:
        self._db = db
        self.name = name
        found = db.rows(
            f"SELECT entries, head FROM modicum_account WHERE name = :name{lock}", name=name
        )
        self.last: LedgerEntry | None = None
        self._first: LedgerEntry | None = None
        entries, head = found[0] if found else (0, None)
        ends = {each.seq: each for each in self._ends(entries)}
        if not found and ends:
            raise LedgerCorrupt(f"account {name!r} was removed, its entries are there")
        if max(ends, default=0) > entries:
            raise LedgerCorrupt(f"account {name!r}: there are entries beyond its end")
        if found:
            self._first, self.last = ends.get(1), ends.get(entries)
            if self.last is None or self.last.hash != head:
                raise LedgerCorrupt(f"account {name!r}: its last entry is missing or was replaced")

    @cached_property
    def terms(self) -> Terms:
        if self._first is None:
            raise LedgerCorrupt(f"account {self.name!r}: its first entry is missing")
        return Terms.of(self._first)

    def state(self) -> AccountState:
        """The totals of an account that exists."""
        last, kind = self.last, self.terms.kind
        assert last is not None
        budget, spent = last.total_granted.budget(kind), last.total_spent.budget(kind)
        return AccountState(self.name, self.terms.unit, budget, spent, last.seq, last.hash)

    def keyed(self, key: str, request: str) -> Charge | None:
        """The charge of a key, if it was charged; KeyReusedError if it was for another query."""
        record = self._one("key = :key", key=key)
        if record is None:
            return None
        if record.body != request:
            raise KeyReusedError(
                f"the key {key!r} was charged in account {self.name!r} for another query: "
                "repeat the same arguments, or use a new key"
            )
        return Charge(self.name, record.seq, self.state(), self.released(record.seq))

    def released(self, charge: int) -> str | None:
        """The release of a charge, if it is recorded."""
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
    ) -> LedgerEntry:
        last = self.last
        granted = _NOTHING if last is None else last.total_granted
        spent = _NOTHING if last is None else last.total_spent
        if action == "charge":
            spent = spent.plus(units)
        else:
            granted = granted.plus(units)
        record = LedgerEntry(
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

    def records(self) -> Iterator[LedgerEntry]:
        """Read all entries in order, unchecked."""
        statement = f"{_OF_ACCOUNT}seq > :done ORDER BY seq LIMIT {_PAGE}"
        done = 0
        while page := self._db.rows(statement, name=self.name, done=done):
            for row in page:
                record = LedgerEntry(*row)
                yield record
            done = record.seq

    def _one(self, which: str, **values: object) -> LedgerEntry | None:
        return next(iter(self._some(_OF_ACCOUNT + which, **values)), None)

    def _ends(self, entries: int) -> list[LedgerEntry]:
        """The first entry, that of a number, and one beyond it: by its own or its charge's."""
        parts = ("seq = 1", "seq >= :last ORDER BY seq LIMIT 2", "charge > :last LIMIT 1")
        ends = (f"SELECT * FROM ({_OF_ACCOUNT}{each}) AS e{n}" for n, each in enumerate(parts))
        return self._some(" UNION ALL ".join(ends), last=entries)

    def _some(self, statement: str, **values: object) -> list[LedgerEntry]:
        """Read entries and check their seals."""
        rows = self._db.rows(statement, name=self.name, **values)
        read = [LedgerEntry(*row) for row in rows]
        for record in read:
            if record.hash != record.seal():
                raise record.corrupt("it does not match its hash, so it was edited")
        return read


def write(db: Db, record: LedgerEntry) -> None:
    """Insert an entry, which becomes the end of its account."""
    db.rows(f"INSERT INTO modicum_entry ({_COLUMNS}) VALUES ({_VALUES})", **record.to_dict())
    end = {"name": record.account, "entries": record.seq, "head": record.hash}
    if record.seq == 1:
        db.rows("INSERT INTO modicum_account VALUES (:name, :entries, :head)", **end)
    else:
        db.rows(
            "UPDATE modicum_account SET entries = :entries, head = :head WHERE name = :name", **end
        )
