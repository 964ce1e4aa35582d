"""Statistics of rows that are vectors."""

from __future__ import annotations

from typing import Any

from modicum.estimators.clipped_mean_vector import clipped_mean_vector
from modicum.estimators.mean_vector import adaptive_mean_vector
from modicum.estimators.options import NoOption
from modicum.estimators.own_vector import MeanOfRange, OwnVectorOption, own_vector
from modicum.estimators.row import ranged
from modicum.estimators.vector_row import VectorRow, vector_row
from modicum.summaries.columns import Columns

__all__ = ["VECTORS"]

VECTORS: tuple[VectorRow[Any], ...] = (
    vector_row(
        "mean_vector",
        "adaptive",
        (NoOption(),),
        "means of several columns with noise on the scale of the rows' own spread",
        lambda columns, lattice, event, _: adaptive_mean_vector(columns, lattice, event),
    ),
    vector_row(
        "clipped_mean_vector",
        "search",
        (NoOption(),),
        "means of several columns with noise on the scale of the rows' norms",
        lambda columns, lattice, event, _: clipped_mean_vector(columns, lattice, event),
    ),
    VectorRow(
        "vector",
        "radial",
        ("pure", "zcdp", "approx"),
        True,
        (OwnVectorOption(MeanOfRange()),),
        "radial",
        "any vector statistic, by its local sensitivities",
        lambda _column, lattice, event, chosen: own_vector(
            Columns(), ranged(lattice), event, chosen.statistic
        ),
        lambda columns, lattice, event, chosen: own_vector(
            columns, lattice, event, chosen.statistic
        ),
    ),
)
