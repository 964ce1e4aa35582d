"""Statistics that follow from second moments of several columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from modicum.estimators.covariance import ComponentsOption, noisy_components, noisy_covariance
from modicum.estimators.options import NoOption
from modicum.estimators.regression import noisy_regression
from modicum.estimators.row import ranged
from modicum.estimators.vector_row import Begin, VectorRow
from modicum.summaries.base import Columns

__all__ = ["MOMENTS"]

# The noise of d columns' products grows like d² in pure ε and like d^1.5 in ρ, as d^1.5 and d for
# their means (rows/vectors.py). Simulated errors cross at ε²/(4 ρ) columns; those of regressions at
# half to twice as many, by the number of rows.
_TURN, _TURN_OF_FITS = Fraction(1), Fraction(3, 2)


def _row(
    statistic: str, options: tuple[Any, ...], summary: str, of_rows: Begin[Any], turn: Fraction
) -> Any:
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
        turn,
    )


MOMENTS: tuple[VectorRow[Any], ...] = (
    _row(
        "covariance",
        (NoOption(),),
        "covariances of several columns, with noise on the scale of each column's own spread",
        lambda columns, lattice, event, _: noisy_covariance(columns, lattice, event),
        _TURN,
    ),
    _row(
        "pca",
        (ComponentsOption(1),),
        "principal components of several columns, and the variance along each",
        lambda columns, lattice, event, options: noisy_components(
            columns, lattice, event, components=options.components
        ),
        _TURN,
    ),
    _row(
        "linear_regression",
        (NoOption(),),
        "linear regression of a column on others, with intervals",
        lambda columns, lattice, event, _: noisy_regression(columns, lattice, event),
        _TURN_OF_FITS,
    ),
)
