"""``modicum sum``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import request as ask
from modicum.cli.options import (
    add_algorithm,
    add_data,
    add_groups,
    add_output,
    add_price,
    add_range,
    released,
    shown,
)

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "sum",
        help="sum of a column",
        description="Release the sum of a column. Missing values are dropped.",
        epilog="example: modicum sum people.parquet income --within=0,1e9 --epsilon 1",
    )
    add_data(parser, column=None)
    add_range(parser)
    add_algorithm(parser, "sum")
    add_groups(parser)
    add_price(parser)
    add_output(parser)
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> str:
    release = released(
        arguments,
        lambda price: ask.sum(
            arguments.column,
            within=arguments.within,
            budget=price,
            step=arguments.step,
            clusters=arguments.clusters,
        ),
    )
    return shown(release, arguments)
