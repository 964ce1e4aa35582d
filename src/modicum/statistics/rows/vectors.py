"""Statistics of rows that are vectors."""

from __future__ import annotations

from typing import Any

from modicum.array_release import ArrayRelease
from modicum.statistics.own_vector import MeanOfRange, OwnVectorOption, own_vector
from modicum.statistics.spec import Row, ranged

__all__ = ["VECTORS"]

VECTORS: tuple[Row[Any, Any], ...] = (
    Row(
        "vector",
        "radial",
        ("pure", "zcdp", "approx"),
        True,
        (OwnVectorOption(MeanOfRange()),),
        "radial",
        "any vector statistic, by its local sensitivities",
        lambda columns, lattice, event, options: own_vector(
            columns, ranged(lattice), event, options.statistic
        ),
        ArrayRelease,
        of_rows=True,
    ),
)
