"""``modicum count``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.options import add_groups, add_output, add_price
from modicum.cli.verb import plan_verb, planned, verb
from modicum.privacy.budget import Budget
from modicum.runners.request import Request

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verb(
        verbs,
        "count",
        of="rows, or of the values of a column",
        example="people.csv income --epsilon 0.1",
        column="?",
        question=_question,
    )
    parser.description = (
        f"{parser.description} A column of text may be counted too; in a CSV file every cell that "
        "is not empty counts, NA as well."
    )
    add_groups(parser)
    add_price(parser)
    add_output(parser)


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    parser = plan_verb(
        statistics,
        "count",
        find="Give the price or --error: the other is found.",
        example="--error 10",
        size=10_000,
        size_needed=False,
    )
    parser.set_defaults(answer=lambda arguments: planned(arguments, plan.count))


def _question(arguments: argparse.Namespace, price: Budget) -> Request:
    return ask.count(arguments.column, budget=price)
