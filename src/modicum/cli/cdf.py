"""``modicum cdf``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.verb import cuts_of, cuts_plan, cuts_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    cuts_verb(
        verbs,
        "cdf",
        "points",
        example="people.csv age --points 18,30,65 --epsilon 1",
        question=_question,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    cuts_plan(statistics, "cdf", "points", make=plan.cdf)


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    points = cuts_of(arguments, "points")
    return ask.cdf(arguments.column, points=points, budget=price, step=arguments.step)
