"""Statistics by their names."""

from __future__ import annotations

from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.theory.mean import Mean
from modicum.theory.quantile import Quantile
from modicum.theory.statistic import Statistic

__all__ = ["chosen"]

_NAMED: dict[str, Statistic] = {"mean": Mean(), "median": Quantile(Fraction(1, 2))}


def chosen(statistic: str | Statistic) -> Statistic:
    """Return the statistic, or the one of that name.

    Raises
    ------
    InvalidArgument
        If it is neither.
    """
    if isinstance(statistic, Statistic):
        return statistic
    if str(statistic) in _NAMED:
        return _NAMED[str(statistic)]
    raise InvalidArgument(
        f"statistic must be 'mean', 'median', or a statistic of modicum.theory, got {statistic!r}"
    )
