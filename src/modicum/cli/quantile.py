"""``modicum quantile``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum import request as ask
from modicum.cli.options import (
    add_data,
    add_ends,
    add_groups,
    add_output,
    add_price,
    add_range,
    drawn_level,
    released,
    shown,
)

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "quantile",
        help="quantile of a column",
        description="Release the quantile of a column. Missing values are dropped.",
        epilog="example: modicum quantile flights.csv delay --q 0.9 --within=-1e9,1e9 --epsilon 1",
    )
    add_data(parser, column=None)
    parser.add_argument("--q", required=True, help="which one, such as 0.9 or 1/3")
    add_range(parser)
    add_ends(parser)
    add_groups(parser)
    add_price(parser)
    add_output(parser)
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> str:
    release = released(
        arguments,
        lambda price: ask.quantile(
            arguments.column,
            q=arguments.q,
            within=arguments.within,
            budget=price,
            step=arguments.step,
            level=drawn_level(arguments),
        ),
    )
    return shown(release, arguments)
