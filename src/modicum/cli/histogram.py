"""``modicum histogram``."""

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
        "histogram",
        "edges",
        example="people.csv age --edges 0,18,65,inf --epsilon 1",
        question=_question,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    cuts_plan(statistics, "histogram", "edges", make=plan.histogram)


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    edges = cuts_of(arguments, "edges")
    return ask.histogram(arguments.column, edges=edges, budget=price, step=arguments.step)
