"""``modicum pca``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.columns import columns_of, columns_plan, columns_verb
from modicum.cli.options import whole
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    columns_verb(
        verbs,
        "pca",
        example="people.csv age,height,weight --components 1 --within=-1e6,1e6 --epsilon 1",
        question=_question,
        options=_options,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    columns_plan(
        statistics,
        "pca",
        example="--components 1 --within=-1e6,1e6 --sd 12,9,3 --n 1e4 --epsilon 1",
        make=plan.pca,
        options=_options,
        chosen=lambda arguments: {"components": arguments.components},
    )


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--components", metavar="K", type=whole, required=True, help="how many components"
    )


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.pca(
        columns_of(arguments),
        components=arguments.components,
        within=arguments.within,
        budget=price,
        step=arguments.step,
    )
