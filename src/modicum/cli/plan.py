"""``modicum plan``."""

from __future__ import annotations

import argparse
from typing import Any

from modicum.cli.statistics import add_plans

__all__ = ["add_to"]

_DESCRIPTION = """\
Predict the error of a release, or find the price or the size that an error needs.
No data are read and nothing is spent: give your guess of the spread and the shape.
"""


def add_to(verbs: Any) -> None:
    """Add the verb to the command line, with the plans of all statistics."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "plan",
        help="predicted error, or the price that an error needs; reads no data",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    statistics = parser.add_subparsers(title="statistics", metavar="STATISTIC", required=True)
    add_plans(statistics)
