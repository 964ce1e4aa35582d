"""Shares of a budget that buy a draw of a given size."""

from __future__ import annotations

from fractions import Fraction

from modicum.statistics.purse import Purse

__all__ = ["share_of"]

_PLACES = 1 << 24


def share_of(purse: Purse, size: float) -> Fraction:
    """Share of the budget that buys a bounded range of about this size; at most all of it."""
    full = float(purse.range_for(Fraction(1)))
    share = size / full if purse.kind == "pure" else (size / full) ** 2
    return Fraction(max(1, round(min(share, 1.0) * _PLACES)), _PLACES)
