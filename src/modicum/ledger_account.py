"""Releases charged to an account of a ledger, which remembers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from modicum.charging import Charged, PendingCharge, words_of_query
from modicum.errors import BudgetExceeded, InvalidArgument, LedgerError, as_given
from modicum.privacy.budget import Budget
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.chain import Charge, checked_name
from modicum.privacy.unit import Unit, checked_unit
from modicum.serialise import from_text, to_text

T = TypeVar("T")


class LedgerAccountant:
    """An account of a ledger, which must exist and protect the same unit.

    Its budget is all grants so far, and what was spent are all charges, of whatever process.
    """

    def __init__(self, ledger: Ledger | str, account: str | None, unit: Unit | None) -> None:
        if account is None:
            raise InvalidArgument("a ledger holds several accounts: name one with account=")
        if isinstance(ledger, str):
            ledger = Ledger(ledger)
        if not isinstance(ledger, Ledger):
            raise InvalidArgument(f"ledger must be a URL or a Ledger, got {type(ledger).__name__}")
        self._ledger = ledger
        self._name = checked_name(account, "an account's name")
        self.unit = self._ledger.account(self._name).unit
        if unit is not None and checked_unit(unit) != self.unit:
            raise InvalidArgument(
                f"account {self._name!r} protects {self.unit}, got unit={as_given(unit)}: costs "
                "for different units do not add up"
            )

    @property
    def budget(self) -> Budget:
        return self._ledger.account(self._name).budget

    @property
    def spent(self) -> Budget:
        return self._ledger.account(self._name).spent

    @property
    def charges(self) -> tuple[Charged, ...]:
        kind = self.budget.kind
        return tuple(
            Charged(words_of_query(each.body), each.units.budget(kind))
            for each in self._ledger.entries(self._name)
            if each.action == "charge"
        )

    def pending(self, cost: Budget, query: str, key: str | None) -> PendingCharge:
        charged = None if key is None else self._ledger.find(self._name, key, query)
        if charged is None:
            state = self._ledger.account(self._name)
            if not cost <= state.remaining:
                raise BudgetExceeded(
                    f"this costs {cost}, but only {state.remaining} of {state.budget} is left in "
                    f"account {self._name!r}; nothing was charged"
                )
        return _LedgerCharge(self._ledger, self._name, cost, query, key, charged)

    def checked_key(self, key: object) -> str:
        return checked_name(key, "a key")

    def __str__(self) -> str:
        return f"account {self._name!r} of {self._ledger.url}"


@dataclass(slots=True)
class _LedgerCharge:
    ledger: Ledger
    name: str
    cost: Budget
    query: str
    key: str | None
    charged: Charge | None

    @property
    def done(self) -> Any:
        stored = None if self.charged is None else self.charged.release
        return None if stored is None else from_text(stored)

    def charge(self) -> None:
        self.charged = self.ledger.charge(self.name, self.cost, request=self.query, key=self.key)

    @property
    def account(self) -> str:
        assert self.charged is not None
        return str(self.charged.state)

    def commit(self, released: T) -> T:
        assert self.charged is not None
        text = to_text(released)
        try:
            kept = self.ledger.record(self.charged, text)
        except LedgerError as error:
            again = "" if self.key is None else f", ask again with the key {self.key!r}"
            raise type(error)(f"{error}; the charge stays{again}") from None
        winner: T = released if kept == text else from_text(kept)
        return winner
