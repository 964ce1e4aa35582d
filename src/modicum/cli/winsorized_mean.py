"""``modicum winsorized-mean``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.options import add_trim, chosen_trim
from modicum.cli.verb import column_options, column_plan, column_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import Request

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    column_verb(
        verbs,
        "winsorized_mean",
        example="flights.csv delay --trim 0.1 --within=-1e9,1e9 --epsilon 1",
        question=_question,
        options=add_trim,
        drawn=True,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    column_plan(
        statistics,
        "winsorized_mean",
        example="--trim 0.1 --within=-1e9,1e9 --n 1e5 --sd 5e4 --error 50",
        make=plan.winsorized_mean,
        options=add_trim,
        chosen=chosen_trim,
        drawn=True,
    )


def _question(arguments: argparse.Namespace, price: Budget) -> Request:
    options = column_options(arguments) | chosen_trim(arguments)
    return ask.winsorized_mean(arguments.column, budget=price, **options)
