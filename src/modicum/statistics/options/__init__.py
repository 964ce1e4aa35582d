"""The options of estimators: what a request may choose besides the column, range and price."""

from modicum.statistics.options.cuts import BinsOption, CutsOption
from modicum.statistics.options.ranks import (
    QuantileOption,
    QuantilesOption,
    RangeOption,
    TrimOption,
)
from modicum.statistics.spec import LEAST_LEVEL, NoOption, Options

__all__ = [
    "LEAST_LEVEL",
    "BinsOption",
    "CutsOption",
    "NoOption",
    "Options",
    "QuantileOption",
    "QuantilesOption",
    "RangeOption",
    "TrimOption",
]
