"""Tight composition by numerical privacy loss distributions (extra ``accounting``).

For planning and for reports: the result is a float that another library computed, so no ledger or
curator charges by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from typing import Any

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Budget, Number
from modicum.privacy.event import Event

__all__ = ["composed_tightly"]


def composed_tightly(events: Iterable[Event], delta: Number) -> Budget:
    """(ε, δ) guarantee of events together, from Google's ``dp-accounting``.

    Prefer :func:`modicum.composed`, which is exact arithmetic, unless the last tenth of ε matters.
    Pure, bounded-range and (ε, δ) events have a worst privacy loss distribution, and these are
    convolved (Koskela, Jälkö and Honkela 2020; pessimistic rounding). A ρ-zCDP event has none: with
    one among the events, the Rényi accountant adds up all of them, and (ε, δ) events are refused.

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
        raise InvalidArgument(
            "this needs dp-accounting: pip install 'modicum[accounting]'"
        ) from None
    if not every:
        return Budget("approx", Fraction(0), small)
    concentrated = any(event.kind == "zcdp" for event in every)
    bound = (_renyi if concentrated else _convolved)(every, float(small))
    if not 0 <= bound < float("inf"):
        raise InvalidArgument(f"no ε goes with delta={delta}: the events need more")
    return Budget("approx", Fraction(bound), small)


def _convolved(events: list[Event], delta: float) -> float:
    common = import_module("dp_accounting.pld.common")
    losses = import_module("dp_accounting.pld.privacy_loss_distribution")
    whole: Any = losses.identity()
    for event, times in Counter(events).items():
        price = event.cost("approx")
        pair = (float(price.amount), float(price.delta))
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
