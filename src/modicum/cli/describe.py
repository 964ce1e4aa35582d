"""The verb ``describe``: a whole table at a glance."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from modicum.cli import options, publishing, tasks, wording
from modicum.errors import InvalidArgument
from modicum.releases.status import NO_VALUES

if TYPE_CHECKING:
    from modicum.api.tables.description import Description


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "describe",
        help=tasks.words_of("describe"),
        description="Describe the columns of a table, all of them if none is named: numbers of "
        "values, shares of missing ones, means and quartiles; with --delta also frequent labels. "
        "They share one budget.",
        epilog="example: modicum describe people.parquet --epsilon 2 --delta 1e-6",
    )
    options.add_data(parser, column="*")
    options.add_views(parser)
    options.add_cost(parser)
    form = parser.add_argument_group("output").add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--html", action="store_true", help="print a table of HTML")
    form.add_argument("--explain", action="store_true", help="also tell every draw and its cost")
    publishing.add_publishing(parser)
    parser.set_defaults(answer=_answer)


def _again(found: Description, arguments: argparse.Namespace) -> str:
    """Write the command for the columns that have numbers, if others have not: by released codes.

    In a CSV file nothing is declared, and what is spent on columns of text is lost to the others.
    """
    empty = {name for name, each in found.numbers.items() if each.code == NO_VALUES.code}
    numbers = [name for name in found.columns if not empty & {f"mean {name}", f"quartiles {name}"}]
    if not numbers or len(numbers) == len(found.columns):
        return ""
    first, *rest = [word for word in arguments.given[1:] if word not in arguments.column]
    words = ["modicum", "describe", first, *numbers, *rest]
    return f"\n  next     {shlex.join(words)}"


def _answer(arguments: argparse.Namespace) -> options.Output:
    cost = options.chosen_cost(arguments)
    if cost is None:
        raise InvalidArgument("a cost is needed: --epsilon or --rho, for example --epsilon 1")
    publication = publishing.chosen_publication(arguments)
    source, unit = options.opened(arguments), options.chosen_unit(arguments)
    said = arguments.rows_per_person is not None or arguments.unit_column is not None
    curator, _ = options.charged_curator(arguments, source, unit if said else None, cost)
    columns = options.columns_of(arguments.column, options.names_of(arguments, source))
    found = options.viewed(curator, arguments).describe(columns or None, budget=cost)
    if arguments.json:
        text = found.to_json()
    elif arguments.html:
        text = found.to_html()
    else:
        text = found.explain() if arguments.explain else wording.on_the_command_line(str(found), ())
        text += _again(found, arguments)
    return publication.output(found, text, usable=found.usable)
