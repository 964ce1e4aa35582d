"""``modicum count``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import request as ask
from modicum.cli.options import add_data, add_groups, add_output, add_price, released, shown

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "count",
        help="number of rows, or of non-missing values of a column",
        description="Release the number of rows, or of non-missing values of a column.",
        epilog="example: modicum count people.csv income --epsilon 0.1",
    )
    add_data(parser, column="?")
    add_groups(parser)
    add_price(parser)
    add_output(parser)
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> str:
    release = released(arguments, lambda price: ask.count(arguments.column, budget=price))
    return shown(release, arguments)
