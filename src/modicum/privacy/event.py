"""Privacy events: frozen records of what a mechanism did, which know what they cost.

An event never changes meaning. What it costs depends on the currency it is counted in, on how many
records a person has, and on what neighbouring data sets are. Each kind of event answers these
questions itself, and no other code checks which kind it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact import enclosure, rational
from modicum.privacy.budget import APPROX_KIND, PURE_KIND, ZCDP_KIND, Budget, Kind, short_text
from modicum.stored.codec import storable

_DIGITS = 40
_BITS = 40  # binary places kept where a ρ becomes an ε
_NEVER = Fraction(0)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Event(ABC):
    """What the output distributions of one draw on any two neighbouring data sets obey.

    ========  ==========  ==========  ========
    event     pure        zcdp        approx
    ========  ==========  ==========  ========
    PureDP    ε           ε²/2        (ε, 0)
    RangeDP   η           η²/8        (η, 0)
    ZCDP      impossible  ρ           refused
    ApproxDP  impossible  impossible  (ε, δ)
    ========  ==========  ==========  ========

    Attributes
    ----------
    kind : {"pure", "zcdp"}
        The currency in which a mechanism accounts for its own steps.
    concentrated : bool
        Whether that is zCDP: then squares of ε add up, and noise may be Gaussian.
    """

    kind: ClassVar[Kind] = PURE_KIND
    concentrated: ClassVar[bool] = False

    @property
    def amounts(self) -> dict[str, Fraction]:
        """Exact amounts by their names."""
        return {name: getattr(self, name) for name in _names(type(self))}

    @abstractmethod
    def amount_in(self, kind: Kind) -> Fraction:
        """Amount of ε or ρ that it costs in a currency; refused as by :meth:`cost`."""

    def cost(self, kind: Kind) -> Budget:
        """Cost in a currency.

        Raises
        ------
        InvalidArgument
            A ρ-zCDP event has no cost in pure ε. Its cost in (ε, δ) depends on a δ that the user
            chooses: convert it (:func:`modicum.privacy.accountant.zcdp_to_approx`). An (ε, δ) event
            has a cost in (ε, δ) only.

        Examples
        --------
        >>> RangeDP(Fraction(2)).cost("zcdp")
        zcdp('0.5')
        """
        return Budget(kind, self.amount_in(kind), self.failing)

    def part(self, share: Fraction) -> Self:
        """What some of the draws may cost, so that shares that add up to 1 cost this."""
        if share == 1:
            return self
        return type(self)(*[getattr(self, name) * share for name in _names(type(self))])

    @abstractmethod
    def per_record(self, records: int) -> Self:
        """What one record may cost, so that all the records of a person cost this.

        Group privacy: m records that cost ε each cost m ε together, and m² ρ when they cost ρ each.
        With (ε, δ) each, they cost (m ε, δ (1 + e^ε + ... + e^((m-1) ε))).
        """

    @abstractmethod
    def for_records(self, records: int) -> Self:
        """What all the records of a person cost if this is the cost of one, by group privacy."""

    def swapped(self) -> Self:
        """Cost of the same release when neighbours replace one unit instead of adding one.

        A swap is one removal and one addition: 2 ε for ε, 4 ρ for ρ, and (2 ε, (1 + e^ε) δ) for (ε,
        δ).

        Examples
        --------
        >>> PureDP(Fraction(1)).swapped()
        PureDP(epsilon=Fraction(2, 1))
        """
        return self.for_records(2)

    @abstractmethod
    def attained(self, high: Floats, low: Floats, renyi: Floats | None) -> Floats:
        """Loss of pairs of data sets in the unit of this event, as an audit measures it [audit.4].

        ``high`` and ``low`` are the largest and the smallest log ratio of each pair; ``renyi`` has
        Rényi divergences over α, of shape (pairs, ...), at several α in both directions.
        """

    @property
    def largest_pure(self) -> Fraction:
        """ε of the largest pure event that costs no more, rounded down."""
        return self.amount_in(PURE_KIND)

    @property
    def largest_range(self) -> Fraction:
        """η of the largest bounded range that costs no more, rounded down."""
        return self.amount_in(PURE_KIND)

    def implied_by_pure(self, epsilon: Fraction) -> bool:
        """Whether every draw with this pure ε satisfies this event.

        Examples
        --------
        >>> [RangeDP(Fraction(size)).implied_by_pure(Fraction(1)) for size in (1, 2)]
        [False, True]
        """
        return PureDP(epsilon).cost(self.kind) <= self.cost(self.kind)

    @property
    def failing(self) -> Fraction:
        """δ, the probability with which nothing is promised."""
        return _NEVER

    @property
    def implied_rho(self) -> Fraction:
        """The ρ that holds but for :attr:`failing` (Bun and Steinke 2016, section 8)."""
        return self.amount_in(ZCDP_KIND)


@cache
def _names(kind: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@storable
@dataclass(frozen=True, slots=True)
class PureDP(Event):
    """The log ratio of output densities on neighbours is at most ``epsilon`` in absolute value."""

    epsilon: Fraction

    def amount_in(self, kind: Kind) -> Fraction:
        return self.epsilon**2 / 2 if kind == ZCDP_KIND else self.epsilon

    def per_record(self, records: int) -> Self:
        return self.part(Fraction(1, records))

    def for_records(self, records: int) -> Self:
        return self.part(Fraction(records))

    def attained(self, high: Floats, low: Floats, renyi: Floats | None) -> Floats:
        return np.maximum(high, -low)

    def __str__(self) -> str:
        return f"ε = {short_text(self.epsilon)}"


@storable
@dataclass(frozen=True, slots=True)
class RangeDP(Event):
    """The log ratio, as a function of the outcome, stays in an interval of length ``eta``.

    The exponential mechanism has this property (Durfee and Rogers 2019). It implies pure
    ``eta``-DP, and ``eta**2 / 8``-zCDP (Cesar and Rogers 2021), a quarter of the cost of a pure
    event of the same size in zCDP.
    """

    eta: Fraction

    def amount_in(self, kind: Kind) -> Fraction:
        return self.eta**2 / 8 if kind == ZCDP_KIND else self.eta

    def per_record(self, records: int) -> Self:
        return self.part(Fraction(1, records))

    def for_records(self, records: int) -> Self:
        return self.part(Fraction(records))

    def attained(self, high: Floats, low: Floats, renyi: Floats | None) -> Floats:
        return high - low

    def implied_by_pure(self, epsilon: Fraction) -> bool:
        return 2 * epsilon <= self.eta  # from -ε to ε

    def __str__(self) -> str:
        return f"range {short_text(self.eta)}"


@storable
@dataclass(frozen=True, slots=True)
class ZCDP(Event):
    """``rho``-zero-concentrated differential privacy (Bun and Steinke 2016)."""

    kind: ClassVar[Kind] = ZCDP_KIND
    concentrated: ClassVar[bool] = True
    rho: Fraction

    def amount_in(self, kind: Kind) -> Fraction:
        if kind != ZCDP_KIND:
            message = (
                f"a zCDP release cannot be charged to a budget of kind {kind!r}: "
                "use epsilon=, or give the curator a budget of kind 'zcdp'"
            )
            if kind == APPROX_KIND:
                message += (
                    "; means, covariances and regressions of several columns take "
                    "budget=modicum.zcdp_to_approx(modicum.zcdp(rho), delta) too, for a delta "
                    "of yours"
                )
            raise InvalidArgument(message)
        return self.rho

    def per_record(self, records: int) -> Self:
        return replace(self, rho=self.rho / Fraction(records) ** 2)

    def for_records(self, records: int) -> Self:
        return replace(self, rho=self.rho * records**2)

    def attained(self, high: Floats, low: Floats, renyi: Floats | None) -> Floats:
        assert renyi is not None
        return np.array(renyi.max(axis=tuple(range(1, renyi.ndim))))

    @property
    def largest_pure(self) -> Fraction:
        return enclosure.sqrt_below(2 * self.rho, _BITS)

    @property
    def largest_range(self) -> Fraction:
        return enclosure.sqrt_below(8 * self.rho, _BITS)

    def __str__(self) -> str:
        return f"ρ = {short_text(self.rho)}"


@storable
@dataclass(frozen=True, slots=True)
class ApproxDP(Event):
    """(ε, δ)-differential privacy: P(S) <= exp(epsilon) P'(S) + delta for every set S."""

    epsilon: Fraction
    delta: Fraction

    def amount_in(self, kind: Kind) -> Fraction:
        if kind != APPROX_KIND:
            raise InvalidArgument(
                f"a release that needs a δ cannot be charged to a budget of kind {kind!r}: "
                "give the curator a budget of kind 'approx', modicum.approx(epsilon, delta)"
            )
        return self.epsilon

    def per_record(self, records: int) -> Self:
        # [groups.11]
        if records == 1:
            return self
        # 1 + e^x + ... + e^((m-1) x) = (e^(m x) - 1) / (e^x - 1), x = ε / m. δ is rounded down.
        x = self.epsilon / records
        one, all_of_them = (
            enclosure.exp_below(x, _DIGITS) - 1,
            enclosure.exp_above(self.epsilon, _DIGITS) - 1,
        )
        return replace(self, epsilon=x, delta=rational.short_below(self.delta * one / all_of_them))

    def for_records(self, records: int) -> Self:
        failing = self.delta * sum(enclosure.exp_above(i * self.epsilon) for i in range(records))
        return replace(self, epsilon=records * self.epsilon, delta=rational.short_above(failing))

    def attained(self, high: Floats, low: Floats, renyi: Floats | None) -> Floats:
        raise InvalidArgument(
            "an (ε, δ) draw has no worst outcome: measure its laws with modicum.audit.needed_delta"
        )

    def implied_by_pure(self, epsilon: Fraction) -> bool:
        return epsilon <= self.epsilon

    @property
    def failing(self) -> Fraction:
        return self.delta

    @property
    def implied_rho(self) -> Fraction:
        return self.epsilon**2 / 2

    def __str__(self) -> str:
        return f"(ε, δ) = ({short_text(self.epsilon)}, {short_text(self.delta)})"


