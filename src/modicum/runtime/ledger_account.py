"""Releases charged to an account of a ledger, which remembers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from modicum import errors
from modicum.privacy.budget import Budget
from modicum.privacy.ledger import book, chain
from modicum.privacy.unit import Unit, checked_unit
from modicum.runtime import charging
from modicum.stored import codec

T = TypeVar("T")


class LedgerAccountant:
    """An account of a ledger, which must exist and protect the same unit.

    Its budget is all grants so far, and what was spent are all charges, of whatever process.
    """

    def __init__(self, ledger: book.Ledger | str, account: str | None, unit: Unit | None) -> None:
        if account is None:
            raise errors.InvalidArgument("a ledger holds several accounts: name one with account=")
        if isinstance(ledger, str):
            ledger = book.Ledger(ledger)
        if not isinstance(ledger, book.Ledger):
            raise errors.InvalidArgument(
                f"ledger must be a URL or a Ledger, got {type(ledger).__name__}"
            )
        self._ledger = ledger
        self._name = chain.checked_name(account, "an account's name")
        self.unit = self._ledger.account(self._name).unit
        if unit is not None and checked_unit(unit) != self.unit:
            raise errors.InvalidArgument(
                f"account {self._name!r} protects {self.unit}, got unit={errors.as_given(unit)}: "
                "costs "
                "for different units do not add up"
            )

    @property
    def budget(self) -> Budget:
        return self._ledger.account(self._name).budget

    @property
    def spent(self) -> Budget:
        return self._ledger.account(self._name).spent

    @property
    def charges(self) -> tuple[charging.Charged, ...]:
        kind = self.budget.kind
        return tuple(
            charging.Charged(charging.words_of_query(each.body), each.units.budget(kind))
            for each in self._ledger.entries(self._name)
            if each.action == "charge"
        )

    def pending(self, cost: Budget, query: str, key: str | None) -> charging.PendingCharge:
        state = self._ledger.account(self._name)  # first: another process may charge the key now
        charged = None if key is None else self._ledger.find(self._name, key, query)
        if charged is None and not cost <= state.remaining:
            raise errors.BudgetExceeded(
                f"this costs {cost}, but only {state.remaining} of {state.budget} is left in "
                f"account {self._name!r}; nothing was charged"
            )
        return _LedgerCharge(self._ledger, self._name, cost, query, key, charged)

    def checked_key(self, key: object) -> str:
        return chain.checked_name(key, "a key")

    def __str__(self) -> str:
        return f"account {self._name!r} of {self._ledger.url}"


@dataclass(slots=True)
class _LedgerCharge:
    ledger: book.Ledger
    name: str
    cost: Budget
    query: str
    key: str | None
    charged: chain.Charge | None

    @property
    def done(self) -> Any:
        stored = None if self.charged is None else self.charged.release
        return None if stored is None else codec.from_text(stored)

    def charge(self) -> None:
        self.charged = self.ledger.charge(self.name, self.cost, request=self.query, key=self.key)

    @property
    def account(self) -> str:
        assert self.charged is not None
        return str(self.charged.state)

    def commit(self, released: T) -> T:
        assert self.charged is not None
        text = codec.to_text(released)
        try:
            kept = self.ledger.record(self.charged, text)
        except errors.LedgerError as error:
            again = "" if self.key is None else f", ask again with the key {self.key!r}"
            raise type(error)(f"{error}; the charge stays{again}") from None
        winner: T = released if kept == text else codec.from_text(kept)
        return winner
