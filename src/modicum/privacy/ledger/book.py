"""The ledger: accounts that are granted a budget, charged before a draw, and never overspent."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from modicum.errors import (
    AccessDeniedError,
    BudgetExceeded,
    InvalidArgument,
    LedgerCorrupt,
    number_of,
)
from modicum.privacy.budget import Budget, chosen_budget
from modicum.privacy.ledger import postgres, sqlite
from modicum.privacy.ledger.chain import (
    AccountState,
    Chain,
    Charge,
    LedgerEntry,
    Terms,
    charged,
    checked_name,
    granted,
    write,
)
from modicum.privacy.ledger.store import SCHEMA, Address, Db
from modicum.privacy.unit import Unit, checked_unit

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a ledger has read."""

    accounts: int
    entries: int
    charges: int
    releases: int

    def __str__(self) -> str:
        return (
            f"{number_of(self.accounts, 'account')}, "
            f"{number_of(self.entries, 'entry', 'entries')} "
            f"({number_of(self.charges, 'charge')}, {number_of(self.releases, 'release')}): "
            "every entry matches its hash, follows the one before it, and is within the budget; "
            "every release has its charge"
        )


class _ChainCheck:
    """Checks the entries of one account in order."""

    def __init__(self) -> None:
        self.last: LedgerEntry | None = None
        self._unreleased: set[int] = set()
        self._keys: set[str] = set()
        self.charges = 0
        self.releases = 0

    def step(self, record: LedgerEntry) -> None:
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
                raise record.corrupt("no charge is left for it")
            self._unreleased.discard(record.charge)
            self.releases += 1
        self.last = record


def _verified(checks: Collection[_ChainCheck]) -> Verified:
    return Verified(
        len(checks),
        sum(each.last.seq for each in checks if each.last is not None),
        sum(each.charges for each in checks),
        sum(each.releases for each in checks),
    )


def _names(db: Db) -> list[str]:
    """The accounts; one of which only the entries are left is LedgerCorrupt."""
    names = [name for (name,) in db.rows("SELECT name FROM modicum_account ORDER BY name")]
    found = ""
    # Each step is one look into the index, however many entries an account has.
    next_one = "SELECT min(account) FROM modicum_entry WHERE account > :found"
    while (found := db.rows(next_one, found=found)[0][0]) is not None:
        if found not in names:
            raise LedgerCorrupt(f"account {found!r} was removed, its entries are there")
    return names


def _checked(db: Db, copy: Iterable[str]) -> list[_ChainCheck]:
    """Check every account, and that each entry of a copy is there."""
    checks: list[_ChainCheck] = []
    # The last entry of each account of the copy commits to all before it.
    last = {record.account: record for record in _read(copy)}
    ends = {(record.account, record.seq): record.hash for record in last.values()}
    for name in _names(db):
        chain, check = Chain(db, name), _ChainCheck()
        for record in chain.records():
            check.step(record)
            if ends.pop((name, record.seq), record.hash) != record.hash:
                raise record.corrupt("it is not the entry of the copy")
        if check.last != chain.last:
            raise LedgerCorrupt(f"account {name!r}: there are entries beyond its end")
        checks.append(check)
    for name, seq in ends:
        raise LedgerCorrupt(f"account {name!r}, entry {seq}: it is in the copy and not here")
    return checks


def _read(lines: Iterable[str]) -> Iterator[LedgerEntry]:
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
        record = LedgerEntry.of_dict(values)
        if record.hash != record.seal():
            raise record.corrupt("it does not match its hash, so the export was edited")
        yield record


