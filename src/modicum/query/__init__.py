"""Queries of a table: checked, not yet answered.

``curator.release(income=modicum.query.mean("income", ...), ...)`` answers several in the
passes of the slowest one. The functions :func:`modicum.mean`, ``sum``, ``count``, ``quantile``,
``median`` and so on, and the methods of :class:`modicum.Curator`, take the same arguments.

A query function is part of the chapter of its statistic, which is imported when it is first used.

>>> import modicum as mo
>>> curator = mo.Curator([30.0, 40.0, 50.0] * 1000, budget=mo.pure(1))
>>> rows, age = mo.query.count(epsilon="0.2"), mo.query.mean(within=(0, 120), epsilon="0.8")
>>> answers = curator.release(rows=rows, age=age)
>>> 39 < answers["age"].value < 41
True
"""

from __future__ import annotations

from modicum.errors import did_you_mean
from modicum.runtime.query import Query
from modicum.statistics.contents import CHAPTERS, find_statistic

__all__ = ["Query", *CHAPTERS]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in CHAPTERS:
        meant = "" if name.startswith("_") else did_you_mean(name, CHAPTERS)
        raise AttributeError(f"module 'modicum.query' has no attribute {name!r}{meant}")
    question = globals()[name] = find_statistic(name).question
    return question


def __dir__() -> list[str]:
    return __all__
