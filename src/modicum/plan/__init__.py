"""Predict the error of a release, or the ε or the number of rows it needs, without any data.

A plan runs the estimator itself on synthetic tables of a stated shape and size. It reads no data
and costs nothing; it is the same for the same arguments. There is a plan for each statistic;
:func:`release` takes the query function as an argument.

>>> from modicum import plan, query
>>> found = plan.mean(within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
>>> found.error < found.sampling_error
True
>>> found == plan.release(query.mean, within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
True
"""

from __future__ import annotations

from typing import Any

from modicum.errors import did_you_mean
from modicum.plan.statistics import plan_of
from modicum.plan.statistics import release as release
from modicum.plan.summary import Plan
from modicum.statistics.contents import CHAPTERS, PLANNED

__all__ = ["Plan", *sorted([*PLANNED, "release"])]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in CHAPTERS and name not in PLANNED:
        raise AttributeError(
            f"modicum.plan has no {name!r}: to see its error, release it of made-up rows like "
            "yours, which costs nothing"
        )
    if name not in PLANNED:
        raise AttributeError(f"modicum.plan has no {name!r}{did_you_mean(name, PLANNED)}")
    planner = globals()[name] = plan_of(name)
    return planner


def __dir__() -> list[str]:
    return __all__
