"""A privacy filter, which never lets more be spent than a budget; its sum is an odometer."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from typing import NoReturn

from modicum.errors import BudgetExceeded, InvalidArgument
from modicum.privacy.budget import Budget, chosen_budget
from modicum.privacy.event import Event

__all__ = ["Filter"]


class Filter:
    """Admits events one after the other while their sum stays within a budget.

    Which event comes next, and how large it is, may depend on everything released before: the
    budget then holds for all releases together (fully adaptive composition). For pure ε and for
    (ε, δ) see Rogers, Roth, Ullman and Vadhan 2016, for ρ Feldman and Zrnic 2021 and Whitehouse,
    Ramdas, Rogers and Wu 2023.

    Parameters
    ----------
    budget : Budget
        :func:`modicum.pure`, ``zcdp`` or ``approx``. Events are priced in its currency.

    Notes
    -----
    The sum of all charges, ``spent``, is an odometer, and what it means differs. A sum of pure ε
    bounds the privacy loss of what was released so far, whenever one looks. A sum of ρ or (ε, δ)
    does so for a moment that was fixed beforehand; for one that was chosen because of the
    releases, only the whole budget is a guarantee.

    Safe to share between threads. It cannot be copied, pickled or used in a forked process: its
    budget would be spent twice.

    Examples
    --------
    >>> from modicum.privacy.budget import zcdp
    >>> from modicum.privacy.event import Pure
    >>> budget = Filter(zcdp(1))
    >>> budget.admit(Pure(Fraction(1)))
    zcdp('0.5')
    >>> budget.remaining
    zcdp('0.5')
    """

    __slots__ = ("_budget", "_lock", "_process", "_spent")

    def __init__(self, budget: Budget) -> None:
        self._budget = chosen_budget(None, None, budget)
        self._spent = Budget(budget.kind, Fraction(0))
        self._lock, self._process = threading.Lock(), os.getpid()

    @property
    def budget(self) -> Budget:
        """All of it."""
        return self._budget

    @property
    def spent(self) -> Budget:
        """The odometer: the sum of what was charged."""
        return self._spent

    @property
    def remaining(self) -> Budget:
        """What is left."""
        return self._budget - self._spent

    def admit(self, event: Event) -> Budget:
        """Charge an event, and return its price.

        Raises
        ------
        BudgetExceeded
            If its price is more than what is left; nothing is charged.
        InvalidArgument
            If it has no price in the currency of the budget.
        """
        price = event.cost(self._budget.kind)
        self.charge(price)
        return price

    def check(self, price: Budget) -> None:
        """Raise if a price cannot be charged."""
        if not self._spent + price <= self._budget:
            raise BudgetExceeded(
                f"this costs {price}, but only {self.remaining} of {self._budget} is left; "
                "nothing was charged"
            )

    def charge(self, price: Budget) -> None:
        """Charge a price in the currency of the budget.

        Raises
        ------
        BudgetExceeded
            If it is more than what is left; nothing is charged.
        """
        if os.getpid() != self._process:  # before the lock: a fork may have copied it locked
            raise InvalidArgument(
                "a Filter cannot be used in a forked process: its budget would be spent twice"
            )
        with self._lock:
            self.check(price)
            self._spent = self._spent + price

    def __repr__(self) -> str:
        return f"Filter({self._budget!r}, spent={self._spent!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Filter cannot be pickled or copied: it guards a budget")

    __copy__ = __deepcopy__ = None
