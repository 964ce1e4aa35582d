"""``modicum linear-regression``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import plan
from modicum import request as ask
from modicum.cli.columns import columns_of, columns_plan, columns_verb
from modicum.cli.options import number
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_plan", "add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    columns_verb(
        verbs,
        "linear_regression",
        example="people.csv age,height --target weight --within=-1e6,1e6 --epsilon 1",
        question=_question,
        options=_target,
    )


def add_plan(statistics: Any) -> None:
    """Add the statistic to ``modicum plan``."""
    columns_plan(
        statistics,
        "linear_regression",
        example="--within=-1e6,1e6 --sd 12,9 --r2 0.5 --n 1e4 --epsilon 1",
        make=plan.linear_regression,
        options=_guess,
        chosen=lambda arguments: {"r2": arguments.r2, "target_sd": arguments.target_sd},
    )


def _target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="COLUMN", required=True, help="the explained column")


def _guess(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--r2", type=number, required=True, help="share of the explained column's variance"
    )
    parser.add_argument("--target-sd", type=number, default=1.0, help="its standard deviation")


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.linear_regression(
        columns_of(arguments),
        target=arguments.target,
        within=arguments.within,
        budget=price,
        step=arguments.step,
    )