class Ledger:
    """Budgets that outlive processes: a file, or tables on a server.

    Give its URL to :class:`modicum.Curator`, which then charges an account here. Use this class
    to make accounts, grant budgets and look.

    Parameters
    ----------
    url : str
        ``"sqlite:///budget.db"`` (a file on a local disk; four slashes before an absolute path)
        or ``"postgresql://user@host/database"`` (needs ``psycopg``). With ``?mode=ro``
        it is opened to look only. A password in it is never shown.

    Raises
    ------
    InvalidArgument
        If the URL cannot be read. Whether there is a ledger shows when it is first used.

    Notes
    -----
    An account is a chain of entries that are only ever appended, each with the totals after it and
    the hash of the one before. A charge is one transaction: lock, check the end of the chain,
    check the budget, append, and commit to the disk. Safe to share between threads; in a
    forked process open it anew.

    Examples
    --------
    >>> import modicum, tempfile
    >>> url = f"sqlite:///{tempfile.mkdtemp()}/budget.db"
    >>> ledger = modicum.Ledger.create(url)
    >>> print(ledger.open_account("patients", modicum.pure(3)))
    patients: ε = 0 of ε = 3 spent
    >>> curator = modicum.Curator([1.0] * 999, ledger=url, account="patients")
    >>> release = curator.count(epsilon="0.5")
    >>> print(ledger.account("patients"))
    patients: ε = 0.5 of ε = 3 spent
    """

    def __init__(self, url: str) -> None:
        self._address = Address.of(url)
        kind = sqlite.SqliteStore if self._address.store == "sqlite" else postgres.PostgresStore
        self._store: sqlite.SqliteStore | postgres.PostgresStore = kind(self._address)
        self._process = os.getpid()

    @classmethod
    def create(cls, url: str) -> Ledger:
        """Make a ledger without accounts; an existing one is opened.

        Parameters
        ----------
        url : str
            ``"sqlite:///FILE"`` or ``"postgresql://USER@HOST/DATABASE"``.

        Returns
        -------
        Ledger
            With the ledger there, ready to be used.

        Raises
        ------
        LedgerError
            If it cannot be made, or the place holds something else.

        Examples
        --------
        >>> import modicum, tempfile
        >>> ledger = modicum.Ledger.create(f"sqlite:///{tempfile.mkdtemp()}/budget.db")
        >>> ledger.open_account("visits", modicum.pure(1)).name
        'visits'
        """
        ledger = cls(url)
        ledger._store.create()
        return ledger

    @property
    def url(self) -> str:
        """Where it is, without the password."""
        return str(self._address)

    def open_account(self, name: str, budget: Budget, *, unit: Unit | None = None) -> AccountState:
        """Make an account with a first grant.

        Parameters
        ----------
        name : str
            One account for one set of people: everything released about them is charged to it.
        budget : Budget
            :func:`modicum.pure`, ``zcdp`` or ``approx``; it fixes the currency. Rounded down to
            10^-15 (δ: 10^-18).
        unit : Unit
            Who is protected; it holds for every release. Default: whoever owns one row.

        Returns
        -------
        AccountState
            The account, with nothing spent.

        Raises
        ------
        InvalidArgument
            If the account exists already, or its name is no printable text of up to 200 letters.
        """
        chosen_budget(None, None, budget)
        terms, first = Terms(budget.kind, checked_unit(unit)), granted(budget)
        checked_name(name, "an account's name")

        def made(db: Db) -> AccountState:
            chain = Chain(db, name, self._store.lock)
            if chain.last is not None:
                raise InvalidArgument(f"there is an account {name!r} already: grant to it")
            chain.append("create", self._store.who(db), first, body=terms.to_text())
            return chain.state()

        return self._transaction(made, write=True)

    def grant(self, name: str, budget: Budget, *, note: str = "") -> AccountState:
        """Add to the budget of an account, in its currency; ``note`` is kept with it.

        Parameters
        ----------
        name : str
            The account.
        budget : Budget
            What is added, rounded down to 10^-15 (δ: 10^-18).
        note : str
            Why, for those who read the ledger.

        Returns
        -------
        AccountState
            The account with its new budget.

        Raises
        ------
        InvalidArgument
            If the account does not exist, or has another currency.
        """
        chosen_budget(None, None, budget)

        def added(db: Db, chain: Chain) -> AccountState:
            kind = chain.terms.kind
            if budget.kind != kind:
                raise InvalidArgument(
                    f"account {name!r} is kept in {kind!r}, got a grant in {budget.kind!r}"
                )
            chain.append("grant", self._store.who(db), granted(budget), body=note)
            return chain.state()

        return self._account(name, added, write=True)

    def accounts(self) -> tuple[AccountState, ...]:
        """Return every account, by name."""
        return self._transaction(
            lambda db: tuple(Chain(db, name).state() for name in _names(db)), write=False
        )

    def account(self, name: str) -> AccountState:
        """Return one account as it is now.

        Parameters
        ----------
        name : str
            The account.

        Returns
        -------
        AccountState
            Its ``budget``, what is ``spent`` and ``remaining``, and its ``unit``.

        Raises
        ------
        InvalidArgument
            If there is no account of that name.
        LedgerCorrupt
            If the end of its chain was edited.
        """
        return self._account(name, lambda _, chain: chain.state(), write=False)

    def entries(self, name: str) -> tuple[LedgerEntry, ...]:
        """Return every entry of an account, in order.

        Parameters
        ----------
        name : str
            The account.

        Returns
        -------
        tuple of LedgerEntry
            The body of a release is its JSON, that of a charge what was asked.

        Raises
        ------
        InvalidArgument
            If there is no account of that name.

        Examples
        --------
        >>> import modicum, tempfile
        >>> ledger = modicum.Ledger.create(f"sqlite:///{tempfile.mkdtemp()}/budget.db")
        >>> _ = ledger.open_account("visits", modicum.pure(1))
        >>> curator = modicum.Curator([1.0] * 999, ledger=ledger, account="visits")
        >>> release = curator.count(epsilon=1)
        >>> [entry.action for entry in ledger.entries("visits")]
        ['create', 'charge', 'release']
        """
        return self._account(name, lambda _, chain: tuple(chain.records()), write=False)

    def find(self, name: str, key: str, request: str) -> Charge | None:
        """Return the charge of a key, with its release if there is one.

        Parameters
        ----------
        name : str
            The account.
        key : str
            As given to :meth:`charge`, or to :meth:`Curator.idempotent`.
        request : str
            What was charged for, as given to :meth:`charge`.

        Returns
        -------
        Charge or None
            ``None`` if the key was never charged.

        Raises
        ------
        InvalidArgument
            If there is no account of that name, or the key is no printable text of up to 200
            letters.
        KeyReusedError
            If it was charged for another query.
        """
        checked_name(key, "a key")
        return self._account(name, lambda _, chain: chain.keyed(key, request), write=False)

    def charge(self, name: str, cost: Budget, *, request: str, key: str | None = None) -> Charge:
        """Charge an account. Once this returns, the charge is on the disk.

        Parameters
        ----------
        name : str
            The account.
        cost : Budget
            In the account's currency; rounded up to 10^-15 (δ: 10^-18).
        request : str
            What is charged for, from public arguments only.
        key : str, optional
            If the key was charged for the same request already, nothing is charged, and that charge
            is returned.

        Returns
        -------
        Charge
            Give it to :meth:`record` with the release.

        Raises
        ------
        BudgetExceeded
            If it is more than what is left; nothing is charged.
        InvalidArgument
            If there is no account of that name, or it has another currency.
        KeyReusedError
            If the key was charged for another query.
        """
        units = charged(cost)
        if key is not None:
            checked_name(key, "a key")

        def appended(db: Db, chain: Chain) -> Charge:
            known = None if key is None else chain.keyed(key, request)
            if known is not None:
                return known
            last, state = chain.last, chain.state()
            assert last is not None
            if cost.kind != state.budget.kind:
                raise InvalidArgument(
                    f"account {name!r} is kept in {state.budget.kind!r}, got a cost in "
                    f"{cost.kind!r}"
                )
            if not last.total_spent.plus(units).within(last.total_granted):
                raise BudgetExceeded(
                    f"this costs {cost}, but only {state.remaining} of {state.budget} is left in "
                    f"account {name!r}; nothing was charged"
                )
            record = chain.append("charge", self._store.who(db), units, body=request, key=key)
            return Charge(name, record.seq, chain.state())

        return self._account(name, appended, write=True)

    def record(self, charge: Charge, release: str) -> str:
        """Record a release under its charge; the first one stays.

        Parameters
        ----------
        charge : Charge
            What :meth:`charge` returned.
        release : str
            What was drawn for it, as JSON.

        Returns
        -------
        str
            The release that is on the disk: ``release``, or the one that was there before. Only
            this one may leave the process.
        """

        def kept(db: Db, chain: Chain) -> str:
            there = chain.released(charge.seq)
            if there is None:
                who = self._store.who(db)
                chain.append("release", who, body=release, charge=charge.seq)
            return release if there is None else there

        return self._account(charge.account, kept, write=True)

    def verify(self, copy: Iterable[str] = ()) -> Verified:
        """Read everything again: hashes, chains, totals, budgets, and the charge of each release.

        Parameters
        ----------
        copy : iterable of str
            Lines of an earlier :meth:`export`: each of its entries must still be here. Without
            it, whoever can write to the store can rewrite all hashes, or put an old copy back,
            and nothing shows.

        Returns
        -------
        Verified
            How much was read.

        Raises
        ------
        LedgerCorrupt
            At the first entry that is wrong.
        """
        self._check_process()
        self._store.check()
        found = self._transaction(lambda db: _verified(_checked(db, copy)), write=False)
        self._store.check_parts()
        return found

    def export(self) -> Iterator[str]:
        """Write every entry as a line of JSON; the first line names the schema."""
        records = self._transaction(  # nobody can charge before all is read
            lambda db: [record for name in _names(db) for record in Chain(db, name).records()],
            write=False,
        )
        yield json.dumps({"schema": SCHEMA})
        yield from (json.dumps(record.to_dict(), ensure_ascii=False) for record in records)

    def load(self, lines: Iterable[str]) -> Verified:
        """Take over the accounts of an :meth:`export`, all or none.

        From then on charge them here only: two ledgers with one account are two budgets.

        Parameters
        ----------
        lines : iterable of str
            What :meth:`export` wrote: of a file, its lines.

        Returns
        -------
        Verified
            How many accounts and entries were taken over.

        Raises
        ------
        LedgerCorrupt
            If the export was edited.
        InvalidArgument
            If one of its accounts is here already.

        Examples
        --------
        >>> import modicum, tempfile
        >>> old = modicum.Ledger.create(f"sqlite:///{tempfile.mkdtemp()}/old.db")
        >>> _ = old.open_account("visits", modicum.pure(1))
        >>> new = modicum.Ledger.create(f"sqlite:///{tempfile.mkdtemp()}/new.db")
        >>> new.load(old.export()).accounts
        1
        """

        def taken_over(db: Db) -> Verified:
            checks: dict[str, _ChainCheck] = {}
            for record in _read(lines):
                if record.account not in checks and Chain(db, record.account).last is not None:
                    raise InvalidArgument(f"there is an account {record.account!r} already")
                checks.setdefault(record.account, _ChainCheck()).step(record)
                write(db, record)
            return _verified(checks.values())

        return self._transaction(taken_over, write=True)

    def close(self) -> None:
        """Close the file or the connection; it is opened again when needed."""
        self._check_process()
        self._store.close()

    def _transaction(self, work: Callable[[Db], T], *, write: bool) -> T:
        self._check_process()
        if write and self._address.read_only:
            raise AccessDeniedError(f"the ledger {self.url} was opened to look only (mode=ro)")
        return self._store.transaction(work, write=write)

    def _account(self, name: str, work: Callable[[Db, Chain], T], *, write: bool) -> T:
        """Do work on an existing account; to write, lock it."""

        def known(db: Db) -> T:
            chain = Chain(db, name, self._store.lock if write else "")
            if chain.last is None:
                raise InvalidArgument(
                    f"there is no account {name!r} in {self.url}: make it once, with `modicum "
                    "ledger create` or Ledger.open_account"
                )
            return work(db, chain)

        return self._transaction(known, write=write)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise InvalidArgument("a Ledger cannot be used in a forked process: open it anew there")

    def __del__(self) -> None:
        # A forked child must not end its parent's connection to a server.
        with suppress(Exception):
            if os.getpid() == self._process:
                self._store.close()

    def __repr__(self) -> str:
        return f"Ledger({self.url!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Ledger cannot be pickled or copied: give its URL to the other process")
