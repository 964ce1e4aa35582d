"""An estimator's allowance: builds laws for a share of it and knows exactly what is left.

The same estimator runs in pure ε and in zCDP; only the laws differ. A pure purse uses the
discrete Laplace law and permute-and-flip, a concentrated one the discrete Gaussian law and the
exponential mechanism, whose bounded range is cheap there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from modicum.exact.enclosure import sqrt_below
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, gaussian, laplace
from modicum.mechanisms.centre import MedianCentre
from modicum.mechanisms.grid import FloatGrid
from modicum.mechanisms.radius import RadiusDraw, RadiusGrid
from modicum.mechanisms.subsampled import Members, Subsampled, amplified
from modicum.privacy.budget import Kind
from modicum.privacy.event import Concentrated, Event, Pure, cost

__all__ = ["ConcentratedPurse", "PurePurse", "Purse", "open_purse"]

_BITS = 40  # binary places kept where a zCDP share becomes an ε


@dataclass(slots=True)
class Purse(ABC):
    """Allowance ``total`` (ε or ρ), of which ``left`` has not been promised to a law."""

    total: Fraction
    left: Fraction
    kind: ClassVar[Kind]

    @property
    @abstractmethod
    def scale(self) -> Fraction:
        """The ε that sets the scale of the noise: ε itself, or about sqrt(2 ρ)."""

    @abstractmethod
    def range_for(self, share: Fraction) -> Fraction:
        """Size η of the bounded-range event which a share of the total buys."""

    @abstractmethod
    def noisy(self, values: Iterable[int], *, sensitivity: int, share: Fraction | None) -> Additive:
        """Integers plus noise, for a share of the total (``None``: all that is left).

        ``sensitivity`` must bound both the L1 and the L2 change of the values.
        """

    @abstractmethod
    def radii(
        self,
        outside: tuple[tuple[int, ...], ...],
        grid: RadiusGrid,
        *,
        tilt: Fraction,
        share: Fraction,
    ) -> RadiusDraw:
        """One radius a side for a share of the total."""

    @abstractmethod
    def subsampled_epsilon(self, share: Fraction, level: int) -> Fraction:
        """Size of the event that a share buys for a subsampled exponential mechanism."""

    def centre(
        self, records: Members, lattice: Lattice, *, bits: int, level: int, share: Fraction
    ) -> Subsampled[int]:
        """Median on a floating-point grid, on a subsample of rate 2^-level."""
        target = self.subsampled_epsilon(share, level)
        template = MedianCentre.template(
            FloatGrid(bits), lattice.first, lattice.last, amplified(target, level)
        )
        event = template.event if level == 0 else Pure(target)
        law = Subsampled(records, template, level, event)
        self._pay(law.event)
        return law

    def _pay(self, event: Event) -> None:
        self.left -= cost(event, self.kind).amount
        if self.left < 0:
            raise AssertionError("an estimator promised more than its budget")


class PurePurse(Purse):
    """Allowance in pure ε."""

    __slots__ = ()
    kind = "pure"

    @property
    def scale(self) -> Fraction:
        """ε."""
        return self.total

    def range_for(self, share: Fraction) -> Fraction:
        """Return the share itself: η-bounded range is pure η."""
        return self.total * share

    def noisy(self, values: Iterable[int], *, sensitivity: int, share: Fraction | None) -> Additive:
        """Discrete Laplace."""
        amount = self.left if share is None else self.total * share
        law = laplace(values, l1=sensitivity, epsilon=amount)
        self._pay(law.event)
        return law

    def radii(
        self,
        outside: tuple[tuple[int, ...], ...],
        grid: RadiusGrid,
        *,
        tilt: Fraction,
        share: Fraction,
    ) -> RadiusDraw:
        """Permute-and-flip."""
        law = RadiusDraw(outside, grid, self.range_for(share), tilt, "flip")
        self._pay(law.event)
        return law

    def subsampled_epsilon(self, share: Fraction, level: int) -> Fraction:
        """Return the share itself."""
        return self.total * share


class ConcentratedPurse(Purse):
    """Allowance in zCDP."""

    __slots__ = ()
    kind = "zcdp"

    @property
    def scale(self) -> Fraction:
        """The pure ε with the same zCDP cost, sqrt(2 ρ), rounded down."""
        return sqrt_below(2 * self.total, _BITS)

    def range_for(self, share: Fraction) -> Fraction:
        """Return η = sqrt(8 ρ share), rounded down."""
        return sqrt_below(8 * self.total * share, _BITS)

    def noisy(self, values: Iterable[int], *, sensitivity: int, share: Fraction | None) -> Additive:
        """Discrete Gaussian."""
        amount = self.left if share is None else self.total * share
        law = gaussian(values, l2=sensitivity, rho=amount)
        self._pay(law.event)
        return law

    def radii(
        self,
        outside: tuple[tuple[int, ...], ...],
        grid: RadiusGrid,
        *,
        tilt: Fraction,
        share: Fraction,
    ) -> RadiusDraw:
        """Exponential mechanism."""
        law = RadiusDraw(outside, grid, self.range_for(share), tilt, "exponential")
        self._pay(law.event)
        return law

    def subsampled_epsilon(self, share: Fraction, level: int) -> Fraction:
        """Bounded range on all records; on a subsample, pure ε, which costs ε²/2."""
        return sqrt_below((8 if level == 0 else 2) * self.total * share, _BITS)


def open_purse(event: Event) -> Purse:
    """Open a purse that holds exactly one event's cost."""
    if isinstance(event, Concentrated):
        return ConcentratedPurse(event.rho, event.rho)
    epsilon = cost(event, "pure").amount
    return PurePurse(epsilon, epsilon)
