"""Basic composition and conversions between currencies, always rounded towards safety.

Sources: Dwork and Roth 2014 (basic composition); Bun and Steinke 2016 (Propositions 1.3, 1.4:
pure to zCDP, zCDP to approximate).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.enclosure import ln_above, sqrt_above, sqrt_below
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Budget, Kind, Number
from modicum.privacy.event import Event, cost

__all__ = ["approx_to_zcdp", "pure_to_zcdp", "total", "zcdp_to_approx"]

_BITS = 64  # bits kept after the binary point where a conversion is irrational


def total(events: Iterable[Event], kind: Kind) -> Budget:
    """Add up events by basic composition in one currency (adaptive choices allowed).

    Examples
    --------
    >>> from modicum.privacy.event import Pure
    >>> total([Pure(Fraction(1, 2)), Pure(Fraction(1, 4))], "pure")
    pure('0.75')
    """
    return sum((cost(event, kind) for event in events), start=Budget(kind, Fraction(0)))


def pure_to_zcdp(budget: Budget) -> Budget:
    """Price of pure ε in zCDP: ρ = ε²/2 (Bun and Steinke 2016, Proposition 1.4).

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> pure_to_zcdp(pure(1))
    zcdp('0.5')
    """
    _expect(budget, "pure")
    return Budget("zcdp", budget.amount**2 / 2)


def zcdp_to_approx(budget: Budget, delta: Number) -> Budget:
    """(ε, δ) guarantee of ρ-zCDP: ε = ρ + 2 sqrt(ρ ln(1/δ)), rounded up.

    Raises
    ------
    InvalidArgument
        If the budget is not zCDP or δ is not in (0, 1).

    Examples
    --------
    >>> from modicum.privacy.budget import zcdp
    >>> round(float(zcdp_to_approx(zcdp("0.5"), Fraction(1, 10**6)).amount), 3)
    5.757
    """
    _expect(budget, "zcdp")
    small = as_fraction(delta, "delta")
    if not 0 < small < 1:
        raise InvalidArgument(f"delta must lie strictly between 0 and 1, got {delta}")
    root = sqrt_above(budget.amount * ln_above(1 / small), _BITS)
    return Budget("approx", budget.amount + 2 * root, small)


def approx_to_zcdp(budget: Budget) -> Budget:
    """Largest ρ whose (ε, δ) guarantee fits into the budget, rounded down.

    Solves ρ + 2 sqrt(ρ ln(1/δ)) = ε: ρ = (sqrt(ε + L) - sqrt(L))², L = ln(1/δ).

    Examples
    --------
    >>> from modicum.privacy.budget import approx
    >>> round(float(approx_to_zcdp(approx(1, "1e-6")).amount), 4)
    0.0175
    """
    _expect(budget, "approx")
    log = ln_above(1 / budget.delta)
    # x -> sqrt(ε + x) - sqrt(x) decreases, so an upper bound on L is on the safe side.
    root = sqrt_below(budget.amount + log, _BITS) - sqrt_above(log, _BITS)
    if root <= 0:
        raise InvalidArgument(f"the budget {budget} is too small to hold any zCDP release")
    return Budget("zcdp", root**2)


def _expect(budget: Budget, kind: Kind) -> None:
    if budget.kind != kind:
        raise InvalidArgument(f"expected a budget of kind {kind!r}, got {budget!r}")
