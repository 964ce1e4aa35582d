"""Composition and conversions of budgets, always rounded towards safety, and the privacy filter.

Sources: Dwork and Roth 2014 (basic composition); Bun and Steinke 2016 (pure to zCDP, zCDP to
approximate); Canonne, Kamath and Steinke 2020 (Corollary 13: the better conversion of zCDP);
Kairouz, Oh and Viswanath 2015 (what (ε, δ) is dominated by); Rogers, Roth, Ullman and Vadhan 2016
(filters). The proofs are in docs/research/proofs/composition.md.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from importlib import import_module
from typing import Any, NoReturn

from modicum.errors import BudgetExceeded, InvalidArgument, as_given
from modicum.exact.enclosure import exp_above, exp_below, ln_above, ln_below, sqrt_above
from modicum.exact.rational import as_fraction, short_above, short_below
from modicum.privacy.budget import (
    APPROX_KIND,
    PURE_KIND,
    ZCDP_KIND,
    Budget,
    Kind,
    Number,
    chosen_budget,
)
from modicum.privacy.event import Event
from modicum.privacy.turn import Turn

_BITS = 64  # significant bits kept where a conversion is irrational


def total(events: Iterable[Event], kind: Kind) -> Budget:
    """Add up events by basic composition in one currency (adaptive choices allowed).

    Examples
    --------
    >>> from modicum.privacy.event import PureDP
    >>> total([PureDP(Fraction(1, 2)), PureDP(Fraction(1, 4))], "pure")
    pure('0.75')
    """
    # [composition.1]
    return sum((event.cost(kind) for event in events), start=Budget(kind, Fraction(0)))


def pure_to_zcdp(budget: Budget) -> Budget:
    """Cost of pure ε in zCDP: ρ = ε²/2 (Bun and Steinke 2016, Proposition 1.4).

    Parameters
    ----------
    budget : Budget
        Of :func:`pure`.

    Returns
    -------
    Budget
        In ρ, exact. An exponential mechanism costs a quarter of it, as its event knows.

    Raises
    ------
    InvalidArgument
        If the budget is not pure.

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> pure_to_zcdp(pure(1))
    zcdp('0.5')
    """
    # [composition.4]
    _expect(budget, PURE_KIND)
    return Budget(ZCDP_KIND, budget.amount**2 / 2)


def pure_to_approx(budget: Budget, delta: Number) -> Budget:
    """(ε', δ) guarantee of pure ε, the smallest ε': ln(e^ε - δ (1 + e^ε)), rounded up.

    Randomised response attains it, so no smaller ε' holds for every mechanism.

    Parameters
    ----------
    budget : Budget
        Of :func:`pure`.
    delta : number
        In [0, 1); 0 leaves ε as it is.

    Returns
    -------
    Budget
        In (ε, δ); its ε is 0 if δ covers all that pure ε allows.

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
    _expect(budget, PURE_KIND)
    small = as_fraction(delta, "delta")
    if not 0 <= small < 1:
        raise InvalidArgument(f"delta must be at least 0 and below 1, got {delta}")
    return Budget(APPROX_KIND, _lowered(budget.amount, small), small)


def zcdp_to_approx(budget: Budget, delta: Number) -> Budget:
    """(ε, δ) guarantee of ρ-zCDP, rounded up.

    For every α > 1, ρ-zCDP implies ε = ρ α + ln(1/(α δ)) / (α - 1) + ln(1 - 1/α). The best α is
    sought in float64, and ε for it is computed exactly. It is at most ρ + 2 sqrt(ρ ln(1/δ)).

    Parameters
    ----------
    budget : Budget
        Of :func:`zcdp`.
    delta : number
        In (0, 1); usual is well below one over the number of persons.

    Returns
    -------
    Budget
        In (ε, δ), never below the exact bound.

    Raises
    ------
    InvalidArgument
        If the budget is not zCDP or δ is not in (0, 1).

    Notes
    -----
    Canonne, Kamath and Steinke 2020, Corollary 13; the simple bound is Bun and Steinke 2016,
    Proposition 1.3. The smaller of the two counts.

    Examples
    --------
    >>> from modicum.privacy.budget import zcdp
    >>> round(float(zcdp_to_approx(zcdp("0.5"), "1e-6").amount), 3)
    5.222
    """
    _expect(budget, ZCDP_KIND)
    small = as_fraction(delta, "delta")
    if not 0 < small < 1:
        raise InvalidArgument(f"delta must lie strictly between 0 and 1, got {delta}")
    rho = budget.amount
    square = rho * ln_above(1 / small)
    bits = _BITS + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    simple = rho + 2 * sqrt_above(square, bits)
    alpha = _best(lambda a: -(float(rho) * a + _beyond_floats(a, small)))
    better = rho * alpha + _beyond(alpha, small)
    return Budget(APPROX_KIND, max(Fraction(0), short_above(min(simple, better))), small)


def approx_to_zcdp(budget: Budget) -> Budget:
    """Largest ρ whose (ε, δ) guarantee fits into the budget, rounded down.

    The inverse of :func:`zcdp_to_approx`, up to rounding.

    Parameters
    ----------
    budget : Budget
        Of :func:`approx`.

    Returns
    -------
    Budget
        In ρ: a release that costs it keeps the (ε, δ) guarantee.

    Raises
    ------
    InvalidArgument
        If the budget is not (ε, δ) with a positive δ, or no ρ fits into it.

    Examples
    --------
    >>> from modicum.privacy.budget import approx
    >>> round(float(approx_to_zcdp(approx(1, "1e-6")).amount), 4)
    0.0244
    """
    # [composition.7]
    _expect(budget, APPROX_KIND)
    if not 0 < budget.delta < 1:
        raise InvalidArgument(f"the budget {budget} has no δ, so it holds no zCDP release")
    epsilon, delta = budget.amount, budget.delta
    alpha = _best(lambda a: (float(epsilon) - _beyond_floats(a, delta)) / a)
    rho = (epsilon - _beyond(alpha, delta)) / alpha
    if rho <= 0:
        raise InvalidArgument(f"the budget {budget} is too small to hold any zCDP release")
    return Budget(ZCDP_KIND, short_below(rho))


def parallel(budgets: Iterable[Budget]) -> Budget:
    """Cost of releases about disjoint groups of people, one budget for each: the largest.

    It holds for add-remove neighbours, for groups that are fixed by a public rule, and when the
    answers about one group do not depend on who is in another: the releases about a person's own
    group are the only ones that cost that person anything. In (ε, δ) the largest ε and the largest
    δ count.

    Parameters
    ----------
    budgets : iterable of Budget
        One for each group, all in the same currency.

    Returns
    -------
    Budget
        In the same currency.

    Raises
    ------
    InvalidArgument
        If there are no budgets, or their currencies differ.

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> parallel([pure(1), pure("0.5")])
    pure('1')
    """
    # [composition.3]
    every = list(budgets)
    if not every:
        raise InvalidArgument("parallel() needs at least one budget")
    kind: Kind = getattr(every[0], "kind", "pure")
    for budget in every:
        _expect(budget, kind)
    return Budget(
        every[0].kind, max(each.amount for each in every), max(each.delta for each in every)
    )


def composed(events: Iterable[Event], delta: Number) -> Budget:
    """(ε, δ) guarantee of events of any kinds together, the smaller of two bounds.

    Mechanisms may be chosen adaptively; the events and δ are fixed beforehand. One bound adds up ε
    and δ, and spends what is left of δ as :func:`pure_to_approx` does. The other adds up ρ (an (ε,
    δ) event has ε²/2 and its δ), and converts it with what is left of δ.

    Parameters
    ----------
    events : iterable of Event
        What releases cost: the ``event`` of each.
    delta : number
        More than the δ of the events together, and below 1.

    Returns
    -------
    Budget
        In (ε, δ), with all of ``delta``.

    Raises
    ------
    InvalidArgument
        If δ is not in (0, 1), or is not larger than that of the events.

    Examples
    --------
    >>> from modicum.privacy.event import PureDP
    >>> hundred = [PureDP(Fraction(1, 10))] * 100
    >>> round(float(composed(hundred, "1e-6").amount), 3)
    5.222
    """
    # [composition.8]
    every, all_of_it = list(events), as_fraction(delta, "delta")
    failing = sum((event.failing for event in every), start=Fraction(0))
    if not failing < all_of_it < 1:
        raise InvalidArgument(
            f"delta must be below 1 and above the δ of the events, {float(failing):g}, got {delta}"
        )
    # Unless something of probability `failing` happened, the rest holds with what is left of δ.
    rest = (all_of_it - failing) / (1 - failing)
    rho = sum((event.implied_rho for event in every), start=Fraction(0))
    bounds = [zcdp_to_approx(Budget(ZCDP_KIND, rho), rest).amount]
    if not any(event.concentrated for event in every):
        bounds.append(_lowered(total(every, APPROX_KIND).amount, rest))
    return Budget(APPROX_KIND, min(bounds), all_of_it)


def _lowered(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return ln(e^ε - δ (1 + e^ε)), or 0 if that is less, rounded up [composition.5]."""
    if delta == 0:
        return epsilon
    grown = exp_above(epsilon) - delta * (1 + exp_below(epsilon))
    return min(epsilon, short_above(ln_above(grown))) if grown > 1 else Fraction(0)


def _beyond(alpha: Fraction, delta: Fraction) -> Fraction:
    """Return an upper bound of ln(1/(α δ)) / (α - 1) + ln(1 - 1/α) [composition.6]."""
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
    if not isinstance(budget, Budget):
        raise InvalidArgument(f"expected a budget such as modicum.pure(1), got {as_given(budget)}")
    if budget.kind != kind:
        raise InvalidArgument(f"expected a budget of kind {kind!r}, got {as_given(budget)}")


def checked_sum(spent: Budget, cost: Budget, budget: Budget) -> Budget:
    """Return what is spent with a further cost [composition.2]; beyond the budget it is refused.

    Examples
    --------
    >>> from modicum.privacy.budget import pure
    >>> checked_sum(pure("0.5"), pure("0.25"), pure(1))
    pure('0.75')
    """
    after = spent + cost
    if not after <= budget:
        raise BudgetExceeded(
            f"this costs {cost}, but only {budget - spent} of {budget} is left; nothing was charged"
        )
    return after


class Filter:
    """Admits events one after the other while their sum stays within a budget.

    Which event comes next, and how large it is, may depend on everything released before: the
    budget then holds for all releases together (fully adaptive composition). For pure ε and for
    (ε, δ) see Rogers, Roth, Ullman and Vadhan 2016, for ρ Feldman and Zrnic 2021 and Whitehouse,
    Ramdas, Rogers and Wu 2023.

    Parameters
    ----------
    budget : Budget
        :func:`modicum.pure`, ``zcdp`` or ``approx``. Events are charged in its currency.

    Notes
    -----
    The sum of all charges, ``spent``, is an odometer, and what it means differs. A sum of pure ε
    bounds the privacy loss of what was released so far, whenever one looks. A sum of ρ or (ε, δ)
    does so at a time that was fixed beforehand; at a time that was chosen because of the
    releases, only the whole budget is a guarantee.

    Safe to share between threads. It cannot be copied, pickled or used in a forked process: its
    budget would be spent twice.

    Examples
    --------
    >>> from modicum.privacy.budget import zcdp
    >>> from modicum.privacy.event import PureDP
    >>> budget = Filter(zcdp(1))
    >>> budget.admit(PureDP(Fraction(1)))
    zcdp('0.5')
    >>> budget.remaining
    zcdp('0.5')
    """

    __slots__ = ("_budget", "_process", "_spent", "_turn")

    def __init__(self, budget: Budget) -> None:
        self._budget = chosen_budget(None, None, budget)
        self._spent = Budget(budget.kind, Fraction(0))
        self._turn, self._process = Turn("a Filter"), os.getpid()

    @property
    def budget(self) -> Budget:
        """The whole budget."""
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
        """Charge an event, and return its cost.

        Parameters
        ----------
        event : Event
            Of a release, or of a draw of your own.

        Returns
        -------
        Budget
            The cost, in the currency of the budget.

        Raises
        ------
        BudgetExceeded
            If it costs more than what is left; nothing is charged.
        InvalidArgument
            If it has no cost in the currency of the budget.
        """
        if not hasattr(event, "cost"):
            raise InvalidArgument(
                f"expected an event such as PureDP(Fraction(1)), got {as_given(event)}"
            )
        cost = event.cost(self._budget.kind)
        self.charge(cost)
        return cost

    def check(self, cost: Budget) -> None:
        """Raise if a cost exceeds what is left [composition.2]; nothing is charged.

        Parameters
        ----------
        cost : Budget
            In the currency of the budget.

        Raises
        ------
        BudgetExceeded
            If it is more than what is left.
        InvalidArgument
            If it is in another currency.
        """
        checked_sum(self._spent, cost, self._budget)

    def charge(self, cost: Budget) -> None:
        """Charge a cost in the currency of the budget.

        Parameters
        ----------
        cost : Budget
            In the currency of the budget.

        Raises
        ------
        BudgetExceeded
            If it is more than what is left; nothing is charged.
        InvalidArgument
            If it is in another currency, or the process is a fork of the one that made the filter.
        """
        if os.getpid() != self._process:  # before the lock: a fork may have copied it locked
            raise InvalidArgument(
                "a Filter cannot be used in a forked process: its budget would be spent twice"
            )
        with self._turn.taken():
            self._spent = checked_sum(self._spent, cost, self._budget)

    def __repr__(self) -> str:
        return f"Filter({self._budget!r}, spent={self._spent!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Filter cannot be pickled or copied: it guards a budget")

    __copy__ = __deepcopy__ = None


def composed_tightly(events: Iterable[Event], delta: Number) -> Budget:
    """(ε, δ) guarantee of events together, from Google's ``dp-accounting``.

    Prefer :func:`modicum.composed`, which is exact arithmetic, unless the last tenth of ε matters.
    For planning and for reports: the result is a float that another library computed, so no ledger
    or curator charges by it. Pure, bounded-range and (ε, δ) events have a worst privacy loss
    distribution, and these are convolved (Koskela, Jälkö and Honkela 2020; pessimistic rounding). A
    ρ-zCDP event does not have one: with one among the events, the Rényi accountant adds up all of
    them, and (ε, δ) events are refused.

    Parameters
    ----------
    events : iterable of Event
        Fixed beforehand; mechanisms may be chosen adaptively.
    delta : number
        In (0, 1).

    Raises
    ------
    InvalidArgument
        Without ``dp-accounting``; for a δ that no ε goes with, or a mixture that cannot be counted.
    """
    every, small = list(events), as_fraction(delta, "delta")
    if not 0 < small < 1:
        raise InvalidArgument(f"delta must lie strictly between 0 and 1, got {delta}")
    try:
        import_module("dp_accounting")
    except ImportError:
        raise InvalidArgument("this needs dp-accounting: pip install dp-accounting") from None
    if not every:
        return Budget(APPROX_KIND, Fraction(0), small)
    concentrated = any(event.concentrated for event in every)
    bound = (_renyi if concentrated else _convolved)(every, float(small))
    if not 0 <= bound < float("inf"):
        raise InvalidArgument(f"no ε goes with delta={delta}: the events need more")
    return Budget(APPROX_KIND, Fraction(bound), small)


def _convolved(events: list[Event], delta: float) -> float:
    common = import_module("dp_accounting.pld.common")
    losses = import_module("dp_accounting.pld.privacy_loss_distribution")
    whole: Any = losses.identity()
    for event, times in Counter(events).items():
        cost = event.cost(APPROX_KIND)
        pair = (float(cost.amount), float(cost.delta))
        one = losses.from_privacy_parameters(common.DifferentialPrivacyParameters(*pair))
        whole = whole.compose(one.self_compose(times))
    return float(whole.get_epsilon_for_delta(delta))


def _renyi(events: list[Event], delta: float) -> float:
    library = import_module("dp_accounting")
    accountant: Any = import_module("dp_accounting.rdp").RdpAccountant()
    for event in events:
        if event.failing:
            raise InvalidArgument(
                "events in ρ and in (ε, δ) cannot be counted together numerically: "
                "modicum.composed can"
            )
        accountant.compose(library.ZCDpEvent(float(event.implied_rho)))
    return float(accountant.get_epsilon(delta))
