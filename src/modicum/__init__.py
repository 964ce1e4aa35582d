"""Instance-optimal differentially private statistics.

>>> import modicum as mo
>>> income = [31_000.0, 45_500.0, 28_250.0] * 5_000
>>> release = mo.mean(income, within=(-1e9, 1e9), epsilon=1)
>>> 34_000 < release.value < 36_000
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

from modicum.version import VERSION as __version__

if TYPE_CHECKING:
    from modicum import audit, plan, request, theory
    from modicum.array_release import ArrayRelease, Intervals
    from modicum.curator import Curator
    from modicum.errors import (
        BudgetExceeded,
        InvalidArgument,
        MissingColumn,
        ModicumError,
        ModicumWarning,
        SourceError,
        UnsupportedData,
    )
    from modicum.estimators.boundaries import Boundaries
    from modicum.estimators.score import Score
    from modicum.group_by import GroupBy
    from modicum.grouped import GroupedRelease
    from modicum.one_shot import (
        cdf,
        count,
        expectile,
        histogram,
        huber_location,
        iqr,
        lp_location,
        maximum,
        mean,
        median,
        minimum,
        monotone,
        quantile,
        quantiles,
        std,
        sum,
        trimmed_mean,
        variance,
        winsorized_mean,
    )
    from modicum.privacy.budget import Budget, approx, pure, zcdp
    from modicum.privacy.unit import Unit, unit_of
    from modicum.release import Interval, Release
    from modicum.request import ArrayRequest, Request

__all__ = [
    "ArrayRelease",
    "ArrayRequest",
    "Boundaries",
    "Budget",
    "BudgetExceeded",
    "Curator",
    "GroupBy",
    "GroupedRelease",
    "Interval",
    "Intervals",
    "InvalidArgument",
    "MissingColumn",
    "ModicumError",
    "ModicumWarning",
    "Release",
    "Request",
    "Score",
    "SourceError",
    "Unit",
    "UnsupportedData",
    "__version__",
    "approx",
    "audit",
    "cdf",
    "count",
    "expectile",
    "histogram",
    "huber_location",
    "iqr",
    "lp_location",
    "maximum",
    "mean",
    "median",
    "minimum",
    "monotone",
    "plan",
    "pure",
    "quantile",
    "quantiles",
    "request",
    "std",
    "sum",
    "theory",
    "trimmed_mean",
    "unit_of",
    "variance",
    "winsorized_mean",
    "zcdp",
]

_SUBMODULES = {"audit", "plan", "request", "theory"}
_HOMES = {
    "modicum.array_release": {"ArrayRelease", "Intervals"},
    "modicum.curator": {"Curator"},
    "modicum.errors": {
        "BudgetExceeded",
        "InvalidArgument",
        "MissingColumn",
        "ModicumError",
        "ModicumWarning",
        "SourceError",
        "UnsupportedData",
    },
    "modicum.group_by": {"GroupBy"},
    "modicum.grouped": {"GroupedRelease"},
    "modicum.estimators.boundaries": {"Boundaries"},
    "modicum.estimators.score": {"Score"},
    "modicum.one_shot": {
        "cdf",
        "count",
        "expectile",
        "histogram",
        "huber_location",
        "iqr",
        "lp_location",
        "maximum",
        "mean",
        "median",
        "minimum",
        "monotone",
        "quantile",
        "quantiles",
        "std",
        "sum",
        "trimmed_mean",
        "variance",
        "winsorized_mean",
    },
    "modicum.privacy.budget": {"Budget", "approx", "pure", "zcdp"},
    "modicum.privacy.unit": {"Unit", "unit_of"},
    "modicum.release": {"Interval", "Release"},
    "modicum.request": {"ArrayRequest", "Request"},
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for, so that ``import modicum`` is free."""
    if name in _SUBMODULES:
        return import_module(f"modicum.{name}")
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'modicum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
