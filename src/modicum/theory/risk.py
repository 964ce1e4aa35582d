"""The record of a risk: what bounds it from both sides, and a mark that it is not private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.theory.data import Floats
from modicum.theory.two_point import two_point_errors

__all__ = ["MARK", "SCHEMA", "RiskBounds", "ball_bounds", "number"]

SCHEMA = "modicum.theory/1"
MARK = "computed from the data themselves: not private"


@dataclass(frozen=True, slots=True)
class RiskBounds:
    """A risk under absolute loss, in the unit of the data.

    Not private: it is no release, it is computed from the data themselves, and publishing it
    reveals them.

    Attributes
    ----------
    risk : str
        Which one.
    statistic : str
        Of what.
    epsilon : Fraction
        Of the algorithms that compete.
    operations : int
        k = floor(1/ε).
    spread : float
        The quantity with which the papers characterise the risk up to constants.
    lower, upper : float
        The risk lies between them; they agree where it is known exactly.
    """

    risk: str
    statistic: str
    epsilon: Fraction
    operations: int
    spread: float
    lower: float
    upper: float

    def __str__(self) -> str:
        """Return one line."""
        exact = self.lower == self.upper
        value = f"{self.lower:.4g}" if exact else f"{self.lower:.4g} to {self.upper:.4g}"
        return (
            f"{self.risk} risk of the {self.statistic} at ε = {float(self.epsilon):g}: {value} "
            f"(spread {self.spread:.4g}; {MARK})"
        )

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON types; an infinite number is None."""
        return {
            "schema": SCHEMA,
            "private": False,
            "risk": self.risk,
            "statistic": self.statistic,
            "epsilon": str(self.epsilon),
            "operations": self.operations,
            "spread": number(self.spread),
            "lower": number(self.lower),
            "upper": number(self.upper),
        }


def number(x: float) -> float | None:
    """Return a number that JSON can hold."""
    return x if math.isfinite(x) else None


def ball_bounds(lowest: Floats, highest: Floats, epsilon: Fraction) -> tuple[float, float]:
    """Bound inf over ε-private A of the largest E|A(D') - θ(D')| over a set of data sets.

    ``highest[i]`` and ``lowest[j]`` are attained by members of the set at distances at most i
    and j from one centre, and the last of them are the extremes of the whole set.

    Below: two members at distance i + j or less, and :func:`two_point_error`. Above: the algorithm
    that always answers the middle of the extremes.
    """
    rate, best = float(epsilon), 0.0
    errors = two_point_errors(np.arange(len(highest) + len(lowest)), rate)
    for i, top in enumerate(highest.tolist()):
        best = max(best, float(((top - lowest) * errors[i : i + len(lowest)]).max()))
    return best, float(highest[-1] - lowest[-1]) / 2
