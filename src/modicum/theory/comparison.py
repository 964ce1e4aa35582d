"""The three instance-dependent risks of one data set, side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass

from numpy.typing import ArrayLike

from modicum.theory.data import Number, ordered
from modicum.theory.risks import (
    MARK,
    SCHEMA,
    RiskBounds,
    in_neighbour_risk,
    local_minimax_risk,
    number,
    subset_risk,
)
from modicum.theory.statistics import Statistic, chosen

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Three risks of one statistic of one data set.

    Not private: it is no release, it is computed from the data themselves, and publishing it
    reveals them.

    Attributes
    ----------
    statistic : str
        Of what.
    n : int
        Records.
    true_value : float
        The statistic itself, in the unit of the data.
    within : (lo, hi)
        Where new records may lie.
    subset, in_neighbour, local_minimax : RiskBounds
        R, R2 and R1.
    """

    statistic: str
    n: int
    true_value: float
    within: tuple[float, float]
    subset: RiskBounds
    in_neighbour: RiskBounds
    local_minimax: RiskBounds

    def __str__(self) -> str:
        """Return a small table."""
        rows = (
            ("R   subset (Dick et al.)", self.subset),
            ("R2  in-neighbour (Huang et al., extended)", self.in_neighbour),
            ("R1  local minimax (Asi and Duchi)", self.local_minimax),
        )
        lines = [
            f"Risks of the {self.statistic} of {self.n:,} records at ε = "
            f"{float(self.subset.epsilon):g}, within [{self.within[0]:g}, {self.within[1]:g}]",
            f"{'':42}{'spread':>12}{'at least':>12}{'at most':>12}",
        ]
        lines += [f"{title:42}{r.spread:12.4g}{r.lower:12.4g}{r.upper:12.4g}" for title, r in rows]
        return "\n".join([*lines, f"True value {self.true_value:.6g}. All of this is {MARK}."])

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON types; an infinite number is None."""
        return {
            "schema": SCHEMA,
            "private": False,
            "statistic": self.statistic,
            "n": self.n,
            "true_value": self.true_value,
            "within": [number(end) for end in self.within],
            "subset": self.subset.to_dict(),
            "in_neighbour": self.in_neighbour.to_dict(),
            "local_minimax": self.local_minimax.to_dict(),
        }

    def to_json(self) -> str:
        """Return it as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)


def compare(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    within: tuple[float, float] = (float("-inf"), float("inf")),
) -> Comparison:
    """Return subset, in-neighbour and local minimax risk of the data, to be printed.

    Not private: it is computed from the data themselves. All are expected absolute errors, in the
    unit of the data, that no ε-private algorithm can beat everywhere near the data; they differ in
    what "near" means: subsets, data of the same values, or any data.

    Parameters
    ----------
    data : array_like, shape (n,), n > 1/ε
    statistic : "mean", "median" or a monotone statistic
    epsilon : int, float, str or Fraction
        In (0, 1].
    within : (lo, hi)
        Where new records may lie, for the local minimax risk. Without it any number may occur,
        and that risk is infinite.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidArgument
        For bad arguments, or if the statistic is not defined for n - 1/ε records.

    See Also
    --------
    subset_risk, in_neighbour_risk, local_minimax_risk

    Notes
    -----
    Dick et al. 2023, appendix F, with exact numbers in place of bounds.

    Examples
    --------
    Their example, the minimiser of ``sum |x - t|^p`` of n - 1 zeros and a one.

    >>> from modicum import theory
    >>> data = [0.0] * 999 + [1.0]
    >>> print(theory.compare(data, theory.Location(1.5), 0.1, within=(0, 1000)))
    Risks of the location (p = 1.5) of 1,000 records at ε = 0.1, within [0, 1000]
                                                    spread    at least     at most
    R   subset (Dick et al.)                     1.022e-06    4.76e-07   5.112e-07
    R2  in-neighbour (Huang et al., extended)    0.0001202   3.646e-05   6.061e-05
    R1  local minimax (Asi and Duchi)               0.1008      0.1082      0.1082
    True value 1.002e-06. All of this is computed from the data themselves: not private.
    """
    x, theta = ordered(data), chosen(statistic)
    minimax = local_minimax_risk(x, theta, epsilon, within=within)
    lo, hi = within
    return Comparison(
        theta.name,
        len(x),
        theta.value(x),
        (float(lo), float(hi)),
        subset_risk(x, theta, epsilon),
        in_neighbour_risk(x, theta, epsilon),
        minimax,
    )
