"""Amounts as integers, so that a data base adds them exactly; every charge is rounded up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from modicum.errors import InvalidArgument
from modicum.privacy.budget import Budget, Kind

__all__ = ["AMOUNT_UNITS", "DELTA_UNITS", "Units", "charged", "granted"]

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
        """Return the exact budget that they are."""
        return Budget(kind, Fraction(self.amount, AMOUNT_UNITS), Fraction(self.delta, DELTA_UNITS))

    def plus(self, other: Units) -> Units:
        """Return the sum.

        Raises
        ------
        InvalidArgument
            If a data base could not hold it.
        """
        total = Units(self.amount + other.amount, self.delta + other.delta)
        if max(total) > _MOST:
            raise InvalidArgument(f"a ledger counts up to {_MOST // AMOUNT_UNITS:,} in an account")
        return total

    def within(self, other: Units) -> bool:
        """Whether neither is larger."""
        return self.amount <= other.amount and self.delta <= other.delta


def charged(price: Budget) -> Units:
    """Round a price up to whole units.

    A sum of charges is then never below the sum of the prices. Decimals with up to 15 digits
    behind the point (18 for δ) are exact.

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> charged(pure("0.1")), charged(pure("1/3"))
    (Units(amount=100000000000000, delta=0), Units(amount=333333333333334, delta=0))
    """
    return _checked(
        Units(math.ceil(price.amount * AMOUNT_UNITS), math.ceil(price.delta * DELTA_UNITS)), price
    )


def granted(budget: Budget) -> Units:
    """Round a grant down to whole units."""
    return _checked(
        Units(math.floor(budget.amount * AMOUNT_UNITS), math.floor(budget.delta * DELTA_UNITS)),
        budget,
    )


def _checked(units: Units, budget: Budget) -> Units:
    if max(units) > _MOST:
        raise InvalidArgument(f"a ledger counts up to {_MOST // AMOUNT_UNITS:,}, got {budget}")
    return units
