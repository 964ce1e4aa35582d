"""``modicum quantile``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.options import drawn_level
from modicum.cli.verb import column_options, column_plan, column_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import Request

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    column_verb(
        verbs,
        "quantile",
        example="flights.csv delay --q 0.9 --within=-1e9,1e9 --epsilon 1",
        question=_question,
        options=_options,
        drawn=True,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    column_plan(
        statistics,
        "quantile",
        example="--q 0.9 --within=0,1e9 --n 1e5 --sd 5e4 --error 500",
        make=plan.quantile,
        options=_options,
        chosen=_chosen,
        drawn=True,
    )


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--q", required=True, help="which one, such as 0.9 or 1/3")


def _chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"q": arguments.q, "level": drawn_level(arguments)}


def _question(arguments: argparse.Namespace, price: Budget) -> Request:
    options = column_options(arguments) | _chosen(arguments)
    return ask.quantile(arguments.column, budget=price, **options)
