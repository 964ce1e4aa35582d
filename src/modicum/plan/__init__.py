"""Predict the error of a release, or the ε or the number of rows it needs, without any data.

A plan runs the estimator itself on synthetic tables of a stated shape and size. It reads no data
and costs nothing; it is the same for the same arguments.

>>> from modicum import plan
>>> found = plan.mean(within=(-1e9, 1e9), epsilon=1, n=100_000, sd=5e4)
>>> found.error < found.sampling_error
True
"""

from __future__ import annotations

from modicum.plan.card import CountPlan, MeanPlan, Plan, QuantilePlan, SumPlan
from modicum.plan.count import count
from modicum.plan.mean import mean
from modicum.plan.quantile import median, quantile
from modicum.plan.sum import sum

__all__ = [
    "CountPlan",
    "MeanPlan",
    "Plan",
    "QuantilePlan",
    "SumPlan",
    "count",
    "mean",
    "median",
    "quantile",
    "sum",
]
