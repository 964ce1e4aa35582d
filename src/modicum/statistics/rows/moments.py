"""Statistics that follow from second moments of several columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from modicum.array_release import ArrayRelease
from modicum.statistics.covariance import ComponentsOption, noisy_components, noisy_covariance
from modicum.statistics.options import NoOption
from modicum.statistics.regression import noisy_regression
from modicum.statistics.spec import Row, ranged

__all__ = ["MOMENTS"]

# The noise of d columns' products grows like d² in pure ε and like d^1.5 in ρ, as d^1.5 and d for
# their means (rows/vectors.py). Simulated errors cross at ε²/(4 ρ) columns; those of regressions at
# half to twice as many, by the number of rows.
_TURN, _TURN_OF_FITS = Fraction(1), Fraction(3, 2)


MOMENTS: tuple[Row[Any, Any], ...] = (
    Row(
        "covariance",
        "moments",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "moments",
        "covariances of several columns, with noise on the scale of each column's own spread",
        lambda columns, lattice, event, _: noisy_covariance(columns, ranged(lattice), event),
        ArrayRelease,
        of_rows=True,
        turn=_TURN,
    ),
    Row(
        "pca",
        "moments",
        ("pure", "zcdp", "approx"),
        True,
        (ComponentsOption(1),),
        "moments",
        "principal components of several columns, and the variance along each",
        lambda columns, lattice, event, options: noisy_components(
            columns, ranged(lattice), event, components=options.components
        ),
        ArrayRelease,
        of_rows=True,
        turn=_TURN,
    ),
    Row(
        "linear_regression",
        "moments",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "moments",
        "linear regression of a column on others, with intervals",
        lambda columns, lattice, event, _: noisy_regression(columns, ranged(lattice), event),
        ArrayRelease,
        of_rows=True,
        turn=_TURN_OF_FITS,
    ),
)
