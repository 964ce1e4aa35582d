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
    from modicum import audit, local, plan, query, shuffle, theory
    from modicum.array_release import ArrayRelease, Intervals
    from modicum.curator import Curator
    from modicum.errors import (
        AccessDeniedError,
        BudgetExceeded,
        InvalidArgument,
        KeyReusedError,
        LedgerCorrupt,
        LedgerError,
        MissingColumn,
        ModicumError,
        ModicumWarning,
        SourceError,
        UnsupportedData,
    )
    from modicum.frames.files import csv_file
    from modicum.group_by import GroupBy
    from modicum.grouped import GroupedRelease
    from modicum.interop.sklearn import PCA as PCA
    from modicum.interop.sklearn import LinearRegression as LinearRegression
    from modicum.interop.sklearn import RobustScaler as RobustScaler
    from modicum.interop.sklearn import StandardScaler as StandardScaler
    from modicum.one_shot import (
        cdf,
        clipped_mean_vector,
        count,
        covariance,
        expectile,
        histogram,
        huber,
        iqr,
        linear_regression,
        lp_center,
        max,
        mean,
        mean_vector,
        median,
        min,
        monotone_statistic,
        pca,
        quantile,
        quantiles,
        std,
        sum,
        trimmed_mean,
        var,
        vector_statistic,
        winsorized_mean,
    )
    from modicum.privacy.accountant import (
        Filter,
        approx_to_zcdp,
        composed,
        parallel,
        pure_to_approx,
        pure_to_zcdp,
        zcdp_to_approx,
    )
    from modicum.privacy.budget import Budget, approx, pure, zcdp
    from modicum.privacy.ledger.book import Ledger
    from modicum.privacy.unit import Unit, unit_of
    from modicum.query import Query
    from modicum.release import Interval, Release
    from modicum.statistics.monotone_statistic import Boundaries, Score
    from modicum.statistics.own_vector import Sensitivities

__all__ = [
    "AccessDeniedError",
    "ArrayRelease",
    "Boundaries",
    "Budget",
    "BudgetExceeded",
    "Curator",
    "Filter",
    "GroupBy",
    "GroupedRelease",
    "Interval",
    "Intervals",
    "InvalidArgument",
    "KeyReusedError",
    "Ledger",
    "LedgerCorrupt",
    "LedgerError",
    "MissingColumn",
    "ModicumError",
    "ModicumWarning",
    "Query",
    "Release",
    "Score",
    "Sensitivities",
    "SourceError",
    "Unit",
    "UnsupportedData",
    "__version__",
    "approx",
    "approx_to_zcdp",
    "audit",
    "cdf",
    "clipped_mean_vector",
    "composed",
    "count",
    "covariance",
    "csv_file",
    "expectile",
    "histogram",
    "huber",
    "iqr",
    "linear_regression",
    "local",
    "lp_center",
    "max",
    "mean",
    "mean_vector",
    "median",
    "min",
    "monotone_statistic",
    "parallel",
    "pca",
    "plan",
    "pure",
    "pure_to_approx",
    "pure_to_zcdp",
    "quantile",
    "quantiles",
    "query",
    "shuffle",
    "std",
    "sum",
    "theory",
    "trimmed_mean",
    "unit_of",
    "var",
    "vector_statistic",
    "winsorized_mean",
    "zcdp",
    "zcdp_to_approx",
]

_SUBMODULES = {"audit", "local", "plan", "query", "shuffle", "theory"}
_HOMES = {
    "modicum.array_release": {"ArrayRelease", "Intervals"},
    "modicum.curator": {"Curator"},
    "modicum.errors": {
        "AccessDeniedError",
        "BudgetExceeded",
        "InvalidArgument",
        "KeyReusedError",
        "LedgerCorrupt",
        "LedgerError",
        "MissingColumn",
        "ModicumError",
        "ModicumWarning",
        "SourceError",
        "UnsupportedData",
    },
    "modicum.frames.files": {"csv_file"},
    "modicum.group_by": {"GroupBy"},
    "modicum.grouped": {"GroupedRelease"},
    "modicum.statistics.monotone_statistic": {"Boundaries", "Score"},
    "modicum.statistics.own_vector": {"Sensitivities"},
    # Not in __all__: they need the extra, and `from modicum import *` does not.
    "modicum.interop.sklearn": {"LinearRegression", "PCA", "RobustScaler", "StandardScaler"},
    "modicum.one_shot": {
        "cdf",
        "clipped_mean_vector",
        "count",
        "covariance",
        "expectile",
        "histogram",
        "huber",
        "iqr",
        "linear_regression",
        "lp_center",
        "max",
        "mean",
        "mean_vector",
        "median",
        "min",
        "monotone_statistic",
        "pca",
        "quantile",
        "quantiles",
        "std",
        "sum",
        "trimmed_mean",
        "var",
        "vector_statistic",
        "winsorized_mean",
    },
    "modicum.privacy.budget": {"Budget", "approx", "pure", "zcdp"},
    "modicum.privacy.accountant": {
        "Filter",
        "approx_to_zcdp",
        "composed",
        "parallel",
        "pure_to_approx",
        "pure_to_zcdp",
        "zcdp_to_approx",
    },
    "modicum.privacy.ledger.book": {"Ledger"},
    "modicum.privacy.unit": {"Unit", "unit_of"},
    "modicum.release": {"Interval", "Release"},
    "modicum.query": {"Query"},
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for, so that ``import modicum`` is free."""
    if name in _SUBMODULES:
        return import_module(f"modicum.{name}")
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    meant = ""
    if not name.startswith("_"):  # such as __path__, which Python itself asks for
        meant = import_module("modicum.hints").did_you_mean(name, __all__)
    raise AttributeError(f"module 'modicum' has no attribute {name!r}{meant}")


def __dir__() -> list[str]:
    return __all__
