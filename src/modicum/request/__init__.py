"""Questions to ask of a table, checked but not yet answered.

``curator.together(income=modicum.request.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile``,
``median``, ``trimmed_mean`` and ``winsorized_mean`` and the methods of
:class:`modicum.Curator` take the same arguments.
"""

from __future__ import annotations

from modicum.request.count import count
from modicum.request.location import expectile, huber_location, lp_location
from modicum.request.mean import mean
from modicum.request.monotone import monotone
from modicum.request.quantile import median, quantile
from modicum.request.sum import sum
from modicum.request.trimmed import trimmed_mean, winsorized_mean
from modicum.runners.request import Request

__all__ = [
    "Request",
    "count",
    "expectile",
    "huber_location",
    "lp_location",
    "mean",
    "median",
    "monotone",
    "quantile",
    "sum",
    "trimmed_mean",
    "winsorized_mean",
]
