"""Measures of spread."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from modicum.statistics.iqr import quantile_range
from modicum.statistics.options import (
    RangeOption,
)
from modicum.statistics.spec import Row, ranged

__all__ = ["SPREADS"]


SPREADS: tuple[Row[Any, Any], ...] = (
    Row(
        "iqr",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (
            RangeOption((Fraction(1, 4), Fraction(3, 4)), 0.95),
            RangeOption((Fraction(1, 10), Fraction(2, 3)), None),
        ),
        "iqr",
        "interquartile range by two quantiles, with an interval",
        lambda column, lattice, event, options: quantile_range(
            column, ranged(lattice), event, between=options.between, level=options.level
        ),
    ),
)
