"""``modicum histogram``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.options import add_range
from modicum.cli.verb import add_cuts, column_options, cuts_of, cuts_plan, cuts_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    cuts_verb(
        verbs,
        "histogram",
        example="people.csv age --edges 0,18,65,inf --epsilon 1",
        question=_question,
        options=_options,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    cuts_plan(
        statistics,
        "histogram",
        example="--edges 0,10,20 --n 1e5 --sd 10 --error 5",
        make=plan.histogram,
        options=_options,
        chosen=_chosen,
    )


def _options(parser: argparse.ArgumentParser) -> None:
    add_cuts(parser, "edges", needed=False)
    parser.add_argument(
        "--bins",
        metavar="K",
        type=int,
        help="instead of --edges, with --within: K bins between quantiles that are drawn first",
    )
    add_range(parser, needed=False)


def _chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    edges = None if arguments.edges is None else cuts_of(arguments, "edges")
    return {"edges": edges, "bins": arguments.bins, **column_options(arguments)}


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.histogram(arguments.column, budget=price, **_chosen(arguments))