_LEAST = {PURE_KIND: Fraction(1, 10**9), ZCDP_KIND: Fraction(1, 10**18)}


def check_size(event: Event) -> None:
    """Refuse events so small that no estimator could be computed: below ε = 1e-9, or ρ = 1e-18."""
    kind = event.kind
    if event.amount_in(kind) < _LEAST[kind]:
        raise InvalidArgument(
            f"{event} for one row is too small: at least {float(_LEAST[kind]):g} is needed"
        )


def event_of(budget: Budget) -> Event:
    """The event of a release of one number that spends the whole budget.

    A scalar release gains nothing from δ: one (ε, δ) release is answered by the pure ε mechanism,
    which is charged as (ε, 0). Queries of several columns may gain from it, see
    :meth:`modicum.runtime.query.Query.of_width`.
    """
    return ZCDP(budget.amount) if budget.concentrated else PureDP(budget.amount)


def spent_on(budget: Budget) -> Event:
    """The event of all that a budget was spent on, δ included.

    Examples
    --------
    >>> from modicum.privacy.budget import approx
    >>> print(spent_on(approx(1, "1e-6")))
    (ε, δ) = (1, 0.000001)
    """
    if budget.concentrated:
        return ZCDP(budget.amount)
    return ApproxDP(budget.amount, budget.delta) if budget.delta else PureDP(budget.amount)


def with_labels(event: Event, drawn: Iterable[Event]) -> Event:
    """The event of a release together with the draws of its labels, which have a δ."""
    total = event
    for each in drawn:
        total = spent_on(total.cost(APPROX_KIND) + each.cost(APPROX_KIND))
    return total
