"""``modicum covariance``."""

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
        "covariance",
        example="people.csv age,height,weight --within=-1e6,1e6 --epsilon 1",
        question=_question,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    columns_plan(
        statistics,
        "covariance",
        example="--within=-1e6,1e6 --sd 12,9,15 --n 1e5 --epsilon 1",
        make=plan.covariance,
    )


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.covariance(
        columns_of(arguments), within=arguments.within, budget=price, step=arguments.step
    )
