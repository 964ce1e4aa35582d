"""Questions to ask of a table, checked but not yet answered.

``curator.together(income=modicum.request.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile`` and
``median`` and the methods of :class:`modicum.Curator` take the same arguments.
"""

from __future__ import annotations

from modicum.request.count import count
from modicum.request.mean import mean
from modicum.request.quantile import median, quantile
from modicum.request.sum import sum
from modicum.runners.request import Request

__all__ = ["Request", "count", "mean", "median", "quantile", "sum"]
