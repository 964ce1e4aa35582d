"""``modicum clipped-mean-vector``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.columns import columns_of, columns_plan, columns_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    columns_verb(
        verbs,
        "clipped_mean_vector",
        example="changes.csv age,height,weight --within=-1e9,1e9 --rho 0.5",
        question=_question,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    columns_plan(
        statistics,
        "clipped_mean_vector",
        example="--within=-1e9,1e9 --sd 12,9,15 --n 1e5 --rho 0.5",
        make=plan.clipped_mean_vector,
    )


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.clipped_mean_vector(
        columns_of(arguments),
        within=arguments.within,
        budget=price,
        step=arguments.step,
    )
