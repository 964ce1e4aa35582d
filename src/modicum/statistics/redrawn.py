"""What an answer would have been for other outcomes of its last noise.

A plan averages the error of an answer over that noise, of which the law is known, and so needs
fewer synthetic releases. An error model whose last draw is noise has a method ``redrawn``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, Protocol, runtime_checkable

from modicum.mechanisms.additive import Noise

__all__ = ["NoisyLast", "Redrawn", "TableTotals"]


class TableTotals(Protocol):
    """Exact sums of a table that is no secret, such as a synthetic one (in lattice steps)."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def clipped_sum(self, lo: int, hi: int) -> int:
        """Sum of all rows, clipped to [lo, hi]."""

    def squares(self, lo: int, hi: int, centre: int) -> int:
        """Sum of squared distances of all rows, clipped to [lo, hi], from a point."""


class Redrawn(NamedTuple):
    """Independent noises of a last draw, and the answer in the data's unit that follows of them."""

    noises: tuple[Noise, ...]
    value: Callable[..., Fraction]


@runtime_checkable
class NoisyLast(Protocol):
    """Error model of an answer whose last draw is noise."""

    def redrawn(self, table: TableTotals) -> Redrawn:
        """Return how the answer from this table follows of its last noise."""
