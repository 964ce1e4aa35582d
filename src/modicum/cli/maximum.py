"""``modicum maximum``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.verb import column_options, column_plan, column_verb
from modicum.privacy.budget import Budget
from modicum.runners.request import Request

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    column_verb(
        verbs,
        "maximum",
        example="people.parquet income --within=-1e9,1e9 --epsilon 1",
        question=_question,
        options=_options,
        tail=True,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    column_plan(
        statistics,
        "maximum",
        example="--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1",
        make=plan.maximum,
        options=_options,
        chosen=_chosen,
        size_needed=True,
    )


def _options(_: argparse.ArgumentParser) -> None:
    """There are none."""


def _chosen(_: argparse.Namespace) -> dict[str, Any]:
    return {}


def _question(arguments: argparse.Namespace, price: Budget) -> Request:
    return ask.maximum(arguments.column, budget=price, **column_options(arguments))
