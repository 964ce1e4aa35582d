"""Composition and conversions between currencies, always rounded towards safety.

Sources: Dwork and Roth 2014 (basic composition); Bun and Steinke 2016 (pure to zCDP, zCDP to
approximate); Canonne, Kamath and Steinke 2020 (Corollary 13: the better conversion of zCDP);
Kairouz, Oh and Viswanath 2015 (what (ε, δ) is dominated by). The proofs are in
docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.enclosure import exp_above, exp_below, ln_above, ln_below, sqrt_above
from modicum.exact.rational import as_fraction, short_above, short_below
from modicum.privacy.budget import Budget, Kind, Number
from modicum.privacy.event import Event

__all__ = [
    "approx_to_zcdp",
    "composed",
    "parallel",
    "pure_to_approx",
    "pure_to_zcdp",
    "total",
    "zcdp_to_approx",
]

_BITS = 64  # significant bits kept where a conversion is irrational


def total(events: Iterable[Event], kind: Kind) -> Budget:
    """Add up events by basic composition in one currency (adaptive choices allowed).

    Examples
    --------
    >>> from modicum.privacy.event import Pure
    >>> total([Pure(Fraction(1, 2)), Pure(Fraction(1, 4))], "pure")
    pure('0.75')
    """
    return sum((event.cost(kind) for event in events), start=Budget(kind, Fraction(0)))


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


def pure_to_approx(budget: Budget, delta: Number) -> Budget:
    """(ε', δ) guarantee of pure ε, the smallest ε': ln(e^ε - δ (1 + e^ε)), rounded up.

    Randomised response attains it, so no smaller ε' holds for every mechanism.

    Raises
    ------
    InvalidArgument
        If the budget is not pure or δ is not in [0, 1).

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> round(float(pure_to_approx(pure(1), "0.01").amount), 4)
    0.9862
    """
    _expect(budget, "pure")
    small = as_fraction(delta, "delta")
    if not 0 <= small < 1:
        raise InvalidArgument(f"delta must be at least 0 and below 1, got {delta}")
    return Budget("approx", _lowered(budget.amount, small), small)


def zcdp_to_approx(budget: Budget, delta: Number) -> Budget:
    """(ε, δ) guarantee of ρ-zCDP, rounded up.

    For every α > 1, ε = ρ α + ln(1/(α δ)) / (α - 1) + ln(1 - 1/α) is one; α is chosen in float64,
    and ε for it is computed exactly. It is at most ρ + 2 sqrt(ρ ln(1/δ)).

    Raises
    ------
    InvalidArgument
        If the budget is not zCDP or δ is not in (0, 1).

    Examples
    --------
    >>> from modicum.privacy.budget import zcdp
    >>> round(float(zcdp_to_approx(zcdp("0.5"), "1e-6").amount), 3)
    5.222
    """
    _expect(budget, "zcdp")
    small = as_fraction(delta, "delta")
    if not 0 < small < 1:
        raise InvalidArgument(f"delta must lie strictly between 0 and 1, got {delta}")
    rho = budget.amount
    square = rho * ln_above(1 / small)
    bits = _BITS + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    simple = rho + 2 * sqrt_above(square, bits)
    alpha = _best(lambda a: -(float(rho) * a + _beyond_floats(a, small)))
    better = rho * alpha + _beyond(alpha, small)
    return Budget("approx", max(Fraction(0), short_above(min(simple, better))), small)


def approx_to_zcdp(budget: Budget) -> Budget:
    """Largest ρ whose (ε, δ) guarantee fits into the budget, rounded down.

    The inverse of :func:`zcdp_to_approx`, up to rounding.

    Raises
    ------
    InvalidArgument
        If the budget is not (ε, δ) with a positive δ, or holds no ρ.

    Examples
    --------
    >>> from modicum.privacy.budget import approx
    >>> round(float(approx_to_zcdp(approx(1, "1e-6")).amount), 4)
    0.0244
    """
    _expect(budget, "approx")
    if not 0 < budget.delta < 1:
        raise InvalidArgument(f"the budget {budget} has no δ, so it holds no zCDP release")
    epsilon, delta = budget.amount, budget.delta
    alpha = _best(lambda a: (float(epsilon) - _beyond_floats(a, delta)) / a)
    rho = (epsilon - _beyond(alpha, delta)) / alpha
    if rho <= 0:
        raise InvalidArgument(f"the budget {budget} is too small to hold any zCDP release")
    return Budget("zcdp", short_below(rho))


def parallel(budgets: Iterable[Budget]) -> Budget:
    """Price of releases about disjoint groups of people, one budget for each: the largest.

    It holds for add-remove neighbours, for groups that are fixed by a public rule, and when the
    answers about one group do not depend on who is in another: each person pays for the
    releases about their group only. In (ε, δ) the largest ε and the largest δ count.

    Raises
    ------
    InvalidArgument
        If there are none, or their currencies differ.

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> parallel([pure(1), pure("0.5")])
    pure('1')
    """
    every = list(budgets)
    if not every:
        raise InvalidArgument("parallel() needs at least one budget")
    for budget in every:
        _expect(budget, every[0].kind)
    return Budget(
        every[0].kind, max(each.amount for each in every), max(each.delta for each in every)
    )


def composed(events: Iterable[Event], delta: Number) -> Budget:
    """(ε, δ) guarantee of events of any kinds together, the smaller of two bounds.

    Mechanisms may be chosen adaptively; the events and δ are fixed beforehand. One bound adds up ε
    and δ, and spends what is left of δ as :func:`pure_to_approx` does. The other adds up ρ (an
    (ε, δ) event has ε²/2 and its δ), and converts it with what is left of δ.

    Parameters
    ----------
    events : iterable of Event
    delta : number
        More than the δ of the events together.

    Raises
    ------
    InvalidArgument
        If δ is not in (0, 1), or not larger than that of the events.

    Examples
    --------
    >>> from modicum.privacy.event import Pure
    >>> hundred = [Pure(Fraction(1, 10))] * 100
    >>> round(float(composed(hundred, "1e-6").amount), 3)
    5.222
    """
    every, all_of_it = list(events), as_fraction(delta, "delta")
    failing = sum((event.failing for event in every), start=Fraction(0))
    if not failing < all_of_it < 1:
        raise InvalidArgument(
            f"delta must be below 1 and above the δ of the events, {float(failing):g}, got {delta}"
        )
    # Unless something of probability `failing` happened, the rest holds with what is left of δ.
    rest = (all_of_it - failing) / (1 - failing)
    rho = sum((event.implied_rho for event in every), start=Fraction(0))
    bounds = [zcdp_to_approx(Budget("zcdp", rho), rest).amount]
    if not any(event.kind == "zcdp" for event in every):
        bounds.append(_lowered(total(every, "approx").amount, rest))
    return Budget("approx", min(bounds), all_of_it)


def _lowered(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return ln(e^ε - δ (1 + e^ε)), or 0 if that is less, rounded up."""
    if delta == 0:
        return epsilon
    grown = exp_above(epsilon) - delta * (1 + exp_below(epsilon))
    return min(epsilon, short_above(ln_above(grown))) if grown > 1 else Fraction(0)


def _beyond(alpha: Fraction, delta: Fraction) -> Fraction:
    """Return an upper bound of ln(1/(α δ)) / (α - 1) + ln(1 - 1/α)."""
    return (ln_above(1 / delta) - ln_below(alpha)) / (alpha - 1) + ln_above(1 - 1 / alpha)


def _beyond_floats(alpha: float, delta: Fraction) -> float:
    log = math.log(delta.denominator) - math.log(delta.numerator)
    return (log - math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha)


def _best(gain: Callable[[float], float]) -> Fraction:
    """Return an α > 1 for which a gain is about the largest; any α is safe."""
    lo, hi = -30.0, 60.0  # ln(α - 1)
    for _ in range(120):
        third = (hi - lo) / 3
        if gain(1 + math.exp(lo + third)) < gain(1 + math.exp(hi - third)):
            lo += third
        else:
            hi -= third
    return 1 + Fraction(math.exp((lo + hi) / 2))


def _expect(budget: Budget, kind: Kind) -> None:
    if budget.kind != kind:
        raise InvalidArgument(f"expected a budget of kind {kind!r}, got {budget!r}")
