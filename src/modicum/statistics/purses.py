"""The two purses: in pure ε, and in zCDP."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from modicum.exact.enclosure import sqrt_below
from modicum.mechanisms.additive import Additive, VectorNoise, gaussian, laplace
from modicum.privacy.event import ZCDP, Event, PureDP, RangeDP
from modicum.statistics.purse import Purse, Use

__all__ = ["ConcentratedPurse", "PurePurse", "open_purse"]

_BITS = 40  # binary places kept where a share of ρ becomes an ε


class PurePurse(Purse):
    """Allowance in pure ε."""

    __slots__ = ()
    kind = "pure"
    selection = "flip"
    norm = "l1"

    @property
    def scale(self) -> Fraction:
        """ε."""
        return self.total

    def keeps(self, precision: float, share: Fraction) -> bool:
        """As :meth:`Purse.keeps`: precision is proportional to ε."""
        return self.left - self.total * share >= precision * self.total

    def share_for(self, strength: float, use: Use) -> Fraction:
        """As :meth:`Purse.share_for`: a share of ε buys itself, whatever the use."""
        return _share(strength)

    @property
    def path_power(self) -> Fraction:
        """ε add up."""
        return Fraction(1, 3)

    def _path_event(self, amount: Fraction) -> Event:
        return PureDP(amount)

    @staticmethod
    def _range_of(amount: Fraction) -> Fraction:
        """Return the ε: a bounded range of η is pure η."""
        return amount

    def _whole(self, amount: Fraction) -> Event:
        return RangeDP(amount)

    def _subsampled(self, share: Fraction) -> Fraction:
        return self.total * share

    def _additive(
        self,
        values: Iterable[int],
        sensitivity: int,
        amount: Fraction,
        weights: tuple[int, ...] | None = None,
    ) -> Additive:
        return laplace(values, l1=sensitivity, epsilon=amount, weights=weights)


class ConcentratedPurse(Purse):
    """Allowance in zCDP."""

    __slots__ = ()
    kind = "zcdp"
    selection = "exponential"
    norm = "l2"

    @property
    def scale(self) -> Fraction:
        """The pure ε with the same zCDP cost."""
        return sqrt_below(2 * self.total, _BITS)

    def keeps(self, precision: float, share: Fraction) -> bool:
        """As :meth:`Purse.keeps`: precision is proportional to sqrt(ρ)."""
        return self.left - self.total * share >= precision**2 * self.total

    def share_for(self, strength: float, use: Use) -> Fraction:
        """As :meth:`Purse.share_for`."""
        # A share f of ρ buys noise of variance 1/f, where Laplace noise of scale 1/s has 2/s²; a
        # bounded range of 2 sqrt(f); and a pure ε of sqrt(f).
        return _share(strength**2 / {"noise": 2, "range": 4, "subsample": 1}[use])

    @property
    def path_power(self) -> Fraction:
        """Squares of ε add up."""
        return Fraction(1, 2)

    def _path_event(self, amount: Fraction) -> Event:
        return ZCDP(amount)

    def vector(self, values: tuple[int, ...], *, bound: int, share: Fraction) -> VectorNoise:
        """Integers plus noise; ``bound`` must bound their L2 change."""
        mechanism = VectorNoise(values, bound, self.total * share)
        self._pay(mechanism.event)
        return mechanism

    @staticmethod
    def _range_of(amount: Fraction) -> Fraction:
        """Return η = sqrt(8 ρ), rounded down: a bounded range of η costs η²/8."""
        return sqrt_below(8 * amount, _BITS)

    def _whole(self, amount: Fraction) -> Event:
        return ZCDP(amount)

    def _subsampled(self, share: Fraction) -> Fraction:
        return sqrt_below(2 * self.total * share, _BITS)

    def _additive(
        self,
        values: Iterable[int],
        sensitivity: int,
        amount: Fraction,
        weights: tuple[int, ...] | None = None,
    ) -> Additive:
        return gaussian(values, l2=sensitivity, rho=amount, weights=weights)


def _share(share: float) -> Fraction:
    """Round a share up to a multiple of 2^-20."""
    return Fraction(math.ceil(share * 2**20), 2**20)


def open_purse(event: Event) -> Purse:
    """Open a purse that holds exactly one event's cost."""
    if isinstance(event, ZCDP):
        return ConcentratedPurse(event.rho, event.rho)
    epsilon = event.cost("pure").amount
    return PurePurse(epsilon, epsilon)
