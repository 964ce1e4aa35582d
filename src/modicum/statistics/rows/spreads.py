"""Measures of spread."""

from __future__ import annotations

from typing import Any

from modicum.statistics.options import (
    NoOption,
)
from modicum.statistics.spec import Row, ranged
from modicum.statistics.variance import adaptive_variance

__all__ = ["SPREADS"]


SPREADS: tuple[Row[Any, Any], ...] = (
    Row(
        "variance",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "variance",
        "variance with noise on the scale of the data's own spread",
        lambda column, lattice, event, options: adaptive_variance(
            column, ranged(lattice), event, root=False
        ),
    ),
    Row(
        "std",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "variance",
        "standard deviation with noise on the scale of the data's own spread",
        lambda column, lattice, event, options: adaptive_variance(
            column, ranged(lattice), event, root=True
        ),
    ),
)
