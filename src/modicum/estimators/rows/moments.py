"""Statistics that follow from second moments of several columns."""

from __future__ import annotations

from typing import Any

from modicum.estimators.covariance import ComponentsOption, noisy_components, noisy_covariance
from modicum.estimators.options import NoOption
from modicum.estimators.regression import noisy_regression
from modicum.estimators.row import ranged
from modicum.estimators.vector_row import Begin, VectorRow
from modicum.summaries.columns import Columns

__all__ = ["MOMENTS"]


def _row(statistic: str, options: tuple[Any, ...], summary: str, of_rows: Begin[Any]) -> Any:
    return VectorRow(
        statistic,
        "moments",
        ("pure", "zcdp", "approx"),
        True,
        options,
        "moments",
        summary,
        lambda _column, lattice, event, chosen: of_rows(Columns(), ranged(lattice), event, chosen),
        of_rows,
    )


MOMENTS: tuple[VectorRow[Any], ...] = (
    _row(
        "covariance",
        (NoOption(),),
        "covariances of several columns, with noise on the scale of each column's own spread",
        lambda columns, lattice, event, _: noisy_covariance(columns, lattice, event),
    ),
    _row(
        "pca",
        (ComponentsOption(1),),
        "principal components of several columns, and the variance along each",
        lambda columns, lattice, event, options: noisy_components(
            columns, lattice, event, components=options.components
        ),
    ),
    _row(
        "linear_regression",
        (NoOption(),),
        "linear regression of a column on others, with intervals",
        lambda columns, lattice, event, _: noisy_regression(columns, lattice, event),
    ),
)
