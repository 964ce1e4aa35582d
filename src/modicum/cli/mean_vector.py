"""``modicum mean-vector``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import request as ask
from modicum.cli.options import add_output, add_price, add_range
from modicum.cli.verb import verb
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line: the column is a list of names, with commas between."""
    parser = verb(
        verbs,
        "mean_vector",
        of="several columns together, named COLUMN,COLUMN,...",
        example="people.csv age,height,weight --within=-1e9,1e9 --rho 0.5",
        column=None,
        question=_question,
    )
    add_range(parser)
    parser.add_argument(
        "--method",
        choices=("adaptive", "shifted"),
        default="adaptive",
        help="shifted: by medians after a rotation, with --rho only (default: adaptive)",
    )
    add_price(parser)
    add_output(parser)


def _question(arguments: argparse.Namespace, price: Budget) -> ArrayRequest:
    return ask.mean_vector(
        arguments.column.split(","),
        within=arguments.within,
        budget=price,
        step=arguments.step,
        method=arguments.method,
    )
