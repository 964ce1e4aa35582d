"""Privacy events: frozen records of what a mechanism did. An accountant interprets them.

An event never changes meaning. What it costs depends on the currency it is counted in, and
:func:`cost` is the one place where that is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.privacy.budget import Budget, Kind, short_text

__all__ = [
    "Approximate",
    "BoundedRange",
    "Concentrated",
    "Event",
    "Pure",
    "check_size",
    "cost",
    "event_of",
    "own_kind",
]


@dataclass(frozen=True, slots=True)
class Pure:
    """The log ratio of the output laws on neighbours is at most ``epsilon`` in absolute value."""

    epsilon: Fraction

    def __str__(self) -> str:
        return f"ε = {short_text(self.epsilon)}"


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """The log ratio, as a function of the outcome, stays in an interval of length ``eta``.

    The exponential mechanism has this property (Durfee and Rogers 2019). It implies pure
    ``eta``-DP, and ``eta**2 / 8``-zCDP (Cesar and Rogers 2021), a quarter of what a pure event
    of the same size costs there.
    """

    eta: Fraction

    def __str__(self) -> str:
        return f"range {short_text(self.eta)}"


@dataclass(frozen=True, slots=True)
class Concentrated:
    """``rho``-zero-concentrated differential privacy (Bun and Steinke 2016)."""

    rho: Fraction

    def __str__(self) -> str:
        return f"ρ = {short_text(self.rho)}"


@dataclass(frozen=True, slots=True)
class Approximate:
    """(ε, δ)-differential privacy: P(S) <= exp(epsilon) P'(S) + delta for every set S."""

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return f"(ε, δ) = ({short_text(self.epsilon)}, {short_text(self.delta)})"


Event = Pure | BoundedRange | Concentrated | Approximate


def cost(event: Event, kind: Kind) -> Budget:
    """Price an event in a currency.

    ==============  ==========  =============  ========
    event           pure        zcdp           approx
    ==============  ==========  =============  ========
    Pure            ε           ε²/2           (ε, 0)
    BoundedRange    η           η²/8           (η, 0)
    Concentrated    impossible  ρ              refused
    Approximate     impossible  impossible     (ε, δ)
    ==============  ==========  =============  ========

    Raises
    ------
    InvalidArgument
        If the event has no finite cost in that currency. A ρ-zCDP event has none in pure ε;
        in (ε, δ) its price depends on the δ one is ready to pay, so it must be converted
        explicitly (:func:`modicum.privacy.compose.zcdp_to_approx`). An (ε, δ) event has a
        price in (ε, δ) only.

    Examples
    --------
    >>> cost(BoundedRange(Fraction(2)), "zcdp")
    zcdp('0.5')
    """
    match event:
        case Concentrated(rho):
            if kind != "zcdp":
                message = (
                    f"a zCDP release cannot be paid from a budget of kind {kind!r}: "
                    "use epsilon=, or give the curator a budget of kind 'zcdp'"
                )
                if kind == "approx":
                    message += (
                        "; means, covariances and regressions of several columns take "
                        "budget=modicum.zcdp_to_approx(modicum.zcdp(rho), delta) too, for a delta "
                        "of yours"
                    )
                raise InvalidArgument(message)
            return Budget("zcdp", rho)
        case Pure(epsilon):
            return Budget(kind, epsilon**2 / 2 if kind == "zcdp" else epsilon)
        case BoundedRange(eta):
            return Budget(kind, eta**2 / 8 if kind == "zcdp" else eta)
        case Approximate(epsilon, delta):
            if kind != "approx":
                raise InvalidArgument(
                    f"a release that needs a δ cannot be paid from a budget of kind {kind!r}: "
                    "give the curator a budget of kind 'approx', modicum.approx(epsilon, delta)"
                )
            return Budget("approx", epsilon, delta)


def own_kind(event: Event) -> Kind:
    """Currency in which a mechanism accounts for its own steps: zCDP or pure."""
    return "zcdp" if isinstance(event, Concentrated) else "pure"


_LEAST = {"pure": Fraction(1, 10**9), "zcdp": Fraction(1, 10**18)}


def check_size(event: Event) -> None:
    """Refuse events so small that no estimator could be computed.

    Raises
    ------
    InvalidArgument
        Below ε = 1e-9, or ρ = 1e-18.
    """
    kind = own_kind(event)
    if cost(event, kind).amount < _LEAST[kind]:
        raise InvalidArgument(
            f"{event} for one row is too small: at least {float(_LEAST[kind]):g} is needed"
        )


def event_of(budget: Budget) -> Event:
    """Return the event of a release of one number that spends the whole budget.

    A scalar release gains nothing from δ: one (ε, δ) release is answered by the pure ε
    mechanism, which is charged as (ε, 0). Questions about several columns may gain from it, see
    :meth:`modicum.runners.request.Question.of_width`.
    """
    return Concentrated(budget.amount) if budget.kind == "zcdp" else Pure(budget.amount)
