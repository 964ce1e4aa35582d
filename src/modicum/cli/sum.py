"""``modicum sum``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.options import add_algorithm
from modicum.cli.verb import column_options, column_plan, column_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import Request

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    column_verb(
        verbs,
        "sum",
        example="people.parquet income --within=0,1e9 --epsilon 1",
        question=_question,
        options=_options,
        tail=True,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    column_plan(
        statistics,
        "sum",
        example="--within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1",
        make=plan.sum,
        options=_options,
        chosen=_chosen,
        size_needed=True,
    )


def _options(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser, "sum")


def _chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"method": arguments.method, "clusters": arguments.clusters}


def _question(arguments: argparse.Namespace, price: Budget) -> Request:
    options = column_options(arguments) | _chosen(arguments)
    return ask.sum(arguments.column, budget=price, **options)
