"""The verb ``describe``: a whole table at a glance."""

from __future__ import annotations

import argparse
from typing import Any

from modicum.cli.options import (
    Output,
    add_cost,
    add_data,
    add_views,
    charged_curator,
    chosen_cost,
    chosen_unit,
    columns_of,
    names_of,
    opened,
    viewed,
)
from modicum.cli.publishing import add_publishing, chosen_publication
from modicum.cli.tasks import words_of
from modicum.cli.wording import on_the_command_line
from modicum.errors import InvalidArgument


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "describe",
        help=words_of("describe"),
        description="Describe the columns of a table, all of them if none is named: numbers of "
        "values, shares of missing ones, means and quartiles; with --delta also frequent labels. "
        "They share one budget.",
        epilog="example: modicum describe people.parquet --epsilon 2 --delta 1e-6",
    )
    add_data(parser, column="*")
    add_views(parser)
    add_cost(parser)
    form = parser.add_argument_group("output").add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--html", action="store_true", help="print a table of HTML")
    form.add_argument("--explain", action="store_true", help="also tell every draw and its cost")
    add_publishing(parser)
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> Output:
    cost = chosen_cost(arguments)
    if cost is None:
        raise InvalidArgument("a cost is needed: --epsilon or --rho, for example --epsilon 1")
    publication = chosen_publication(arguments)
    source, unit = opened(arguments), chosen_unit(arguments)
    said = arguments.rows_per_person is not None or arguments.unit_column is not None
    curator, _ = charged_curator(arguments, source, unit if said else None, cost)
    columns = columns_of(arguments.column, names_of(arguments, source))
    found = viewed(curator, arguments).describe(columns or None, budget=cost)
    if arguments.json:
        text = found.to_json()
    elif arguments.html:
        text = found.to_html()
    else:
        text = found.explain() if arguments.explain else on_the_command_line(str(found), ())
    return publication.output(found, text, usable=found.usable)
