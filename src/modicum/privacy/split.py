"""A budget that the draws of one statistic divide: exact sizes of what a share buys, and the rest.

The same statistic runs in pure ε and in zCDP. A share of either buys Laplace or Gaussian noise, a
bounded range for an exponential mechanism, and a pure ε for a draw on a subsample; only the sizes
differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, Protocol, TypeVar

from modicum.privacy.event import Event, RangeDP, event_of

Use = Literal["noise", "range", "subsample"]

_PLACES = 1 << 24  # a share for a bounded range is a multiple of 2^-24


class _Charged(Protocol):
    @property
    def event(self) -> Event: ...


M = TypeVar("M", bound=_Charged)


@dataclass(frozen=True, slots=True)
class Share:
    """Part of a budget, as the sizes of the draws that it buys.

    ``loss`` costs the part exactly; ``last`` says whether the part is all that is left.

    Examples
    --------
    >>> from modicum.privacy.event import ZCDP
    >>> share = Share(ZCDP(Fraction(1, 8)))
    >>> str(share.pure), str(share.range), str(share.zcdp)
    ('1/2', '1', '1/8')
    """

    loss: Event
    last: bool = False

    @property
    def pure(self) -> Fraction:
        """ε of a pure draw: ε itself, or sqrt(2 ρ) rounded down."""
        return self.loss.largest_pure

    @property
    def range(self) -> Fraction:
        """η of a bounded range: ε itself, or sqrt(8 ρ) rounded down."""
        return self.loss.largest_range

    @property
    def zcdp(self) -> Fraction | None:
        """ρ of Gaussian noise; ``None`` in pure ε, which does not have Gaussian noise."""
        return self.loss.amount_in(self.loss.kind) if self.loss.concentrated else None

    @property
    def ranged(self) -> tuple[Fraction, Event]:
        """η of a bounded range, and the event charged for it: the last draw spends all the rest.

        In zCDP a bounded range of η costs η²/8, less than the share by a rounding.
        """
        size = self.range
        return size, self.loss if self.last and self.loss.concentrated else RangeDP(size)


@dataclass(slots=True)
class BudgetSplit:
    """The budget of one run of a statistic, divided among its draws.

    A share is named by its fraction of the whole, ``loss``, a pure or a concentrated event. It is
    spent when a draw is charged, by the exact cost of that draw; ``left`` is what is left of ε or
    ρ. What roundings leave goes to the last draw.

    Examples
    --------
    >>> from modicum.mechanisms.additive import add_noise
    >>> from modicum.privacy.event import PureDP
    >>> split = BudgetSplit(PureDP(Fraction(2)))
    >>> count = split.spend(add_noise((7,), split.share(Fraction(1, 4)), sensitivity=1))
    >>> str(count.event), str(split.rest().loss)
    ('ε = 0.5', 'ε = 1.5')
    """

    loss: Event
    left: Fraction = field(init=False)

    def __post_init__(self) -> None:
        whole = self.loss.cost(self.loss.kind)
        self.loss, self.left = event_of(whole), whole.amount

    @property
    def total(self) -> Fraction:
        """ε or ρ of the whole."""
        return self.loss.amount_in(self.loss.kind)

    @property
    def scale(self) -> Fraction:
        """ε that sets the scale of the noise: ε itself, or sqrt(2 ρ) rounded down."""
        return self.loss.largest_pure

    @property
    def concentrated(self) -> bool:
        return self.loss.concentrated

    @property
    def power(self) -> Literal[1, 2]:
        """Power of ε that adds up over draws; also the norm of the noise of vectors, L1 or L2."""
        return 2 if self.concentrated else 1

    def share(self, part: Fraction) -> Share:
        """What a fraction of the whole buys."""
        return Share(self.loss.part(part))

    def rest(self) -> Share:
        """What all that is left buys."""
        return Share(self.loss.part(self.left / self.total), last=True)

    def spend(self, mechanism: M) -> M:
        """Subtract the cost of a draw from what is left, and return its mechanism."""
        self.left -= mechanism.event.amount_in(self.loss.kind)
        if self.left < 0:
            raise AssertionError("a statistic spent more than its budget")
        return mechanism

    def keeps(self, precision: float, part: Fraction) -> bool:
        """Whether what is left after a share buys that part of the precision of the whole.

        Precision is proportional to ε, or to sqrt(ρ).
        """
        return self.left - self.total * part >= precision**self.power * self.total

    def part_for(self, strength: float, use: Use) -> Fraction:
        """Fraction that buys a strength, in units of :attr:`scale`.

        Strength s is noise as wide as Laplace noise of scale 1/s, or a bounded range of s, or a
        pure ε of s on a subsample. It is met, or exceeded by 2^-20 at most.
        """
        # A share f of ε buys s = f. One of ρ buys noise of variance 1/f, where Laplace noise of
        # scale 1/s has 2/s²; a bounded range of 2 sqrt(f); and a pure ε of sqrt(f).
        if self.concentrated:
            strength = strength**2 / {"noise": 2, "range": 4, "subsample": 1}[use]
        return Fraction(math.ceil(strength * 2**20), 2**20)

    def part_for_range(self, size: float) -> Fraction:
        """Fraction that buys a bounded range of about this size; at most the whole."""
        share = (size / float(self.loss.largest_range)) ** self.power
        return Fraction(max(1, round(min(share, 1.0) * _PLACES)), _PLACES)
