"""Risks, moduli, lower bounds and rates of the theory, computed on any array: not private.

Everything here is a function of plain arrays, for research and planning: how well could any
private algorithm do on these data? Results hold the data in the clear. They are not releases and
say so wherever they are printed, and nothing here spends a budget or draws noise.

:func:`compare` prints three risks side by side: :func:`subset_risk` (Dick et al. 2023),
:func:`in_neighbour_risk` (Huang et al. 2021) and :func:`local_minimax_risk` (Asi and Duchi 2020).
They rest on :func:`modulus`, how far k records can move a statistic, and on
:func:`two_point_error`, how well a private algorithm can tell two data sets apart.
:func:`crossing_length` is the inverse of the modulus. :func:`ball_risk` and
:func:`unbiased_lower_bound` are further lower bounds; :mod:`~modicum.research.theory.rates` has the
upper bounds of the papers, and the rates of Table 1 of Dick et al. :func:`local_sensitivities` at a
distance, and :func:`smooth_sensitivity`, are what approximate inverse sensitivity and its rival
start from. Bad arguments, records outside of the range and statistics that are not defined for so
few records raise InvalidArgument, everywhere.

>>> from modicum import theory
>>> salaries = [28_000.0] * 990 + [100_000.0] * 10
>>> risk = theory.subset_risk(salaries, "mean", 0.1)
>>> f"{risk.lower:.0f} to {risk.upper:.0f}"
'218 to 364'
"""

from modicum.research.theory.modulus import (
    brute_force_modulus,
    crossing_length,
    local_sensitivities,
    modulus,
    radial_error,
    smooth_radii,
    smooth_sensitivity,
)
from modicum.research.theory.rates import (
    absolute_central_moment,
    best_moment,
    bounded_mean_error,
    distribution_rate,
    inverse_sensitivity_cost,
    inverse_sensitivity_tail,
    moment_rate,
    subgaussian_rate,
    subset_mean_error,
    threshold_rank_error,
)
from modicum.research.theory.risks import (
    Comparison,
    RiskBounds,
    ball_risk,
    compare,
    in_neighbour_risk,
    local_minimax_risk,
    subset_risk,
    two_point_error,
    unbiased_lower_bound,
)
from modicum.research.theory.statistics import (
    Location,
    Mean,
    Monotone,
    Quantile,
    Statistic,
    TrimmedMean,
)

__all__ = [
    "Comparison",
    "Location",
    "Mean",
    "Monotone",
    "Quantile",
    "RiskBounds",
    "Statistic",
    "TrimmedMean",
    "absolute_central_moment",
    "ball_risk",
    "best_moment",
    "bounded_mean_error",
    "brute_force_modulus",
    "compare",
    "crossing_length",
    "distribution_rate",
    "in_neighbour_risk",
    "inverse_sensitivity_cost",
    "inverse_sensitivity_tail",
    "local_minimax_risk",
    "local_sensitivities",
    "modulus",
    "moment_rate",
    "radial_error",
    "smooth_radii",
    "smooth_sensitivity",
    "subgaussian_rate",
    "subset_mean_error",
    "subset_risk",
    "threshold_rank_error",
    "two_point_error",
    "unbiased_lower_bound",
]
