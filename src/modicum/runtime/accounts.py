"""Which account is charged: a budget in memory, or one of a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modicum import errors
from modicum.privacy.budget import Budget
from modicum.privacy.unit import Unit, checked_unit
from modicum.runtime import charging

if TYPE_CHECKING:
    from modicum.privacy.ledger.book import Ledger


def accountant_for(
    unit: Unit | None, budget: Budget | None, ledger: Ledger | str | None, account: str | None
) -> tuple[charging.Accountant, Unit]:
    """What is charged, and the unit; exactly one of a budget and a ledger's account is given."""
    if ledger is None:
        if account is not None:
            raise errors.InvalidArgument(
                f"account={errors.as_given(account)} needs ledger=, the URL of its ledger"
            )
        if budget is None:
            raise errors.InvalidArgument(
                "a budget is needed: budget=modicum.pure(...), or ledger= and account="
            )
        return charging.MemoryAccountant(budget), checked_unit(unit)
    if budget is not None:
        raise errors.InvalidArgument(
            "give budget= or ledger=, not both: the account has its own budget"
        )
    from modicum.runtime.ledger_account import LedgerAccountant

    of_ledger = LedgerAccountant(ledger, account, unit)
    return of_ledger, of_ledger.unit
