"""The options of estimators: what a request may choose besides the column, range and price."""

from modicum.statistics.options.cluster import ClusterOption
from modicum.statistics.spec import LEAST_LEVEL, NoOption, Options

__all__ = ["LEAST_LEVEL", "ClusterOption", "NoOption", "Options"]
