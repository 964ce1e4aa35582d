"""``modicum plan``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["add_to"]

_DESCRIPTION = """\
Predict the error of a release, or find the price or the size that an error needs.
No data are read and nothing is spent: give your guess of the spread and the shape.
"""


def add_to(verbs: Any, plans: Iterable[Callable[[Any], None]]) -> None:
    """Add the verb to the command line, with the plans of several statistics."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "plan",
        help="predicted error, or the price that an error needs; reads no data",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    statistics = parser.add_subparsers(title="statistics", metavar="STATISTIC", required=True)
    for add_plan in plans:
        add_plan(statistics)
