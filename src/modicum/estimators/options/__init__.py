"""The options of estimators: what a request may choose besides the column, range and price."""

from modicum.estimators.options.base import LEAST_LEVEL, NoOption, Options
from modicum.estimators.options.cluster import ClusterOption
from modicum.estimators.options.cuts import BinsOption, CutsOption
from modicum.estimators.options.ranks import (
    QuantileOption,
    QuantilesOption,
    RangeOption,
    TrimOption,
)

__all__ = [
    "LEAST_LEVEL",
    "BinsOption",
    "ClusterOption",
    "CutsOption",
    "NoOption",
    "Options",
    "QuantileOption",
    "QuantilesOption",
    "RangeOption",
    "TrimOption",
]
