"""What releases are charged to: a budget in memory, or an account of a ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from modicum.errors import BudgetExceeded, InvalidArgument, LedgerError
from modicum.privacy.accountant import Filter
from modicum.privacy.budget import ZCDP_KIND, Budget, Kind, chosen_budget
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.chain import Charge, checked_name
from modicum.privacy.unit import Unit, checked_unit
from modicum.release import Record
from modicum.runtime.query import Query
from modicum.sources.base import Source
from modicum.sources.reader import width_of
from modicum.stored import from_text, to_text
from modicum.summaries.base import Columns

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_NO_LEDGER = "a key needs a ledger that remembers it: Curator(..., ledger=, account=)"


class PendingCharge(Protocol):
    """The cost of one query, from the check of the budget to the release."""

    @property
    def done(self) -> Any:
        """The release that the same key has already, else ``None``."""

    def charge(self) -> None:
        """Charge it. Nothing may be drawn before, or if this raises."""

    @property
    def account(self) -> str:
        """Which budget was charged, and how much of it is spent."""

    def commit(self, released: T) -> T:
        """Record the release, and return the one that may be shown."""


class Accountant(Protocol):
    """A budget that queries are charged to."""

    @property
    def budget(self) -> Budget:
        """All of it."""

    @property
    def spent(self) -> Budget:
        """What was charged."""

    def pending(self, price: Budget, query: str, key: str | None) -> PendingCharge:
        """Check that the budget holds a cost; nothing is charged yet."""


class MemoryAccountant:
    """A budget that ends with its process."""

    def __init__(self, budget: Budget) -> None:
        self._filter = Filter(budget)

    @property
    def budget(self) -> Budget:
        """All of it."""
        return self._filter.budget

    @property
    def spent(self) -> Budget:
        """What was charged."""
        return self._filter.spent

    def __str__(self) -> str:
        return f"budget={self.budget!r}, spent={self.spent!r}"

    def pending(self, price: Budget, query: str, key: str | None) -> PendingCharge:
        """Check that the budget holds a cost."""
        if key is not None:
            raise InvalidArgument(_NO_LEDGER)
        self._filter.check(price)
        return _MemoryBill(self._filter, price)


class _MemoryBill:
    done = None

    def __init__(self, budget: Filter, price: Budget) -> None:
        self._filter = budget
        self._price = price

    def charge(self) -> None:
        self._filter.charge(self._price)

    @property
    def account(self) -> str:
        return f"{self._filter.spent} of {self._filter.budget} spent"

    def commit(self, released: T) -> T:
        return released


class LedgerAccountant:
    """An account of a ledger, which must exist and protect the same unit."""

    def __init__(self, ledger: Ledger | str, account: str | None, unit: Unit | None) -> None:
        if account is None:
            raise InvalidArgument("a ledger holds several accounts: name one with account=")
        if not isinstance(ledger, Ledger | str):
            raise InvalidArgument(f"ledger must be a URL or a Ledger, got {type(ledger).__name__}")
        self._ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self._name = checked_name(account, "an account's name")
        self.unit = self._ledger.account(self._name).unit
        if unit is not None and checked_unit(unit) != self.unit:
            raise InvalidArgument(
                f"account {account!r} protects {self.unit}, got unit={unit!r}: prices for "
                "different units do not add up"
            )

    @property
    def budget(self) -> Budget:
        """All grants so far."""
        return self._ledger.account(self._name).budget

    @property
    def spent(self) -> Budget:
        """All charges so far, of whatever process."""
        return self._ledger.account(self._name).spent

    def pending(self, price: Budget, query: str, key: str | None) -> PendingCharge:
        """Check that the account holds a cost, or was charged for it under the key."""
        paid = None if key is None else self._ledger.find(self._name, key, query)
        if paid is None:
            state = self._ledger.account(self._name)
            if not price <= state.remaining:
                raise BudgetExceeded(
                    f"this costs {price}, but only {state.remaining} of {state.budget} is left in "
                    f"account {self._name!r}; nothing was charged"
                )
        return _LedgerBill(self._ledger, self._name, price, query, key, paid)

    def __str__(self) -> str:
        return f"account {self._name!r} of {self._ledger.url}"


class _LedgerBill:
    def __init__(
        self,
        ledger: Ledger,
        name: str,
        price: Budget,
        query: str,
        key: str | None,
        paid: Charge | None,
    ) -> None:
        self._ledger = ledger
        self._name = name
        self._price = price
        self._request = query
        self._key = key
        self._paid = paid

    @property
    def done(self) -> Any:
        stored = None if self._paid is None else self._paid.release
        return None if stored is None else from_text(stored)

    def charge(self) -> None:
        self._paid = self._ledger.charge(
            self._name, self._price, request=self._request, key=self._key
        )

    @property
    def account(self) -> str:
        assert self._paid is not None
        return str(self._paid.state)

    def commit(self, released: T) -> T:
        assert self._paid is not None
        text = to_text(released)
        try:
            kept = self._ledger.record(self._paid, text)
        except LedgerError as error:
            again = "" if self._key is None else f", ask again with the key {self._key!r}"
            raise type(error)(f"{error}; the charge stays{again}") from None
        winner: T = released if kept == text else from_text(kept)
        return winner


def checked_key(accountant: Accountant, key: object) -> str:
    """A key for one query: one line of text, and an account of a ledger that records it."""
    if not isinstance(accountant, LedgerAccountant):
        raise InvalidArgument(_NO_LEDGER)
    return checked_name(key, "a key")


def _named(column: str | Columns | None) -> object:
    if isinstance(column, Columns):
        return {"columns": None if column.names is None else list(column.names)}
    return column


def query_text(queries: Mapping[str, Query[Any]], unit: Unit, **more: object) -> str:
    """Describe queries by public arguments only: the same query has the same text.

    A query that is answered for another cost has another text, so that a key that was charged for
    (ε, 0) is not a charge for (ε, δ).
    """
    asked = {
        name: {
            "statistic": query.statistic,
            "method": query.method,
            "column": _named(query.place),
            "range": None
            if query.lattice is None
            else [query.lattice.lo, query.lattice.hi, query.lattice.step],
            "options": repr(query.options),
            "budget": repr(query.budget),
            **({} if query.rho is None else {"noise": ZCDP_KIND}),
        }
        for name, query in queries.items()
    }
    record = {"ask": asked, "unit": asdict(unit), **more}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def accountant_for(
    unit: Unit | None, budget: Budget | None, ledger: Ledger | str | None, account: str | None
) -> tuple[Accountant, Unit]:
    """What is charged, and the unit; exactly one of a budget and a ledger's account is given."""
    if ledger is None:
        if account is not None:
            raise InvalidArgument(f"account={account!r} needs ledger=, the URL of its ledger")
        if budget is None:
            raise InvalidArgument(
                "a budget is needed: budget=modicum.pure(...), or ledger= and account="
            )
        chosen_budget(None, None, budget)
        return MemoryAccountant(budget), checked_unit(unit)
    if budget is not None:
        raise InvalidArgument("give budget= or ledger=, not both: the account has its own budget")
    accountant = LedgerAccountant(ledger, account, unit)
    return accountant, accountant.unit


def price_of(queries: Iterable[object], kind: Kind) -> Budget:
    """What queries cost together, in a currency; one without a cost in it is refused."""
    checked = _checked(queries)
    return sum((each.event.cost(kind) for each in checked), start=Budget(kind, Fraction(0)))


def fitted(queries: Mapping[str, Query[R]], source: Source, kind: Kind) -> dict[str, Query[R]]:
    """Queries as they are answered from a source, and charged to a kind of budget.

    A budget that cannot be spent is refused.
    """
    _checked(queries.values())
    return {name: _fitted(each, source, kind) for name, each in queries.items()}


def _fitted(query: Query[R], source: Source, kind: Kind) -> Query[R]:
    if not isinstance(query.place, Columns):
        return query
    return query.of_width(width_of(source, query.place), kind)


def _checked(queries: Iterable[object]) -> tuple[Query[Any], ...]:
    checked = []
    for query in queries:
        if not isinstance(query, Query):
            raise InvalidArgument(
                "a query must be made with modicum.query, for example "
                f"modicum.query.mean(...), got {type(query).__name__}"
            )
        chosen_budget(None, None, query.budget)
        checked.append(query)
    return tuple(checked)
