"""``modicum cdf``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.options import add_step
from modicum.cli.verb import add_cuts, cuts_of, cuts_plan, cuts_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    cuts_verb(
        verbs,
        "cdf",
        example="people.csv age --points 18,30,65 --epsilon 1",
        question=_question,
        options=_options,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    cuts_plan(
        statistics,
        "cdf",
        example="--points 5,10,20 --n 1e5 --sd 10 --error 0.001",
        make=plan.cdf,
        options=_options,
        chosen=_chosen,
    )


def _options(parser: argparse.ArgumentParser) -> None:
    add_cuts(parser, "points", needed=True)
    add_step(parser)


def _chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"points": cuts_of(arguments, "points"), "step": arguments.step}


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.cdf(arguments.column, budget=price, **_chosen(arguments))
