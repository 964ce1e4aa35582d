"""Instance-optimal differentially private statistics.

>>> import modicum as mo
>>> income = [31_000.0, 45_500.0, 28_250.0] * 5_000
>>> release = mo.mean(income, within=(-1e9, 1e9), epsilon=1)
>>> 34_000 < release.value < 36_000
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

from modicum import request
from modicum.curator import Curator, count, mean, sum
from modicum.errors import (
    BudgetExceeded,
    InvalidArgument,
    MissingColumn,
    ModicumError,
    ModicumWarning,
    SourceError,
    UnsupportedData,
)
from modicum.privacy.budget import Budget, approx, pure, zcdp
from modicum.privacy.unit import Unit, unit_of
from modicum.release import Interval, Release
from modicum.request import Request
from modicum.version import VERSION as __version__

if TYPE_CHECKING:
    from modicum import audit, plan

__all__ = [
    "Budget",
    "BudgetExceeded",
    "Curator",
    "Interval",
    "InvalidArgument",
    "MissingColumn",
    "ModicumError",
    "ModicumWarning",
    "Release",
    "Request",
    "SourceError",
    "Unit",
    "UnsupportedData",
    "__version__",
    "approx",
    "audit",
    "count",
    "mean",
    "plan",
    "pure",
    "request",
    "sum",
    "unit_of",
    "zcdp",
]


def __getattr__(name: str) -> object:
    """Import the parts that a release does not need when they are first asked for."""
    if name in {"audit", "plan"}:
        return import_module(f"modicum.{name}")
    raise AttributeError(f"module 'modicum' has no attribute {name!r}")
