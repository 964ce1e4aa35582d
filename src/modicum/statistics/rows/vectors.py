"""Statistics of rows that are vectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from modicum.array_release import ArrayRelease
from modicum.statistics.clipped_mean_vector import clipped_mean_vector
from modicum.statistics.mean_vector import adaptive_mean_vector
from modicum.statistics.options import NoOption
from modicum.statistics.own_vector import MeanOfRange, OwnVectorOption, own_vector
from modicum.statistics.shifted_mean_vector import shifted_mean_vector
from modicum.statistics.spec import Row, ranged

__all__ = ["VECTORS"]

# With d components, noise of ρ has variance r²/(2 ρ) in each for L2 norms up to r, and noise of ε
# has 2 q²/ε² for L1 norms up to q. Of rows of one norm r, q is sqrt(d) r if all components are
# alike and sqrt(2 d/π) r if they are normal, so the two are equal for ε²/(4 ρ) components, and for
# π/2 times as many. Between them simulated errors cross, for ε of 0.2, 1 and 5 at δ = 1e-6.
_TURN = Fraction(5, 4)

VECTORS: tuple[Row[Any, Any], ...] = (
    Row(
        "mean_vector",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "mean_vector",
        "means of several columns with noise on the scale of the rows' own spread",
        lambda columns, lattice, event, _: adaptive_mean_vector(columns, ranged(lattice), event),
        ArrayRelease,
        of_rows=True,
        turn=_TURN,
    ),
    Row(
        "mean_vector",
        "shifted",
        ("zcdp",),
        True,
        (NoOption(),),
        "shifted_mean_vector",
        "the same with a centre found by medians after a rotation",
        lambda columns, lattice, event, _: shifted_mean_vector(columns, ranged(lattice), event),
        ArrayRelease,
        of_rows=True,
    ),
    Row(
        "clipped_mean_vector",
        "search",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "clipped_mean_vector",
        "means of several columns with noise on the scale of the rows' norms",
        lambda columns, lattice, event, _: clipped_mean_vector(columns, ranged(lattice), event),
        ArrayRelease,
        of_rows=True,
        turn=_TURN,
    ),
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
